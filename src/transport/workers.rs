//! Threads for work that may wait: as many as are at work at once, and who went idle last works first.
//!
//! The runtime's own pool hands work to whoever has been idle longest. Under steady load none of its threads is ever idle
//! for long, so each burst adds some for ever, and each keeps memory that its allocator does not give back. Here the
//! threads of a burst are out of work after it, and end. Knows neither requests nor answers.

use std::collections::VecDeque;
use std::mem::take;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use tokio::sync::oneshot;

type Job = Box<dyn FnOnce() + Send>;

/// Bytes of a thread's stack.
const STACK: usize = 2 << 20;

/// How long a thread without work waits for some.
const PATIENCE: Duration = Duration::from_secs(2);

/// See the module.
#[derive(Clone)]
pub(super) struct Workers(Arc<Pool>);

struct Pool {
    most: usize,
    stack: usize,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    threads: usize,
    /// Those without work; the last has waited for the shortest time.
    idle: Vec<Arc<Worker>>,
    /// Work for which there was no thread; only while none is idle.
    queue: VecDeque<Job>,
}

/// Where a thread is given its next work.
#[derive(Default)]
struct Worker {
    job: Mutex<Option<Job>>,
    given: Condvar,
}

impl std::fmt::Debug for Workers {
    fn fmt(&self, out: &mut std::fmt::Formatter) -> std::fmt::Result {
        out.write_str("Workers(..)")
    }
}

impl Workers {
    /// None yet; there will be `most` at most, and what comes when all of them work waits.
    pub(super) fn new(most: usize) -> Workers {
        Workers::with_stack(most, STACK)
    }

    fn with_stack(most: usize, stack: usize) -> Workers {
        Workers(Arc::new(Pool { most, stack, state: Mutex::default() }))
    }

    /// Has `job` done. What it returns comes through the channel, an error if it panics.
    pub(super) fn spawn<T: Send + 'static>(
        &self,
        job: impl FnOnce() -> T + Send + 'static,
    ) -> oneshot::Receiver<T> {
        let (sender, receiver) = oneshot::channel();
        self.run(move || {
            let _ = sender.send(job());
        });
        receiver
    }

    /// Has `job` done; where the system has no thread for it and there is none, in place.
    pub(super) fn run(&self, job: impl FnOnce() + Send + 'static) {
        let job: Job = Box::new(job);
        let mut state = self.lock();
        if let Some(worker) = state.idle.pop() {
            drop(state);
            worker.give(job);
        } else if state.threads < self.0.most {
            state.threads += 1;
            drop(state);
            self.start(job);
        } else {
            state.queue.push_back(job);
        }
    }

    fn start(&self, job: Job) {
        let (workers, worker) = (self.clone(), Arc::new(Worker::default()));
        worker.give(job);
        let thread = worker.clone();
        let new = thread::Builder::new().name("worker".into()).stack_size(self.0.stack);
        if new.spawn(move || workers.work(&thread)).is_err() {
            let Some(job) = worker.taken() else { return };
            let mut state = self.lock();
            state.threads -= 1;
            if let Some(worker) = state.idle.pop() {
                drop(state);
                worker.give(job);
            } else if state.threads > 0 {
                state.queue.push_back(job);
            } else {
                drop(state);
                job();
            }
        }
    }

    /// What a thread does.
    fn work(&self, worker: &Arc<Worker>) {
        while let Some(job) = self.next(worker) {
            // The hook has logged the panic; whoever waits for the job hears of it by the end of its channel.
            let _ = catch_unwind(AssertUnwindSafe(job));
            let mut state = self.lock();
            match state.queue.pop_front() {
                Some(job) => {
                    drop(state);
                    worker.give(job);
                }
                None => state.idle.push(worker.clone()),
            }
        }
    }

    /// The next work; nothing if there was none for a while, and then none will be given any more.
    fn next(&self, worker: &Arc<Worker>) -> Option<Job> {
        if let Some(job) = worker.wait() {
            return Some(job);
        }
        let mut state = self.lock();
        let Some(place) = state.idle.iter().position(|idle| Arc::ptr_eq(idle, worker)) else {
            // Somebody is about to give us some.
            drop(state);
            return worker.wait_long();
        };
        state.idle.remove(place);
        state.threads -= 1;
        None
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Every critical section leaves the state whole at every step.
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Worker {
    fn give(&self, job: Job) {
        *self.lock() = Some(job);
        self.given.notify_one();
    }

    fn taken(&self) -> Option<Job> {
        take(&mut *self.lock())
    }

    /// Waits for work for as long as a thread without any is kept.
    fn wait(&self) -> Option<Job> {
        let waited = self.given.wait_timeout_while(self.lock(), PATIENCE, |job| job.is_none());
        take(&mut *waited.unwrap_or_else(PoisonError::into_inner).0)
    }

    /// Waits for work that is sure to come.
    fn wait_long(&self) -> Option<Job> {
        let waited = self.given.wait_while(self.lock(), |job| job.is_none());
        take(&mut *waited.unwrap_or_else(PoisonError::into_inner))
    }

    fn lock(&self) -> MutexGuard<'_, Option<Job>> {
        self.job.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    fn threads(workers: &Workers) -> usize {
        workers.lock().threads
    }

    #[test]
    fn one_job_after_the_other_is_done_by_one_thread() {
        let workers = Workers::new(8);
        for nth in 0..100 {
            assert_eq!(workers.spawn(move || nth).blocking_recv(), Ok(nth));
            // Idle again before the next comes.
            while workers.lock().idle.is_empty() {
                thread::yield_now();
            }
        }
        assert_eq!(threads(&workers), 1);
    }

    #[test]
    fn more_jobs_than_threads_wait_and_all_are_done() {
        let workers = Workers::new(3);
        let (release, gate) = mpsc::channel::<()>();
        let gate = Arc::new(Mutex::new(gate));
        let done: Vec<_> = (0..50)
            .map(|nth| {
                let gate = gate.clone();
                workers.spawn(move || gate.lock().unwrap().recv().map(|()| nth))
            })
            .collect();
        assert_eq!((threads(&workers), workers.lock().queue.len()), (3, 47));
        (0..50).for_each(|_| release.send(()).unwrap());
        for (nth, done) in done.into_iter().enumerate() {
            assert_eq!(done.blocking_recv().unwrap(), Ok(nth));
        }
        assert_eq!(threads(&workers), 3);
    }

    #[test]
    fn a_panic_takes_its_answer_and_no_thread_with_it() {
        let workers = Workers::new(1);
        assert!(workers.spawn(|| panic!("on purpose")).blocking_recv().is_err());
        assert_eq!(workers.spawn(|| 7).blocking_recv(), Ok(7));
    }

    #[test]
    fn without_a_thread_to_be_had_jobs_are_done_in_place_or_by_those_there_are() {
        let none = Workers::with_stack(4, usize::MAX >> 2);
        for nth in 0..3 {
            let here = thread::current().id();
            assert_eq!(
                none.spawn(move || (nth, thread::current().id() == here)).blocking_recv(),
                Ok((nth, true))
            );
        }
        assert_eq!(threads(&none), 0);
        // As if one had been started when there were still some.
        let (workers, worker) = (none.clone(), Arc::new(Worker::default()));
        none.lock().threads = 1;
        let (release, gate) = mpsc::channel::<()>();
        worker.give(Box::new(move || gate.recv().unwrap()));
        thread::spawn(move || workers.work(&worker));
        let waits = none.spawn(|| 7);
        assert_eq!(none.lock().queue.len(), 1);
        release.send(()).unwrap();
        assert_eq!(waits.blocking_recv(), Ok(7));
    }

    #[test]
    fn threads_without_work_end_and_new_work_starts_new_ones() {
        let workers = Workers::new(4);
        for _ in 0..2 {
            let (release, gate) = mpsc::channel::<()>();
            let gate = Arc::new(Mutex::new(gate));
            let done: Vec<_> = (0..4)
                .map(|_| {
                    let gate = gate.clone();
                    workers.spawn(move || gate.lock().unwrap().recv())
                })
                .collect();
            assert_eq!(threads(&workers), 4);
            (0..4).for_each(|_| release.send(()).unwrap());
            done.into_iter().for_each(|done| assert_eq!(done.blocking_recv().unwrap(), Ok(())));
            let since = std::time::Instant::now();
            while threads(&workers) > 0 {
                assert!(since.elapsed() < 10 * PATIENCE, "threads do not end");
                thread::sleep(Duration::from_millis(20));
            }
        }
    }
}
