//! Another spelling of a path that leads to nothing: its names composed in another way (NFC, NFD), with other characters that are not seen, or
//! as lists show them.
//!
//! A name that looks like another one is not made beside it, because no client could tell the two apart. What is the name of one entry and
//! shows another one names neither.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::resolve::{LastLink, ResolvedPath, stat_entry};
use super::temporary;
use crate::path::is_ignorable;
use sys::fd::OwnedFd;
use sys::ffi::{OsStrExt, OsStringExt};
use sys::fs::{Dir, Mode, OFlags};
use text::normal_form::composed;
use text::shown::{has_escape, in_bytes, in_lower_hex, shown_in_full, shown_line};

/// Most entries that a path is said to mean.
const MOST_MEANT: usize = 16;

/// Most entries of a folder among which a twin of a new name is looked for.
const MOST_LOOKED_AT: usize = 4_096;

/// What a path may mean.
#[derive(Debug, PartialEq, Eq)]
pub enum Spelling {
    /// Nothing but what it says.
    AsSent,
    /// This path, with the names that folders list, as far as they have such names.
    Other(PathBuf),
    /// One of these, all of them with the names that folders list.
    Several(Vec<PathBuf>),
}

/// The spelling of `path` below `root` that its folders have. Folders are read only where a name of the path has other spellings and is
/// not there.
pub fn spelling(root: &Arc<OwnedFd>, path: &Path) -> Spelling {
    let names: Vec<&OsStr> = path.iter().collect();
    let mut meant = meant(root, PathBuf::new(), &names);
    match meant.pop() {
        Some(only) if meant.is_empty() && only != path => Spelling::Other(only),
        Some(last) if !meant.is_empty() => Spelling::Several(meant.into_iter().chain([last]).collect()),
        _ => Spelling::AsSent,
    }
}

/// What the path of `names` in the folder `found` below `root` may mean.
fn meant(root: &Arc<OwnedFd>, mut found: PathBuf, names: &[&OsStr]) -> Vec<PathBuf> {
    for (nth, name) in names.iter().enumerate() {
        let sent = name.to_str().filter(|name| has_other_spellings(name));
        let others = sent.and_then(|sent| in_folder(root, &found, sent));
        match others.as_deref() {
            None => found.push(name),
            Some([only]) => found.push(only),
            Some([]) => {
                found.extend(&names[nth..]);
                break;
            }
            Some(several) => {
                let all = several.iter().flat_map(|other| meant(root, found.join(other), &names[nth + 1..]));
                return all.take(MOST_MEANT).collect();
            }
        }
    }
    vec![found]
}

/// Whether a name that is not this one may be meant by it.
fn has_other_spellings(name: &str) -> bool {
    !name.is_ascii() || has_escape(&in_lower_hex(name))
}

/// Whether two names look the same: they differ in how characters are composed, or in characters that are not seen.
pub fn look_alike(one: &str, other: &str) -> bool {
    as_seen(one) == as_seen(other)
}

/// A name as it is seen, composed: names that look the same have this in common.
pub fn as_seen(name: &str) -> String {
    let seen = name.chars().filter(|&c| switches::is_off("unseen-twin") || !is_ignorable(c));
    composed(&seen.collect::<String>())
}

/// The name in `folder` that looks like `name`, a new one that is all ASCII: it has characters that are not seen. In a very large folder,
/// only the first entries are looked at.
pub fn unseen_twin(folder: &OwnedFd, name: &str) -> Option<OsString> {
    if !name.is_ascii() || switches::is_off("ascii-twin") {
        return None;
    }
    // The handle may be one that only paths are looked up beneath.
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let entries = match sys::fs::openat(folder, OsStr::new("."), flags, Mode::empty()) {
        Ok(readable) => Dir::read_from(&readable),
        Err(_) => Dir::read_from(folder),
    };
    let entries = entries.ok()?.take(MOST_LOOKED_AT);
    let twin = |name_there: &[u8]| {
        !name_there.is_ascii() && std::str::from_utf8(name_there).is_ok_and(|there| look_alike(there, name))
    };
    let mut twins = entries.filter_map(|entry| {
        let entry = entry.ok()?;
        let name_there = entry.file_name().to_bytes();
        twin(name_there).then(|| OsString::from_vec(name_there.to_vec()))
    });
    twins.next()
}

/// A path of a client that means the entry at `path` below `root` alone: each name as lists show it, or, where that is the name of
/// another entry or has characters that are not seen, with all its bytes written as `\xNN`. Divided by `/` on every system.
pub fn unmistakable(root: &Arc<OwnedFd>, path: &Path) -> String {
    let is_there = |path: &Path| {
        ResolvedPath::find_entry(root, path, LastLink::Keep).is_ok_and(|place| place.stat.is_some())
    };
    let (mut folder, mut text) = (PathBuf::new(), String::new());
    for name in path {
        let shown = shown_line(name.as_bytes());
        let is_anothers = shown.as_bytes() != name.as_bytes() && is_there(&folder.join(&*shown));
        let in_full = unseen_in_full(name.as_bytes());
        let in_full = if is_anothers { shown_in_full(name.as_bytes()) } else { in_full };
        if !text.is_empty() {
            text.push('/');
        }
        text.push_str(in_full.as_deref().unwrap_or(&shown));
        folder.push(name);
    }
    text
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
    let as_shown = in_lower_hex(sent);
    let mut names = Vec::new();
    for entry in Dir::read_from(&folder).ok()? {
        let entry = entry.ok()?;
        let name = entry.file_name().to_bytes();
        let is_other = !matches!(name, b"." | b"..") && !temporary::is_temporary(name);
        if is_other && means(&as_shown, sent, name) {
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

fn means(as_shown: &str, sent: &str, name: &[u8]) -> bool {
    std::str::from_utf8(name).is_ok_and(|name| look_alike(name, sent)) || shows(as_shown, name)
}

/// Whether a text is what lists show of `name`, or what errors do where that is the name of another entry.
fn shows(text: &str, name: &[u8]) -> bool {
    let is_in_full = || shown_in_full(name).or_else(|| unseen_in_full(name)).as_deref() == Some(text);
    has_escape(text) && (shown_line(name) == text || is_in_full())
}

/// A name with each of its bytes as `\xNN`, if it has characters that are not seen.
fn unseen_in_full(name: &[u8]) -> Option<String> {
    let has_unseen = std::str::from_utf8(name).is_ok_and(|name| name.contains(is_ignorable));
    has_unseen.then(|| in_bytes(name))
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
    fn characters_that_are_not_seen_make_no_other_name() {
        let (_dir, root) = folder(&[b"a.rs", b"d/.env", "h\u{2764}\u{fe0f}".as_bytes()]);
        for unseen in ['\u{200b}', '\u{feff}', '\u{ad}', '\u{200e}', '\u{202e}', '\u{2066}', '\u{fe0f}'] {
            for sent in [format!("a{unseen}.rs"), format!("{unseen}a.rs"), format!("a.rs{unseen}")] {
                assert_eq!(other(&root, &sent), Some(b"a.rs".to_vec()), "{sent:?}");
            }
            assert_eq!(other(&root, &format!("d{unseen}/new")), Some(b"d/new".to_vec()));
            for sent in [format!(".{unseen}."), format!("{unseen}.")] {
                assert_eq!(spelling(&root, Path::new(&sent)), Spelling::AsSent, "{sent:?}");
            }
        }
        assert_eq!(other(&root, "h\u{2764}"), Some("h\u{2764}\u{fe0f}".as_bytes().to_vec()));
        assert_eq!(spelling(&root, Path::new("h\u{2764}\u{fe0f}")), Spelling::AsSent);
        let (_dir, root) = folder(&["a\u{200b}".as_bytes(), "a\u{feff}".as_bytes()]);
        let Spelling::Several(paths) = spelling(&root, Path::new("a\u{ad}")) else { panic!("one is chosen") };
        for path in paths {
            let sent = unmistakable(&root, &path);
            assert!(sent.is_ascii());
            assert_eq!(other(&root, &sent), Some(path.as_os_str().as_bytes().to_vec()), "{sent}");
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
        let Spelling::Several(mut paths) = spelling(&root, Path::new(r"d/t\x09b")) else {
            panic!("one is chosen")
        };
        paths.sort();
        let expected = [(&b"d/t\tb"[..], r"d/\x74\x09\x62"), (br"d/t\x09b", r"d/t\x5cx09b")];
        for (path, (bytes, sent)) in paths.iter().zip(expected) {
            assert_eq!(path.as_os_str().as_bytes(), bytes);
            assert_eq!(unmistakable(&root, path), sent);
            assert_eq!(other(&root, sent), Some(bytes.to_vec()), "{sent}");
        }
    }

    #[test]
    fn a_path_that_means_one_entry_alone_holds_of_no_folder_the_name_of_another_one() {
        let (_dir, root) = folder(&[b"d\te/t\tb", br"d\x09e/t\x09b", br"d\x5cx09e/x"]);
        for (path, expected) in [
            (&b"d\te/t\tb"[..], r"\x64\x09\x65/t\x09b"),
            (br"d\x09e/t\x09b", r"\x64\x5c\x78\x30\x39\x65/t\x5cx09b"),
        ] {
            let sent = unmistakable(&root, Path::new(OsStr::from_bytes(path)));
            assert_eq!(sent, expected);
            assert_eq!(other(&root, &sent), Some(path.to_vec()), "{sent}");
        }
    }
}
