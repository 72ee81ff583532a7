//! The control of one operation: its deadline, its cancellation, and the point after which it cannot be
//! cancelled.
//!
//! Blocking work cannot be interrupted. So the working and the waiting thread agree through one atomic state:
//! the first change wins. An edit that has begun to commit cannot be stopped; an edit that was stopped never
//! commits (contract 7, "nothing was changed"). Knows no clock except its deadlines, and no protocol.

use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use self::deadlines::Deadlines;
use crate::caller::Caller;
use crate::early::EarlyText;
use crate::progress::{Progress, ProgressCounter};
use crate::{Error, Result};

use text::Stopped;

mod deadlines;

const RUNNING: u8 = 0;
const LOCKED_OUT: u8 = 1;
const COMMITTING: u8 = 2;
const ANSWERED: u8 = 3;
const EXPIRED: u8 = 4;
const CANCELLED: u8 = 5;
const GIVEN_UP: u8 = 6;
const TAKEN_BACK: u8 = 7;

const MAY_WAIT: u8 = 0;
const MAY_NOT_WAIT: u8 = 1;
const BROKE_OFF_AT_LEASE: u8 = 2;
const BROKE_OFF_AT_WRITE: u8 = 3;

/// The phase in which an operation ran out of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Late {
    /// It ran, or was blocked in a system call.
    AtWork,
    /// It waited for a lock.
    LockedOut,
}

/// Shared between the thread that works and the threads that may stop the operation.
#[derive(Debug)]
pub struct Control {
    timeout: Duration,
    /// Set when the operation starts.
    deadlines: OnceLock<Deadlines>,
    state: AtomicU8,
    waiting: AtomicU8,
    late: AtomicBool,
    /// Shares of the time that work in progress leaves: see [`Control::leaving_time`].
    shares_left: AtomicU32,
    progress: ProgressCounter,
    early: EarlyText,
    caller: Option<Arc<Caller>>,
}

impl Control {
    /// An operation with a deadline `timeout` from now.
    pub fn new(timeout: Duration) -> Control {
        let control = Control::unstarted(timeout);
        control.start();
        control
    }

    /// An operation that may take `timeout` from its start. It can be cancelled before it starts.
    pub fn unstarted(timeout: Duration) -> Control {
        Control {
            timeout,
            deadlines: OnceLock::new(),
            state: AtomicU8::new(RUNNING),
            waiting: AtomicU8::new(MAY_WAIT),
            late: AtomicBool::new(false),
            shares_left: AtomicU32::new(0),
            progress: ProgressCounter::default(),
            early: EarlyText::default(),
            caller: None,
        }
    }

    /// The same operation, whose changes are recorded as those of `caller`. `None`: they are not recorded.
    pub fn called_by(self, caller: Option<Arc<Caller>>) -> Control {
        Control { caller, ..self }
    }

    /// As whose its changes are recorded.
    pub fn caller(&self) -> Option<&Caller> {
        self.caller.as_deref()
    }

    /// A control for further work whose result the operation can do without, such as a hint: it may take `longest`, and at most
    /// half of the time that the operation has left. Ten times `longest` in a build without optimisation, which is so much slower.
    pub fn briefly(&self, longest: Duration) -> Control {
        let longest = if cfg!(debug_assertions) { longest.saturating_mul(10) } else { longest };
        Control::new(longest.min(self.deadline().saturating_duration_since(Instant::now()) / 2))
    }

    /// Whether the operation ended because its deadline, or the deadline of one of its waits, passed.
    pub fn was_late(&self) -> bool {
        self.late.load(Ordering::Acquire)
    }

    fn set_late(&self) {
        self.late.store(true, Ordering::Release);
    }

    /// The error for an operation that did not lock the file `name` before [`Control::lock_deadline`].
    pub fn locked_out(&self, name: &str) -> Error {
        self.set_late();
        Error::Locked { name: name.into() }
    }

    /// The same operation, but it breaks off before any wait for another program's lease or write. The caller
    /// can then free resources that other requests need, allow waiting, and repeat the operation.
    pub fn without_waiting(self) -> Control {
        Control { waiting: AtomicU8::new(MAY_NOT_WAIT), ..self }
    }

    /// Returns whether the operation broke off, and before which kind of wait. If it did, its result is void.
    pub fn broke_off(&self) -> Option<Late> {
        match self.waiting.load(Ordering::Acquire) {
            BROKE_OFF_AT_LEASE => Some(Late::LockedOut),
            BROKE_OFF_AT_WRITE => Some(Late::AtWork),
            _ => None,
        }
    }

    /// Allows the operation to wait from now on.
    pub fn allow_waiting(&self) {
        self.waiting.store(MAY_WAIT, Ordering::Release);
    }

    /// Whether the operation may wait for another program's lease. If not, records that it breaks off.
    pub(crate) fn may_wait_for_lease(&self) -> bool {
        self.may_wait(BROKE_OFF_AT_LEASE)
    }

    /// Whether the operation may wait for another program's write. If not, records that it breaks off.
    pub fn may_wait_for_write(&self) -> bool {
        self.may_wait(BROKE_OFF_AT_WRITE)
    }

    fn may_wait(&self, broken_off: u8) -> bool {
        let broken_off = |waiting| (waiting != MAY_WAIT).then_some(broken_off);
        self.waiting.fetch_update(Ordering::AcqRel, Ordering::Acquire, broken_off).is_err()
    }

    /// The error for an operation that waited for another program's write until [`Control::wait_deadline`].
    pub(crate) fn waited_out(&self) -> Error {
        self.set_late();
        Error::TimedOut
    }

    /// Returns [`Error::TimedOut`] or [`Error::Cancelled`] if the operation must stop.
    pub fn check(&self) -> Result<()> {
        self.check_called_off()?;
        let running = matches!(self.state.load(Ordering::Acquire), RUNNING | LOCKED_OUT);
        let shares = if switches::is_off("search-time-for-the-answer") {
            0
        } else {
            self.shares_left.load(Ordering::Acquire)
        };
        let left = self.share() * shares;
        if !running || switches::is_off("control-deadline") || Instant::now() + left < self.deadlines().whole
        {
            return Ok(());
        }
        self.set_late();
        Err(Error::TimedOut)
    }

    /// Records that `done` of `total` is done, where `total` is known. Cheap enough for every file.
    /// Nothing is recorded once the operation has broken off: it is repeated, and what it passes until its end is not done.
    pub fn progress(&self, done: u64, total: Option<u64>) {
        if self.broke_off().is_none() {
            self.progress.set(done, total);
        }
    }

    /// Records that `done` of `total` bytes of a file are done, unless the operation counts something else.
    pub fn file_progress(&self, done: usize, total: usize) {
        let total = total as u64;
        if self.progress.get().total.is_none_or(|known| known == total) {
            self.progress.set(done as u64, Some(total));
        }
    }

    /// How far the operation is.
    pub fn progressed(&self) -> Progress {
        self.progress.get()
    }

    /// Where the beginning of the result can go before the operation ends.
    pub fn early(&self) -> &EarlyText {
        &self.early
    }

    /// Whether the operation has no answer yet and was not stopped.
    pub fn is_open(&self) -> bool {
        matches!(self.state.load(Ordering::Acquire), RUNNING | LOCKED_OUT | COMMITTING)
    }

    /// Whether the operation has begun to commit and has no answer yet.
    pub fn is_committing(&self) -> bool {
        self.state.load(Ordering::Acquire) == COMMITTING
    }

    /// Whether the caller cancelled the operation.
    pub fn is_cancelled(&self) -> bool {
        self.state.load(Ordering::Acquire) == CANCELLED
    }

    /// Like [`Control::check`], but without the deadline: for waits that end at it with their own error.
    pub fn check_called_off(&self) -> Result<()> {
        match self.state.load(Ordering::Acquire) {
            CANCELLED if !switches::is_off("control-called-off") => Err(Error::Cancelled),
            EXPIRED | GIVEN_UP | TAKEN_BACK => Err(Error::TimedOut),
            _ => Ok(()),
        }
    }

    /// Starts the commit, unless the operation was stopped. From now on the operation cannot be stopped.
    pub fn begin_commit(&self) -> Result<()> {
        self.check()?;
        match switches::is_off("control-commit") || self.step(RUNNING, COMMITTING) {
            true => Ok(()),
            false => self.check(),
        }
    }

    /// Takes the commit back: the change failed, and nothing is different.
    pub fn undo_commit(&self) {
        let _ = self.step(COMMITTING, RUNNING) || self.step(GIVEN_UP, TAKEN_BACK);
    }

    /// Runs `wait`, which waits for a lock or lease; meanwhile [`Control::expire`] returns
    /// [`Late::LockedOut`].
    pub fn wait_for_lock<T>(&self, wait: impl FnOnce() -> T) -> T {
        if !switches::is_off("control-locked-out") {
            self.step(RUNNING, LOCKED_OUT);
        }
        let waited = wait();
        self.step(LOCKED_OUT, RUNNING);
        waited
    }

    /// Takes the right to answer. Returns true for the first caller, unless the operation was stopped.
    pub fn answer(&self) -> bool {
        self.step(RUNNING, ANSWERED) || self.step(COMMITTING, ANSWERED) || switches::is_off("control-answer")
    }

    /// Stops the operation because its time is up. Returns its phase if it could still be stopped; then the
    /// caller must answer.
    pub fn expire(&self) -> Option<Late> {
        let from = self.call_off(EXPIRED)?;
        self.set_late();
        Some(if from == LOCKED_OUT { Late::LockedOut } else { Late::AtWork })
    }

    /// Takes the right to answer from an operation that commits: whether its change is made is not known. Returns false if
    /// it does not commit, or has been answered.
    pub fn give_up(&self) -> bool {
        let given_up = self.step(COMMITTING, GIVEN_UP);
        if given_up {
            self.set_late();
        }
        given_up
    }

    /// Whether [`Control::give_up`] returned true.
    pub fn is_given_up(&self) -> bool {
        matches!(self.state.load(Ordering::Acquire), GIVEN_UP | TAKEN_BACK)
    }

    /// Whether the commit that was given up was taken back then: nothing is different.
    pub fn is_taken_back(&self) -> bool {
        self.state.load(Ordering::Acquire) == TAKEN_BACK
    }

    /// Stops the operation at the client's request. Returns whether it could still be stopped.
    pub fn cancel(&self) -> bool {
        self.call_off(CANCELLED).is_some()
    }

    /// Sets the final state `to`. Returns the state before, or `None` if it is too late to stop.
    fn call_off(&self, to: u8) -> Option<u8> {
        let calls_off = |from| matches!(from, RUNNING | LOCKED_OUT).then_some(to);
        self.state.fetch_update(Ordering::AcqRel, Ordering::Acquire, calls_off).ok()
    }

    fn step(&self, from: u8, to: u8) -> bool {
        self.state.compare_exchange(from, to, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }
}

impl text::Stop for Control {
    fn check(&self) -> std::result::Result<(), Stopped> {
        Control::check(self).map_err(|error| match error {
            Error::Cancelled => Stopped::Cancelled,
            _ => Stopped::TimedOut,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_called_off_never_commits_and_what_commits_is_never_called_off() {
        let late = Control::new(Duration::from_secs(60));
        assert!(late.expire() == Some(Late::AtWork) && !late.cancel());
        assert!(matches!(late.begin_commit(), Err(Error::TimedOut)));
        assert!(!late.answer());
        let done = Control::new(Duration::from_secs(60));
        assert!(done.begin_commit().is_ok());
        assert!(done.expire().is_none() && !done.cancel());
        assert!(done.answer() && !done.answer());
    }

    #[test]
    fn a_commit_that_is_given_up_is_not_answered_and_begins_no_other() {
        let control = Control::new(Duration::from_secs(60));
        assert!(!control.give_up(), "it does not commit");
        assert!(control.begin_commit().is_ok() && control.give_up() && control.is_given_up());
        assert!(!control.give_up() && !control.answer() && control.was_late());
        assert!(!control.is_taken_back());
        control.undo_commit();
        assert!(control.is_given_up() && control.is_taken_back() && !control.answer());
        assert!(matches!(control.begin_commit(), Err(Error::TimedOut)));
        let answered = Control::new(Duration::from_secs(60));
        assert!(answered.begin_commit().is_ok() && answered.answer() && !answered.give_up());
    }

    #[test]
    fn what_an_operation_passes_after_it_broke_off_is_no_progress() {
        let control = Control::new(Duration::from_secs(60)).without_waiting();
        control.progress(2, Some(4));
        assert!(!control.may_wait_for_lease());
        control.progress(3, Some(4));
        assert_eq!(control.progressed().done, 2);
        control.allow_waiting();
        control.progress(3, Some(4));
        assert_eq!(control.progressed().done, 3);
    }

    #[test]
    fn a_commit_that_changed_nothing_can_be_taken_back() {
        let control = Control::new(Duration::from_secs(60));
        assert!(control.begin_commit().is_ok() && control.is_committing());
        control.undo_commit();
        assert!(!control.is_committing());
        assert!(control.begin_commit().is_ok() && control.is_committing(), "and be tried again");
        control.undo_commit();
        assert!(control.cancel());
    }

    #[test]
    fn what_waits_for_a_lock_when_its_time_is_up_was_locked_out() {
        let late = Control::new(Duration::from_secs(60));
        assert!(!late.was_late());
        assert_eq!(late.wait_for_lock(|| late.expire()), Some(Late::LockedOut));
        assert!(late.was_late());
        assert!(matches!(late.check(), Err(Error::TimedOut)), "and stays called off");
        let cancelled = Control::new(Duration::from_secs(60));
        assert!(cancelled.wait_for_lock(|| cancelled.cancel()));
        assert!(matches!(cancelled.check(), Err(Error::Cancelled)));
        let in_time = Control::new(Duration::from_secs(60));
        in_time.wait_for_lock(|| in_time.check().unwrap());
        assert!(in_time.begin_commit().is_ok());
    }

    #[test]
    fn a_passed_deadline_stops_the_work_by_itself() {
        let control = Control::new(Duration::ZERO);
        assert!(matches!(control.check(), Err(Error::TimedOut)) && control.was_late());
        assert!(matches!(control.begin_commit(), Err(Error::TimedOut)));
        let cancelled = Control::new(Duration::from_secs(60));
        assert!(cancelled.cancel());
        assert!(matches!(cancelled.check(), Err(Error::Cancelled)));
    }
}
