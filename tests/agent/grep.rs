//! `grep` as agents know it: the lines that match.

use serde_json::json;

use super::serve;
use crate::support::{Folder, Mcp};
use crate::trees::{next_of, put};

#[test]
fn lines_come_with_one_header_line_a_file_and_a_balance() {
    let folder = Folder::new();
    put(&folder, "src/a.rs", "fn one() {}\nfn two() {}\n// end\n");
    put(&folder, "b.rs", "fn three() {}\n");
    put(&folder, ".env", "fn hidden() {}\n");
    let server = serve(&folder, &[]);
    let text = server.ok("grep", json!({ "pattern": "fn " }));
    assert_eq!(
        text,
        "b.rs:\n1: fn three() {}\nsrc/a.rs:\n1: fn one() {}\n2: fn two() {}\n\
         [2 files searched, 3 lines in 2; left out: 1 hidden file]"
    );
    let text = server.ok("grep", json!({ "pattern": "two", "-C": 1 }));
    assert!(text.starts_with("src/a.rs:\n1- fn one() {}\n2: fn two() {}\n3- // end\n["), "{text}");
    let text = server.ok("grep", json!({ "pattern": "fn ", "-n": false, "glob": "src/**" }));
    assert!(text.starts_with("src/a.rs:\nfn one() {}\nfn two() {}\n["), "{text}");
    let text = server.ok("grep", json!({ "pattern": r"\w+\(", "-o": true, "path": "b.rs" }));
    assert!(text.starts_with("b.rs:\n1: three(\n["), "{text}");
}

#[test]
fn files_and_counts_are_told_if_they_are_asked_for() {
    let folder = Folder::new();
    put(&folder, "a", "x\nx\n");
    put(&folder, "b", "x\n");
    folder.set_modified("b", 1_000_000_000);
    let server = serve(&folder, &[]);
    for arguments in [
        json!({ "pattern": "x", "output_mode": "files_with_matches" }),
        json!({ "pattern": "x", "output_mode": "count" }),
        json!({ "pattern": "x", "names_only": true }),
    ] {
        let text = server.ok("grep", arguments.clone());
        assert!(text.starts_with("a: 2\nb: 1\n["), "{arguments}: {text}");
    }
}

#[test]
fn a_match_in_a_very_long_line_is_shown_around_the_match() {
    let folder = Folder::new();
    let line = format!("{}NEEDLE{}\n", "x".repeat(1_000_000), "y".repeat(1_000_000));
    put(&folder, "min.js", line);
    let server = serve(&folder, &[]);
    let text = server.ok("grep", json!({ "pattern": "NEEDLE" }));
    assert!(text.len() < 1_000 && text.contains("xxxNEEDLEyyy") && text.contains("of 2000006]"), "{text}");
}

#[test]
fn a_search_that_finds_nothing_says_what_it_left_out_and_what_to_try() {
    let folder = Folder::new();
    put(&folder, "a", "Needle\n");
    put(&folder, ".gitignore", "target/\n");
    put(&folder, "target/b", "needles\n");
    let server = serve(&folder, &[]);
    let text = server.ok("grep", json!({ "pattern": "needle" }));
    for part in ["No matches found", "1 ignored folder", "\"-i\": true"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let text = server.ok("grep", json!({ "pattern": "needles", "include_ignored": true }));
    assert!(text.starts_with("target/b:\n1: needles\n"), "{text}");
}

#[test]
fn a_tally_counts_by_the_text_of_a_match_or_of_a_group() {
    let folder = Folder::new();
    put(&folder, "a.rs", "use std::fs;\nuse std::io;\nuse core::fmt; use std::fs;\n");
    put(&folder, "b.rs", "use std::fs;\n// use none\n");
    let server = serve(&folder, &[]);
    let tally = |arguments: serde_json::Value| server.ok("grep", arguments);
    let balance = "[2 files searched, 4 lines in 2; nothing left out]";
    let whole = tally(json!({ "pattern": r"use (\w+)::(\w+)", "tally": 0 }));
    assert_eq!(whole, format!("3\tuse std::fs\n1\tuse core::fmt\n1\tuse std::io\n{balance}"));
    let first = tally(json!({ "pattern": r"use (\w+)::(\w+)", "tally": 1 }));
    assert_eq!(first, format!("4\tstd\n1\tcore\n{balance}"));
    let second = tally(json!({ "pattern": r"use (\w+)::(\w+)", "tally": "2", "output_mode": "count" }));
    assert_eq!(second, format!("3\tfs\n1\tfmt\n1\tio\n{balance}"));
    let without = tally(json!({ "pattern": r"use (std::)?(\w+)", "tally": 1, "glob": "b.rs" }));
    assert!(without.starts_with("1\tstd::\n[") && without.contains("[1 match without group 1]"), "{without}");
    let page = server.tool("grep", json!({ "pattern": r"\w+;", "tally": 0, "head_limit": 2 }));
    assert!(
        page.text.starts_with("3\tfs;\n1\tfmt;\n[") && page.text.contains("[Shown: 2 of 3 texts."),
        "{}",
        page.text
    );
    let rest = tally(next_of(&page).expect("a further page"));
    assert!(rest.starts_with("1\tio;\n["), "{rest}");
    let none = tally(json!({ "pattern": "USE", "tally": 0 }));
    assert!(none.starts_with("No matches found\n") && none.contains("\"-i\": true"), "{none}");
    for (arguments, part) in [
        (json!({ "pattern": "use", "tally": 1 }), "the pattern has no groups; expected 0, the match"),
        (json!({ "pattern": "(u)(s)e", "tally": 3 }), "the pattern has 2 groups"),
        (json!({ "pattern": "use", "tally": -1 }), "tally"),
    ] {
        let text = server.tool("grep", arguments.clone());
        assert!(text.is_error && text.text.contains(part), "{arguments}: {}", text.text);
    }
}

#[test]
fn a_tally_is_that_of_all_matches_whatever_the_file_and_its_encoding() {
    let folder = Folder::new();
    let lines: String = (0..20_000).map(|number| format!("key{} value\r\n", number % 7)).collect();
    put(&folder, "many", &lines);
    let utf_16: Vec<u8> = format!("\u{feff}{lines}").encode_utf16().flat_map(u16::to_le_bytes).collect();
    put(&folder, "utf-16", utf_16);
    put(&folder, "long", "key0 ".repeat(200_000));
    let server = serve(&folder, &[]);
    let text = server.ok("grep", json!({ "pattern": r"key(\d)", "tally": 1 }));
    let expected: Vec<String> = (0..7_u64)
        .map(|key| {
            let of_lines = 20_000 / 7 + u64::from(key < 20_000 % 7);
            format!("{}\t{key}", 2 * of_lines + if key == 0 { 200_000 } else { 0 })
        })
        .collect();
    let lines: Vec<&str> = text.lines().take(7).collect();
    assert_eq!(lines, expected, "{text}");
    let multiline = server.ok("grep", json!({ "pattern": r"value\s+key(\d)", "tally": 0, "multiline": true, "path": "many", "head_limit": 1 }));
    assert!(
        multiline.starts_with("2857\tvalue\\x0d\\x0akey0") || multiline.contains("\tvalue\\x0d\\x0akey"),
        "{multiline}"
    );
}

#[test]
fn what_is_doubtful_of_encodings_is_said_in_few_words() {
    let folder = Folder::new();
    put(&folder, "a", b"caf\xe9 needle\n");
    put(&folder, "b", b"na\xefve\n");
    let server = serve(&folder, &[]);
    let text = server.ok("grep", json!({ "pattern": "needle" }));
    assert!(text.contains("[2 files searched, 1 line in 1, 2 files in a guessed encoding"), "{text}");
    assert!(!text.contains("nothing left out") || !text.contains("perhaps"), "{text}");
}

#[test]
fn a_tally_of_empty_matches_says_that_they_are_empty() {
    let folder = Folder::new();
    folder.write("a", "one\ntwo\n");
    let text = serve(&folder, &[]).ok("grep", json!({ "pattern": "^", "tally": 0 }));
    assert!(text.starts_with("All matches are empty: they have no text to count\n["), "{text}");
}
