//! Carries out requests for both transports: which call may run when, on a thread that may block, and for how long.
//!
//! Turns a panic into an error, logs and counts every request. Knows no sockets, no pipes, and not what a call does.

mod batch;
mod counter;
mod file_queues;
mod log;
mod pipeline;
mod task;
mod threads;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Waker};
use std::time::{Duration, Instant};

use tokio::runtime::Handle;
use tokio::sync::Semaphore;
use tokio::time::timeout_at;

pub use self::batch::NoRoom;
use self::batch::Room;
pub use self::counter::{Counted, Counter};
use self::file_queues::FileQueues;
pub use self::log::{METRICS, Metrics};
pub use self::pipeline::Pipeline;
pub use self::task::Task;
pub use self::threads::{Threads, configure};
use crate::engine::{Late, Workspace};
use crate::protocol::{Answer, PendingCall, Step};

/// The limits of an executor (SPEC 2).
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Longest time of a call.
    pub timeout: Duration,
    /// Calls that run at once.
    pub max_in_flight: usize,
    /// Bytes of the largest request.
    pub max_bytes: usize,
}

/// See the module.
#[derive(Debug)]
pub struct Executor {
    workspace: Arc<Workspace>,
    limits: Limits,
    threads: Threads,
    /// A permit for each call that runs.
    permits: Semaphore,
    /// One change of a file at a time, so that changes that wait for the file's lock do not use up the permits.
    changes: FileQueues,
    /// Reads of a file that wait for another program's lease or write, one at a time, for the same reason.
    waits: FileQueues,
    /// Calls without an answer.
    in_progress: Counter,
    /// Calls on a thread, also those that were answered as late.
    on_threads: Counter,
    /// For the answers of batches.
    room: Room,
}

/// How a call ended.
#[derive(Debug)]
pub enum Ended<T> {
    /// It was answered on its thread; this is what came of the answer.
    Answered(T),
    /// Its time was up. The answer is complete and needs no file.
    Late(Answer),
    /// It was cancelled: there is no answer.
    Cancelled,
}

/// A call that counts as in progress until it is dropped.
#[derive(Debug)]
pub struct Admitted {
    /// The call.
    pub task: Arc<Task>,
    _in_progress: Counted,
}

impl Executor {
    /// An executor for calls on `workspace`, on the threads of `runtime`, which [`configure`] has set up.
    pub fn new(limits: Limits, workspace: Arc<Workspace>, runtime: Handle) -> Arc<Executor> {
        Arc::new(Executor {
            workspace,
            limits,
            threads: Threads::new(runtime),
            permits: Semaphore::new(limits.max_in_flight),
            changes: FileQueues::default(),
            waits: FileQueues::default(),
            in_progress: Counter::new(),
            on_threads: Counter::new(),
            room: Room::new(limits.max_bytes),
        })
    }

    /// The threads, for other work that may block.
    pub fn threads(&self) -> &Threads {
        &self.threads
    }

    /// Calls without an answer. At the end of the server they are waited for.
    pub fn in_progress(&self) -> &Counter {
        &self.in_progress
    }

    /// Calls on a thread, also those that were answered as late and still run.
    pub fn on_threads(&self) -> &Counter {
        &self.on_threads
    }

    /// Parses a request. A panic is answered with `internal_error`. Logs what is refused.
    pub fn parse(
        &self,
        received: Instant,
        parse: impl FnOnce() -> Step,
        internal_error: impl FnOnce() -> Answer,
    ) -> Step {
        let step = caught(parse).unwrap_or_else(|| Step::Answer(internal_error()));
        log::step(&step, received.elapsed());
        step
    }

    /// An answer that refuses a request before it is parsed. Logs it.
    pub fn refuse(&self, answer: Answer) -> Answer {
        if let Some(report) = &answer.report {
            log::report(report, Duration::ZERO);
        }
        answer
    }

    /// A call whose request came in at `received`.
    pub fn task(&self, call: PendingCall, received: Instant) -> Arc<Task> {
        Task::new(call, self.limits.timeout, received)
    }

    /// Runs a call on the calling thread if that takes no waiting. Nothing if it might wait.
    pub fn run_now(&self, task: &Arc<Task>) -> Option<Answer> {
        task.run_now(&self.workspace)
    }

    /// Counts a call as in progress.
    pub fn admit(&self, task: Arc<Task>) -> Admitted {
        Admitted { task, _in_progress: self.in_progress.enter() }
    }

    /// Runs a call of a connection that carries out calls for one file in the order in which they came. Its time starts when
    /// those before it have ended. `then` gets the answer, on a thread that may block. The call's place in the order is
    /// taken when the future is first polled.
    pub async fn run_in_order<T: Send + 'static>(
        &self,
        pipeline: &Arc<Pipeline>,
        call: Admitted,
        then: impl Fn(Answer) -> T + Clone + Send + 'static,
    ) -> Ended<T> {
        let _registered = pipeline.register(&call.task);
        let turn = pipeline.turn(call.task.call.file()).await;
        if let Some(turn) = &turn {
            turn.start(&call.task.control);
        }
        let ended = self.run(&call.task, then).await;
        if let Some(turn) = &turn {
            turn.end(&call.task.control);
        }
        ended
    }

    /// Runs a call, whatever else runs for its connection. `then` gets the answer, on a thread that may block.
    pub async fn run<T: Send + 'static>(
        &self,
        task: &Arc<Task>,
        then: impl Fn(Answer) -> T + Clone + Send + 'static,
    ) -> Ended<T> {
        let control = &task.control;
        let _turn = match task.call.file().filter(|_| task.call.writes()) {
            None => None,
            Some(file) => match timeout_at(control.lock_deadline().into(), self.changes.turn(file)).await {
                Ok(turn) => Some(turn),
                Err(_) => return Ended::Late(task.late(Late::LockedOut)),
            },
        };
        let ended = self.attempt(task, control.deadline(), &then).await;
        let (Ended::Cancelled, Some(waits_for)) = (&ended, control.broke_off()) else { return ended };
        // Listings, which name no file, have one queue together.
        let turn = self.waits.turn(task.call.file().unwrap_or_default());
        let turn = timeout_at(control.deadline().into(), turn).await;
        if turn.is_err() && task.call.file().is_some() {
            return Ended::Late(task.late(waits_for));
        }
        // A listing says what it knows, even if its time is up.
        control.allow_waiting();
        self.attempt(task, control.overdue(), &then).await
    }

    /// Runs a call if it gets a permit before `until`. Also ends as cancelled if it may not wait for another program and
    /// would have to.
    async fn attempt<T: Send + 'static>(
        &self,
        task: &Arc<Task>,
        until: Instant,
        then: &(impl Fn(Answer) -> T + Clone + Send + 'static),
    ) -> Ended<T> {
        let control = &task.control;
        let Ok(_permit) = timeout_at(until.into(), self.permits.acquire()).await else {
            return Ended::Late(task.late(Late::AtWork));
        };
        let work = {
            let (task, workspace, then) = (task.clone(), self.workspace.clone(), then.clone());
            // Also counts when it was answered as late: it has to remove its temporary file.
            let on_thread = self.on_threads.enter();
            move || {
                let _on_thread = on_thread;
                task.run(&workspace).map(then)
            }
        };
        let mut work = self.threads.spawn(work);
        let done = match timeout_at(control.overdue().into(), &mut work).await {
            Ok(done) => done,
            Err(_) => match control.expire() {
                Some(late) => return Ended::Late(task.late(late)),
                None if control.is_cancelled() => return Ended::Cancelled,
                // It is writing already: its answer will come.
                None => work.await,
            },
        };
        done.ok().flatten().map_or(Ended::Cancelled, Ended::Answered)
    }
}

/// Polls `work` once on the calling thread, so that works which are started one after the other take their places in queues
/// in that order, and a thread begins at once. What is not done then goes to `spawn`.
pub fn start<F: Future<Output = ()> + Send + 'static>(work: F, spawn: impl FnOnce(Pin<Box<F>>)) {
    let mut work = Box::pin(work);
    if work.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending() {
        spawn(work);
    }
}

/// The only place where a panic is caught. The panic hook has logged it; nothing is returned for it.
pub(crate) fn caught<T>(run: impl FnOnce() -> T) -> Option<T> {
    // What was thrown is not dropped, because that might panic as well.
    catch_unwind(AssertUnwindSafe(run)).map_err(std::mem::forget).ok()
}

#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
