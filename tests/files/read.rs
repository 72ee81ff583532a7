//! read_file over MCP: ranges, line breaks, what is shown and what is not (contract 3, 4, 6.1).

use serde_json::{Value, json};

use crate::support::{MB, Mcp, on_both, on_both_with};

fn read(server: &dyn Mcp, arguments: Value) -> String {
    server.ok("read_file", arguments)
}

#[test]
fn a_whole_file_is_read_under_a_title_with_its_number_of_lines() {
    on_both(|server, folder| {
        folder.write("test.txt", "line1\nline2\nline3");
        let text = read(server, json!({ "name": "test.txt" }));
        assert_eq!(text, "File: test.txt (3 lines)\n\nline1\nline2\nline3");
    });
}

#[test]
fn a_range_counts_from_0_and_both_its_ends_are_in_it() {
    on_both(|server, folder| {
        folder.write("f", "a\nb\nc\nd\n");
        let text = read(server, json!({ "name": "f", "start_line": 1, "end_line": 2 }));
        assert_eq!(text, "File: f (lines 1-2 of 4 total)\n\nb\nc");
        let text = read(server, json!({ "name": "f", "start_line": 0, "end_line": 0 }));
        assert_eq!(text, "File: f (lines 0-0 of 4 total)\n\na");
        let text = read(server, json!({ "name": "f", "start_line": 0, "end_line": 3 }));
        assert_eq!(text, "File: f (lines 0-3 of 4 total)\n\na\nb\nc\nd");
    });
}

#[test]
fn read_with_only_a_start_line_goes_to_the_end() {
    on_both(|server, folder| {
        folder.write("f", "a\nb\nc\n");
        let text = read(server, json!({ "name": "f", "start_line": 1 }));
        assert_eq!(text, "File: f (lines 1-2 of 3 total)\n\nb\nc");
    });
}

#[test]
fn read_with_only_an_end_line_starts_at_the_first_line() {
    on_both(|server, folder| {
        folder.write("f", "a\nb\nc\n");
        let text = read(server, json!({ "name": "f", "end_line": 1 }));
        assert_eq!(text, "File: f (lines 0-1 of 3 total)\n\na\nb");
    });
}

#[test]
fn an_end_line_past_the_end_is_cut_to_the_last_line() {
    on_both(|server, folder| {
        folder.write("f", "a\nb\nc\n");
        let text = read(server, json!({ "name": "f", "start_line": 2, "end_line": 3 }));
        assert_eq!(text, "File: f (lines 2-2 of 3 total)\n\nc");
        let text = read(server, json!({ "name": "f", "end_line": 9_007_199_254_740_993_u64 }));
        assert_eq!(text, "File: f (lines 0-2 of 3 total)\n\na\nb\nc");
    });
}

#[test]
fn a_start_line_at_or_past_the_end_is_refused_with_the_length() {
    on_both(|server, folder| {
        folder.write("f", "a\nb\nc\n");
        for start in [3, 4, 1000] {
            let error = server.refused("read_file", json!({ "name": "f", "start_line": start }));
            assert_eq!(error, format!("Error: Start line {start} exceeds file length 3"));
        }
        let error = server.refused("read_file", json!({ "name": "f", "start_line": 3, "end_line": 5 }));
        assert_eq!(error, "Error: Start line 3 exceeds file length 3");
    });
}

#[test]
fn an_empty_file_reads_as_whole_unless_a_start_line_is_given() {
    on_both(|server, folder| {
        folder.write("empty", "");
        assert_eq!(read(server, json!({ "name": "empty" })), "File: empty (0 lines)\n\n");
        assert_eq!(read(server, json!({ "name": "empty", "end_line": 5 })), "File: empty (0 lines)\n\n");
        let error = server.refused("read_file", json!({ "name": "empty", "start_line": 0 }));
        assert_eq!(error, "Error: Start line 0 exceeds file length 0");
    });
}

#[test]
fn any_line_break_is_read_as_a_line_feed_and_none_follows_the_last_line() {
    on_both(|server, folder| {
        let cases = [
            ("lf", "a\nb\n", "(2 lines)\n\na\nb"),
            ("crlf", "a\r\nb\r\n", "(2 lines)\n\na\nb"),
            ("cr", "a\rb\r", "(2 lines)\n\na\nb"),
            ("mixed", "a\r\nb\rc\nd", "(4 lines)\n\na\nb\nc\nd"),
            ("cr-crlf", "a\r\r\nb", "(3 lines)\n\na\n\nb"),
            ("no-final", "a\nb", "(2 lines)\n\na\nb"),
            ("blank", "\n", "(1 lines)\n\n"),
            ("blank-end", "a\n\n", "(2 lines)\n\na\n"),
        ];
        for (name, bytes, wanted) in cases {
            folder.write(name, bytes);
            assert_eq!(read(server, json!({ "name": name })), format!("File: {name} {wanted}"), "{bytes:?}");
        }
    });
}

#[test]
fn a_byte_order_mark_is_not_shown() {
    on_both(|server, folder| {
        folder.write("bom", "\u{FEFF}first\nsecond\n");
        assert_eq!(read(server, json!({ "name": "bom" })), "File: bom (2 lines)\n\nfirst\nsecond");
        let text = read(server, json!({ "name": "bom", "start_line": 0, "end_line": 0 }));
        assert_eq!(text, "File: bom (lines 0-0 of 2 total)\n\nfirst");
        folder.write("only-bom", "\u{FEFF}");
        assert_eq!(read(server, json!({ "name": "only-bom" })), "File: only-bom (0 lines)\n\n");
        // Only the first one is a BOM.
        folder.write("two", "\u{FEFF}\u{FEFF}x\u{FEFF}\n");
        assert_eq!(read(server, json!({ "name": "two" })), "File: two (1 lines)\n\n\u{FEFF}x\u{FEFF}");
    });
}

#[test]
fn every_character_comes_back_as_it_is() {
    on_both(|server, folder| {
        let line: String = ('\u{1}'..='\u{2FF}').filter(|c| *c != '\n' && *c != '\r').collect();
        let line = format!("{line}\"\\/\u{2028}\u{2029}\u{85}漢字\u{1F600}\u{10FFFF}\u{FFFD}\u{E000}");
        folder.write("f", format!("{line}\n{line}\n"));
        assert_eq!(read(server, json!({ "name": "f" })), format!("File: f (2 lines)\n\n{line}\n{line}"));
        let text = read(server, json!({ "name": "f", "start_line": 1 }));
        assert_eq!(text, format!("File: f (lines 1-1 of 2 total)\n\n{line}"));
    });
}

#[test]
fn a_file_of_ten_thousand_lines_is_read_whole_and_in_parts() {
    on_both(|server, folder| {
        let lines: Vec<String> = (0..10_000).map(|n| format!("this is line {n} of the file")).collect();
        folder.write("big", lines.join("\r\n"));
        let text = read(server, json!({ "name": "big" }));
        assert_eq!(text, format!("File: big (10000 lines)\n\n{}", lines.join("\n")));
        for (start, end) in [(0, 0), (4_990, 5_010), (9_999, 9_999), (63, 65), (127, 4_096)] {
            let text = read(server, json!({ "name": "big", "start_line": start, "end_line": end }));
            let wanted = lines[start..=end].join("\n");
            assert_eq!(text, format!("File: big (lines {start}-{end} of 10000 total)\n\n{wanted}"));
        }
    });
}

#[test]
fn a_file_of_several_megabytes_comes_whole() {
    on_both(|server, folder| {
        let text: String = (0..100_000).map(|n| format!("{n} \"quoted\" \\ 漢字 \u{1F600}\n")).collect();
        assert!(2 * MB < text.len());
        folder.write("large", &text);
        let answer = read(server, json!({ "name": "large" }));
        let wanted = format!("File: large (100000 lines)\n\n{}", text.trim_end());
        assert!(answer == wanted, "{} bytes instead of {}", answer.len(), wanted.len());
    });
}

#[test]
fn a_file_at_the_limit_is_read_and_one_byte_more_is_not() {
    on_both_with(
        &["--max-size=1"],
        |folder| {
            folder.write("at", "y".repeat(MB));
            folder.write("over", "y".repeat(MB + 1));
        },
        |server, _| {
            let text = read(server, json!({ "name": "at" }));
            assert_eq!(text.len(), "File: at (1 lines)\n\n".len() + MB);
            for arguments in
                [json!({ "name": "over" }), json!({ "name": "over", "start_line": 0, "end_line": 0 })]
            {
                let error = server.refused("read_file", arguments);
                assert!(
                    error.starts_with("Error: File size ") && error.ends_with("MB exceeds maximum limit 1MB"),
                    "{error}"
                );
            }
        },
    );
}

#[test]
fn null_for_an_optional_argument_counts_as_absent_and_5_0_as_5() {
    on_both(|server, folder| {
        folder.write("f", "a\nb\nc\n");
        let text = read(server, json!({ "name": "f", "start_line": null, "end_line": null }));
        assert_eq!(text, "File: f (3 lines)\n\na\nb\nc");
        let text = read(server, json!({ "name": "f", "start_line": 1, "end_line": null }));
        assert_eq!(text, "File: f (lines 1-2 of 3 total)\n\nb\nc");
        let text = read(server, json!({ "name": "f", "start_line": 1.0, "end_line": 1.0 }));
        assert_eq!(text, "File: f (lines 1-1 of 3 total)\n\nb");
    });
}

#[test]
fn a_read_shows_every_change_at_once_even_within_a_clock_tick() {
    on_both(|server, folder| {
        for n in 0..40 {
            folder.write("f", format!("ab\ncd{n:02}\n"));
            assert_eq!(read(server, json!({ "name": "f" })), format!("File: f (2 lines)\n\nab\ncd{n:02}"));
            folder.write("f", format!("a\nb\nc{n:02}\n"));
            let text = read(server, json!({ "name": "f", "start_line": 2 }));
            assert_eq!(text, format!("File: f (lines 2-2 of 3 total)\n\nc{n:02}"));
        }
    });
}

#[test]
fn hidden_files_can_be_read_by_name() {
    on_both(|server, folder| {
        folder.write(".env", "KEY=1\n");
        assert_eq!(read(server, json!({ "name": ".env" })), "File: .env (1 lines)\n\nKEY=1");
    });
}

#[test]
fn a_name_of_255_bytes_is_read_edited_and_created() {
    on_both(|server, folder| {
        let name = "n".repeat(255);
        server.ok("edit_file", json!({ "name": name, "append": "one" }));
        server.ok("edit_file", json!({ "name": name, "append": "two" }));
        assert_eq!(read(server, json!({ "name": name })), format!("File: {name} (2 lines)\n\none\ntwo"));
        assert_eq!(folder.names(), [name]);
    });
}

#[test]
fn portable_names_are_letters_digits_dots_underscores_and_hyphens() {
    not_under_wine!("has names that Windows does not admit");
    on_both(|server, folder| {
        for name in ["a", "A-Z_0.9", "..a", "a..b", "-x", "...", "_"] {
            folder.write(name, "x\n");
            assert_eq!(read(server, json!({ "name": name })), format!("File: {name} (1 lines)\n\nx"));
        }
    });
}

#[test]
fn any_names_admits_every_single_path_component_without_control_characters() {
    not_under_wine!("has names that Windows does not admit");
    on_both_with(
        &["--names=any"],
        |_| {},
        |server, folder| {
            for name in ["with space", "漢字", "a\\b", "quo\"te", "~", "a:b", "é\u{1F600}.txt"] {
                folder.write(name, "x\n");
                assert_eq!(read(server, json!({ "name": name })), format!("File: {name} (1 lines)\n\nx"));
            }
            for name in
                ["", ".", "..", "a/b", "../x", "/etc/passwd", "a\nb", "a\u{7F}b", "a\0b", &"é".repeat(128)]
            {
                let error = server.refused("read_file", json!({ "name": name }));
                assert_eq!(error, "Error: Invalid filename format", "{name:?}");
            }
        },
    );
}
