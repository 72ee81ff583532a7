//! Plans the operations of a job, one after the other. Everything that can be refused is refused here; nothing is written.

use super::Operation;
use super::draft::Outcome;
use super::planner::Planner;
use super::steps::{below, joined};
use crate::workspace::found::Want;
use folder::{Error, FilePath, Result};

impl<'o> Planner<'_, 'o> {
    /// Adds all operations that fit. Returns the numbers of the others, and why each does not fit.
    pub(super) fn plan(&mut self, operations: &mut [Operation<'o>]) -> Result<Vec<(usize, Error)>> {
        let mut refused = Vec::new();
        let total = operations.len();
        for (number, operation) in operations.iter_mut().enumerate() {
            self.control.check()?;
            self.control.progress(number as u64, Some(total as u64));
            let steps = self.draft.steps.len();
            match self.add(operation) {
                Ok(file) => {
                    let step = self.draft.steps.len().checked_sub(1).filter(|last| *last >= steps);
                    self.draft.outcomes.push(Outcome { file, step });
                }
                Err(error @ (Error::Changed { .. } | Error::TimedOut | Error::Cancelled)) => {
                    return Err(error);
                }
                Err(error @ Error::NotFound { .. }) => {
                    refused.push((number, self.taken_away(operation.path()).unwrap_or(error)));
                }
                Err(error) => refused.push((number, error)),
            }
        }
        Ok(refused)
    }

    /// Why nothing is at a path any more, if an operation before has taken it away.
    fn taken_away(&self, path: &FilePath) -> Option<Error> {
        let (place, _) = self.spot(path, Want::Link).ok()?;
        let (at, now) = self.draft.steps.taken_from(&place)?;
        let rest = below(&place, at)?;
        let what = if *at == place { "it".into() } else { self.workspace.told(at) };
        let problem = match now {
            None => format!("{what} was deleted earlier in this call; leave this out, or put it before that"),
            Some(now) => {
                let (there, name) = (self.workspace.told(&now), self.workspace.told(&joined(&now, rest)));
                format!("{what} was moved to {there} earlier in this call; name {name}")
            }
        };
        Some(Error::InvalidArguments { at: "path".into(), problem })
    }

    /// Returns the number of the file on the disk that it changes.
    fn add(&mut self, operation: &mut Operation<'o>) -> Result<Option<usize>> {
        self.workspace.check_not_read_only(operation.path())?;
        match operation {
            Operation::Write { path, options, plan } => return self.write(path, options, plan),
            Operation::Move { path, to } => self.move_entry(path, to)?,
            Operation::Copy { path, to } => self.copy(path, to)?,
            Operation::Delete { path, only } => self.delete(path, *only)?,
            Operation::Restore { path, entry } => self.restore(path, entry)?,
        }
        Ok(None)
    }
}
