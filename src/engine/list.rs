//! Lists the folder (contract 4, `list_files`), or its whole tree (contract 12).
//!
//! Describes each file. Knows no way to count lines and no walk: the caller passes the count, and the paths of a tree.

use std::collections::VecDeque;
use std::ffi::OsStr;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use self::names::Names;
use crate::name_table::NameTable;
use folder::fs::lost;
use folder::fs::resolve::{self, LastLink, ResolveError, ResolvedPath};
use folder::fs::spelling;
use folder::fs::view::OpenFile;
use folder::{Control, Error, Excludes, LeftOut, Lookups, Result, TOGETHER, is_shortage};
use sys::fd::OwnedFd;
use sys::fs::{Access, Stat};
use sys::io::Errno;
use sys::path::usual;
use text::glob::Glob;

pub(crate) mod names;

/// Attempts to count the lines of a file that changes meanwhile.
const ATTEMPTS: usize = 8;

/// One listed file.
#[derive(Debug, Clone)]
pub struct FileEntry {
    /// The range of its name in the listing's buffer of names.
    name: Range<usize>,
    /// Size in bytes.
    pub size: u64,
    /// Time of the last write, in seconds since 1970.
    pub modified: i64,
    /// Whether this process may read it; false if the caller did not ask.
    pub readable: bool,
    /// Whether this process may write it; false if the caller did not ask.
    pub writable: bool,
    /// Number of lines; `None` if the file is too large, not text, not readable, or was not counted.
    pub lines: Option<usize>,
    /// The lines were not counted because the file changed during every attempt.
    pub changing: bool,
}

/// The files of the folder.
#[derive(Debug, Clone)]
pub struct Listing {
    names: String,
    /// Sorted by name, in byte order.
    pub files: Vec<FileEntry>,
    /// Number of files omitted because the policy does not allow their names.
    pub unlisted: usize,
    /// Number of files whose lines were not counted because the time was up.
    pub uncounted: usize,
    /// Whether the folder has more files after these.
    pub more: bool,
    /// Number of folders in the folder that are not hidden; 0 if their files are listed.
    pub folders: usize,
    /// What is not listed of a tree.
    pub left_out: LeftOut,
    /// If the time was up before all was looked at: [`ListOptions::after`] for what was not. Empty: nothing was looked at.
    pub late: Option<String>,
    /// The path of the folder.
    pub directory: PathBuf,
}

impl Listing {
    /// The name of a file of this listing.
    pub fn name(&self, file: &FileEntry) -> &str {
        &self.names[file.name.clone()]
    }
}

/// Which files to list, and what to find out about them.
#[derive(Debug, Clone, Copy)]
pub struct ListOptions<'w> {
    /// Only names after this one.
    pub after: Option<&'w str>,
    /// Only names that this matches.
    pub pattern: Option<&'w Glob>,
    /// Maximum number of files.
    pub limit: usize,
    /// Whether to ask the system for read and write permission.
    pub with_access: bool,
}

impl Default for ListOptions<'_> {
    fn default() -> Self {
        ListOptions { after: None, pattern: None, limit: usize::MAX, with_access: false }
    }
}

impl ListOptions<'_> {
    /// Whether a file of this name is wanted.
    pub(crate) fn wants(&self, name: &str) -> bool {
        self.after.is_none_or(|after| after < name) && self.pattern.is_none_or(|glob| glob.matches(name))
    }
}

/// The folder that is listed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ListedFolder<'s> {
    /// Its handle.
    pub(crate) root: &'s Arc<OwnedFd>,
    /// Its path.
    pub(crate) directory: &'s Path,
    /// What does not exist for clients.
    pub(crate) excludes: &'s Excludes,
}

/// A file in the folder, with its state when it was found.
#[derive(Debug)]
pub(crate) struct DirEntry<'s> {
    root: &'s Arc<OwnedFd>,
    name: &'s str,
    /// The state of the file.
    pub(crate) stat: Stat,
    /// Where the file is, if `name` is a symbolic link or a path of several components.
    linked: Option<ResolvedPath>,
}

impl<'s> DirEntry<'s> {
    /// Looks up `name`. Returns `None` if it does not lead to a regular file in the folder.
    fn look(folder: ListedFolder<'s>, name: &'s str) -> Result<Option<DirEntry<'s>>> {
        let root = folder.root;
        // Only the name of an entry is looked up without a link on the way.
        if !name.contains('/') {
            let found = resolve::regular_file(root, name.as_ref());
            if let Some(stat) = found.map_err(|errno| Error::ListingFailed { source: errno.into() })? {
                return Ok(Some(DirEntry { root, name, stat, linked: None }));
            }
        }
        let found = file(folder, name.as_ref())?;
        Ok(found.map(|(place, stat)| DirEntry { root, name, stat, linked: Some(place) }))
    }

    /// The resolved path. Made only on request, because a file with a cached index does not need it.
    pub(crate) fn place(&self) -> ResolvedPath {
        let here = || ResolvedPath::in_folder(self.root, self.name.as_ref(), self.stat);
        self.linked.clone().unwrap_or_else(here)
    }

    /// Opens the file, assumed unchanged since it was found: see [`ResolvedPath::open_as_found`].
    pub(crate) fn open_as_found(&self) -> Option<OpenFile> {
        match &self.linked {
            Some(place) => place.open_as_found(),
            None => resolve::open_as_found(self.root, self.name.as_ref(), self.stat).ok(),
        }
    }

    /// The list entry with the counted lines. Increments `uncounted` if the lines were not counted in time.
    fn entry(
        &self,
        name: Range<usize>,
        counted: Result<Option<usize>>,
        options: ListOptions,
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
        let (readable, writable) = if options.with_access { self.allows() } else { (false, false) };
        let (size, modified) = (self.stat.st_size as u64, self.stat.st_mtime);
        Ok(FileEntry { name, size, modified, readable, writable, lines, changing })
    }

    fn allows(&self) -> (bool, bool) {
        let place = self.place();
        let allows = |access| place.allows(access) == Ok(Some(true));
        (allows(Access::READ_OK), allows(Access::WRITE_OK))
    }
}

/// Lists files in `folder`. `names` are those that `options` want. `count` counts the lines of a file; it fails if the time is up or
/// another program has a lease on the file. `wait` waits for the end of such a lease. Reports to
/// `control` how many files are done, and of how many if all are listed.
pub(crate) fn list(
    folder: ListedFolder,
    names: Names,
    options: ListOptions,
    count: impl Fn(&DirEntry) -> Result<Option<usize>> + Sync,
    wait: impl Fn(&DirEntry) -> Result<()>,
    control: &Control,
) -> Result<Listing> {
    let Names { table, unlisted, folders, mut left_out, walked, mut late, .. } = names;
    let (mut uncounted, mut more, mut leased) = (0, false, Vec::new());
    let candidates = table.sorted();
    // What was walked counts as done.
    let total = (candidates.len() <= options.limit).then_some(walked + candidates.len() as u64);
    let mut files = Vec::with_capacity(candidates.len().min(options.limit));
    let mut ahead =
        Ahead { folder, table: &table, count: &count, lookups: Lookups::default(), looked: VecDeque::new() };
    // A single file in a tree, or behind a link, does not end the list: it may be one whose folder nobody may look into.
    let mut leave_out = |error: Error| match error {
        Error::ListingFailed { .. } if walked == 0 || is_shortage(&error) => Err(error),
        Error::ListingFailed { .. } | Error::ReadFailed { .. } => {
            if !switches::is_off("list-unread") {
                left_out.unknown += 1;
            }
            Ok(false)
        }
        error => Err(error),
    };
    let mut passed = options.after.unwrap_or_default();
    for (nth, name) in candidates.enumerate() {
        control.progress(walked + (nth - leased.len()) as u64, total);
        let text = &table.text()[name.clone()];
        match control.check() {
            Err(Error::TimedOut) if nth > 0 && !switches::is_off("list-late") => {
                late = Some(passed.to_owned());
                break;
            }
            Ok(()) | Err(Error::TimedOut) => {}
            Err(cancelled) => return Err(cancelled),
        }
        passed = text;
        if files.len() == options.limit {
            // To find out that there is one more file, no lines need to be counted.
            more = match DirEntry::look(folder, text) {
                Ok(found) => found.is_some(),
                Err(error) => leave_out(error)?,
            };
            if more {
                break;
            }
            continue;
        }
        let looked = ahead.next(nth, options.limit - files.len());
        let Some((seen, counted)) = looked.or_else(|error| leave_out(error).map(|_| None))? else { continue };
        let counted = match counted {
            Err(Error::Locked { .. }) => {
                leased.push(files.len());
                Ok(None)
            }
            counted => counted,
        };
        files.push(seen.entry(name, counted, options, &mut uncounted)?);
    }
    // All leases were asked to end in the first pass, so these waits together last as long as the longest.
    let done = total.unwrap_or(walked + files.len() as u64) - leased.len() as u64;
    for (waited_for, nth) in leased.into_iter().enumerate() {
        if !switches::is_off("progress-leased") {
            control.progress(done + waited_for as u64, total);
        }
        let entry: &mut FileEntry = &mut files[nth];
        let name = &table.text()[entry.name.clone()];
        let waited = DirEntry::look(folder, name)?.map_or(Ok(()), |seen| wait(&seen));
        // The lease holder may have changed the file before it released the lease.
        let Some((seen, counted)) = look_and_count(folder, name, &count)? else { continue };
        let counted = match counted {
            Err(Error::Changed { name }) => Err(Error::Changed { name }),
            counted => waited.and(counted),
        };
        *entry = seen.entry(entry.name.clone(), counted, options, &mut uncounted)?;
    }
    if left_out.unknown > 0 || files.iter().any(|file| file.lines.is_none()) {
        lost::check_answers(folder.root).map_err(|errno| Error::ListingFailed { source: errno.into() })?;
    }
    let (names, directory) = (table.into_text(), usual(folder.directory));
    Ok(Listing { names, files, unlisted, uncounted, more, folders, left_out, late, directory })
}

/// What was found at a name, and its number of lines. See [`look_and_count`].
type Looked<'s> = Result<Option<(DirEntry<'s>, Result<Option<usize>>)>>;

/// Looks at the files of a listing in order; at several of them at a time where each look waits.
struct Ahead<'s, C> {
    folder: ListedFolder<'s>,
    table: &'s NameTable,
    count: &'s C,
    lookups: Lookups,
    /// What was found at the next names.
    looked: VecDeque<Looked<'s>>,
}

impl<'s, C: Fn(&DirEntry) -> Result<Option<usize>> + Sync> Ahead<'s, C> {
    /// Looks at the name `nth`, of which at least `wanted` more are wanted. Call it for each in turn.
    fn next(&mut self, nth: usize, wanted: usize) -> Looked<'s> {
        let Ahead { folder, table, count, .. } = *self;
        let look = |nth: usize| match table.nth(nth) {
            Some(name) => look_and_count(folder, name, count),
            None => Ok(None),
        };
        if self.looked.is_empty() {
            if !self.lookups.are_slow() {
                return self.lookups.one(|| look(nth));
            }
            let together = (table.len() - nth).min(wanted).min(TOGETHER);
            self.looked = self.lookups.many(together, |more| look(nth + more)).into();
        }
        self.looked.pop_front().unwrap_or(Ok(None))
    }
}

/// Looks up `name` and counts its lines. Repeats both if the file changes meanwhile, so that an entry
/// describes one state of the file. Returns `None` as [`DirEntry::look`] does.
fn look_and_count<'s>(
    folder: ListedFolder<'s>,
    name: &'s str,
    count: &impl Fn(&DirEntry) -> Result<Option<usize>>,
) -> Looked<'s> {
    for attempt in 1..=ATTEMPTS {
        let Some(seen) = DirEntry::look(folder, name)? else { break };
        let counted = count(&seen);
        let changed = !switches::is_off("list-one-state") && matches!(counted, Err(Error::Changed { .. }));
        if !changed || attempt == ATTEMPTS {
            return Ok(Some((seen, counted)));
        }
    }
    Ok(None)
}

/// Resolves `name`, which was listed. Returns `None` if it does not lead to a regular file that may be shown.
fn file(folder: ListedFolder, name: &OsStr) -> Result<Option<(ResolvedPath, Stat)>> {
    let ListedFolder { root, excludes, .. } = folder;
    let untold = |errno| Error::ReadFailed { source: io::Error::from(errno) };
    let (found, passed) = ResolvedPath::follow(root, Path::new(name), LastLink::Follow);
    let may_show = |place: ResolvedPath| {
        spelling::hides_target(excludes, root, &place, &passed).map(|hides| (place, hides))
    };
    match found.and_then(ResolvedPath::regular).and_then(may_show) {
        Ok((_, true)) => Ok(None),
        Ok((mut place, false)) => {
            if place.stat.is_none() && place.missing.is_empty() {
                place.stat = resolve::regular_file(&place.dir, &place.name).map_err(untold)?;
            }
            Ok(place.stat.map(|stat| (place, stat)))
        }
        Err(ResolveError::System(Errno::NOENT | Errno::NOTDIR | Errno::NAMETOOLONG | Errno::LOOP)) => {
            Ok(None)
        }
        Err(ResolveError::System(errno)) => Err(out_of_means(errno).unwrap_or_else(|| untold(errno))),
        Err(ResolveError::Forbidden | ResolveError::Special | ResolveError::Folder | ResolveError::Moved) => {
            Ok(None)
        }
    }
}

fn failed(errno: Errno) -> Error {
    Error::ListingFailed { source: errno.into() }
}

/// The error if descriptors or memory are exhausted, which has nothing to do with the file or the folder.
pub(crate) fn out_of_means(errno: Errno) -> Option<Error> {
    matches!(errno, Errno::MFILE | Errno::NFILE | Errno::NOMEM).then(|| failed(errno))
}
