//! Threads for work that may wait: as many as are at work at once, and who went idle last works first.
//!
//! The runtime's own pool hands work to whoever has been idle longest. Under steady load none of its threads is ever idle
//! for long, so each burst adds some for ever, and each keeps memory that its allocator does not give back. Here the
//! threads of a burst are out of work after it, and end. Knows neither requests nor answers.

use std::collections::VecDeque;
use std::mem::{forget, take};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use tokio::sync::oneshot;

pub(super) type Job = Box<dyn FnOnce() -> Last + Send>;

/// What a job leaves to be done, without waiting, when its thread can already be given the next: to tell whoever waits for
/// it. Who is told and has more to do finds the same thread again, and not a new one.
pub(super) type Last = Option<Box<dyn FnOnce() + Send>>;

/// Work that nobody waits for.
pub(super) fn job(work: impl FnOnce() + Send + 'static) -> Job {
    Box::new(move || {
        work();
        None
    })
}

const STACK: usize = 2 << 20;
const PATIENCE: Duration = Duration::from_secs(2);

/// See the module.
#[derive(Clone)]
pub(super) struct Workers(Arc<Pool>);

struct Pool {
    most: usize,
    /// Bytes of a thread's stack.
    stack: usize,
    /// How long a thread without work waits for some.
    patience: Duration,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    threads: usize,
    /// Those without work; the last has waited for the shortest time.
    idle: Vec<Arc<Worker>>,
    /// Work for which there was no thread; only while there are threads and none is idle.
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
        Workers::with(most, STACK, PATIENCE)
    }

    fn with(most: usize, stack: usize, patience: Duration) -> Workers {
        Workers(Arc::new(Pool { most, stack, patience, state: Mutex::default() }))
    }

    /// Has `job` done. What it returns comes through the channel; an error if it panics, or if there is no thread to be
    /// had.
    pub(super) fn spawn<T: Send + 'static>(
        &self,
        job: impl FnOnce() -> T + Send + 'static,
    ) -> oneshot::Receiver<T> {
        let (sender, receiver) = oneshot::channel();
        let _ = self.run(Box::new(move || {
            let done = job();
            // What nobody waits for may take its time to be dropped: before the thread is given anything else.
            let wanted = !sender.is_closed();
            wanted.then(|| -> Box<dyn FnOnce() + Send> { Box::new(move || drop(sender.send(done))) })
        }));
        receiver
    }

    /// Has `job` done. Gives it back if the system has no thread for it and there is none.
    pub(super) fn run(&self, job: Job) -> Result<(), Job> {
        let mut state = self.lock();
        if let Some(worker) = state.idle.pop() {
            drop(state);
            worker.give(job);
            return Ok(());
        }
        state.queue.push_back(job);
        if state.threads < self.0.most {
            // Under the lock, so that only threads that really started are counted on.
            let workers = self.clone();
            let new = thread::Builder::new().name("worker".into()).stack_size(self.0.stack);
            let started = new.spawn(move || workers.work(&Arc::default()));
            state.threads += usize::from(started.is_ok());
        }
        match state.threads {
            0 => state.queue.pop_back().map_or(Ok(()), Err),
            _ => Ok(()),
        }
    }

    /// What a thread does.
    fn work(&self, worker: &Arc<Worker>) {
        let mut last = None;
        while let Some(job) = self.next(worker, last) {
            last = caught(job).flatten();
        }
    }

    /// The next work for a thread; nothing if there was none for a while, and then none will be given to it any more.
    fn next(&self, worker: &Arc<Worker>, last: Last) -> Option<Job> {
        let mut state = self.lock();
        let next = state.queue.pop_front();
        if next.is_none() {
            state.idle.push(worker.clone());
        }
        drop(state);
        last.and_then(caught);
        if next.is_some() {
            return next;
        }
        if let Some(job) = worker.wait(self.0.patience) {
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

/// What comes of it, unless it panics. The hook has logged that, and whoever waits hears of it by the end of a channel. What
/// was thrown is not dropped: that might panic, too.
fn caught<T>(run: impl FnOnce() -> T) -> Option<T> {
    catch_unwind(AssertUnwindSafe(run)).map_err(forget).ok()
}

impl Worker {
    fn give(&self, job: Job) {
        *self.lock() = Some(job);
        self.given.notify_one();
    }

    /// Waits for work, but not for ever.
    fn wait(&self, patience: Duration) -> Option<Job> {
        let waited = self.given.wait_timeout_while(self.lock(), patience, |job| job.is_none());
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
    use std::time::Instant;

    use super::*;

    const HOUR: Duration = Duration::from_secs(3_600);

    fn threads(workers: &Workers) -> usize {
        workers.lock().threads
    }

    /// So many jobs that wait until they are let go, and what lets them go.
    fn held(workers: &Workers, count: usize) -> (Vec<oneshot::Receiver<usize>>, impl Fn()) {
        let (release, gate) = mpsc::channel::<()>();
        let gate = Arc::new(Mutex::new(gate));
        let job = |nth| {
            let gate = gate.clone();
            move || gate.lock().unwrap().recv().map(|()| nth).unwrap()
        };
        let jobs = (0..count).map(|nth| workers.spawn(job(nth))).collect();
        (jobs, move || (0..count).for_each(|_| release.send(()).unwrap()))
    }

    fn all_done(jobs: Vec<oneshot::Receiver<usize>>) {
        jobs.into_iter().enumerate().for_each(|(nth, job)| assert_eq!(job.blocking_recv(), Ok(nth)));
    }

    #[test]
    fn one_job_after_the_other_is_done_by_one_thread() {
        let workers = Workers::with(8, STACK, HOUR);
        for nth in 0..100 {
            // Who hears of the end of a job finds its thread idle.
            assert_eq!(workers.spawn(move || nth).blocking_recv(), Ok(nth));
        }
        assert_eq!(threads(&workers), 1);
    }

    #[test]
    fn more_jobs_than_threads_wait_and_all_are_done() {
        let workers = Workers::with(3, STACK, HOUR);
        let (jobs, release) = held(&workers, 50);
        while workers.lock().queue.len() > 47 {
            thread::yield_now();
        }
        assert_eq!(threads(&workers), 3);
        release();
        all_done(jobs);
        assert_eq!(threads(&workers), 3);
    }

    #[test]
    fn a_panic_takes_its_answer_and_no_thread_with_it() {
        let workers = Workers::with(1, STACK, HOUR);
        assert!(workers.spawn(|| panic!("on purpose")).blocking_recv().is_err());
        assert_eq!(workers.spawn(|| 7).blocking_recv(), Ok(7));
        assert_eq!(threads(&workers), 1);
    }

    #[test]
    fn without_a_thread_to_be_had_a_job_comes_back_or_waits_for_those_there_are() {
        let none = Workers::with(4, usize::MAX >> 2, HOUR);
        assert!(none.spawn(|| 7).blocking_recv().is_err());
        let (sender, receiver) = mpsc::channel();
        let job = none.run(job(move || sender.send(7).unwrap())).expect_err("no thread");
        assert_eq!((threads(&none), none.lock().queue.len()), (0, 0));
        job();
        assert_eq!(receiver.recv(), Ok(7));
        // As if one had been started when that was still possible.
        none.lock().threads = 1;
        let waits = none.spawn(|| 8);
        assert_eq!((threads(&none), none.lock().queue.len()), (1, 1));
        let workers = none.clone();
        thread::spawn(move || workers.work(&Arc::default()));
        assert_eq!(waits.blocking_recv(), Ok(8));
    }

    #[test]
    fn threads_without_work_end_and_new_work_starts_new_ones() {
        let workers = Workers::with(4, STACK, Duration::from_millis(20));
        for _ in 0..20 {
            let (jobs, release) = held(&workers, 4);
            assert_eq!(threads(&workers), 4);
            release();
            all_done(jobs);
            let since = Instant::now();
            while threads(&workers) > 0 {
                assert!(since.elapsed() < Duration::from_secs(20), "threads do not end");
                thread::yield_now();
            }
        }
    }

    #[test]
    fn no_job_is_lost_while_threads_come_and_go() {
        let workers = Workers::with(3, STACK, Duration::from_micros(50));
        for round in 0..2_000 {
            let jobs: Vec<_> = (0..round % 7).map(|nth| workers.spawn(move || nth)).collect();
            all_done(jobs);
        }
    }
}
