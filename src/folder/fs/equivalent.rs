//! Another spelling of a path that leads to nothing: its names composed in another way (NFC, NFD), or as lists show them.
//!
//! A name that looks like another one is not made beside it, because no client could tell the two apart. What is the name of one entry and
//! shows another one names neither.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use unicode_normalization::UnicodeNormalization;

use super::resolve::{LastLink, ResolvedPath, stat_entry};
use super::temporary;
use sys::fd::OwnedFd;
use sys::ffi::{OsStrExt, OsStringExt};
use sys::fs::Dir;
use text::shown::{has_escape, in_lower_hex, shown_in_full, shown_line};

/// What a path may mean.
#[derive(Debug, PartialEq, Eq)]
pub enum Spelling {
    /// Nothing but what it says.
    AsSent,
    /// This path, with the names that folders list, as far as they have such names.
    Other(PathBuf),
    /// One of these.
    Several(Vec<Candidate>),
}

/// An entry that a path may mean.
#[derive(Debug, PartialEq, Eq)]
pub struct Candidate {
    /// Its path below the served folder.
    pub path: PathBuf,
    /// A path of a client that means it alone.
    pub unmistakable: String,
}

/// The spelling of `path` below `root` that its folders have. Folders are read only where a name of the path has other spellings and is
/// not there.
pub fn spelling(root: &Arc<OwnedFd>, path: &Path) -> Spelling {
    let mut found = PathBuf::new();
    let mut names = path.iter();
    for name in names.by_ref() {
        match name.to_str().filter(|name| has_other_spellings(name)).map(|sent| in_folder(root, &found, sent))
        {
            Some(Some(mut others)) => match (others.pop(), others.is_empty()) {
                (Some(other), true) => found.push(other),
                (Some(other), false) => {
                    let sent = name.to_str().unwrap_or_default();
                    let all = others.into_iter().chain([other]);
                    return Spelling::Several(all.map(|name| candidate(&found, sent, &name)).collect());
                }
                (None, _) => {
                    found.push(name);
                    break;
                }
            },
            _ => found.push(name),
        }
    }
    found.extend(names);
    if found == path { Spelling::AsSent } else { Spelling::Other(found) }
}

/// Whether a name that is not this one may be meant by it.
fn has_other_spellings(name: &str) -> bool {
    !name.is_ascii() || has_escape(&in_lower_hex(name))
}

fn candidate(folder: &Path, sent: &str, name: &OsStr) -> Candidate {
    let shown = shown_line(name.as_bytes());
    let in_full = if shown == in_lower_hex(sent) { shown_in_full(name.as_bytes()) } else { None };
    let mut unmistakable = shown_line(folder.as_os_str().as_bytes()).into_owned();
    if !unmistakable.is_empty() {
        unmistakable.push('/');
    }
    unmistakable.push_str(in_full.as_deref().unwrap_or(&shown));
    Candidate { path: folder.join(name), unmistakable }
}

/// The names in `folder` below `root` that `sent` may mean. `None` if it is one of them and shows no other, or the folder cannot be read.
fn in_folder(root: &Arc<OwnedFd>, folder: &Path, sent: &str) -> Option<Vec<OsString>> {
    let place = ResolvedPath::find_entry(root, folder, LastLink::Follow).ok()?;
    place.stat?;
    let folder = place.open_folder().ok()?;
    let is_there = stat_entry(&folder, OsStr::new(sent)).is_ok();
    if is_there && !has_escape(sent) {
        return None;
    }
    let (composed, as_shown) = (sent.nfc().collect::<String>(), in_lower_hex(sent));
    let mut names = Vec::new();
    for entry in Dir::read_from(&folder).ok()? {
        let entry = entry.ok()?;
        let name = entry.file_name().to_bytes();
        if !temporary::is_temporary(name) && means(&as_shown, &composed, name) {
            names.push(OsString::from_vec(name.to_vec()));
        }
    }
    // Of a name that is there, only what it shows is another one.
    if is_there {
        names.retain(|name| name != sent && shows(&as_shown, name.as_bytes()));
        if names.is_empty() {
            return None;
        }
        names.push(sent.into());
    }
    Some(names)
}

fn means(as_shown: &str, composed: &str, name: &[u8]) -> bool {
    match std::str::from_utf8(name) {
        Ok(name) if !name.is_ascii() && name.nfc().eq(composed.chars()) => true,
        _ => shows(as_shown, name),
    }
}

/// Whether a text is what lists show of `name`, or what errors do where that is the name of another entry.
fn shows(text: &str, name: &[u8]) -> bool {
    has_escape(text) && (shown_line(name) == text || shown_in_full(name).as_deref() == Some(text))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn folder(names: &[&[u8]]) -> (tempfile::TempDir, Arc<OwnedFd>) {
        let dir = tempfile::tempdir().unwrap();
        for name in names {
            let path = dir.path().join(OsStr::from_bytes(name));
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        let root = Arc::new(sys::testing::open_folder(dir.path()));
        (dir, root)
    }

    fn other(root: &Arc<OwnedFd>, sent: &str) -> Option<Vec<u8>> {
        match spelling(root, Path::new(sent)) {
            Spelling::Other(path) => Some(path.as_os_str().as_bytes().to_vec()),
            _ => None,
        }
    }

    #[test]
    fn a_name_composed_in_another_way_is_found_in_each_component() {
        let (_dir, root) = folder(&["cafe\u{301}/e\u{301}.txt".as_bytes(), "u\u{308}".as_bytes(), b"plain"]);
        let expected = "cafe\u{301}/e\u{301}.txt".as_bytes().to_vec();
        assert_eq!(other(&root, "caf\u{e9}/\u{e9}.txt"), Some(expected));
        assert_eq!(other(&root, "caf\u{e9}/new/\u{e9}"), Some("cafe\u{301}/new/\u{e9}".as_bytes().to_vec()));
        assert_eq!(other(&root, "\u{fc}"), Some("u\u{308}".as_bytes().to_vec()));
        for sent in ["plain", "cafe\u{301}/e\u{301}.txt", "\u{e4}", "none/\u{e9}", "u"] {
            assert_eq!(spelling(&root, Path::new(sent)), Spelling::AsSent, "{sent}");
        }
    }

    #[test]
    fn of_several_names_none_is_chosen_but_the_one_that_was_sent() {
        let (_dir, root) = folder(&["a\u{301}\u{323}".as_bytes(), "a\u{323}\u{301}".as_bytes()]);
        assert!(
            matches!(spelling(&root, Path::new("\u{1ea1}\u{301}")), Spelling::Several(paths) if paths.len() == 2)
        );
        assert_eq!(spelling(&root, Path::new("a\u{301}\u{323}")), Spelling::AsSent);
    }

    #[test]
    fn a_name_is_taken_as_lists_show_it() {
        let (_dir, root) = folder(&[b"caf\xe9", b"a\tb", b"literal\\x41"]);
        assert_eq!(other(&root, r"caf\xe9"), Some(b"caf\xe9".to_vec()));
        assert_eq!(other(&root, r"a\x09b"), Some(b"a\tb".to_vec()));
        assert_eq!(other(&root, r"caf\xE9"), Some(b"caf\xe9".to_vec()));
        assert_eq!(spelling(&root, Path::new(r"literal\x41")), Spelling::AsSent);
        assert_eq!(spelling(&root, Path::new(r"caf\xe8")), Spelling::AsSent);
        assert_eq!(other(&root, r"literal\x5cx41"), Some(br"literal\x41".to_vec()));
        // Neither a folder above nor a name without an escape has another spelling.
        for sent in [r"\x2e\x2e", r"\x2e", r"\x6c\x69\x74\x65\x72\x61\x6c"] {
            assert_eq!(spelling(&root, Path::new(sent)), Spelling::AsSent, "{sent}");
        }
    }

    #[test]
    fn a_name_that_shows_another_one_means_neither_and_each_has_a_path_of_its_own() {
        let (_dir, root) = folder(&[b"d/t\tb", br"d/t\x09b"]);
        let Spelling::Several(candidates) = spelling(&root, Path::new(r"d/t\x09b")) else {
            panic!("one is chosen")
        };
        let mut paths: Vec<_> = candidates
            .into_iter()
            .map(|candidate| (candidate.path.into_os_string().into_vec(), candidate.unmistakable))
            .collect();
        paths.sort();
        let expected = [(b"d/t\tb".to_vec(), r"d/\x74\x09\x62"), (br"d/t\x09b".to_vec(), r"d/t\x5cx09b")];
        assert_eq!(paths, expected.map(|(path, sent)| (path, sent.to_owned())));
        for (path, sent) in paths {
            assert_eq!(other(&root, &sent), Some(path), "{sent}");
        }
    }
}
