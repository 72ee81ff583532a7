//! The changes of tools that know one file and no job: with a journal that is to have them, each is a job of one operation
//! (contract 20).
//!
//! What is refused has been looked for before, in the words of these tools. Here only a race can refuse anything else.

use std::cell::RefCell;

use super::change::{ChangeOptions, Changed, FilePlan};
use super::found::{Freshness, Want};
use super::job::{JobChange, JobDone, JobError, JobNote, JobOptions, Operation, Recorded};
use super::{ATTEMPTS, Workspace};
use folder::fs::file_system;
use folder::fs::resolve::file_type;
use folder::{Caller, ContentHash, Control, Error, FilePath, FileVersion, Result};
use journal::{Author, KeptEntry};
use sys::fs::FileType;
use text::lines::LineIndex;
use text::splice::EditPlan;

impl Workspace {
    /// As whose the journal is to have the changes of an operation. `None`: it is not to have them.
    pub(super) fn recorded_for<'c>(&self, control: &'c Control) -> Option<&'c Caller> {
        control.caller().filter(|_| self.change_log.is_some())
    }

    /// Carries out `operations` as a job that the journal has if it is to have what `control` is for.
    pub(super) fn run_recorded<T>(
        &self,
        operations: &mut [Operation],
        control: &Control,
        describe: impl FnMut(JobChange) -> T,
        allow: impl Fn() -> Result<()>,
    ) -> Result<JobDone<T>> {
        let caller = self.recorded_for(control);
        let author = caller.map(|Caller { client, session, .. }| Author {
            client: client.clone(),
            session: session.clone(),
        });
        let note = caller.zip(author.as_ref()).map(|(caller, author)| JobNote {
            author,
            tool: caller.tool,
            message: "",
            undoes: None,
        });
        let options = JobOptions { dry_run: false, note };
        let done = self.run_job_if(operations, options, control, describe, allow).map_err(JobError::first)?;
        if let (Some(Recorded::NotUndoable(why) | Recorded::Unwritten(why)), Some(caller)) =
            (&done.recorded, caller)
        {
            // The answers of these tools say nothing of a journal.
            tracing::warn!("--journal: a change by {} cannot be taken back: {why}", caller.tool);
        }
        if !done.unremoved.paths.is_empty() {
            let paths = done.unremoved.paths.join(" ");
            tracing::warn!("--journal: what was deleted could not be removed and stays hidden: {paths}");
        }
        Ok(done)
    }

    /// [`Workspace::change`] as a job.
    pub(super) fn change_recorded<'p>(
        &self,
        path: &FilePath,
        options: &ChangeOptions,
        control: &Control,
        plan: &mut FilePlan<'_, 'p>,
    ) -> Result<Changed<()>> {
        let found = self.find_to_change(path, options, control)?;
        let unchanged = RefCell::new(None);
        let plan = |index: &LineIndex, old: &[u8]| {
            let planned = plan(index, old).map_err(|error| match found.exists() {
                true => error,
                false => self.of_missing(&found, path, error),
            })?;
            Ok(planned.inspect(|edit| {
                let is_asked = edit.changes_nothing() && options.versioned;
                unchanged.replace(is_asked.then(|| FileVersion::of_content(old)));
            }))
        };
        let mut write = [Operation::Write {
            path: path.in_folder(found.number),
            options: options.clone(),
            plan: Box::new(plan),
        }];
        let describe = |change: JobChange| match change {
            JobChange::Content { is_new, old, plan, .. } => {
                (is_new, options.versioned.then(|| content_version(old, plan)))
            }
            _ => (false, None),
        };
        let done = self.run_recorded(&mut write, control, describe, || Ok(()))?;
        drop(write);
        let (created, content) = done.told.into_iter().next().unwrap_or((false, unchanged.take()));
        let stamp = done.stamp.filter(|_| file_system::of(&found.place.dir).shows_writers);
        let version = content.map(|content| stamp.as_ref().map_or(content, FileVersion::of_stamp));
        Ok(Changed { report: (), created, version })
    }

    /// One change of names as a job, if the entry at `path` has the expected version. Returns how many entries were removed.
    pub(super) fn name_recorded(
        &self,
        path: &FilePath,
        operation: Operation,
        options: &ChangeOptions,
        control: &Control,
    ) -> Result<u64> {
        let allow = || self.check_version_at(path, options, control);
        self.run_recorded(&mut [operation], control, |_| (), allow).map(|done| done.removed)
    }

    /// [`Workspace::create_folder`] as a job, where nothing was.
    pub(super) fn create_folder_recorded(&self, path: &FilePath, control: &Control) -> Result<()> {
        let entry = KeptEntry::Folder { mode: sys::fs::mode_bits(self.new_folder_mode()) };
        let operation = Operation::Restore { path: path.clone(), entry };
        self.run_recorded(&mut [operation], control, |_| (), || Ok(())).map(drop)
    }

    /// Refuses what does not have the expected version. A job that was planned before changes only what has not changed since.
    fn check_version_at(&self, path: &FilePath, options: &ChangeOptions, control: &Control) -> Result<()> {
        let Some(expected) = options.expected else { return Ok(()) };
        for _ in 0..ATTEMPTS {
            control.check()?;
            let found = self.folders.find(path, Want::Link, Freshness::Now)?;
            if found.place.stat.as_ref().map(file_type) != Some(FileType::RegularFile) {
                return Err(Error::OtherVersion { name: path.sent().into(), expected, actual: None });
            }
            if let Some(file) = self.open_place(&found.place, path.sent(), control)? {
                return self.check_version(&file, path, options, control);
            }
        }
        Err(Error::Changed { name: path.sent().into() })
    }
}

/// The version of what the plan makes of `old`.
fn content_version(old: &[u8], plan: &EditPlan) -> FileVersion {
    let mut hash = ContentHash::default();
    // A write to a hash cannot fail.
    let _ = plan.write_to(old, &mut hash);
    hash.version()
}
