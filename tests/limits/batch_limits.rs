//! Limits on batches: requests in flight, the rate, memory and descriptors (contract 2, 8).

use std::collections::BTreeSet;
use std::fs::File;
use std::time::Instant;

use serde_json::{Value, json};

use super::batch_client::{ids, post, stdio};
use crate::support::{
    Connection, Folder, Http, MB, Mcp, Stdio, anonymous_memory, append_call, at_once, call, cancelled,
    command, descriptors, is_idle, locked, locks_waited_for, ping, read_call, text_of, until,
    until_locks_are_waited_for, with_descriptors,
};

#[test]
fn no_more_members_are_in_work_than_max_in_flight_says() {
    not_under_wine!("counts the waits of a process in /proc/locks");
    let folder = Folder::new();
    let names = ["f0", "f1", "f2", "f3", "f4", "f5"];
    let locks = locked(&folder, &names);
    let server = stdio(&folder, &["--max-in-flight=2", "--timeout=30"]);
    let batch: Vec<Value> = names.iter().map(|name| append_call(*name, name, "x")).collect();
    server.send(&json!(batch));
    until_locks_are_waited_for(server.pid(), 2);
    // The server reads one request more than may be in work, and no further.
    server.send(&ping("behind"));
    let mut seen = BTreeSet::new();
    for lock in locks {
        let waits = locks_waited_for(server.pid());
        assert!(waits <= 2, "{waits} at once");
        seen.insert(waits);
        drop(lock);
    }
    assert!(seen.contains(&2));
    let answers = [server.recv(), server.recv()];
    let batch = answers.iter().find(|answer| answer.is_array()).expect("the batch");
    assert_eq!(ids(batch), names);
    assert!(names.iter().all(|name| folder.text(name) == "a\nx\n"));
}

#[test]
fn members_that_wait_for_their_file_hold_up_what_comes_and_can_be_cancelled() {
    let folder = Folder::new();
    let locks = locked(&folder, &["f"]);
    let server = stdio(&folder, &["--max-in-flight=4", "--timeout=30"]);
    // One is in work and five wait for it: more than may be in work.
    let batch: Vec<Value> = (0..6).map(|n| append_call(n, "f", "x")).collect();
    server.send(&json!(batch));
    until_locks_are_waited_for(server.pid(), 1);
    server.send(&cancelled(5));
    server.send(&json!([append_call("behind", "g", "x")]));
    assert!(is_idle(server.pid()) || is_idle(server.pid()));
    assert!(!folder.path().join("g").exists(), "taken in although there is no room");
    drop(locks);
    let answers = [server.recv(), server.recv()].map(|answers| ids(&answers));
    assert!(answers.contains(&vec![json!("behind")]), "{answers:?}");
    assert!(answers.contains(&(0..5).map(Value::from).collect()), "{answers:?}");
}

#[test]
fn each_message_counts_for_the_rate_limit() {
    let folder = Folder::new();
    let batch: Vec<Value> = (0..10).map(ping).collect();
    let check = |answers: &Value, since: Instant, burst: usize| {
        assert_eq!(ids(answers), (0..10).collect::<Vec<_>>());
        let all = answers.as_array().expect("an array");
        let refused = all.iter().filter(|answer| answer["error"]["code"] == -32003).count();
        let served = all.iter().filter(|answer| answer["result"] == json!({})).count();
        assert_eq!(refused + served, 10, "{answers}");
        assert!(
            (1..=burst + since.elapsed().as_secs() as usize).contains(&served),
            "{served} of a burst of {burst}"
        );
    };
    let server = Stdio::start(&folder, &["--rate-limit=1,4"]);
    let since = Instant::now();
    // One of the burst.
    server.begin("2025-03-26");
    server.send(&json!(batch));
    check(&server.recv(), since, 3);
    server.send(&ping("next"));
    let next = server.recv();
    assert!(next["error"]["code"] == -32003 || since.elapsed().as_secs() > 0, "{next}");
    // An edit that is refused is not carried out.
    let edits: Vec<Value> = (0..10).map(|n| append_call(n, "f", "x")).collect();
    server.send(&json!(edits));
    let answers = server.recv();
    let done =
        answers.as_array().expect("an array").iter().filter(|answer| answer["result"].is_object()).count();
    assert_eq!(std::fs::read_to_string(folder.path().join("f")).unwrap_or_default().lines().count(), done);
    // A batch that is refused as a whole counts as well.
    let refused = (0..5).map(|_| {
        server.send(&json!([]));
        server.recv()["error"]["code"].clone()
    });
    assert!(refused.collect::<Vec<_>>().contains(&json!(-32003)));

    let server = Http::start(&folder, &["--rate-limit=1,3"]);
    let since = Instant::now();
    let mut connection = post(&server, &json!(batch));
    let response = connection.read();
    assert_eq!(response.status, 200);
    check(&response.json(), since, 3);
    let next = connection.post("/mcp", &ping(1)).status;
    assert!(next == 429 || since.elapsed().as_secs() > 0, "{next}");
}

/// More than there may be descriptors; their answers are some 250 MB.
const READS: usize = 200;

/// A batch of whole reads of large files, and of an edit that waits for a lock.
fn many_large_reads() -> Value {
    let mut batch = vec![append_call("edit", "locked", "x")];
    batch.extend((0..READS).map(|n| read_call(n, ["large", "larger"][n % 2])));
    batch.extend((0..50).map(|n| call(format!("list {n}"), "list_files", json!({}))));
    json!(batch)
}

/// Fills a folder for [`many_large_reads`].
fn with_large_files() -> (Folder, Vec<File>) {
    let folder = Folder::new();
    folder.write("large", "some text in a line\n".repeat(MB / 20));
    folder.write("larger", "some text in a line\n".repeat(3 * MB / 2 / 20));
    let locks = locked(&folder, &["locked"]);
    (folder, locks)
}

#[track_caller]
fn check_many_large_reads(folder: &Folder, answers: &Value) {
    let found = ids(answers);
    assert_eq!((found.len(), &found[0], &found[READS]), (READS + 51, &json!("edit"), &json!(READS - 1)));
    for (n, answer) in answers.as_array().expect("an array")[1..=READS].iter().enumerate() {
        let name = ["large", "larger"][n % 2];
        let whole = folder.text(name);
        let (head, body) = text_of(answer).split_once("\n\n").expect("a head");
        assert!(head.starts_with(&format!("File: {name} (")) && body == whole.trim_end(), "{n}: {head}");
    }
}

/// Asserts that the batch holds neither its answers nor its files while it waits. `before` was measured before it.
#[track_caller]
fn check_held(pid: u32, before: (usize, usize), most_files: usize) {
    let (memory, files) = (anonymous_memory(pid) - before.0, descriptors(pid) - before.1);
    println!("held: {} KB, {files} files", memory / 1024);
    assert!(memory < 32 * MB && files < most_files, "{memory} bytes, {files} files");
}

#[test]
fn a_batch_of_many_large_reads_holds_little_while_it_waits_and_is_complete() {
    not_under_wine!("counts the waits of a process in /proc/locks");
    // Few descriptors: batches may use an eighth of them.
    const MOST: u32 = 160;
    let over_stdio = || {
        let (folder, locks) = with_large_files();
        let flags = ["--timeout=30", "--max-in-flight=4"];
        let server = Stdio::run(with_descriptors(&command(&folder, "stdio", &flags), MOST));
        server.begin("2025-03-26");
        let before = (anonymous_memory(server.pid()), descriptors(server.pid()));
        server.send(&many_large_reads());
        until("only the lock is waited for", || locks_waited_for(server.pid()) == 1 && is_idle(server.pid()));
        check_held(server.pid(), before, MOST as usize / 4);
        assert!(
            server
                .ok("read_file", json!({ "name": "large", "end_line": 0 }))
                .ends_with("some text in a line")
        );
        drop(locks);
        check_many_large_reads(&folder, &server.recv());
    };
    let over_http = || {
        let (folder, locks) = with_large_files();
        let flags = ["--timeout=30", "--max-in-flight=4", "--port=0"];
        let server = Http::run(with_descriptors(&command(&folder, "http", &flags), MOST));
        let before = (anonymous_memory(server.pid()), descriptors(server.pid()));
        let mut waiting = post(&server, &many_large_reads());
        until("only the lock is waited for", || locks_waited_for(server.pid()) == 1 && is_idle(server.pid()));
        check_held(server.pid(), before, MOST as usize / 4);
        drop(locks);
        check_many_large_reads(&folder, &waiting.read().json());
    };
    at_once(over_stdio, over_http);
}

#[test]
fn a_batch_for_whose_answers_there_is_no_room_is_refused() {
    not_under_wine!("has a limit of time or takes long");
    let folder = Folder::new();
    let locks = locked(&folder, &["locked"]);
    let server = Http::start(&folder, &["--max-size=1", "--timeout=30", "--tools=lines,exact"]);
    let list = |id: usize| json!({ "jsonrpc": "2.0", "id": id, "method": "tools/list" });
    let mut batch: Vec<Value> = (0..900).map(list).collect();
    batch.push(append_call("edit", "locked", "x"));
    let mut waiting: Vec<Connection> = (0..4).map(|_| post(&server, &json!(batch))).collect();
    let refused = waiting.iter_mut().find_map(|connection| {
        let came = connection.read_what_comes(std::time::Duration::from_millis(500));
        (!came.is_empty()).then(|| String::from_utf8_lossy(&came).into_owned())
    });
    let refused = refused.expect("one is refused");
    assert!(refused.starts_with("HTTP/1.1 503 ") && refused.contains("-32603"), "{refused}");
    drop(locks);
}
