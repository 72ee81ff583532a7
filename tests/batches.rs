//! Batches of revision 2025-03-26: each message in them is a message like any other (SPEC 2, 6.4, 6.5, 8).

use std::collections::BTreeSet;
use std::fs::File;
use std::time::Instant;

use serde_json::{Value, json};

use crate::errors_system::lock;
use crate::support::{
    Connection, Folder, Http, Mcp, PATIENCE, Stdio, anonymous_memory, command, post_bytes, with_descriptors,
};

const MB: usize = 1_048_576;

fn call(id: impl Into<Value>, tool: &str, arguments: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id.into(), "method": "tools/call",
        "params": { "name": tool, "arguments": arguments } })
}

fn append(id: impl Into<Value>, name: &str, text: &str) -> Value {
    call(id, "edit_file", json!({ "name": name, "append": text }))
}

fn read(id: impl Into<Value>, name: &str) -> Value {
    call(id, "read_file", json!({ "name": name }))
}

fn cancelled(id: impl Into<Value>) -> Value {
    json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id.into() } })
}

fn ping(id: impl Into<Value>) -> Value {
    json!({ "jsonrpc": "2.0", "id": id.into(), "method": "ping" })
}

fn stdio(folder: &Folder, flags: &[&str]) -> Stdio {
    let server = Stdio::start(folder, flags);
    server.begin("2025-03-26");
    server
}

/// Sends a batch over HTTP; the answer is still to be read.
fn post(server: &Http, batch: &Value) -> Connection {
    let mut connection = server.connect();
    let revision = "MCP-Protocol-Version: 2025-03-26\r\n";
    connection.write(&post_bytes("/mcp", revision, batch.to_string().as_bytes()));
    connection
}

fn ids(answers: &Value) -> Vec<Value> {
    let answers = answers.as_array().unwrap_or_else(|| panic!("no array: {answers}"));
    answers.iter().map(|answer| answer["id"].clone()).collect()
}

fn text(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text: {answer}"))
}

/// So many locks does the process wait for, as the system tells it.
fn waited_for(pid: u32) -> usize {
    let waits = |line: &&str| line.contains("-> FLOCK") && line.contains(&format!(" {pid} "));
    std::fs::read_to_string("/proc/locks").expect("/proc").lines().filter(waits).count()
}

#[track_caller]
fn until_locks_are_waited_for(pid: u32, count: usize) {
    until(|| waited_for(pid) == count);
}

#[track_caller]
fn until(mut so: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !so() {
        assert!(Instant::now() < deadline, "it does not come about");
        std::thread::yield_now();
    }
}

/// Files of these names, each with one line, and locked by somebody else.
fn locked(folder: &Folder, names: &[&str]) -> Vec<File> {
    let lock = |name: &&str| {
        folder.write(name, "a\n");
        lock(folder, name)
    };
    names.iter().map(lock).collect()
}

/// Requests for a locked file, and others.
fn with_a_locked_file() -> Value {
    json!([
        append("a", "locked", "one"),
        ping("b"),
        append("c", "free", "x"),
        append("d", "locked", "two"),
        read("e", "free"),
        read("f", "locked"),
    ])
}

#[track_caller]
fn check_with_a_locked_file(folder: &Folder, answers: &Value) {
    assert_eq!(ids(answers), ["a", "b", "c", "d", "e", "f"], "in the order of the requests: {answers}");
    assert_eq!(text(&answers[4]), "File: free (2 lines)\n\na\nx");
    assert_eq!(text(&answers[5]), "File: locked (3 lines)\n\na\none\ntwo");
    assert_eq!(folder.text("locked"), "a\none\ntwo\n");
}

#[test]
fn a_locked_file_holds_up_neither_other_members_nor_other_requests_on_stdio() {
    let folder = Folder::new();
    let locks = locked(&folder, &["locked"]);
    folder.write("free", "a\n");
    let server = stdio(&folder, &["--timeout=30"]);
    server.send(&with_a_locked_file());
    until(|| folder.text("free") == "a\nx\n");
    for _ in 0..20 {
        server.ok("edit_file", json!({ "name": "other", "append": "x" }));
        server.ok("list_files", json!({}));
    }
    // Another batch passes it.
    server.send(&json!([append("other", "other", "x"), ping("ping")]));
    assert_eq!(ids(&server.recv()), ["other", "ping"]);
    drop(locks);
    check_with_a_locked_file(&folder, &server.recv());
}

#[test]
fn a_locked_file_holds_up_neither_other_members_nor_other_requests_over_http() {
    let folder = Folder::new();
    let locks = locked(&folder, &["locked"]);
    folder.write("free", "a\n");
    let server = Http::start(&folder, &["--timeout=30", "--max-in-flight=4"]);
    let mut waiting = post(&server, &with_a_locked_file());
    until(|| folder.text("free") == "a\nx\n");
    for _ in 0..20 {
        server.ok("edit_file", json!({ "name": "other", "append": "x" }));
    }
    drop(locks);
    check_with_a_locked_file(&folder, &waiting.read().json());
}

#[test]
fn one_batch_over_http_leaves_places_to_others_however_many_files_are_locked() {
    let folder = Folder::new();
    let names: Vec<String> = (0..10).map(|n| format!("f{n}")).collect();
    let _locks = locked(&folder, &names.iter().map(String::as_str).collect::<Vec<_>>());
    let server = Http::start(&folder, &["--timeout=30", "--max-in-flight=4"]);
    let batch: Vec<Value> = names.iter().map(|name| append(name.as_str(), name, "x")).collect();
    let _waiting = post(&server, &json!(batch));
    until_locks_are_waited_for(server.pid(), 2);
    server.ok("edit_file", json!({ "name": "other", "append": "x" }));
}

#[test]
fn requests_for_one_file_are_carried_out_in_their_order_before_within_and_behind_a_batch() {
    let folder = Folder::new();
    let server = stdio(&folder, &["--sync=none"]);
    for round in 0..20 {
        let name = format!("f{round}");
        // There before: what takes no waiting must wait for its turn, too.
        folder.write(&name, "start\n");
        server.send(&append("before", &name, "before"));
        let (mut batch, mut lines) = (Vec::new(), vec!["start".to_owned(), "before".to_owned()]);
        for n in 0..20 {
            batch.push(append(format!("edit {n}"), &name, &n.to_string()));
            batch.push(read(format!("read {n}"), &name));
        }
        server.send(&json!(batch));
        server.send(&append("behind", &name, "behind"));
        server.send(&read("last", &name));
        assert_eq!(server.answer_to(&json!("before"))["result"]["isError"], false);
        let answers = server.recv();
        for n in 0..20 {
            lines.push(n.to_string());
            let wanted = format!("File: {name} ({} lines)\n\n{}", lines.len(), lines.join("\n"));
            assert_eq!(text(&answers[2 * n + 1]), wanted);
        }
        assert_eq!(server.answer_to(&json!("behind"))["result"]["isError"], false);
        assert!(text(&server.answer_to(&json!("last"))).ends_with("19\nbehind"));
    }
    let server = Http::start(&folder, &["--sync=none"]);
    folder.write("f", "start\n");
    let pair = |n: usize| [append(2 * n, "f", &n.to_string()), read(2 * n + 1, "f")];
    let batch: Vec<Value> = (0..100).flat_map(pair).collect();
    let answers = post(&server, &json!(batch)).read().json();
    for n in 0..100 {
        let found = text(&answers[2 * n + 1]);
        assert!(found.starts_with(&format!("File: f ({} lines)\n", n + 2)), "{n}: {found}");
        assert!(found.ends_with(&format!("\n{n}")), "{n}: {found}");
    }
}

#[test]
fn several_files_are_worked_on_at_once_and_each_request_has_its_own_time() {
    let names = ["f0", "f1", "f2", "f3", "f4"];
    let batch: Vec<Value> = names.iter().map(|name| append(*name, name, "x")).collect();
    let check = |answers: &Value| {
        assert_eq!(ids(answers), names);
        for (answer, name) in answers.as_array().expect("an array").iter().zip(names) {
            // One that has no time of its own left would say something else.
            assert_eq!(text(answer), format!("Error: File '{name}' is locked by another process"));
        }
    };
    let folder = Folder::new();
    let _locks = locked(&folder, &names);
    let server = stdio(&folder, &["--timeout=2"]);
    server.send(&json!(batch));
    until_locks_are_waited_for(server.pid(), names.len());
    check(&server.recv());

    let server = Http::start(&folder, &["--timeout=2"]);
    let mut waiting = post(&server, &json!(batch));
    until_locks_are_waited_for(server.pid(), names.len());
    check(&waiting.read().json());
}

#[test]
fn however_many_wait_for_a_locked_file_they_wait_no_longer_than_one() {
    // One after the other, they would wait for longer than the test does.
    let many = 40;
    let requests: Vec<Value> = (0..many).map(|nth| append(nth, "f", "x")).chain([read(many, "f")]).collect();
    let check = |answers: &[Value]| {
        assert_eq!(answers.len(), many + 1);
        for answer in answers {
            let expected = match answer["id"].as_u64() {
                Some(id) if id == many as u64 => "File: f (1 lines)\n\na",
                _ => "Error: File 'f' is locked by another process",
            };
            assert_eq!(text(answer), expected);
        }
    };
    let folder = Folder::new();
    let _locks = locked(&folder, &["f"]);
    let server = stdio(&folder, &["--timeout=2"]);
    server.send(&json!(requests));
    check(server.recv().as_array().expect("an array"));

    requests.iter().for_each(|request| server.send(request));
    check(&requests.iter().map(|_| server.recv()).collect::<Vec<_>>());

    let server = Http::start(&folder, &["--timeout=2"]);
    check(post(&server, &json!(requests)).read().json().as_array().expect("an array"));
}

#[test]
fn no_more_members_are_in_work_than_max_in_flight_says() {
    let folder = Folder::new();
    let names = ["f0", "f1", "f2", "f3", "f4", "f5"];
    let locks = locked(&folder, &names);
    let server = stdio(&folder, &["--max-in-flight=2", "--timeout=30"]);
    let batch: Vec<Value> = names.iter().map(|name| append(*name, name, "x")).collect();
    server.send(&json!(batch));
    until_locks_are_waited_for(server.pid(), 2);
    // It reads on only as far as a request that would be one more: what waits in the pipe is not answered.
    server.send(&ping("behind"));
    let mut seen = BTreeSet::new();
    for lock in locks {
        let waits = waited_for(server.pid());
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
fn a_cancelled_member_has_no_answer_and_its_edit_is_not_done() {
    let folder = Folder::new();
    let locks = locked(&folder, &["f", "g"]);
    let server = stdio(&folder, &["--timeout=30"]);
    server.send(&json!([append(1, "f", "one"), append(2, "g", "two"), append(3, "f", "three"), ping(4)]));
    until_locks_are_waited_for(server.pid(), 2);
    // One that waits for its lock, and one that waits for its turn.
    for id in [json!(1), json!(3), json!("2"), json!(99)] {
        server.send(&cancelled(id));
    }
    server.send(&ping("read"));
    assert_eq!(server.recv()["id"], "read");
    drop(locks);
    assert_eq!(ids(&server.recv()), [2, 4]);
    assert!(server.ok("edit_file", json!({ "name": "f", "append": "b" })).contains("Total lines: 2"));
    assert_eq!((folder.text("f"), folder.text("g")), ("a\nb\n".into(), "a\ntwo\n".into()));
}

#[test]
fn a_batch_that_is_cancelled_whole_is_not_answered() {
    let folder = Folder::new();
    let _locks = locked(&folder, &["f"]);
    let server = stdio(&folder, &["--timeout=30"]);
    server.send(&json!([append(1, "f", "one"), append(2, "f", "two")]));
    until_locks_are_waited_for(server.pid(), 1);
    server.send(&cancelled(2));
    server.send(&cancelled(1));
    // A member cancels another: in the same batch, and in one that is behind it.
    server.send(&json!([append(3, "f", "three"), cancelled(3)]));
    server.send(&json!([cancelled(4), append(4, "g", "not cancelled: it comes later")]));
    assert_eq!(ids(&server.recv()), [4]);
    server.close_stdin();
    assert_eq!(server.rest_of_output(), [""; 0]);
    assert_eq!(folder.text("f"), "a\n");
}

#[test]
fn members_that_take_all_places_can_be_cancelled() {
    let folder = Folder::new();
    let _locks = locked(&folder, &["f", "g"]);
    let server = stdio(&folder, &["--max-in-flight=1", "--timeout=30"]);
    server.send(&json!([append(1, "f", "x"), append(2, "g", "x")]));
    until_locks_are_waited_for(server.pid(), 1);
    server.send(&cancelled(1));
    server.send(&cancelled(2));
    server.send(&ping("behind"));
    assert_eq!(server.recv()["id"], "behind");
    assert_eq!((folder.text("f"), folder.text("g")), ("a\n".into(), "a\n".into()));
}

#[test]
fn members_that_wait_for_their_file_hold_up_what_comes_and_can_be_cancelled() {
    let folder = Folder::new();
    let locks = locked(&folder, &["f"]);
    let server = stdio(&folder, &["--max-in-flight=4", "--timeout=30"]);
    // One is in work and five wait: more than may be in work.
    let batch: Vec<Value> = (0..6).map(|n| append(n, "f", "x")).collect();
    server.send(&json!(batch));
    until_locks_are_waited_for(server.pid(), 1);
    server.send(&cancelled(5));
    server.send(&json!([append("behind", "g", "x")]));
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
    let edits: Vec<Value> = (0..10).map(|n| append(n, "f", "x")).collect();
    server.send(&json!(edits));
    let answers = server.recv();
    let done =
        answers.as_array().expect("an array").iter().filter(|answer| answer["result"].is_object()).count();
    assert_eq!(std::fs::read_to_string(folder.path().join("f")).unwrap_or_default().lines().count(), done);
    // What is refused as a whole counts, too.
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

#[test]
fn a_batch_in_work_at_the_end_of_input_is_finished() {
    let folder = Folder::new();
    let locks = locked(&folder, &["f"]);
    let server = stdio(&folder, &["--timeout=30"]);
    server.send(&json!([append(1, "f", "x"), append(2, "f", "y"), append(3, "g", "z")]));
    until_locks_are_waited_for(server.pid(), 1);
    server.close_stdin();
    drop(locks);
    let rest = server.rest_of_output();
    assert_eq!(rest.len(), 1, "{rest:?}");
    assert_eq!(ids(&serde_json::from_str(&rest[0]).expect("JSON")), [1, 2, 3]);
    assert_eq!(server.wait(PATIENCE).code(), Some(0));
    assert_eq!((folder.text("f"), folder.text("g")), ("a\nx\ny\n".into(), "z\n".into()));
}

/// A batch of whole reads of large files, and of an edit that waits for a lock.
fn many_large_reads() -> Value {
    let mut batch = vec![append("edit", "locked", "x")];
    batch.extend((0..400).map(|n| read(n, ["large", "larger"][n % 2])));
    batch.extend((0..50).map(|n| call(format!("list {n}"), "list_files", json!({}))));
    json!(batch)
}

fn descriptors(pid: u32) -> usize {
    std::fs::read_dir(format!("/proc/{pid}/fd")).expect("a process").count()
}

/// Fills a folder for [`many_large_reads`].
fn with_large_files() -> (Folder, Vec<File>) {
    let folder = Folder::new();
    folder.write("large", "some text in a line\n".repeat(2 * MB / 20));
    folder.write("larger", "some text in a line\n".repeat(3 * MB / 20));
    let locks = locked(&folder, &["locked"]);
    (folder, locks)
}

#[track_caller]
fn check_many_large_reads(folder: &Folder, answers: &Value) {
    let found = ids(answers);
    assert_eq!((found.len(), &found[0], &found[400]), (451, &json!("edit"), &json!(399)));
    for (n, answer) in answers.as_array().expect("an array")[1..401].iter().enumerate() {
        let name = ["large", "larger"][n % 2];
        let whole = folder.text(name);
        let (head, body) = text(answer).split_once("\n\n").expect("a head");
        assert!(head.starts_with(&format!("File: {name} (")) && body == whole.trim_end(), "{n}: {head}");
    }
}

/// The batch holds neither its answers nor its files while it waits: `before` is what was held before.
#[track_caller]
fn check_held(pid: u32, before: (usize, usize), most_files: usize) {
    let (memory, files) = (anonymous_memory(pid) - before.0, descriptors(pid) - before.1);
    println!("held: {} KB, {files} files", memory / 1024);
    assert!(memory < 32 * MB && files < most_files, "{memory} bytes, {files} files");
}

#[test]
fn a_batch_of_many_large_reads_holds_little_while_it_waits_and_is_complete() {
    // Few descriptors: an eighth of them for batches.
    const MOST: u32 = 160;
    let (folder, locks) = with_large_files();
    let flags = ["--timeout=30", "--max-in-flight=4"];
    let server = Stdio::run(with_descriptors(&command(&folder, "stdio", &flags), MOST));
    server.begin("2025-03-26");
    let before = (anonymous_memory(server.pid()), descriptors(server.pid()));
    server.send(&many_large_reads());
    until(|| waited_for(server.pid()) == 1 && is_idle(server.pid()));
    check_held(server.pid(), before, MOST as usize / 4);
    assert!(
        server.ok("read_file", json!({ "name": "large", "end_line": 0 })).ends_with("some text in a line")
    );
    drop(locks);
    check_many_large_reads(&folder, &server.recv());

    let (folder, locks) = with_large_files();
    let flags = ["--timeout=30", "--max-in-flight=4", "--port=0"];
    let server = Http::run(with_descriptors(&command(&folder, "http", &flags), MOST));
    let before = (anonymous_memory(server.pid()), descriptors(server.pid()));
    let mut waiting = post(&server, &many_large_reads());
    until(|| waited_for(server.pid()) == 1 && is_idle(server.pid()));
    check_held(server.pid(), before, MOST as usize / 4);
    drop(locks);
    check_many_large_reads(&folder, &waiting.read().json());
}

/// Whether a process has used no processor time for a while.
fn is_idle(pid: u32) -> bool {
    let used = || {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).expect("a process");
        let fields: Vec<String> =
            stat.rsplit_once(')').expect("a name").1.split_whitespace().map(str::to_owned).collect();
        (fields[11].clone(), fields[12].clone())
    };
    let before = used();
    std::thread::sleep(std::time::Duration::from_millis(300));
    used() == before
}

#[test]
fn a_batch_for_whose_answers_there_is_no_room_is_refused() {
    let folder = Folder::new();
    let locks = locked(&folder, &["locked"]);
    let server = Http::start(&folder, &["--max-size=1", "--timeout=30", "--tools=all"]);
    let list = |id: usize| json!({ "jsonrpc": "2.0", "id": id, "method": "tools/list" });
    let mut batch: Vec<Value> = (0..900).map(list).collect();
    batch.push(append("edit", "locked", "x"));
    let mut waiting: Vec<Connection> = (0..4).map(|_| post(&server, &json!(batch))).collect();
    let refused = waiting.iter_mut().find_map(|connection| {
        let came = connection.read_what_comes(std::time::Duration::from_millis(500));
        (!came.is_empty()).then(|| String::from_utf8_lossy(&came).into_owned())
    });
    let refused = refused.expect("one is refused");
    assert!(refused.starts_with("HTTP/1.1 503 ") && refused.contains("-32603"), "{refused}");
    drop(locks);
}
