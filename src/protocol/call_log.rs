//! What an operator hears of requests (S0 5.4): a line for each failure, a warning for each slow one, and counts.
//!
//! A line carries names, codes and times, never a file's text.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::failure::Category;
use crate::tools;

/// An operation that takes longer is warned of.
const SLOW: Duration = Duration::from_secs(1);

/// The operation of what is refused before it is known to be one.
const NO_OPERATION: &str = "request";

/// What this process has done since its start.
pub static METRICS: Metrics = Metrics::new();

/// Calls of operations, and failures by operation and category.
#[derive(Debug)]
pub struct Metrics {
    calls: AtomicU64,
    /// Failures are rare and are logged, too: a lock costs less than the line.
    failures: Mutex<BTreeMap<(&'static str, Category), u64>>,
}

impl Metrics {
    const fn new() -> Metrics {
        Metrics { calls: AtomicU64::new(0), failures: Mutex::new(BTreeMap::new()) }
    }

    /// Operations that were asked for, well or not.
    pub fn calls(&self) -> u64 {
        self.calls.load(Ordering::Relaxed)
    }

    /// The failures of each operation in each category; those that never were are left out.
    pub fn failures(&self) -> Vec<(&'static str, Category, u64)> {
        let failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        failures.iter().map(|((operation, category), count)| (*operation, *category, *count)).collect()
    }

    pub(super) fn call(&self) {
        self.calls.fetch_add(1, Ordering::Relaxed);
    }

    fn failure(&self, operation: &'static str, category: Category) {
        let mut failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        *failures.entry((operation, category)).or_default() += 1;
    }
}

/// A call as the log names it.
#[derive(Debug, Clone, Copy)]
pub(super) struct CallInfo<'a> {
    /// The tool's name.
    pub(super) operation: &'static str,
    /// The file's name as sent, if one was.
    pub(super) file: Option<&'a str>,
    /// The request's id as JSON; empty in REST.
    pub(super) id: &'a str,
    /// From the receipt of the request until now.
    pub(super) took: Duration,
}

/// Logs with the level that the category deserves: a client's mistakes are warnings.
macro_rules! log_failure {
    ($category:expr, $($fields:tt)*) => {
        match $category {
            Category::Client => tracing::warn!($($fields)*),
            Category::Server | Category::System => tracing::error!($($fields)*),
        }
    };
}

impl CallInfo<'_> {
    /// The call failed.
    pub(super) fn failed(&self, code: i32, category: Category, message: &str) {
        METRICS.failure(self.operation, category);
        log_failure!(
            category,
            operation = self.operation,
            filename = self.file.unwrap_or(""),
            request_id = self.id,
            error_code = code,
            error_category = category.as_str(),
            error_message = message,
            duration_ms = millis(self.took),
            "failed"
        );
    }

    /// The call succeeded; that it did is worth a line only if it took long.
    pub(super) fn succeeded(&self) {
        if self.took > SLOW {
            tracing::warn!(
                operation = self.operation,
                filename = self.file.unwrap_or(""),
                request_id = self.id,
                duration_ms = millis(self.took),
                "slow"
            );
        }
    }
}

/// A request was refused before it became a call. `operation` is what it named, if anything.
pub(super) fn refused(operation: &str, id: &str, code: i32, message: &str) {
    let category = Category::of_code(code);
    let known = tools::find(operation).map_or(NO_OPERATION, |tool| tool.name);
    METRICS.failure(known, category);
    log_failure!(
        category,
        operation = known,
        request_id = id,
        error_code = code,
        error_category = category.as_str(),
        error_message = message,
        "refused"
    );
}

/// Milliseconds, to the microsecond.
fn millis(took: Duration) -> f64 {
    took.as_micros() as f64 / 1_000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_are_counted_by_operation_and_category() {
        let counts = Metrics::new();
        counts.call();
        counts.failure("read_file", Category::System);
        counts.failure("edit_file", Category::Client);
        counts.failure("edit_file", Category::Client);
        assert_eq!(counts.calls(), 1);
        let expected = [("edit_file", Category::Client, 2), ("read_file", Category::System, 1)];
        assert_eq!(counts.failures(), expected);
    }

    #[test]
    fn times_are_told_in_milliseconds() {
        assert_eq!(millis(Duration::from_micros(1_234_567)), 1_234.567);
    }
}
