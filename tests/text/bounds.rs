//! The ends of what is read: ranges from the end, one encoding for a text, lines too long for an answer.

use serde_json::json;

use super::{failure, serve};
use crate::support::{Folder, Mcp};

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
    assert!(text.contains("If it has another encoding, pass \"encoding\": one of utf-8, "), "{text}");
}
