//! `grep` as agents know it: the lines that match.

use serde_json::json;

use super::serve;
use crate::support::{Folder, Mcp};
use crate::trees::put;

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
         [2 files searched, 3 matching lines in 2 files; left out: 1 hidden file]"
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
