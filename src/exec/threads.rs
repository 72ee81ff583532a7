//! The runtime's threads for work that may block, and one spare thread for when the system has no more to give.

use std::io;
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;

use super::caught;
use super::first_poll::continuing;
use super::space::Space;

/// How long an idle thread lives. Short, because a thread keeps memory that its allocator does not return.
const KEEP_ALIVE: Duration = Duration::from_millis(20);

/// Threads for each call that may run: calls that ask a file system that does not answer keep theirs, and others run beside them.
const THREADS_PER_CALL: usize = 3;

/// Threads in addition to those: for commands.
const MORE_FOR_CALLS: usize = 32;

/// Threads in addition to those for calls: for long requests, and for the rest of long answers.
const EXTRA: usize = 32;

/// How long all work goes to the spare thread after the system refused to start a thread. Each refusal leaves
/// an empty task in the pool and a line in the log.
const SHORTAGE: Duration = Duration::from_secs(1);

/// See the module.
#[derive(Debug, Clone)]
pub struct Threads(Arc<Pool>);

#[derive(Debug)]
struct Pool {
    runtime: Handle,
    spare: Sender<Job>,
    /// How long work for one call may take.
    timeout: Duration,
    /// When the system last refused to start a thread.
    refused: Mutex<Option<Instant>>,
}

type Job = Box<dyn FnOnce() + Send>;

/// Sets up `runtime` for this many calls at once.
pub fn configure(runtime: &mut Builder, max_in_flight: usize) -> &mut Builder {
    runtime
        .enable_all()
        .thread_name("worker")
        .thread_keep_alive(KEEP_ALIVE)
        .max_blocking_threads((for_calls(max_in_flight) + EXTRA).min(Space::here().threads()))
}

/// How many threads calls may have, those included that were answered as late and still wait for a file system. The others are
/// for answers, so that each call has one.
pub(super) fn for_calls(max_in_flight: usize) -> usize {
    THREADS_PER_CALL * max_in_flight + MORE_FOR_CALLS
}

impl Threads {
    /// Starts the spare thread. `timeout`: how long work for one call may take.
    pub(super) fn new(runtime: Handle, timeout: Duration) -> io::Result<Threads> {
        let (spare, jobs) = mpsc::channel::<Job>();
        let (started, is_started) = mpsc::channel();
        thread::Builder::new().name("spare".into()).spawn(move || {
            let _ = started.send(());
            for job in jobs {
                caught(job);
            }
        })?;
        // The thread has memory of its own now. If there is too little, the start fails with one line, and no call does.
        let _ = is_started.recv();
        Ok(Threads(Arc::new(Pool { runtime, spare, timeout, refused: Mutex::default() })))
    }

    pub(super) fn runtime(&self) -> &Handle {
        &self.0.runtime
    }

    /// How long work for one call may take, such as the reading of a part of its answer.
    pub fn timeout(&self) -> Duration {
        self.0.timeout
    }

    /// Runs `work` on a thread. The channel returns its result; if `work` panics, the channel closes.
    pub fn spawn<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> oneshot::Receiver<T> {
        let (sender, receiver) = oneshot::channel();
        let runtime = self.0.runtime.clone();
        let job: Job = Box::new(move || continuing(&runtime, || drop(sender.send(work()))));
        match self.is_short() {
            true => self.run_on_spare(job),
            false => self.run_on_pool(job),
        }
        receiver
    }

    fn run_on_pool(&self, job: Job) {
        let job = Arc::new(Mutex::new(Some(job)));
        let take = |job: &Mutex<Option<Job>>| job.lock().unwrap_or_else(PoisonError::into_inner).take();
        let pooled = job.clone();
        let run = move || take(&pooled).into_iter().for_each(|job| job());
        // Tokio panics if it has no thread and the system cannot start one. It keeps the task for the next thread.
        if caught(|| drop(self.0.runtime.spawn_blocking(run))).is_none() {
            *self.refused() = Some(Instant::now());
            take(&job)
                .into_iter()
                .filter(|_| !switches::is_off("spare-thread"))
                .for_each(|job| self.run_on_spare(job));
        }
    }

    fn run_on_spare(&self, job: Job) {
        // The thread ends only after this sender.
        let _ = self.0.spare.send(job);
    }

    fn is_short(&self) -> bool {
        self.refused().is_some_and(|refused| refused.elapsed() < SHORTAGE)
    }

    fn refused(&self) -> std::sync::MutexGuard<'_, Option<Instant>> {
        self.0.refused.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_ends_its_channel_and_no_thread() {
        let runtime = Builder::new_current_thread().max_blocking_threads(1).build().unwrap();
        let threads = Threads::new(runtime.handle().clone(), Duration::from_secs(10)).unwrap();
        assert!(threads.spawn(|| panic!("on purpose")).blocking_recv().is_err());
        assert_eq!(threads.spawn(|| 7).blocking_recv(), Ok(7));
    }

    #[test]
    fn without_another_thread_to_be_had_work_is_done_by_the_spare_one() {
        // The system starts no thread with such a stack.
        let runtime = Builder::new_current_thread().thread_stack_size(usize::MAX >> 2).build().unwrap();
        let threads = Threads::new(runtime.handle().clone(), Duration::from_secs(10)).unwrap();
        let name = || thread::current().name().map(str::to_owned);
        for _ in 0..100 {
            assert_eq!(threads.spawn(name).blocking_recv(), Ok(Some("spare".into())));
        }
        assert!(threads.spawn(|| panic!("on purpose")).blocking_recv().is_err());
        assert_eq!(threads.spawn(|| 7).blocking_recv(), Ok(7));
        assert!(threads.is_short());
    }

    #[test]
    fn after_a_shortage_the_pool_is_tried_again() {
        let runtime = Builder::new_current_thread().thread_name("worker").build().unwrap();
        let threads = Threads::new(runtime.handle().clone(), Duration::from_secs(10)).unwrap();
        *threads.refused() = Instant::now().checked_sub(SHORTAGE);
        let name = || thread::current().name().map(str::to_owned);
        assert_eq!(threads.spawn(name).blocking_recv(), Ok(Some("worker".into())));
    }
}
