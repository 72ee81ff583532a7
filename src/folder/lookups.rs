//! Looks at files, several at a time where each look waits: on a file system that asks another machine.
//!
//! Whether looks wait is measured, not guessed from the kind of file system: a look at a local disk takes a few
//! microseconds, and there threads would cost more than they save. Knows nothing of what a look does.

use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use sys::process::helpers;
use sys::time::thread_cpu_time;

/// How many entries are collected at most to be looked at together.
pub const TOGETHER: usize = 256;

/// How many looks of one call wait at the same time, at most.
const AT_ONCE: usize = 32;

/// Threads for the looks of all calls together, beside the threads of the calls themselves.
const ALL_THREADS: usize = 64;

/// A look that waits longer than this is slow.
const SLOW: Duration = Duration::from_micros(100);

/// One of so many looks is measured, because a measurement takes as long as a look at a local disk.
const MEASURED: u32 = 8;

/// The first looks are all measured.
const FIRST: u32 = 4;

/// Of the last four measured looks, so many must have been slow: one may have waited for a processor only.
const ENOUGH: u32 = 3;

/// How many looks of one call wait at the same time.
pub fn looks_at_once() -> usize {
    helpers(AT_ONCE)
}

/// Threads that look for a call now.
static THREADS: AtomicUsize = AtomicUsize::new(0);

/// What is known of the looks of one call.
#[derive(Debug, Default)]
pub struct Lookups {
    count: Cell<u32>,
    /// A bit for each of the last four measured looks: whether it was slow.
    slow: Cell<u8>,
}

impl Lookups {
    /// Whether looks wait, so that several at a time are worth their threads.
    pub fn are_slow(&self) -> bool {
        (self.slow.get() & 0b1111).count_ones() >= ENOUGH
    }

    /// Whether enough looks were measured to know.
    pub fn are_known(&self) -> bool {
        self.count.get() >= FIRST
    }

    /// Looks at one file on the calling thread.
    pub fn one<T>(&self, look: impl FnOnce() -> T) -> T {
        let count = self.count.get();
        self.count.set(count.wrapping_add(1));
        if count >= FIRST && !count.is_multiple_of(MEASURED) {
            return look();
        }
        let (found, waited) = measured(look);
        self.slow.set(self.slow.get() << 1 | u8::from(waited > SLOW));
        found
    }

    /// Looks at the files 0 to `count`, several at a time. Returns what was found in this order.
    pub fn many<T: Send>(&self, count: usize, look: impl Fn(usize) -> T + Sync) -> Vec<T> {
        let (next, slow) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let found = Mutex::new(Vec::with_capacity(count));
        let work = || {
            loop {
                let at = next.fetch_add(1, Ordering::Relaxed);
                if at >= count {
                    return;
                }
                let (one, waited) = measured(|| look(at));
                slow.fetch_add(usize::from(waited > SLOW), Ordering::Relaxed);
                found.lock().unwrap_or_else(PoisonError::into_inner).push((at, one));
            }
        };
        thread::scope(|scope| {
            let threads = Threads::take(count.min(looks_at_once()).saturating_sub(1));
            for _ in 0..threads.0 {
                // Without a further thread, those that run do all.
                if thread::Builder::new().name("look".into()).spawn_scoped(scope, work).is_err() {
                    break;
                }
            }
            work();
        });
        self.slow.set(if slow.into_inner() * 2 >= count { 0b1111 } else { 0 });
        // A sort would be compiled for each kind of look.
        let mut in_order: Vec<Option<T>> = (0..count).map(|_| None).collect();
        for (at, one) in found.into_inner().unwrap_or_else(PoisonError::into_inner) {
            in_order[at] = Some(one);
        }
        in_order.into_iter().flatten().collect()
    }
}

/// How long `work` waited: for a disk, another machine, or a processor.
fn measured<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let (start, used) = (Instant::now(), thread_cpu_time());
    let done = work();
    let elapsed = start.elapsed();
    // The time of the processor takes a system call, which only a look that took long is worth.
    let waited =
        if elapsed > SLOW { elapsed.saturating_sub(thread_cpu_time() - used) } else { Duration::ZERO };
    (done, waited)
}

/// A number of [`THREADS`], given back on drop.
struct Threads(usize);

impl Threads {
    fn take(wanted: usize) -> Threads {
        let mut taken = 0;
        let _ = THREADS.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |now| {
            taken = wanted.min(helpers(ALL_THREADS).saturating_sub(now));
            Some(now + taken)
        });
        Threads(taken)
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        THREADS.fetch_sub(self.0, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;

    use super::*;

    /// Waits as a look does that asks another machine.
    fn slow_look() {
        thread::sleep(SLOW * 2);
    }

    #[test]
    fn looks_that_wait_are_slow_and_those_that_compute_are_not() {
        let lookups = Lookups::default();
        (0..4).for_each(|_| lookups.one(slow_look));
        assert!(lookups.are_slow());
        let lookups = Lookups::default();
        let compute = || {
            let used = thread_cpu_time();
            while thread_cpu_time() - used < SLOW * 2 {
                std::hint::spin_loop();
            }
        };
        (0..4).for_each(|_| lookups.one(compute));
        // The machine may be busy: then a look waits for a processor, but hardly each of them does.
        let slow = lookups.slow.get().count_ones();
        assert!(slow < 4, "{slow}");
    }

    #[test]
    fn one_slow_look_is_none() {
        let lookups = Lookups::default();
        lookups.one(slow_look);
        assert!(!lookups.are_slow());
    }

    #[test]
    fn many_looks_happen_at_once_and_come_back_in_order() {
        let lookups = Lookups::default();
        // Each of the first looks waits for the others: they all run at the same time.
        let all = Barrier::new(AT_ONCE);
        let found = lookups.many(100, |at| {
            if at < AT_ONCE {
                all.wait();
            }
            at * 2
        });
        assert_eq!(found, (0..100).map(|at| at * 2).collect::<Vec<_>>());
        assert!(lookups.many(0, |at| at).is_empty());
    }

    #[test]
    fn once_the_looks_are_fast_they_count_as_fast() {
        let lookups = Lookups::default();
        lookups.many(8, |_| slow_look());
        assert!(lookups.are_slow());
        lookups.many(1, |_| ());
        assert!(!lookups.are_slow());
    }
}
