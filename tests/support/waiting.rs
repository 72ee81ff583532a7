//! Waiting loops, each with an end.

use std::time::{Duration, Instant};

/// How long anything is waited for.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// Returns when `so` is true, which is polled: the system reports no event for it. After [`PATIENCE`] it panics with what
/// `problem` says then.
#[track_caller]
pub(crate) fn until_or<P: std::fmt::Display>(problem: impl Fn() -> P, so: impl FnMut() -> bool) {
    within(PATIENCE, problem, so);
}

/// The same after a shorter time, which what is waited for would take if it went on.
#[track_caller]
pub(crate) fn within<P: std::fmt::Display>(
    patience: Duration,
    problem: impl Fn() -> P,
    mut so: impl FnMut() -> bool,
) {
    let deadline = Instant::now() + patience;
    while !so() {
        assert!(Instant::now() < deadline, "not within {patience:?}: {}", problem());
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// The same, where `what` names the event.
#[track_caller]
pub(crate) fn until(what: &str, so: impl FnMut() -> bool) {
    until_or(|| what, so);
}

/// Compares the times that `once` measures with `bound`: three of at most nine must not be longer. A busy machine is late
/// often; a slow server is late each time. The first three run at once.
#[track_caller]
pub(crate) fn mostly_within(bound: Duration, once: impl Fn() -> Duration + Sync) {
    let mut took: Vec<Duration> = std::thread::scope(|scope| {
        let threads = [(); 3].map(|()| scope.spawn(&once));
        threads.map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))).into()
    });
    while took.iter().filter(|took| **took <= bound).count() < 3 {
        let late: Vec<&Duration> = took.iter().filter(|took| **took > bound).collect();
        assert!(late.len() < 7, "not within {bound:?}: {late:?}");
        took.push(once());
    }
}
