//! What an answer of exec says.

use serde_json::json;

use super::{FLAGS, command, http, on_both, run, stdio, stdout_of};
use crate::support::{Direct, Folder, MB, Mcp, Stdio, anonymous_memory};

#[test]
fn the_exit_code_and_both_outputs_are_told_apart() {
    not_under_wine!("commands do not run there");
    on_both(&[], |server, _| {
        assert_eq!(run(server, command("true")), "Exit code: 0\n\nstdout: empty\n\nstderr: empty");
        assert_eq!(run(server, command("exit 7")), "Exit code: 7\n\nstdout: empty\n\nstderr: empty");
        assert_eq!(
            run(server, command("echo out; echo wrong >&2; echo more; exit 1")),
            "Exit code: 1\n\nstdout:\nout\nmore\n\nstderr:\nwrong"
        );
        assert_eq!(
            run(server, command("printf a; printf b >&2")),
            "Exit code: 0\n\nstdout:\na\n\nstderr:\nb"
        );
    });
}

#[test]
fn a_command_that_fails_is_no_failed_call() {
    not_under_wine!("commands do not run there");
    on_both(&[], |server, _| {
        for (wrong, first) in
            [("false", "Exit code: 1"), ("no-such-program-at-all", "Exit code: 127"), ("if", "Exit code: 2")]
        {
            let result = server.tool("exec", command(wrong));
            assert!(!result.is_error && result.first_line() == first, "{}", result.text);
        }
    });
}

#[test]
fn a_signal_that_ends_the_command_is_named() {
    not_under_wine!("commands do not run there");
    on_both(&[], |server, _| {
        for (signal, first) in
            [("KILL", "Signal: 9 (KILL)"), ("TERM", "Signal: 15 (TERM)"), ("34", "Signal: 34")]
        {
            let text = run(server, command(&format!("echo before; kill -{signal} $$; sleep 60")));
            assert_eq!(text, format!("{first}\n\nstdout:\nbefore\n\nstderr: empty"));
        }
    });
}

#[test]
fn it_is_bash_that_runs_the_command_whatever_it_begins_with() {
    not_under_wine!("commands do not run there");
    on_both(&[], |server, _| {
        assert_eq!(stdout_of(server, command("words=(a b c); echo ${#words[@]}")), "3");
        assert_eq!(stdout_of(server, command("-x 2>/dev/null; echo behind")), "behind");
        assert_eq!(stdout_of(server, command("cat <<'END'\n\"quoted\" $and é\nEND")), "\"quoted\" $and é");
    });
}

#[test]
fn standard_input_is_what_the_call_gives_and_else_empty() {
    not_under_wine!("commands do not run there");
    on_both(&[], |server, _| {
        assert_eq!(stdout_of(server, command("cat; echo end")), "end");
        assert_eq!(stdout_of(server, json!({ "command": "cat", "stdin": "one\ntwo é" })), "one\ntwo é");
        let long = "y".repeat(2 * MB);
        assert_eq!(stdout_of(server, json!({ "command": "wc -c", "stdin": long })), (2 * MB).to_string());
        assert_eq!(stdout_of(server, json!({ "command": "head -c 3", "stdin": long })), "yyy");
    });
}

#[test]
fn it_runs_in_the_folder_that_the_call_names() {
    not_under_wine!("commands do not run there");
    on_both(&[], |server, folder| {
        std::fs::create_dir_all(folder.path().join("a/b")).expect("folders");
        folder.link("to", "a/b");
        let top = folder.path().display().to_string();
        let in_dir = |dir: &str| stdout_of(server, json!({ "command": "pwd -P", "work_dir": dir }));
        assert_eq!(stdout_of(server, command("pwd -P")), top);
        assert_eq!(in_dir("a/b"), format!("{top}/a/b"));
        assert_eq!(in_dir("to"), format!("{top}/a/b"));
        assert_eq!(in_dir(&format!("{top}/a")), format!("{top}/a"));
        assert_eq!(in_dir("."), top);
    });
}

#[test]
fn a_folder_outside_and_one_that_is_none_is_a_failed_call_and_nothing_runs() {
    not_under_wine!("commands do not run there");
    on_both(&[], |server, folder| {
        folder.write("f", "");
        folder.link("out", "..");
        let cases = [
            ("/", "Error: Invalid filename format"),
            ("..", "Error: Invalid filename format"),
            ("out", "Error: Permission denied accessing 'out'"),
            ("missing", "Error: File 'missing' not found"),
            ("f", "Error: 'f' is a file, not a folder"),
        ];
        let ran = folder.outside("ran");
        for (dir, first) in cases {
            let touch = format!("touch {}", ran.display());
            assert_eq!(server.refused("exec", json!({ "command": touch, "work_dir": dir })), first);
        }
        assert!(!ran.exists());
    });
}

#[test]
fn wrong_arguments_say_what_is_expected() {
    not_under_wine!("commands do not run there");
    let folder = Folder::new();
    let server = stdio(&folder, &[]);
    for (arguments, part) in [
        (json!({}), "command: it is missing"),
        (json!({ "command": "a\0b" }), "command: it holds a NUL"),
        (
            json!({ "command": "ls", "timeout": -1 }),
            "timeout: -1 is wrong; expected an integer from 1 to 300",
        ),
        (
            json!({ "command": "ls", "timeout": 301 }),
            "timeout: 301 is wrong; expected an integer from 1 to 300",
        ),
        (json!({ "command": "ls", "env": {} }), "env: unknown property"),
    ] {
        let first = server.refused("exec", arguments);
        assert!(first.starts_with("Error: Invalid arguments: ") && first.contains(part), "{first}");
    }
    let long = server.tool("exec", command(&format!("# {}", "x".repeat(300_000))));
    assert!(
        long.is_error && long.first_line().starts_with("Error: Cannot run the command: "),
        "{}",
        long.text
    );
    assert!(long.text.contains("\"stdin\""), "{}", long.text);
}

#[test]
fn without_a_shell_the_call_fails_and_says_so() {
    not_under_wine!("commands do not run there");
    let folder = Folder::new();
    let mut command = crate::support::command(&folder, "stdio", FLAGS);
    command.env("PATH", "/nowhere");
    let server = Stdio::run(command).ready();
    let result = server.tool("exec", json!({ "command": "true" }));
    let message = "Cannot run the command: there is neither bash nor sh";
    let hint = "The server looks for them in its PATH.";
    assert!(result.is_error);
    assert_eq!(result.text, format!("Error: {message}\n{hint}"));
    let error = server.direct_error("exec", json!({ "command": "true" }));
    assert_eq!((error.code, error.message.as_str()), (-32000, message));
}

#[test]
fn of_long_output_the_end_is_shown_and_memory_stays_bounded() {
    not_under_wine!("commands do not run there");
    let folder = Folder::new();
    let server = stdio(&folder, &[]);
    assert_eq!(stdout_of(&server, command("echo warm")), "warm");
    let before = anonymous_memory(server.pid());
    let text = run(
        &server,
        json!({ "command": "head -c 1G /dev/zero | tr '\\0' x; echo; echo last", "timeout": 120 }),
    );
    let after = anonymous_memory(server.pid());
    assert!(after < before + 4 * MB, "{before} {after}");
    let total = (1 << 30) + 6;
    assert!(text.len() <= 60 << 10 && text.contains(&format!(" of {total} bytes, ")), "{:.200}", text);
    assert!(text.ends_with("xxx\nlast\n\nstderr: empty"), "{}", &text[text.len() - 100..]);
}

#[test]
fn both_outputs_share_the_answer_limit_and_what_was_cut_is_told() {
    not_under_wine!("commands do not run there");
    on_both(&["--answer-limit=4"], |server, _| {
        let result =
            server.tool("exec", command("yes é | head -5000; yes z | head -5000 >&2; printf '\\377' >&2"));
        assert!(result.text.len() <= 4 << 10 && 3_000 < result.text.len(), "{}", result.text.len());
        assert!(
            result.text.contains("\nstdout (the last 1536 of 15000 bytes, 13464 dropped):\né\n"),
            "{}",
            result.text
        );
        assert!(
            result.text.contains("stderr (the last ") && result.text.contains("not UTF-8"),
            "{}",
            result.text
        );
        let truncated = &result.result["_meta"]["file-editor/truncated"];
        assert_eq!(truncated["of"], 25_001);
        assert!(
            truncated["shown"].as_u64().is_some_and(|shown| 2_000 < shown && shown < 4_096),
            "{truncated}"
        );
    });
}

#[test]
fn programs_get_the_same_as_data() {
    not_under_wine!("commands do not run there");
    on_both(&["--structured"], |server, _| {
        server.begin("2025-11-25");
        let data = |arguments| server.tool("exec", arguments).result["structuredContent"].clone();
        let failed = data(command("echo out; echo wrong >&2; exit 3"));
        assert_eq!(
            (&failed["exit_code"], &failed["signal"], &failed["timed_out"]),
            (&json!(3), &json!(null), &json!(false))
        );
        assert_eq!((&failed["stdout"], &failed["stderr"]), (&json!("out\n"), &json!("wrong\n")));
        assert_eq!((&failed["stdout_dropped"], &failed["stderr_dropped"]), (&json!(0), &json!(0)));
        assert!(failed["seconds"].is_number(), "{failed}");
        let killed = data(command("kill -9 $$"));
        assert_eq!((&killed["exit_code"], &killed["signal"]), (&json!(null), &json!(9)));
    });
}

#[test]
fn the_direct_method_and_the_rest_path_give_the_data() {
    not_under_wine!("commands do not run there");
    let folder = Folder::new();
    for server in [&stdio(&folder, &[]) as &dyn Direct, &http(&folder, &[])] {
        let data = server.direct("exec", command("echo out; exit 3"));
        assert_eq!((&data["exit_code"], &data["stdout"]), (&json!(3), &json!("out\n")));
        let error = server.direct_error("exec", json!({ "command": "true", "work_dir": "missing" }));
        assert_eq!(error.message, "File 'missing' not found");
    }
}
