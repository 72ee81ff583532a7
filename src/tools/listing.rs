//! The entries of a folder as a list, down to a depth: for `list_directory`, and for `view` of a folder.
//!
//! Knows no arguments but the names of those of the call that goes on.

use serde_json::json;

use super::cursor::Cursor;
use super::limited::LimitedText;
use super::near::of_folder;
use super::walking::{Listed, shown_line};
use super::{OutputKinds, Reply};
use engine::Workspace;
use folder::{Control, EntryKind, FilePath, Result, WalkOptions};

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
    /// Whether the client is offered search_files.
    pub(super) has_search: bool,
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
        let (mut list, mut line) = (LimitedText::new(self.limit), String::new());
        let reached = listed.walk(options, after.as_deref(), &|_| false, control, |walk, met| {
            line.clear();
            line.push_str(if met.kind == EntryKind::Folder { "[DIR] " } else { "[FILE] " });
            line.push_str(&shown_line(walk.path_from_start()));
            !met.is_above && list.push_line(&line)
        });
        let reached = match reached {
            Err(error) => return Err(of_folder(error, folder, self.has_search, workspace, control)?),
            Ok(reached) => reached,
        };
        let note = listed.note(&reached, cursor);
        let go_on = listed.end(&mut list, &reached, cursor)?;
        let next = || {
            let mut next = json!({ (self.argument): folder.sent() });
            go_on.iter().for_each(|cursor| next["cursor"] = json!(cursor));
            if depth != self.default_depth {
                next["depth"] = json!(depth);
            }
            Ok((tool, next))
        };
        list.reply(wanted, "entries", next, note.as_deref())
    }
}
