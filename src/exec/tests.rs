//! Tests of calls that panic or hang, alone and in batches.

use std::sync::Mutex;
use std::sync::mpsc::channel;

use super::testing::Setup;
use super::*;
use crate::protocol::{Session, test_calls};
use folder::Late;

const INTERNAL: &str = r#""error":{"code":-32603,"message":"Internal error"}}"#;

fn text(answer: Answer) -> String {
    String::from_utf8(answer.collect().unwrap()).unwrap()
}

#[test]
fn a_panic_in_a_call_is_an_answer() {
    let setup = Setup::new();
    let task = |call| Task::new(call, setup.limits.timeout, Instant::now());
    let answer = |call| {
        let answer = task(call).run(&setup.workspace).unwrap();
        (answer.status, text(answer))
    };
    let (status, text) = answer(test_calls::tool("\"seven\"", false));
    assert_eq!((status, text), (200, format!(r#"{{"jsonrpc":"2.0","id":"seven",{INTERNAL}"#)));
    assert_eq!(answer(test_calls::rest(false)), (500, format!("{{{INTERNAL}")));
    let late = task(test_calls::rest(false));
    assert!(late.control.expire().is_some());
    assert!(late.run(&setup.workspace).is_none(), "twice");
}

#[test]
fn a_call_that_was_cancelled_before_its_work_begins_does_none() {
    let setup = Setup::new();
    // It would panic.
    let cancelled = Task::new(test_calls::rest(false), setup.limits.timeout, Instant::now());
    assert!(cancelled.control.cancel());
    assert!(cancelled.run(&setup.workspace).is_none());
    let executor = setup.executor();
    let kept = |_: Answer| panic!("an answer");
    let ended = setup.runtime.block_on(executor.run(&cancelled, kept));
    assert!(matches!(ended, Ended::Cancelled) && executor.on_threads().count() == 0);
}

#[test]
fn a_call_that_waits_too_long_names_the_locked_file_if_it_has_one() {
    let setup = Setup::new();
    let late = |call: &str| {
        let line = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{call}}}"#);
        let step = setup.service.mcp(&mut Session::stdio(), line.as_bytes());
        let Step::Call(call) = step else { panic!("no call") };
        text(Task::new(call, setup.limits.timeout, Instant::now()).late(Late::LockedOut))
    };
    let read = late(r#"{"name":"read_file","arguments":{"name":"f"}}"#);
    assert!(read.contains("Error: File 'f' is locked by another process"), "{read}");
    let list = late(r#"{"name":"list_files","arguments":{}}"#);
    assert!(list.contains("Error: Operation timed out after 10s"), "{list}");
}

#[test]
fn a_search_does_not_wait_long_to_know_whether_its_file_is_small() {
    let setup = Setup::new();
    let (runtime, executor) = (&setup.runtime, setup.executor());
    std::fs::write(setup.folder.path().join("f"), "a\n").unwrap();
    let task = executor.task(test_calls::rest(false), Instant::now());
    let until = Instant::now() + setup.limits.timeout;
    let is_small = || runtime.block_on(executor.small_search(&task, until)).is_some();
    // On a busy machine one look may take too long.
    assert!((0..40).any(|_| is_small()));
    runtime.block_on(executor.on_threads().below(1));
    let looks = runtime.block_on(executor.looks.take(1, LOOKS));
    assert!(!is_small() && Instant::now() < until, "others look, and wait for a file system");
    drop(looks);
    let on_threads: Vec<_> = (0..threads::for_calls(4)).map(|_| executor.on_threads().enter()).collect();
    assert!(!is_small(), "no thread is left for it");
    drop(on_threads);
    assert!((0..40).any(|_| is_small()));
}

#[test]
fn a_search_that_need_not_wait_does_not_look_what_it_searches() {
    let setup = Setup::new();
    let executor = setup.executor();
    std::fs::write(setup.folder.path().join("f"), "a\n").unwrap();
    let task = executor.task(test_calls::rest(false), Instant::now());
    let all = [&executor.searches, &executor.small_searches].map(Permits::free);
    let memory = || setup.runtime.block_on(executor.memory(&task, Instant::now() + setup.limits.timeout));
    let took = memory();
    assert_eq!(executor.searches.free(), all[0] - 40, "as a search of any size: {took:?}");
    drop(took);
    // Where it would wait, it looks. On a busy machine one look may take too long.
    let _others = setup.runtime.block_on(executor.searches.take(7, all[0]));
    assert!((0..40).any(|_| {
        let took = memory();
        took.is_some() && executor.small_searches.free() == all[1] - 20
    }));
}

#[test]
fn where_the_address_space_is_limited_one_search_of_each_kind_runs_at_a_time() {
    let mut setup = Setup::new();
    setup.limits.search_memory = 40;
    let executor = setup.executor();
    let kinds = [(&executor.searches, 40), (&executor.small_searches, 20), (&executor.walks, 10)];
    for (permits, memory) in kinds {
        let _held = setup.runtime.block_on(permits.take(1, memory));
        assert_eq!(permits.free(), 0);
    }
}

/// Starts calls of one connection. Returns the ids of the answered calls when all have ended.
fn run_all(
    executor: &Arc<Executor>,
    runtime: &tokio::runtime::Runtime,
    calls: Vec<PendingCall>,
) -> Vec<String> {
    let (pipeline, answers) = (Arc::<Pipeline>::default(), Arc::new(Mutex::new(Vec::new())));
    for call in calls {
        let (executor, pipeline, answers) = (executor.clone(), pipeline.clone(), answers.clone());
        start(runtime.handle(), async move {
            let call = executor.admit(executor.task(call, Instant::now()));
            let keep = {
                let answers = answers.clone();
                move |answer| answers.lock().unwrap().push(text(answer))
            };
            if let Ended::Late(answer) = executor.run_in_order(&pipeline, &call, keep.clone()).await {
                keep(answer);
            }
        });
    }
    runtime.block_on(executor.in_progress().below(1));
    assert!(!pipeline.is_busy(Some("f")));
    let answers = std::mem::take(&mut *answers.lock().unwrap());
    let id = |answer: &String| {
        let answer: serde_json::Value = serde_json::from_str(answer).unwrap();
        answer["id"].to_string()
    };
    answers.iter().map(id).collect()
}

#[test]
fn a_call_that_hangs_is_answered_as_late_and_those_behind_it_go_on() {
    let mut setup = Setup::new();
    setup.limits.timeout = Duration::from_millis(20);
    let (runtime, executor) = (&setup.runtime, setup.executor());
    let (release, hung) = channel::<()>();
    let calls =
        vec![test_calls::hanging("1", hung), test_calls::tool("2", false), test_calls::tool("3", false)];
    assert_eq!(run_all(&executor, runtime, calls), ["1", "2", "3"]);
    assert_eq!(executor.on_threads().count(), 1, "the first still hangs");
    drop(release);
    runtime.block_on(executor.on_threads().below(1));
}

#[test]
fn panics_do_not_delay_the_calls_behind_them() {
    let setup = Setup::new();
    let (runtime, executor) = (&setup.runtime, setup.executor());
    let ids = ["1", "2", "3", "4", "5", "6", "7", "8"];
    let calls = ids.map(|id| test_calls::tool(id, false)).into();
    assert_eq!(run_all(&executor, runtime, calls), ids);
    assert_eq!(executor.permits.free(), setup.limits.max_in_flight);
}

fn run_batch(
    executor: &Arc<Executor>,
    runtime: &tokio::runtime::Runtime,
    calls: impl IntoIterator<Item = PendingCall>,
) -> Vec<serde_json::Value> {
    let steps = calls.into_iter().map(Step::Call).collect();
    let batch = executor.clone().run_batch(steps, Instant::now(), Arc::default(), 4, None, text);
    serde_json::from_str(&runtime.block_on(batch).unwrap().unwrap()).unwrap()
}

#[test]
fn a_batch_waits_for_no_call_that_hangs_or_panics() {
    let mut setup = Setup::new();
    setup.limits.timeout = Duration::from_millis(20);
    let (runtime, executor) = (&setup.runtime, setup.executor());
    let (release, hung) = channel::<()>();
    let calls = [test_calls::hanging("1", hung), test_calls::tool("2", false), test_calls::tool("3", false)];
    let answers = run_batch(&executor, runtime, calls);
    let ids: Vec<_> = answers.iter().map(|answer| answer["id"].as_u64()).collect();
    assert_eq!(ids, [Some(1), Some(2), Some(3)], "in the order of the requests");
    assert!(answers[0]["result"]["isError"] == true && answers[1]["error"]["code"] == -32603);
    drop(release);
}

#[test]
fn no_more_calls_of_a_batch_run_at_once_than_may() {
    let mut setup = Setup::new();
    setup.limits.max_in_flight = 1;
    let (runtime, executor) = (&setup.runtime, setup.executor());
    let (release, hung) = channel::<()>();
    let others = (2..50).map(|id| test_calls::tool(&id.to_string(), false));
    let calls: Vec<_> = std::iter::once(test_calls::hanging("1", hung)).chain(others).collect();
    let running = executor.clone();
    let watch = runtime.spawn(async move {
        while running.on_threads().count() == 0 {
            tokio::task::yield_now().await;
        }
        assert_eq!((running.on_threads().count(), running.in_progress().count()), (1, 49));
        drop(release);
    });
    assert_eq!(run_batch(&executor, runtime, calls).len(), 49);
    runtime.block_on(watch).unwrap();
    assert_eq!(executor.in_progress().count(), 0);
}
