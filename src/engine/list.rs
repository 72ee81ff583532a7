//! What is in the folder (SPEC 4, `list_files`).
//!
//! Walks the directory and says what each entry is; how lines are counted is the caller's.

use std::ffi::OsStr;
use std::ops::Range;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{Access, Dir, FileType, Stat};
use rustix::io::Errno;

use crate::engine::fs::resolve::{self, Refusal, ResolvedPath};
use crate::engine::fs::view::OpenFile;
use crate::engine::name::{FileName, NamePolicy};
use crate::engine::name_table::NameTable;
use crate::engine::{Error, Result};

/// Entries looked at for names like a missing one.
const SIMILAR_SEARCHED: usize = 2_000;

/// How much alike two names must be to be named together (Jaro-Winkler, 0 to 1).
const SIMILAR_ENOUGH: f64 = 0.85;

/// How often a file is counted that changes meanwhile.
const ATTEMPTS: usize = 8;

/// One listed file.
#[derive(Debug, Clone)]
pub struct FileEntry {
    /// Where in the listing's names its name is.
    name: Range<usize>,
    /// Bytes.
    pub size: u64,
    /// Last write, seconds since 1970.
    pub modified: i64,
    /// Whether this process may read it; false where the caller did not ask.
    pub readable: bool,
    /// Whether this process may write it; false where the caller did not ask.
    pub writable: bool,
    /// Its lines; nothing if it is over the limit, not text, not readable, or not counted.
    pub lines: Option<usize>,
    /// Its lines were not counted because it changed each time while that was done.
    pub changing: bool,
}

/// The folder's files.
#[derive(Debug, Clone)]
pub struct Listing {
    names: String,
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

impl Listing {
    /// The name of one of its files.
    pub fn name(&self, file: &FileEntry) -> &str {
        &self.names[file.name.clone()]
    }
}

/// Which files are listed, and what about them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ListOptions<'w> {
    /// Only names behind this one.
    pub(crate) after: Option<&'w str>,
    /// At most so many.
    pub(crate) limit: usize,
    /// Whether the system is asked what may be read and written.
    pub(crate) with_access: bool,
}

/// A file of the folder as it was just found.
#[derive(Debug)]
pub(crate) struct DirEntry<'s> {
    root: &'s Arc<OwnedFd>,
    name: &'s str,
    /// Its state.
    pub(crate) stat: Stat,
    /// Where it is if `name` is a link.
    linked: Option<ResolvedPath>,
}

impl<'s> DirEntry<'s> {
    /// Looks at `name`. Nothing for what leads nowhere, out of the folder or to no regular file, or went away meanwhile.
    fn look(root: &'s Arc<OwnedFd>, name: &'s str) -> Result<Option<DirEntry<'s>>> {
        if let Some(stat) = resolve::regular_file(root, name.as_ref()) {
            return Ok(Some(DirEntry { root, name, stat, linked: None }));
        }
        let found = file(root, name.as_ref())?;
        Ok(found.map(|(place, stat)| DirEntry { root, name, stat, linked: Some(place) }))
    }

    /// Its place: made when asked for, as a file that is known already needs none.
    pub(crate) fn place(&self) -> ResolvedPath {
        let here = || ResolvedPath { dir: self.root.clone(), name: self.name.into(), stat: Some(self.stat) };
        self.linked.clone().unwrap_or_else(here)
    }

    /// Opens the file, trusting that it is still as it was found: see [`ResolvedPath::open_as_found`].
    pub(crate) fn open_as_found(&self) -> Option<OpenFile> {
        match &self.linked {
            Some(place) => place.open_as_found(),
            None => resolve::open_as_found(self.root, self.name.as_ref(), self.stat),
        }
    }

    /// Its entry, with the lines that were counted. A file that was not counted in time adds one to `uncounted`.
    fn entry(
        &self,
        name: Range<usize>,
        counted: Result<Option<usize>>,
        wish: ListOptions,
        uncounted: &mut usize,
    ) -> Result<FileEntry> {
        let (lines, changing) = match counted {
            Err(Error::TimedOut | Error::Locked { .. }) => {
                *uncounted += 1;
                (None, false)
            }
            Err(Error::Changed { .. }) => (None, true),
            counted => (counted?, false),
        };
        let (readable, writable) = if wish.with_access { self.allows() } else { (false, false) };
        let (size, modified) = (self.stat.st_size as u64, self.stat.st_mtime);
        Ok(FileEntry { name, size, modified, readable, writable, lines, changing })
    }

    fn allows(&self) -> (bool, bool) {
        let place = self.place();
        (place.allows(Access::READ_OK), place.allows(Access::WRITE_OK))
    }
}

/// Lists `root`, which is `directory`; `count` gives a file's lines, or an error when the time is up or another program
/// has a lease on the file. `wait` waits for the end of that.
pub(crate) fn list(
    root: &Arc<OwnedFd>,
    directory: &Path,
    names: NamePolicy,
    wish: ListOptions,
    count: impl Fn(&DirEntry) -> Result<Option<usize>>,
    wait: impl Fn(&DirEntry) -> Result<()>,
) -> Result<Listing> {
    let (roll, unlisted) = roll(root, names)?;
    let (mut uncounted, mut more, mut leased) = (0, false, Vec::new());
    let candidates = roll.behind(wish.after);
    let mut files = Vec::with_capacity(candidates.len().min(wish.limit));
    for name in candidates {
        let text = &roll.text()[name.clone()];
        if files.len() == wish.limit {
            // Whether there is one more is known without its lines.
            more = DirEntry::look(root, text)?.is_some();
            if more {
                break;
            }
            continue;
        }
        let Some((seen, counted)) = look_and_count(root, text, &count)? else { continue };
        let counted = match counted {
            Err(Error::Locked { .. }) => {
                leased.push(files.len());
                Ok(None)
            }
            counted => counted,
        };
        files.push(seen.entry(name, counted, wish, &mut uncounted)?);
    }
    // Whoever has a lease was asked above to give it up, so these waits together are no longer than the longest.
    for nth in leased {
        let entry: &mut FileEntry = &mut files[nth];
        let name = &roll.text()[entry.name.clone()];
        let waited = DirEntry::look(root, name)?.map_or(Ok(()), |seen| wait(&seen));
        // Whoever had the lease may have changed the file at the end of it.
        let Some((seen, counted)) = look_and_count(root, name, &count)? else { continue };
        let counted = match counted {
            Err(Error::Changed { name }) => Err(Error::Changed { name }),
            counted => waited.and(counted),
        };
        *entry = seen.entry(entry.name.clone(), counted, wish, &mut uncounted)?;
    }
    let directory = directory.into();
    Ok(Listing { names: roll.into_text(), files, unlisted, uncounted, more, directory })
}

/// Looks at `name` and counts its lines, again if it changes meanwhile: an entry is of one state of the file. Nothing as
/// for [`DirEntry::look`].
fn look_and_count<'s>(
    root: &'s Arc<OwnedFd>,
    name: &'s str,
    count: &impl Fn(&DirEntry) -> Result<Option<usize>>,
) -> Result<Option<(DirEntry<'s>, Result<Option<usize>>)>> {
    for attempt in 1..=ATTEMPTS {
        let Some(seen) = DirEntry::look(root, name)? else { break };
        let counted = count(&seen);
        let changed = matches!(counted, Err(Error::Changed { .. }));
        if !changed || attempt == ATTEMPTS {
            return Ok(Some((seen, counted)));
        }
    }
    Ok(None)
}

/// The admitted names of what may be a visible regular file, sorted, and how many such files have another name.
fn roll(root: &Arc<OwnedFd>, names: NamePolicy) -> Result<(NameTable, usize)> {
    let (mut roll, mut unlisted) = (NameTable::default(), 0);
    let entries = Dir::read_from(root);
    for entry in entries.map_err(|errno| out_of_means(errno).unwrap_or(Error::FolderGone))? {
        let entry = entry.map_err(failed)?;
        let may_be_file =
            matches!(entry.file_type(), FileType::RegularFile | FileType::Symlink | FileType::Unknown);
        let name = entry.file_name().to_bytes();
        if !may_be_file || name.starts_with(b".") {
            continue;
        }
        match std::str::from_utf8(name).ok().filter(|name| FileName::admits(name, names)) {
            Some(name) => roll.push(name),
            None => unlisted += usize::from(file(root, OsStr::from_bytes(name))?.is_some()),
        }
    }
    roll.sort();
    Ok((roll, unlisted))
}

/// The regular file that `name` stands for, if it stands for one.
fn file(root: &Arc<OwnedFd>, name: &OsStr) -> Result<Option<(ResolvedPath, Stat)>> {
    match ResolvedPath::find(root, name) {
        Ok(place) => Ok(place.stat.map(|stat| (place, stat))),
        Err(Refusal::System(errno)) => out_of_means(errno).map_or(Ok(None), Err),
        Err(Refusal::Forbidden) => Ok(None),
    }
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
        .filter(|other| !other.starts_with('.') && FileName::admits(other, names))
        .map(|other| (strsim::jaro_winkler(&name.to_lowercase(), &other.to_lowercase()), other))
        .filter(|(score, _)| *score >= SIMILAR_ENOUGH)
        .collect();
    scored.sort_by(|one, other| other.0.total_cmp(&one.0).then_with(|| one.1.cmp(&other.1)));
    scored.into_iter().take(3).map(|(_, name)| name).collect()
}
