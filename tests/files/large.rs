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
    not_under_wine!("has a limit of time that such a program does not keep");
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
    not_under_wine!("has a limit of time or takes long");
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
    // 24,000 estimated tokens a page are 56 KB of this line.
    assert!(shown.starts_with(&line) && pages < 200, "{pages} pages");
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
    not_under_wine!("reads the system calls of Linux with strace");
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
    not_under_wine!("has system calls fail or wait with strace");
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

/// A file of more than the default `--max-file`, as lines of 16 bytes, with one other in the middle.
fn over_the_limit(folder: &Folder) -> (String, usize) {
    let lines = 12 * MB / 16;
    let text =
        "fifteen letters\n".repeat(lines / 2) + "the needle line\n" + &"fifteen letters\n".repeat(lines / 2);
    folder.write("f", &text);
    (text, lines / 2 + 1)
}

#[test]
fn parts_of_a_file_over_the_limit_are_read_searched_and_edited_in_the_sets_for_trees() {
    let folder = Folder::new();
    let (text, middle) = over_the_limit(&folder);
    let server = Stdio::start(&folder, &["--tools=filesystem,search", "--sync=none"]).ready();
    let read = |more: Value| {
        let mut arguments = json!({ "path": "f" });
        arguments.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        server.ok("read_text_file", arguments)
    };
    assert_eq!(read(json!({ "head": 1 })), "fifteen letters");
    assert_eq!(read(json!({ "tail": 2 })), "fifteen letters\n");
    assert_eq!(read(json!({ "start_line": middle, "end_line": middle })), "the needle line");
    assert_eq!(read(json!({ "head": 1, "encoding": "windows-1252" })), "fifteen letters");
    // A whole read is its first page, which tells how to go on.
    let page = server.tool("read_text_file", json!({ "path": "f" }));
    assert!(
        page.text.starts_with("fifteen letters\n") && page.text.contains("\n[Shown: "),
        "{:.80}",
        page.text
    );
    let next = server.tool("read_text_file", page.result["_meta"]["file-editor/truncated"]["next"].clone());
    assert!(next.text.starts_with("fifteen letters\n"), "{:.80}", next.text);
    let several = server.ok("read_multiple_files", json!({ "paths": ["f"] }));
    assert!(several.starts_with("f:\nfifteen letters\n"), "{several:.80}");
    let found = server.ok("grep", json!({ "pattern": "needle", "output_mode": "content" }));
    assert!(
        found.contains(&format!("{middle}:the needle line")) && found.contains("nothing left out"),
        "{found}"
    );
    let edits = json!([{ "oldText": "the needle line", "newText": "a needle" }]);
    server.ok("edit_file", json!({ "path": "f", "edits": edits, "dryRun": true }));
    server.ok("edit_file", json!({ "path": "f", "edits": edits }));
    assert!(folder.read("f") == text.replace("the needle line", "a needle").as_bytes());
    let miss = json!({ "path": "f", "edits": [{ "oldText": "a neddle", "newText": "x" }] });
    let missed = server.tool("edit_file", miss);
    assert!(missed.is_error && missed.text.contains(&format!("Line {middle}: a needle")), "{}", missed.text);
}

#[test]
fn parts_of_a_file_over_the_limit_are_read_and_edited_in_the_set_text() {
    let folder = Folder::new();
    let (text, middle) = over_the_limit(&folder);
    let server = Stdio::start(&folder, &["--tools=text", "--sync=none"]).ready();
    for tool in ["read_file", "view"] {
        let line = server.ok(tool, json!({ "filename": "f", "start_line": middle, "end_line": middle }));
        assert_eq!(line, "the needle line", "{tool}");
        let found = server.ok(tool, json!({ "filename": "f", "pattern": "needle" }));
        assert!(found.starts_with("the needle line"), "{tool} {found}");
    }
    server.ok("edit_file", json!({ "filename": "f", "old_text": "needle", "new_text": "nail" }));
    server.ok("edit_file", json!({ "filename": "f", "new_text": "the end\n" }));
    assert!(folder.read("f") == (text.replace("needle", "nail") + "the end\n").as_bytes());
    let latin =
        json!({ "filename": "f", "old_text": "nail", "new_text": "hammer", "encoding": "windows-1252" });
    server.ok("edit_file", latin);
    assert!(folder.read("f") == (text.replace("needle", "hammer") + "the end\n").as_bytes());
}

/// A program that is not optimised takes long to look through 12 MB.
const SLOW: &str = "--timeout=60";

#[test]
fn what_takes_a_file_over_the_limit_whole_is_refused_and_names_the_calls_that_work() {
    let folder = Folder::new();
    over_the_limit(&folder);
    let before = folder.snapshot();
    let size = "Error: File size 12.01MB exceeds maximum limit 10MB\nFiles of any size are taken in parts";
    for (flags, calls, parts) in [
        (
            ["--tools=filesystem,search", "--answer-limit=0", SLOW],
            vec![
                ("read_text_file", json!({ "path": "f" })),
                ("read_text_file", json!({ "path": "f", "start_line": 2 })),
                ("read_text_file", json!({ "path": "f", "encoding": "windows-1252" })),
                ("read_media_file", json!({ "path": "f" })),
            ],
            "read_text_file with head, tail, or start_line and end_line; grep; edit_file with the text of a part.",
        ),
        (
            ["--tools=text", "--answer-limit=0", SLOW],
            vec![
                ("read_file", json!({ "filename": "f" })),
                ("read_file", json!({ "filename": "f", "pattern": "letters" })),
                ("view", json!({ "filename": "f", "skip_empty": true })),
            ],
            "view with start_line and end_line; edit_file with the text of a part.",
        ),
    ] {
        let server = Stdio::start(&folder, &flags).ready();
        for (tool, arguments) in calls {
            let refused = server.tool(tool, arguments.clone());
            assert!(refused.is_error, "{tool} {arguments}");
            let (first, rest) = refused.text.split_once(", by ").unwrap_or((&refused.text, ""));
            assert_eq!(first, size, "{tool} {arguments}");
            assert_eq!(rest, parts, "{tool} {arguments}");
        }
    }
    assert!(folder.snapshot() == before);
}

#[test]
fn one_edit_adds_at_most_the_limit_to_a_file_of_any_size() {
    let folder = Folder::new();
    let text = ("z".to_owned() + &"a".repeat(62) + "\n").repeat(3 * MB / 64);
    folder.write("f", &text);
    let before = folder.snapshot();
    let server = Stdio::start(&folder, &["--tools=text", "--max-file=1", "--sync=none"]).ready();
    let edit = |new: &str| json!({ "filename": "f", "old_text": "z", "new_text": new });
    let refused = server.tool("edit_file", edit(&"b".repeat(33))).text;
    let expected =
        "Error: File size 4.5MB exceeds maximum limit 4MB\nNothing was changed. Make the change in several";
    assert!(refused.starts_with(expected), "{refused}");
    let added = server.tool("edit_file", json!({ "filename": "f", "new_text": "b".repeat(MB + 1) })).text;
    assert!(added.starts_with("Error: File size 4.01MB exceeds maximum limit 4MB\n"), "{added}");
    assert!(folder.snapshot() == before);
    server.ok("edit_file", edit("bb"));
    assert!(folder.read("f") == text.replace('z', "bb").as_bytes());
}

#[test]
fn the_refusal_to_replace_a_large_file_names_a_call_that_does() {
    let folder = Folder::new();
    for (set, tool, whole, named, call) in [
        (
            "text",
            "write_file",
            json!({ "filename": "f", "content": "new" }),
            "edit_file {\"filename\":\"f\",\"old_text\":\"*\",\"new_text\":…}",
            ("edit_file", json!({ "filename": "f", "old_text": "*", "new_text": "new" })),
        ),
        (
            "text",
            "edit_file",
            json!({ "filename": "f", "content": "new" }),
            "edit_file {\"filename\":\"f\",\"old_text\":\"*\",\"new_text\":…}",
            ("edit_file", json!({ "filename": "f", "old_text": "*", "new_text": "new" })),
        ),
        (
            "agent",
            "edit",
            json!({ "path": "f", "content": "new" }),
            "edit {\"delete\":true,\"path\":\"f\"}",
            ("edit", json!({ "path": "f", "delete": true })),
        ),
    ] {
        folder.write("f", "x\n".repeat(MB));
        let server =
            Stdio::start(&folder, &[&format!("--tools={set}"), "--max-file=1", "--sync=none"]).ready();
        let refused = server.tool(tool, whole.clone()).text;
        assert!(
            refused.contains("File size 2MB exceeds maximum limit 1MB") && refused.contains(named),
            "{refused}"
        );
        assert_eq!(folder.read("f").len(), 2 * MB);
        server.ok(call.0, call.1);
        if set == "agent" {
            server.ok(tool, whole);
        }
        assert_eq!(folder.text("f"), "new");
    }
}

#[test]
fn the_line_tools_and_file_edit_keep_the_limit() {
    let folder = Folder::new();
    over_the_limit(&folder);
    let server = Stdio::start(&folder, &["--tools=lines,exact"]).ready();
    let size = "Error: File size 12.01MB exceeds maximum limit 10MB";
    let range = json!({ "name": "f", "start_line": 0, "end_line": 0 });
    assert_eq!(server.refused("read_file", range), size);
    assert_eq!(server.refused("edit_file", json!({ "name": "f", "append": "x" })), size);
    let edits = json!([{ "old_text": "needle", "new_text": "nail" }]);
    assert!(server.refused("file_edit", json!({ "path": "f", "edits": edits })).starts_with(size));
    assert!(server.ok("list_files", json!({})).contains("lines: -1"));
}
