//! How many threads search at a time, for all searches together: so they hold up no other call.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use folder::{Control, Result, looks_at_once};
use sys::process::{helpers, processors};

/// By how much the priority of searching threads is lower (nice(2)): short calls go first on a busy processor.
const NICENESS: i32 = 10;

/// The lowest priority of nice(2).
const LOWEST: i32 = 19;

/// How many searches are on threads of their own at a time. More would only need more memory.
const SEARCHES: usize = 8;

/// How often a thread that waits looks whether its operation is to stop.
const BETWEEN_CHECKS: Duration = Duration::from_millis(20);

/// As many slots as there are processors; more for files whose looks wait; and one for a text that is searched in one piece, which takes long.
#[derive(Debug)]
pub(in crate::workspace) struct SearchSlots {
    count: usize,
    short: Slots,
    waiting: Slots,
    long: Slots,
    searches: Slots,
}

#[derive(Debug)]
struct Slots {
    state: Mutex<State>,
    freed: Condvar,
}

#[derive(Debug)]
struct State {
    free: usize,
    /// Threads that wait. Without one, a slot is freed without a system call: each file takes one.
    waiting: usize,
}

/// One slot, free again on drop.
#[derive(Debug)]
pub(super) struct Slot<'s>(&'s Slots);

impl Default for SearchSlots {
    fn default() -> SearchSlots {
        let count = processors();
        SearchSlots {
            count,
            short: Slots::new(count),
            waiting: Slots::new(looks_at_once()),
            long: Slots::new(1),
            searches: Slots::new(helpers(SEARCHES)),
        }
    }
}

impl SearchSlots {
    /// Number of slots, taken or not.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// Takes a slot, for a part of a file or a small file.
    pub(super) fn take(&self, control: &Control) -> Result<Slot<'_>> {
        self.short.take(control)
    }

    /// The same where a look at a file waits for another machine, and leaves the processor to others.
    pub(super) fn take_waiting(&self, control: &Control) -> Result<Slot<'_>> {
        self.waiting.take(control)
    }

    /// Takes a slot for a search on several threads, each of which needs memory.
    pub(super) fn take_search(&self, control: &Control) -> Result<Slot<'_>> {
        self.searches.take(control)
    }

    /// Takes the slot for a large text that is searched in one piece.
    pub(super) fn take_long(&self, control: &Control) -> Result<Slot<'_>> {
        self.long.take(control)
    }
}

impl Slots {
    fn new(count: usize) -> Slots {
        Slots { state: Mutex::new(State { free: count, waiting: 0 }), freed: Condvar::new() }
    }

    /// Waits for a slot if none is free, until the operation is to stop.
    fn take(&self, control: &Control) -> Result<Slot<'_>> {
        let mut state = self.state();
        while state.free == 0 {
            control.check()?;
            state.waiting += 1;
            let waited = self.freed.wait_timeout(state, BETWEEN_CHECKS);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
            state.waiting -= 1;
        }
        state.free -= 1;
        Ok(Slot(self))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Slot<'_> {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.free += 1;
        if state.waiting > 0 {
            self.0.freed.notify_one();
        }
    }
}

/// Lowers the priority of the calling thread.
pub(super) fn lower_priority() {
    lower_by(NICENESS);
}

/// Makes the calling thread run when no other wants to.
pub(super) fn lowest_priority() {
    lower_by(LOWEST);
}

fn lower_by(niceness: i32) {
    sys::process::lower_thread_priority(niceness);
}
