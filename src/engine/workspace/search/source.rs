//! The files of a search, in order: those of one walk after the other, or a single file.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{LateFile, SearchCounts, SearchOptions, SearchPlace};
use crate::workspace::Workspace;
use crate::workspace::found::{Found, Want, refused};
use folder::fs::file_system::{self, FileSystem};
use folder::fs::lost;
use folder::fs::resolve::{self, LastLink, ResolvedPath};
use folder::{
    Belief, Control, EntryKind, EntryPlace, Error, LeftOut, Lookups, Passed, Result, Walk, WalkOptions,
    WalkStep, WalkedFolder, passed,
};
use sys::fd::OwnedFd;
use sys::ffi::OsStrExt;
use sys::fs::Stat;
use sys::io::Errno;

/// See the module.
pub(super) struct Source<'s> {
    workspace: &'s Workspace,
    options: SearchOptions<'s>,
    control: &'s Control,
    /// The folders to walk, last first.
    ahead: Vec<Start>,
    current: Option<Current<'s>>,
    /// The only file.
    single: Option<Candidate>,
    /// The served folders in which files were met.
    roots: Vec<Arc<OwnedFd>>,
    /// Entries that are not searched.
    pub(super) counts: SearchCounts,
    left_out: LeftOut,
    /// Whether files come with what is needed to have them believed.
    pub(super) gives_places: bool,
}

/// A folder in which a walk begins.
struct Start {
    number: usize,
    root: Arc<OwnedFd>,
    folder: OwnedFd,
    path: PathBuf,
}

struct Current<'s> {
    number: usize,
    walk: Walk<'s>,
    /// Bytes of the path of the first folder, with its slash.
    base: usize,
    device: u64,
    system: FileSystem,
    after: Option<(Vec<u8>, Option<usize>)>,
    /// What the walk has left out up to there: an earlier search has counted it.
    counted: LeftOut,
}

/// A file that is to be searched.
#[derive(Debug)]
pub(super) struct Candidate {
    pub(super) number: usize,
    /// Its path below the served folder.
    pub(super) path: Vec<u8>,
    pub(super) base: usize,
    /// Where the search begins in its text.
    pub(super) start: usize,
    pub(super) folder: Arc<WalkedFolder>,
    /// An earlier search ended in it.
    pub(super) is_resumed: bool,
    /// The entries between the file before and this one that are not searched, and all that was left out up to here.
    pub(super) passed: (SearchCounts, LeftOut),
    /// What is believed of it without a look.
    pub(super) belief: Option<Belief>,
    /// Where to have it believed, if that is wanted.
    pub(super) place: Option<EntryPlace>,
    /// A device, and the file system on it.
    system: Option<(u64, FileSystem)>,
}

impl Candidate {
    fn new(number: usize, path: Vec<u8>, base: usize, folder: Arc<WalkedFolder>) -> Candidate {
        let passed = Default::default();
        Candidate {
            number,
            path,
            base,
            start: 0,
            folder,
            is_resumed: false,
            passed,
            belief: None,
            place: None,
            system: None,
        }
    }

    /// The rest of the file from the byte at which an earlier search ended, if it ended in the file.
    fn begun_at(self, byte: Option<usize>) -> Candidate {
        Candidate { start: byte.unwrap_or(0), is_resumed: byte.is_some(), ..self }
    }

    pub(super) fn name(&self) -> &OsStr {
        let at = memchr::memrchr(b'/', &self.path).map_or(0, |at| at + 1);
        OsStr::from_bytes(&self.path[at..])
    }

    /// Its state now. `None` if there is no such file any more. An error if that is not known.
    pub(super) fn stat(&self) -> std::result::Result<Option<Stat>, Errno> {
        match self.folder.handle() {
            Ok(folder) => resolve::regular_file(folder, self.name()),
            Err(Errno::NOENT) => Ok(None),
            Err(errno) => Err(errno),
        }
    }

    /// Whether its folder is on this machine. One that cannot be opened is not asked.
    pub(super) fn is_local(&self) -> bool {
        self.folder.handle().is_ok_and(file_system::is_local)
    }

    /// The file system of the file, if that is known.
    pub(super) fn system(&self, device: u64) -> Option<FileSystem> {
        self.system.filter(|(known, _)| *known == device).map(|(_, system)| system)
    }

    /// The file, if the time is up while it is searched.
    pub(super) fn late(&self) -> LateFile {
        LateFile { folder: self.number, path: self.path.clone(), base: self.base }
    }

    /// Its path below the first folder of the walk.
    pub(super) fn path_from_start(&self) -> &[u8] {
        &self.path[self.base..]
    }
}

impl<'s> Source<'s> {
    pub(super) fn new(
        workspace: &'s Workspace,
        options: SearchOptions<'s>,
        control: &'s Control,
    ) -> Result<Source<'s>> {
        let mut source = Source {
            workspace,
            options,
            control,
            ahead: Vec::new(),
            current: None,
            single: None,
            roots: Vec::new(),
            counts: SearchCounts::default(),
            left_out: LeftOut::default(),
            gives_places: false,
        };
        match options.path {
            _ if options.only.is_some() => source.start_at_only(),
            Some(path) => {
                let found = workspace.find_entry(path, Want::Entry, control)?;
                source.start_at(found, path)?;
            }
            None => source.start_at_roots()?,
        }
        Ok(source)
    }

    fn start_at(&mut self, found: Found, path: &folder::FilePath) -> Result<()> {
        let real = found.real_path(path).to_owned();
        let Found { number, folder, place, .. } = &found;
        if found.is_directory() {
            let handle = place.open_folder().map_err(|refusal| refused(path.sent(), refusal))?;
            let start = Start { number: *number, root: folder.handle().clone(), folder: handle, path: real };
            self.ahead.push(start);
            return Ok(());
        }
        let Some(stat) = place.stat else {
            return Err(Error::not_found(path.sent()));
        };
        if EntryKind::of_mode(stat.st_mode) != EntryKind::File {
            self.counts.special += 1;
            return Ok(());
        }
        // The name after links; its path is as the client gave it.
        let path = real.as_os_str().as_bytes().to_vec();
        let base = memchr::memrchr(b'/', &path).map_or(0, |at| at + 1);
        let byte = match self.options.after {
            Some(SearchPlace { byte: None, .. }) => return Ok(()),
            after => after.and_then(|after| after.byte),
        };
        let candidate = Candidate::new(*number, path, base, Arc::new(place.dir.clone().into()));
        self.roots.push(folder.handle().clone());
        self.single = Some(candidate.begun_at(byte));
        Ok(())
    }

    /// Starts at a file that an earlier search met. If it is gone, there is nothing to search.
    fn start_at_only(&mut self) {
        let Some(SearchPlace { folder: number, path, byte }) = self.options.only else { return };
        let Some(root) = self.workspace.folders.roots().get(number) else { return };
        let Ok(folder) = root.folder() else { return };
        let (below, excludes) = (Path::new(OsStr::from_bytes(path)), self.workspace.folders.excludes());
        let kept = excludes.git().keeps((folder.handle(), folder.id()), below, false).unwrap_or(true);
        // A walk meets no such file, but a made-up cursor may name one.
        if kept || folder.is_in_git() && !excludes.git().allows_reads() || excludes.hides(below, false) {
            return;
        }
        let place = ResolvedPath::find_entry(folder.handle(), below, LastLink::Keep);
        let Ok(ResolvedPath { dir, stat: Some(_), .. }) = place else { return };
        self.single = Some(Candidate::new(number, path.to_vec(), 0, Arc::new(dir.into())).begun_at(byte));
        self.roots.push(folder.handle().clone());
    }

    fn start_at_roots(&mut self) -> Result<()> {
        let roots = self.workspace.folders.roots();
        for (number, root) in roots.iter().enumerate().rev() {
            let folder = match root.folder() {
                // The others are searched, and the answer names the one that is not.
                Err(Error::FolderGone | Error::FolderSwitched) if root.is_local() && roots.len() > 1 => {
                    self.left_out.unreadable += 1;
                    continue;
                }
                folder => folder?,
            };
            if folder.is_in_git() && !self.workspace.folders.excludes().git().allows_reads() {
                self.left_out.repositories += 1;
                continue;
            }
            let handle = folder.handle().try_clone().map_err(|_| Error::FolderGone)?;
            let start = Start { number, root: folder.handle().clone(), folder: handle, path: PathBuf::new() };
            self.ahead.push(start);
        }
        let none_is_there = self.ahead.is_empty() && self.left_out.repositories == 0;
        if none_is_there { Err(Error::FolderGone) } else { Ok(()) }
    }

    /// Whether there is only one file, and it was not taken yet.
    pub(super) fn is_single(&self) -> bool {
        self.single.is_some()
    }

    /// The next file. `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<Candidate>> {
        if let Some(single) = self.single.take() {
            return Ok(Some(single));
        }
        loop {
            let Some(current) = &mut self.current else {
                let Some(start) = self.ahead.pop() else { return Ok(None) };
                self.begin(start)?;
                continue;
            };
            let Some(step) = current.walk.next_step()? else {
                self.left_out = self.left_out();
                self.current = None;
                continue;
            };
            let WalkStep::Entry(entry) = step else { continue };
            if let Some(candidate) =
                current.take(entry.kind, self.options.wants, &mut self.counts, self.gives_places)
            {
                let passed = (std::mem::take(&mut self.counts), self.left_out());
                return Ok(Some(Candidate { passed, ..candidate }));
            }
        }
    }

    /// Counts the files that are left. Returns their number, and whether there may be more because the time was up.
    pub(super) fn count_rest(&mut self) -> (u64, bool) {
        let mut number = 0;
        loop {
            match self.next() {
                Ok(Some(_)) => number += 1,
                end => return (number, end.is_err()),
            }
        }
    }

    fn begin(&mut self, start: Start) -> Result<()> {
        let SearchOptions { skip_ignored, skip_hidden, after, .. } = self.options;
        let after = match after {
            Some(SearchPlace { folder, .. }) if folder > start.number => return Ok(()),
            Some(SearchPlace { folder, path, byte }) if folder == start.number => Some((path.to_vec(), byte)),
            _ => None,
        };
        let Start { number, root, folder, path } = start;
        let cross_mounts = self.workspace.options.cross_mounts;
        let options = WalkOptions { cross_mounts, skip_ignored, skip_hidden, ..WalkOptions::default() };
        let base = path.as_os_str().len();
        let base = base + usize::from(base > 0);
        let (device, system) =
            (sys::fs::fstat(&folder).map_or(0, |stat| stat.st_dev), file_system::of(&folder));
        let excludes = self.workspace.folders.excludes();
        let walk = Walk::new(&root, folder, &path, options, excludes, self.workspace.live(), self.control)?;
        let walk = self.workspace.clearing(walk);
        let counted = LeftOut::default();
        self.roots.push(root);
        self.current = Some(Current { number, walk, base, device, system, after, counted });
        Ok(())
    }

    /// Checks, if files could not be read, that their file systems answer: else that is no finding.
    pub(super) fn check_answers(&self) -> Result<()> {
        let answers = |root: &Arc<OwnedFd>| lost::check_answers(root).map_err(|errno| Error::read("", errno));
        self.roots.iter().try_for_each(answers)
    }

    /// Whether looks wait, for a disk or another machine: those at files, of which the caller knows, or those of the walk at folders.
    pub(super) fn looks_are_slow(&self, at_files: &Lookups) -> bool {
        at_files.are_slow() || self.current.as_ref().is_some_and(|current| current.walk.looks_are_slow())
    }

    /// What the walks have left out so far, behind the place where an earlier search ended.
    pub(super) fn left_out(&self) -> LeftOut {
        let Some(Current { walk, counted, .. }) = &self.current else { return self.left_out };
        let here = walk.left_out().combined(*counted, usize::saturating_sub);
        self.left_out.combined(here, usize::saturating_add)
    }
}

impl Current<'_> {
    /// The current entry, if it is to be searched. Counts it if not.
    fn take(
        &mut self,
        kind: EntryKind,
        wants: &(dyn Fn(&Path, &Path, bool) -> bool + Sync),
        counts: &mut SearchCounts,
        gives_places: bool,
    ) -> Option<Candidate> {
        let is_folder = kind == EntryKind::Folder;
        let mut begin = None;
        if let Some((after, byte)) = &self.after {
            begin = byte.filter(|_| self.walk.path_from_start() == after);
            let passed = passed(self.walk.path_from_start(), is_folder, after);
            if passed != Passed::No && !switches::is_off("search-page-left-out") {
                self.counted = self.walk.left_out();
            }
            if passed == Passed::Yes && begin.is_none() {
                self.walk.skip_folder();
                return None;
            }
        }
        let [path, from_start] =
            [self.walk.path(), self.walk.path_from_start()].map(|path| Path::new(OsStr::from_bytes(path)));
        match kind {
            EntryKind::Link => counts.links += 1,
            EntryKind::Special => counts.special += 1,
            EntryKind::Folder => {
                if !wants(path, from_start, true) {
                    counts.not_wanted_folders += 1;
                    self.walk.skip_folder();
                }
            }
            EntryKind::File if !wants(path, from_start, false) => counts.not_wanted += 1,
            EntryKind::File => {
                let folder = self.walk.folder()?;
                let system = Some((self.device, self.system));
                let candidate = Candidate::new(self.number, self.walk.path().to_vec(), self.base, folder);
                let belief = self.walk.belief();
                let place = if gives_places { self.walk.place() } else { None };
                return Some(Candidate { system, belief, place, ..candidate.begun_at(begin) });
            }
        }
        None
    }
}
