//! Where an entry of a walk stands to a place that an earlier walk came to.
//!
//! Knows paths as bytes, and no cursors.

use std::cmp::Ordering;

/// Where a path of a walk by names stands to the path `after` of a cursor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Passed {
    /// It was shown before.
    Yes,
    /// It is a folder that holds `after`: it was shown, but not all in it.
    Above,
    /// It comes after it.
    No,
}

/// See [`Passed`]. Paths are compared component by component and by their bytes, as a walk by names meets them.
pub fn passed(path: &[u8], is_folder: bool, after: &[u8]) -> Passed {
    if after.strip_prefix(path).is_some_and(|rest| rest.starts_with(b"/")) {
        return Passed::Above;
    }
    let components = |path| <[u8]>::split(path, |byte| *byte == b'/');
    match components(path).cmp(components(after)) {
        Ordering::Greater => Passed::No,
        // What is in a folder comes after the folder.
        Ordering::Equal if is_folder => Passed::Above,
        Ordering::Less | Ordering::Equal => Passed::Yes,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_stands_to_a_cursor_as_the_walk_meets_it() {
        for (path, expected) in [
            ("a", Passed::Above),
            ("a/b", Passed::Above),
            ("a/a/z", Passed::Yes),
            ("a/b/c", Passed::No),
            ("a/c", Passed::No),
            ("a.txt", Passed::No),
            ("Z", Passed::Yes),
        ] {
            assert_eq!(passed(path.as_bytes(), true, b"a/b"), expected, "{path}");
        }
        assert_eq!(passed(b"a/b", false, b"a/b"), Passed::Yes, "a file");
        assert_eq!(passed(b"\xff", false, b"z"), Passed::No, "by bytes, not as shown");
    }
}
