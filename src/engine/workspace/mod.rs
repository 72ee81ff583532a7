//! The served folder: list, read, edit. The only module that joins the engine's parts.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};

use self::folders::Folders;
use self::found::refused;
use self::given::parted;
use self::ready::ready_to_write;
use crate::cache::IndexCache;
use crate::change_log::ChangeLog;
use crate::command::Commands;
use crate::filter_cache::FilterCache;
use crate::filter_store::FilterStore;
use crate::last_opened::LastOpened;
use folder::fs::atomic::Durability;
use folder::fs::leftovers::Cleared;
use folder::fs::lock::Locks;
use folder::fs::mount_safety::MountSafety;
use folder::fs::private::future_path;
use folder::fs::resolve::{ResolveError, ResolvedPath};
use folder::fs::root::Root;
use folder::fs::view::OpenFile;
use folder::fs::write_wait::WriteWaits;
use folder::fs::{lease, liveness};
use folder::{Control, Error, Excludes, FilePath, FolderPaths, LiveFolders, NamePolicy, Result};
use sys::fs::Mode;
use sys::io::Errno;
use text::budget::Budget;

mod change;
mod changed_files;
mod commands;
mod counts;
mod create;
mod decoded;
mod delete;
mod each_line;
mod edit;
mod excerpt;
mod folder_handle;
mod folders;
mod found;
mod given;
mod indexing;
mod job;
mod listing;
mod live;
mod locking;
mod lookup;
mod meant;
mod missing;
mod mount_wait;
mod moved_link;
mod parts;
mod ranges;
mod read;
mod ready;
mod recorded;
mod relocate;
mod search;
mod trail;
mod tree;
mod undo;
mod versions;
mod write;

pub use change::{ChangeOptions, Changed};
pub use changed_files::{ByOthers, ChangedFile};
pub use counts::WorkspaceCounts;
pub use create::NewFile;
pub use each_line::{LineSink, LinesRead};
pub use edit::Edited;
pub use excerpt::Excerpt;
pub use folder_handle::FolderHandle;
pub use given::{outermost, without_missing};
pub use job::{
    Deletion, JobChange, JobDone, JobError, JobNote, JobOptions, Operation, Recorded, TextPlan, Unremoved,
};
pub use mount_wait::MountWait;
pub use parts::PartRead;
pub use ranges::{LineEnd, LineRange, LineSpan, TextPart};
pub use search::{
    AnalysedFile, AnalysedFiles, Analysis, AnalysisKind, AnalysisOptions, FileAnalyser, FileOutcome,
    FoundFile, LastFile, LateFile, NewAnalyser, Receiver, SearchCounts, SearchOptions, SearchPlace,
    SearchStop, Searched, Unanalysed,
};
pub use tree::EntryInfo;

/// The place of an entry: the number of its served folder, and its path below that.
type Place = (usize, PathBuf);

/// Attempts of a read or an edit on a file that other programs keep changing.
const ATTEMPTS: usize = 8;

/// Why a file that hides its size is not read: how many bytes belong to it is not known.
const HIDDEN_SIZE: &str =
    "it says that it has 0 bytes but holds some, as files of /proc do, which are not read here";

/// Memory limit of the index cache, in bytes.
const CACHE_BYTES: usize = 16 << 20;

/// Memory limit of all edit plans together, as a multiple of the largest request.
const PLANS_HELD: usize = 8;

/// Options of a workspace (contract 2).
#[derive(Debug, Clone)]
pub struct WorkspaceOptions {
    /// Which names are allowed.
    pub names: NamePolicy,
    /// Largest file that is read whole or written whole in one call, in bytes; in the sets `lines` and `exact` the largest that is
    /// read or edited at all (contract 12). An edit of a larger file adds at most so many.
    pub max_bytes: u64,
    /// Largest request, in bytes: the plans of edits take up memory in proportion to it.
    pub max_request: u64,
    /// Memory limit of the filters of searched files, in bytes; 0: none is kept in memory.
    pub filter_bytes: usize,
    /// The folder for filters on disk.
    pub filter_dir: Option<PathBuf>,
    /// The folder for the journal (contract 20), and the largest number of bytes that it keeps of one served folder.
    pub journal: Option<(PathBuf, u64)>,
    /// Whether walks enter folders on other file systems.
    pub cross_mounts: bool,
    /// Whether clients may read more than `HEAD` of folders `.git`.
    pub allow_git: bool,
    /// What `~` is in paths of clients.
    pub home: Option<PathBuf>,
    /// Whether folders are watched, so that what is known of them need not be looked at (contract 21).
    pub live: bool,
    /// Paths that do not exist for clients.
    pub excludes: Excludes,
    /// Whether every change on the disk is forbidden.
    pub read_only: bool,
    /// When an edit counts as done.
    pub durability: Durability,
    /// Whether files are changed also where locks do not keep out other machines.
    pub unsafe_locks: bool,
}

impl Default for WorkspaceOptions {
    fn default() -> WorkspaceOptions {
        WorkspaceOptions {
            names: NamePolicy::Portable,
            max_bytes: 10 << 20,
            max_request: 10 << 20,
            filter_bytes: 64 << 20,
            filter_dir: None,
            journal: None,
            cross_mounts: false,
            allow_git: false,
            home: None,
            live: true,
            excludes: Excludes::default(),
            read_only: false,
            durability: Durability::Full,
            unsafe_locks: false,
        }
    }
}

/// Why a folder cannot be served.
#[derive(Debug)]
pub enum OpenError {
    /// This one does not exist, is not a directory, or cannot be opened.
    Unusable(PathBuf, io::Error),
    /// This one is not writable.
    NotWritable(PathBuf),
    /// Locks in this one do not keep out other machines: why.
    UnsafeLocks(PathBuf, String),
    /// This one cannot be used for filters.
    FilterDir(PathBuf, io::Error),
}

/// The served folders.
#[derive(Debug)]
pub struct Workspace {
    folders: Folders,
    /// Given folders that are not served.
    left_out: Vec<PathBuf>,
    options: WorkspaceOptions,
    umask: Mode,
    cache: IndexCache,
    last_opened: LastOpened,
    locks: Locks,
    mounts: MountSafety,
    /// What is doubtful about the folders' file systems.
    doubts: Vec<String>,
    cleared: Cleared,
    plans: Budget,
    write_waits: WriteWaits,
    mount_waits: mount_wait::MountWaits,
    /// See [`Workspace::helpers`]. Counted when they are needed for the first time.
    helpers: OnceLock<Budget>,
    /// See [`Workspace::search_slots`]. The processors are counted when they are needed for the first time.
    search_slots: OnceLock<search::SearchSlots>,
    filters: FilterCache,
    /// Filters on disk.
    filter_store: Option<FilterStore>,
    /// The journal.
    change_log: Option<ChangeLog>,
    warming: search::WarmUp,
    /// What programs have made of files.
    analyses: search::Analyses,
    /// What is known of folders without a look.
    live: Option<LiveFolders>,
    /// Whether the operator was told how much of it is known.
    has_told_known: AtomicBool,
    commands: Commands,
}

/// The path of `own` below the first of `folders` that it lies in.
fn below_one_of(folders: &[PathBuf], own: &Path) -> Option<PathBuf> {
    let own = future_path(own);
    let below = |folder: &PathBuf| Some(own.strip_prefix(folder.canonicalize().ok()?).ok()?.to_owned());
    folders.iter().find_map(below).filter(|below| below != Path::new(""))
}

impl Workspace {
    /// Opens the folders at `paths`, at least one, and removes temporary files that dead processes left in them. Of several folders,
    /// those that are missing are left out.
    pub fn open(paths: &[PathBuf], options: WorkspaceOptions) -> Result<Workspace, OpenError> {
        if let Some(path) = paths.iter().find(|path| !liveness::answers(path)) {
            let silent = io::Error::new(io::ErrorKind::TimedOut, "its file system does not answer");
            return Err(OpenError::Unusable(path.clone(), silent));
        }
        // All of them answer.
        let (paths, left_out) = parted(paths, |_| true);
        let mut options = options;
        let journal = options.journal.as_ref().map(|(journal, _)| future_path(journal));
        if journal.is_some_and(|journal| paths.iter().any(|path| future_path(path).starts_with(&journal))) {
            tracing::warn!(
                "--journal: a served folder is or lies in it; no change can be undone. Give a folder of its own"
            );
            options.journal = None;
        }
        let mut excludes = options.excludes.clone().allowing_git(options.allow_git);
        if let Some(own) = options.journal.as_ref().and_then(|(journal, _)| below_one_of(&paths, journal)) {
            excludes = excludes.without_own(&own);
        }
        let folders = Folders::open(&paths, excludes, options.home.as_deref())?;
        let cleared = Cleared::default();
        let (mounts, mut doubts) = (MountSafety::new(options.unsafe_locks), Vec::new());
        for root in folders.roots() {
            let gone = |_| OpenError::Unusable(root.path().into(), io::ErrorKind::NotFound.into());
            let folder = root.folder().map_err(gone)?;
            if !options.read_only {
                doubts.extend(ready_to_write(root, &folder, &mounts)?);
            }
        }
        let served = folders.roots().iter().map(|root| root.path());
        let open_store = |dir: &PathBuf| {
            FilterStore::open(dir, served).map_err(|error| OpenError::FilterDir(dir.clone(), error))
        };
        let filter_store = options.filter_dir.as_ref().map(open_store).transpose()?;
        let change_log = options.journal.as_ref().map(|(dir, max)| {
            let served = folders.roots().iter().map(|root| root.path());
            ChangeLog::new(dir, served, *max)
        });
        let umask = sys::process::umask(Mode::empty());
        sys::process::umask(umask);
        let workspace = Workspace {
            folders,
            left_out,
            plans: Budget::new(PLANS_HELD * options.max_request as usize),
            write_waits: WriteWaits::default(),
            mount_waits: mount_wait::MountWaits::default(),
            helpers: OnceLock::new(),
            search_slots: OnceLock::new(),
            filters: FilterCache::new(options.filter_bytes),
            filter_store,
            change_log,
            warming: search::WarmUp::default(),
            analyses: search::Analyses::default(),
            live: options.live.then(LiveFolders::default),
            has_told_known: AtomicBool::new(false),
            commands: Commands::default(),
            options,
            umask,
            cache: IndexCache::new(CACHE_BYTES),
            last_opened: LastOpened::default(),
            locks: Locks::default(),
            mounts,
            doubts,
            cleared,
        };
        workspace.recover();
        workspace.clear_roots();
        Ok(workspace)
    }

    /// Removes what dead processes left in the served folders. Not before jobs are completed or taken back, which need it.
    fn clear_roots(&self) {
        for folder in self
            .folders
            .roots()
            .iter()
            .filter(|_| !self.options.read_only)
            .filter_map(|root| root.folder().ok())
        {
            self.cleared.clear_once(folder.handle(), &self.mounts);
        }
    }

    /// The canonical path of the first folder.
    pub fn path(&self) -> &Path {
        self.folders.first().path()
    }

    /// The served folders, for parsing absolute paths.
    pub fn folder_paths(&self) -> &FolderPaths {
        self.folders.paths()
    }

    /// The folders that were given and are missing, if others are served.
    pub fn left_out(&self) -> &[PathBuf] {
        &self.left_out
    }

    /// What is doubtful about the file systems of the folders, and what to do; each in one line. Nothing under `read_only`.
    pub fn doubts(&self) -> &[String] {
        &self.doubts
    }

    /// Whether the file system of a folder does not answer: calls that ask it may keep their threads for long.
    pub fn is_silent(&self) -> bool {
        self.folders.roots().iter().any(|root| root.liveness().is_silent() || root.silent_inner() > 0)
    }

    /// The number of folders that are not there, or whose file systems do not answer, as far as they are not on local disks; with
    /// those mounted inside folders that do not answer.
    pub fn unreachable_folders(&self) -> usize {
        let of = |root: &Root| usize::from(!root.is_there()) + root.silent_inner();
        self.folders.roots().iter().map(of).sum()
    }

    /// Says that requests have arrived: what they read is in the folders that the paths lead to now.
    pub fn requests_arrived(&self) {
        self.folders.roots().iter().for_each(Root::requests_arrived);
    }

    /// From now on the file of the last small read stays open for the next one.
    pub fn keep_open(&self) {
        self.last_opened.begin();
    }

    /// Closes that file. No other stays open.
    pub fn close_kept(&self) {
        self.last_opened.end();
    }

    /// Whether the path `folder` leads to the first folder.
    pub fn is_at(&self, folder: &Path) -> bool {
        folder == self.path() || folder.canonicalize().is_ok_and(|folder| folder == self.path())
    }

    /// The options of the workspace.
    pub fn options(&self) -> &WorkspaceOptions {
        &self.options
    }

    /// The memory limit of all edit plans.
    pub fn plan_memory(&self) -> &Budget {
        &self.plans
    }

    /// Moves cached indexes to the calling thread's heap, so that pages of ended threads can be freed.
    pub fn compact(&self) {
        self.cache.compact();
        self.filters.compact();
        self.analyses.compact();
    }

    /// Parses a path under the workspace's policy.
    pub fn parse_path(&self, path: &str) -> Result<FilePath> {
        FilePath::parse(path, self.options.names, self.folder_paths())
    }

    /// Refuses every change under `--read-only`.
    fn check_not_read_only(&self, path: &FilePath) -> Result<()> {
        match self.options.read_only {
            true => Err(Error::PermissionDenied { name: path.sent().into() }),
            false => Ok(()),
        }
    }

    /// Opens the file if it has at most [`WorkspaceOptions::max_bytes`]; waits for leases. `None` if the entry has changed
    /// meanwhile.
    fn open_whole(
        &self,
        place: &ResolvedPath,
        name: &str,
        control: &Control,
    ) -> Result<Option<Arc<OpenFile>>> {
        let opened = self.open_place(place, name, control)?;
        opened.map(|file| self.check_whole(file.stamp().len, file.stamp().len).map(|()| file)).transpose()
    }

    /// Refuses a call that takes so many bytes of a file of this size.
    fn check_whole(&self, bytes: u64, size: u64) -> Result<()> {
        let max = self.options.max_bytes;
        if !switches::is_off("read-size") && bytes > max {
            Err(Error::TooLarge { size, max, is_result: false })
        } else {
            Ok(())
        }
    }

    /// Opens a file of any size; waits for leases. `None` if the entry has changed meanwhile.
    fn open_place(
        &self,
        place: &ResolvedPath,
        name: &str,
        control: &Control,
    ) -> Result<Option<Arc<OpenFile>>> {
        let opened = lease::wait_out(control, || place.open())?;
        if matches!(opened, Err(ResolveError::System(Errno::AGAIN))) && control.broke_off().is_none() {
            return Err(control.locked_out(name));
        }
        let Some(file) = opened.map_err(|refusal| refused(name, refusal))? else { return Ok(None) };
        match file.hides_its_size().map_err(|error| Error::read(name, error))? {
            true => {
                Err(Error::ReadFailed { source: io::Error::new(io::ErrorKind::Unsupported, HIDDEN_SIZE) })
            }
            false => Ok(Some(Arc::new(file.of_its_length().map_err(|error| Error::read(name, error))?))),
        }
    }
}

#[cfg(test)]
mod tests;
