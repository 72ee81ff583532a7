//! The deadlines of one operation: its own, those of its waits, and how long others wait for it.
//!
//! Knows nothing of phases: whether a deadline that passes still ends the operation.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::Control;

/// The longest time that work needs to notice a deadline that it checks itself.
const NOTICE: Duration = Duration::from_millis(250);

/// How long after its deadline a commit is waited for: it mostly ends at once, and then the answer says how.
const COMMIT_WAIT: Duration = Duration::from_millis(800);

/// The longest wait for a lock (contract 2, `--timeout`).
const LOCK_WAIT: Duration = Duration::from_secs(30);

/// The share of its time that an operation leaves for its answer, and the bounds of that.
const SHARES: u32 = 20;
const MIN_SHARE: Duration = Duration::from_millis(100);
const MAX_SHARE: Duration = Duration::from_secs(1);

/// The deadlines of an operation that has started.
#[derive(Debug, Clone, Copy)]
pub(super) struct Deadlines {
    /// For the whole operation.
    pub(super) whole: Instant,
    /// For waits for a lock.
    lock: Instant,
    /// For waits for another program's lease or write.
    wait: Instant,
}

impl Deadlines {
    fn from(now: Instant, timeout: Duration) -> Deadlines {
        let whole = now + timeout;
        let lock = if switches::is_off("control-lock-wait") { whole } else { now + timeout.min(LOCK_WAIT) };
        Deadlines { whole, lock, wait: whole }
    }
}

impl Control {
    /// Starts the operation's time, if it has not started.
    pub fn start(&self) {
        self.deadlines();
    }

    /// The same, but waits for other programs count from `arrived`: for an operation that waited behind another whose time
    /// was up. So requests for one locked file wait together no longer than one of them.
    pub fn start_with_waits_since(&self, arrived: Instant) {
        let now = Instant::now();
        let deadlines = Deadlines { whole: now + self.timeout, ..Deadlines::from(arrived, self.timeout) };
        self.deadlines.get_or_init(|| deadlines);
    }

    pub(super) fn deadlines(&self) -> Deadlines {
        *self.deadlines.get_or_init(|| Deadlines::from(Instant::now(), self.timeout))
    }

    /// The time when the thread that waits for the answer stops waiting. It is a little after the deadline,
    /// because work that notices the deadline itself can return a more precise error.
    pub fn overdue(&self) -> Instant {
        self.deadlines().whole + NOTICE
    }

    /// The time when the thread that waits for the answer stops waiting for a commit.
    pub fn commit_overdue(&self) -> Instant {
        self.deadlines().whole + COMMIT_WAIT
    }

    /// The deadline of the operation.
    pub fn deadline(&self) -> Instant {
        self.deadlines().whole
    }

    /// The deadline of waits for another program's lease or write.
    pub fn wait_deadline(&self) -> Instant {
        self.deadlines().wait
    }

    /// The deadline of waits for a lock.
    pub fn lock_deadline(&self) -> Instant {
        self.deadlines().lock
    }

    /// Runs `work` with a deadline that is earlier by so many shares of the time: they are left for an answer with what it
    /// found. A share is 1/20 of the time, at least 100 ms and at most 1 s, but never over a tenth. Calls within calls add up.
    pub fn leaving_time<T>(&self, shares: u32, work: impl FnOnce() -> T) -> T {
        self.shares_left.fetch_add(shares, Ordering::AcqRel);
        let done = work();
        self.shares_left.fetch_sub(shares, Ordering::AcqRel);
        done
    }

    /// Runs a part of such work that hands on what was found, with one of the shares that are left: there is something to hand
    /// on after the earlier deadline, too.
    pub fn taking_share<T>(&self, work: impl FnOnce() -> T) -> T {
        self.shares_left.fetch_sub(1, Ordering::AcqRel);
        let done = work();
        self.shares_left.fetch_add(1, Ordering::AcqRel);
        done
    }

    /// Whether the operation has noticed that its time is up, or does work that leaves time for an answer with a part.
    pub fn may_answer_in_part(&self) -> bool {
        self.was_late() || self.shares_left.load(Ordering::Acquire) > 0
    }

    pub(super) fn share(&self) -> Duration {
        (self.timeout / SHARES).clamp(MIN_SHARE, MAX_SHARE).min(self.timeout / 10)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Error;

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
    fn work_that_leaves_time_for_its_answer_ends_before_the_deadline() {
        let control = Control::new(Duration::from_secs(60));
        assert!(control.leaving_time(2, || control.check()).is_ok() && !control.may_answer_in_part());
        assert!(control.leaving_time(1, || control.may_answer_in_part()));
        let all = control.leaving_time(60, || control.leaving_time(61, || control.check()));
        assert!(matches!(all, Err(Error::TimedOut)) && control.was_late());
        assert!(control.check().is_ok(), "the answer still has time");
        let handed_on = control.leaving_time(60, || control.taking_share(|| control.check()));
        assert!(handed_on.is_ok() && control.leaving_time(60, || control.check()).is_err());
        for (timeout_ms, share_ms) in [(500, 50), (1_000, 100), (10_000, 500), (60_000, 1_000)] {
            let control = Control::new(Duration::from_millis(timeout_ms));
            assert_eq!(control.share(), Duration::from_millis(share_ms), "{timeout_ms}");
        }
    }
}
