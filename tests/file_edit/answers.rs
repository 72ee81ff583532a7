//! What file_edit answers: the cases 5-7 of S1's test list by their names, and what contract 5 adds to them.

use std::os::unix::fs::MetadataExt;

use serde_json::{Value, json};

use super::bench::{Bench, NAME, error, one, times};
use crate::support::{Mcp, on_both_with};

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
    let bench = Bench::with(&["--tools=lines,exact", "--max-size=1"], "a a");
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

// ---- Beyond S1's list ----

#[test]
fn a_path_is_a_name_or_lies_in_the_folder() {
    on_both_with(
        &["--tools=lines,exact"],
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
    let bench = Bench::with(&["--tools=lines,exact", "--structured"], "a");
    bench.server.begin("2025-11-25");
    for edits in [one("zzz", "b"), one("a", "b")] {
        let result = bench.call(edits).result;
        assert_eq!(result["structuredContent"], result["metadata"]);
    }
    let bench = Bench::with(&["--tools=lines,exact", "--structured"], "a");
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

// ---- What a review found ----

#[test]
fn a_column_names_the_original_line_also_where_an_earlier_edit_changed_it() {
    let edits = json!([{ "old_text": "foo", "new_text": "longer" }, { "old_text": "x", "new_text": "y" }]);
    let result = Bench::new("first\nfoo x x\n").fails(edits, "WRONG_COUNT");
    let location = &error(&result)["match_locations"][1];
    assert_eq!((&location["line_number"], &location["column_start"]), (&json!(2), &json!(7)), "{location}");
    assert_eq!((&location["column_now"], &location["line_content"]), (&json!(10), &json!("longer x x")));
    assert!(result.text.contains("Line 2, column 7, now column 10"), "{}", result.text);
}

#[test]
fn a_preview_of_a_long_line_shows_what_is_around_the_change() {
    let content = format!("{}é needle {}", "x".repeat(3_000), "y".repeat(3_000));
    let arguments = json!({ "path": NAME, "edits": one("needle", "pin"), "dry_run": true });
    let result = Bench::new(&content).server.tool("file_edit", arguments);
    let preview = &result.result["metadata"]["preview"][0];
    let (before, after) =
        (preview["before"].as_str().expect("text"), preview["after"].as_str().expect("text"));
    assert!(before.len() < 1_000 && before.contains("é needle yy"), "{before}");
    assert_eq!(before.replace("needle", "pin"), after);
}

#[test]
fn many_previews_are_bounded_over_all_edits() {
    let content = "a b c d\n".repeat(100);
    let edits: Vec<Value> = ["a", "b", "c", "d"].map(|old| times(old, "x", 100)[0].clone()).into();
    let edits: Vec<Value> = edits
        .into_iter()
        .chain((0..20).map(|n| {
            times(if n % 2 == 0 { "x" } else { "y" }, if n % 2 == 0 { "y" } else { "x" }, 400)[0].clone()
        }))
        .collect();
    let arguments = json!({ "path": NAME, "edits": edits, "dry_run": true });
    let result = Bench::new(&content).server.tool("file_edit", arguments);
    assert!(!result.is_error, "{}", result.text);
    assert_eq!(result.result["metadata"]["preview"].as_array().map(Vec::len), Some(200));
}

#[test]
fn each_line_of_a_passage_is_highlighted_where_it_belongs_to_it() {
    let result = Bench::new("one ab\ncd two ab\ncd\n").fails(one("ab\ncd", "x"), "WRONG_COUNT");
    let preview = &result.result["metadata"]["file_preview"];
    assert_eq!(
        preview["highlights"],
        json!([{ "line": 1, "column_start": 5, "column_end": 7 }, { "line": 2, "column_start": 1, "column_end": 3 }])
    );
    assert_eq!(error(&result)["match_locations"][0]["last_line_number"], 2);
}

#[test]
fn what_an_earlier_edit_put_in_is_searched_for_similar_passages_too() {
    let edits = json!([
        { "old_text": "start", "new_text": "const someValue = compute(1);" },
        { "old_text": "const someValue = compute(2);", "new_text": "x" },
    ]);
    let result = Bench::new("nothing\nstart\nelse\n").fails(edits, "NO_MATCH");
    let similar = &error(&result)["similar_content"][0];
    assert_eq!(
        (&similar["content"], &similar["line_number"]),
        (&json!("const someValue = compute(1);"), &json!(2))
    );
}

#[test]
fn a_misspelt_text_is_not_taken_for_an_edit_that_is_already_applied() {
    let content = "let total = price * count;\nreturn result;\n";
    let result = Bench::new(content).fails(one("let total = price * cuont;", "return result;"), "NO_MATCH");
    assert!(!result.text.contains("already applied"), "{}", result.text);
}

#[test]
fn half_a_break_is_not_found_and_no_earlier_edit_is_blamed_for_it() {
    let result = Bench::new("ab\r\ncd\r\n").fails(one("ab\r", "x"), "NO_MATCH");
    assert!(!result.text.contains("earlier edit"), "{}", result.text);
}

#[test]
fn the_end_of_a_long_text_is_compared_as_well() {
    let lines: Vec<String> =
        (0..80).map(|n| format!("    let value_{n} = compute({n}, \"text\");")).collect();
    let content = format!("fn a() {{\n{}\n}}\n", lines.join("\n"));
    let old = lines.join("\n").replace("value_78 ", "value_xx ");
    let result = Bench::new(&content).fails(one(&old, "x"), "NO_MATCH");
    let similar = &error(&result)["similar_content"][0];
    assert_eq!(similar["content"], lines.join("\n"), "{similar}");
    assert_eq!(similar["differences"].as_array().map(Vec::len), Some(1), "{similar}");
    assert_eq!(similar["differences"][0]["found"], "value_78");
}

#[test]
fn a_result_far_too_large_is_refused_before_it_is_made() {
    let bench = Bench::with(&["--tools=lines,exact", "--max-size=1"], &"a".repeat(5_000));
    let result = bench.fails(times("a", &"x".repeat(500_000), 5_000), "TOO_LARGE");
    assert!(result.first_line().starts_with("Error: File size 2384."), "{}", result.text);
}

#[test]
fn texts_that_share_long_prefixes_and_texts_of_a_few_bytes_are_each_found_once() {
    let line = |n: usize| {
        format!("{} id={n:04} status=200 {}\n", "the same prefix ".repeat(8), "and tail ".repeat(9))
    };
    let short = |n: usize| char::from_u32(0x100 + n as u32).expect("a character").to_string();
    let content: String = (0..400).map(|n| line(n) + &short(n) + "\n").collect();
    let edits: Vec<Value> = (0..400)
        .flat_map(|n| {
            [
                one(line(n).trim_end_matches('\n'), &format!("new {n}"))[0].clone(),
                one(&short(n), "s")[0].clone(),
            ]
        })
        .collect();
    let expected: String = (0..400).map(|n| format!("new {n}\ns\n")).collect();
    Bench::new(&content).becomes(json!(edits), &expected);
}

/// The corrected call, made from nothing but the error: the passage with its lines around it, and only that replaced.
fn corrected(error: &Value, wanted: usize, new: &str) -> Value {
    let location = &error["match_locations"][wanted];
    let (old, line) = (error["search_text"].as_str().expect("a text"), location["line_content"].as_str());
    let line = line.expect("a line");
    // The match is at a column of its first line.
    let column = location["column_start"].as_u64().expect("a column") as usize - 1;
    let at = line.char_indices().nth(column).map_or(line.len(), |(at, _)| at);
    let changed = format!("{}{new}{}", &line[..at], &line[at + old.len()..]);
    let around = |line: &str| {
        let (before, after) = (location["context_before"].as_str(), location["context_after"].as_str());
        before.into_iter().chain([line]).chain(after).collect::<Vec<_>>().join("\n")
    };
    json!([{ "old_text": around(line), "new_text": around(&changed) }])
}

#[test]
fn an_ambiguous_match_can_be_corrected_in_one_retry_from_the_error_alone() {
    let bench = Bench::new("");
    for case in 0..100_usize {
        let (count, wanted) = (2 + case % 7, case % (2 + case % 7));
        let (old, new) = [("value", "other"), ("value);\n}", "é);\n\n}"), ("\tvalue", "v")][case % 3];
        let brk = ["\n", "\r\n"][case / 3 % 2];
        let parts: Vec<String> = (0..count)
            .map(|n| format!("fn part_{n}() {{ // é\n    {}call(\tvalue);\n}} // {n}", "x ".repeat(case % 4)))
            .collect();
        // Some files end without a break.
        let end = if case % 5 == 0 { "" } else { "\n" };
        let content = parts.join("\n") + end;
        bench.folder.write(NAME, content.replace('\n', brk));
        let result = bench.call(one(old, new));
        let result = bench.call(corrected(error(&result), wanted, new));
        assert!(!result.is_error, "{case}: {}", result.text);
        let mut expected = parts;
        expected[wanted] = expected[wanted].replace(old, new);
        assert_eq!(bench.folder.text(NAME), (expected.join("\n") + end).replace('\n', brk), "{case}");
    }
}
