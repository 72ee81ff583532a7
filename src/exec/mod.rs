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
mod run;
mod space;
mod task;
mod threads;

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::runtime::Handle;

pub use self::batch::BatchError;
use self::batch::Room;
pub use self::counter::{Counted, Counter};
use self::file_queues::FileQueues;
pub use self::first_poll::start;
pub use self::metrics::{BOUNDS, FailureKey, METRICS, Metrics, Operation, OperationCounts};
pub use self::permits::ClientId;
use self::permits::Permits;
pub use self::pipeline::Pipeline;
pub use self::progress::{Notification, Notify, ProgressWatch};
use self::refusals::{Line, Refusals};
use self::repeated_calls::RepeatedCalls;
pub use self::space::Space;
pub use self::task::{Received, Task};
pub use self::threads::{Threads, configure};
use crate::protocol::{Answer, PendingCall, Step};
use engine::{COMMANDS_AT_ONCE, Workspace};

/// One in so many parts of the memory for searches is for walks, and one for searches of a small file or folder. Both soon end, and do not
/// wait for searches that may take long.
const FOR_SHORT: usize = 5;

/// How many threads at once look whether what a search searches is small.
const LOOKS: usize = 16;

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
    /// The same for searches of a small file or folder.
    small_searches: Permits,
    /// One permit for each thread that looks whether what a search searches is small.
    looks: Permits,
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
    /// Says that requests have arrived. Before they are parsed.
    pub fn requests_arrived(&self) {
        self.workspace.requests_arrived();
    }

    /// Says that the requests of a client follow that arrived together: a file that several of them read may stay open until
    /// [`Executor::requests_handled`].
    pub fn requests_follow(&self) {
        self.workspace.keep_open();
    }

    /// Says that these requests are answered, or that the next one has to wait.
    pub fn requests_handled(&self) {
        self.workspace.close_kept();
    }

    /// An executor for calls on `workspace`. [`configure`] has set up `runtime`. An error if no thread can be started.
    pub fn new(limits: Limits, workspace: Arc<Workspace>, runtime: Handle) -> io::Result<Arc<Executor>> {
        let for_short = limits.search_memory / FOR_SHORT;
        Ok(Arc::new(Executor {
            workspace,
            limits,
            threads: Threads::new(runtime, limits.timeout)?,
            permits: Permits::new(limits.max_in_flight),
            commands: Permits::new(COMMANDS_AT_ONCE),
            searches: Permits::shared(limits.search_memory - 2 * for_short),
            walks: Permits::shared(for_short),
            small_searches: Permits::shared(for_short),
            looks: Permits::shared(LOOKS),
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
