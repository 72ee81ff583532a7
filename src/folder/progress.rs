//! How far an operation is: a number that the working thread sets and another thread reads.
//!
//! The unit is the operation's own (files, bytes). Knows no clock and no client.

use std::sync::atomic::{AtomicU64, Ordering};

/// How far an operation is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Progress {
    /// What is done.
    pub done: u64,
    /// What there is to do, if it is known.
    pub total: Option<u64>,
}

/// The progress of one operation. Nobody waits for it, so the atomics can be relaxed.
#[derive(Debug, Default)]
pub(super) struct ProgressCounter {
    done: AtomicU64,
    /// 0: not known.
    total: AtomicU64,
}

impl ProgressCounter {
    pub(super) fn set(&self, done: u64, total: Option<u64>) {
        self.total.store(total.unwrap_or(0), Ordering::Relaxed);
        self.done.store(done, Ordering::Relaxed);
    }

    pub(super) fn get(&self) -> Progress {
        let total = self.total.load(Ordering::Relaxed);
        Progress { done: self.done.load(Ordering::Relaxed), total: (total > 0).then_some(total) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_set_last_is_read_and_a_total_may_be_unknown() {
        let counter = ProgressCounter::default();
        assert_eq!(counter.get(), Progress::default());
        counter.set(3, Some(7));
        assert_eq!(counter.get(), Progress { done: 3, total: Some(7) });
        counter.set(4, None);
        assert_eq!(counter.get(), Progress { done: 4, total: None });
    }
}
