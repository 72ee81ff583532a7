//! The entries of a folder as a list, down to a depth: for `list_directory`, and for `view` of a folder.
//!
//! Knows no arguments but the names of those of the call that goes on.

use serde_json::json;

use super::cursor::Cursor;
use super::limited::LimitedText;
use super::walking::{Listed, shown};
use super::{OutputKinds, Reply};
use crate::engine::{Control, EntryKind, FilePath, Passed, Result, WalkOptions, WalkStep, Workspace, passed};

/// A call for a list.
#[derive(Debug, Clone, Copy)]
pub(super) struct Listing<'l> {
    /// The tool, which is also the one that goes on.
    pub(super) tool: &'static str,
    /// The name of its argument for the folder.
    pub(super) argument: &'static str,
    /// The folder.
    pub(super) folder: &'l FilePath,
    /// How many levels of folders are listed.
    pub(super) depth: u64,
    /// The depth where the call does not say.
    pub(super) default_depth: u64,
    /// Where the list goes on.
    pub(super) cursor: Option<&'l Cursor>,
    /// The longest text of an answer in bytes, if there is a limit.
    pub(super) limit: Option<usize>,
}

impl Listing<'_> {
    /// The list as a tool's reply.
    pub(super) fn reply(
        &self,
        workspace: &Workspace,
        wanted: OutputKinds,
        control: &Control,
    ) -> Result<Reply> {
        let Listing { tool, folder, depth, cursor, .. } = *self;
        let key = depth.to_string();
        let listed = Listed { workspace, tool, folder, arguments: &key };
        let after = listed.behind(cursor)?;
        let options = WalkOptions { depth: depth as usize, ..WalkOptions::default() };
        let mut walk = workspace.walk(folder, options, control)?;
        let (mut list, mut last, mut line) = (LimitedText::new(self.limit), Vec::new(), String::new());
        let mut seen = 0;
        while let Some(step) = walk.next_step()? {
            let WalkStep::Entry(entry) = step else { continue };
            seen += 1;
            control.progress(seen, None);
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
        let note = listed.note(&walk.left_out(), cursor);
        let next = || {
            let mut next = json!({ (self.argument): folder.sent(), "cursor": listed.cursor_behind(&last)? });
            if depth != self.default_depth {
                next["depth"] = json!(depth);
            }
            Ok((tool, next))
        };
        list.reply(wanted, "entries", next, note.as_deref())
    }
}
