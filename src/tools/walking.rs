//! What the tools that walk share: names as text, cursors into a walk, globs, and the note on what was left out.

use std::borrow::Cow;
use std::fmt::Write;
use std::path::PathBuf;

use crate::tools::arguments::List;
use crate::tools::balance::{Balance, RESERVED, several};
use crate::tools::cursor::{Cursor, call_key, state_of};
use crate::tools::limited::LimitedText;
use crate::tools::wrong_pattern;
use engine::Workspace;
use folder::{
    Control, EntryKind, Error, FilePath, LeftOut, Passed, Result, Walk, WalkOptions, WalkStep, passed,
};
use sys::path::{told, with_slashes};
use text::glob::GlobError;
use text::order;
pub(super) use text::shown::{in_one_line, shown, shown_line};

/// Shares of the time of a walk that are left for the answer with what it has met.
pub(super) const SHARES_OF_ANSWER: u32 = 1;

/// Why an answer is a part.
pub(super) const TIME: &str = "the time was up";

/// What an answer says if the time was up before the first entry.
pub(super) const NO_PROGRESS: &str = "[No entry could be looked at in the time. The same call may end in the same way: pass the path of a \
    folder further down, or have the server started with a longer --timeout]";

/// The globs of paths that a call leaves out.
pub(super) type Patterns = List<String, 0, 50>;

/// Reads `excludePatterns`. When the call runs, because it may take a while.
pub(super) fn exclude_globs<G>(
    patterns: Option<&Patterns>,
    mut read: impl FnMut(&str) -> Result<G, GlobError>,
) -> Result<Vec<G>> {
    let read = |(at, pattern): (usize, &String)| {
        read(pattern).map_err(|error| wrong_pattern(format!("excludePatterns[{at}]"), &error))
    };
    patterns.into_iter().flat_map(|patterns| patterns.iter()).enumerate().map(read).collect()
}

/// The path of a file in one of the served folders as one line that other tools take: absolute if there are several folders.
pub(super) fn path_line_in(folders: &[PathBuf], number: usize, path: &[u8]) -> String {
    match folders.get(number) {
        Some(folder) if folders.len() > 1 => {
            let (folder, line) = (folder.to_string_lossy(), shown_line(path));
            told(&format!("{}/{line}", with_slashes(&folder).trim_end_matches('/'))).into_owned()
        }
        _ => entry_line(path).into_owned(),
    }
}

/// The path of an entry as a line of its own. One that would look like a note of an answer, in brackets, begins with `./`.
fn entry_line(path: &[u8]) -> Cow<'_, str> {
    no_note(shown_line(path))
}

fn no_note(line: Cow<'_, str>) -> Cow<'_, str> {
    if line.starts_with('[') && line.ends_with(']') { Cow::Owned(format!("./{line}")) } else { line }
}

/// The same for an entry whose path begins as one of `starts` does, as other tools take it.
pub(super) fn found_line(starts: &[Start], path: &[u8]) -> String {
    let line = |start: &Start| Some(start.line(path.strip_prefix(start.before.as_bytes())?));
    let line = starts.iter().find_map(line).unwrap_or_else(|| told(&shown_line(path)).into_owned());
    no_note(line.into()).into_owned()
}

/// The absolute path of a folder, links followed, as a line that other tools take, with slashes.
pub(super) fn absolute_line(workspace: &Workspace, folder: &FilePath) -> Result<String> {
    let path = workspace.absolute(folder)?;
    let below = |served: &PathBuf| Some((served.clone(), path.strip_prefix(served).ok()?.to_owned()));
    let (served, rest) = workspace
        .folder_paths()
        .folders()
        .iter()
        .find_map(below)
        .unwrap_or_else(|| (path.clone(), PathBuf::new()));
    // The path of a served folder is taken only as it is.
    let mut line = in_one_line(&with_slashes(&served.to_string_lossy())).into_owned();
    for name in &rest {
        if !line.ends_with('/') {
            line.push('/');
        }
        line.push_str(&shown_line(name.as_encoded_bytes()));
    }
    Ok(line)
}

/// A folder in which a search begins.
#[derive(Debug, Clone)]
pub(super) struct Start {
    /// The folder.
    pub(super) folder: FilePath,
    /// What stands before the path of an entry below it, so that other tools take the whole: empty, or with a final `/`.
    /// Relative to the served folder if there is only one, else absolute. With slashes, so [`told`] makes it what is told.
    pub(super) before: String,
}

impl Start {
    fn new(workspace: &Workspace, folder: FilePath) -> Result<Start> {
        let mut before = match workspace.folder_paths().folders() {
            [_] => folder.as_str().to_owned(),
            _ => absolute_line(workspace, &folder)?,
        };
        if !before.is_empty() && !before.ends_with('/') {
            before.push('/');
        }
        Ok(Start { folder, before })
    }

    /// The path of an entry below it as one line that other tools take.
    pub(super) fn line(&self, path: &[u8]) -> String {
        told(&format!("{}{}", in_one_line(&self.before), shown_line(path))).into_owned()
    }
}

/// Where a search in `path` begins; without a path, in `below` of each served folder. In the order of their paths.
pub(super) fn starts(workspace: &Workspace, path: Option<&FilePath>, below: &FilePath) -> Result<Vec<Start>> {
    let folders = match path {
        Some(path) => vec![path.clone()],
        None => (0..workspace.folder_paths().folders().len()).map(|number| below.in_folder(number)).collect(),
    };
    let mut starts =
        folders.into_iter().map(|folder| Start::new(workspace, folder)).collect::<Result<Vec<Start>>>()?;
    order::sort_by(&mut starts, |one, other| one.before.cmp(&other.before));
    Ok(starts)
}

/// A path as a cursor keeps it: one that is not UTF-8 as NUL and hexadecimal digits.
pub(super) fn kept(path: &[u8]) -> Cow<'_, str> {
    if let Ok(path) = std::str::from_utf8(path) {
        return Cow::Borrowed(path);
    }
    let mut text = String::from("\0");
    for byte in path {
        // A write to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    Cow::Owned(text)
}

/// The path that [`kept`] was given.
pub(super) fn path_kept(text: &str) -> Cow<'_, [u8]> {
    let Some(digits) = text.strip_prefix('\0') else { return Cow::Borrowed(text.as_bytes()) };
    let pairs = digits.as_bytes().chunks(2).filter_map(|pair| std::str::from_utf8(pair).ok());
    pairs.filter_map(|pair| u8::from_str_radix(pair, 16).ok()).collect()
}

/// A list by a walk that may go on behind a cursor.
#[derive(Debug, Clone, Copy)]
pub(super) struct Listed<'l> {
    pub(super) workspace: &'l Workspace,
    pub(super) tool: &'static str,
    /// The folder in which the walk begins.
    pub(super) folder: &'l FilePath,
    /// The other arguments that decide what is listed.
    pub(super) arguments: &'l str,
}

/// An entry of a walk whose path is to be listed.
#[derive(Debug)]
pub(super) struct Met<'m> {
    pub(super) kind: EntryKind,
    pub(super) level: usize,
    /// Its path below the folder in which the walk began, as text.
    pub(super) path: &'m str,
    /// An earlier page has shown it: it is a folder above the cursor.
    pub(super) is_above: bool,
}

/// How far a walk came.
#[derive(Debug, Default)]
pub(super) struct Reached {
    /// Entries that were met.
    pub(super) seen: u64,
    /// The path of the last entry behind the cursor that was met, and of the last one that is shown. Empty: there is none.
    met: Vec<u8>,
    shown: Vec<u8>,
    /// What the walk left out.
    pub(super) left_out: LeftOut,
    /// The time was up before the end.
    pub(super) is_late: bool,
}

impl Listed<'_> {
    /// Calls `meet` with the entries of a walk behind `after` and the folders above it, without those that `is_excluded` names by
    /// their paths and what is in them: until the end, or until the time is up. `meet` returns whether the entry is shown.
    pub(super) fn walk(
        &self,
        options: WalkOptions,
        after: Option<&[u8]>,
        is_excluded: &dyn Fn(&str) -> bool,
        control: &Control,
        mut meet: impl FnMut(&Walk, Met) -> bool,
    ) -> Result<Reached> {
        control.leaving_time(SHARES_OF_ANSWER, || {
            let mut walk = self.workspace.walk(self.folder, options, control)?;
            let mut reached = Reached::default();
            loop {
                let entry = match walk.next_step() {
                    Ok(Some(WalkStep::Entry(entry))) => entry,
                    Ok(Some(WalkStep::Leave(_))) => continue,
                    Err(Error::TimedOut) if switches::is_off("set-list-late") => return Err(Error::TimedOut),
                    end @ (Ok(None) | Err(Error::TimedOut)) => {
                        return Ok(Reached { is_late: end.is_err(), left_out: walk.left_out(), ..reached });
                    }
                    Err(other) => return Err(other),
                };
                reached.seen += 1;
                control.progress(reached.seen, None);
                let path = shown(walk.path_from_start());
                let is_folder = entry.kind == EntryKind::Folder;
                let position =
                    after.map_or(Passed::No, |after| passed(walk.path_from_start(), is_folder, after));
                if position == Passed::Yes || is_excluded(&path) {
                    walk.skip_folder();
                    continue;
                }
                let is_above = position == Passed::Above;
                if !is_above {
                    put(&mut reached.met, &walk);
                }
                if meet(&walk, Met { kind: entry.kind, level: entry.level, path: &path, is_above }) {
                    put(&mut reached.shown, &walk);
                }
            }
        })
    }

    /// Says that the list is a part if the time was up. Returns the cursor of the call that goes on, if there is one.
    pub(super) fn end(
        &self,
        list: &mut LimitedText,
        reached: &Reached,
        cursor: Option<&Cursor>,
    ) -> Result<Option<String>> {
        if reached.is_late && reached.met.is_empty() {
            list.stop_at_once(TIME);
        } else if reached.is_late {
            list.stop(TIME);
        }
        // If all that was met is shown, the next call begins behind it.
        match if list.is_full() { &*reached.shown } else { &*reached.met } {
            _ if !list.is_full() && !reached.is_late => Ok(None),
            [] => Ok(cursor.map(Cursor::text)),
            last => self.cursor_behind(last).map(Some),
        }
    }

    /// Refuses a cursor of another list. Returns the path in it.
    pub(super) fn behind<'c>(&self, cursor: Option<&'c Cursor>) -> Result<Option<Cow<'c, [u8]>>> {
        let Some(cursor) = cursor else { return Ok(None) };
        cursor.check(self.key()?)?;
        Ok(Some(path_kept(&cursor.after)))
    }

    /// The text of a cursor behind `last`, a path below the folder.
    fn cursor_behind(&self, last: &[u8]) -> Result<String> {
        let after = kept(last).into_owned();
        let state = self.state_around(&after).unwrap_or(0);
        Ok(Cursor { call: self.key()?, after, state }.text())
    }

    /// The note on what was left out, and on a change since the cursor was made.
    pub(super) fn note(&self, reached: &Reached, cursor: Option<&Cursor>) -> Option<String> {
        let changed = |cursor: &Cursor| self.state_around(&cursor.after).unwrap_or(0) != cursor.state;
        note(&reached.left_out, cursor.is_some_and(changed), reached.note().as_deref())
    }

    fn key(&self) -> Result<u64> {
        call_key(self.workspace, self.tool, self.folder, self.arguments)
    }

    /// The state of the folder that holds the path `after`. `None` if there is no such folder.
    fn state_around(&self, after: &str) -> Option<u64> {
        let parent = after.rsplit_once('/').map_or("", |(parent, _)| parent);
        // In a cursor that no server made.
        if parent.split('/').any(|component| matches!(component, "." | "..")) {
            return None;
        }
        let folder = if parent.is_empty() { self.folder.clone() } else { self.folder.join(parent) };
        self.workspace.entry_stamp(&folder).ok().map(|stamp| state_of(&stamp))
    }
}

impl Reached {
    /// What an answer says if the time was up: how much was looked at, and what to do.
    fn note(&self) -> Option<String> {
        if self.is_late && self.met.is_empty() {
            return Some(NO_PROGRESS.into());
        }
        let looked_at = self.is_late.then(|| looked_at_so_far(self.seen))?;
        Some(format!("{looked_at}\n[To look at less at a time, pass the path of a folder further down]"))
    }
}

/// How many entries a walk has looked at whose time was up.
pub(super) fn looked_at_so_far(seen: u64) -> String {
    let mut balance = Balance::default();
    balance.add_unseen();
    balance.line(&format!("{} looked at so far", several(seen, "entry")))
}

/// The path of the current entry below the folder in which the walk began.
fn put(path: &mut Vec<u8>, walk: &Walk) {
    path.clear();
    path.extend_from_slice(walk.path_from_start());
}

/// What a client must know of entries that a walk did not show. `late`: what there is to say of the time.
pub(super) fn note(left_out: &LeftOut, changed: bool, late: Option<&str>) -> Option<String> {
    let mut parts = Vec::new();
    if changed {
        parts.push("[The folder has changed since the cursor was made]".to_owned());
    }
    for (number, one, several) in [
        (left_out.ignored, "ignored", "ignored"),
        (left_out.reserved, RESERVED.0, RESERVED.1),
        (left_out.unreadable, "folder that cannot be read", "folders that cannot be read"),
        (left_out.unknown, "entry that cannot be read", "entries that cannot be read"),
        (
            left_out.mounts,
            "folder on another file system, see --cross-mounts",
            "folders on other file systems, see --cross-mounts",
        ),
        (left_out.too_deep, "folder that lies too deep", "folders that lie too deep"),
        (left_out.repositories, "folder of git, see --allow-git", "folders of git, see --allow-git"),
    ] {
        if number > 0 {
            parts.push(format!("[Not shown: {number} {}]", if number == 1 { one } else { several }));
        }
    }
    parts.extend(late.map(str::to_owned));
    (!parts.is_empty()).then(|| parts.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_keeps_paths_of_any_bytes() {
        for path in [&b""[..], "ä/b".as_bytes(), b"caf\xe9/\xff\x00"] {
            assert_eq!(*path_kept(&kept(path)), *path);
        }
    }
}
