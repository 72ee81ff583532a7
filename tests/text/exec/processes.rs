//! The processes of a command: which are ended, and when.

use serde_json::json;

use super::{command, kill, on_both, process_in, run, runs, stdio, until_ended};
use crate::support::{Folder, Http, Mcp, PATIENCE, Stdio, call, cancelled, each_transport, ping, post_bytes};

/// A command that writes its process number and that of a process in the background to files, and then waits.
const TWO: &str = "sleep 300 & echo $! > grandchild; echo $$ > child; wait";

/// The same, but each of the two has a group of its own: `timeout` and job control make one.
const GROUPS: &str = "set -m; sleep 300 & echo $! > grandchild; set +m; timeout 300 sh -c 'echo $$ > child; exec sleep 300'; echo no";

#[test]
fn after_its_time_the_command_and_all_that_it_started_are_ended() {
    not_under_wine!("commands do not run there");
    on_both(&[], |server, folder| {
        let text = run(server, json!({ "command": format!("echo begun; {TWO}"), "timeout": 1 }));
        assert_eq!(text, "Timed out after 1 s. Signal: 15 (TERM)\n\nstdout:\nbegun\n\nstderr: empty");
        until_ended(&[process_in(folder, "child"), process_in(folder, "grandchild")]);
    });
}

#[test]
fn after_its_time_groups_that_the_command_made_are_ended_too() {
    not_under_wine!("commands do not run there");
    on_both(&[], |server, folder| {
        let text = run(server, json!({ "command": GROUPS, "timeout": 1 }));
        assert_eq!(text, "Timed out after 1 s. Signal: 15 (TERM)\n\nstdout: empty\n\nstderr: empty");
        until_ended(&[process_in(folder, "child"), process_in(folder, "grandchild")]);
        let text = run(server, json!({ "command": format!("trap '' TERM; {GROUPS}"), "timeout": 1 }));
        // `timeout` ends at SIGTERM all the same, and the shell goes on.
        assert!(text.starts_with("Timed out after 1 s. "), "{text}");
        until_ended(&[process_in(folder, "child"), process_in(folder, "grandchild")]);
    });
}

#[test]
fn groups_that_are_left_in_the_background_are_killed_and_the_answer_says_so() {
    not_under_wine!("commands do not run there");
    on_both(&[], |server, folder| {
        let text = run(
            server,
            command(
                "timeout 300 sh -c 'echo $$ > left; exec sleep 300' >/dev/null 2>&1 & while [ ! -s left ]; do :; done",
            ),
        );
        assert!(text.starts_with("Exit code: 0\nProcesses that it had left"), "{text}");
        until_ended(&[process_in(folder, "left")]);
    });
}

#[test]
fn a_command_can_end_well_when_its_time_is_up() {
    not_under_wine!("commands do not run there");
    on_both(&[], |server, _| {
        let command = "trap 'echo cleaned; exit 5' TERM; while :; do :; done";
        let text = run(server, json!({ "command": command, "timeout": 1 }));
        assert_eq!(text, "Timed out after 1 s. Exit code: 5\n\nstdout:\ncleaned\n\nstderr: empty");
    });
}

#[test]
fn what_ignores_sigterm_is_killed_2_s_later() {
    not_under_wine!("commands do not run there");
    on_both(&[], |server, folder| {
        let command =
            "trap '' TERM; sleep 300 & echo $! > grandchild; echo $$ > child; while true; do wait; done";
        let text = run(server, json!({ "command": command, "timeout": 1 }));
        assert_eq!(text, "Timed out after 1 s. Signal: 9 (KILL)\n\nstdout: empty\n\nstderr: empty");
        until_ended(&[process_in(folder, "child"), process_in(folder, "grandchild")]);
    });
}

#[test]
fn a_process_in_the_background_that_ignores_sigterm_is_killed_although_the_shell_has_ended() {
    not_under_wine!("commands do not run there");
    on_both(&[], |server, folder| {
        let command = "(trap '' TERM; exec sleep 300) & echo $! > grandchild; exec sleep 300";
        let text = run(server, json!({ "command": command, "timeout": 1 }));
        assert!(text.starts_with("Timed out after 1 s. Signal: 15 (TERM)\n"), "{text}");
        until_ended(&[process_in(folder, "grandchild")]);
    });
}

#[test]
fn a_stopped_command_is_ended_too() {
    not_under_wine!("commands do not run there");
    let folder = Folder::new();
    let server = stdio(&folder, &[]);
    let text = run(&server, json!({ "command": "echo $$ > child; kill -STOP $$", "timeout": 1 }));
    assert!(text.starts_with("Timed out after 1 s. Signal: "), "{text}");
    until_ended(&[process_in(&folder, "child")]);
}

#[test]
fn what_is_left_in_the_background_is_killed_and_the_answer_says_so() {
    not_under_wine!("commands do not run there");
    on_both(&[], |server, folder| {
        let text = run(server, command("sleep 300 >/dev/null 2>&1 & echo $! > left; echo done"));
        assert!(
            text.starts_with("Exit code: 0\nProcesses that it had left in the background were killed;"),
            "{text}"
        );
        assert!(text.ends_with("\n\nstdout:\ndone\n\nstderr: empty"), "{text}");
        until_ended(&[process_in(folder, "left")]);
        // It holds an output.
        let text = run(server, command("sleep 300 & echo $! > holds; echo done"));
        assert!(text.starts_with("Exit code: 0\nProcesses that it had left"), "{text}");
        until_ended(&[process_in(folder, "holds")]);
    });
}

#[test]
fn output_that_comes_soon_after_the_end_of_the_shell_is_read() {
    not_under_wine!("commands do not run there");
    on_both(&[], |server, _| {
        let text = run(server, command("echo first > >(cat; sleep 0.1; echo last)"));
        assert_eq!(text, "Exit code: 0\n\nstdout:\nfirst\nlast\n\nstderr: empty");
    });
}

#[test]
fn a_process_that_left_the_session_and_holds_an_output_does_not_hold_up_the_answer() {
    not_under_wine!("commands do not run there");
    on_both(&[], |server, folder| {
        let text = run(
            server,
            command(
                "setsid sh -c 'echo $$ > daemon; exec sleep 300' & while [ ! -s daemon ]; do :; done; echo done",
            ),
        );
        // It runs on: the answer did not wait for it.
        let daemon = process_in(folder, "daemon");
        kill(daemon);
        assert!(
            text.contains("\nA process outside of its session still runs and holds its output"),
            "{text}"
        );
        assert!(text.ends_with("stdout:\ndone\n\nstderr: empty"), "{text}");
    });
}

#[test]
fn a_cancelled_command_is_killed() {
    not_under_wine!("commands do not run there");
    for command in [TWO, GROUPS] {
        let folder = Folder::new();
        let server = stdio(&folder, &["--max-in-flight=2"]);
        server.send(&call(
            "run",
            "exec",
            json!({ "command": format!("trap '' TERM; {command}"), "timeout": 300 }),
        ));
        let processes = [process_in(&folder, "child"), process_in(&folder, "grandchild")];
        server.send(&cancelled("run"));
        until_ended(&processes);
        server.send(&ping("next"));
        assert_eq!(server.recv()["id"], "next");
        server.close_stdin();
        assert_eq!(server.rest_of_output(), [""; 0]);
    }
}

#[test]
fn a_command_whose_http_client_has_gone_is_killed_as_other_calls_end() {
    not_under_wine!("commands do not run there");
    let folder = Folder::new();
    let server = super::http(&folder, &[]);
    let params =
        crate::support::with_meta(json!({ "name": "exec", "arguments": { "command": TWO, "timeout": 300 } }));
    let token = format!("Authorization: Bearer {}\r\n", super::TOKEN);
    let headers = format!("{}{token}", crate::support::headers("tools/call", &params));
    let request = crate::support::request("run", "tools/call", params);
    let mut connection = server.connect();
    connection.write(&post_bytes("/mcp", &headers, request.to_string().as_bytes()));
    let processes = [process_in(&folder, "child"), process_in(&folder, "grandchild")];
    drop(connection);
    until_ended(&processes);
}

/// Starts a command that ignores SIGTERM, ends the server, and checks that nothing of the command is left.
fn ends_with_its_server(command: &str, end: impl Fn(Server) + Sync) {
    each_transport(|is_http| {
        let folder = Folder::new();
        let arguments = json!({ "command": format!("trap '' TERM HUP INT; {command}"), "timeout": 300 });
        let server = if is_http {
            let server = super::http(&folder, &[]);
            let body = call(1, "exec", arguments).to_string();
            let token = format!("Authorization: Bearer {}\r\n", super::TOKEN);
            let mut connection = server.connect();
            connection.write(&post_bytes("/mcp", &token, body.as_bytes()));
            Server::Http(server, connection)
        } else {
            let server = stdio(&folder, &[]);
            server.send(&call(1, "exec", arguments));
            Server::Stdio(server)
        };
        let processes = [process_in(&folder, "child"), process_in(&folder, "grandchild")];
        assert!(processes.iter().all(|process| runs(*process)));
        end(server);
        until_ended(&processes);
    });
}

enum Server {
    Stdio(Stdio),
    // The connection stays open.
    Http(Http, #[allow(dead_code)] crate::support::Connection),
}

impl Server {
    fn signal(&self, signal: rustix::process::Signal) {
        match self {
            Server::Stdio(server) => server.signal(signal),
            Server::Http(server, _) => server.signal(signal),
        }
    }

    fn wait(self) -> Option<i32> {
        match self {
            Server::Stdio(server) => server.wait(PATIENCE).code(),
            Server::Http(server, _connection) => server.wait(PATIENCE).code(),
        }
    }
}

#[test]
fn a_command_ends_with_its_server_at_sigterm() {
    not_under_wine!("commands do not run there");
    for command in [TWO, GROUPS] {
        ends_with_its_server(command, |server| {
            server.signal(rustix::process::Signal::TERM);
            assert_eq!(server.wait(), Some(0));
        });
    }
}

#[test]
fn a_command_ends_with_its_server_also_when_that_is_killed() {
    not_under_wine!("commands do not run there");
    // The last one stops the process that watches over it.
    for command in [TWO, GROUPS, &format!("kill -STOP $PPID; {TWO}")] {
        ends_with_its_server(command, |server| {
            server.signal(rustix::process::Signal::KILL);
            assert_eq!(server.wait(), None);
        });
    }
}

#[test]
fn at_the_end_of_input_a_command_has_a_second_and_its_answer_says_what_became_of_it() {
    not_under_wine!("commands do not run there");
    let folder = Folder::new();
    let server = stdio(&folder, &[]);
    server.send(&call("long", "exec", json!({ "command": TWO, "timeout": 300 })));
    let processes = [process_in(&folder, "child"), process_in(&folder, "grandchild")];
    server.send(&call("short", "exec", command("echo done")));
    server.close_stdin();
    let answers = server.rest_of_output();
    until_ended(&processes);
    assert_eq!(answers.len(), 2, "{answers:?}");
    assert!(answers[0].contains("\"short\"") && answers[0].contains("Exit code: 0"), "{answers:?}");
    assert!(answers[1].contains("Killed because the server stops. Signal: 9 (KILL)"), "{answers:?}");
    assert_eq!(server.wait(PATIENCE).code(), Some(0));
}

#[test]
fn a_command_that_kills_its_supervisor_is_killed_and_the_call_fails() {
    not_under_wine!("commands do not run there");
    let folder = Folder::new();
    let server = stdio(&folder, &[]);
    let result = server.tool("exec", command("echo $$ > child; kill -9 $PPID; sleep 300"));
    assert!(
        result.is_error && result.first_line().starts_with("Error: Cannot run the command: "),
        "{}",
        result.text
    );
    until_ended(&[process_in(&folder, "child")]);
    // The next one runs.
    assert_eq!(super::stdout_of(&server, command("echo next")), "next");
}

#[test]
fn a_command_that_stops_its_supervisor_is_ended_all_the_same() {
    not_under_wine!("commands do not run there");
    let folder = Folder::new();
    let server = stdio(&folder, &[]);
    let text = run(&server, json!({ "command": format!("kill -STOP $PPID; {TWO}"), "timeout": 1 }));
    assert!(text.starts_with("Timed out after 1 s. "), "{text}");
    until_ended(&[process_in(&folder, "child"), process_in(&folder, "grandchild")]);
}

#[test]
fn no_process_of_the_server_is_left_behind_a_command() {
    not_under_wine!("commands do not run there");
    let folder = Folder::new();
    let server = stdio(&folder, &[]);
    for arguments in [command("true"), json!({ "command": "sleep 300", "timeout": 1 })] {
        run(&server, arguments);
    }
    // Also one that has ended and was not waited for.
    let is_child = |stat: &String| {
        let (_, rest) = stat.rsplit_once(") ").unwrap_or_default();
        rest.split(' ').nth(1).is_some_and(|parent| parent == server.pid().to_string())
    };
    let processes = std::fs::read_dir("/proc").expect("/proc").flatten();
    let stats = processes.filter_map(|process| std::fs::read_to_string(process.path().join("stat")).ok());
    assert_eq!(stats.filter(is_child).count(), 0);
}
