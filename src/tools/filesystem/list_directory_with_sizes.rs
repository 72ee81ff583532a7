//! `list_directory_with_sizes`: the entries of a folder with their sizes, and their sum.

use std::cmp::Reverse;

use serde_json::json;
use text::order;
use xxhash_rust::xxh3::Xxh3Default;

use super::{CONTENT, format, list_directory};
use crate::tools::arguments::{Keyword, Request, Takes, arguments};
use crate::tools::cursor::{Cursor, call_key};
use crate::tools::limited::LimitedText;
use crate::tools::near::of_folder;
use crate::tools::walking::{SHARES_OF_ANSWER, TIME, kept, looked_at_so_far, note, path_kept, shown_line};
use crate::tools::{Call, OutputKinds, ParseOptions, Reply, Tool, wrong_cursor};
use engine::Workspace;
use folder::{
    Control, EntryKind, Error, FilePath, LateStats, Result, StatResult, Walk, WalkOptions, WalkStep,
};

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
    limit: Option<usize>,
    /// Whether the client is offered search_files.
    has_search: bool,
}

struct Sized {
    name: Vec<u8>,
    is_folder: bool,
    /// In bytes. 0 if the system does not tell it.
    size: u64,
    is_known: bool,
}

impl Request for ListArguments {
    fn into_call(self, options: ParseOptions) -> Result<Box<dyn Call>> {
        let has_search = options.offered.has("search_files");
        Ok(Box::new(ListWithSizes { arguments: self, limit: options.limit.bytes, has_search }))
    }
}

impl Call for ListWithSizes {
    fn file(&self) -> Option<&FilePath> {
        None
    }

    fn looked_at(&self) -> Option<&FilePath> {
        Some(&self.arguments.path)
    }

    fn run(&self, workspace: &Workspace, wanted: OutputKinds, control: &Control) -> Result<Reply> {
        let ListArguments { path, sort_by, cursor } = &self.arguments;
        let sort = sort_by.word();
        let key = || call_key(workspace, TOOL.name, path, sort);
        if let Some(cursor) = cursor {
            cursor.check(key()?)?;
        }
        let options = WalkOptions { depth: 1, ..WalkOptions::default() };
        let walk = control.leaving_time(SHARES_OF_ANSWER, || workspace.walk(path, options, control));
        let mut walk = match walk {
            Err(error) => return Err(of_folder(error, path, self.has_search, workspace, control)?),
            Ok(walk) => walk,
        };
        let (mut entries, is_late) =
            control.leaving_time(SHARES_OF_ANSWER, || sized_entries(&mut walk, control))?;
        order::sort_by(&mut entries, |one, other| sort_by.rank(one).cmp(&sort_by.rank(other)));
        let summary = summary(&entries);
        // What the cursor names may be gone: the list goes on behind its place.
        let skipped = match cursor {
            None => 0,
            Some(cursor) => {
                let last = Sized::kept(&cursor.after).ok_or_else(wrong_cursor)?;
                entries.partition_point(|entry| sort_by.rank(entry) <= sort_by.rank(&last))
            }
        };
        let limit = self.limit.map(|limit| limit.saturating_sub(summary.len()));
        let (mut list, mut last) = (LimitedText::new(limit), None);
        for entry in &entries[skipped..] {
            if list.push_line(&line(entry)) {
                last = Some(entry);
            }
        }
        let separator = if list.total() == 0 { "" } else { "\n" };
        *list.text_mut() += &(separator.to_owned() + &summary);
        let state = sort_by.state(&entries);
        let next = || {
            if is_late {
                return Ok((list_directory::TOOL.name, json!({ "path": path.sent() })));
            }
            let after = last.map(Sized::position).unwrap_or_default();
            let cursor = Cursor { call: key()?, after, state }.text();
            Ok((TOOL.name, json!({ "path": path.sent(), "sortBy": sort, "cursor": cursor })))
        };
        let mut late = None;
        if is_late {
            list.stop(TIME);
            let looked_at = looked_at_so_far(entries.len() as u64);
            late = Some(format!(
                "{looked_at}\n[The sums are of these entries; list_directory tells names only, in less time]"
            ));
        }
        let changed = !is_late && cursor.as_ref().is_some_and(|cursor| cursor.state != state);
        let notes = [note(&walk.left_out(), changed, late.as_deref()), note_on_sizes(&entries)];
        let notes: Vec<String> = notes.into_iter().flatten().collect();
        list.reply(wanted, "entries", next, (!notes.is_empty()).then(|| notes.join("\n")).as_deref())
    }
}

/// The entries of a folder with their sizes, and whether the time was up before the last one.
fn sized_entries(walk: &mut Walk, control: &Control) -> Result<(Vec<Sized>, bool)> {
    let (mut entries, mut late) = (Vec::new(), LateStats::default());
    let (mut met, mut is_late) = (0, false);
    loop {
        // A look at a size may wait.
        let entry = match control.check().and_then(|()| walk.next_step()) {
            Ok(Some(WalkStep::Entry(entry))) => entry,
            Ok(Some(WalkStep::Leave(_))) => continue,
            Ok(None) => break,
            Err(Error::TimedOut) => {
                is_late = true;
                break;
            }
            Err(other) => return Err(other),
        };
        let is_folder = entry.kind == EntryKind::Folder;
        let entry_of = || Sized { name: walk.name().to_vec(), is_folder, size: 0, is_known: true };
        // The size of a link is that of its target. One that leads nowhere has none.
        let told = match entry.kind {
            EntryKind::Link => Some(Ok(walk.stat_of_target())),
            _ => late.now(walk),
        };
        match told {
            Some(told) => entries.push(entry_of().with(&told)),
            None if late.keep(walk, entry_of()) => entries.extend(sized(&mut late)),
            None => {}
        }
        met += 1;
        control.progress(met, None);
    }
    entries.extend(sized(&mut late));
    if entries.iter().any(|entry| !entry.is_known) && !switches::is_off("stats-lost") {
        walk.check_answers()?;
    }
    Ok((entries, is_late))
}

/// The entries whose sizes were not asked for yet.
fn sized(late: &mut LateStats<Sized>) -> impl Iterator<Item = Sized> + use<> {
    late.take().map(|(entry, told)| entry.with(&told))
}

/// What a client must know of sizes that are not told.
fn note_on_sizes(entries: &[Sized]) -> Option<String> {
    let unknown = entries.iter().filter(|entry| !entry.is_known).count();
    (unknown > 0).then(|| {
        format!("[Sizes not known and counted as 0 B: {unknown}, the file system does not tell them]")
    })
}

impl SortBy {
    fn word(self) -> &'static str {
        if self == SortBy::Size { "size" } else { "name" }
    }

    /// Orders the entries: no two have the same rank.
    fn rank(self, entry: &Sized) -> (Reverse<u64>, &[u8]) {
        (Reverse(if self == SortBy::Size { entry.size } else { 0 }), &entry.name)
    }

    /// A number for everything that the order depends on.
    fn state(self, entries: &[Sized]) -> u64 {
        let mut state = Xxh3Default::default();
        for entry in entries {
            let (Reverse(size), name) = self.rank(entry);
            state.update(&size.to_le_bytes());
            state.update(name);
            state.update(b"/");
        }
        state.digest()
    }
}

impl Sized {
    fn with(self, told: &StatResult) -> Sized {
        let size = told.as_ref().ok().and_then(Option::as_ref).map_or(0, |stat| stat.st_size as u64);
        Sized { size, is_known: self.is_folder || told.is_ok(), ..self }
    }

    /// The entry's place in the list, as a cursor keeps it.
    fn position(&self) -> String {
        format!("{} {}", self.size, kept(&self.name))
    }

    /// The place that [`Sized::position`] gave.
    fn kept(position: &str) -> Option<Sized> {
        let (size, name) = position.split_once(' ')?;
        Some(Sized {
            name: path_kept(name).into_owned(),
            is_folder: false,
            size: size.parse().ok()?,
            is_known: true,
        })
    }
}

fn line(entry: &Sized) -> String {
    let (kind, size) =
        if entry.is_folder { ("[DIR]", String::new()) } else { ("[FILE]", format::size(entry.size)) };
    let (name, width) =
        (format::padded(&shown_line(&entry.name), NAME_WIDTH), if entry.is_folder { 0 } else { SIZE_WIDTH });
    format!("{kind} {name} {size:>width$}")
}

/// The last lines, which always count the whole folder.
fn summary(entries: &[Sized]) -> String {
    let folders = entries.iter().filter(|entry| entry.is_folder).count();
    let files = entries.len() - folders;
    let files_only = entries.iter().filter(|entry| !entry.is_folder);
    let sum = files_only.fold(0, |sum: u64, entry| sum.saturating_add(entry.size));
    format!("\nTotal: {files} files, {folders} directories\nCombined size: {}", format::size(sum))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_that_no_number_can_sum_up_have_the_largest_sum() {
        let file =
            |name: &str| Sized { name: name.into(), is_folder: false, size: i64::MAX as u64, is_known: true };
        let told = summary(&["a", "b", "c"].map(file));
        assert!(told.ends_with("Combined size: 16777216.00 TB"), "{told}");
    }

    #[test]
    fn a_place_in_the_list_is_read_back_whatever_the_name() {
        for name in [&b"a b"[..], "\u{e4}".as_bytes(), b"\xff 1"] {
            let position =
                Sized { name: name.to_vec(), is_folder: false, size: 7, is_known: true }.position();
            let kept = Sized::kept(&position).unwrap();
            assert_eq!((kept.size, &*kept.name), (7, name));
        }
        assert!(["", "7", "x y", "-1 a"].iter().all(|position| Sized::kept(position).is_none()));
    }
}
