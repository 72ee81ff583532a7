//! `list_directory`: the entries of a folder, and of the folders in it down to a depth.

use serde_json::json;

use super::CONTENT;
use super::walking::{Passed, cursor_behind, has_changed, kept, note, passed, path_kept, shown};
use crate::engine::{Control, EntryKind, FilePath, Result, WalkOptions, WalkStep, Workspace};
use crate::tools::arguments::{Count, Request, Takes, arguments};
use crate::tools::cursor::Cursor;
use crate::tools::limited::LimitedText;
use crate::tools::{Call, OutputKinds, ParseOptions, Reply, Tool};

pub(crate) static TOOL: Tool = Tool {
    name: "list_directory",
    title: "List Directory",
    description: "List the entries of a folder, sorted by name, each with [FILE] or [DIR] before its name. With depth also \
        those of the folders in it, as paths. A long list ends in a line with the call that goes on. Example: \
        {\"path\":\"src\"}",
    instructions: "",
    takes: Takes::of::<ListArguments>(),
    output_schema: Some(CONTENT),
    writes: false,
    destructive: false,
    idempotent: true,
    direct: false,
};

arguments! {
    struct ListArguments {
        /// Path of the folder
        path: FilePath,
        /// How many levels of folders are listed
        depth: Count = 1,
        /// Where an earlier answer says that the list goes on
        cursor: Option<Cursor>,
    }
}

#[derive(Debug)]
struct ListDirectory {
    arguments: ListArguments,
    /// What a cursor of this list belongs to.
    of: String,
    limit: Option<usize>,
}

impl Request for ListArguments {
    fn into_call(self, options: ParseOptions) -> Result<Box<dyn Call>> {
        let of = format!("{} {} {}", TOOL.name, self.depth.0, self.path.as_str());
        Cursor::check(self.cursor.as_ref(), &of)?;
        Ok(Box::new(ListDirectory { arguments: self, of, limit: options.limit }))
    }
}

impl Call for ListDirectory {
    fn file(&self) -> Option<&FilePath> {
        None
    }

    fn run(&self, workspace: &Workspace, wanted: OutputKinds, control: &Control) -> Result<Reply> {
        let ListArguments { path, depth, cursor } = &self.arguments;
        let options = WalkOptions { depth: depth.0 as usize, ..WalkOptions::default() };
        let mut walk = workspace.walk(path, options, control)?;
        let (mut list, mut last, mut line) = (LimitedText::new(self.limit), Vec::new(), String::new());
        let after = cursor.as_ref().map(|cursor| path_kept(&cursor.after));
        while let Some(step) = walk.next_step()? {
            let WalkStep::Entry(entry) = step else { continue };
            let is_folder = entry.kind == EntryKind::Folder;
            match after.as_ref().map(|after| passed(walk.path_from_start(), is_folder, after)) {
                None | Some(Passed::No) => {}
                Some(Passed::Above) => continue,
                Some(Passed::Yes) => {
                    walk.skip_folder();
                    continue;
                }
            }
            line.clear();
            line.push_str(if is_folder { "[DIR] " } else { "[FILE] " });
            line.push_str(&shown(walk.path_from_start()));
            if list.push_line(&line) {
                last.clear();
                last.extend_from_slice(walk.path_from_start());
            }
        }
        let changed = has_changed(workspace, path, cursor.as_ref());
        let note = note(&walk.left_out(), changed);
        let next = || {
            let cursor = cursor_behind(workspace, &self.of, path, &kept(&last)).text();
            let mut next = json!({ "path": path.sent(), "cursor": cursor });
            if depth.0 != 1 {
                next["depth"] = json!(depth.0);
            }
            (TOOL.name, next)
        };
        Ok(list.reply(wanted, "entries", next, note.as_deref()))
    }
}
