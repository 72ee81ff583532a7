//! Changes many files, all of them or none (contract 20): plan, lock, write beside, rename.
//!
//! Each operation applies to what those before it have made. What is refused is known before anything is written. If the system
//! fails in the middle, what was done is taken back. Knows no tools: the plan of a text is the caller's.

use self::draft::Draft;
use self::locks::Holding;
use self::planner::Planner;
use self::stage::FLUSHED_TOGETHER;
pub(super) use self::steps::{below, folders_above, joined};
use super::change::ChangeOptions;
use super::{ATTEMPTS, Place, Workspace};
use crate::change_log::ChangeNumber;
use folder::fs::file_system;
use folder::fs::version::FileStamp;
use folder::{Control, Error, FilePath, Result};
use journal::{Author, KeptEntry, Piece};
use sys::map::OpenMap;
use text::lines::LineIndex;
use text::splice::EditPlan;

mod base;
mod commit;
mod content;
mod copies;
mod described;
mod draft;
mod ends;
mod left;
mod locks;
mod names;
mod plan;
mod planner;
mod record;
mod recover;
mod seen;
mod stage;
mod steps;
mod take_back;
#[cfg(test)]
mod tests;

/// A job of more operations holds no descriptors of its files between its phases. Of fewer, it spares the calls that open them again.
const MANY_FILES: usize = 128;

/// The most files whose locks are sure to be held by maps: a process has room for 65,530 maps, and a file needs two.
const MOST_MAPPED: usize = if cfg!(test) { 200 } else { 30_000 };

/// One operation of a job.
pub enum Operation<'o> {
    /// Changes the content of a file, or makes a file where the options allow that.
    Write {
        /// The path of the file.
        path: FilePath,
        /// What the change may do.
        options: ChangeOptions,
        /// Makes the plan for the text as it is then. Called again if the file was changed by others meanwhile.
        plan: TextPlan<'o>,
    },
    /// Moves a file or a folder to a path where nothing is. Missing folders of it are made.
    Move {
        /// The path of the entry.
        path: FilePath,
        /// Its new path.
        to: FilePath,
    },
    /// Copies a file, or a folder with all in it, to a path where nothing is. Missing folders of it are made.
    Copy {
        /// The path of the entry.
        path: FilePath,
        /// The path of the copy.
        to: FilePath,
    },
    /// Deletes an entry.
    Delete {
        /// The path of the entry.
        path: FilePath,
        /// What of it may be deleted.
        only: Deletion,
    },
    /// Makes an entry that was deleted once, at a path where nothing is. Missing folders of it are made.
    Restore {
        /// The path of the entry.
        path: FilePath,
        /// What it was.
        entry: KeptEntry,
    },
}

/// What of an entry may be deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deletion {
    /// Anything but a folder that holds something.
    Entry,
    /// Anything.
    Recursive,
    /// A file with a content, or a link with a target, of this [`journal::hash`].
    Unchanged(u64),
    /// A folder that holds nothing. Any other stays, and that is no error.
    EmptyFolder,
}

/// How a job is carried out.
#[derive(Debug, Clone, Copy, Default)]
pub struct JobOptions<'n> {
    /// Whether it is only found out if all operations fit.
    pub dry_run: bool,
    /// What the journal says of it. `None`: it is not in the journal.
    pub note: Option<JobNote<'n>>,
}

/// What the journal says of a job.
#[derive(Debug, Clone, Copy)]
pub struct JobNote<'n> {
    /// Who sent the call.
    pub author: &'n Author,
    /// The tool that was called.
    pub tool: &'n str,
    /// What the client says of it.
    pub message: &'n str,
    /// What it takes back.
    pub undoes: Option<Undoing<'n>>,
}

/// What a job takes back, or does again.
#[derive(Debug, Clone, Copy)]
pub struct Undoing<'n> {
    /// The change that was named.
    pub change: ChangeNumber,
    /// The pieces.
    pub pieces: &'n [PieceUndone],
}

/// A piece of a change that a job takes back, or does again.
#[derive(Debug, Clone, Copy)]
pub struct PieceUndone {
    /// The piece.
    pub piece: Piece,
    /// Whether it is done behind the job.
    pub is_done: bool,
    /// The number of the operation that does this. `None`: there is nothing to do.
    pub operation: Option<usize>,
    /// Whether it is only done if the operation changes something.
    pub may_stay: bool,
}

/// What a job has done.
#[derive(Debug)]
pub struct JobDone<T> {
    /// What the caller says of each change.
    pub told: Vec<T>,
    /// The number of the change in the journal, and why it cannot be taken back, if so. `None`: it is not in the journal.
    pub recorded: Option<Recorded>,
    /// The state of the last file that was put in place, if it can belong only to the bytes written here.
    pub stamp: Option<FileStamp>,
    /// How many entries were removed.
    pub removed: u64,
    /// What the job has deleted or replaced and could not remove.
    pub unremoved: Unremoved,
}

/// Is told each change of a job.
type Describe<'d> = dyn FnMut(JobChange) + 'd;

/// Whether a job that is planned may be carried out.
type Allow<'d> = dyn Fn() -> Result<()> + 'd;

/// Hidden entries that could not be removed when a job was done.
#[derive(Debug, Default)]
pub struct Unremoved {
    /// Their hidden paths, as answers name them. Empty: there are none.
    pub paths: Vec<String>,
    /// Whether a later call, or the next start, tries again.
    pub is_removed_later: bool,
}

/// What was carried out of a job.
#[derive(Default)]
struct CarriedOut {
    recorded: Option<Recorded>,
    stamp: Option<FileStamp>,
    removed: u64,
    unremoved: Unremoved,
}

/// The place of a job in the journal.
#[derive(Debug)]
pub enum Recorded {
    /// It can be taken back.
    Change(ChangeNumber),
    /// It cannot: why.
    NotUndoable(String),
    /// It is not in the journal, which could not be written: why.
    Unwritten(String),
}

/// Plans a change of the text with this index and these bytes, which are empty for a new file. `None` if the bytes do not match the index.
pub type TextPlan<'o> = Box<dyn FnMut(&LineIndex, &[u8]) -> Result<Option<EditPlan<'o>>> + 'o>;

/// One change that a job makes, for an answer. Paths are relative to the served folder; of several folders, absolute.
#[derive(Debug)]
pub enum JobChange<'c> {
    /// The content of a file changes, or the file is new.
    Content {
        /// Its path after the job.
        path: &'c str,
        /// Whether it is new.
        is_new: bool,
        /// The bytes to which the plan applies: those before the job, or of a copy those of its source.
        old: &'c [u8],
        /// What changes.
        plan: &'c EditPlan<'c>,
    },
    /// An entry has another path.
    Moved {
        /// Its path before.
        from: &'c str,
        /// Its path behind this operation.
        to: &'c str,
    },
    /// A symbolic link is new.
    Link {
        /// Its path.
        path: &'c str,
        /// What it leads to.
        target: &'c str,
    },
    /// A folder is new, and of nothing else in it is told that it changes.
    Folder {
        /// Its path.
        path: &'c str,
    },
    /// An entry is deleted.
    Deleted {
        /// Its path.
        path: &'c str,
    },
}

/// Why a job has changed nothing.
#[derive(Debug)]
pub enum JobError {
    /// These operations do not fit: the number of each from 0, and why. All others fit.
    Refused(Vec<(usize, Error)>),
    /// The job as a whole failed.
    Failed(Error),
}

impl JobError {
    /// The first reason.
    pub fn first(self) -> Error {
        match self {
            JobError::Failed(error) => error,
            JobError::Refused(refused) => {
                let first = refused.into_iter().next().map(|(_, error)| error);
                first.unwrap_or(Error::Changed { name: String::new() })
            }
        }
    }
}

impl From<Error> for JobError {
    fn from(error: Error) -> JobError {
        JobError::Failed(error)
    }
}

impl Workspace {
    /// How many descriptors a job needs at once that changes so many files in so many folders.
    pub fn descriptors_of_job(&self, files: usize, folders: usize, dry_run: bool) -> u64 {
        let is_local = |root: &folder::fs::root::Root| {
            root.folder().is_ok_and(|folder| file_system::is_local(folder.handle()))
        };
        let of_file = match files > MANY_FILES {
            true if dry_run => 0,
            // Of locks that need descriptors: those of the old file and of the new one.
            true => {
                if OpenMap::is_kept() && self.folders.roots().iter().all(is_local) {
                    0
                } else {
                    2
                }
            }
            false => {
                if dry_run {
                    1
                } else {
                    6
                }
            }
        };
        let beyond_maps = files.saturating_sub(MOST_MAPPED);
        let new = if files > MANY_FILES && !dry_run { FLUSHED_TOGETHER } else { 0 };
        (files * of_file + beyond_maps * 2 + new + folders) as u64
    }

    /// Carries out `operations` in order, all or none of them. Returns what `describe` says of each change.
    ///
    /// If the server crashes in the middle, [`Workspace::recover`] completes it or takes it back. What is not in the journal can stay in
    /// part.
    pub fn run_job<T>(
        &self,
        operations: &mut [Operation],
        options: JobOptions,
        control: &Control,
        describe: impl FnMut(JobChange) -> T,
    ) -> Result<JobDone<T>, JobError> {
        self.run_job_if(operations, options, control, describe, || Ok(()))
    }

    /// The same, if `allow`, which is called when all operations are planned, does not fail. It is called again if they are planned again.
    pub fn run_job_if<T>(
        &self,
        operations: &mut [Operation],
        options: JobOptions,
        control: &Control,
        mut describe: impl FnMut(JobChange) -> T,
        allow: impl Fn() -> Result<()>,
    ) -> Result<JobDone<T>, JobError> {
        if options.note.is_some() && !options.dry_run {
            self.repair();
        }
        let (mut holding, mut changed) = (Holding::default(), String::new());
        let mut attempts = 0;
        while attempts < ATTEMPTS {
            control.check()?;
            holding.was_replaced = false;
            let mut told = Vec::new();
            let tell = &mut |change: JobChange| told.push(describe(change));
            let done = self.try_job(operations, options, &mut holding, control, (tell, &allow));
            let done = done.map(|CarriedOut { recorded, stamp, removed, unremoved }| JobDone {
                told,
                recorded,
                stamp,
                removed,
                unremoved,
            });
            match done {
                // Others who lock came first, however often: each of them has done its work.
                Err(JobError::Failed(Error::Changed { .. })) if holding.was_replaced => {}
                // Whoever wanted it to go does not know what it has become.
                done if holding.is_overtaken => return done,
                Err(JobError::Failed(Error::Changed { name })) => (changed, attempts) = (name, attempts + 1),
                done => return done,
            }
        }
        Err(JobError::Failed(Error::Changed { name: changed }))
    }

    /// One attempt. [`Error::Changed`] if another one may succeed.
    fn try_job<'w>(
        &'w self,
        operations: &mut [Operation],
        options: JobOptions,
        holding: &mut Holding<'w>,
        control: &Control,
        (describe, allow): (&mut Describe, &Allow),
    ) -> Result<CarriedOut, JobError> {
        let mut draft = Draft::new(operations.len() > MANY_FILES);
        let mut planner = Planner { workspace: self, control, draft: &mut draft };
        let mut refused = planner.plan(operations)?;
        // What is taken back was there.
        if refused.is_empty() && options.note.is_none_or(|note| note.undoes.is_none()) {
            refused = planner.misplaced();
        }
        if !refused.is_empty() {
            return Err(JobError::Refused(refused));
        }
        // The pieces of an undo are known by the numbers of their steps.
        if options.note.is_none_or(|note| note.undoes.is_none()) {
            draft.steps.take_out_vain();
        }
        allow()?;
        self.describe(&draft, describe)?;
        Ok(match options.dry_run || draft.changes_nothing() {
            true => CarriedOut::default(),
            false => self.carry_out(holding, &draft, options.note, control)?,
        })
    }
}

impl Operation<'_> {
    /// The path of what it changes.
    pub fn path(&self) -> &FilePath {
        match self {
            Operation::Write { path, .. }
            | Operation::Move { path, .. }
            | Operation::Copy { path, .. }
            | Operation::Delete { path, .. }
            | Operation::Restore { path, .. } => path,
        }
    }
}
