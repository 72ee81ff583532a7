//! file_edit from outside: every case and fixture of S1's test list by its name (SPEC 5).

use std::os::unix::fs::MetadataExt;

use serde_json::{Value, json};

use crate::support::{Folder, Mcp, Stdio, ToolResult, on_both_as_nobody, on_both_with};

/// A folder with one file and a server on it.
struct Bench {
    folder: Folder,
    server: Stdio,
}

const NAME: &str = "test.txt";

impl Bench {
    fn new(content: &str) -> Bench {
        Bench::with(&["--tools=all"], content)
    }

    fn with(flags: &[&str], content: &str) -> Bench {
        let folder = Folder::new();
        folder.write(NAME, content);
        let server = Stdio::start(&folder, &[&["--sync=none"], flags].concat());
        Bench { folder, server }
    }

    fn call(&self, edits: Value) -> ToolResult {
        self.server.tool("file_edit", json!({ "path": NAME, "edits": edits }))
    }

    /// A dry run, which must leave everything as it is, and the real run, which must say the same.
    #[track_caller]
    fn edit(&self, edits: Value) -> ToolResult {
        let before = self.folder.snapshot();
        let dry = self.server.tool("file_edit", json!({ "path": NAME, "edits": edits, "dry_run": true }));
        assert_eq!(self.folder.snapshot(), before, "a dry run changes nothing");
        let real = self.call(edits);
        assert_eq!(dry.is_error, real.is_error, "{}", dry.text);
        if real.is_error {
            assert_eq!(dry.result, real.result);
            assert_eq!(self.folder.snapshot(), before, "a failure changes nothing");
            assert!(real.result["metadata"]["validation_error"]["type"].is_string(), "{}", real.result);
        } else {
            assert_eq!(dry.result["metadata"]["diff"], real.result["metadata"]["diff"]);
        }
        real
    }

    /// The file after edits that must succeed.
    #[track_caller]
    fn becomes(&self, edits: Value, expected: &str) -> ToolResult {
        let result = self.edit(edits);
        assert!(!result.is_error, "{}", result.text);
        assert_eq!(self.folder.text(NAME), expected);
        result
    }

    /// The error of edits that must fail.
    #[track_caller]
    fn fails(&self, edits: Value, kind: &str) -> ToolResult {
        let result = self.edit(edits);
        assert!(result.is_error, "{}", result.text);
        assert_eq!(result.result["metadata"]["validation_error"]["type"], kind, "{}", result.text);
        result
    }
}

fn one(old_text: &str, new_text: &str) -> Value {
    json!([{ "old_text": old_text, "new_text": new_text }])
}

fn times(old_text: &str, new_text: &str, occurrences: u64) -> Value {
    json!([{ "old_text": old_text, "new_text": new_text, "occurrences": occurrences }])
}

fn error(result: &ToolResult) -> &Value {
    &result.result["metadata"]["validation_error"]
}

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
    let bench = Bench::with(&["--tools=all", "--max-size=20"], &content);
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
    Bench::new("a\nb\r\nc\rd").becomes(one("c", "x\ny"), "a\nb\r\nx\ny\rd");
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
    let fill = |folder: &Folder| {
        folder.write(NAME, "a");
        folder.set_mode(NAME, 0o444);
    };
    on_both_as_nobody(&["--tools=all"], fill, |server, _, folder| {
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

// ---- 5. Dry run ----

#[test]
fn should_not_modify_file_in_dry_run() {
    let bench = Bench::new("a");
    let stat = || bench.folder.path().join(NAME).metadata().expect("a file");
    let before = (stat().ino(), stat().mtime_nsec(), stat().ctime(), stat().ctime_nsec());
    let names = bench.folder.names();
    let arguments = json!({ "path": NAME, "edits": one("a", "b"), "dry_run": true });
    let result = bench.server.tool("file_edit", arguments);
    assert!(!result.is_error && result.first_line().starts_with("Dry run"), "{}", result.text);
    assert_eq!(before, (stat().ino(), stat().mtime_nsec(), stat().ctime(), stat().ctime_nsec()));
    let arguments = json!({ "path": "new", "edits": one("", "b"), "dry_run": true });
    let result = bench.server.tool("file_edit", arguments);
    assert_eq!(result.result["metadata"]["would_modify"], true);
    assert_eq!(bench.folder.names(), names);
}

#[test]
fn should_return_preview_of_all_changes() {
    let arguments = json!({ "path": NAME, "dry_run": true, "edits": [
        { "old_text": "a", "new_text": "b", "occurrences": 2 },
        { "old_text": "y\nz", "new_text": "w" },
    ] });
    let result = Bench::new("1 a\n2 a\nx y\nz\n").server.tool("file_edit", arguments);
    let metadata = &result.result["metadata"];
    assert_eq!((&metadata["dry_run"], &metadata["would_modify"]), (&json!(true), &json!(true)));
    assert_eq!(
        metadata["preview"],
        json!([
            { "edit_index": 0, "line": 1, "before": "1 a", "after": "1 b" },
            { "edit_index": 0, "line": 2, "before": "2 a", "after": "2 b" },
            { "edit_index": 1, "line": 3, "before": "x y\nz", "after": "x w" },
        ])
    );
}

#[test]
fn should_validate_all_edits_in_dry_run() {
    let edits = json!([{ "old_text": "a", "new_text": "b" }, { "old_text": "zzz", "new_text": "" }]);
    let result = Bench::new("a").fails(edits, "NO_MATCH");
    assert_eq!((&error(&result)["edit_index"], &error(&result)["total_edits"]), (&json!(1), &json!(2)));
}

#[test]
fn should_return_same_errors_as_real_run_would() {
    // `fails` compares the two.
    let bench = Bench::with(&["--tools=all", "--max-size=1"], "a a");
    bench.fails(one("a", "b"), "WRONG_COUNT");
    bench.fails(one("x", "b"), "NO_MATCH");
    bench.fails(times("a", &"x".repeat(600_000), 2), "TOO_LARGE");
    bench.fails(json!([{ "old_text": "a", "new_text": 5 }]), "INVALID_ARGUMENTS");
}

#[test]
fn should_include_line_numbers_in_preview() {
    let arguments = json!({ "path": NAME, "edits": one("c", "d"), "dry_run": true });
    let result = Bench::new("a\nb\nc\n").server.tool("file_edit", arguments);
    assert_eq!(result.result["metadata"]["preview"][0]["line"], 3);
    assert!(result.text.contains("in line 3"), "{}", result.text);
}

// ---- 6. Errors for models ----

#[test]
fn should_suggest_fixes_for_whitespace_mismatches() {
    let result =
        Bench::new("function  foo() {\n\treturn 1;\n}\n").fails(one("    return 1;", "x"), "NO_MATCH");
    assert!(result.text.contains("1 tab (U+0009)"), "{}", result.text);
    let fixes = result.result["metadata"]["suggested_fixes"].as_array().expect("fixes");
    assert!(
        fixes.iter().any(|fix| fix["type"] == "CHECK_WHITESPACE" && fix["example"] == "\treturn 1;"),
        "{fixes:?}"
    );
}

#[test]
fn should_identify_case_sensitivity_issues() {
    let result = Bench::new("const userId = 1;\n").fails(one("const userid", "x"), "NO_MATCH");
    let similar = &error(&result)["similar_content"][0];
    assert_eq!(similar["differences"][0]["type"], "case", "{similar}");
}

#[test]
fn should_show_similar_content_when_no_exact_match() {
    let result = Bench::new("one\nfunction calculate(a, b) {\nthree\n")
        .fails(one("function calculate(a, c) {", "x"), "NO_MATCH");
    let similar = &error(&result)["similar_content"][0];
    assert_eq!(similar["line_number"], 2, "{similar}");
    assert_eq!(
        similar["differences"],
        json!([{
            "type": "content", "expected": "c", "found": "b", "note": "old_text has `c`, the file has `b`"
        }])
    );
    assert!(result.text.contains("Line 2: function calculate(a, b) {"), "{}", result.text);
    let preview = &result.result["metadata"]["file_preview"];
    assert_eq!(preview["content"], "one\nfunction calculate(a, b) {\nthree");
    assert_eq!((&preview["total_lines"], &preview["preview_start_line"]), (&json!(3), &json!(1)));
}

#[test]
fn should_provide_line_numbers_for_all_matches() {
    let content: String = (0..30).map(|n| format!("row {n}\nvalue\n")).collect();
    let result = Bench::new(&content).fails(one("value", "x"), "WRONG_COUNT");
    let locations = error(&result)["match_locations"].as_array().expect("locations");
    assert_eq!(locations.len(), 30);
    for (number, location) in locations.iter().enumerate() {
        assert_eq!(location["line_number"], 2 * number + 2);
        assert_eq!(location["context_before"], format!("row {number}"));
    }
    assert!(result.text.contains("Line 2, column 1 (read_file start_line=1 end_line=1)"), "{}", result.text);
    assert!(result.text.contains("60:1"), "{}", result.text);
}

#[test]
fn should_suggest_using_read_file_for_exact_content() {
    let result = Bench::new("abc").fails(one("xyz", "x"), "NO_MATCH");
    assert!(result.text.contains("Use read_file to see the exact content"), "{}", result.text);
}

#[test]
fn should_explain_why_binary_files_cannot_be_edited() {
    let result = Bench::new("a\0b").fails(one("a", "b"), "BINARY_FILE");
    assert!(result.text.contains("NUL bytes"), "{}", result.text);
}

#[test]
fn should_provide_clear_next_steps_for_each_error_type() {
    let bench = Bench::new("a a");
    let calls = [
        json!({ "path": NAME, "edits": one("a", "b") }),
        json!({ "path": NAME, "edits": one("zz", "b") }),
        json!({ "path": "none", "edits": one("a", "b") }),
        json!({ "path": "../x", "edits": one("a", "b") }),
        json!({ "path": NAME, "edits": [], "dry_run": false }),
        json!({ "path": NAME, "edits": one("a", "b"), "dryrun": true }),
        json!({ "path": NAME }),
        json!({ "edits": one("a", "b") }),
        json!({ "path": NAME, "edits": [{ "old_text": "a", "new_text": "b", "occurrences": 0 }] }),
    ];
    for call in calls {
        let result = bench.server.tool("file_edit", call.clone());
        assert!(result.is_error && result.text.contains("\n1. "), "{call}: {}", result.text);
        assert!(error(&result)["type"].is_string() && result.result["metadata"]["path"].is_string());
        assert_ne!(result.result["metadata"]["suggested_fixes"], json!([]), "{call}");
    }
}

// ---- 7. Complex scenarios ----

#[test]
fn should_handle_renaming_a_variable_throughout_a_file() {
    let content = "\n      const userId = getUserId();\n      console.log(userId);\n      if (userId) {\n        return userId.toString();\n      }\n    ";
    let expected = content.replace("userId", "userIdentifier");
    Bench::new(content).becomes(times("userId", "userIdentifier", 4), &expected);
}

#[test]
fn should_handle_updating_multiple_import_statements() {
    let content = "\n      import { foo } from './old-path';\n      import { bar } from './old-path';\n      import { baz } from './other-path';\n    ";
    Bench::new(content)
        .becomes(times("'./old-path'", "'./new-path'", 2), &content.replace("./old-path", "./new-path"));
}

#[test]
fn should_handle_comment_updates_across_file() {
    let content = "\n      // TODO: implement this\n      function feature1() {\n        // TODO: implement this\n      }\n      \n      // TODO: implement this  \n      function feature2() {\n        return null; // TODO: implement this\n      }\n    ";
    let expected = content.replace("// TODO: implement this", "// DONE: implemented");
    Bench::new(content).becomes(times("// TODO: implement this", "// DONE: implemented", 4), &expected);
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
    let start = std::time::Instant::now();
    let result = bench.call(json!(edits));
    assert!(!result.is_error, "{}", result.text);
    assert!(start.elapsed().as_secs() < 5);
    assert_eq!(bench.folder.text(NAME), expected);
    assert!(result.text.contains("hunks more are not shown"), "{}", result.text);
}

#[test]
fn should_handle_10mb_file_efficiently() {
    let content = "a line of text that is not so short\n".repeat(290_000) + "needle";
    let bench = Bench::new(&content);
    let start = std::time::Instant::now();
    assert!(!bench.call(one("needle", "pin")).is_error);
    assert!(start.elapsed().as_secs() < 5);
}

#[test]
fn should_not_read_or_write_file_multiple_times() {
    // One write: the file that is there afterwards is another one, and only one was made.
    let bench = Bench::new("a b c");
    let before = bench.folder.snapshot()[NAME].inode;
    let edits = json!([{ "old_text": "a", "new_text": "1" }, { "old_text": "b", "new_text": "2" }]);
    bench.becomes(edits, "1 2 c");
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

// ---- Beyond S1's list ----

#[test]
fn a_path_is_a_name_or_lies_in_the_folder() {
    on_both_with(
        &["--tools=all"],
        |folder| folder.write(NAME, "a"),
        |server, folder| {
            let absolute = folder.path().join(NAME);
            let mut old = "a".to_owned();
            for (number, path) in
                [NAME, "./test.txt", absolute.to_str().expect("UTF-8")].into_iter().enumerate()
            {
                let new = number.to_string();
                let result = server.tool("file_edit", json!({ "path": path, "edits": one(&old, &new) }));
                assert!(!result.is_error, "{path}: {}", result.text);
                old = new;
            }
            for path in ["../test.txt", "sub/test.txt", "/etc/passwd", "/test.txt", "", ".", "././test.txt"] {
                let result = server.tool("file_edit", json!({ "path": path, "edits": one("2", "x") }));
                assert_eq!(result.first_line(), "Error: Invalid filename format", "{path}");
            }
            assert_eq!(folder.text(NAME), "2");
        },
    );
}

#[test]
fn with_structured_the_metadata_is_the_structured_content() {
    let bench = Bench::with(&["--tools=all", "--structured"], "a");
    bench.server.begin("2025-11-25");
    for edits in [one("zzz", "b"), one("a", "b")] {
        let result = bench.call(edits).result;
        assert_eq!(result["structuredContent"], result["metadata"]);
    }
    let bench = Bench::with(&["--tools=all", "--structured"], "a");
    bench.server.begin("2024-11-05");
    let result = bench.call(one("a", "b")).result;
    assert!(result.get("structuredContent").is_none() && result["metadata"].is_object());
}

#[test]
fn a_failure_is_logged_like_any_other() {
    let bench = Bench::new("a");
    bench.fails(one("zzz", "b"), "NO_MATCH");
    let line = bench.server.wait_for_stderr("file_edit");
    assert!(line.contains("could not find exact text") && line.contains(NAME), "{line}");
}

#[test]
fn an_edit_that_changes_nothing_writes_nothing() {
    let bench = Bench::new("a");
    let before = bench.folder.snapshot();
    let result = bench.call(one("a", "a"));
    assert!(!result.is_error && result.text.contains("The text is the same as before"), "{}", result.text);
    assert_eq!(bench.folder.snapshot(), before);
}

/// The corrected call, made from nothing but the error: the passage with its lines around it, and only that replaced.
fn corrected(error: &Value, wanted: usize, old: &str, new: &str) -> Value {
    let locations = error["match_locations"].as_array().expect("locations");
    let location = &locations[wanted];
    let context = |location: &Value| {
        let lines = ["context_before", "line_content", "context_after"].map(|key| location[key].as_str());
        lines.into_iter().flatten().collect::<Vec<_>>().join("\n")
    };
    let old_text = context(location);
    // The match is at a column of the line in the middle.
    let line = location["line_content"].as_str().expect("a line");
    let column = location["column_start"].as_u64().expect("a column") as usize - 1;
    let at = line.char_indices().nth(column).map_or(line.len(), |(at, _)| at);
    let changed = format!("{}{new}{}", &line[..at], &line[at + old.len()..]);
    let new_text = old_text.replacen(line, &changed, 1);
    json!([{ "old_text": old_text, "new_text": new_text }])
}

#[test]
fn an_ambiguous_match_can_be_corrected_in_one_retry_from_the_error_alone() {
    for case in 0..100_usize {
        let (count, wanted) = (2 + case % 7, case % (2 + case % 7));
        let content: String = (0..count)
            .map(|n| format!("fn part_{n}() {{ // é\n    {}call(value);\n}} // {n}\n", "x ".repeat(case % 3)))
            .collect();
        let bench = Bench::new(&content);
        let result = bench.call(one("value", "other"));
        let edits = corrected(error(&result), wanted, "value", "other");
        let result = bench.call(edits);
        assert!(!result.is_error, "{case}: {}", result.text);
        let mut lines: Vec<String> = content.lines().map(str::to_owned).collect();
        lines[wanted * 3 + 1] = lines[wanted * 3 + 1].replace("value", "other");
        assert_eq!(bench.folder.text(NAME), lines.join("\n") + "\n", "{case}");
    }
}
