//! Who is offered exec: nobody without `--allow-exec`.

use serde_json::{Value, json};

use super::{FLAGS, command, http, on_both, stdio};
use crate::support::{Folder, Mcp, Stdio, on_both_with, run_to_end};

fn tools(server: &dyn Mcp) -> Vec<Value> {
    server.rpc("tools/list", json!({}))["result"]["tools"].as_array().expect("tools").clone()
}

#[test]
fn without_the_flag_there_is_no_such_tool() {
    on_both_with(
        &["--tools=search,text"],
        |_| {},
        |server, folder| {
            assert!(tools(server).iter().all(|tool| tool["name"] != "exec"));
            let answer =
                server.rpc("tools/call", json!({ "name": "exec", "arguments": { "command": "touch ran" } }));
            assert_eq!(answer["error"]["code"], -32602, "{answer}");
            assert!(
                answer["error"]["message"]
                    .as_str()
                    .is_some_and(|message| message.starts_with("Unknown tool: exec;"))
            );
            assert_eq!(folder.names(), [""; 0]);
        },
    );
    let folder = Folder::new();
    let server = Stdio::start(&folder, &["--tools=search,text"]).ready();
    assert_eq!(server.request("exec", command("touch ran"))["error"]["code"], -32601);
    assert!(!server.stderr().contains("--allow-exec"));
}

#[test]
fn with_the_flag_it_is_offered_as_a_tool_that_can_destroy() {
    not_under_wine!("commands do not run there");
    on_both(&[], |server, _| {
        let tools = tools(server);
        let tool = tools.iter().find(|tool| tool["name"] == "exec").expect("exec");
        let hints =
            ["readOnlyHint", "destructiveHint", "idempotentHint"].map(|hint| &tool["annotations"][hint]);
        assert_eq!(hints, [&json!(false), &json!(true), &json!(false)]);
        assert_eq!(tool["inputSchema"]["required"], json!(["command"]));
        let timeout = &tool["inputSchema"]["properties"]["timeout"];
        assert_eq!([&timeout["minimum"], &timeout["maximum"]], [&json!(1), &json!(300)]);
    });
}

#[test]
fn the_start_warns_that_it_is_no_sandbox() {
    not_under_wine!("commands do not run there");
    let folder = Folder::new();
    let server = stdio(&folder, &[]);
    let warning = server.stderr();
    assert!(
        warning.contains("WARN --allow-exec: clients can run any command") && warning.contains("no sandbox"),
        "{warning}"
    );
    // Nobody can run a command there.
    let without = Stdio::start(&folder, &["--tools=lines", "--allow-exec"]).ready();
    assert!(!without.stderr().contains("--allow-exec"));
}

#[test]
fn a_start_that_would_let_anybody_run_commands_is_refused() {
    not_under_wine!("commands do not run there");
    let folder = Folder::new();
    let dir = format!("--dir={}", folder.path().display());
    for (flags, parts) in [
        (&["--transport=http", "--port=0"][..], ["--allow-exec", "--auth-token-file"]),
        (&["--port=0"], ["--allow-exec", "--transport=stdio"]),
        (&["--transport=stdio", "--read-only"], ["--allow-exec", "--read-only"]),
    ] {
        let ended = run_to_end(&[&[dir.as_str()], FLAGS, flags].concat());
        assert_eq!((ended.code, ended.stderr.lines().count()), (Some(1), 1), "{}", ended.stderr);
        assert!(parts.iter().all(|part| ended.stderr.contains(part)), "{}", ended.stderr);
    }
    let ended = run_to_end(&[&dir, "--transport=stdio", "--tools=exec"]);
    assert_eq!(ended.code, Some(1));
    assert!(ended.stderr.contains("--allow-exec"), "{}", ended.stderr);
}

#[test]
fn over_http_no_command_runs_without_the_token() {
    not_under_wine!("commands do not run there");
    let folder = Folder::new();
    let server = http(&folder, &[]);
    let body = crate::support::call(1, "exec", command("touch ran")).to_string();
    for path in ["/mcp", "/exec", "/tools/exec"] {
        let head = crate::support::post_bytes(path, "Connection: close\r\n", body.as_bytes());
        assert_eq!(server.raw(&head).status, 401, "{path}");
    }
    assert_eq!(folder.names(), [""; 0]);
    let answer = server.post("/tools/exec", &command("touch ran"));
    assert!(answer.status == 200 && folder.names() == ["ran"], "{}", answer.text());
}
