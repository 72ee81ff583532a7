//! list_files and read_file under --answer-limit (contract 11): cut at a line's end, with the call that goes on.

use serde_json::{Value, json};

use crate::support::{Folder, Mcp, direct_on_both_with, on_both_with};

const FLAGS: [&str; 1] = ["--answer-limit=2"];
const LIMIT: usize = 2 << 10;

/// The arguments in the last line of an answer.
fn next(text: &str) -> Option<Value> {
    let (_, call) = text.rsplit_once(". Go on with ")?;
    let (_, arguments) = call.split_once(' ').expect("arguments");
    Some(serde_json::from_str(arguments.strip_suffix(']').expect("an end")).expect("JSON"))
}

/// Reads as the answers say, and gives the lines together.
fn read_all(server: &dyn Mcp, mut arguments: Value) -> (String, usize) {
    let (mut all, mut calls) = (Vec::new(), 0);
    loop {
        let result = server.tool("read_file", arguments);
        assert!(!result.is_error && result.text.len() <= LIMIT, "{}", result.text);
        calls += 1;
        let (_, content) = result.text.split_once("\n\n").expect("a head");
        let Some(go_on) = next(content) else {
            all.push(content.to_owned());
            return (all.join("\n"), calls);
        };
        assert_eq!(result.result["_meta"]["file-editor/truncated"]["next"], go_on);
        all.push(content.rsplit_once("\n[Shown: ").expect("a last line").0.to_owned());
        arguments = go_on;
    }
}

#[test]
fn a_long_text_is_read_in_parts_that_end_with_a_line() {
    let text = |brk: &str| (0..500).map(|n| format!("line {n}{brk}")).collect::<String>();
    let joined = text("\n");
    let joined = joined.trim_end();
    for brk in ["\n", "\r\n", "\r"] {
        on_both_with(
            &FLAGS,
            |folder| folder.write("f", text(brk)),
            |server, _| {
                let (all, calls) = read_all(server, json!({ "name": "f" }));
                assert!(1 < calls && all == joined, "{calls} {all}");
                let (all, _) = read_all(server, json!({ "name": "f", "line_numbers": true }));
                let lines: Vec<String> =
                    joined.lines().enumerate().map(|(n, line)| format!("{n}\t{line}")).collect();
                assert_eq!(all, lines.join("\n"));
                let (all, _) = read_all(server, json!({ "name": "f", "start_line": -300 }));
                assert!(all.starts_with("line 200\n") && all.ends_with("line 499"), "{all}");
                let (all, _) = read_all(server, json!({ "name": "f", "start_line": 10, "end_line": 210 }));
                assert!(all.starts_with("line 10\n") && all.ends_with("line 210"), "{all}");
            },
        );
    }
}

#[test]
fn the_first_line_names_the_range_that_is_shown() {
    on_both_with(
        &FLAGS,
        |folder| folder.write("f", "12345678\n".repeat(500)),
        |server, _| {
            let text = server.ok("read_file", json!({ "name": "f" }));
            let shown = text.matches("12345678").count();
            assert!(text.starts_with(&format!("File: f (lines 0-{} of 500 total)\n\n", shown - 1)), "{text}");
            let last = format!(
                "\n[Shown: lines 0-{} of 500 total. Go on with read_file {{\"name\":\"f\",\"start_line\":{shown}}}]",
                shown - 1
            );
            assert!(text.ends_with(&last), "{text}");
        },
    );
}

#[test]
fn a_line_too_long_for_an_answer_is_shown_in_part() {
    let fill = |folder: &Folder| folder.write("f", format!("{}\nnext\n", "é".repeat(5_000)));
    on_both_with(&FLAGS, fill, |server, _| {
        for numbers in [false, true] {
            let text = server.ok("read_file", json!({ "name": "f", "line_numbers": numbers }));
            assert!(text.len() <= LIMIT && text.starts_with("File: f (lines 0-0 of 2 total)\n\n"), "{text}");
            let shown = 2 * text.matches('é').count();
            let part = format!("[Shown: the first {shown} bytes of line 0, which is too long for an answer.");
            assert!(0 < shown && text.contains(&part), "{text}");
            let go_on = next(&text).expect("a call");
            assert!(server.ok("read_file", go_on).ends_with("next"));
        }
    });
}

#[test]
fn a_long_list_is_cut_with_the_call_that_goes_on() {
    let fill = |folder: &Folder| (0..100).for_each(|n| folder.write(&format!("file-{n:03}"), "x"));
    on_both_with(&FLAGS, fill, |server, _| {
        let (mut names, mut arguments) = (Vec::new(), json!({}));
        loop {
            let result = server.tool("list_files", arguments);
            assert!(result.text.len() <= LIMIT, "{}", result.text);
            let listed = result.text.lines().filter_map(|line| line.strip_prefix("name: "));
            names.extend(listed.map(|line| line[..8].to_owned()));
            let Some(go_on) = next(&result.text) else { break };
            assert_eq!(result.result["_meta"]["file-editor/truncated"]["next"], go_on);
            arguments = go_on;
        }
        assert_eq!(names, (0..100).map(|n| format!("file-{n:03}")).collect::<Vec<_>>());
    });
}

#[test]
fn what_fits_and_what_programs_get_is_not_cut() {
    let fill = |folder: &Folder| {
        folder.write("f", "line\n".repeat(1_000));
        folder.write("short", "a\nb\n");
    };
    on_both_with(&FLAGS, fill, |server, _| {
        assert_eq!(server.ok("read_file", json!({ "name": "short" })), "File: short (2 lines)\n\na\nb");
    });
    direct_on_both_with(&FLAGS, fill, |server, _| {
        let read = server.direct("read_file", json!({ "name": "f" }));
        assert_eq!(read["content"].as_str().map(str::len), Some(4_999));
    });
    on_both_with(&[], fill, |server, _| {
        assert_eq!(
            server.ok("read_file", json!({ "name": "f" })).len(),
            "File: f (1000 lines)\n\n".len() + 4_999
        );
    });
}
