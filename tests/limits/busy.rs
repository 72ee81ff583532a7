//! One client with many slow searches (contract 8): others are served meanwhile, and all searches together stay within a
//! bound of memory.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::bounds::{IDLE, check_bound, peak};
use crate::support::{
    Connection, Folder, Http, MB, Stdio, anonymous_memory, call, mostly_within, post_bytes, text_of,
};
use crate::trees::put;

/// A pattern whose compiled form is large, and whose search of [`corpus`] takes longer than the time limit of the tests.
const SLOW: &str = r"\w{70}Q";

/// What searches and analyses may hold together.
const SEARCHES: usize = 400 * MB;

fn corpus() -> Folder {
    let folder = Folder::new();
    folder.write("small", "a line\n");
    let line = "é".repeat(69) + " " + &"w".repeat(69) + "\n";
    for n in 0..8 {
        folder.write(&format!("large-{n}"), line.repeat(6 * MB / line.len()));
    }
    folder
}

fn greps(server: &Http, count: usize) -> Vec<Connection> {
    let body = json!({ "pattern": SLOW, "output_mode": "count" }).to_string();
    let grep = |_| {
        let mut connection = server.connect();
        connection.write(&post_bytes("/tools/grep", "", body.as_bytes()));
        connection
    };
    (0..count).map(grep).collect()
}

/// How long a call on a connection of its own takes. It must succeed.
fn ask(server: &Http, tool: &str, arguments: &Value) -> Duration {
    let began = Instant::now();
    let mut connection = server.connect();
    connection.write(&post_bytes(&format!("/tools/{tool}"), "", arguments.to_string().as_bytes()));
    let answer = connection.read();
    assert_eq!(answer.status, 200, "{}", answer.text());
    began.elapsed()
}

#[test]
fn small_reads_do_not_wait_for_the_slow_searches_of_another_client() {
    let folder = corpus();
    let server = Http::start(&folder, &["--tools=search,filesystem", "--timeout=10"]);
    let _slow = greps(&server, 300);
    mostly_within(Duration::from_secs(2), || {
        // A new file is not known, so that the read needs a thread.
        ask(&server, "read_text_file", &json!({ "path": "small" }))
    });
}

#[test]
fn walks_do_not_wait_for_the_slow_searches_of_other_clients() {
    let folder = corpus();
    let server = Http::start(&folder, &["--tools=search", "--timeout=10"]);
    let _slow = greps(&server, 100);
    mostly_within(Duration::from_secs(2), || ask(&server, "glob", &json!({ "pattern": "sm*" })));
}

#[test]
fn a_search_of_a_small_file_does_not_wait_for_the_slow_searches_of_other_connections() {
    let folder = corpus();
    let server = Http::start(&folder, &["--tools=search", "--timeout=10"]);
    let _slow = greps(&server, 300);
    let small = json!({ "pattern": "a l.ne", "path": "small" });
    mostly_within(Duration::from_secs(2), || ask(&server, "grep", &small));
}

#[test]
fn a_search_of_a_small_folder_does_not_wait_for_the_slow_searches_of_600_connections() {
    let folder = corpus();
    (0..100).for_each(|n| put(&folder, &format!("docs/{n}.md"), "a line\n".repeat(100)));
    let server = Http::start(&folder, &["--tools=search", "--timeout=10"]);
    let _slow = greps(&server, 600);
    let docs = json!({ "pattern": "a l.ne", "path": "docs", "output_mode": "count" });
    mostly_within(Duration::from_secs(2), || ask(&server, "grep", &docs));
}

#[test]
fn searches_of_clients_that_have_gone_take_no_turn() {
    let folder = corpus();
    let server = Http::start(&folder, &["--tools=search", "--timeout=20"]);
    let call = |n| call(n, "grep", json!({ "pattern": SLOW, "output_mode": "count" }));
    let batch = Value::from((0..20).map(call).collect::<Vec<_>>()).to_string();
    let mut gone = greps(&server, 200);
    for _ in 0..20 {
        let mut connection = server.connect();
        let version = "MCP-Protocol-Version: 2025-03-26\r\n";
        connection.write(&post_bytes("/mcp", version, batch.as_bytes()));
        gone.push(connection);
    }
    drop(gone);
    // It needs the same turns.
    let all = json!({ "pattern": "a l.ne", "glob": "sm*" });
    mostly_within(Duration::from_secs(2), || ask(&server, "grep", &all));
}

#[test]
fn many_searches_stay_within_their_memory_and_those_without_room_are_told_when_to_try_again() {
    let folder = corpus();
    let server = Http::start(&folder, &["--tools=search,filesystem", "--timeout=4"]);
    let before = anonymous_memory(server.pid());
    let mut answers = Vec::new();
    let most = peak(server.pid(), || {
        let searches = greps(&server, 128);
        answers = searches.into_iter().map(|mut search| search.read()).collect();
    });
    check_bound("128 searches", most.saturating_sub(before), SEARCHES + IDLE);
    let busy: Vec<_> = answers.iter().filter(|answer| answer.status == 503).collect();
    assert!(!busy.is_empty() && busy.len() < answers.len());
    for answer in busy {
        assert_eq!(answer.header("retry-after"), Some("5"));
        assert!(answer.text().contains("try again in 5 s"), "{}", answer.text());
    }
    // Others ran, to their end or to the end of their time.
    assert!(answers.iter().all(|answer| [200, 500, 503].contains(&answer.status)));
}

#[test]
fn a_search_over_mcp_that_finds_no_room_fails_and_says_so() {
    let folder = corpus();
    let server = Stdio::start(&folder, &["--tools=search,filesystem", "--timeout=2", "--max-in-flight=64"]);
    let lines: String = (0..64)
        .map(|n| format!("{}\n", call(n, "grep", json!({ "pattern": SLOW, "output_mode": "count" }))))
        .collect();
    server.send_raw(lines.as_bytes());
    let answers: Vec<_> = (0..64).map(|n| server.answer_to(&json!(n))).collect();
    let is_busy = |answer: &&Value| text_of(answer).starts_with("Error: Busy");
    let busy = answers.iter().filter(is_busy).count();
    assert!((1..64).contains(&busy), "{busy}: {answers:?}");
    assert!(answers.iter().filter(is_busy).all(|answer| answer["result"]["isError"] == true));
}
