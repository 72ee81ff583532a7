//! Requests in work on one stdio connection: in order for one file, at once for several, called off when asked or late.
//!
//! Each is run by a worker; the number in work is bounded, and who brings one more waits. A request's time starts
//! when it runs, not while it waits for others of its file; one that hangs in the system is answered as late, and those
//! behind it go on. The requests of a batch are requests like any other: they wait here for their turn, and not the
//! thread that brings them, and their answers are kept until all are done.

use std::collections::{HashMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use tokio::runtime::Handle;

use super::Shared;
use super::batch::{Asked, Batch, Room};
use super::deadlines::Deadlines;
use super::stdout_writer::StdoutWriter;
use super::workers::{self, Workers};
use crate::engine::{Control, Error, Late, Workspace};
use crate::protocol::{Answer, Id, NO_ROOM, Pending, Step, code, refusal};

/// How long the end waits for requests that were answered as late.
const SETTLE: Duration = Duration::from_secs(1);

/// Between two tries to get a thread from a system that has none.
const RETRY: Duration = Duration::from_millis(20);

/// See the module.
#[derive(Clone)]
pub(super) struct Work {
    inner: Arc<Inner>,
}

struct Inner {
    shared: Shared,
    output: Arc<StdoutWriter>,
    runtime: Handle,
    workers: Workers,
    deadlines: Deadlines<Job>,
    /// For the answers of batches.
    room: Room,
    state: Mutex<State>,
    finished: Condvar,
}

#[derive(Default)]
struct State {
    in_work: usize,
    /// Jobs that run, also those that were answered as late, and late answers on their way.
    running: usize,
    /// The thread that reads waits for something to finish.
    waits: bool,
    /// Per file in work, the requests that wait for it.
    files: HashMap<String, VecDeque<Arc<Job>>>,
    /// Requests of batches that wait for nothing but for others to finish, because as many are in work as may be. Those
    /// that wait for their file are not in work either.
    due: VecDeque<Arc<Job>>,
    /// Requests of batches that are not in work yet: those that are due, and those that wait for their file.
    queued: usize,
    by_id: HashMap<Id, Arc<Job>>,
}

struct Job {
    pending: Arc<Pending>,
    /// The batch that it belongs to, and its place there.
    batch: Option<(Arc<Batch>, usize)>,
    /// From when it runs.
    control: OnceLock<Control>,
    called_off: AtomicBool,
    arrived: Instant,
    /// The time of a request was up for whose end it waited.
    behind_late: AtomicBool,
    answered: AtomicBool,
    finished: AtomicBool,
}

impl Job {
    fn new(pending: Pending, batch: Option<(Arc<Batch>, usize)>) -> Arc<Job> {
        Arc::new(Job {
            pending: Arc::new(pending),
            batch,
            control: OnceLock::new(),
            called_off: AtomicBool::new(false),
            arrived: Instant::now(),
            behind_late: AtomicBool::new(false),
            answered: AtomicBool::new(false),
            finished: AtomicBool::new(false),
        })
    }

    /// Starts its time; called off before, it stays so.
    fn start(&self, timeout: Duration) -> &Control {
        let control = self.control.get_or_init(|| match self.behind_late.load(Ordering::SeqCst) {
            true => Control::new(timeout).waiting_since(self.arrived),
            false => Control::new(timeout),
        });
        if self.called_off.load(Ordering::SeqCst) {
            control.cancel();
        }
        control
    }

    /// What goes out when it is answered, or will have no answer: for one of a batch nothing before the last of them.
    /// Counts once: one that was cancelled may be ended by its worker and, if it is late, by the look-out.
    fn answered(&self, answer: Option<Answer>) -> Option<Answer> {
        if self.answered.swap(true, Ordering::SeqCst) {
            return None;
        }
        let Some((batch, place)) = &self.batch else { return answer };
        if let Some(answer) = answer {
            batch.keep(*place, &self.pending, answer);
        }
        batch.done()
    }

    /// Calls it off, whether it runs already or not: true if that was still possible.
    fn cancel(&self) -> bool {
        self.called_off.store(true, Ordering::SeqCst);
        self.control.get().is_none_or(Control::cancel)
    }
}

impl Work {
    pub(super) fn new(shared: Shared, output: Arc<StdoutWriter>, runtime: Handle) -> Work {
        // Some more than requests in work: for late answers.
        let workers = Workers::new(shared.max_in_flight + 8);
        let deadlines = Deadlines::new(shared.timeout);
        let room = Room::new(shared.max_bytes);
        let (state, finished) = (Mutex::default(), Condvar::new());
        let inner = Inner { shared, output, runtime, workers, deadlines, room, state, finished };
        Work { inner: Arc::new(inner) }
    }

    /// Whether a request for this file is in work or waits.
    pub(super) fn is_busy(&self, file: Option<&str>) -> bool {
        file.is_some_and(|file| self.inner.lock().files.contains_key(file))
    }

    /// Waits while as many requests are in work as may be, or as many of batches wait: what comes is held by us.
    pub(super) fn wait_for_room(&self) {
        let inner = &self.inner;
        let most = inner.shared.max_in_flight;
        let full = |state: &mut State| state.in_work >= most || state.queued >= most;
        if full(&mut inner.lock()) {
            // Nothing that is ready may wait for us meanwhile.
            inner.output.flush();
            inner.wait(full);
        }
    }

    /// Takes a request in. The caller has waited for room.
    pub(super) fn take(&self, pending: Pending) {
        self.enter(Job::new(pending, None));
    }

    /// Takes the requests of a batch in.
    pub(super) fn take_batch(&self, steps: Vec<Step>) {
        let inner = &self.inner;
        let Some((batch, asked)) = Batch::new(&inner.shared, &inner.room, steps) else {
            return inner.output.push(refusal(Id::null(), code::INTERNAL_ERROR, NO_ROOM));
        };
        let batch = Arc::new(batch);
        let calls = asked.iter().any(|asked| matches!(asked, Asked::Call(..)));
        for asked in asked {
            match asked {
                Asked::Call(place, pending) => self.enter(Job::new(pending, Some((batch.clone(), place)))),
                Asked::Other(Step::Cancel(id)) => self.cancel(&id),
                Asked::Other(_) => {}
            }
        }
        if !calls && let Some(answer) = batch.take() {
            inner.output.push(answer);
        }
    }

    /// Enters a request in the books, and runs it if it is its turn.
    fn enter(&self, job: Arc<Job>) {
        let mut state = self.inner.lock();
        match job.batch {
            None => state.in_work += 1,
            Some(_) => state.queued += 1,
        }
        if let Some(id) = job.pending.id() {
            state.by_id.insert(id.clone(), job.clone());
        }
        if let Some(file) = job.pending.file() {
            if let Some(waiting) = state.files.get_mut(file) {
                waiting.push_back(job);
                return;
            }
            state.files.insert(file.to_owned(), VecDeque::new());
        }
        let job = self.inner.admit(&mut state, job);
        drop(state);
        if let Some(job) = job {
            self.spawn(job);
        }
    }

    /// From the thread that reads, and from those that work: they do the work themselves where there is no other thread
    /// for it.
    fn spawn(&self, job: Arc<Job>) {
        let work = self.clone();
        if let Err(job) = self.inner.workers.run(workers::job(move || work.run_all(job))) {
            job();
        }
    }

    /// From the thread that waits for signals and timers: until there is a thread for it, it tries again.
    async fn hand_over(&self, job: impl FnOnce() + Send + 'static) {
        let mut handed = self.inner.workers.run(workers::job(job));
        while let Err(job) = handed {
            tokio::time::sleep(RETRY).await;
            handed = self.inner.workers.run(job);
        }
    }

    /// Calls off the request with this id, if it can still be.
    pub(super) fn cancel(&self, id: &Id) {
        let job = self.inner.lock().by_id.get(id).cloned();
        let cancelled = job.is_some_and(|job| job.cancel());
        tracing::debug!(id = id.as_json(), cancelled, "cancel");
    }

    /// Whether nothing is in work, nor runs on although it was answered as late.
    pub(super) fn is_idle(&self) -> bool {
        let state = self.inner.lock();
        state.in_work == 0 && state.running == 0
    }

    /// Waits until nothing is in work.
    pub(super) fn drain(&self) {
        self.inner.wait(|state| state.in_work > 0);
    }

    /// Gives late answers the time to go out, and what they stand for the time to clear away after itself; what hangs in
    /// the system is not waited for.
    pub(super) fn settle(&self) {
        let inner = &self.inner;
        let still = |state: &mut State| state.running > 0;
        let mut state = inner.lock();
        state.waits = true;
        drop(inner.finished.wait_timeout_while(state, SETTLE, still));
    }

    /// Runs a job and then those that waited for its file.
    fn run_all(&self, first: Arc<Job>) {
        let mut next = Some(first);
        while let Some(job) = next {
            self.inner.lock().running += 1;
            self.run(&job);
            self.inner.stopped_running();
            let mut others = self.inner.finish(&job);
            next = others.next();
            others.for_each(|job| self.spawn(job));
        }
    }

    fn run(&self, job: &Arc<Job>) {
        let inner = &self.inner;
        let control = job.start(inner.shared.timeout);
        if inner.deadlines.start(job.clone(), control.overdue()) {
            inner.runtime.spawn(self.clone().look_out());
        }
        if let Some(answer) = self.answer(job, control).and_then(|answer| job.answered(answer)) {
            inner.output.send(answer);
        }
        inner.deadlines.end(job);
    }

    /// Carries a job out: what there is to say then. Nothing if somebody else says it.
    fn answer(&self, job: &Job, control: &Control) -> Option<Option<Answer>> {
        let workspace = &self.inner.shared.workspace;
        let no_room = job.batch.as_ref().is_some_and(|(batch, _)| !batch.has_room_for(&job.pending));
        let answer = match no_room {
            true => control.answer().then(|| job.pending.no_room()),
            false => run_to_answer(&job.pending, workspace, control),
        };
        // What was cancelled ends here, without an answer; what was late has been answered.
        (answer.is_some() || is_cancelled(control)).then_some(answer)
    }

    /// Sees to jobs whose time is up while they hang in the system.
    async fn look_out(self) {
        while let Some(next) = self.inner.deadlines.next(Instant::now()) {
            tokio::time::sleep_until(next.into()).await;
            for job in self.inner.deadlines.late(Instant::now()) {
                let Some(control) = job.control.get() else { continue };
                let late = control.expire();
                // One that was cancelled, and hangs, has no answer; but others wait for its end.
                if late.is_some() || is_cancelled(control) {
                    // One that waits for a thread holds up no other.
                    self.inner.runtime.spawn(self.clone().answer_late(job, late));
                }
            }
        }
    }

    /// Answers in the job's place, if it has an answer, and lets the next of its file go on: what was called off changes
    /// nothing any more.
    async fn answer_late(self, job: Arc<Job>, late: Option<Late>) {
        let answer = late.map(|late| late_answer(&job.pending, late));
        if let Some(answer) = job.answered(answer) {
            let inner = self.inner.clone();
            inner.lock().running += 1;
            self.hand_over(move || {
                inner.output.send(answer);
                inner.stopped_running();
            })
            .await;
        }
        for next in self.inner.finish(&job) {
            let others = self.clone();
            self.hand_over(move || others.run_all(next)).await;
        }
    }
}

fn is_cancelled(control: &Control) -> bool {
    matches!(control.check_called_off(), Err(Error::Cancelled))
}

/// The answer to a request whose time was up.
pub(super) fn late_answer(pending: &Pending, late: Late) -> Answer {
    match late {
        Late::AtWork => pending.answer(Err(Error::TimedOut)),
        Late::LockedOut => pending.locked(),
    }
}

/// Carries a request out. Nothing if it was called off, or answered as late, meanwhile, or if it broke off.
pub(super) fn run_to_answer(pending: &Pending, workspace: &Workspace, control: &Control) -> Option<Answer> {
    let answer = catch_unwind(AssertUnwindSafe(|| match pending.run(workspace, control) {
        Err(Error::Cancelled) => None,
        _ if control.broke_off().is_some() => None,
        result => control.answer().then(|| pending.answer(result)),
    }));
    // Not where somebody else has answered already.
    answer.unwrap_or_else(|_| {
        (control.answer() || control.check_called_off().is_ok()).then(|| pending.panicked())
    })
}

impl Inner {
    fn lock(&self) -> MutexGuard<'_, State> {
        // Every critical section leaves the state whole at every step.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// From the thread that reads.
    fn wait(&self, mut while_so: impl FnMut(&mut State) -> bool) {
        let mut state = self.lock();
        state.waits = true;
        let waited = self.finished.wait_while(state, |state| while_so(state));
        waited.unwrap_or_else(PoisonError::into_inner).waits = false;
    }

    /// A call into the system, so only where somebody waits.
    fn notify(&self, state: &State) {
        if state.waits {
            self.finished.notify_all();
        }
    }

    /// A request whose turn at its file has come. Returns what may run now: one of a batch waits for room.
    fn admit(&self, state: &mut State, job: Arc<Job>) -> Option<Arc<Job>> {
        if job.batch.is_none() {
            return Some(job);
        }
        state.due.push_back(job);
        self.first_due(state)
    }

    fn first_due(&self, state: &mut State) -> Option<Arc<Job>> {
        if state.in_work >= self.shared.max_in_flight {
            return None;
        }
        let due = state.due.pop_front()?;
        state.queued -= 1;
        state.in_work += 1;
        Some(due)
    }

    fn stopped_running(&self) {
        let mut state = self.lock();
        state.running -= 1;
        self.notify(&state);
    }

    /// Takes a job that is done out of the books, once. Returns what may run now: the next for its file, and one that
    /// waited for room.
    fn finish(&self, job: &Arc<Job>) -> impl Iterator<Item = Arc<Job>> + use<> {
        if job.finished.swap(true, Ordering::SeqCst) {
            return None.into_iter().chain(None);
        }
        let mut state = self.lock();
        state.in_work -= 1;
        if let Some(id) = job.pending.id()
            && state.by_id.get(id).is_some_and(|known| Arc::ptr_eq(known, job))
        {
            state.by_id.remove(id);
        }
        let next = job.pending.file().and_then(|file| {
            let waiting = state.files.get_mut(file)?;
            if job.control.get().is_some_and(Control::was_late) {
                waiting.iter().for_each(|other| other.behind_late.store(true, Ordering::SeqCst));
            }
            let next = waiting.pop_front();
            if next.is_none() {
                state.files.remove(file);
            }
            next
        });
        let next = next.and_then(|next| self.admit(&mut state, next));
        let due = self.first_due(&mut state);
        self.notify(&state);
        next.into_iter().chain(due)
    }
}

#[cfg(test)]
mod tests;
