//! Logs requests: a line for each failure, and a warning for each slow success. Also counts them.
//!
//! A line holds names, codes and times, never a file's text.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::protocol::{Category, Id, LoggedFailure, PendingCall, Report, Step};

/// A slower call causes a warning.
const SLOW: Duration = Duration::from_secs(1);

/// Calls and failures since the start of the process.
pub static METRICS: Metrics = Metrics::new();

/// The number of calls, and of failures by operation and category.
#[derive(Debug)]
pub struct Metrics {
    calls: AtomicU64,
    /// Failures are rare and also logged, so the lock costs less than the log line.
    failures: Mutex<BTreeMap<(&'static str, Category), u64>>,
}

impl Metrics {
    const fn new() -> Metrics {
        Metrics { calls: AtomicU64::new(0), failures: Mutex::new(BTreeMap::new()) }
    }

    /// Calls of operations, including those with wrong arguments.
    pub fn calls(&self) -> u64 {
        self.calls.load(Ordering::Relaxed)
    }

    /// The failures of each operation and category, without zeros.
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

/// Logs with the level of the category: errors of clients are warnings.
macro_rules! log_failure {
    ($failure:expr, $message:literal, $($fields:tt)*) => {{
        let LoggedFailure { id, code, category, message } = $failure;
        let category_name = category.as_str();
        match category {
            Category::Client => tracing::warn!(
                $($fields)* request_id = id, error_code = code, error_category = category_name,
                error_message = message, $message
            ),
            Category::Server | Category::System => tracing::error!(
                $($fields)* request_id = id, error_code = code, error_category = category_name,
                error_message = message, $message
            ),
        }
    }};
}

/// Logs and counts the report of an answer. `took` is the time since the request was received.
pub(super) fn report(report: &Report, took: Duration) {
    match report {
        Report::Failed { operation, target, failure } => {
            METRICS.failure(operation, failure.category);
            let filename = target.as_deref().unwrap_or("");
            log_failure!(failure, "failed", operation, filename, duration_ms = millis(took),);
        }
        Report::Refused { operation, failure } => {
            METRICS.failure(operation, failure.category);
            log_failure!(failure, "refused", operation,);
        }
        Report::Initialized { client: (client, version), asked, spoken } => {
            tracing::info!(client, version, asked, spoken, "initialize");
        }
    }
}

/// Logs and counts what a parsed request refuses or ignores.
pub(super) fn step(step: &Step, took: Duration) {
    match step {
        Step::Answer(answer) => {
            let Some(said) = &answer.report else { return };
            if matches!(**said, Report::Failed { .. }) {
                // A call with wrong arguments counts as a call.
                METRICS.call();
            }
            report(said, took);
        }
        Step::Batch(steps) => steps.iter().for_each(|one| self::step(one, took)),
        Step::Ignored(method) => tracing::debug!(method, "notification ignored"),
        Step::Silent | Step::Call(_) | Step::Cancel(_) => {}
    }
}

/// Logs a successful call if it was slow. Commands take the time that they need.
pub(super) fn succeeded(call: &PendingCall, took: Duration) {
    if took > SLOW && call.command_timeout().is_none() {
        tracing::warn!(
            operation = call.operation(),
            filename = call.target().unwrap_or(""),
            request_id = call.id().map_or("", Id::as_json),
            duration_ms = millis(took),
            "slow"
        );
    }
}

/// Milliseconds, with three decimals.
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
