//! Counts waits for locks and queues, and adds up their times. Knows no lock.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// See the module.
#[derive(Debug, Default)]
pub struct WaitCounter {
    waits: AtomicU64,
    nanoseconds: AtomicU64,
}

/// The waits that have ended, and their time together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WaitCounts {
    /// Their number.
    pub waits: u64,
    /// Their time together.
    pub time: Duration,
}

/// A wait. It is counted when this is dropped.
#[derive(Debug)]
#[must_use = "the wait ends when it is dropped"]
pub struct CountedWait<'c> {
    counter: &'c WaitCounter,
    since: Instant,
}

impl WaitCounter {
    /// A counter that is at zero.
    pub const fn new() -> WaitCounter {
        WaitCounter { waits: AtomicU64::new(0), nanoseconds: AtomicU64::new(0) }
    }

    /// Begins a wait.
    pub fn begin(&self) -> CountedWait<'_> {
        CountedWait { counter: self, since: Instant::now() }
    }

    /// The waits so far.
    pub fn counts(&self) -> WaitCounts {
        let time = Duration::from_nanos(self.nanoseconds.load(Ordering::Relaxed));
        WaitCounts { waits: self.waits.load(Ordering::Relaxed), time }
    }
}

impl std::ops::Add for WaitCounts {
    type Output = WaitCounts;

    fn add(self, other: WaitCounts) -> WaitCounts {
        WaitCounts { waits: self.waits + other.waits, time: self.time + other.time }
    }
}

impl Drop for CountedWait<'_> {
    fn drop(&mut self) {
        let took = self.since.elapsed().as_nanos() as u64;
        self.counter.waits.fetch_add(1, Ordering::Relaxed);
        self.counter.nanoseconds.fetch_add(took, Ordering::Relaxed);
    }
}
