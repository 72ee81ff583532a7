//! What is said of an edit that does not fit behind others of the same call: lines are those of the file as it is.

use serde_json::{Value, json};

use crate::support::{Folder, Mcp, Stdio};

const FILE: &str = "one\ntwo\nthree\nalpha beta gamma\nfive\n";

/// The texts of refused edits, `(old, new)`, of the file `f` in the sets with several edits by text.
fn refusals(content: &[u8], encoding: Option<&str>, edits: &[(&str, &str)]) -> Vec<String> {
    let of = |old: &str, new: &str| -> Value {
        edits.iter().map(|(found, put)| json!({ old: found, new: put })).collect()
    };
    let in_agent = edits.iter().map(|(found, put)| match encoding {
        Some(encoding) => json!({ "path": "f", "old": found, "new": put, "encoding": encoding }),
        None => json!({ "path": "f", "old": found, "new": put }),
    });
    let calls = [
        ("exact", "file_edit", json!({ "path": "f", "edits": of("old_text", "new_text") })),
        (
            "filesystem",
            "edit_file",
            json!({ "path": "f", "edits": of("oldText", "newText"), "encoding": encoding }),
        ),
        ("agent", "edit", json!({ "edits": in_agent.collect::<Value>() })),
    ];
    let calls = calls.into_iter().filter(|(set, ..)| encoding.is_none() || *set != "exact");
    let told = calls.map(|(set, tool, arguments)| {
        let folder = Folder::new();
        folder.write("f", content);
        let server = Stdio::start(&folder, &[&format!("--tools={set}")]).ready();
        let answer = server.tool(tool, arguments);
        assert!(answer.is_error, "{set}: {}", answer.text);
        assert_eq!(std::fs::read(folder.path().join("f")).expect("a file"), content, "{set}");
        answer.text
    });
    told.collect()
}

/// The set `agent`, which is the last, explains in fewer words.
#[track_caller]
fn all_say(told: &[String], parts: &[&str], brief: &[&str]) {
    for (nth, text) in told.iter().enumerate() {
        let parts = if nth + 1 == told.len() { brief } else { parts };
        for part in parts {
            assert!(text.contains(part), "{part:?} is not in\n{text}");
        }
    }
}

#[test]
fn a_similar_passage_has_its_line_in_the_file_behind_edits_that_add_or_remove_lines() {
    for (old, new) in
        [("one", "one\nx\ny\nz"), ("one\ntwo\n", ""), ("five", "5\n6"), ("  one", "  one\n  x\n  y")]
    {
        let told = refusals(FILE.as_bytes(), None, &[(old, new), ("alpha  beta gamma", "A")]);
        let told = if old.starts_with(' ') { &told[1..] } else { &told };
        all_say(told, &["\nLine 4: alpha beta gamma\n"], &["\n4: alpha beta gamma\n"]);
    }
}

#[test]
fn a_similar_passage_has_its_line_in_the_file_in_other_encodings() {
    let utf_16: Vec<u8> = FILE.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let marked = [b"\xFF\xFE".to_vec(), utf_16].concat();
    let gbk = [FILE.as_bytes(), b"\xd6\xd0\xce\xc4\n"].concat();
    for (content, encoding) in [(marked, "utf-16le"), (gbk, "gbk")] {
        let edits = [("one", "one\nx\ny\nz"), ("alpha  beta gamma", "A")];
        let told = refusals(&content, Some(encoding), &edits);
        all_say(&told, &["\nLine 4: alpha beta gamma\n"], &["\n4: alpha beta gamma\n"]);
    }
}

#[test]
fn places_have_their_lines_in_the_file() {
    let told =
        refusals(FILE.as_bytes(), None, &[("one", "1\nx\ny"), ("two\n", "2\n"), ("ee", "E"), ("e", "A")]);
    let brief = ["found 2", "\n4: alpha beta gamma\n", "\n5: five\n"];
    all_say(&told, &["found 2", "Line 4, column 8", "Line 5, column 4"], &brief);
}

#[test]
fn a_passage_that_an_earlier_edit_made_or_changed_is_told_from_one_of_the_file() {
    let edits = [("two", "TWO\nnew passage here"), ("new  passage here", "A")];
    let told = refusals(FILE.as_bytes(), None, &edits);
    let brief = ["\n2: new passage here\n(as the edits before this one leave it)\n"];
    all_say(&told, &["\nLine 2, in text that edit 1 put in: new passage here\n"], &brief);
    let edits = [("one\n", ""), ("beta", "BETA"), ("alpha  BETA gamma", "A")];
    let told = refusals(FILE.as_bytes(), None, &edits);
    let brief = ["\n4: alpha BETA gamma\n(as the edits before this one leave it)\n"];
    all_say(&told, &["\nLine 4, as the edits before this one leave it: alpha BETA gamma\n"], &brief);
}

#[test]
fn a_text_that_an_earlier_edit_has_taken_away_is_said_to_be_in_the_file() {
    let told = refusals(FILE.as_bytes(), None, &[("one", "x\ny"), ("three", "3"), ("three", "III")]);
    all_say(&told, &["The text stands in line 3"], &["It is in line 3 of the file as it is"]);
}

#[test]
fn an_edit_that_fits_several_places_without_regard_to_indentation_names_those_of_the_file() {
    let content = "one\n\tif a:\n\t\tb()\n\tif a:\n\t\tb()\n";
    let edits = [("one", "1\n2\n3"), ("if a:\n    b() ", "c")];
    let told = refusals(content.as_bytes(), None, &edits);
    let part = &["it fits 2 places, at lines 2, 4 of the file as it is"];
    all_say(&told[1..2], part, part);
}

#[test]
fn an_edit_of_lines_behind_others_says_how_its_lines_count() {
    let folder = Folder::new();
    folder.write("f", FILE);
    let server = Stdio::start(&folder, &["--tools=agent"]).ready();
    let note = "(Line numbers here count as the edits before this one leave the file.)";
    for edit in [json!({ "lines": "4", "expect": "alpha", "new": "x" }), json!({ "lines": "40", "new": "x" })]
    {
        let behind = json!({ "edits": [{ "path": "f", "old": "one", "new": "one\nx" }, edit] });
        let moved = json!({ "edits": [{ "path": "f", "append": "x" }, { "move_to": "g" }, edit] });
        let mut alone = edit.clone();
        alone["path"] = json!("f");
        for (call, is_behind) in [(behind, true), (moved, true), (json!({ "edits": [alone] }), false)] {
            let answer = server.tool("edit", call);
            assert!(answer.is_error && answer.text.contains(note) == is_behind, "{}", answer.text);
        }
    }
}

#[test]
fn a_text_counts_as_often_whatever_breaks_its_places_have() {
    for content in ["a\nb\n--\na\r\nb\r\n", "a\nb\n--\na\rb\n", "a\r\nb\n--\ra\nb\n"] {
        all_say(&refusals(content.as_bytes(), None, &[("a\nb", "c")]), &["found 2"], &["found 2"]);
    }
    let marked: Vec<u8> = "\u{FEFF}a\nb\n--\na\r\nb\r\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    all_say(&refusals(&marked, Some("utf-16le"), &[("a\nb", "c")]), &["found 2"], &["found 2"]);
}
