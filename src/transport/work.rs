//! Requests in work on one stdio connection: in order for one file, at once for several, called off when asked or late.
//!
//! Each is run by a worker; the number in work is bounded, and who brings one more waits. A request's time starts
//! when it runs, not while it waits for others of its file; one that hangs in the system is answered as late, and those
//! behind it go on.

use std::collections::{HashMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use tokio::runtime::Handle;

use super::Shared;
use super::deadlines::Deadlines;
use super::output::Output;
use super::workers::{self, Workers};
use crate::engine::{Control, Error, Late, Workspace};
use crate::protocol::{Answer, Id, Pending, Step};

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
    output: Arc<Output>,
    runtime: Handle,
    workers: Workers,
    deadlines: Deadlines<Job>,
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
    by_id: HashMap<Id, Arc<Job>>,
}

struct Job {
    pending: Pending,
    /// From when it runs.
    control: OnceLock<Control>,
    called_off: AtomicBool,
    finished: AtomicBool,
}

impl Job {
    /// Starts its time; called off before, it stays so.
    fn start(&self, timeout: Duration) -> &Control {
        let control = self.control.get_or_init(|| Control::new(timeout));
        if self.called_off.load(Ordering::SeqCst) {
            control.cancel();
        }
        control
    }

    /// Calls it off, whether it runs already or not: true if that was still possible.
    fn cancel(&self) -> bool {
        self.called_off.store(true, Ordering::SeqCst);
        self.control.get().is_none_or(Control::cancel)
    }
}

impl Work {
    pub(super) fn new(shared: Shared, output: Arc<Output>, runtime: Handle) -> Work {
        // Some more than requests in work: for late answers.
        let workers = Workers::new(shared.max_in_flight + 8);
        let deadlines = Deadlines::new(shared.timeout);
        let (state, finished) = (Mutex::default(), Condvar::new());
        let inner = Inner { shared, output, runtime, workers, deadlines, state, finished };
        Work { inner: Arc::new(inner) }
    }

    /// Whether a request for this file is in work or waits.
    pub(super) fn is_busy(&self, file: Option<&str>) -> bool {
        file.is_some_and(|file| self.inner.lock().files.contains_key(file))
    }

    /// Waits while as many requests are in work as may be.
    pub(super) fn wait_for_room(&self) {
        let inner = &self.inner;
        let full = |state: &mut State| state.in_work >= inner.shared.max_in_flight;
        if full(&mut inner.lock()) {
            // Nothing that is ready may wait for us meanwhile.
            inner.output.flush();
            inner.wait(full);
        }
    }

    /// Takes a request in.
    pub(super) fn take(&self, pending: Pending) {
        let inner = &self.inner;
        let job = Arc::new(Job {
            pending,
            control: OnceLock::new(),
            called_off: AtomicBool::new(false),
            finished: AtomicBool::new(false),
        });
        let mut state = inner.lock();
        state.in_work += 1;
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
        drop(state);
        self.spawn(job);
    }

    /// From the thread that reads: it does the work itself where there is no other thread for it.
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
            next = self.inner.finish(&job);
        }
    }

    fn run(&self, job: &Arc<Job>) {
        let inner = &self.inner;
        let control = job.start(inner.shared.timeout);
        if inner.deadlines.start(job.clone(), control.overdue()) {
            inner.runtime.spawn(self.clone().look_out());
        }
        if let Some(answer) = run_to_answer(&job.pending, &inner.shared.workspace, control) {
            inner.output.send(answer);
        }
        inner.deadlines.end(job);
    }

    /// Sees to jobs whose time is up while they hang in the system.
    async fn look_out(self) {
        while let Some(next) = self.inner.deadlines.next(Instant::now()) {
            tokio::time::sleep_until(next.into()).await;
            for job in self.inner.deadlines.late(Instant::now()) {
                if let Some(late) = job.control.get().and_then(Control::expire) {
                    // One that waits for a thread holds up no other.
                    self.inner.runtime.spawn(self.clone().answer_late(job, late));
                }
            }
        }
    }

    /// Answers in the job's place, and lets the next of its file go on: what was called off changes nothing any more.
    async fn answer_late(self, job: Arc<Job>, late: Late) {
        let answer = late_answer(&job.pending, late);
        let inner = self.inner.clone();
        inner.lock().running += 1;
        self.hand_over(move || {
            inner.output.send(answer);
            inner.stopped_running();
        })
        .await;
        if let Some(next) = self.inner.finish(&job) {
            let others = self.clone();
            self.hand_over(move || others.run_all(next)).await;
        }
    }
}

/// The answer to a request whose time was up.
pub(super) fn late_answer(pending: &Pending, late: Late) -> Answer {
    match late {
        Late::AtWork => pending.answer(Err(Error::TimedOut)),
        Late::LockedOut => pending.locked(),
    }
}

/// Carries a request out. Nothing if it was called off, or answered as late, meanwhile.
pub(super) fn run_to_answer(pending: &Pending, workspace: &Workspace, control: &Control) -> Option<Answer> {
    let answer = catch_unwind(AssertUnwindSafe(|| match pending.run(workspace, control) {
        Err(Error::Cancelled) => None,
        result => control.answer().then(|| pending.answer(result)),
    }));
    // Not where somebody else has answered already.
    answer.unwrap_or_else(|_| {
        (control.answer() || control.check_called_off().is_ok()).then(|| pending.panicked())
    })
}

/// Carries a batch out in its order, each request when the answers before it have been taken; all of them together may
/// work as long as one. Nothing if none wants an answer.
pub(super) fn run_batch(steps: Vec<Step>, workspace: Arc<Workspace>, timeout: Duration) -> Option<Answer> {
    let any = steps.iter().any(|step| matches!(step, Step::Answer(_) | Step::Call(_)));
    let mut left = timeout;
    let answers = steps.into_iter().filter_map(move |step| match step {
        Step::Answer(answer) => Some(answer),
        Step::Call(pending) => {
            let start = Instant::now();
            let answer = run_to_answer(&pending, &workspace, &Control::new(left));
            left = left.saturating_sub(start.elapsed());
            answer
        }
        Step::Silent | Step::Cancel(_) | Step::Batch(_) => None,
    });
    any.then(|| Answer::array(answers))
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

    fn stopped_running(&self) {
        let mut state = self.lock();
        state.running -= 1;
        self.notify(&state);
    }

    /// Takes a job that is done out of the books, once; returns the next for its file.
    fn finish(&self, job: &Arc<Job>) -> Option<Arc<Job>> {
        if job.finished.swap(true, Ordering::SeqCst) {
            return None;
        }
        let mut state = self.lock();
        state.in_work -= 1;
        if let Some(id) = job.pending.id()
            && state.by_id.get(id).is_some_and(|known| Arc::ptr_eq(known, job))
        {
            state.by_id.remove(id);
        }
        let next = job.pending.file().and_then(|file| {
            let next = state.files.get_mut(file)?.pop_front();
            if next.is_none() {
                state.files.remove(file);
            }
            next
        });
        self.notify(&state);
        next
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::panicking;
    use crate::transport::testing;

    const INTERNAL: &str = r#""error":{"code":-32603,"message":"Internal error"}}"#;

    #[test]
    fn a_panic_in_a_call_is_an_answer() {
        let (_folder, shared) = testing::shared();
        let answer = |pending: &Pending| {
            let control = Control::new(shared.timeout);
            let answer = run_to_answer(pending, &shared.workspace, &control).unwrap();
            (answer.status, String::from_utf8(answer.collect().unwrap()).unwrap())
        };
        let (status, text) = answer(&panicking::tool("\"seven\"", false));
        assert_eq!((status, text), (200, format!(r#"{{"jsonrpc":"2.0","id":"seven",{INTERNAL}"#)));
        assert_eq!(answer(&panicking::rest(false)), (500, format!("{{{INTERNAL}")));
        let late = Control::new(shared.timeout);
        assert!(late.expire().is_some());
        assert!(run_to_answer(&panicking::rest(false), &shared.workspace, &late).is_none(), "twice");
    }

    #[test]
    fn one_that_hangs_is_answered_as_late_and_those_behind_it_go_on() {
        let (_folder, mut shared) = testing::shared();
        shared.timeout = Duration::from_millis(20);
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_time().build().unwrap();
        let output = Arc::new(Output::closed());
        let work = Work::new(shared, output, runtime.handle().clone());
        let (release, hung) = std::sync::mpsc::channel::<()>();
        work.take(panicking::hanging("1", hung));
        work.take(panicking::tool("2", false));
        work.take(panicking::tool("3", false));
        work.drain();
        assert!(!work.is_busy(Some("f")), "all are answered while the first still hangs");
        drop(release);
    }

    #[test]
    fn a_panic_holds_up_neither_its_file_nor_the_end() {
        let (_folder, shared) = testing::shared();
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_time().build().unwrap();
        let work = Work::new(shared, Arc::new(Output::closed()), runtime.handle().clone());
        for id in ["1", "2", "3", "4", "5", "6", "7", "8"] {
            work.wait_for_room();
            work.take(panicking::tool(id, false));
        }
        work.drain();
        assert!(!work.is_busy(Some("f")));
    }
}
