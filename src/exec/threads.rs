//! The runtime's threads for work that may block. Retries if the system cannot start a thread.

use std::time::Duration;

use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;

use super::caught;

/// How long an idle thread lives. Short, because a thread keeps memory that its allocator does not return.
const KEEP_ALIVE: Duration = Duration::from_millis(20);

/// Threads in addition to those for calls: for long requests, and for the rest of long answers.
const EXTRA: usize = 64;

/// Time between two attempts to start a thread.
const RETRY: Duration = Duration::from_millis(20);

/// See the module.
#[derive(Debug, Clone)]
pub struct Threads(Handle);

/// Sets up `runtime` for this many calls at once.
pub fn configure(runtime: &mut Builder, max_in_flight: usize) -> &mut Builder {
    runtime
        .enable_all()
        .thread_name("worker")
        .thread_keep_alive(KEEP_ALIVE)
        .max_blocking_threads(max_in_flight + EXTRA)
}

impl Threads {
    pub(super) fn new(runtime: Handle) -> Threads {
        Threads(runtime)
    }

    pub(super) fn runtime(&self) -> &Handle {
        &self.0
    }

    /// Runs `work` on a thread. The channel returns its result; if `work` panics, the channel closes.
    pub fn spawn<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> oneshot::Receiver<T> {
        let (sender, receiver) = oneshot::channel();
        if self.try_spawn(move || drop(sender.send(work()))).is_none() {
            // The work is in the pool's queue, but no thread runs. The next thread that starts will run it.
            let threads = self.clone();
            self.0.spawn(async move {
                while threads.try_spawn(|| ()).is_none() {
                    tokio::time::sleep(RETRY).await;
                }
            });
        }
        receiver
    }

    /// `None` if the pool has no thread and the system cannot start one, which tokio reports by a panic.
    fn try_spawn(&self, work: impl FnOnce() + Send + 'static) -> Option<()> {
        caught(|| drop(self.0.spawn_blocking(work)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_ends_its_channel_and_no_thread() {
        let runtime = Builder::new_current_thread().max_blocking_threads(1).build().unwrap();
        let threads = Threads::new(runtime.handle().clone());
        assert!(threads.spawn(|| panic!("on purpose")).blocking_recv().is_err());
        assert_eq!(threads.spawn(|| 7).blocking_recv(), Ok(7));
    }

    #[test]
    fn work_waits_while_the_system_refuses_to_start_a_thread() {
        let limit = rustix::process::getrlimit(rustix::process::Resource::Nproc);
        let runtime = Builder::new_current_thread().enable_time().thread_stack_size(usize::MAX >> 2).build();
        let runtime = runtime.unwrap();
        let threads = Threads::new(runtime.handle().clone());
        assert!(threads.try_spawn(|| ()).is_none(), "no thread has such a stack; {limit:?}");
        let mut waiting = threads.spawn(|| 7);
        assert!(waiting.try_recv().is_err());
    }
}
