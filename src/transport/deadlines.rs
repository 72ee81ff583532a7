//! When what runs is late, and whether somebody is looking out for it.
//!
//! All that runs has the same time, so what starts later is late later: one look-out for all sleeps until the first may be
//! late, and nobody wakes it meanwhile. It stays for one such time when nothing runs any more, so that requests one after
//! the other need not call it each. Knows neither jobs nor a clock.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// See the module.
#[derive(Debug)]
pub(super) struct Deadlines<T> {
    /// What all that runs has at least.
    time: Duration,
    state: Mutex<State<T>>,
}

#[derive(Debug)]
struct State<T> {
    running: Vec<(Instant, Arc<T>)>,
    watched: bool,
    /// Something has started since the look-out last asked.
    started: bool,
}

impl<T> Deadlines<T> {
    /// For what has `time` at least, each.
    pub(super) fn new(time: Duration) -> Deadlines<T> {
        let state = State { running: Vec::new(), watched: false, started: false };
        Deadlines { time, state: Mutex::new(state) }
    }

    /// Something runs that is late at `overdue`. True if nobody looks out: then it is for the caller to send somebody.
    pub(super) fn start(&self, item: Arc<T>, overdue: Instant) -> bool {
        let mut state = self.lock();
        state.running.push((overdue, item));
        state.started = true;
        !std::mem::replace(&mut state.watched, true)
    }

    /// It runs no longer.
    pub(super) fn end(&self, item: &Arc<T>) {
        let mut state = self.lock();
        if let Some(place) = state.running.iter().position(|(_, known)| Arc::ptr_eq(known, item)) {
            state.running.remove(place);
        }
    }

    /// When the look-out, at `now`, should look again. Nothing if it may go: nothing runs, nor has for a while.
    pub(super) fn next(&self, now: Instant) -> Option<Instant> {
        let mut state = self.lock();
        let first = state.running.iter().map(|(overdue, _)| *overdue).min();
        let next = first.or(state.started.then_some(now + self.time));
        state.started = false;
        state.watched = next.is_some();
        next
    }

    /// What is late at `now`, each once.
    pub(super) fn late(&self, now: Instant) -> Vec<Arc<T>> {
        let late = |(overdue, _): &mut (Instant, Arc<T>)| *overdue <= now;
        self.lock().running.extract_if(.., late).map(|(_, item)| item).collect()
    }

    fn lock(&self) -> MutexGuard<'_, State<T>> {
        // Every critical section leaves the state whole at every step.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIME: Duration = Duration::from_secs(30);
    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn one_looks_out_for_all_and_sleeps_until_the_first_may_be_late() {
        let (deadlines, now) = (Deadlines::new(TIME), Instant::now());
        let items = [Arc::new(0), Arc::new(1), Arc::new(2)];
        let started: Vec<bool> = (0..3u32)
            .map(|nth| deadlines.start(items[nth as usize].clone(), now + TIME + nth * SECOND))
            .collect();
        assert_eq!(started, [true, false, false]);
        assert_eq!(deadlines.next(now), Some(now + TIME));
        deadlines.end(&items[0]);
        assert!(deadlines.late(now + TIME).is_empty());
        assert_eq!(deadlines.next(now + TIME), Some(now + TIME + SECOND));
        assert_eq!(deadlines.late(now + TIME + 5 * SECOND), items[1..]);
        assert!(deadlines.late(now + TIME + 5 * SECOND).is_empty(), "each once");
    }

    #[test]
    fn it_stays_for_a_while_and_whoever_starts_after_it_left_sends_another() {
        let (deadlines, now) = (Deadlines::new(TIME), Instant::now());
        let item = Arc::new(());
        assert!(deadlines.start(item.clone(), now + TIME));
        deadlines.end(&item);
        assert_eq!(deadlines.next(now), Some(now + TIME), "it may be wanted again");
        assert!(!deadlines.start(item.clone(), now + TIME + SECOND));
        deadlines.end(&item);
        assert_eq!(deadlines.next(now + TIME), Some(now + 2 * TIME));
        assert_eq!(deadlines.next(now + 2 * TIME), None);
        assert!(deadlines.start(item, now + 3 * TIME));
    }
}
