//! The pages of `grep` are together the whole answer, whatever its limits.

use serde_json::{Value, json};

use super::grep::found;
use super::serve;
use crate::support::{Folder, Mcp, Stdio};
use crate::trees::{next_of, put};

/// All pages of a call, without their balances.
pub(super) fn pages(server: &Stdio, arguments: Value) -> Vec<String> {
    let (mut pages, mut next) = (Vec::new(), Some(arguments));
    while let Some(arguments) = next {
        let result = server.tool("grep", arguments);
        assert!(!result.is_error, "{}", result.text);
        let end = result.text.find("\n[").expect("a balance");
        pages.push(result.text[..end].to_owned());
        next = next_of(&result);
        assert!(pages.len() < 1_000);
    }
    pages
}

#[test]
fn pages_are_together_the_whole_answer() {
    let folder = Folder::new();
    for n in 0..40 {
        put(&folder, &format!("d{}/f{n}", n % 7), format!("line\nmatch {n}\nline\n").repeat(90));
    }
    folder.write("large", "no\nmatch\n".repeat(100_000));
    let server = serve(&folder, &["--answer-limit=4"]);
    let whole = serve(&folder, &["--answer-limit=0"]);
    for arguments in [
        json!({ "pattern": "match", "output_mode": "content", "path": "d3" }),
        json!({ "pattern": "match", "output_mode": "content", "glob": "d*/**", "-n": false }),
        json!({ "pattern": "match 1", "output_mode": "content", "sort": "modified" }),
        json!({ "pattern": "match", "output_mode": "content", "head_limit": 7, "path": "d1" }),
        json!({ "pattern": "match", "output_mode": "count", "head_limit": 3 }),
        json!({ "pattern": "match", "head_limit": 3 }),
    ] {
        let mut unlimited = arguments.clone();
        unlimited.as_object_mut().unwrap().remove("head_limit");
        let expected = whole.ok("grep", unlimited);
        let lines = |text: &str| -> Vec<String> {
            let is_line =
                |line: &&str| !line.is_empty() && !line.starts_with(['[', 'd']) || line.contains(": ");
            text.lines().filter(is_line).filter(|line| !line.starts_with('[')).map(str::to_owned).collect()
        };
        let pages = pages(&server, arguments.clone());
        assert!(pages.len() > 1, "{arguments}");
        assert_eq!(lines(&pages.join("\n")), lines(&expected), "{arguments}");
    }
}

#[test]
fn a_large_file_is_gone_on_with_where_the_answer_ended() {
    let folder = Folder::new();
    folder.write("large", (0..1_000_000).map(|n| format!("match {n}\n")).collect::<String>());
    let server = serve(&folder, &["--max-size=100"]);
    let first =
        server.tool("grep", json!({ "pattern": "match", "output_mode": "content", "head_limit": 500 }));
    let mut next = next_of(&first).expect("more");
    for page in 1..4 {
        let result = server.tool("grep", next);
        let line = page * 500;
        assert!(
            result.text.starts_with(&format!("large\n{}:match {line}\n", line + 1)),
            "{}",
            &result.text[..99]
        );
        next = next_of(&result).expect("more");
    }
    let late = json!({ "pattern": "match 99999[0-9]$", "output_mode": "content", "offset": 8 });
    assert_eq!(found(&server, late), "large\n999999:match 999998\n1000000:match 999999");
}

#[test]
fn a_cursor_says_that_its_file_has_changed_and_no_other_call_takes_it() {
    let folder = Folder::new();
    folder.write("f", "match\n".repeat(100));
    let server = serve(&folder, &[]);
    let first = server.tool("grep", json!({ "pattern": "match", "output_mode": "content", "head_limit": 5 }));
    let next = next_of(&first).expect("more");
    folder.write("f", "other match\n".repeat(100));
    let second = server.ok("grep", next.clone());
    assert!(second.contains("[The file has changed since the cursor was made, or is gone]"), "{second}");
    let mut other = next.clone();
    other["pattern"] = json!("other");
    let refused = server.refused("grep", other);
    assert!(refused.starts_with("Error: Invalid arguments: cursor: it belongs to another"), "{refused}");
    let mut shorter = next.clone();
    (shorter["head_limit"], shorter["offset"]) = (json!(7), json!(50));
    let page = server.ok("grep", shorter);
    assert_eq!(
        page.lines().filter(|line| line.contains(":other")).count(),
        7,
        "how much a page shows is no matter: {page}"
    );
    let mut made_up = next;
    made_up["cursor"] = json!("AAAA");
    assert!(server.refused("grep", made_up).starts_with("Error: Invalid arguments: cursor: "));
}

#[test]
fn the_lines_around_matches_are_the_same_over_pages() {
    let folder = Folder::new();
    folder.write(
        "f",
        (1..=60).map(|n| format!("{n}{}\n", if n % 7 == 0 { " x" } else { "" })).collect::<String>(),
    );
    let server = serve(&folder, &[]);
    let lines = |text: &str| -> Vec<String> {
        text.lines().filter(|line| !["f", "--", ""].contains(line)).map(str::to_owned).collect()
    };
    let whole = lines(&found(&server, json!({ "pattern": "x", "-C": 2 })));
    assert_eq!(whole.len(), 40);
    for most in 1..4 {
        let pages = pages(&server, json!({ "pattern": "x", "-C": 2, "head_limit": most }));
        assert_eq!(lines(&pages.join("\n")), whole, "{most}");
    }
}

#[test]
fn an_answer_keeps_to_its_limit_whatever_one_match_holds() {
    let folder = Folder::new();
    folder.write("long", "foo ".repeat(500_000) + "\n");
    folder.write("lines", "a\n".repeat(500_000));
    let server = serve(&folder, &["--answer-limit=8"]);
    for arguments in [
        json!({ "pattern": "foo", "-o": true }),
        json!({ "pattern": "foo", "output_mode": "content", "max_columns": 1_000_000_000 }),
        json!({ "pattern": "(?s)a.*", "multiline": true, "output_mode": "content" }),
        json!({ "pattern": "a", "-C": 1_000, "path": "lines" }),
    ] {
        let text = server.ok("grep", arguments.clone());
        let counted = if arguments["multiline"] == true { " match" } else { " matching line" };
        assert!(text.len() < 10_000 && text.contains(counted), "{arguments}: {}", text.len());
    }
    // More hits than are kept of a file, each of one byte in the answer.
    folder.write("empty", "\n".repeat(20_000));
    let server = serve(&folder, &["--answer-limit=0"]);
    let text =
        server.ok("grep", json!({ "pattern": "^$", "path": "empty", "-n": false, "output_mode": "content" }));
    assert_eq!(text.lines().filter(|line| line.is_empty()).count(), 20_000);
}

#[test]
fn an_offset_is_left_out_once_and_past_the_end_there_is_nothing_further() {
    let folder = Folder::new();
    (0..30).for_each(|n| folder.write(&format!("f{n:02}"), "x\nx\n"));
    let server = serve(&folder, &[]);
    for (mode, sort) in [("count", "path"), ("files_with_matches", "modified"), ("content", "path")] {
        let call = json!({ "pattern": "x", "output_mode": mode, "sort": sort, "offset": 5, "head_limit": 4 });
        let told = pages(&server, call).join("\n");
        let entries = told.lines().filter(|line| line.contains(':')).count();
        assert_eq!(entries, if mode == "content" { 55 } else { 25 }, "{mode} {sort}");
    }
    let past = server.ok("grep", json!({ "pattern": "x", "output_mode": "count", "offset": 100 }));
    assert!(
        past.starts_with("No further matches\n[30 files searched, 60 matching lines in 30 files"),
        "{past}"
    );
}

#[test]
fn calls_that_go_on_after_their_time_was_up_come_to_the_end() {
    let folder = Folder::new();
    (0..6).for_each(|n| folder.write(&format!("f{n}"), "a ".repeat(700_000) + "\nneedle\n"));
    let server = serve(&folder, &["--timeout=1", "--max-size=100"]);
    let (mut next, mut told, mut calls) =
        (Some(json!({ "pattern": r"(\w+\W+){30}z9|needle", "sort": "path" })), 0, 0);
    while let Some(arguments) = next {
        let result = server.tool("grep", arguments);
        if result.is_error {
            // One line takes longer than the time.
            assert!(result.text.contains("timed out"), "{}", result.text);
            return;
        }
        told += result.text.lines().filter(|line| line.starts_with('f')).count();
        next = next_of(&result);
        calls += 1;
        assert!(calls < 30, "{}", result.text);
    }
    assert_eq!(told, 6);
}
