//! What the tools that walk share: names as text, cursors into a walk, and the note on what was left out.

use std::borrow::Cow;
use std::cmp::Ordering;

use crate::engine::{FilePath, LeftOut, Result, Workspace};
use crate::tools::cursor::Cursor;

/// A name or path as text. Bytes that are not UTF-8 are written as `\xNN`.
pub(super) fn shown(name: &[u8]) -> Cow<'_, str> {
    if let Ok(name) = std::str::from_utf8(name) {
        return Cow::Borrowed(name);
    }
    let mut text = String::with_capacity(name.len() + 8);
    for chunk in name.utf8_chunks() {
        text.push_str(chunk.valid());
        for byte in chunk.invalid() {
            text.push_str(&format!("\\x{byte:02x}"));
        }
    }
    Cow::Owned(text)
}

/// Where a path of a walk by names stands to the path `after` of a cursor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Passed {
    /// It was shown before.
    Yes,
    /// It is a folder that holds `after`: it was shown, but not all in it.
    Above,
    /// It comes after it.
    No,
}

/// See [`Passed`]. Paths are compared component by component, as a walk by names meets them.
pub(super) fn passed(path: &str, after: &str) -> Passed {
    if after.strip_prefix(path).is_some_and(|rest| rest.starts_with('/')) {
        return Passed::Above;
    }
    match path.split('/').cmp(after.split('/')) {
        Ordering::Greater => Passed::No,
        Ordering::Less | Ordering::Equal => Passed::Yes,
    }
}

/// Makes a cursor behind `after`, a path below the folder `folder`.
pub(super) fn cursor_behind(workspace: &Workspace, of: &str, folder: &FilePath, after: &str) -> Cursor {
    Cursor { of: of.into(), after: after.into(), state: state_of(workspace, folder, after).unwrap_or(0) }
}

/// Whether the folder that holds the cursor's position has changed since the cursor was made.
pub(super) fn has_changed(workspace: &Workspace, folder: &FilePath, cursor: &Cursor) -> bool {
    state_of(workspace, folder, &cursor.after).unwrap_or(0) != cursor.state
}

fn state_of(workspace: &Workspace, folder: &FilePath, after: &str) -> Result<u64> {
    let parent = after.rsplit_once('/').map_or(folder.clone(), |(parent, _)| folder.join(parent));
    Ok(workspace.info(&parent)?.modified_ms as u64)
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
    fn names_that_are_not_utf8_are_escaped() {
        assert_eq!(shown("ä".as_bytes()), "ä");
        assert_eq!(shown(b"caf\xe9-\xff"), "caf\\xe9-\\xff");
    }

    #[test]
    fn a_path_stands_to_a_cursor_as_the_walk_meets_it() {
        for (path, expected) in [
            ("a", Passed::Above),
            ("a/b", Passed::Yes),
            ("a/a/z", Passed::Yes),
            ("a/b/c", Passed::No),
            ("a/c", Passed::No),
            ("a.txt", Passed::No),
            ("Z", Passed::Yes),
        ] {
            assert_eq!(passed(path, "a/b"), expected, "{path}");
        }
    }
}
