//! What is left to do in one search: the files of the walk in batches, and what ended it. All its threads share it, behind a lock.
//!
//! Knows nothing of threads, nor of what is found in a file.

use std::collections::VecDeque;
use std::sync::Arc;

use super::SearchStop;
use super::delivery::Batch;
use super::large::LargeText;
use super::source::{Candidate, Source};
use folder::{Error, Result};

pub(super) struct Work<'s> {
    pub(super) source: Source<'s>,
    /// The number of the next batch.
    pub(super) next: usize,
    /// Files that were taken from the walk.
    pub(super) taken: u64,
    /// Batches that threads are at.
    pub(super) running: usize,
    /// Threads that wait for a change. Without one, no system call tells of it.
    pub(super) waiting: usize,
    /// The rest of a batch that a thread has left to others.
    pub(super) given_back: Option<Assigned>,
    /// Large texts that threads are at.
    pub(super) large: Vec<Arc<LargeText>>,
    pub(super) at_end: bool,
    pub(super) stop: Option<SearchStop>,
    pub(super) error: Option<Error>,
}

/// What a thread does next.
pub(super) enum Job {
    Search(Box<Assigned>),
    Help(Arc<LargeText>),
    /// There is nothing more to do.
    End,
}

/// Files for one thread, and the number of their batch.
pub(super) struct Assigned {
    pub(super) number: usize,
    pub(super) files: VecDeque<Candidate>,
    pub(super) batch: Batch,
}

impl Work<'_> {
    /// Whether nothing has ended the search.
    pub(super) fn goes_on(&self) -> bool {
        self.stop.is_none() && self.error.is_none()
    }

    /// Takes the next files, at most so many. `None` at the end.
    pub(super) fn take_batch(&mut self, most: usize) -> Result<Option<Job>> {
        let assigned = match self.given_back.take() {
            Some(assigned) => assigned,
            None => {
                let mut files = VecDeque::with_capacity(most);
                while files.len() < most
                    && let Some(file) = self.source.next()?
                {
                    self.taken += 1;
                    files.push_back(file);
                }
                if files.is_empty() {
                    return Ok(None);
                }
                self.next += 1;
                Assigned { number: self.next - 1, files, batch: Batch::default() }
            }
        };
        self.running += 1;
        Ok(Some(Job::Search(Box::new(assigned))))
    }

    /// Leaves the rest of a batch to another thread.
    pub(super) fn give_back(&mut self, rest: Assigned) {
        self.running -= 1;
        self.given_back = Some(rest);
    }

    /// Ends the search: with what was found if the time is up, else with the error.
    pub(super) fn end_with(&mut self, error: Error) {
        match error {
            Error::TimedOut => drop(self.stop.get_or_insert(SearchStop::Time)),
            error => drop(self.error.get_or_insert(error)),
        }
    }
}
