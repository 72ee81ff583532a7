//! Counts of calls and failures since the start of the process. Atomics, so that a small read pays a few nanoseconds.
//!
//! Knows operations by their names only, and no format.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use crate::protocol::{Category, LoggedFailure};
use folder::WaitCounter;

/// The counts of this process.
pub static METRICS: Metrics = Metrics::new();

/// Upper bounds of the buckets of a histogram, in microseconds. One more bucket is for all that took longer.
pub const BOUNDS: [u64; 14] = [
    25,
    100,
    250,
    1_000,
    2_500,
    10_000,
    25_000,
    100_000,
    250_000,
    1_000_000,
    2_500_000,
    10_000_000,
    30_000_000,
    100_000_000,
];

/// Places for operations: more than there are, so that a look-up is short. A power of two.
const PLACES: usize = 128;

/// See the module.
#[derive(Debug)]
pub struct Metrics {
    calls: AtomicU64,
    /// A hash table that only grows, so that it needs no lock. In boxes: the empty table lies in the program's file.
    operations: [OnceLock<Box<Operation>>; PLACES],
    /// Failures are rare and also logged, so the lock costs less than the log line.
    failures: Mutex<Vec<(FailureKey, u64)>>,
    /// Waits of changes for the turn at their file.
    pub queue: WaitCounter,
}

/// Which failures are counted together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct FailureKey {
    /// The tool's name, or `request`.
    pub operation: &'static str,
    /// Whether the client, the server or the system caused it.
    pub category: Category,
    /// What failed.
    pub kind: &'static str,
}

/// The answered calls of one operation.
#[derive(Debug)]
pub struct Operation {
    /// The tool's name.
    pub name: &'static str,
    failed: AtomicU64,
    durations: Histogram,
}

/// Numbers of durations between [`BOUNDS`].
#[derive(Debug)]
struct Histogram {
    buckets: [AtomicU64; BOUNDS.len() + 1],
    microseconds: AtomicU64,
}

/// The counts of one operation at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OperationCounts {
    /// Calls that were answered with a failure.
    pub failed: u64,
    /// Answered calls for each bucket, without those of the buckets before it.
    pub buckets: [u64; BOUNDS.len() + 1],
    /// From the requests to their answers, all together.
    pub time: Duration,
}

impl Metrics {
    pub(super) const fn new() -> Metrics {
        Metrics {
            calls: AtomicU64::new(0),
            operations: [const { OnceLock::new() }; PLACES],
            failures: Mutex::new(Vec::new()),
            queue: WaitCounter::new(),
        }
    }

    /// Calls of operations, including those with wrong arguments.
    pub fn calls(&self) -> u64 {
        self.calls.load(Ordering::Relaxed)
    }

    /// The failures, without zeros, in the order of their keys.
    pub fn failures(&self) -> Vec<(FailureKey, u64)> {
        let failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        let mut failures = failures.clone();
        text::order::sort_by_key(&mut failures, |(key, _)| *key);
        failures
    }

    /// The operations that were called, in no order.
    pub fn operations(&self) -> impl Iterator<Item = &Operation> {
        self.operations.iter().filter_map(|place| place.get().map(Box::as_ref))
    }

    pub(super) fn call(&self) {
        self.calls.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a call that was answered.
    pub(super) fn answered(&self, operation: &'static str, took: Duration, failed: bool) {
        let Some(operation) = self.operation(operation) else { return };
        operation.durations.add(took);
        if failed {
            operation.failed.fetch_add(1, Ordering::Relaxed);
        }
    }

    pub(super) fn failure(&self, operation: &'static str, failure: &LoggedFailure) {
        let key = FailureKey { operation, category: failure.category, kind: failure.kind };
        let mut failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        match failures.iter_mut().find(|(known, _)| *known == key) {
            Some((_, count)) => *count += 1,
            None => failures.push((key, 1)),
        }
    }

    /// The counts of this operation. `None` if there are too many operations.
    fn operation(&self, name: &'static str) -> Option<&Operation> {
        // Lengths, first and last letters differ: most operations are found at their first place.
        let letter = |at: Option<&u8>| usize::from(at.copied().unwrap_or_default());
        let (first, last) = (letter(name.as_bytes().first()), letter(name.as_bytes().last()));
        let start = name.len() * 5 + first * 3 + last;
        (start..start + PLACES)
            .map(|place| &**self.operations[place % PLACES].get_or_init(|| Box::new(Operation::new(name))))
            .find(|operation| operation.name == name)
    }
}

impl Operation {
    fn new(name: &'static str) -> Operation {
        let durations = Histogram { buckets: Default::default(), microseconds: AtomicU64::new(0) };
        Operation { name, failed: AtomicU64::new(0), durations }
    }

    /// Its counts so far.
    pub fn counts(&self) -> OperationCounts {
        // Failed first: so there are never more failures than calls.
        let failed = self.failed.load(Ordering::Relaxed);
        OperationCounts {
            failed,
            buckets: self.durations.buckets.each_ref().map(|count| count.load(Ordering::Relaxed)),
            time: Duration::from_micros(self.durations.microseconds.load(Ordering::Relaxed)),
        }
    }
}

impl OperationCounts {
    /// All answered calls.
    pub fn answered(&self) -> u64 {
        self.buckets.iter().sum()
    }
}

impl Histogram {
    fn add(&self, took: Duration) {
        let took = took.as_micros() as u64;
        let bucket = BOUNDS.iter().position(|bound| took <= *bound).unwrap_or(BOUNDS.len());
        self.buckets[bucket].fetch_add(1, Ordering::Relaxed);
        self.microseconds.fetch_add(took, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure(category: Category, kind: &'static str) -> LoggedFailure {
        LoggedFailure { id: String::new(), code: 0, category, kind, message: String::new() }
    }

    #[test]
    fn failures_are_counted_by_operation_category_and_kind() {
        let counts = Metrics::new();
        counts.call();
        counts.failure("read_file", &failure(Category::System, "io"));
        counts.failure("edit_file", &failure(Category::Client, "exists"));
        counts.failure("edit_file", &failure(Category::Client, "exists"));
        assert_eq!(counts.calls(), 1);
        let key = |operation, category, kind| FailureKey { operation, category, kind };
        let expected = [
            (key("edit_file", Category::Client, "exists"), 2),
            (key("read_file", Category::System, "io"), 1),
        ];
        assert_eq!(counts.failures(), expected);
    }

    #[test]
    fn a_duration_is_in_the_first_bucket_whose_bound_it_does_not_pass() {
        let counts = Metrics::new();
        for micros in [0, 25, 26, 1_000_000, 100_000_001] {
            counts.answered("read_file", Duration::from_micros(micros), micros == 26);
        }
        let of_reads = counts.operations().next().map(Operation::counts).unwrap();
        let filled = of_reads.buckets.iter().enumerate().filter(|(_, count)| **count > 0);
        assert_eq!(
            filled.map(|(at, count)| (at, *count)).collect::<Vec<_>>(),
            [(0, 2), (1, 1), (9, 1), (14, 1)]
        );
        assert_eq!((of_reads.answered(), of_reads.failed), (5, 1));
        assert_eq!(of_reads.time, Duration::from_micros(101_000_052));
    }

    #[test]
    fn operations_of_one_hash_are_told_apart_and_too_many_are_left_out() {
        let counts = Metrics::new();
        // All of one length, with the same first and last letters.
        let names: Vec<&'static str> =
            (0..PLACES + 5).map(|number| &*format!("a{number:03}z").leak()).collect();
        for _ in 0..2 {
            names.iter().for_each(|name| counts.answered(name, Duration::ZERO, false));
        }
        let answered: Vec<_> = counts.operations().map(|one| (one.name, one.counts().answered())).collect();
        assert_eq!(answered.len(), PLACES);
        assert!(answered.iter().all(|(_, answered)| *answered == 2));
    }
}
