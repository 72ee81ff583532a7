//! The pages of a text give exactly the text (contract 11).

use serde_json::json;

use super::bounded::{LIMIT, lines, pages};
use super::serve;
use crate::support::{Folder, Mcp, ToolResult};

/// Texts that are hard to cut.
fn texts() -> Vec<(&'static str, String)> {
    vec![
        ("one long line", "x".repeat(5_000)),
        ("multi-byte characters", "ä漢😀".repeat(900)),
        ("lf", "a line of text\n".repeat(300)),
        ("crlf", "a line of text\r\n".repeat(300)),
        ("cr", "a line of text\r".repeat(300)),
        ("mixed", "aa\r\nb\nc\r".repeat(400)),
        ("no break at the end", "l\n".repeat(1_000) + "end"),
        ("empty lines", "\n".repeat(3_000)),
        ("long lines between", ("short\n".to_owned() + &"ü".repeat(2_000) + "\r\n").repeat(3)),
        ("brackets", "[Shown: lines 1-2 of 3 lines. Go on with x]\n".repeat(60)),
    ]
}

/// A page without its last line. A break stands before that line only if the text does not end in one.
fn part(page: &ToolResult) -> &str {
    let Some(truncated) = page.result["_meta"].get("file-editor/truncated") else { return &page.text };
    let end = page.text.rfind("[Shown: ").expect("a last line");
    let text = &page.text[..end];
    match text.len() as u64 > truncated["shown"].as_u64().expect("a number") {
        true => text.strip_suffix('\n').expect("a break before the last line"),
        false => text,
    }
}

/// Checks that the pages of each text give the text.
fn pages_give_the_text(of_which: impl Fn(&str) -> bool) {
    let folder = Folder::new();
    let server = serve(&folder, &[LIMIT]);
    let mut wrong = Vec::new();
    for (name, text) in texts().into_iter().filter(|(name, _)| of_which(name)) {
        folder.write(name, &text);
        let pages = pages(&server, "read_text_file", json!({ "path": name }));
        let joined: String = pages.iter().map(part).collect();
        if joined != text {
            wrong.push(format!("{name}: {} bytes of {}", joined.len(), text.len()));
        }
    }
    assert!(wrong.is_empty(), "{wrong:?}");
}

#[test]
fn the_pages_of_a_text_cut_inside_lines_give_exactly_the_text() {
    pages_give_the_text(|name| matches!(name, "one long line" | "multi-byte characters"));
}

#[test]
fn the_pages_of_every_text_give_exactly_the_text() {
    pages_give_the_text(|_| true);
}

#[test]
fn the_last_line_of_a_cut_page_stands_on_a_line_of_its_own() {
    let folder = Folder::new();
    let server = serve(&folder, &[LIMIT]);
    folder.write("f", "a line of text\n".repeat(300));
    for arguments in [
        json!({ "path": "f" }),
        json!({ "path": "f", "line_numbers": true }),
        json!({ "path": "f", "start_line": 2 }),
        json!({ "path": "f", "head": 200 }),
    ] {
        let page = server.tool("read_text_file", arguments.clone());
        let last = page.text.lines().last().expect("a line");
        assert!(
            last.starts_with("[Shown: ") && last.contains("Go on with read_text_file"),
            "{arguments}: {last}"
        );
    }
}

#[test]
fn the_numbered_lines_of_all_pages_are_all_lines_once() {
    let folder = Folder::new();
    let server = serve(&folder, &[LIMIT]);
    folder.write("f", (1..=300).map(|n| format!("line {n} of the text\r\n")).collect::<String>());
    for (arguments, wanted) in [
        (json!({ "path": "f", "line_numbers": true }), 1..=300),
        (json!({ "path": "f", "line_numbers": true, "start_line": 5, "end_line": 250 }), 5..=250),
    ] {
        let found = lines(&pages(&server, "read_text_file", arguments));
        let wanted: Vec<String> = wanted.map(|n| format!("{n}\tline {n} of the text")).collect();
        assert_eq!(found, wanted);
    }
}

#[test]
fn first_and_last_lines_of_a_text_with_a_lone_cr_are_told_to_end_in_lf() {
    let folder = Folder::new();
    folder.write("cr", "one\rtwo\rthree\r");
    folder.write("crlf", "one\r\ntwo\r\n");
    let server = serve(&folder, &[LIMIT]);
    for (path, arguments, expected) in [
        ("cr", json!({ "head": 1 }), true),
        ("cr", json!({ "tail": 1 }), true),
        ("cr", json!({ "head": 1, "line_numbers": true }), false),
        ("cr", json!({ "end_line": 1 }), false),
        ("crlf", json!({ "head": 1 }), false),
        ("crlf", json!({ "tail": 2 }), false),
    ] {
        let mut call = arguments.clone();
        call["path"] = json!(path);
        let page = server.tool("read_text_file", call);
        let note = page.texts.get(1).map(String::as_str).unwrap_or_default();
        assert_eq!(
            note.contains("This text has lines that end in \\r alone"),
            expected,
            "{path} {arguments}: {note}"
        );
        assert_eq!(page.text.contains("three"), expected, "{path} {arguments}");
    }
}

#[test]
fn an_empty_last_line_says_that_tail_counts_it() {
    let folder = Folder::new();
    let server = serve(&folder, &[]);
    for (text, tail, shown, is_told) in [
        ("a\nb\n", 1, "", true),
        ("a\r\nb\r\n", 1, "", true),
        ("a\nb\n", 2, "b\n", false),
        ("a\nb", 1, "b", false),
        ("", 1, "", false),
    ] {
        folder.write("f", text);
        for tool in ["read_text_file", "read_file"] {
            let page = server.tool(tool, json!({ "path": "f", "tail": tail }));
            assert_eq!(page.result["content"][0]["text"], shown, "{text:?}");
            let note = page.result["content"][1]["text"].as_str().unwrap_or_default();
            assert_eq!(note.contains("pass a tail that is larger by 1"), is_told, "{text:?}: {note}");
        }
    }
    let page = server.tool("read_text_file", json!({ "path": "f", "tail": 1, "line_numbers": true }));
    assert!(page.result["content"][1].is_null(), "{page:?}");
}
