//! One call: runs it, turns a panic into an error, and logs its result.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use super::file_queues::Turn;
use super::kept_reply::KeptReply;
use super::metrics::METRICS;
use super::permits::ClientId;
use super::{caught, log};
use crate::protocol::{Answer, PendingCall, StreamObserver};
use crate::tools::{OutputKinds, Reply, which_folder};
use engine::{COMMAND_ENDING, Workspace};
use folder::fs::version::FileStamp;
use folder::{Control, Error, Late, Result};

/// See the module.
#[derive(Debug)]
pub struct Task {
    /// The call.
    pub call: PendingCall,
    /// Its deadline and cancellation.
    pub control: Control,
    received: Received,
    /// The state of the file that the call has read, if any.
    stamp: OnceLock<FileStamp>,
    /// The reply to be repeated, if the call has an idempotency key: its own, or that of an earlier call.
    kept: OnceLock<Arc<KeptReply>>,
    /// The turns that the call has.
    turns: Mutex<Vec<Turn>>,
}

/// When a request was received, and from whom.
#[derive(Debug, Clone, Copy)]
pub struct Received {
    /// When.
    pub at: Instant,
    /// From whom.
    pub client: ClientId,
}

impl From<Instant> for Received {
    /// From the only client.
    fn from(at: Instant) -> Received {
        Received { at, client: 0 }
    }
}

/// Ends the turns of a task when it is dropped.
#[derive(Debug)]
pub(super) struct HeldTurns<'t>(&'t Task);

impl Task {
    /// A call that may take `timeout` from its start; one that runs a command, the command's time and that of its end. `received` is when its request was received.
    pub fn new(call: PendingCall, timeout: Duration, received: impl Into<Received>) -> Arc<Task> {
        METRICS.call();
        let of_command = call.command_timeout().map(|timeout| timeout + COMMAND_ENDING);
        let control = Control::unstarted(of_command.unwrap_or(timeout)).called_by(call.caller());
        let control = if call.writes() { control } else { control.without_waiting() };
        let (stamp, kept, turns) = (OnceLock::new(), OnceLock::new(), Mutex::default());
        Arc::new(Task { call, control, received: received.into(), stamp, kept, turns })
    }

    /// Runs the call; `None` if it might have to wait.
    pub fn run_now(self: &Arc<Task>, workspace: &Workspace) -> Option<Answer> {
        if self.call.idempotency_key().is_some() || workspace.may_have_to_repair() {
            return None;
        }
        let run = || self.call.call().run_at_once(workspace, self.call.output_kinds());
        caught(|| run().map(|result| self.answer(result))).unwrap_or_else(|| Some(self.panicked()))
    }

    /// Runs the call; may wait for disks and locks. `None` if the call was cancelled or answered as late, or
    /// if it broke off because it may not wait for another program.
    pub fn run(self: &Arc<Task>, workspace: &Workspace) -> Option<Answer> {
        let control = &self.control;
        let answer = caught(|| {
            if let Some(kept) = self.kept.get() {
                return control.answer().then(|| self.repeat(kept));
            }
            match self.reply_when_reachable(workspace, control) {
                Err(Error::Cancelled) => None,
                _ if control.broke_off().is_some() => None,
                result => {
                    let committed = control.is_committing();
                    if control.answer() {
                        return Some(self.keep_and_answer(result, committed));
                    }
                    let reply = match switches::is_off("key-told-in-doubt") {
                        true => KeptReply::Panicked,
                        false => KeptReply::new(result),
                    };
                    self.settle(reply);
                    None
                }
            }
        });
        if answer.is_none() {
            self.settle(KeptReply::Panicked);
        }
        // After a panic: an answer, unless the call was answered as late or cancelled.
        answer.unwrap_or_else(|| {
            if !switches::is_off("repeated-panic") && control.is_committing() {
                let _ = self.kept.set(Arc::new(KeptReply::Panicked));
            }
            let is_open = control.answer() || control.check_called_off().is_ok();
            (!switches::is_off("panic") && is_open).then(|| self.panicked())
        })
    }

    /// Runs a read again, because its first answer could not be kept. If the file has changed since, the
    /// answer is an error. Does not wait for other programs.
    pub(super) fn run_again(self: &Arc<Task>, workspace: &Workspace, timeout: Duration) -> Answer {
        let control = Control::new(timeout).without_waiting();
        let answer = caught(|| {
            if let Some(kept) = self.kept.get() {
                // Its first answer was logged.
                return kept.answer(&self.call, self.clone());
            }
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

    /// Keeps turns until the call is answered, at the latest until the result is dropped.
    pub(super) fn hold(&self, turns: Vec<Turn>) -> HeldTurns<'_> {
        self.turns().extend(turns);
        HeldTurns(self)
    }

    /// Ends the turns of the call.
    pub(super) fn end_turns(&self) {
        // Not under the lock: the end of a turn wakes another call.
        let turns = std::mem::take(&mut *self.turns());
        turns.iter().for_each(|turn| turn.end(&self.control));
    }

    fn turns(&self) -> MutexGuard<'_, Vec<Turn>> {
        self.turns.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The reply. While the file system does not answer, tries again for a short time.
    fn reply_when_reachable(&self, workspace: &Workspace, control: &Control) -> Result<Reply> {
        // A call that was called off before its work begins does none.
        control.check_called_off()?;
        workspace.repair();
        let mut wait = workspace.mount_wait(self.received.at);
        loop {
            match self.reply(workspace, control) {
                Err(error) if wait.again(&error, control) => {}
                result => return result,
            }
        }
    }

    fn reply(&self, workspace: &Workspace, control: &Control) -> Result<Reply> {
        let wanted = match self.call.idempotency_key() {
            None => self.call.output_kinds(),
            // It may be repeated in another form.
            Some(_) => OutputKinds { text: true, data: true },
        };
        let reply = which_folder::run(self.call.call(), self.call.writes(), workspace, wanted, control)?;
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
        self.logged(match self.control.early().close() {
            0 => self.call.answer(result, self.clone()),
            sent => self.call.rest(result, sent),
        })
    }

    /// The answer, and keeps the reply if the call has an idempotency key.
    fn keep_and_answer(self: &Arc<Task>, result: Result<Reply>, committed: bool) -> Answer {
        if self.call.idempotency_key().is_none() || !KeptReply::keeps(&result, committed) {
            return self.answer(result);
        }
        self.repeat(self.kept.get_or_init(|| Arc::new(KeptReply::new(result))))
    }

    fn repeat(self: &Arc<Task>, kept: &KeptReply) -> Answer {
        self.logged(kept.answer(&self.call, self.clone()))
    }

    /// The reply to be repeated to later calls with the same idempotency key.
    pub(super) fn kept(&self) -> Option<Arc<KeptReply>> {
        self.kept.get().cloned()
    }

    /// Makes this the reply: the call does not run.
    pub(super) fn reply_with(&self, kept: Arc<KeptReply>) {
        // Keeps the first value.
        let _ = self.kept.set(kept);
    }

    /// The answer to a call whose time is up.
    pub(super) fn late(self: &Arc<Task>, late: Late) -> Answer {
        self.answer(Err(match late {
            Late::AtWork => self.call.timed_out(),
            Late::LockedOut => self.call.locked(),
        }))
    }

    /// Who sent it.
    pub(super) fn client(&self) -> ClientId {
        self.received.client
    }

    /// The answer to a search or analysis that gets no memory in time.
    pub(super) fn crowded_out(self: &Arc<Task>) -> Answer {
        self.answer(Err(Error::NoSearchMemory))
    }

    /// The answer to a call that gets no thread.
    pub(super) fn without_thread(self: &Arc<Task>) -> Answer {
        self.answer(Err(Error::NoThread))
    }

    /// The answer to a call whose time is up while it commits. A call with the same idempotency key gets the outcome as soon as
    /// it is known.
    pub(super) fn outcome_unknown(self: &Arc<Task>) -> Answer {
        self.unknown_outcome();
        self.answer(Err(Error::OutcomeUnknown))
    }

    /// Records the reply of a call that was answered with [`Error::OutcomeUnknown`].
    fn settle(&self, reply: KeptReply) {
        if self.control.is_given_up() {
            self.unknown_outcome().settle((!self.control.is_taken_back()).then_some(reply));
        }
    }

    fn unknown_outcome(&self) -> &KeptReply {
        self.kept.get_or_init(|| Arc::new(KeptReply::Unknown(OnceLock::new())))
    }

    /// The answer to a call that does not run because there is no room for its answer.
    pub(super) fn no_room(&self) -> Answer {
        self.logged(self.call.no_room())
    }

    pub(super) fn panicked(&self) -> Answer {
        self.logged(self.call.panicked(self.control.early().close()))
    }

    fn logged(&self, answer: Answer) -> Answer {
        log::answered(&self.call, answer.report.as_deref(), self.received.at.elapsed());
        answer
    }
}

impl Drop for HeldTurns<'_> {
    fn drop(&mut self) {
        self.0.end_turns();
    }
}

impl StreamObserver for Task {
    fn content_changed(&self) -> Vec<u8> {
        log::report(&self.call.changed_report(), self.received.at.elapsed());
        self.call.changed_end()
    }
}
