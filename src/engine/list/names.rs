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

/// How alike two names are, from 0 to 1. Names of three characters and more that one slip of a finger makes equal are alike enough.
fn likeness(name: &str, other: &str) -> f64 {
    let is_slip = name.chars().count() > 2 && strsim::damerau_levenshtein(name, other) <= 1;
    strsim::jaro_winkler(name, other).max(if is_slip { SIMILAR_ENOUGH } else { 0.0 })
}
