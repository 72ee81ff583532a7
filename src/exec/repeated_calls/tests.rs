//! Tests of calls that are sent twice, with made-up calls.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;

use serde_json::Value;
use tokio::runtime::Runtime;

use super::*;
use crate::exec::testing::Setup;
use crate::exec::{Pipeline, start};
use crate::protocol::{PendingCall, Step, test_calls};
use crate::tools::{Members, Reply};
use folder::Result;

mod bounds;

const KEY: (&str, u64) = ("k", 1);

/// A reply that names its run.
fn reply(run: usize) -> Reply {
    let metadata = Some(Members::default().with("run", &run));
    let data = Members::default().with("run", &run);
    Reply { text: format!("run {run}"), data, metadata, ..Reply::default() }
}

/// A server, and work that counts its runs.
struct Server {
    setup: Setup,
    executor: Arc<Executor>,
    runs: Arc<AtomicUsize>,
}

impl Server {
    fn new() -> Server {
        let setup = Setup::new();
        Server { executor: setup.executor(), setup, runs: Arc::default() }
    }

    fn runtime(&self) -> &Runtime {
        &self.setup.runtime
    }

    fn runs(&self) -> usize {
        self.runs.load(Ordering::SeqCst)
    }

    /// A call whose run receives its number, from 1.
    fn call(
        &self,
        id: Option<&str>,
        key: (&str, u64),
        work: impl Fn(usize, &folder::Control) -> Result<Reply> + Send + Sync + 'static,
    ) -> PendingCall {
        let runs = self.runs.clone();
        let work = move |control: &folder::Control| work(runs.fetch_add(1, Ordering::SeqCst) + 1, control);
        test_calls::keyed(id, key, Arc::new(work))
    }

    fn ok(&self, id: &str, key: (&str, u64)) -> PendingCall {
        self.call(Some(id), key, |run, _| Ok(reply(run)))
    }

    fn task(&self, call: PendingCall) -> Arc<Task> {
        self.executor.task(call, std::time::Instant::now())
    }

    /// The answer of a call; `None` if it was cancelled.
    fn run(&self, call: PendingCall) -> Option<Value> {
        self.runtime().block_on(answer(self.executor.clone(), self.task(call)))
    }

    /// Starts a call as a connection does. When this returns, it runs or waits.
    fn begin(&self, task: &Arc<Task>) -> mpsc::Receiver<Option<Value>> {
        let (sender, receiver) = mpsc::channel();
        let answer = answer(self.executor.clone(), task.clone());
        start(self.runtime().handle(), async move { drop(sender.send(answer.await)) });
        receiver
    }
}

async fn answer(executor: Arc<Executor>, task: Arc<Task>) -> Option<Value> {
    assert!(executor.run_now(&task).is_none(), "it may have to wait for another");
    let call = executor.admit(task);
    let bytes = |answer: Answer| serde_json::from_slice(&answer.collect().unwrap()).unwrap();
    match executor.run_in_order(&Arc::<Pipeline>::default(), &call, bytes).await {
        Ended::Answered(answer) => Some(answer),
        Ended::Late(answer) => Some(bytes(answer)),
        Ended::Cancelled => None,
    }
}

fn text(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"].as_str().unwrap()
}

#[test]
fn a_call_that_is_sent_twice_runs_once_and_is_answered_alike_under_its_own_id() {
    let server = Server::new();
    let first = server.run(server.ok("1", KEY)).unwrap();
    let again = server.run(server.ok("\"two\"", KEY)).unwrap();
    assert_eq!((&first["id"], &again["id"]), (&1.into(), &"two".into()));
    assert_eq!(first["result"], again["result"]);
    assert_eq!((text(&first), &first["result"]["metadata"]["run"]), ("run 1", &1.into()));
    // In another form, too.
    let rest = server.run(server.call(None, KEY, |run, _| Ok(reply(run)))).unwrap();
    assert_eq!(rest["run"], 1);
    assert_eq!(server.runs(), 1);
    assert_eq!(text(&server.run(server.ok("3", ("other", 1))).unwrap()), "run 2");
}

#[test]
fn the_same_key_with_other_arguments_is_refused() {
    let server = Server::new();
    server.run(server.ok("1", KEY));
    let other = server.run(server.ok("2", ("k", 2))).unwrap();
    assert_eq!(other["result"]["isError"], true);
    assert!(
        text(&other).starts_with("Error: Invalid arguments: idempotency_key: this key was used"),
        "{other}"
    );
    let long = "k".repeat(super::KEY);
    assert_eq!(text(&server.run(server.ok("3", (&long, 1))).unwrap()), "run 2");
    for wrong in [long + "k", String::new()] {
        let answer = server.run(server.ok("4", (&wrong, 1))).unwrap();
        assert!(text(&answer).starts_with("Error: Invalid arguments: idempotency_key: it has "), "{answer}");
    }
    assert_eq!(server.runs(), 2);
}

#[test]
fn a_second_call_waits_for_the_first_and_gets_its_reply() {
    let server = Server::new();
    let (release, released) = mpsc::channel::<()>();
    let released = Mutex::new(released);
    let first = server.task(server.call(Some("1"), KEY, move |run, _| {
        let _ = released.lock().unwrap().recv();
        Ok(reply(run))
    }));
    let first = server.begin(&first);
    let waiting: Vec<_> =
        (2..6).map(|id| server.begin(&server.task(server.ok(&id.to_string(), KEY)))).collect();
    let cancelled = server.task(server.ok("6", KEY));
    let no_answer = server.begin(&cancelled);
    assert!(cancelled.control.cancel());
    // Another key does not wait.
    assert_eq!(text(&server.run(server.ok("7", ("other", 1))).unwrap()).len(), "run 1".len());
    drop(release);
    let first = first.recv().unwrap().unwrap();
    for answer in waiting {
        assert_eq!(answer.recv().unwrap().unwrap()["result"], first["result"]);
    }
    assert_eq!(no_answer.recv().unwrap(), None);
    assert_eq!(server.runs(), 2);
}

#[test]
fn a_call_that_waits_too_long_for_the_first_is_late() {
    let mut server = Server::new();
    // Enough for the first to begin its commit.
    server.setup.limits.timeout = Duration::from_millis(500);
    server.executor = server.setup.executor();
    let (release, released) = mpsc::channel::<()>();
    let released = Mutex::new(released);
    let first = server.begin(&server.task(server.call(Some("1"), KEY, move |run, control| {
        control.begin_commit()?;
        let _ = released.lock().unwrap().recv();
        Ok(reply(run))
    })));
    let second = server.run(server.ok("2", KEY)).unwrap();
    assert!(text(&second).starts_with("Error: Operation timed out"), "{second}");
    drop(release);
    assert_eq!(text(&first.recv().unwrap().unwrap()), "run 1");
    assert_eq!(text(&server.run(server.ok("3", KEY)).unwrap()), "run 1", "it was kept all the same");
}

/// What a call that was given up while it committed replies at last.
type Ending = fn(usize, &folder::Control) -> Result<Reply>;

/// The text of the answer to another call with the key of a call that was given up while it committed, after that has ended,
/// and how many of the two have run.
fn told_after(ending: Ending) -> (String, usize) {
    let mut server = Server::new();
    // Counted from the start of the run: enough for it to begin its commit.
    server.setup.limits.timeout = Duration::from_millis(200);
    server.executor = server.setup.executor();
    let ((release, released), (end, ended)) = (mpsc::channel::<()>(), mpsc::channel::<()>());
    let (released, end) = (Mutex::new(released), Mutex::new(Some(end)));
    let first = server.run(server.call(Some("1"), KEY, move |run, control| {
        // Dropped when the call ends, also by a panic.
        let _end = end.lock().unwrap().take();
        control.begin_commit()?;
        let _ = released.lock().unwrap().recv();
        ending(run, control)
    }));
    let unknown = "while its change was put in place";
    assert!(text(&first.unwrap()).contains(unknown));
    assert!(text(&server.run(server.ok("2", KEY)).unwrap()).contains(unknown), "it has not ended");
    drop(release);
    let _ = ended.recv();
    loop {
        // Its reply is recorded a moment after its end.
        let told = server.run(server.ok("3", KEY)).unwrap();
        let told = told.pointer("/result/content/0/text").unwrap_or(&told["error"]["message"]);
        match told.as_str().unwrap() {
            told if told.contains(unknown) => std::thread::yield_now(),
            told => return (told.into(), server.runs()),
        }
    }
}

#[test]
fn of_a_call_that_was_given_up_while_it_committed_the_next_with_its_key_tells_the_outcome() {
    let endings: [(Ending, &str); 4] = [
        (|run, _| Ok(reply(run)), "was carried out before, with success"),
        (
            |run, _| Ok(Reply { failure: Some(Arc::new(Error::Busy)), ..reply(run) }),
            "was carried out before, but failed",
        ),
        (
            |_, _| Err(Error::WriteFailed { source: std::io::Error::other("it is not known") }),
            "it is not known",
        ),
        (|_, _| panic!("in a test"), "Internal error"),
    ];
    for (ending, expected) in endings {
        let (told, runs) = told_after(ending);
        assert!(told.contains(expected), "{told}; expected: {expected}");
        assert_eq!(runs, 1);
    }
}

#[test]
fn a_call_that_was_given_up_and_changed_nothing_can_be_sent_again() {
    let (told, runs) = told_after(|_, control| {
        control.undo_commit();
        Err(Error::Busy)
    });
    assert_eq!((told.as_str(), runs), ("run 2", 2));
}

#[test]
fn a_call_that_failed_without_a_change_can_be_sent_again_and_one_that_may_have_changed_something_not() {
    let server = Server::new();
    let failed = || Err(Error::NotText { name: "f".into() });
    for (key, committed) in [("refused", false), ("committed", true)] {
        let call = |id| {
            server.call(Some(id), (key, 1), move |run, control| {
                if committed {
                    control.begin_commit()?;
                }
                if run % 2 == 1 { failed() } else { Ok(reply(run)) }
            })
        };
        let before = server.runs();
        let first = server.run(call("1")).unwrap();
        assert!(text(&first).contains("is not a text file"), "{first}");
        let second = server.run(call("2")).unwrap();
        assert_eq!(second["result"] == first["result"], committed, "{second}");
        assert_eq!(server.runs() - before, if committed { 1 } else { 2 });
    }
    // A failure that the tool has written itself.
    let written = |run, failure| Ok(Reply { failure: Some(Arc::new(failure)), ..reply(run) });
    for _ in 0..2 {
        server.run(server.call(Some("3"), ("written", 1), move |run, _| written(run, Error::TimedOut)));
    }
    assert_eq!(server.runs(), 5);
}

#[test]
fn a_panic_is_repeated_only_if_the_commit_had_begun() {
    let server = Server::new();
    for (key, committed, runs) in [("before", false, 2), ("after", true, 1)] {
        let call = |id| {
            server.call(Some(id), (key, 1), move |_, control| {
                if committed {
                    control.begin_commit()?;
                }
                panic!("in a test")
            })
        };
        let before = server.runs();
        for id in ["1", "2"] {
            assert_eq!(server.run(call(id)).unwrap()["error"]["code"], -32603);
        }
        assert_eq!(server.runs() - before, runs, "{key}");
    }
}

#[test]
fn if_the_first_is_cancelled_or_late_the_one_that_waits_runs() {
    let mut server = Server::new();
    server.setup.limits.timeout = Duration::from_millis(100);
    server.executor = server.setup.executor();
    for cancelled in [true, false] {
        let (running, is_running) = mpsc::channel();
        let running = Mutex::new(running);
        let first = server.task(server.call(Some("1"), KEY, move |_, control| {
            let _ = running.lock().unwrap().send(());
            // Like work that looks at its control now and then.
            loop {
                control.check()?;
                std::thread::yield_now();
            }
        }));
        let first_answer = server.begin(&first);
        is_running.recv().unwrap();
        if cancelled {
            let second = server.begin(&server.task(server.ok("2", KEY)));
            assert!(first.control.cancel());
            assert_eq!(text(&second.recv().unwrap().unwrap()), "run 2");
            assert_eq!(first_answer.recv().unwrap(), None);
            server.executor = server.setup.executor();
        } else {
            let late = first_answer.recv().unwrap().unwrap();
            assert!(text(&late).starts_with("Error: Operation timed out"), "{late}");
            assert_eq!(text(&server.run(server.ok("2", KEY)).unwrap()), "run 4");
        }
    }
}

#[test]
fn it_holds_in_batches() {
    let server = Server::new();
    for at_once in [1, 4] {
        server.executor.repeated.lock().by_key.clear();
        let before = server.runs();
        let steps = (1..=5).map(|id| Step::Call(server.ok(&id.to_string(), KEY))).collect();
        let bytes = |answer: Answer| answer.collect().unwrap();
        let received = std::time::Instant::now();
        let batch = server.executor.clone().run_batch(steps, received, Arc::default(), at_once, None, bytes);
        let answers = server.runtime().block_on(batch).unwrap().unwrap();
        let answers: Vec<Value> = serde_json::from_slice(&answers).unwrap();
        assert!(answers.len() == 5 && answers.iter().all(|answer| answer["result"] == answers[0]["result"]));
        assert_eq!(server.runs() - before, 1);
    }
}
