//! Large files (contract 9): read by several threads, edited in the kernel, a long line in pages.

use serde_json::{Value, json};

use crate::support::{Folder, MB, Mcp, Stdio, calls, command, traced, with_injected};

const FLAGS: [&str; 2] = ["--max-file=100", "--sync=none"];

/// Threads take parts of this size.
const PART: usize = 16 * MB;

/// Lines with breaks of all kinds and characters of all lengths, over more than two parts. Each border of two parts is
/// within a character or a break.
fn text() -> String {
    let mut text = String::with_capacity(3 * PART);
    for (part, across) in ["\r\n", "😀", "漢", "\r"].iter().enumerate() {
        let end = (part + 1) * PART - across.len().div_ceil(2);
        let mut number = 0;
        while text.len() + 100 < end {
            let brk = ["\n", "\n", "\r\n", "\r"][number % 4];
            text += &format!("{part}.{number} ä漢😀 a line of the text that is read{brk}");
            number += 1;
        }
        text.extend(std::iter::repeat_n('x', end - text.len()));
        text += across;
        if part == 2 {
            break;
        }
    }
    text + "the end"
}

/// The lines of a text, without their breaks.
fn lines(text: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(['\n', '\r']) {
        lines.push(&rest[..at]);
        rest = &rest[at + if rest[at..].starts_with("\r\n") { 2 } else { 1 }..];
    }
    lines.extend((!rest.is_empty()).then_some(rest));
    lines
}

fn range(server: &dyn Mcp, start: usize, end: usize) -> String {
    server.ok("read_file", json!({ "name": "f", "start_line": start, "end_line": end }))
}

/// Checks that these ranges, whose lines have no break but `\n` and one that `read_file` gives as it is, are right.
fn check(server: &dyn Mcp, text: &str, around: &[usize]) {
    let lines = lines(text);
    for &line in around {
        let (start, end) = (line.saturating_sub(1), (line + 1).min(lines.len() - 1));
        let (head, body) = range(server, start, end)
            .split_once("\n\n")
            .map(|(a, b)| (a.to_owned(), b.to_owned()))
            .expect("a head");
        assert_eq!(head, format!("File: f (lines {start}-{end} of {} total)", lines.len()));
        assert_eq!(self::lines(&body), lines[start..=end], "line {line}");
    }
}

/// The lines around the borders of parts, and the first and last ones.
fn borders(text: &str) -> Vec<usize> {
    let before = |at: usize| lines(&String::from_utf8_lossy(&text.as_bytes()[..at])).len();
    let last = lines(text).len() - 1;
    [0, before(PART), before(2 * PART), last].map(|line| line.min(last)).into()
}

#[test]
fn a_large_file_is_read_and_edited_alike_at_the_borders_of_its_parts() {
    let (folder, mut text) = (Folder::new(), text());
    folder.write("f", &text);
    let server = Stdio::start(&folder, &FLAGS).ready();
    let around = borders(&text);
    check(&server, &text, &around);
    for line in around.clone() {
        let replace = json!({ "operation": "replace", "line": line, "content": "ö new" });
        server.ok("edit_file", json!({ "name": "f", "edits": [replace] }));
        let old = lines(&text)[line];
        let at = old.as_ptr() as usize - text.as_ptr() as usize;
        text.replace_range(at..at + old.len(), "ö new");
        assert!(folder.read("f") == text.as_bytes(), "line {line}");
        // From the index that was made while the edit was written.
        check(&server, &text, &around);
    }
    // From an index of the whole.
    check(&Stdio::start(&folder, &FLAGS).ready(), &text, &around);
}

#[test]
fn a_large_file_that_is_not_text_is_refused_wherever_it_is_wrong() {
    let (folder, text) = (Folder::new(), text());
    let server = Stdio::start(&folder, &FLAGS).ready();
    let refused = |places: &[(usize, u8)]| {
        let mut bytes = text.clone().into_bytes();
        places.iter().for_each(|&(at, byte)| bytes[at] = byte);
        folder.write("f", bytes);
        server.refused("read_file", json!({ "name": "f", "start_line": 0, "end_line": 0 }))
    };
    let last = text.len() - 1;
    let (invalid, binary) = (refused(&[(5, 0xFF)]), refused(&[(5, 0)]));
    assert_ne!(invalid, binary);
    for at in [PART + 5, 2 * PART + 5, last] {
        assert_eq!(refused(&[(at, 0xFF)]), invalid, "{at}");
        assert_eq!(refused(&[(at, 0)]), binary, "{at}");
        assert_eq!(refused(&[(5, 0xFF), (at, 0)]), binary, "{at}");
        assert_eq!(refused(&[(5, 0), (at, 0xFF)]), binary, "{at}");
    }
}

#[test]
fn a_long_line_comes_in_pages_that_are_the_line() {
    let (folder, line) = (Folder::new(), "0123456789äöü ".repeat(MB / 2));
    folder.write("f", format!("first\n{line}\nlast\n"));
    let flags = ["--max-file=100", "--tools=filesystem", "--answer-limit=1000"];
    let server = Stdio::start(&folder, &flags).ready();
    let mut next = json!({ "path": "f", "start_line": 2, "end_line": 2 });
    let (mut shown, mut pages) = (String::new(), 0);
    while shown.len() < line.len() {
        let page = server.tool("read_text_file", next);
        let text = page.text.rsplit_once("\n[Shown: ").map_or(page.text.as_str(), |(text, _)| text);
        shown += text;
        pages += 1;
        next = page.result["_meta"]["file-editor/truncated"]["next"].clone();
    }
    assert!(shown.starts_with(&line) && pages < 12, "{pages} pages");
}

/// The arguments of an edit in the middle of a file of 40 MB, and the bytes before and after it.
fn middle(folder: &Folder) -> (Value, String) {
    let text = "a line of sixteen\n".repeat(40 * MB / 18);
    folder.write("f", &text);
    let line = text.len() / 36;
    let replace = json!({ "operation": "replace", "line": line, "content": "another" });
    let mut after = text;
    after.replace_range(line * 18..line * 18 + 17, "another");
    (json!({ "name": "f", "edits": [replace] }), after)
}

#[test]
fn what_an_edit_keeps_is_copied_in_the_kernel() {
    let folder = Folder::new();
    let (edit, after) = middle(&folder);
    let trace = folder.outside("trace");
    let Some(command) = traced(&command(&folder, "stdio", &FLAGS), "write,copy_file_range", &trace) else {
        return;
    };
    let server = Stdio::run(command).ready();
    server.ok("edit_file", edit);
    assert!(folder.read("f") == after.as_bytes());
    server.close();
    let bytes = |name: &str| -> usize {
        let calls = calls(&trace);
        let to_file =
            calls.iter().filter(|call| call.name == name && call.arguments.contains(".file-editor-tmp-"));
        to_file.map(|call| call.result.parse::<usize>().unwrap_or(0)).sum()
    };
    assert_eq!(bytes("write") + bytes("copy_file_range"), after.len());
    assert!(bytes("write") < 3 * MB, "{} bytes were written", bytes("write"));
}

#[test]
fn an_edit_is_written_where_the_kernel_cannot_copy_and_refused_where_the_disk_fails() {
    for (error, works) in [("EOPNOTSUPP", true), ("EXDEV", true), ("ENOSPC", false), ("EIO", false)] {
        let folder = Folder::new();
        let (edit, after) = middle(&folder);
        let before = folder.snapshot();
        let inject = format!("copy_file_range:error={error}:when=2+");
        let Some(command) = with_injected(&command(&folder, "stdio", &FLAGS), &inject) else { return };
        let server = Stdio::run(command).ready();
        if works {
            server.ok("edit_file", edit);
            assert!(folder.read("f") == after.as_bytes(), "{error}");
        } else {
            let refused = server.refused("edit_file", edit);
            assert!(refused.starts_with("Error: Failed to write file: "), "{refused}");
            assert!(folder.snapshot() == before, "{error}");
        }
    }
}
