//! The log lines of refused requests: some of each kind in a second, then one with a count. So strangers cannot fill the log.
//!
//! Knows no log: tells what is to be written.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The time in which lines are counted.
pub(super) const PERIOD: Duration = Duration::from_secs(1);

/// Lines of one kind in a period.
const LINES: u64 = 10;

/// See the module. A kind is the HTTP status.
#[derive(Debug, Default)]
pub(super) struct Refusals(Mutex<Vec<(u16, Period)>>);

#[derive(Debug)]
struct Period {
    began: Instant,
    count: u64,
}

/// What is to be done for a refusal.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// Write it.
    Write,
    /// Do not write it, but call [`Refusals::left_out`] after [`PERIOD`].
    Begin,
    /// Do not write it.
    LeaveOut,
}

impl Refusals {
    /// Counts a refusal of this kind.
    pub(super) fn count(&self, kind: u16, now: Instant) -> Line {
        let mut periods = self.lock();
        let known = periods.iter().position(|(known, _)| *known == kind);
        let at = known.unwrap_or(periods.len());
        if known.is_none() {
            periods.push((kind, Period { began: now, count: 0 }));
        }
        let period = &mut periods[at].1;
        if period.count <= LINES && now.duration_since(period.began) >= PERIOD {
            *period = Period { began: now, count: 0 };
        }
        period.count += 1;
        match period.count {
            _ if switches::is_off("refusal-lines") => Line::Write,
            ..=LINES => Line::Write,
            count if count == LINES + 1 => Line::Begin,
            _ => Line::LeaveOut,
        }
    }

    /// Ends the period of this kind. Returns how many refusals were not written.
    pub(super) fn left_out(&self, kind: u16) -> u64 {
        let mut periods = self.lock();
        let ended = periods.iter().position(|(known, _)| *known == kind).map(|at| periods.swap_remove(at).1);
        ended.map_or(0, |period| period.count.saturating_sub(LINES))
    }

    fn lock(&self) -> MutexGuard<'_, Vec<(u16, Period)>> {
        // The list is valid after every critical section.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn some_lines_of_each_kind_are_written_and_the_rest_is_counted() {
        let (refusals, start) = (Refusals::default(), Instant::now());
        let told: Vec<Line> = (0..15).map(|_| refusals.count(401, start)).collect();
        assert!(told[..10].iter().all(|line| *line == Line::Write));
        assert_eq!(told[10], Line::Begin);
        assert!(told[11..].iter().all(|line| *line == Line::LeaveOut));
        assert_eq!(refusals.count(404, start), Line::Write, "another kind");
        assert_eq!(refusals.left_out(401), 5);
        assert_eq!((refusals.count(401, start), refusals.left_out(403)), (Line::Write, 0));
    }

    #[test]
    fn a_few_in_each_second_are_all_written() {
        let (refusals, start) = (Refusals::default(), Instant::now());
        for second in 0..5 {
            for _ in 0..10 {
                assert_eq!(refusals.count(401, start + PERIOD * second), Line::Write);
            }
        }
    }
}
