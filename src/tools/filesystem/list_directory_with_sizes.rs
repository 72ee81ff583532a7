//! `list_directory_with_sizes`: the entries of a folder with their sizes, and their sum.

use serde_json::json;

use super::walking::{cursor_behind, has_changed, note, shown};
use super::{CONTENT, format};
use crate::engine::{Control, EntryKind, FilePath, Result, WalkOptions, WalkStep, Workspace};
use crate::tools::arguments::{Keyword, Request, Takes, arguments};
use crate::tools::cursor::Cursor;
use crate::tools::limited::LimitedText;
use crate::tools::{Call, OutputKinds, ParseOptions, Reply, Tool};

/// Width of the names and of the sizes.
const NAME_WIDTH: usize = 30;
const SIZE_WIDTH: usize = 10;

pub(crate) static TOOL: Tool = Tool {
    name: "list_directory_with_sizes",
    title: "List Directory with Sizes",
    description: "List the entries of a folder with their sizes, sorted by name or by size (largest first), and the sum of \
        the sizes. Example: {\"path\":\"data\",\"sortBy\":\"size\"}",
    instructions: "",
    takes: Takes::of::<ListArguments>(),
    output_schema: Some(CONTENT),
    writes: false,
    destructive: false,
    idempotent: true,
    direct: false,
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SortBy {
    Name,
    Size,
}

impl Keyword for SortBy {
    const WORDS: &'static [(&'static str, SortBy)] = &[("name", SortBy::Name), ("size", SortBy::Size)];
}

arguments! {
    struct ListArguments {
        /// Path of the folder
        path: FilePath,
        /// In which order
        sort_by as "sortBy": SortBy = "name",
        /// Where an earlier answer says that the list goes on
        cursor: Option<Cursor>,
    }
}

#[derive(Debug)]
struct ListWithSizes {
    arguments: ListArguments,
    /// What a cursor of this list belongs to.
    of: String,
    limit: Option<usize>,
}

struct Sized {
    name: String,
    is_folder: bool,
    size: u64,
}

impl Request for ListArguments {
    fn into_call(self, options: ParseOptions) -> Result<Box<dyn Call>> {
        let of = format!("{} {:?} {}", TOOL.name, self.sort_by, self.path.as_str());
        Cursor::check(self.cursor.as_ref(), &of)?;
        Ok(Box::new(ListWithSizes { arguments: self, of, limit: options.limit }))
    }
}

impl Call for ListWithSizes {
    fn file(&self) -> Option<&FilePath> {
        None
    }

    fn run(&self, workspace: &Workspace, wanted: OutputKinds, control: &Control) -> Result<Reply> {
        let ListArguments { path, sort_by, cursor } = &self.arguments;
        let options = WalkOptions { depth: 1, ..WalkOptions::default() };
        let mut walk = workspace.walk(path, options, control)?;
        let mut entries = Vec::new();
        while let Some(step) = walk.next_step()? {
            let WalkStep::Entry(entry) = step else { continue };
            // The size of a link is that of its target. One that leads nowhere has none.
            let stat = if entry.kind == EntryKind::Link { walk.stat_of_target() } else { walk.stat() };
            let size = stat.map_or(0, |stat| stat.st_size as u64);
            let name = shown(walk.name()).into_owned();
            entries.push(Sized { name, is_folder: entry.kind == EntryKind::Folder, size });
        }
        if *sort_by == SortBy::Size {
            entries.sort_by_key(|entry| std::cmp::Reverse(entry.size));
        }
        let summary = summary(&entries);
        let skipped = match cursor {
            None => 0,
            // The name may be gone; then the list goes on where it stood, if sorted by name.
            Some(cursor) => position_behind(&entries, *sort_by, &cursor.after),
        };
        let limit = self.limit.map(|limit| limit.saturating_sub(summary.len()));
        let (mut list, mut last) = (LimitedText::new(limit), String::new());
        for entry in &entries[skipped..] {
            if list.push_line(&line(entry)) {
                last.clone_from(&entry.name);
            }
        }
        let separator = if list.total() == 0 { "" } else { "\n" };
        *list.text_mut() += &(separator.to_owned() + &summary);
        let changed = has_changed(workspace, path, cursor.as_ref());
        let next = || {
            let cursor = cursor_behind(workspace, &self.of, path, &last).text();
            let sort = if *sort_by == SortBy::Size { "size" } else { "name" };
            (TOOL.name, json!({ "path": path.sent(), "sortBy": sort, "cursor": cursor }))
        };
        Ok(list.reply(wanted, "entries", next, note(&walk.left_out(), changed).as_deref()))
    }
}

fn position_behind(entries: &[Sized], sort: SortBy, after: &str) -> usize {
    let found = entries.iter().position(|entry| entry.name == after).map(|at| at + 1);
    let by_name = || entries.partition_point(|entry| entry.name.as_str() <= after);
    found.unwrap_or_else(|| if sort == SortBy::Name { by_name() } else { 0 })
}

fn line(entry: &Sized) -> String {
    let (kind, size) =
        if entry.is_folder { ("[DIR]", String::new()) } else { ("[FILE]", format::size(entry.size)) };
    let (name, width) =
        (format::padded(&entry.name, NAME_WIDTH), if entry.is_folder { 0 } else { SIZE_WIDTH });
    format!("{kind} {name} {size:>width$}")
}

/// The last lines, which always count the whole folder.
fn summary(entries: &[Sized]) -> String {
    let folders = entries.iter().filter(|entry| entry.is_folder).count();
    let files = entries.len() - folders;
    let sum = entries.iter().filter(|entry| !entry.is_folder).map(|entry| entry.size).sum();
    format!("\nTotal: {files} files, {folders} directories\nCombined size: {}", format::size(sum))
}
