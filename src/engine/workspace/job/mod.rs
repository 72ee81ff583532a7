//! Changes many files, all of them or none (contract 20): plan, lock, write beside, rename.
//!
//! Each operation applies to what those before it have made. What is refused is known before anything is written. If the system
//! fails in the middle, what was done is taken back. Knows no tools: the plan of a text is the caller's.

use std::path::PathBuf;

use self::draft::Draft;
use self::plan::Planner;
use super::change::ChangeOptions;
use super::{ATTEMPTS, Workspace};
use folder::{Control, Error, FilePath, Result};
use text::lines::LineIndex;
use text::splice::EditPlan;

mod commit;
mod draft;
mod locks;
mod plan;
mod stage;
mod take_back;
#[cfg(test)]
mod tests;

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
    /// Copies a file to a path where nothing is. Missing folders of it are made.
    Copy {
        /// The path of the file.
        path: FilePath,
        /// The path of the copy.
        to: FilePath,
    },
    /// Deletes an entry.
    Delete {
        /// The path of the entry.
        path: FilePath,
        /// Whether a folder may hold something.
        recursive: bool,
    },
}

/// Plans a change of the text with this index and these bytes, which are empty for a new file. `None` if the bytes do not match the index.
pub type TextPlan<'o> = Box<dyn FnMut(&LineIndex, &[u8]) -> Result<Option<EditPlan<'o>>> + 'o>;

/// What a job has done.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct JobDone {
    /// Files whose content was changed.
    pub changed: usize,
    /// Files that are new.
    pub created: usize,
    /// Entries that were moved.
    pub moved: usize,
    /// Entries that were deleted, each folder with all in it as one.
    pub deleted: usize,
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

/// The place of an entry: the number of its served folder, and its path below that, links followed.
type Place = (usize, PathBuf);

impl Workspace {
    /// Carries out `operations` in order, all or none of them. With `dry_run`, finds out only whether they fit.
    ///
    /// A crash of the server in the middle can leave a part.
    pub fn run_job(
        &self,
        operations: &mut [Operation],
        dry_run: bool,
        control: &Control,
    ) -> Result<JobDone, JobError> {
        let mut held = None;
        for _ in 0..ATTEMPTS {
            control.check()?;
            let mut draft = Draft::default();
            let refused = match (Planner { workspace: self, control, draft: &mut draft }).plan(operations) {
                Err(Error::Changed { .. }) => continue,
                refused => refused?,
            };
            if !refused.is_empty() {
                return Err(JobError::Refused(refused));
            }
            let done = draft.summary();
            if dry_run || self.carry_out(&mut held, &draft, control)? {
                return Ok(done);
            }
        }
        let name = operations.first().map_or("", |operation| operation.path().sent());
        Err(JobError::Failed(Error::Changed { name: name.into() }))
    }
}

impl Operation<'_> {
    /// The path of what it changes.
    pub fn path(&self) -> &FilePath {
        match self {
            Operation::Write { path, .. }
            | Operation::Move { path, .. }
            | Operation::Copy { path, .. }
            | Operation::Delete { path, .. } => path,
        }
    }
}
