//! Panics, calls that hang, and batches of them.

use super::*;
use crate::protocol::{Session, test_calls};
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
    let (status, text) = answer(&test_calls::tool("\"seven\"", false));
    assert_eq!((status, text), (200, format!(r#"{{"jsonrpc":"2.0","id":"seven",{INTERNAL}"#)));
    assert_eq!(answer(&test_calls::rest(false)), (500, format!("{{{INTERNAL}")));
    let late = Control::new(shared.timeout);
    assert!(late.expire().is_some());
    assert!(run_to_answer(&test_calls::rest(false), &shared.workspace, &late).is_none(), "twice");
}

#[test]
fn what_waits_too_long_names_the_locked_file_if_it_wants_but_one() {
    let (_folder, shared) = testing::shared();
    let late = |call: &str| {
        let line = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{call}}}"#);
        let step = shared.service.mcp(&mut Session::stdio(), line.as_bytes());
        let Step::Call(pending) = step else { panic!("no call") };
        String::from_utf8(late_answer(&pending, Late::LockedOut).collect().unwrap()).unwrap()
    };
    let read = late(r#"{"name":"read_file","arguments":{"name":"f"}}"#);
    assert!(read.contains("Error: File 'f' is locked by another process"), "{read}");
    let list = late(r#"{"name":"list_files","arguments":{}}"#);
    assert!(list.contains("Error: Operation timed out after 10s"), "{list}");
}

#[test]
fn one_that_hangs_is_answered_as_late_and_those_behind_it_go_on() {
    let (_folder, mut shared) = testing::shared();
    shared.timeout = Duration::from_millis(20);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_time().build().unwrap();
    let output = Arc::new(StdoutWriter::closed());
    let work = Work::new(shared, output, runtime.handle().clone());
    let (release, hung) = std::sync::mpsc::channel::<()>();
    work.take(test_calls::hanging("1", hung));
    work.take(test_calls::tool("2", false));
    work.take(test_calls::tool("3", false));
    work.drain();
    assert!(!work.is_busy(Some("f")), "all are answered while the first still hangs");
    drop(release);
}

/// The array that goes out, when it does.
fn array(output: &StdoutWriter) -> Vec<serde_json::Value> {
    let sent = std::iter::repeat_with(|| {
        std::thread::yield_now();
        output.take_flushed()
    });
    serde_json::from_str(&sent.into_iter().find(|sent| !sent.is_empty()).unwrap()).unwrap()
}

#[test]
fn a_batch_waits_for_none_that_hangs_and_for_none_that_panics() {
    let (_folder, mut shared) = testing::shared();
    shared.timeout = Duration::from_millis(20);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_time().build().unwrap();
    let output = Arc::new(StdoutWriter::closed());
    let work = Work::new(shared, output.clone(), runtime.handle().clone());
    let (release, hung) = std::sync::mpsc::channel::<()>();
    let calls = [test_calls::hanging("1", hung), test_calls::tool("2", false), test_calls::tool("3", false)];
    work.take_batch(calls.map(Step::Call).into());
    let answers = array(&output);
    let ids: Vec<_> = answers.iter().map(|answer| answer["id"].as_u64()).collect();
    assert_eq!(ids, [Some(1), Some(2), Some(3)], "in the order of the requests");
    assert!(answers[0]["result"]["isError"] == true && answers[1]["error"]["code"] == -32603);
    drop(release);
    work.drain();
    assert_eq!(output.take_flushed(), "", "twice");
}

#[test]
fn of_a_batch_no_more_are_in_work_than_may_be_and_who_has_waited_longest_is_next() {
    let (_folder, mut shared) = testing::shared();
    shared.max_in_flight = 1;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_time().build().unwrap();
    let output = Arc::new(StdoutWriter::closed());
    let work = Work::new(shared, output.clone(), runtime.handle().clone());
    let (release, hung) = std::sync::mpsc::channel::<()>();
    let others = (2..50).map(|id| test_calls::tool(&id.to_string(), false));
    let calls = std::iter::once(test_calls::hanging("1", hung)).chain(others);
    work.take_batch(calls.map(Step::Call).collect());
    assert_eq!(work.inner.lock().in_work, 1);
    drop(release);
    work.drain();
    assert_eq!(array(&output).len(), 49);
    assert!(!work.is_busy(Some("f")) && work.inner.lock().due.is_empty());
}

#[test]
fn a_panic_holds_up_neither_its_file_nor_the_end() {
    let (_folder, shared) = testing::shared();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_time().build().unwrap();
    let work = Work::new(shared, Arc::new(StdoutWriter::closed()), runtime.handle().clone());
    for id in ["1", "2", "3", "4", "5", "6", "7", "8"] {
        work.wait_for_room();
        work.take(test_calls::tool(id, false));
    }
    work.drain();
    assert!(!work.is_busy(Some("f")));
}
