//! What is in the folder (SPEC 4, `list_files`).
//!
//! Walks the directory and says what each entry is; how lines are counted is the caller's.

use std::ffi::OsStr;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{Access, Dir, FileType};
use rustix::io::Errno;

use super::atomic;
use super::name::{FileName, NamePolicy};
use super::place::{Place, Refusal};
use super::{Error, Result};

/// Entries looked at for names like a missing one.
const SIMILAR_SEARCHED: usize = 2_000;

/// How much alike two names must be to be named together (Jaro-Winkler, 0 to 1).
const SIMILAR_ENOUGH: f64 = 0.85;

/// One listed file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileEntry {
    /// Its name.
    pub name: String,
    /// Bytes.
    pub size: u64,
    /// Last write, seconds since 1970.
    pub modified: i64,
    /// Whether this process may read it; false where the caller did not ask.
    pub readable: bool,
    /// Whether this process may write it; false where the caller did not ask.
    pub writable: bool,
    /// Its lines; nothing if it is over the limit, not text, not readable, or not counted in time.
    pub lines: Option<usize>,
}

/// The folder's files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listing {
    /// Sorted by name, in byte order.
    pub files: Vec<FileEntry>,
    /// Files left out because the policy does not admit their names.
    pub unlisted: usize,
    /// Files whose lines were not counted because the time was up.
    pub uncounted: usize,
    /// Whether more files come after these.
    pub more: bool,
    /// The folder.
    pub directory: PathBuf,
}

/// Which files are listed, and what about them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wish<'w> {
    /// Only names behind this one.
    pub(crate) after: Option<&'w str>,
    /// At most so many.
    pub(crate) limit: usize,
    /// Whether the system is asked what may be read and written.
    pub(crate) with_access: bool,
}

/// Lists `root`, which is `directory`; `count` gives a file's lines, or an error when the time is up.
pub(crate) fn list(
    root: &Arc<OwnedFd>,
    directory: &Path,
    names: NamePolicy,
    wish: Wish,
    count: impl Fn(&Place) -> Result<Option<usize>>,
) -> Result<Listing> {
    let directory = directory.into();
    let mut listing = Listing { files: Vec::new(), unlisted: 0, uncounted: 0, more: false, directory };
    let files = regular_files(root, names, &mut listing.unlisted)?;
    let first = wish.after.map_or(0, |after| files.partition_point(|(name, _)| name.as_str() <= after));
    listing.more = files.len() - first > wish.limit;
    for (name, place) in files.into_iter().skip(first).take(wish.limit) {
        let Some(stat) = &place.stat else { continue };
        let lines = match count(&place) {
            Ok(lines) => lines,
            Err(Error::TimedOut) => {
                listing.uncounted += 1;
                None
            }
            Err(error) => return Err(error),
        };
        listing.files.push(FileEntry {
            name,
            size: stat.st_size as u64,
            modified: stat.st_mtime,
            readable: wish.with_access && place.allows(Access::READ_OK),
            writable: wish.with_access && place.allows(Access::WRITE_OK),
            lines,
        });
    }
    Ok(listing)
}

/// The visible regular files with an admitted name, sorted; the others are counted.
fn regular_files(
    root: &Arc<OwnedFd>,
    names: NamePolicy,
    unlisted: &mut usize,
) -> Result<Vec<(String, Place)>> {
    let mut files = Vec::new();
    let entries = Dir::read_from(root);
    for entry in entries.map_err(|errno| out_of_means(errno).unwrap_or(Error::FolderGone))? {
        let entry = entry.map_err(failed)?;
        let may_be_file =
            matches!(entry.file_type(), FileType::RegularFile | FileType::Symlink | FileType::Unknown);
        let name = entry.file_name().to_bytes();
        if !may_be_file || name.starts_with(b".") {
            continue;
        }
        // What leads nowhere, out of the folder or to no regular file, or went away meanwhile, is not listed.
        let place = match Place::find(root, OsStr::from_bytes(name)) {
            Ok(place) if place.stat.is_some() => place,
            Err(Refusal::System(errno)) => match out_of_means(errno) {
                Some(error) => return Err(error),
                None => continue,
            },
            _ => continue,
        };
        match std::str::from_utf8(name).ok().filter(|name| FileName::parse(name, names).is_ok()) {
            Some(name) => files.push((name.to_owned(), place)),
            None => *unlisted += 1,
        }
    }
    files.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
    Ok(files)
}

fn failed(errno: Errno) -> Error {
    Error::ListingFailed { source: errno.into() }
}

/// The error if nothing is wrong with the file or the folder, only with what the system has left for us.
fn out_of_means(errno: Errno) -> Option<Error> {
    matches!(errno, Errno::MFILE | Errno::NFILE | Errno::NOMEM).then(|| failed(errno))
}

/// Up to three names in `root` that look like `name`, best first.
pub(crate) fn similar_names(root: &OwnedFd, name: &str, names: NamePolicy) -> Vec<String> {
    let Ok(entries) = Dir::read_from(root) else { return Vec::new() };
    let mut scored: Vec<(f64, String)> = entries
        .take(SIMILAR_SEARCHED)
        .filter_map(|entry| entry.ok().filter(|entry| entry.file_type() != FileType::Directory))
        .filter_map(|entry| String::from_utf8(entry.file_name().to_bytes().to_vec()).ok())
        .filter(|other| !other.starts_with('.') && !atomic::is_temporary(other.as_bytes()))
        .filter(|other| FileName::parse(other, names).is_ok())
        .map(|other| (strsim::jaro_winkler(&name.to_lowercase(), &other.to_lowercase()), other))
        .filter(|(score, _)| *score >= SIMILAR_ENOUGH)
        .collect();
    scored.sort_by(|one, other| other.0.total_cmp(&one.0).then_with(|| one.1.cmp(&other.1)));
    scored.into_iter().take(3).map(|(_, name)| name).collect()
}
