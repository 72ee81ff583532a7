//! One run of a call: it waits for its turns and permits, runs on a thread, and is answered at the latest when its time is up.
//!
//! Knows no other calls, only the queues and permits that all share.

use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::time::timeout_at;

use super::metrics::METRICS;
use super::permits::{Permit, Permits};
use super::pipeline::Pipeline;
use super::task::Task;
use super::{Admitted, Ended, Executor};
use crate::protocol::Answer;
use engine::COMMAND_ENDING;
use folder::{EntryKind, Late};

/// A search that waits for memory leaves one in so many parts of its time for its work.
const FOR_WORK: u32 = 4;

/// The most memory of a call that walks, in MB. One that searches or analyses takes more.
const WALK: usize = 10;

/// A search of a small file runs on one thread, and takes one in so many parts of the memory of another search.
const OF_FILE: usize = 2;

/// How long a search waits at most to know whether what it searches is small: the file system may not answer.
const LOOK: Duration = Duration::from_millis(250);

/// How often a call without a permit looks whether a file system does not answer.
const SILENT_EVERY: Duration = Duration::from_millis(500);

impl Executor {
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
        let file = file.filter(|_| !switches::is_off("stdio-queue"));
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

    pub(super) async fn run_once<T: Send + 'static>(
        &self,
        task: &Arc<Task>,
        then: impl Fn(Answer) -> T + Clone + Send + 'static,
    ) -> Ended<T> {
        let control = &task.control;
        let _turn = match task.call.file().filter(|_| !switches::is_off("change-queue") && task.call.writes())
        {
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
    pub(super) async fn attempt<T: Send + 'static>(
        &self,
        task: &Arc<Task>,
        until: Instant,
        then: &(impl Fn(Answer) -> T + Clone + Send + 'static),
    ) -> Ended<T> {
        let (permits, until, late) = match task.call.command_timeout() {
            None => (&self.permits, until, Late::AtWork),
            // The wait counts as time of the command.
            Some(_) => {
                let permits = if switches::is_off("exec-permits") { &self.permits } else { &self.commands };
                (permits, until - COMMAND_ENDING, Late::LockedOut)
            }
        };
        let Some(memory) = self.memory(task, until).await else {
            return not_run(task, Task::crowded_out);
        };
        let Some(_permit) = self.permit(permits, task, 1, until).await else {
            return time_is_up(task, late);
        };
        if !switches::is_off("threads-for-answers") && self.is_stuck() {
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

    /// Waits for the memory that the call may take. Where it may have to, it ends the wait early enough before then that a quarter of the
    /// timeout is left for the work. `None` as in [`Executor::permit`]; the inner `None` also if the call needs no memory.
    pub(super) async fn memory(&self, task: &Arc<Task>, until: Instant) -> Option<Option<Permit>> {
        let memory = task.call.memory();
        let until = until - if memory == 0 { Duration::ZERO } else { self.limits.timeout / FOR_WORK };
        match memory {
            0 => Some(None),
            1..=WALK if !switches::is_off("walks-apart") => {
                self.permit(&self.walks, task, memory, until).await
            }
            // Only a search that would have to wait looks what it searches.
            _ => match self
                .searches
                .take_now(task.client(), memory)
                .filter(|_| !switches::is_off("small-look-late"))
            {
                Some(permit) => Some(Some(permit)),
                None => match self.small_search(task, until).await {
                    Some(EntryKind::Folder) => self.permit(&self.small_searches, task, memory, until).await,
                    Some(_) if !switches::is_off("small-search-apart") => {
                        self.permit(&self.small_searches, task, memory / OF_FILE, until).await
                    }
                    _ => self.permit(&self.searches, task, memory, until).await,
                },
            },
        }
    }

    /// What the call searches, if that is known soon, and before then, and is small.
    pub(super) async fn small_search(&self, task: &Arc<Task>, until: Instant) -> Option<EntryKind> {
        // A whole served folder needs no look.
        if self.is_stuck() || task.call.searched().is_none_or(|path| path.as_str().is_empty()) {
            return None;
        }
        let until = if switches::is_off("look-is-short") { until } else { until.min(Instant::now() + LOOK) };
        let look = async {
            // Held until the thread has ended.
            let held = (self.looks.take(task.client(), 1).await, self.on_threads.enter());
            let (task, workspace) = (task.clone(), self.workspace.clone());
            let look = move || {
                let _held = held;
                task.call.searched().and_then(|path| workspace.small_search(path, &task.control))
            };
            self.threads.spawn(look).await
        };
        timeout_at(until.into(), look).await.ok()?.ok()?
    }

    /// Waits for `count` permits until then. `None`: there were none, or the call was cancelled. The inner `None`: the call runs
    /// without, because those that have the permits may wait for a file system that does not answer.
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
                // It takes no turn.
                _ if task.control.is_cancelled() => return None,
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
pub(super) fn time_is_up<T>(task: &Arc<Task>, waited_for: Late) -> Ended<T> {
    match task.control.expire() {
        Some(_) => Ended::Late(task.late(waited_for)),
        None => Ended::Cancelled,
    }
}
