//! `read_file`: the range first, then the pattern, then blank lines, then the number of lines.

use std::fmt::Write;
use std::time::Duration;

use serde_json::{Value, json};

use super::{failure, on_all, serve};
use crate::support::{Folder, Mcp, Random, anonymous_memory, cancelled, mostly_within, ping, request};
use crate::trees::follow;

const LINES: &str = "one\n\ntwo\r\n  \t\nthree\rfour";

fn fill(folder: &Folder) {
    folder.write("f", LINES);
    folder.write("empty", "");
    folder.write("marked", "\u{feff}a\nb\n");
}

#[test]
fn without_filters_the_text_is_whole_with_its_own_breaks_and_else_lines() {
    on_all(&[], fill, |server, _| {
        for (arguments, expected) in [
            (json!({}), LINES),
            (json!({ "encoding": "auto" }), LINES),
            (json!({ "start_line": 1 }), "one\n\ntwo\n  \t\nthree\nfour"),
            (json!({ "start_line": 2, "end_line": 4 }), "\ntwo\n  \t"),
            (json!({ "end_line": 2 }), "one\n"),
            (json!({ "start_line": 5, "end_line": 99 }), "three\nfour"),
            (json!({ "start_line": -2 }), "three\nfour"),
            (json!({ "start_line": -99 }), "one\n\ntwo\n  \t\nthree\nfour"),
            (json!({ "start_line": -3, "end_line": -2 }), "  \t\nthree"),
            (json!({ "start_line": 2, "end_line": -4 }), "\ntwo"),
            (json!({ "max_lines": 2 }), "one\n"),
            (json!({ "start_line": 3, "max_lines": 1 }), "two"),
            (json!({ "start_line": -2, "max_lines": 1 }), "three"),
            (json!({ "max_lines": 0 }), LINES),
            (json!({ "skip_empty": true }), "one\ntwo\nthree\nfour"),
            (json!({ "pattern": "o" }), "one\ntwo\nfour"),
            (json!({ "pattern": "^t" }), "two\nthree"),
            (json!({ "pattern": "^$" }), ""),
            (json!({ "pattern": "" }), LINES),
            (json!({ "start_line": 0, "end_line": 0, "encoding": "", "cursor": "" }), LINES),
            (json!({ "pattern": "x" }), ""),
            (json!({ "pattern": "e$", "start_line": 2 }), "three"),
            (json!({ "pattern": r"^\s*$", "skip_empty": true }), ""),
            (json!({ "skip_empty": true, "max_lines": 3, "start_line": 2 }), "two\nthree\nfour"),
            (json!({ "line_numbers": true, "pattern": "o" }), "1\tone\n3\ttwo\n6\tfour"),
            (json!({ "line_numbers": true, "skip_empty": true }), "1\tone\n3\ttwo\n5\tthree\n6\tfour"),
            (json!({ "line_numbers": true, "start_line": 5 }), "5\tthree\n6\tfour"),
            (json!({ "line_numbers": true, "start_line": -1 }), "6\tfour"),
        ] {
            let mut call = json!({ "filename": "f" });
            for (name, value) in arguments.as_object().expect("an object") {
                call[name] = value.clone();
            }
            let read = server.tool("read_file", call);
            assert_eq!((read.is_error, read.text.as_str()), (false, expected), "{arguments}");
            assert!(read.result["_meta"]["file-editor/version"].is_string(), "{}", read.result);
        }
        assert_eq!(server.ok("read_file", json!({ "filename": "empty" })), "");
        assert_eq!(server.ok("read_file", json!({ "filename": "empty", "pattern": "x" })), "");
        assert_eq!(server.ok("read_file", json!({ "filename": "marked" })), "a\nb\n");
        assert_eq!(server.ok("read_file", json!({ "filename": "marked", "pattern": "^a" })), "a");
    });
}

#[test]
fn every_argument_has_the_names_that_models_send() {
    on_all(&[], fill, |server, _| {
        let first = json!({ "filename": "f", "start_line": 3, "end_line": 6, "max_lines": 2, "line_numbers": true, "skip_empty": true });
        let expected = "3\ttwo\n5\tthree";
        assert_eq!(server.ok("read_file", first), expected);
        for name in ["filename", "path", "name", "file_path", "target_file"] {
            let call = json!({ name: "f", "startLine": "3", "endLine": 6.0, "maxLines": "2", "lineNumbers": "true", "skipEmpty": true });
            assert_eq!(server.ok("read_file", call), expected, "{name}");
        }
        let wrong = failure(server, "read_file", json!({ "filename": "f", "patern": "x" }));
        assert!(wrong.contains("did you mean pattern?"), "{wrong}");
    });
}

#[test]
fn wrong_ranges_and_patterns_say_what_to_do() {
    on_all(&[], fill, |server, _| {
        for (arguments, first, way_out) in [
            (
                json!({ "start_line": 7 }),
                "Error: Start line 7 exceeds file length 6",
                "The file has 6 lines, 1-6.",
            ),
            (json!({ "start_line": 7, "pattern": "x" }), "Error: Start line 7 exceeds file length 6", "1-6."),
            (
                json!({ "start_line": 3, "end_line": 2 }),
                "Error: Invalid line range: start 3 > end 2",
                "from 1",
            ),
            (
                json!({ "start_line": 3, "end_line": 2, "skip_empty": true }),
                "Error: Invalid line range: start 3 > end 2",
                "",
            ),
            (json!({ "start_line": -1, "end_line": -2 }), "Error: Invalid line range: start 6 > end 5", ""),
            (
                json!({ "start_line": 1.5 }),
                "Error: Invalid arguments: start_line: 1.5 is wrong; expected an integer",
                "",
            ),
            (
                json!({ "max_lines": -1 }),
                "Error: Invalid arguments: max_lines: -1 is wrong; expected an integer of at least 0",
                "",
            ),
            (
                json!({ "pattern": "(" }),
                "Error: Invalid arguments: pattern: it is no valid regular expression",
                "escape the character",
            ),
            (
                json!({ "pattern": "(?=x)" }),
                "Error: Invalid arguments: pattern: look-around and back-references are not supported",
                "",
            ),
            (
                json!({ "pattern": "a\\nb" }),
                "Error: Invalid arguments: pattern: it holds a line break",
                "leave it out",
            ),
            (
                json!({ "encoding": "klingon" }),
                "Error: Invalid arguments: encoding",
                "expected an encoding, such as utf-8, utf-16",
            ),
        ] {
            let mut call = arguments.clone();
            call["filename"] = json!("f");
            let text = failure(server, "read_file", call);
            assert!(text.starts_with(first) && text.contains(way_out), "{arguments}: {text}");
        }
        let empty = failure(server, "read_file", json!({ "filename": "empty", "start_line": 1 }));
        assert!(empty.starts_with("Error: Start line 1 exceeds file length 0"), "{empty}");
        let missing = failure(server, "read_file", json!({ "filename": "ff" }));
        assert!(missing.starts_with("Error: File 'ff' not found\nFiles with a similar name: f"), "{missing}");
        let outside = failure(server, "read_file", json!({ "filename": "../f" }));
        assert!(outside.starts_with("Error: Invalid filename format"), "{outside}");
    });
}

/// The lines of a text: what lies between breaks.
fn lines_of(text: &str) -> Vec<String> {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let mut lines: Vec<String> = text.split('\n').map(str::to_owned).collect();
    if lines.last().is_some_and(String::is_empty) {
        lines.pop();
    }
    lines
}

/// What contract 15 says of a call that has a range, a filter or numbers.
fn expected(text: &str, call: &Value) -> Option<String> {
    let lines = lines_of(text);
    let number = |name: &str| {
        let line = call[name].as_i64()?;
        Some(if line < 0 { (lines.len() as i64 + line).max(0) + 1 } else { line })
    };
    let (start, end) = (number("start_line").unwrap_or(1), number("end_line").unwrap_or(i64::MAX));
    let is_past = call["start_line"].as_i64().is_some_and(|start| start > lines.len() as i64);
    let is_before = call["end_line"].as_i64().is_some_and(|end| end < -(lines.len() as i64));
    if start > end || is_past || is_before && !lines.is_empty() {
        return None;
    }
    let wanted = lines.iter().enumerate().map(|(number, line)| (number as i64 + 1, line));
    let pattern = call["pattern"].as_str().map(|pattern| pattern.trim_start_matches('^'));
    let told: Vec<String> = wanted
        .filter(|(number, _)| start <= *number && *number <= end)
        .filter(|(_, line)| pattern.is_none_or(|pattern| line.starts_with(pattern)))
        .filter(|(_, line)| call["skip_empty"] != true || !line.trim().is_empty())
        .take(call["max_lines"].as_u64().map_or(usize::MAX, |most| most as usize))
        .map(
            |(number, line)| {
                if call["line_numbers"] == true { format!("{number}\t{line}") } else { line.clone() }
            },
        )
        .collect();
    Some(told.join("\n"))
}

fn random_text(random: &mut Random) -> String {
    let parts = ["a", "b", "й", " ", "\t", "\n", "\n", "\r\n", "\r"];
    (0..random.below(40)).map(|_| parts[random.below(parts.len() as u64) as usize]).collect()
}

fn random_call(random: &mut Random) -> Value {
    let mut call = json!({ "filename": "f" });
    let line = |random: &mut Random| {
        let line = random.below(9) as i64 + 1;
        json!(if random.below(3) == 0 { -line } else { line })
    };
    for (name, likely) in
        [("start_line", 2), ("end_line", 3), ("max_lines", 3), ("pattern", 3), ("skip_empty", 3)]
    {
        if random.below(likely) == 0 {
            call[name] = match name {
                "max_lines" => json!(random.below(4) + 1),
                "pattern" => json!(["^a", "^", "^й"][random.below(3) as usize]),
                "skip_empty" => json!(true),
                _ => line(random),
            };
        }
    }
    call["line_numbers"] = json!(random.below(2) == 0);
    if call.as_object().is_some_and(|call| call.len() == 2) {
        call["line_numbers"] = json!(true);
    }
    call
}

#[test]
fn random_calls_tell_the_lines_of_the_contract_in_every_encoding() {
    let (folder, mut random) = (Folder::new(), Random::new());
    let server = serve(&folder, &[]);
    for _ in 0..300 {
        let text = random_text(&mut random);
        let mut call = random_call(&mut random);
        let expected = expected(&text, &call);
        let utf_16: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
        for (encoding, bytes) in [
            ("utf-8", text.clone().into_bytes()),
            ("utf-16", [&b"\xFE\xFF"[..], &utf_16].concat()),
            ("utf-16be", utf_16),
            ("windows-1251", text.chars().map(|c| if c == 'й' { 0xE9 } else { c as u8 }).collect()),
        ] {
            folder.write("f", &bytes);
            call["encoding"] = json!(encoding);
            let read = server.tool("read_file", call.clone());
            let told = (!read.is_error).then_some(read.text);
            assert_eq!(told, expected, "{text:?} {call}");
        }
    }
}

#[test]
fn the_pages_of_a_filtered_text_are_together_the_whole() {
    let folder = Folder::new();
    let (limited, whole) = (serve(&folder, &["--answer-limit=1"]), serve(&folder, &["--answer-limit=0"]));
    let mut text = String::new();
    for number in 0..400 {
        let _ = write!(text, "строка {number}\n\n");
    }
    folder.write("f", &text);
    folder.write("16", text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>());
    for (name, encoding) in [("f", "utf-8"), ("16", "utf-16")] {
        for arguments in [
            json!({ "pattern": "[05]$" }),
            json!({ "skip_empty": true, "line_numbers": true }),
            json!({ "skip_empty": true, "max_lines": 300, "start_line": -700 }),
            json!({ "pattern": "к", "start_line": 5, "end_line": -9 }),
            json!({ "start_line": 3 }),
            json!({ "line_numbers": true, "max_lines": 500 }),
        ] {
            let mut call = arguments.clone();
            (call["filename"], call["encoding"]) = (json!(name), json!(encoding));
            let all = whole.ok("read_file", call.clone());
            let pages = follow(&limited, "read_file", call);
            assert!(pages.len() > 1, "{arguments}");
            let shown =
                |text: &str| text.rfind("\n[Shown: ").map_or(text.to_owned(), |end| text[..end].to_owned());
            let told: Vec<String> = pages.iter().map(|page| shown(&page.text)).collect();
            assert_eq!(told.join("\n"), all, "{name} {arguments}");
        }
        let pages = follow(&limited, "view", json!({ "filename": name, "encoding": encoding }));
        let joined: String = pages
            .iter()
            .map(|page| page.text.rfind("[Shown: ").map_or(&*page.text, |end| &page.text[..end]))
            .collect();
        assert_eq!(joined, text);
        assert!(pages[0].text.contains("Go on with view {"), "{}", pages[0].text);
    }
}

#[test]
fn a_line_that_is_too_long_for_an_answer_is_cut_and_can_be_seen_as_a_whole() {
    let folder = Folder::new();
    let server = serve(&folder, &["--answer-limit=1"]);
    let long = "й".repeat(3_000);
    folder.write("f", format!("a\n{long}\nb й\n"));
    let page = server.tool("read_file", json!({ "filename": "f", "pattern": "й" }));
    assert!(page.text.len() <= 1_024 && page.text.contains("of line 2, which is too long"), "{}", page.text);
    let truncated = &page.result["_meta"]["file-editor/truncated"];
    assert_eq!((&truncated["shown"], &truncated["of"]), (&json!(1), &json!(2)));
    assert_eq!(server.ok("read_file", truncated["next"].clone()), "b й");
    let pages = follow(&server, "read_file", json!({ "filename": "f", "start_line": 2, "end_line": 2 }));
    let shown = |text: &str| text.rfind("\n[Shown: ").map_or(text.to_owned(), |end| text[..end].to_owned());
    assert_eq!(pages.iter().map(|page| shown(&page.text)).collect::<String>(), long);
}

#[test]
fn bytes_that_are_no_character_are_an_error_with_line_column_and_value() {
    let fill = |folder: &Folder| {
        folder.write("1251", b"\xE0\xE1\r\n\xE2\x98\n");
        folder.write("odd", b"a\0\n\0b");
        folder.write("lone", b"\xFF\xFEa\0\x01\xDC");
        folder.write("utf-8", "ab\nй\u{e9}".as_bytes().iter().copied().chain(*b"\xFFx").collect::<Vec<u8>>());
    };
    on_all(&[], fill, |server, _| {
        for filter in
            [json!({}), json!({ "pattern": "x" }), json!({ "skip_empty": true }), json!({ "start_line": -1 })]
        {
            for (name, encoding, expected) in [
                ("1251", "windows-1251", "windows-1251 encoding: line 2, column 2: 0x98 is no character"),
                (
                    "odd",
                    "utf-16le",
                    "utf-16le encoding: line 2, column 1: the text ends inside a character, after 0x62",
                ),
                ("lone", "utf-16", "utf-16le encoding: line 1, column 2: 0x01 0xDC is half of a pair"),
                ("utf-8", "utf-8", "UTF-8 encoding: line 2, column 3: 0xFF is no character"),
            ] {
                let mut call = filter.clone();
                (call["filename"], call["encoding"]) = (json!(name), json!(encoding));
                let text = failure(server, "read_file", call);
                assert!(
                    text.starts_with(&format!("Error: File contains invalid {expected}")),
                    "{filter}: {text}"
                );
            }
        }
        // What comes before is told if no more is wanted.
        let call = json!({ "filename": "1251", "encoding": "windows-1251", "pattern": ".", "max_lines": 1 });
        assert_eq!(server.ok("read_file", call), "аб");
    });
}

#[test]
fn a_large_file_is_filtered_in_little_memory() {
    not_under_wine!("memory is given back otherwise there");
    const MB: usize = 1 << 20;
    let folder = Folder::new();
    let server = serve(&folder, &["--max-size=100", "--timeout=300"]);
    let line = "строка текста, которую никто не ищет\r\n";
    let utf_16: Vec<u8> = line.encode_utf16().flat_map(u16::to_le_bytes).collect();
    folder.write("8", line.repeat(40 * MB / line.len()) + "последняя\n");
    let last: Vec<u8> = "последняя\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    folder.write("16", [utf_16.repeat(40 * MB / utf_16.len()), last].concat());
    server.ok("read_file", json!({ "filename": "8", "max_lines": 1 }));
    let before = anonymous_memory(server.pid());
    for (name, encoding) in [("8", "utf-8"), ("16", "utf-16le"), ("16", "utf-16")] {
        for filter in [json!({ "pattern": "последняя" }), json!({ "skip_empty": true, "start_line": -1 })]
        {
            let mut call = filter.clone();
            (call["filename"], call["encoding"]) = (json!(name), json!(encoding));
            assert_eq!(server.ok("read_file", call), "последняя", "{name} {filter}");
        }
        let call = json!({ "filename": name, "encoding": encoding, "pattern": "никто" });
        assert!(server.ok("read_file", call).contains("[Shown: "), "{name}");
    }
    let used = anonymous_memory(server.pid()).saturating_sub(before);
    assert!(used <= 4 * MB, "{used} bytes");
}

#[test]
fn a_line_of_more_than_1_mb_is_an_error_only_where_it_is_looked_at() {
    let folder = Folder::new();
    let server = serve(&folder, &[]);
    folder.write("f", "a\n".to_owned() + &"x".repeat(3 << 20) + "\r\nb\n");
    let refused = failure(&server, "read_file", json!({ "filename": "f", "pattern": "b" }));
    assert!(refused.starts_with("Error: Line 2 is longer than 1MB"), "{refused}");
    assert_eq!(server.ok("read_file", json!({ "filename": "f", "pattern": "b", "start_line": 3 })), "b");
    assert_eq!(server.ok("read_file", json!({ "filename": "f", "pattern": "a", "end_line": 1 })), "a");
    assert_eq!(server.ok("read_file", json!({ "filename": "f", "start_line": 3 })), "b");
}

#[test]
fn a_cancelled_read_ends_within_50_ms() {
    not_under_wine!("has a limit of time that such a program does not keep");
    let folder = Folder::new();
    folder.write("f", "строка\n".repeat(7_000_000));
    mostly_within(Duration::from_millis(50), || {
        let server = serve(&folder, &["--max-size=100", "--max-in-flight=1"]);
        let arguments = json!({ "filename": "f", "pattern": r"\w\b\w" });
        let params =
            json!({ "name": "read_file", "arguments": arguments, "_meta": { "progressToken": "t" } });
        server.send(&request("read", "tools/call", params));
        // A boundary of words beyond ASCII is slow to look for. The first notification of progress comes while it runs.
        assert_eq!(server.recv()["method"], "notifications/progress");
        let start = std::time::Instant::now();
        server.send(&cancelled("read"));
        server.send(&ping("next"));
        assert_eq!(server.recv()["id"], "next");
        start.elapsed()
    });
}

#[test]
fn a_path_with_a_line_number_names_the_call_that_reads_the_line() {
    on_all(&[], fill, |server, _| {
        let told = failure(server, "read_file", json!({ "filename": "f:2" }));
        let call = r#"Read the lines with view {"filename":"f","start_line":2,"end_line":2}."#;
        assert!(told.ends_with(&format!("Give the path 'f' without line numbers. {call}")), "{told}");
    });
}
