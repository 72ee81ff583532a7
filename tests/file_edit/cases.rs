//! file_edit from outside: the cases 1-4 and 8 and the fixtures of S1's test list by their names (contract 5).

use serde_json::{Value, json};

use super::bench::{Bench, NAME, error, one, times};
use crate::support::{Folder, Mcp, on_both_as_nobody};

// ---- 1. Basic operations ----

#[test]
fn single_edit_with_default_occurrence() {
    let result = Bench::new("Hello World").becomes(one("World", "Universe"), "Hello Universe");
    let metadata = &result.result["metadata"];
    assert_eq!(metadata["path"], NAME);
    assert_eq!(metadata["total_replacements"], 1);
    assert_eq!(metadata["edits_applied"], json!([{ "edit_index": 0, "occurrences_replaced": 1, "line": 1 }]));
}

#[test]
fn single_edit_with_explicit_occurrence_count() {
    Bench::new("a b a").becomes(times("a", "c", 2), "c b c");
}

#[test]
fn multiple_edits_in_sequence() {
    let edits = json!([{ "old_text": "a", "new_text": "x" }, { "old_text": "b", "new_text": "y" }]);
    Bench::new("a b").becomes(edits, "x y");
}

#[test]
fn empty_edits_array_handling() {
    let result = Bench::new("a").fails(json!([]), "INVALID_ARGUMENTS");
    assert_eq!(result.first_line(), "Error: No edits provided");
    assert_eq!(error(&result)["message"], "No edits provided");
}

#[test]
fn very_large_files() {
    let content = "0123456789abcdef\n".repeat(700_000) + "needle\n";
    let bench = Bench::with(&["--tools=lines,exact", "--max-size=20"], &content);
    assert!(!bench.call(one("needle", "found it")).is_error);
    assert_eq!(bench.folder.text(NAME), content.replace("needle", "found it"));
}

#[test]
fn very_long_lines() {
    let content = format!("{}needle{}", "x".repeat(20_000), "y".repeat(20_000));
    Bench::new(&content).becomes(one("needle", "pin"), &content.replace("needle", "pin"));
    let result = Bench::new(&content).fails(times("needle", "pin", 2), "WRONG_COUNT");
    assert!(result.text.len() < 20_000, "a long line is quoted in part");
    assert_eq!(error(&result)["match_locations"][0]["column_start"], 20_001);
}

// ---- 2. Occurrence validation ----

#[test]
fn should_replace_single_occurrence_by_default() {
    Bench::new("foo bar").becomes(one("foo", "qux"), "qux bar");
    Bench::new("foo foo").fails(one("foo", "qux"), "WRONG_COUNT");
}

#[test]
fn should_replace_exact_number_when_specified() {
    Bench::new("foo foo foo").becomes(times("foo", "qux", 3), "qux qux qux");
}

#[test]
fn should_fail_when_expected_count_does_not_match_actual() {
    let result = Bench::new("foo\nfoo\n").fails(times("foo", "qux", 3), "WRONG_COUNT");
    let error = error(&result);
    assert_eq!((&error["expected_occurrences"], &error["actual_occurrences"]), (&json!(3), &json!(2)));
    assert_eq!(result.first_line(), "Edit 1 of 1 failed: Expected 3 occurrences but found 2 in test.txt.");
}

#[test]
fn should_count_occurrences_correctly_across_line_boundaries() {
    Bench::new("a\nb\na\nb\n").becomes(times("a\nb", "c", 2), "c\nc\n");
    Bench::new("a\r\nb\r\na\r\nb\r\n").becomes(times("a\nb", "c\nd", 2), "c\r\nd\r\nc\r\nd\r\n");
}

#[test]
fn should_handle_overlapping_matches_correctly() {
    Bench::new("aaaaa").becomes(times("aa", "b", 2), "bba");
    Bench::new("abababa").becomes(times("aba", "x", 2), "xbx");
}

#[test]
fn should_count_occurrences_after_each_edit_in_sequence() {
    let edits = json!([
        { "old_text": "x", "new_text": "y" },
        { "old_text": "y", "new_text": "z", "occurrences": 2 },
    ]);
    Bench::new("x y").becomes(edits, "z z");
}

// ---- 3. Sequential edits ----

#[test]
fn should_apply_edits_in_order() {
    let edits = json!([{ "old_text": "1", "new_text": "2" }, { "old_text": "2", "new_text": "3" }]);
    Bench::new("1").becomes(edits, "3");
}

#[test]
fn should_allow_second_edit_to_modify_results_of_first_edit() {
    let edits =
        json!([{ "old_text": "cat", "new_text": "big dog" }, { "old_text": "g d", "new_text": "G-D" }]);
    Bench::new("a cat").becomes(edits, "a biG-Dog");
}

#[test]
fn should_count_occurrences_based_on_current_state_not_original() {
    let edits = json!([
        { "old_text": "a", "new_text": "b", "occurrences": 2 },
        { "old_text": "b", "new_text": "c", "occurrences": 3 },
    ]);
    Bench::new("a a b").becomes(edits, "c c c");
}

#[test]
fn should_handle_edit_that_creates_text_for_next_edit() {
    let edits = json!([
        { "old_text": "start", "new_text": "start\nmiddle" },
        { "old_text": "middle\nend", "new_text": "END" },
        { "old_text": "start\nEND", "new_text": "all" },
    ]);
    Bench::new("start\nend\n").becomes(edits, "all\n");
}

#[test]
fn should_handle_edit_that_removes_text_next_edit_would_target() {
    let edits = json!([{ "old_text": "foo bar", "new_text": "x" }, { "old_text": "bar", "new_text": "y" }]);
    let result = Bench::new("foo bar").fails(edits, "NO_MATCH");
    assert_eq!(error(&result)["edit_index"], 1);
    assert!(result.text.contains("an earlier edit of this call changes it before"), "{}", result.text);
}

// ---- 4. Edge cases ----

#[test]
fn should_match_text_with_special_regex_characters_literally() {
    Bench::new("a.*b (c|d) [e]+ $1 ^x\\n aXXb")
        .becomes(one("a.*b (c|d) [e]+ $1 ^x\\n", "$0 \\1"), "$0 \\1 aXXb");
}

#[test]
fn should_preserve_different_line_endings() {
    for brk in ["\n", "\r\n", "\r"] {
        let content = ["line1", "line2", "line3"].join(brk);
        Bench::new(&content).becomes(one("line2", "new"), &content.replace("line2", "new"));
        let expected = ["line1", "a", "b", "line3"].join(brk);
        Bench::new(&content).becomes(one("line2", "a\nb"), &expected);
        Bench::new(&content).becomes(one("line1\nline2", "a"), &["a", "line3"].join(brk));
        Bench::new(&content).becomes(one("\nline2\n", ""), "line1line3");
    }
    // Of several kinds, a line has the break of its place.
    Bench::new("a\nb\r\nc\rd").becomes(one("c", "x\ny"), "a\nb\r\nx\ry\rd");
    let content = "a\r\nb\r\nc\nd\r\n";
    Bench::new(content).becomes(one("a\nb\nc\n", "a\nB\nc\n"), "a\r\nB\r\nc\nd\r\n");
    Bench::new(content).becomes(one("b\nc", "b\nnew\nc"), "a\r\nb\r\nnew\r\nc\nd\r\n");
    Bench::new(&content.repeat(2))
        .becomes(times("c\nd", "c\nx\nd", 2), &content.replace("d", "x\nd").repeat(2));
}

#[test]
fn should_handle_unicode_and_emoji_correctly() {
    Bench::new("héllo 😀 wörld 漢字").becomes(one("😀 wörld", "🎉"), "héllo 🎉 漢字");
    let result = Bench::new("é😀x\né😀x").fails(one("x", "y"), "WRONG_COUNT");
    assert_eq!(error(&result)["match_locations"][1]["column_start"], 3);
}

#[test]
fn should_match_empty_strings_correctly() {
    Bench::new("").becomes(one("", "first\n"), "first\n");
    Bench::new("a")
        .becomes(json!([{ "old_text": "a", "new_text": "" }, { "old_text": "", "new_text": "b" }]), "b");
    let result = Bench::new("text").fails(one("", "x"), "NO_MATCH");
    assert!(result.text.contains("An empty old_text"), "{}", result.text);
    let bench = Bench::new("");
    let arguments = json!({ "path": "new.txt", "edits": [{ "old_text": "", "new_text": "a\nb\n" }] });
    assert!(!bench.server.tool("file_edit", arguments).is_error);
    assert_eq!(bench.folder.text("new.txt"), "a\nb\n");
}

#[test]
fn should_handle_null_bytes_in_text() {
    let bench = Bench::new("a");
    for edits in [one("a", "b\0"), one("a\0", "b")] {
        let result = bench.fails(edits, "INVALID_ARGUMENTS");
        assert!(result.text.contains("NUL"), "{}", result.text);
    }
}

#[test]
fn should_handle_permission_denied_errors() {
    not_under_wine!("the server runs as another user, to whom the folder of wine does not belong");
    let fill = |folder: &Folder| {
        folder.write(NAME, "a");
        folder.set_mode(NAME, 0o444);
    };
    on_both_as_nobody(&["--tools=lines,exact"], fill, |server, _, folder| {
        for dry_run in [true, false] {
            let arguments = json!({ "path": NAME, "edits": one("a", "b"), "dry_run": dry_run });
            let result = server.tool("file_edit", arguments);
            assert_eq!(error(&result)["type"], "PERMISSION_DENIED", "{}", result.text);
            assert_eq!(result.first_line(), "Error: Permission denied accessing 'test.txt'");
        }
        assert_eq!(folder.text(NAME), "a");
    });
}

#[test]
fn should_handle_file_not_found_errors() {
    let bench = Bench::new("a");
    let result = bench.server.tool("file_edit", json!({ "path": "tset.txt", "edits": one("a", "b") }));
    assert_eq!(error(&result)["type"], "FILE_NOT_FOUND");
    assert_eq!(error(&result)["total_edits"], 1);
    assert_eq!(result.first_line(), "Error: File 'tset.txt' not found");
    assert!(result.text.contains("test.txt"), "{}", result.text);
}

#[test]
fn should_detect_and_reject_binary_files() {
    let bench = Bench::new("a\0b");
    bench.fails(one("a", "b"), "BINARY_FILE");
    bench.folder.write(NAME, b"a\xFF");
    bench.fails(one("a", "b"), "INVALID_UTF8");
}

#[test]
fn should_handle_symlinks_correctly() {
    not_under_wine!("wine shows links of this machine as what they lead to, and opens nothing through most");
    let bench = Bench::new("inside");
    bench.folder.link("link", NAME);
    let result = bench.server.tool("file_edit", json!({ "path": "link", "edits": one("inside", "changed") }));
    assert!(!result.is_error, "{}", result.text);
    assert_eq!(bench.folder.text(NAME), "changed");
    assert!(bench.folder.path().join("link").is_symlink());
    std::fs::write(bench.folder.outside("secret"), "secret").expect("written");
    bench.folder.link("out", "../secret");
    let result = bench.server.tool("file_edit", json!({ "path": "out", "edits": one("secret", "x") }));
    assert_eq!(error(&result)["type"], "PERMISSION_DENIED");
}

#[test]
fn should_preserve_file_permissions_and_attributes() {
    not_under_wine!("looks at modes, owners or access lists of Linux");
    let bench = Bench::new("a");
    bench.folder.set_mode(NAME, 0o640);
    bench.becomes(one("a", "b"), "b");
    assert_eq!(bench.folder.mode(NAME), 0o640);
}

#[test]
fn should_handle_editing_at_start_of_file() {
    Bench::new("start middle").becomes(one("start", "begin"), "begin middle");
    Bench::new("\u{FEFF}start").becomes(one("start", "begin"), "\u{FEFF}begin");
}

#[test]
fn should_handle_editing_at_end_of_file() {
    Bench::new("start\nend").becomes(one("end", "END\n"), "start\nEND\n");
}

#[test]
fn should_handle_replacing_entire_file_content() {
    Bench::new("all of\nit\n").becomes(one("all of\nit\n", "new"), "new");
    Bench::new("all").becomes(one("all", ""), "");
}

#[test]
fn should_handle_file_with_no_newline_at_end() {
    let result = Bench::new("a\nb").becomes(one("b", "c"), "a\nc");
    assert!(result.text.contains("\\ No newline at end of file"), "{}", result.text);
}

// ---- 8. Performance ----

#[test]
fn should_handle_1000_edits_efficiently() {
    let content: String = (0..20_000).map(|n| format!("line {n:06} of the file\n")).collect();
    let edits: Vec<Value> = (0..1_000)
        .map(|n| json!({ "old_text": format!("line {:06} of", n * 17), "new_text": format!("LINE {n}") }))
        .collect();
    let expected = (0..1_000).fold(content.clone(), |text, n| {
        text.replace(&format!("line {:06} of", n * 17), &format!("LINE {n}"))
    });
    let bench = Bench::new(&content);
    let result = bench.call(json!(edits));
    assert!(!result.is_error, "{}", result.text);
    assert_eq!(bench.folder.text(NAME), expected);
    assert!(result.text.contains("hunks more are not shown"), "{}", result.text);
}

#[test]
fn should_handle_10mb_file_efficiently() {
    let content = "a line of text that is not so short\n".repeat(290_000) + "needle";
    let bench = Bench::new(&content);
    assert!(!bench.call(one("needle", "pin")).is_error);
    assert_eq!(bench.folder.text(NAME), content.replace("needle", "pin"));
}

#[test]
fn should_not_read_or_write_file_multiple_times() {
    // At this level the log names every file that is written.
    let bench = Bench::with(&["--tools=lines,exact", "--log-level=trace"], "a b c");
    let before = bench.folder.snapshot()[NAME].inode;
    let edits = json!([{ "old_text": "a", "new_text": "1" }, { "old_text": "b", "new_text": "2" }]);
    assert!(!bench.call(edits).is_error);
    // A later call's line, so that all of the first one's are there.
    bench.fails(one("nothing like it", "x"), "NO_MATCH");
    bench.server.wait_for_stderr("could not find exact text");
    assert_eq!(bench.server.stderr().matches("written").count(), 1);
    assert_ne!(bench.folder.snapshot()[NAME].inode, before);
    assert_eq!(bench.folder.names(), [NAME]);
}

#[test]
fn should_validate_all_edits_before_any_modifications() {
    let edits = json!([{ "old_text": "a", "new_text": "b" }, { "old_text": "nothing", "new_text": "c" }]);
    Bench::new("a").fails(edits, "NO_MATCH");
}

// ---- Fixtures ----

#[test]
fn fixture_simple() {
    Bench::new("Hello World").becomes(one("World", "Universe"), "Hello Universe");
}

#[test]
fn fixture_multiple_occurrences() {
    Bench::new("foo bar foo baz foo").becomes(times("foo", "qux", 3), "qux bar qux baz qux");
}

#[test]
fn fixture_sequential() {
    let edits = json!([
        { "old_text": "const", "new_text": "let", "occurrences": 2 },
        { "old_text": "let a", "new_text": "let x" },
        { "old_text": "= 1", "new_text": "= 100" },
    ]);
    Bench::new("const a = 1;\nconst b = 2;").becomes(edits, "let x = 100;\nlet b = 2;");
}

#[test]
fn fixture_whitespace() {
    let edits = one("function  foo", "function bar");
    Bench::new("function  foo() {\n\treturn  true;\n}")
        .becomes(edits, "function bar() {\n\treturn  true;\n}");
}

#[test]
fn fixture_line_endings() {
    for content in ["line1\r\nline2\r\nline3", "line1\nline2\nline3", "line1\rline2\rline3"] {
        Bench::new(content).becomes(one("line2", "LINE"), &content.replace("line2", "LINE"));
    }
}
