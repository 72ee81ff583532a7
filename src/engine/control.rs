//! The fate of one operation: it runs until it commits, or until its time is up or its caller gives up.
//!
//! Blocking work cannot be interrupted, so the two sides agree by one atomic word: whoever moves it first wins. An edit
//! that has begun to commit can no longer be refused as late; one that was refused never commits (SPEC 7, "nothing was
//! changed"). Knows no clock but the deadline, and no protocol.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::time::{Duration, Instant};

use crate::engine::{Error, Result};

const RUNNING: u8 = 0;
const LOCKED_OUT: u8 = 1;
const COMMITTING: u8 = 2;
const ANSWERED: u8 = 3;
const EXPIRED: u8 = 4;
const CANCELLED: u8 = 5;

const MAY_WAIT: u8 = 0;
const MAY_NOT_WAIT: u8 = 1;
const BROKE_OFF_AT_LEASE: u8 = 2;
const BROKE_OFF_AT_WRITE: u8 = 3;

/// What work that watches its deadline needs at most to notice it.
const NOTICE: Duration = Duration::from_millis(250);

/// No wait for a lock is longer (SPEC 2, `--timeout`).
const LOCK_WAIT: Duration = Duration::from_secs(30);

/// What an operation was at when its time was up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Late {
    /// It worked, or hung in the system.
    AtWork,
    /// It waited for a lock.
    LockedOut,
}

/// Shared between the thread that works and whoever may call it off.
#[derive(Debug)]
pub struct Control {
    timeout: Duration,
    /// Set when the operation starts.
    deadlines: OnceLock<Deadlines>,
    state: AtomicU8,
    waiting: AtomicU8,
    late: AtomicBool,
}

#[derive(Debug, Clone, Copy)]
struct Deadlines {
    /// For the whole operation.
    whole: Instant,
    /// For waits for a lock.
    lock: Instant,
    /// For waits for another program's lease or write.
    wait: Instant,
}

impl Deadlines {
    fn from(now: Instant, timeout: Duration) -> Deadlines {
        let whole = now + timeout;
        Deadlines { whole, lock: now + timeout.min(LOCK_WAIT), wait: whole }
    }
}

impl Control {
    /// An operation that starts now and may take `timeout`.
    pub fn new(timeout: Duration) -> Control {
        let control = Control::unstarted(timeout);
        control.start();
        control
    }

    /// An operation that may take `timeout` from its start. It can be cancelled before it starts.
    pub fn unstarted(timeout: Duration) -> Control {
        let (state, waiting) = (AtomicU8::new(RUNNING), AtomicU8::new(MAY_WAIT));
        Control { timeout, deadlines: OnceLock::new(), state, waiting, late: AtomicBool::new(false) }
    }

    /// Starts the operation's time, if it has not started.
    pub fn start(&self) {
        self.deadlines();
    }

    /// The same, but waits for other programs count from `arrived`: for an operation that waited behind another whose time
    /// was up. So requests for one locked file wait together no longer than one of them.
    pub fn start_with_waits_since(&self, arrived: Instant) {
        let now = Instant::now();
        let Deadlines { whole, lock, wait } = Deadlines::from(now, self.timeout);
        let earlier = |deadline: Instant| deadline.checked_sub(now - arrived).unwrap_or(now);
        let deadlines = Deadlines { whole, lock: earlier(lock), wait: earlier(wait) };
        self.deadlines.get_or_init(|| deadlines);
    }

    fn deadlines(&self) -> Deadlines {
        *self.deadlines.get_or_init(|| Deadlines::from(Instant::now(), self.timeout))
    }

    /// Whether the operation ended because its time, or that for a lock, was up.
    pub fn was_late(&self) -> bool {
        self.late.load(Ordering::Acquire)
    }

    fn set_late(&self) {
        self.late.store(true, Ordering::Release);
    }

    /// The error for whoever did not get the lock of the file `name` until [`Control::lock_deadline`].
    pub(crate) fn locked_out(&self, name: &str) -> Error {
        self.set_late();
        Error::Locked { name: name.into() }
    }

    /// The same operation, but it breaks off where it may have to wait for another program's lease or write: for a caller that wants to give up
    /// first what others need meanwhile.
    pub fn without_waiting(self) -> Control {
        Control { waiting: AtomicU8::new(MAY_NOT_WAIT), ..self }
    }

    /// Whether the operation broke off, and before which wait; then nothing that it returned counts.
    pub fn broke_off(&self) -> Option<Late> {
        match self.waiting.load(Ordering::Acquire) {
            BROKE_OFF_AT_LEASE => Some(Late::LockedOut),
            BROKE_OFF_AT_WRITE => Some(Late::AtWork),
            _ => None,
        }
    }

    /// From now on the operation waits.
    pub fn allow_waiting(&self) {
        self.waiting.store(MAY_WAIT, Ordering::Release);
    }

    /// Whether the operation may wait for another program's lease; if not, it breaks off.
    pub(crate) fn may_wait_for_lease(&self) -> bool {
        self.may_wait(BROKE_OFF_AT_LEASE)
    }

    /// Whether the operation may wait for another program's write; if not, it breaks off.
    pub(crate) fn may_wait_for_write(&self) -> bool {
        self.may_wait(BROKE_OFF_AT_WRITE)
    }

    fn may_wait(&self, broken_off: u8) -> bool {
        let broken_off = |waiting| (waiting != MAY_WAIT).then_some(broken_off);
        self.waiting.fetch_update(Ordering::AcqRel, Ordering::Acquire, broken_off).is_err()
    }

    /// When whoever waits for the answer should stop waiting: a little after the deadline, so that work which notices
    /// the deadline itself can say more than that time is up.
    pub fn overdue(&self) -> Instant {
        self.deadlines().whole + NOTICE
    }

    /// When the time is up.
    pub fn deadline(&self) -> Instant {
        self.deadlines().whole
    }

    /// When a wait for another program's lease or write is over.
    pub(crate) fn wait_deadline(&self) -> Instant {
        self.deadlines().wait
    }

    /// The error for whoever waited for another program's write until [`Control::wait_deadline`].
    pub(crate) fn waited_out(&self) -> Error {
        self.set_late();
        Error::TimedOut
    }

    /// When a wait for a lock is over.
    pub fn lock_deadline(&self) -> Instant {
        self.deadlines().lock
    }

    /// Whether the operation should go on: [`Error::TimedOut`] or [`Error::Cancelled`] if not.
    pub fn check(&self) -> Result<()> {
        self.check_called_off()?;
        let running = matches!(self.state.load(Ordering::Acquire), RUNNING | LOCKED_OUT);
        if !running || Instant::now() < self.deadlines().whole {
            return Ok(());
        }
        self.set_late();
        Err(Error::TimedOut)
    }

    /// Whether the caller cancelled the operation.
    pub fn is_cancelled(&self) -> bool {
        self.state.load(Ordering::Acquire) == CANCELLED
    }

    /// As [`Control::check`], but for waits that end by themselves at the deadline and know what to say then.
    pub(crate) fn check_called_off(&self) -> Result<()> {
        match self.state.load(Ordering::Acquire) {
            CANCELLED => Err(Error::Cancelled),
            EXPIRED => Err(Error::TimedOut),
            _ => Ok(()),
        }
    }

    /// Past this point the operation can no longer be called off: it changes the disk.
    pub fn begin_commit(&self) -> Result<()> {
        self.check()?;
        match self.step(RUNNING, COMMITTING) {
            true => Ok(()),
            false => self.check(),
        }
    }

    /// Runs `wait`, which waits for a lock: what comes too late meanwhile is told so.
    pub(crate) fn wait_for_lock<T>(&self, wait: impl FnOnce() -> T) -> T {
        self.step(RUNNING, LOCKED_OUT);
        let waited = wait();
        self.step(LOCKED_OUT, RUNNING);
        waited
    }

    /// Takes the right to answer: true for the first who asks, false if the operation was answered or called off.
    pub fn answer(&self) -> bool {
        self.step(RUNNING, ANSWERED) || self.step(COMMITTING, ANSWERED)
    }

    /// Calls the operation off because its time is up: what it was at, if that was still possible; then the caller
    /// answers.
    pub fn expire(&self) -> Option<Late> {
        let from = self.call_off(EXPIRED)?;
        self.set_late();
        Some(if from == LOCKED_OUT { Late::LockedOut } else { Late::AtWork })
    }

    /// Calls the operation off at the caller's wish: true if that was still possible.
    pub fn cancel(&self) -> bool {
        self.call_off(CANCELLED).is_some()
    }

    /// From which state, if it could still be called off.
    fn call_off(&self, to: u8) -> Option<u8> {
        let calls_off = |from| matches!(from, RUNNING | LOCKED_OUT).then_some(to);
        self.state.fetch_update(Ordering::AcqRel, Ordering::Acquire, calls_off).ok()
    }

    fn step(&self, from: u8, to: u8) -> bool {
        self.state.compare_exchange(from, to, Ordering::AcqRel, Ordering::Acquire).is_ok()
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
    fn a_wait_for_a_lock_is_never_over_30_s_and_never_over_the_timeout() {
        for (timeout, wait) in [(1, 1), (30, 30), (31, 30), (300, 30)] {
            let control = Control::new(Duration::from_secs(timeout));
            let over = control.deadline() - control.lock_deadline();
            assert_eq!(over.as_secs(), timeout - wait, "{timeout}");
        }
    }

    #[test]
    fn who_waited_behind_one_that_was_late_has_its_time_for_work_but_not_for_waits() {
        let arrived = Instant::now().checked_sub(Duration::from_secs(20)).unwrap();
        let control = Control::unstarted(Duration::from_secs(15));
        control.start_with_waits_since(arrived);
        assert!(control.check().is_ok() && !control.was_late());
        let now = Instant::now();
        assert!(control.lock_deadline() < now && control.wait_deadline() < now && now < control.deadline());
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
