//! The names in a folder: those that a list has, and those that are like one that is missing.
//!
//! Looks at no file, except to tell one that cannot be listed from other entries.

use std::ffi::OsStr;
use std::path::Path;

use super::{ListOptions, ListedFolder, failed, file, out_of_means};
use crate::name_table::NameTable;
use folder::fs::repository::Marks;
use folder::{Control, Error, LeftOut, NamePolicy, Result, admits, is_in_git};
use sys::fd::OwnedFd;
use sys::ffi::OsStrExt;
use sys::fs::{Dir, FileType, Mode, OFlags};
use text::order;

/// Entries searched for names similar to a missing one.
const SIMILAR_SEARCHED: usize = 2_000;

/// Minimum similarity of two names (Jaro-Winkler, 0 to 1).
const SIMILAR_ENOUGH: f64 = 0.85;

/// Entries of a folder whose names are read though the time is up.
const SMALL: usize = 128;

/// The names of files to list, and what is not listed.
#[derive(Debug, Default)]
pub(crate) struct Names {
    /// Those that may be regular files and are wanted. Sorted.
    pub(crate) table: NameTable,
    /// See [`super::Listing::unlisted`].
    pub(crate) unlisted: usize,
    /// See [`super::Listing::folders`].
    pub(crate) folders: usize,
    /// See [`super::Listing::left_out`].
    pub(crate) left_out: LeftOut,
    /// Entries of a tree that were met.
    pub(crate) walked: u64,
    /// There may be more of them in the tree.
    pub(crate) is_part: bool,
    /// See [`Listing::late`](super::Listing::late).
    pub(crate) late: Option<String>,
}

impl Names {
    /// Those of a folder of git, which are not listed.
    pub(crate) fn of_git() -> Names {
        Names { left_out: LeftOut { repositories: 1, ..LeftOut::default() }, ..Names::default() }
    }
}

/// The sorted allowed names of visible entries that may be regular files and are wanted, and the number of what is left
/// out. None if the time is up: of a part, the first names in order are not known.
pub(crate) fn names_in(
    folder: ListedFolder,
    policy: NamePolicy,
    options: ListOptions,
    control: &Control,
) -> Result<Names> {
    let ListedFolder { root, excludes, .. } = folder;
    let (mut names, mut marks) = (Names::default(), Marks::default());
    let entries = Dir::read_from(root);
    let entries = entries.map_err(|errno| out_of_means(errno).unwrap_or(Error::FolderGone))?;
    for (nth, entry) in entries.enumerate() {
        let entry = entry.map_err(failed)?;
        match control.check() {
            Err(Error::TimedOut) if nth < SMALL => {}
            Err(Error::TimedOut) => {
                let late = Some(options.after.unwrap_or_default().to_owned());
                return Ok(Names { late, ..Names::default() });
            }
            checked => checked?,
        }
        let (name, kind) = (entry.file_name().to_bytes(), entry.file_type());
        marks.note(name);
        let is_folder = kind == FileType::Directory;
        let may_be_file = matches!(kind, FileType::RegularFile | FileType::Symlink | FileType::Unknown);
        let path = Path::new(OsStr::from_bytes(name));
        if name.starts_with(b".") || !is_folder && !may_be_file || excludes.hides_entry(path, is_folder) {
            continue;
        }
        if is_folder {
            names.folders += 1;
            continue;
        }
        match std::str::from_utf8(name).ok().filter(|name| admits(name, policy)) {
            Some(name) if options.wants(name) => names.table.push(name),
            Some(_) => {}
            None => match file(folder, OsStr::from_bytes(name)) {
                Ok(found) => names.unlisted += usize::from(found.is_some()),
                Err(Error::ReadFailed { .. }) => names.left_out.unknown += 1,
                Err(error) => return Err(error),
            },
        }
    }
    if excludes.git().keeps_folder(root, marks) {
        return Ok(Names::of_git());
    }
    names.table.sort();
    Ok(names)
}

/// Up to three names in `root` similar to `name`, best first; of folders only if `with_folders`.
pub(crate) fn similar_names(
    root: &OwnedFd,
    name: &str,
    names: NamePolicy,
    with_folders: bool,
) -> Vec<String> {
    // The handle may be one for paths only.
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let opened = sys::fs::openat(root, ".", flags, Mode::empty());
    let Ok(entries) = opened.and_then(Dir::new) else { return Vec::new() };
    let mut scored: Vec<(f64, String)> = entries
        .take(SIMILAR_SEARCHED)
        .filter_map(|entry| {
            entry.ok().filter(|entry| with_folders || entry.file_type() != FileType::Directory)
        })
        .filter_map(|entry| String::from_utf8(entry.file_name().to_bytes().to_vec()).ok())
        // A hidden name is like hidden ones only.
        .filter(|other| other.starts_with('.') == name.starts_with('.'))
        .filter(|other| admits(other, names) && !is_in_git(Path::new(other)))
        .map(|other| (likeness(&name.to_lowercase(), &other.to_lowercase()), other))
        .filter(|(score, _)| *score >= SIMILAR_ENOUGH)
        .collect();
    order::sort_by(&mut scored, |one, other| other.0.total_cmp(&one.0).then_with(|| one.1.cmp(&other.1)));
    scored.into_iter().take(3).map(|(_, name)| name).collect()
}

/// How alike two names are, from 0 to 1. Extensions do not count where they are the same: most names in a folder have one. Where they
/// differ, the rest is the same, or one slip of a finger makes the names equal. Numbers have the same values: `chapter12.md` is another
/// one than `chapter11.md`.
fn likeness(name: &str, other: &str) -> f64 {
    if numbers(name).ne(numbers(other)) {
        return 0.0;
    }
    let ([stem, extension], [other_stem, other_extension]) = (divided(name), divided(other));
    if stem == other_stem {
        return strsim::jaro_winkler(name, other).max(SIMILAR_ENOUGH);
    }
    match extension == other_extension {
        true if is_slip(stem, other_stem) => strsim::jaro_winkler(name, other).max(SIMILAR_ENOUGH),
        true => strsim::jaro_winkler(stem, other_stem),
        false if is_slip(name, other) => SIMILAR_ENOUGH,
        false => 0.0,
    }
}

/// Whether one slip of a finger makes two names of three characters and more equal.
fn is_slip(name: &str, other: &str) -> bool {
    name.chars().count() > 2 && strsim::damerau_levenshtein(name, other) <= 1
}

/// A name without its extension, and the extension.
fn divided(name: &str) -> [&str; 2] {
    let at = name.rfind('.').filter(|at| *at > 0).unwrap_or(name.len());
    [&name[..at], &name[at..]]
}

/// The numbers in a name, without zeros before them.
fn numbers(name: &str) -> impl Iterator<Item = &str> {
    let parts = name.split(|c: char| !c.is_ascii_digit()).filter(|part| !part.is_empty());
    parts.map(|number| number.trim_start_matches('0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_alike_by_what_tells_them_apart() {
        let is_near = |name: &str, other: &str| likeness(name, other) >= SIMILAR_ENOUGH;
        for (name, other) in [
            ("main.py", "mian.py"),
            ("config.yaml", "config.json"),
            ("readme", "readme.md"),
            ("data.tx", "data.txt"),
            ("chapter1.md", "chapter01.md"),
            ("user_servce.py", "user_service.py"),
            ("lib.rs", "lbi.rs"),
            (".gitignor", ".gitignore"),
        ] {
            assert!(is_near(name, other) && is_near(other, name), "{name} {other}");
        }
        for (name, other) in [
            ("a.py", "b.py"),
            ("io.rs", "os.rs"),
            ("x1.py", "x2.py"),
            ("chapter12.md", "chapter11.md"),
            ("v1.10", "v1.11"),
            ("abc.json", "xyz.json"),
            ("index.css", "main.css"),
            ("a.rs", "a1.rs"),
        ] {
            assert!(!is_near(name, other) && !is_near(other, name), "{name} {other}");
        }
    }
}
