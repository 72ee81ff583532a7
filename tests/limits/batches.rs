//! Batches of revision 2025-03-26: each message of a batch is a message like any other (contract 6.4, 6.5, 8).

use serde_json::{Value, json};

use super::batch_client::{ids, post, stdio};
use crate::support::{
    Folder, Http, Mcp, PATIENCE, append_call, at_once, cancelled, locked, ping, read_call, text_of, until,
    until_locks_are_waited_for,
};

/// Requests for a locked file, and others.
fn with_a_locked_file() -> Value {
    json!([
        append_call("a", "locked", "one"),
        ping("b"),
        append_call("c", "free", "x"),
        append_call("d", "locked", "two"),
        read_call("e", "free"),
        read_call("f", "locked"),
    ])
}

#[track_caller]
fn check_with_a_locked_file(folder: &Folder, answers: &Value) {
    assert_eq!(ids(answers), ["a", "b", "c", "d", "e", "f"], "in the order of the requests: {answers}");
    assert_eq!(text_of(&answers[4]), "File: free (2 lines)\n\na\nx");
    assert_eq!(text_of(&answers[5]), "File: locked (3 lines)\n\na\none\ntwo");
    assert_eq!(folder.text("locked"), "a\none\ntwo\n");
}

#[test]
fn a_locked_file_holds_up_neither_other_members_nor_other_requests_on_stdio() {
    let folder = Folder::new();
    let locks = locked(&folder, &["locked"]);
    folder.write("free", "a\n");
    let server = stdio(&folder, &["--timeout=30"]);
    server.send(&with_a_locked_file());
    until("the free file is edited", || folder.holds("free", "a\nx\n"));
    for _ in 0..20 {
        server.ok("edit_file", json!({ "name": "other", "append": "x" }));
        server.ok("list_files", json!({}));
    }
    // Another batch is answered in the meantime.
    server.send(&json!([append_call("other", "other", "x"), ping("ping")]));
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
    until("the free file is edited", || folder.holds("free", "a\nx\n"));
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
    let batch: Vec<Value> = names.iter().map(|name| append_call(name.as_str(), name, "x")).collect();
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
        // The file exists: a read that needs no waiting must still wait for its turn.
        folder.write(&name, "start\n");
        server.send(&append_call("before", &name, "before"));
        let (mut batch, mut lines) = (Vec::new(), vec!["start".to_owned(), "before".to_owned()]);
        for n in 0..20 {
            batch.push(append_call(format!("edit {n}"), &name, &n.to_string()));
            batch.push(read_call(format!("read {n}"), &name));
        }
        server.send(&json!(batch));
        server.send(&append_call("behind", &name, "behind"));
        server.send(&read_call("last", &name));
        assert_eq!(server.answer_to(&json!("before"))["result"]["isError"], false);
        // The requests are carried out in their order. The array of a batch may be sent after the answers behind it.
        let others = [(); 3].map(|()| server.recv());
        let by_id = |id: &str| others.iter().find(|answer| answer["id"] == id).expect("an answer");
        let answers = others.iter().find(|answer| answer.is_array()).expect("the batch");
        for n in 0..20 {
            lines.push(n.to_string());
            let wanted = format!("File: {name} ({} lines)\n\n{}", lines.len(), lines.join("\n"));
            assert_eq!(text_of(&answers[2 * n + 1]), wanted);
        }
        assert_eq!(by_id("behind")["result"]["isError"], false);
        assert!(text_of(by_id("last")).ends_with("19\nbehind"));
    }
    let server = Http::start(&folder, &["--sync=none"]);
    folder.write("f", "start\n");
    let pair = |n: usize| [append_call(2 * n, "f", &n.to_string()), read_call(2 * n + 1, "f")];
    let batch: Vec<Value> = (0..100).flat_map(pair).collect();
    let answers = post(&server, &json!(batch)).read().json();
    for n in 0..100 {
        let found = text_of(&answers[2 * n + 1]);
        assert!(found.starts_with(&format!("File: f ({} lines)\n", n + 2)), "{n}: {found}");
        assert!(found.ends_with(&format!("\n{n}")), "{n}: {found}");
    }
}

#[test]
fn several_files_are_worked_on_at_once_and_each_request_has_its_own_time() {
    let names = ["f0", "f1", "f2", "f3", "f4"];
    let batch: Vec<Value> = names.iter().map(|name| append_call(*name, name, "x")).collect();
    let check = |answers: &Value| {
        assert_eq!(ids(answers), names);
        for (answer, name) in answers.as_array().expect("an array").iter().zip(names) {
            // A request without a time of its own would end in another error.
            assert_eq!(text_of(answer), format!("Error: File '{name}' is locked by another process"));
        }
    };
    let folder = Folder::new();
    let _locks = locked(&folder, &names);
    let over_stdio = || {
        let server = stdio(&folder, &["--timeout=2"]);
        server.send(&json!(batch));
        until_locks_are_waited_for(server.pid(), names.len());
        check(&server.recv());
    };
    let over_http = || {
        let server = Http::start(&folder, &["--timeout=2"]);
        let mut waiting = post(&server, &json!(batch));
        until_locks_are_waited_for(server.pid(), names.len());
        check(&waiting.read().json());
    };
    at_once(over_stdio, over_http);
}

#[test]
fn however_many_wait_for_a_locked_file_they_wait_no_longer_than_one() {
    // One after the other, they would wait for longer than PATIENCE.
    let many = 40;
    let requests: Vec<Value> =
        (0..many).map(|nth| append_call(nth, "f", "x")).chain([read_call(many, "f")]).collect();
    let check = |answers: &[Value]| {
        assert_eq!(answers.len(), many + 1);
        for answer in answers {
            let expected = match answer["id"].as_u64() {
                Some(id) if id == many as u64 => "File: f (1 lines)\n\na",
                _ => "Error: File 'f' is locked by another process",
            };
            assert_eq!(text_of(answer), expected);
        }
    };
    let folder = Folder::new();
    let _locks = locked(&folder, &["f"]);
    let flags = ["--timeout=2"];
    let in_a_batch = || {
        let server = stdio(&folder, &flags);
        server.send(&json!(requests));
        check(server.recv().as_array().expect("an array"));
    };
    let alone = || {
        let server = stdio(&folder, &flags);
        requests.iter().for_each(|request| server.send(request));
        check(&requests.iter().map(|_| server.recv()).collect::<Vec<_>>());
    };
    let over_http = || {
        let server = Http::start(&folder, &flags);
        check(post(&server, &json!(requests)).read().json().as_array().expect("an array"));
    };
    at_once(in_a_batch, || at_once(alone, over_http));
}

#[test]
fn a_cancellation_in_a_batch_over_http_has_no_effect() {
    let folder = Folder::new();
    folder.write("f", "a\n");
    let server = Http::start(&folder, &["--sync=none"]);
    let batch = json!([append_call(1, "f", "one"), cancelled(1), append_call(2, "f", "two")]);
    assert_eq!(ids(&post(&server, &batch).read().json()), [1, 2]);
    assert_eq!(folder.text("f"), "a\none\ntwo\n");
}

#[test]
fn a_cancelled_member_has_no_answer_and_its_edit_is_not_done() {
    let folder = Folder::new();
    let locks = locked(&folder, &["f", "g"]);
    let server = stdio(&folder, &["--timeout=30"]);
    server.send(&json!([
        append_call(1, "f", "one"),
        append_call(2, "g", "two"),
        append_call(3, "f", "three"),
        ping(4)
    ]));
    until_locks_are_waited_for(server.pid(), 2);
    // 1 waits for its lock, and 3 waits for its turn.
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
    server.send(&json!([append_call(1, "f", "one"), append_call(2, "f", "two")]));
    until_locks_are_waited_for(server.pid(), 1);
    server.send(&cancelled(2));
    server.send(&cancelled(1));
    // A member cancels another: in the same batch, and in one that is behind it.
    server.send(&json!([append_call(3, "f", "three"), cancelled(3)]));
    server.send(&json!([cancelled(4), append_call(4, "g", "not cancelled: it comes later")]));
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
    server.send(&json!([append_call(1, "f", "x"), append_call(2, "g", "x")]));
    until_locks_are_waited_for(server.pid(), 1);
    server.send(&cancelled(1));
    server.send(&cancelled(2));
    server.send(&ping("behind"));
    assert_eq!(server.recv()["id"], "behind");
    assert_eq!((folder.text("f"), folder.text("g")), ("a\n".into(), "a\n".into()));
}

#[test]
fn a_batch_in_work_at_the_end_of_input_is_finished() {
    let folder = Folder::new();
    let locks = locked(&folder, &["f"]);
    let server = stdio(&folder, &["--timeout=30"]);
    server.send(&json!([append_call(1, "f", "x"), append_call(2, "f", "y"), append_call(3, "g", "z")]));
    until_locks_are_waited_for(server.pid(), 1);
    server.close_stdin();
    drop(locks);
    let rest = server.rest_of_output();
    assert_eq!(rest.len(), 1, "{rest:?}");
    assert_eq!(ids(&serde_json::from_str(&rest[0]).expect("JSON")), [1, 2, 3]);
    assert_eq!(server.wait(PATIENCE).code(), Some(0));
    assert_eq!((folder.text("f"), folder.text("g")), ("a\nx\ny\n".into(), "z\n".into()));
}
