//! At most 8 commands run at once; others wait, and hold up no other call.

use serde_json::json;

use super::{command, process_in, stdio};
use crate::support::{Direct, Folder, Mcp, call, post_bytes, text_of, until};

/// Runs until there is a file `go`, and leaves a file of its own before.
fn waits(name: &str) -> serde_json::Value {
    json!({ "command": format!("echo $$ > {name}; while [ ! -e go ]; do sleep 0.01; done; echo {name}"), "timeout": 60 })
}

#[test]
fn eight_run_at_once_others_wait_and_reads_do_not() {
    not_under_wine!("commands do not run there");
    let folder = Folder::new();
    folder.write("f", "text\n");
    let server = stdio(&folder, &[]);
    for number in 0..8 {
        server.send(&call(format!("run {number}"), "exec", waits(&format!("p{number}"))));
    }
    for number in 0..8 {
        process_in(&folder, &format!("p{number}"));
    }
    for number in 8..40 {
        server.send(&call(format!("run {number}"), "exec", waits(&format!("p{number}"))));
    }
    // All were received when this one is answered, and none of them runs.
    server.send(&call("read", "grep", json!({ "pattern": "text" })));
    let read = server.recv();
    assert_eq!(read["id"], "read");
    assert!(text_of(&read).contains("1 matching line in 1 file"), "{read}");
    let is_running = |name: &String| name.starts_with('p');
    assert_eq!(folder.names().iter().filter(|name| is_running(name)).count(), 8);
    folder.write("go", "");
    for _ in 0..40 {
        let answer = server.recv();
        assert!(text_of(&answer).starts_with("Exit code: 0\n"), "{answer}");
    }
}

#[test]
fn commands_take_no_permit_of_other_calls_over_http() {
    not_under_wine!("commands do not run there");
    let folder = Folder::new();
    folder.write("f", "text\n");
    let server = super::http(&folder, &["--max-in-flight=1"]);
    let token = format!("Authorization: Bearer {}\r\n", super::TOKEN);
    let connections: Vec<_> = (0..12)
        .map(|number| {
            let body = call(number, "exec", waits(&format!("p{number}"))).to_string();
            let mut connection = server.connect();
            connection.write(&post_bytes("/mcp", &token, body.as_bytes()));
            connection
        })
        .collect();
    until("eight run", || folder.names().iter().filter(|name| name.starts_with('p')).count() == 8);
    assert!(server.ok("grep", json!({ "pattern": "text" })).contains("1 matching line"));
    folder.write("go", "");
    for mut connection in connections {
        let answer = connection.try_read().expect("an answer").json();
        assert!(text_of(&answer).starts_with("Exit code: 0\n"), "{answer}");
    }
}

#[test]
fn a_command_that_gets_no_turn_in_its_time_is_a_failed_call_and_does_not_run() {
    not_under_wine!("commands do not run there");
    let folder = Folder::new();
    let server = stdio(&folder, &[]);
    for number in 0..8 {
        server.send(&call(format!("run {number}"), "exec", waits(&format!("p{number}"))));
    }
    for number in 0..8 {
        process_in(&folder, &format!("p{number}"));
    }
    let ninth = json!({ "command": "touch ran", "timeout": 1 });
    let result = server.tool("exec", ninth.clone());
    assert!(result.is_error);
    assert_eq!(result.first_line(), "Error: Cannot run the command: 8 others ran for all of its 1 s");
    assert!(result.text.contains("\"timeout\""), "{}", result.text);
    let error = server.direct_error("exec", ninth);
    assert_eq!(
        (error.code, error.message.as_str()),
        (-32000, "Cannot run the command: 8 others ran for all of its 1 s")
    );
    assert!(!folder.names().contains(&"ran".to_owned()));
    // The commands of one server do not count for another.
    let other = stdio(&folder, &[]);
    assert_eq!(super::stdout_of(&other, command("echo runs")), "runs");
    folder.write("go", "");
}
