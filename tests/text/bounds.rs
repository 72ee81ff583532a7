//! The ends of what is read: ranges from the end, one encoding for a text, lines too long for an answer.

use serde_json::json;

use super::{failure, serve};
use crate::support::{Folder, Mcp};
use crate::trees::follow;

#[test]
fn an_end_before_the_first_line_is_an_error_and_a_start_before_it_is_the_first() {
    let folder = Folder::new();
    folder.write("f", "a\n\nb\n");
    let server = serve(&folder, &[]);
    assert_eq!(server.ok("read_file", json!({ "filename": "f", "end_line": -3 })), "a");
    for end in [-4, -9] {
        let text = failure(&server, "read_file", json!({ "filename": "f", "end_line": end }));
        assert!(text.contains("end_line: it is before the first line; expected -3 or more"), "{text}");
    }
    assert_eq!(server.ok("read_file", json!({ "filename": "f", "start_line": -9, "max_lines": 1 })), "a");
}

#[test]
fn auto_finds_one_encoding_for_a_text_whichever_lines_are_wanted() {
    let folder = Folder::new();
    let mut bytes = "а\n".as_bytes().to_vec();
    // "Привет, как дела сегодня" in windows-1251, far behind the first line.
    for _ in 0..20_000 {
        bytes.extend_from_slice(
            b"\xCF\xF0\xE8\xE2\xE5\xF2, \xEA\xE0\xEA \xE4\xE5\xEB\xE0 \xF1\xE5\xE3\xEE\xE4\xED\xFF\n",
        );
    }
    folder.write("f", &bytes);
    let server = serve(&folder, &[]);
    for filter in [json!({ "max_lines": 1 }), json!({ "max_lines": 1, "skip_empty": true })] {
        let mut arguments = json!({ "filename": "f", "encoding": "auto" });
        arguments.as_object_mut().unwrap().extend(filter.as_object().unwrap().clone());
        let result = server.tool("read_file", arguments);
        assert_eq!(result.result["content"][0]["text"], "Р°", "{filter}");
        assert_eq!(result.result["content"][1]["text"], "Encoding: windows-1251 (guessed)", "{filter}");
    }
}

#[test]
fn a_line_that_is_cut_comes_with_the_call_that_shows_all_of_it() {
    let folder = Folder::new();
    folder.write("f", format!("x\n{}\nc\n", "a".repeat(3_000)).replace('a', "\u{e9}"));
    let server = serve(&folder, &["--answer-limit=1"]);
    let cut = server.tool("read_file", json!({ "filename": "f", "pattern": "\u{e9}|c" }));
    let whole = json!({ "filename": "f", "start_line": 2, "end_line": 2 });
    assert!(cut.text.contains(&format!("see all of it with read_file {whole}. Go on with")), "{}", cut.text);
    let truncated = &cut.result["_meta"]["file-editor/truncated"];
    assert_eq!(truncated["cut"]["next"], whole);
    assert_eq!(truncated["cut"]["line"], 2);
    let page = server.tool("read_file", truncated["cut"]["next"].clone());
    assert!(page.text.starts_with("\u{e9}\u{e9}"), "{}", page.text);
}

#[test]
fn bytes_that_are_no_character_name_the_encodings_to_pass() {
    let folder = Folder::new();
    folder.write("f", b"a\x98b");
    let server = serve(&folder, &[]);
    let text = failure(&server, "read_file", json!({ "filename": "f", "encoding": "windows-1251" }));
    assert!(text.contains("0x98 is no character"), "{text}");
    assert!(text.contains("If it has another encoding, pass \"encoding\", such as utf-8, "), "{text}");
}

#[test]
fn a_range_that_is_counted_from_the_end_goes_on_inside_a_long_line() {
    let folder = Folder::new();
    let long = "é".repeat(2_500);
    let lines = ["first", &long, "middle", &long, "last"];
    folder.write("f", lines.join("\r\n") + "\r\n");
    folder.write("16", utf_16(&(lines.join("\r\n") + "\r\n")));
    let server = serve(&folder, &["--answer-limit=1"]);
    for (range, expected) in [
        (json!({ "end_line": -1 }), &lines[..]),
        (json!({ "end_line": -2 }), &lines[..4]),
        (json!({ "start_line": 2, "end_line": -2 }), &lines[1..4]),
        (json!({ "start_line": -4, "end_line": -2 }), &lines[1..4]),
        (json!({ "start_line": -4, "max_lines": 2 }), &lines[1..3]),
        (json!({ "start_line": -4, "end_line": -1, "max_lines": 3 }), &lines[1..4]),
    ] {
        for (name, encoding) in [("f", "utf-8"), ("16", "utf-16")] {
            let mut call = range.clone();
            (call["filename"], call["encoding"]) = (json!(name), json!(encoding));
            for tool in ["read_file", "view"] {
                let joined: String = follow(&server, tool, call.clone()).iter().map(shown).collect();
                // The pages of lines are joined by the breaks between them.
                assert_eq!(joined.replace('\n', ""), expected.concat(), "{tool} {call}");
            }
        }
    }
}

/// The text of a page without its last line.
fn shown(page: &crate::support::ToolResult) -> String {
    let text = &page.text;
    text.rfind("\n[Shown: ").map_or(text.as_str(), |at| &text[..at]).to_owned()
}

fn utf_16(text: &str) -> Vec<u8> {
    [0xFF, 0xFE].into_iter().chain(text.encode_utf16().flat_map(u16::to_le_bytes)).collect()
}

#[test]
fn an_answer_that_fits_the_limit_is_whole_and_one_byte_more_is_cut() {
    let folder = Folder::new();
    let server = serve(&folder, &["--answer-limit=1"]);
    for (more, arguments) in [
        (0, json!({})),
        // Lines have no break at their end.
        (1, json!({ "start_line": 1 })),
        (1, json!({ "pattern": "." })),
        (1, json!({ "end_line": -1, "skip_empty": true })),
        // Before each line are its number and a tab.
        (-17, json!({ "line_numbers": true })),
    ] {
        for over in [0, 1] {
            let len = usize::try_from(1_024 + more + over).expect("a length");
            let text = "0123456\n".repeat(8) + &"x".repeat(len - 65) + "\n";
            folder.write("f", &text);
            let mut call = arguments.clone();
            call["filename"] = json!("f");
            let answer = server.tool("read_file", call.clone());
            let is_whole = !answer.text.contains("[Shown: ");
            assert_eq!(
                (is_whole, answer.text.len() <= 1_024),
                (over == 0, true),
                "{call} {over}: {}",
                answer.text
            );
            assert_eq!(answer.text.len() == 1_024, over == 0, "{call} {over}: {}", answer.text.len());
        }
    }
}

#[test]
fn a_file_that_begins_with_nul_is_refused_without_reading_on() {
    not_under_wine!(
        "lines are found in the whole file, which is read into the heap there, so one of 200 GB is refused because no memory holds it; tests/platforms/windows tries that"
    );
    let folder = Folder::new();
    // All of it would take longer than the calls may.
    std::fs::File::create(folder.path().join("f")).expect("a file").set_len(200 << 30).expect("a length");
    let server = serve(&folder, &["--max-file=1048576", "--timeout=10"]);
    for encoding in ["utf-8", "auto"] {
        for filter in
            [json!({}), json!({ "start_line": 2 }), json!({ "pattern": "x" }), json!({ "end_line": -1 })]
        {
            let mut call = filter.clone();
            (call["filename"], call["encoding"]) = (json!("f"), json!(encoding));
            let text = failure(&server, "read_file", call.clone());
            assert!(text.starts_with("Error: File 'f' is not a text file"), "{call}: {text}");
        }
    }
}

#[test]
fn lines_found_before_the_time_was_up_are_told_with_the_call_that_goes_on() {
    not_under_wine!("has a limit of time that such a program does not keep");
    let folder = Folder::new();
    let line = crate::search::ab_letters(1_000) + "\n";
    folder.write("f", format!("needle1\n{}needle2\n", line.repeat(24_000)));
    let server = serve(&folder, &["--timeout=1"]);
    let pattern = format!("{}|needle\\d", crate::search::SLOW);
    let page = server.tool("read_file", json!({ "filename": "f", "pattern": pattern }));
    assert!(!page.is_error && page.text.starts_with("needle1\n"), "{}", page.text);
    if page.text.contains("needle2") {
        return;
    }
    assert!(page.text.contains("[Shown: 1 of at least 1 lines: the time was up at line "), "{}", page.text);
    let next = crate::trees::next_of(&page).expect("more");
    assert!(next["start_line"].as_u64() > Some(1) && next["pattern"] == json!(pattern), "{next}");
    let further = server.tool("read_file", next.clone());
    assert!(!further.is_error && crate::trees::next_of(&further) != Some(next), "{}", further.text);
}
