//! One queue per file. Operations on one file run one after the other, in the order of arrival, and do not
//! delay those on other files. Knows only the names of files.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use folder::Control;

/// See the module.
#[derive(Debug, Default, Clone)]
pub(super) struct FileQueues(Arc<Mutex<HashMap<String, Entry>>>);

#[derive(Debug, Default)]
struct Entry {
    queue: Arc<Queue>,
    /// Turns, and waits for one.
    users: usize,
}

impl Default for Queue {
    fn default() -> Queue {
        Queue { turn: Arc::new(Semaphore::new(1)), late: Mutex::default() }
    }
}

#[derive(Debug)]
struct Queue {
    turn: Arc<Semaphore>,
    /// When an operation last ran out of time.
    late: Mutex<Option<Instant>>,
}

/// An operation's turn at a file, or its wait for one. On drop, the next operation runs.
#[derive(Debug)]
pub(super) struct Turn {
    queues: FileQueues,
    file: String,
    queue: Arc<Queue>,
    arrived: Instant,
    permit: Option<OwnedSemaphorePermit>,
}

impl FileQueues {
    /// Waits for the turn at `file`. The operation takes its position when the future is first polled.
    pub(super) async fn turn(&self, file: &str) -> Turn {
        let queue = {
            let mut entries = self.lock();
            let entry = entries.entry(file.to_owned()).or_default();
            entry.users += 1;
            entry.queue.clone()
        };
        // From here on, dropping `turn` removes the entry, even if the wait is cancelled.
        let mut turn = Turn {
            queues: self.clone(),
            file: file.to_owned(),
            queue,
            arrived: Instant::now(),
            permit: None,
        };
        turn.permit = turn.queue.turn.clone().acquire_owned().await.ok();
        turn
    }

    /// Whether an operation has the turn at `file` or waits for it.
    pub(super) fn is_busy(&self, file: &str) -> bool {
        self.lock().contains_key(file)
    }

    /// Ends one use of the entry of `file`. Nobody waits in the queue of an entry that is removed.
    fn leave(&self, file: &str) {
        let mut entries = self.lock();
        let Some(entry) = entries.get_mut(file) else { return };
        entry.users -= 1;
        if entry.users == 0 {
            entries.remove(file);
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Entry>> {
        // The map is valid after every critical section.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Turn {
    /// Starts the time of an operation that has the turn. If it waited behind an operation that ran out of
    /// time, its waits for other programs count from its arrival.
    pub(super) fn start(&self, control: &Control) {
        match *self.queue.late() {
            Some(late) if !switches::is_off("behind-late") && late >= self.arrived => {
                control.start_with_waits_since(self.arrived)
            }
            _ => control.start(),
        }
    }

    /// Records for the operations behind it whether this operation ran out of time.
    pub(super) fn end(&self, control: &Control) {
        if control.was_late() {
            *self.queue.late() = Some(Instant::now());
        }
    }
}

impl Queue {
    fn late(&self) -> MutexGuard<'_, Option<Instant>> {
        self.late.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.queues.leave(&self.file);
        // The operation is over. Not under the lock: this wakes the next one, and a runtime that shuts down drops it at
        // once, and its `Turn` with it.
        drop(self.permit.take());
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::{Context, Poll, Wake, Waker};
    use std::time::Duration;

    use tokio::time::timeout;

    use super::*;

    #[test]
    fn one_has_the_turn_at_a_file_others_do_not_wait_and_no_entry_is_left() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let queues = FileQueues::default();
            let first = queues.turn("a").await;
            let soon = Duration::from_millis(10);
            assert!(timeout(soon, queues.turn("a")).await.is_err());
            assert!(timeout(soon, queues.turn("b")).await.is_ok());
            assert!(queues.is_busy("a") && !queues.is_busy("b"));
            drop(first);
            assert!(timeout(soon, queues.turn("a")).await.is_ok());
            assert!(queues.lock().is_empty());
        });
    }

    /// Counts the times that it is woken while the queues are not locked.
    struct Free(FileQueues, AtomicUsize);

    impl Wake for Free {
        fn wake(self: Arc<Free>) {
            self.1.fetch_add(usize::from(self.0.0.try_lock().is_ok()), Ordering::Relaxed);
        }
    }

    #[test]
    fn the_next_one_is_woken_without_the_lock_that_its_end_needs() {
        let queues = FileQueues::default();
        let free = Arc::new(Free(queues.clone(), AtomicUsize::new(0)));
        let waker = Waker::from(free.clone());
        let mut context = Context::from_waker(&waker);
        let Poll::Ready(first) = pin!(queues.turn("a")).poll(&mut context) else {
            panic!("nobody is before it")
        };
        let mut second = Box::pin(queues.turn("a"));
        assert!(second.as_mut().poll(&mut context).is_pending());
        drop(first);
        assert_eq!(free.1.load(Ordering::Relaxed), 1);
        assert!(queues.is_busy("a"));
        let Poll::Ready(second) = second.as_mut().poll(&mut context) else { panic!("it is its turn") };
        drop(second);
        assert!(queues.lock().is_empty());
    }
}
