//! The threads that wait in the kernel for locks of other processes, one for each file.
//!
//! Knows no queues of this process.

use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Instant;

use super::{LOOK, Locked, PathLock, held};
use crate::{Control, Result};

/// The helper threads that wait in the kernel, by the device and inode of their file.
pub(super) type Helpers = HashMap<(u64, u64), Arc<Helper>>;

/// A thread that waits for the lock of one file.
#[derive(Debug, Default)]
pub(super) struct Helper {
    pub(super) state: Mutex<HelperState>,
    told: Condvar,
}

#[derive(Debug, Default)]
pub(super) struct HelperState {
    pub(super) waiters: usize,
    done: bool,
    /// The first waiter that takes it has the lock; the others start over.
    outcome: Option<io::Result<File>>,
}

impl Helper {
    /// Joins the helper thread that waits in the kernel for the file `id`. Starts one if there is none.
    pub(super) fn join(all: &Arc<Mutex<Helpers>>, file: File, id: (u64, u64)) -> io::Result<Arc<Helper>> {
        let mut helpers = held(all);
        if let Some(helper) = helpers.get(&id) {
            held(&helper.state).waiters += 1;
            return Ok(helper.clone());
        }
        let helper = Arc::new(Helper::default());
        held(&helper.state).waiters = 1;
        let (all, this) = (all.clone(), helper.clone());
        thread::Builder::new().name("lock-wait".into()).stack_size(64 * 1024).spawn(move || {
            let outcome = sys::fs::lock_exclusive(&file);
            if !switches::is_off("lock-abandoned") {
                held(&all).remove(&id);
            }
            let mut state = held(&this.state);
            state.done = true;
            if state.waiters > 0 {
                state.outcome = Some(outcome.map(|()| file));
            }
            this.told.notify_all();
        })?;
        if !switches::is_off("lock-one-thread") {
            helpers.insert(id, helper.clone());
        }
        Ok(helper)
    }

    /// Waits for the lock until then at most.
    pub(super) fn wait(&self, until: Instant, control: &Control) -> Result<io::Result<Locked>> {
        let mut state = held(&self.state);
        while !state.done {
            let now = Instant::now();
            let stopped = control.check_called_off();
            let is_late = !switches::is_off("lock-time") && now >= until;
            if stopped.is_err() || is_late {
                state.waiters -= 1;
                return stopped.map(|()| Ok(Locked::TooLate));
            }
            let waited = self.told.wait_timeout(state, LOOK.min(until - now));
            (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        }
        Ok(match state.outcome.take() {
            Some(outcome) => outcome.map(|file| Locked::Held(PathLock::of(file))),
            None => Ok(Locked::StartOver),
        })
    }
}
