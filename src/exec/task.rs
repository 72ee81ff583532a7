//! One call: runs it, turns a panic into an error, and logs its result.

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use super::{caught, log};
use crate::engine::{Control, Error, FileStamp, Late, Result, Workspace};
use crate::protocol::{Answer, PendingCall, StreamObserver};
use crate::tools::Reply;

/// See the module.
#[derive(Debug)]
pub struct Task {
    /// The call.
    pub call: PendingCall,
    /// Its deadline and cancellation.
    pub control: Control,
    received: Instant,
    /// The state of the file that the call has read, if any.
    stamp: OnceLock<FileStamp>,
}

impl Task {
    /// A call that may take `timeout` from its start. `received` is when its request was received.
    pub fn new(call: PendingCall, timeout: Duration, received: Instant) -> Arc<Task> {
        log::METRICS.call();
        let control = Control::unstarted(timeout);
        let control = if call.writes() { control } else { control.without_waiting() };
        Arc::new(Task { call, control, received, stamp: OnceLock::new() })
    }

    /// Runs the call; `None` if it might have to wait.
    pub fn run_now(self: &Arc<Task>, workspace: &Workspace) -> Option<Answer> {
        let run = || self.call.call().run_at_once(workspace, self.call.output_kinds());
        caught(|| run().map(|result| self.answer(result))).unwrap_or_else(|| Some(self.panicked()))
    }

    /// Runs the call; may wait for disks and locks. `None` if the call was cancelled or answered as late, or
    /// if it broke off because it may not wait for another program.
    pub fn run(self: &Arc<Task>, workspace: &Workspace) -> Option<Answer> {
        let control = &self.control;
        let answer = caught(|| match self.reply(workspace, control) {
            Err(Error::Cancelled) => None,
            _ if control.broke_off().is_some() => None,
            result => control.answer().then(|| self.answer(result)),
        });
        // After a panic: an answer, unless the call was answered as late or cancelled.
        answer.unwrap_or_else(|| {
            (control.answer() || control.check_called_off().is_ok()).then(|| self.panicked())
        })
    }

    /// Runs a read again, because its first answer could not be kept. If the file has changed since, the
    /// answer is an error. Does not wait for other programs.
    pub(super) fn run_again(self: &Arc<Task>, workspace: &Workspace, timeout: Duration) -> Answer {
        let control = Control::new(timeout).without_waiting();
        let answer = caught(|| {
            let reply = self.reply(workspace, &control);
            if control.broke_off().is_some() {
                return self.no_room();
            }
            match reply {
                Ok(Reply { excerpt: Some(excerpt), .. }) if !self.is_as_read(excerpt.stamp()) => {
                    self.logged(self.call.changed())
                }
                // Its first answer was logged.
                Ok(reply) => self.call.answer(Ok(reply), self.clone()),
                Err(error) => self.answer(Err(error)),
            }
        });
        answer.unwrap_or_else(|| self.panicked())
    }

    fn reply(&self, workspace: &Workspace, control: &Control) -> Result<Reply> {
        let reply = self.call.call().run(workspace, self.call.output_kinds(), control)?;
        if let Some(excerpt) = &reply.excerpt {
            // Keeps the first value.
            let _ = self.stamp.set(*excerpt.stamp());
        }
        Ok(reply)
    }

    fn is_as_read(&self, stamp: &FileStamp) -> bool {
        self.stamp.get().is_some_and(|read| read.same_content(stamp))
    }

    fn answer(self: &Arc<Task>, result: Result<Reply>) -> Answer {
        self.logged(self.call.answer(result, self.clone()))
    }

    /// The answer to a call whose time is up.
    pub(super) fn late(self: &Arc<Task>, late: Late) -> Answer {
        self.answer(Err(match late {
            Late::AtWork => Error::TimedOut,
            Late::LockedOut => self.call.locked(),
        }))
    }

    /// The answer to a call that does not run because there is no room for its answer.
    pub(super) fn no_room(&self) -> Answer {
        self.logged(self.call.no_room())
    }

    pub(super) fn panicked(&self) -> Answer {
        self.logged(self.call.panicked())
    }

    fn logged(&self, answer: Answer) -> Answer {
        match &answer.report {
            Some(report) => log::report(report, self.received.elapsed()),
            None => log::succeeded(&self.call, self.received.elapsed()),
        }
        answer
    }
}

impl StreamObserver for Task {
    fn content_changed(&self) {
        log::report(&self.call.changed_report(), self.received.elapsed());
    }
}
