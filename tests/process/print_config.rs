//! `--print-config` (contract 17): the entry is what the client's settings take, and the server that it starts answers.

use std::process::Command;

use serde_json::{Value, json};

use crate::support::{Ended, Folder, Stdio, bare_command, named, run_command_to_end, run_to_end};

/// The clients, and the member of their settings that holds the servers.
const CLIENTS: [(&str, &str); 6] = [
    ("claude-code", "mcpServers"),
    ("claude-desktop", "mcpServers"),
    ("cursor", "mcpServers"),
    ("vscode", "servers"),
    ("codex", "mcp_servers"),
    ("zed", "context_servers"),
];

/// The settings that a client reads from an entry: JSON, or the same of TOML.
fn settings(client: &str, entry: &str) -> Value {
    if client != "codex" {
        return serde_json::from_str(entry).unwrap_or_else(|error| panic!("{client}: {error}: {entry}"));
    }
    // Tables, and strings and arrays that are those of JSON, too.
    let (head, body) = entry.split_once("]\n").expect("a table");
    let (command, args) = body.split_once("\nargs = ").expect("two keys");
    let command: Value =
        serde_json::from_str(command.strip_prefix("command = ").expect("a command")).expect("a string");
    let args: Value = serde_json::from_str(args).expect("an array");
    let (servers, name) = head[1..].split_once('.').expect("a name");
    json!({ servers: { name: { "command": command, "args": args } } })
}

/// The command of an entry.
fn command_of(client: &str, servers: &str, entry: &str) -> Command {
    let settings = settings(client, entry);
    let server = &settings[servers]["file-editor"];
    let mut command = Command::new(server["command"].as_str().expect("a command"));
    command.args(server["args"].as_array().expect("args").iter().map(|arg| arg.as_str().expect("a string")));
    command
}

#[test]
fn every_client_gets_an_entry_and_the_server_that_it_starts_serves_the_folders() {
    not_under_wine!("starts what the program of Windows prints, which is a path there");
    let folder = Folder::new();
    let odd = folder.path().join("a \"quoted\" folder \\ é");
    std::fs::create_dir(&odd).expect("a folder");
    std::fs::write(odd.join("here.txt"), "found\n").expect("a file");
    for (client, servers) in CLIENTS {
        let mut print = bare_command();
        print.current_dir(folder.path()).arg(format!("--print-config={client}"));
        print.args(["a \"quoted\" folder \\ é", "--exclude=*.log", "--read-only"]);
        let Ended { code, stdout, stderr } = run_command_to_end(print);
        assert_eq!((code, stderr.lines().count()), (Some(0), 1), "{client}: {stderr}");
        let command = command_of(client, servers, &stdout);
        let arguments: Vec<_> = command.get_args().map(|arg| arg.to_str().expect("UTF-8")).collect();
        assert!(!arguments.iter().any(|argument| argument.contains("print-config")), "{arguments:?}");
        assert!(arguments.contains(&"--exclude=*.log") && arguments.contains(&"--read-only"));
        let server = Stdio::run(command);
        let read = json!({ "name": "read", "arguments": { "path": "here.txt" } });
        let answer = server.request("tools/call", read);
        assert_eq!(answer["result"]["content"][0]["text"], "found\n", "{client}: {answer}");
    }
}

#[test]
fn a_folder_given_by_its_flag_is_served_over_stdio_too() {
    let folder = Folder::new();
    let dir = format!("--dir={}", folder.path().display());
    let Ended { code, stdout, .. } = run_to_end(&[&dir, "--print-config", "vscode", "--tools=exact"]);
    assert_eq!(code, Some(0));
    let entry = settings("vscode", &stdout);
    let entry = &entry["servers"]["file-editor"];
    assert_eq!(
        (&entry["type"], &entry["args"]),
        (
            &json!("stdio"),
            &json!([format!("--dir={}", named(folder.path())), "--tools=exact", "--transport=stdio"])
        )
    );
}

#[test]
fn the_entry_starts_what_the_npm_wrapper_names() {
    let folder = Folder::new();
    let mut print = bare_command();
    print.arg("--print-config=zed").arg(folder.path());
    print.env("FILE_EDITOR_STARTED_BY", r#"["npx","--yes","file-editor@0.1.0"]"#);
    let Ended { code, stdout, stderr } = run_command_to_end(print);
    assert_eq!((code, stderr.lines().count()), (Some(0), 2), "{stderr}");
    let entry = &settings("zed", &stdout)["context_servers"]["file-editor"];
    assert_eq!(entry["command"], "npx");
    assert_eq!(entry["args"], json!(["--yes", "file-editor@0.1.0", named(folder.path())]));
}

#[test]
fn a_folder_that_is_not_there_gets_an_entry_and_a_line_that_says_so() {
    let folder = Folder::new();
    let missing = folder.path().join("no such folder");
    std::fs::write(folder.path().join("a.txt"), "").expect("a file");
    for wrong in [&missing, &folder.path().join("a.txt")] {
        let mut print = bare_command();
        print.arg("--print-config=zed").arg(folder.path()).arg(wrong);
        let Ended { code, stdout, stderr } = run_command_to_end(print);
        let entry = &settings("zed", &stdout)["context_servers"]["file-editor"];
        assert_eq!((code, &entry["args"]), (Some(0), &json!([named(folder.path()), named(wrong)])));
        let lines: Vec<_> = stderr.lines().collect();
        assert!(lines.len() == 2 && lines[1].contains("there is no folder"), "{stderr}");
        assert!(lines[1].contains(wrong.file_name().and_then(|name| name.to_str()).expect("a name")));
    }
}

#[test]
fn a_folder_within_another_one_counts_once_as_at_a_start() {
    let folder = Folder::new();
    let inner = folder.path().join("inner");
    std::fs::create_dir(&inner).expect("a folder");
    let [dir, inner] = [folder.path(), &inner].map(|path| format!("--dir={}", path.display()));
    let ended = run_to_end(&["--print-config=zed", &dir, &inner, "--tools=exact"]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
}

#[test]
fn a_folder_of_templates_that_is_not_there_is_named() {
    let folder = Folder::new();
    let dir = format!("--dir={}", folder.path().display());
    let templates = format!("--templates={}", folder.path().join("none").display());
    let ended = run_to_end(&["--print-config=zed", &dir, &templates]);
    assert_eq!(ended.code, Some(0));
    assert!(ended.stderr.contains("there is no folder") && ended.stderr.contains("none"), "{}", ended.stderr);
}

#[test]
fn what_no_server_would_start_with_is_refused_in_one_line() {
    let folder = Folder::new();
    let dir = format!("--dir={}", folder.path().display());
    for (arguments, part) in [
        (vec!["--print-config=emacs", &dir], "claude-code, claude-desktop, cursor, vscode, codex, zed"),
        (vec!["--print-config=zed"], "--dir"),
        (vec!["--print-config=zed", &dir, "--transport=http"], "--transport"),
        (vec!["--print-config=zed", &dir, "--tools=exec"], "--allow-exec"),
        (vec!["--print-config=zed", &dir, "--timeout=0"], "--timeout"),
        (vec!["--print-config=zed", &dir, "--doctor"], "--doctor"),
        (vec!["--print-config=zed", &dir, "--auth-token-file=missing"], "--auth-token-file"),
        (vec!["--print-config=zed", &dir, "--dir=/nowhere", "--tools=exact"], "one folder"),
    ] {
        let Ended { code, stdout, stderr } = run_to_end(&arguments);
        assert_eq!((code, stdout.as_str(), stderr.lines().count()), (Some(1), "", 1), "{stderr}");
        assert!(stderr.contains(part), "{part}: {stderr}");
    }
}
