//! Runs calls for both transports. Decides which call runs when, on which thread, and for how long.
//!
//! Turns a panic into an error; logs and counts every request. Knows no sockets, no pipes, and not what a
//! call does.

mod batch;
mod counter;
mod file_queues;
mod first_poll;
mod groups;
mod kept_reply;
mod log;
mod metrics;
mod permits;
mod pipeline;
mod progress;
mod refusals;
mod repeated_calls;
mod space;
mod task;
mod threads;

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::runtime::Handle;
use tokio::time::timeout_at;

pub use self::batch::BatchError;
use self::batch::Room;
pub use self::counter::{Counted, Counter};
use self::file_queues::FileQueues;
pub use self::first_poll::start;
pub use self::metrics::{BOUNDS, FailureKey, METRICS, Metrics, Operation, OperationCounts};
pub use self::permits::ClientId;
use self::permits::{Permit, Permits};
pub use self::pipeline::Pipeline;
pub use self::progress::{Notification, Notify, ProgressWatch};
use self::refusals::{Line, Refusals};
use self::repeated_calls::RepeatedCalls;
pub use self::space::Space;
pub use self::task::{Received, Task};
pub use self::threads::{Threads, configure};
use crate::engine::{COMMAND_ENDING, COMMANDS_AT_ONCE, Late, Workspace};
use crate::protocol::{Answer, PendingCall, Step};

/// A search that waits for memory leaves one in so many parts of its time for its work.
const FOR_WORK: u32 = 4;

/// The most memory of a call that walks, in MB. One that searches or analyses takes more.
const WALK: usize = 10;

/// One in so many parts of the memory for searches is for walks, which soon end: they do not wait for searches.
const FOR_WALKS: usize = 4;

/// How often a call without a permit looks whether a file system does not answer.
const SILENT_EVERY: Duration = Duration::from_millis(500);

/// The limits of an executor (contract 2).
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Longest time of a call.
    pub timeout: Duration,
    /// Calls that run at once.
    pub max_in_flight: usize,
    /// Largest request, in bytes.
    pub max_bytes: usize,
    /// Memory for searches, walks and analyses together, in MB. Each counts with what it may take ([`PendingCall::memory`]).
    pub search_memory: usize,
}

/// See the module.
#[derive(Debug)]
pub struct Executor {
    workspace: Arc<Workspace>,
    limits: Limits,
    threads: Threads,
    /// One permit for each call that runs.
    permits: Permits,
    /// One permit for each command that runs. Commands take no permit of other calls, because they run long.
    commands: Permits,
    /// One permit for each MB that a search or an analysis may take. They wait for it before they take another permit, so that
    /// they leave those to calls that are soon over.
    searches: Permits,
    /// The same for walks.
    walks: Permits,
    /// Lets one change per file run at a time, so that changes that wait for a file's lock do not use up the
    /// permits.
    changes: FileQueues,
    /// Lets one read per file wait for another program's lease or write at a time, for the same reason.
    waits: FileQueues,
    /// Calls without an answer.
    in_progress: Counter,
    /// Calls on a thread, including those that were answered as late.
    on_threads: Counter,
    /// Room for the answers of batches.
    room: Room,
    /// Calls with an idempotency key.
    repeated: RepeatedCalls,
    /// Log lines of refused requests.
    refusals: Arc<Refusals>,
}

/// How a call ended.
#[derive(Debug)]
pub enum Ended<T> {
    /// It was answered on its thread. Holds the result of `then`.
    Answered(T),
    /// Its time was up, or it panicked. The answer is complete and keeps no file open.
    Late(Answer),
    /// It was cancelled: there is no answer.
    Cancelled,
}

/// A call that counts as in progress until this is dropped.
#[derive(Debug)]
pub struct Admitted {
    /// The call.
    pub task: Arc<Task>,
    _in_progress: Counted,
}

impl Executor {
    /// An executor for calls on `workspace`. [`configure`] has set up `runtime`. An error if no thread can be started.
    pub fn new(limits: Limits, workspace: Arc<Workspace>, runtime: Handle) -> io::Result<Arc<Executor>> {
        let for_walks = limits.search_memory / FOR_WALKS;
        Ok(Arc::new(Executor {
            workspace,
            limits,
            threads: Threads::new(runtime, limits.timeout)?,
            permits: Permits::new(limits.max_in_flight),
            commands: Permits::new(COMMANDS_AT_ONCE),
            searches: Permits::shared(limits.search_memory - for_walks),
            walks: Permits::shared(for_walks),
            changes: FileQueues::default(),
            waits: FileQueues::default(),
            in_progress: Counter::new(),
            on_threads: Counter::new(),
            room: Room::new(limits.max_bytes),
            repeated: RepeatedCalls::default(),
            refusals: Arc::default(),
        }))
    }

    /// The threads, for other work that may block.
    pub fn threads(&self) -> &Threads {
        &self.threads
    }

    /// Calls without an answer. The server waits for them before it stops.
    pub fn in_progress(&self) -> &Counter {
        &self.in_progress
    }

    /// Calls on a thread, including those that were answered as late and still run.
    pub fn on_threads(&self) -> &Counter {
        &self.on_threads
    }

    /// Whether calls that wait for files that do not answer have all threads.
    pub fn is_stuck(&self) -> bool {
        self.on_threads.count() >= threads::for_calls(self.limits.max_in_flight)
    }

    /// Parses a request and logs a refusal. Answers a panic with `internal_error`.
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

    /// Logs and returns an answer that refuses a request before it is parsed. Of many refusals, most are only counted.
    pub fn refuse(&self, answer: Answer) -> Answer {
        let Some(report) = &answer.report else { return answer };
        let kind = answer.status;
        match self.refusals.count(kind, Instant::now()) {
            Line::Write => log::report(report, Duration::ZERO),
            Line::LeaveOut => log::count(report),
            Line::Begin => {
                log::count(report);
                let refusals = self.refusals.clone();
                self.threads.runtime().spawn(async move {
                    tokio::time::sleep(refusals::PERIOD).await;
                    log::left_out(kind, refusals.left_out(kind));
                });
            }
        }
        answer
    }

    /// A call whose request was received at `received`.
    pub fn task(&self, call: PendingCall, received: impl Into<Received>) -> Arc<Task> {
        Task::new(call, self.limits.timeout, received)
    }

    /// Runs a call on the calling thread; `None` if it might have to wait.
    pub fn run_now(&self, task: &Arc<Task>) -> Option<Answer> {
        task.run_now(&self.workspace)
    }

    /// Ends the commands that still run `after` this time from now: the server stops.
    pub fn end_commands(&self, after: Duration) {
        self.workspace.commands().end(after);
    }

    /// Frees what is kept for calls that are sent again, as far as it is too old.
    pub fn forget_old_replies(&self) {
        self.repeated.forget_old();
    }

    /// Counts a call as in progress.
    pub fn admit(&self, task: Arc<Task>) -> Admitted {
        Admitted { task, _in_progress: self.in_progress.enter() }
    }

    /// Runs a call after earlier calls of the connection for the same file. Its time starts when those have
    /// ended. `then` receives the answer on a thread that may block. The call takes its position when the
    /// future is first polled.
    pub async fn run_in_order<T: Send + 'static>(
        &self,
        pipeline: &Arc<Pipeline>,
        call: &Admitted,
        then: impl Fn(Answer) -> T + Clone + Send + 'static,
    ) -> Ended<T> {
        let _registered = pipeline.register(&call.task);
        let (file, others) = (call.task.call.file(), call.task.call.other_files());
        let turns = pipeline.turns(file.into_iter().chain(others)).await;
        turns.iter().for_each(|turn| turn.start(&call.task.control));
        let _turns = call.task.hold(turns);
        self.run(&call.task, then).await
    }

    /// Runs a call, regardless of the order of its connection's calls. `then` receives the answer on a thread
    /// that may block.
    pub async fn run<T: Send + 'static>(
        &self,
        task: &Arc<Task>,
        then: impl Fn(Answer) -> T + Clone + Send + 'static,
    ) -> Ended<T> {
        match task.call.idempotency_key() {
            None => self.run_once(task, then).await,
            // On the heap, so that calls without a key take no memory for it.
            Some(key) => Box::pin(self.run_with_key(task, key, then)).await,
        }
    }

    async fn run_once<T: Send + 'static>(
        &self,
        task: &Arc<Task>,
        then: impl Fn(Answer) -> T + Clone + Send + 'static,
    ) -> Ended<T> {
        let control = &task.control;
        let _turn = match task.call.file().filter(|_| task.call.writes()) {
            None => None,
            Some(file) => {
                let _waits = self.changes.is_busy(file).then(|| METRICS.queue.begin());
                match timeout_at(control.lock_deadline().into(), self.changes.turn(file)).await {
                    Ok(turn) => Some(task.hold(vec![turn])),
                    Err(_) => return time_is_up(task, Late::LockedOut),
                }
            }
        };
        let ended = self.attempt(task, control.deadline(), &then).await;
        let (Ended::Cancelled, Some(waits_for)) = (&ended, control.broke_off()) else { return ended };
        // Listings name no file and share one queue.
        let turn = self.waits.turn(task.call.file().unwrap_or_default());
        let turn = timeout_at(control.deadline().into(), turn).await;
        if turn.is_err() && task.call.file().is_some() {
            return time_is_up(task, waits_for);
        }
        // Without its turn, a listing still returns what it knows.
        control.allow_waiting();
        self.attempt(task, control.overdue(), &then).await
    }

    /// Runs a call if it gets its permits before `until`. Returns `Cancelled` also if the call broke off because
    /// it may not wait for another program.
    async fn attempt<T: Send + 'static>(
        &self,
        task: &Arc<Task>,
        until: Instant,
        then: &(impl Fn(Answer) -> T + Clone + Send + 'static),
    ) -> Ended<T> {
        let (permits, until, late) = match task.call.command_timeout() {
            None => (&self.permits, until, Late::AtWork),
            // The wait counts as time of the command.
            Some(_) => (&self.commands, until - COMMAND_ENDING, Late::LockedOut),
        };
        let memory = match task.call.memory() {
            0 => None,
            memory => {
                let until = until - self.limits.timeout / FOR_WORK;
                let permits = if memory <= WALK { &self.walks } else { &self.searches };
                match self.permit(permits, task, memory, until).await {
                    Some(permit) => permit,
                    None => return not_run(task, Task::crowded_out),
                }
            }
        };
        let Some(_permit) = self.permit(permits, task, 1, until).await else {
            return time_is_up(task, late);
        };
        if self.is_stuck() {
            return not_run(task, Task::without_thread);
        }
        self.run_on_thread(task, memory, then).await
    }

    /// Runs a call on a thread, until its time is up. `memory` is held until the thread has ended.
    async fn run_on_thread<T: Send + 'static>(
        &self,
        task: &Arc<Task>,
        memory: Option<Permit>,
        then: &(impl Fn(Answer) -> T + Clone + Send + 'static),
    ) -> Ended<T> {
        let control = &task.control;
        let work = {
            let (task, workspace, then) = (task.clone(), self.workspace.clone(), then.clone());
            // Held even after a late answer, because the call must still remove its temporary file.
            let on_thread = self.on_threads.enter();
            move || {
                let (_on_thread, _memory) = (on_thread, memory);
                let done = then(task.run(&workspace)?);
                // Here and not after `work.await`: so the next call for the file need not wait for the runtime's thread.
                task.end_turns();
                // A search may have asked for it.
                workspace.start_warm_up();
                Some(done)
            }
        };
        let mut work = self.threads.spawn(work);
        let mut ended = timeout_at(control.overdue().into(), &mut work).await;
        if ended.is_err() && control.may_answer_in_part() {
            // It is about to answer with what it found.
            ended = timeout_at(control.commit_overdue().into(), &mut work).await;
        }
        let done = match ended {
            Ok(done) => done,
            Err(_) => match control.expire() {
                Some(late) => return Ended::Late(task.late(late)),
                None if control.is_cancelled() => return Ended::Cancelled,
                None => match timeout_at(control.commit_overdue().into(), &mut work).await {
                    Ok(done) => done,
                    Err(_) if control.give_up() => return Ended::Late(task.outcome_unknown()),
                    // It is already answering.
                    Err(_) => work.await,
                },
            },
        };
        match done {
            Ok(Some(done)) => Ended::Answered(done),
            Ok(None) => Ended::Cancelled,
            // A panic while the answer was written.
            Err(_) => Ended::Late(task.panicked()),
        }
    }

    /// Waits for `count` permits until then. `None`: there were none. The inner `None`: the call runs without, because those
    /// that have the permits may wait for a file system that does not answer.
    async fn permit(
        &self,
        permits: &Permits,
        task: &Task,
        count: usize,
        until: Instant,
    ) -> Option<Option<Permit>> {
        let mut taken = pin!(permits.take(task.client(), count));
        loop {
            let look = until.min(Instant::now() + SILENT_EVERY);
            match timeout_at(look.into(), &mut taken).await {
                Ok(permit) => return Some(Some(permit)),
                Err(_) if Instant::now() >= until => return None,
                Err(_) if self.workspace.is_silent() => return Some(None),
                Err(_) => {}
            }
        }
    }
}

/// How a call ends that is answered before it runs.
fn not_run<T>(task: &Arc<Task>, answer: fn(&Arc<Task>) -> Answer) -> Ended<T> {
    match task.control.expire() {
        Some(_) => Ended::Late(answer(task)),
        None => Ended::Cancelled,
    }
}

/// How a call ends whose time is up before it runs.
fn time_is_up<T>(task: &Arc<Task>, waited_for: Late) -> Ended<T> {
    match task.control.expire() {
        Some(_) => Ended::Late(task.late(waited_for)),
        None => Ended::Cancelled,
    }
}

/// Returns `None` if `run` panics. The only function that catches panics; the panic hook has logged it.
pub(crate) fn caught<T>(run: impl FnOnce() -> T) -> Option<T> {
    // The payload of the panic is not dropped, because its drop might panic too.
    catch_unwind(AssertUnwindSafe(run)).map_err(std::mem::forget).ok()
}

#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
