//! Logs requests: a line for each failure, and a warning for each slow success. Also counts them.
//!
//! A line holds names, codes and times, never a file's text.

use std::time::Duration;

use super::metrics::METRICS;
use crate::protocol::{Category, Id, LoggedFailure, PendingCall, Report, Step};

/// A slower call causes a warning.
const SLOW: Duration = Duration::from_secs(1);

/// Logs with the level of the category: errors of clients are warnings.
macro_rules! log_failure {
    ($failure:expr, $message:literal, $($fields:tt)*) => {{
        let LoggedFailure { id, code, category, message, .. } = $failure;
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

/// Counts the report of an answer.
pub(super) fn count(report: &Report) {
    match report {
        Report::Failed { operation, failure, .. } | Report::Refused { operation, failure } => {
            METRICS.failure(operation, failure);
        }
        Report::Initialized { .. } => {}
    }
}

/// Logs how many refusals were counted only.
pub(super) fn left_out(status: u16, count: u64) {
    tracing::warn!(status, count, "more requests were refused in the last second");
}

/// Logs and counts the report of an answer. `took` is the time since the request was received.
pub(super) fn report(report: &Report, took: Duration) {
    count(report);
    match report {
        Report::Failed { operation, target, failure } => {
            let filename = target.as_deref().unwrap_or("");
            log_failure!(failure, "failed", operation, filename, duration_ms = millis(took),);
        }
        Report::Refused { operation, failure } => {
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
            if let Report::Failed { operation, .. } = **said {
                // A call with wrong arguments counts as a call.
                METRICS.call();
                METRICS.answered(operation, took, true);
            }
            report(said, took);
        }
        Step::Batch(steps) => steps.iter().for_each(|one| self::step(one, took)),
        Step::Ignored(method) => tracing::debug!(method, "notification ignored"),
        Step::Silent | Step::Call(_) | Step::Cancel(_) => {}
    }
}

/// Counts the answer to a call. Logs a failure; a success only if it was slow.
pub(super) fn answered(call: &PendingCall, report: Option<&Report>, took: Duration) {
    METRICS.answered(call.operation(), took, matches!(report, Some(Report::Failed { .. })));
    match report {
        Some(report) => self::report(report, took),
        None => succeeded(call, took),
    }
}

/// Logs a successful call if it was slow. Commands take the time that they need.
fn succeeded(call: &PendingCall, took: Duration) {
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
    fn times_are_told_in_milliseconds() {
        assert_eq!(millis(Duration::from_micros(1_234_567)), 1_234.567);
    }
}
