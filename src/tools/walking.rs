//! What the tools that walk share: names as text, cursors into a walk, globs, and the note on what was left out.

use crate::engine::stable_sort_by;
use std::borrow::Cow;
use std::fmt::Write;
use std::path::PathBuf;

use crate::engine::{FilePath, GlobError, LeftOut, Result, Workspace};
pub(super) use crate::engine::{shown, shown_line};
use crate::sys::path::{told, with_slashes};
use crate::tools::arguments::List;
use crate::tools::cursor::{Cursor, call_key, state_of};
use crate::tools::wrong_pattern;

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
    let line = shown_line(path);
    match folders.get(number) {
        Some(folder) if folders.len() > 1 => {
            let folder = folder.to_string_lossy();
            told(&format!("{}/{line}", with_slashes(&folder).trim_end_matches('/'))).into_owned()
        }
        _ => line.into_owned(),
    }
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
            _ => with_slashes(&workspace.absolute(&folder)?.to_string_lossy()).into_owned(),
        };
        if !before.is_empty() && !before.ends_with('/') {
            before.push('/');
        }
        Ok(Start { folder, before })
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
    stable_sort_by(&mut starts, |one, other| one.before.cmp(&other.before));
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

impl Listed<'_> {
    /// Refuses a cursor of another list. Returns the path in it.
    pub(super) fn behind<'c>(&self, cursor: Option<&'c Cursor>) -> Result<Option<Cow<'c, [u8]>>> {
        let Some(cursor) = cursor else { return Ok(None) };
        cursor.check(self.key()?)?;
        Ok(Some(path_kept(&cursor.after)))
    }

    /// The text of a cursor behind `last`, a path below the folder.
    pub(super) fn cursor_behind(&self, last: &[u8]) -> Result<String> {
        let after = kept(last).into_owned();
        let state = self.state_around(&after).unwrap_or(0);
        Ok(Cursor { call: self.key()?, after, state }.text())
    }

    /// The note on what was left out, and on a change since the cursor was made.
    pub(super) fn note(&self, left_out: &LeftOut, cursor: Option<&Cursor>) -> Option<String> {
        let changed = |cursor: &Cursor| self.state_around(&cursor.after).unwrap_or(0) != cursor.state;
        note(left_out, cursor.is_some_and(changed))
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

/// What a client must know of entries that a walk did not show.
pub(super) fn note(left_out: &LeftOut, changed: bool) -> Option<String> {
    let mut parts = Vec::new();
    if changed {
        parts.push("[The folder has changed since the cursor was made]".to_owned());
    }
    for (number, what) in [
        (left_out.ignored, "ignored"),
        (left_out.unreadable, "folders that cannot be read"),
        (left_out.unknown, "entries that cannot be read"),
        (left_out.mounts, "folders on other file systems, see --cross-mounts"),
        (left_out.too_deep, "folders that lie too deep"),
    ] {
        if number > 0 {
            parts.push(format!("[Not shown: {number} {what}]"));
        }
    }
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
