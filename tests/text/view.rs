//! `view`: `read_file` by another name, which also lists folders two levels deep.

use serde_json::{Value, json};

use super::{failure, on_all, serve};
use crate::support::{Folder, Mcp};
use crate::trees::{follow, put};

fn fill(folder: &Folder) {
    put(folder, "top.txt", "a\nb\n");
    put(folder, "src/main.rs", "fn main() {}\n");
    put(folder, "src/deep/er/deepest.rs", "");
}

const LIST: &str = "[DIR] src\n[DIR] src/deep\n[FILE] src/main.rs\n[FILE] top.txt";

#[test]
fn a_file_is_read_as_by_read_file() {
    on_all(&[], fill, |server, _| {
        for arguments in [
            json!({ "filename": "top.txt" }),
            json!({ "filename": "top.txt", "line_numbers": true }),
            json!({ "filename": "top.txt", "pattern": "b" }),
            json!({ "filename": "top.txt", "start_line": -1 }),
        ] {
            let read = server.ok("read_file", arguments.clone());
            assert_eq!(server.ok("view", arguments.clone()), read, "{arguments}");
        }
        for wrong in
            [json!({ "filename": "none" }), json!({ "filename": "top.txt", "start_line": 99 }), json!({})]
        {
            assert_eq!(failure(server, "view", wrong.clone()), failure(server, "read_file", wrong));
        }
    });
}

#[test]
fn a_folder_is_listed_two_levels_deep() {
    on_all(&[], fill, |server, _| {
        assert_eq!(server.ok("view", json!({ "path": "." })), LIST);
        assert_eq!(
            server.ok("view", json!({ "filename": "src/" })),
            "[DIR] deep\n[DIR] deep/er\n[FILE] main.rs"
        );
        let filtered = failure(server, "view", json!({ "filename": "src", "pattern": "x" }));
        assert!(filtered.starts_with("Error: Invalid arguments: pattern: 'src' is a folder"), "{filtered}");
        let read = failure(server, "read_file", json!({ "filename": "src" }));
        assert!(read.starts_with("Error: Permission denied accessing 'src'"), "{read}");
    });
}

#[test]
fn a_long_list_goes_on_with_the_call_that_it_names() {
    let folder = Folder::new();
    for number in 0..60 {
        put(&folder, &format!("folder-{number:02}/file-of-some-length.txt"), "");
    }
    let (limited, whole) = (serve(&folder, &["--answer-limit=1"]), serve(&folder, &["--answer-limit=0"]));
    let all = whole.ok("view", json!({ "filename": "." }));
    let pages = follow(&limited, "view", json!({ "filename": "." }));
    assert!(pages.len() > 1);
    let own = |line: &&str| !line.starts_with("[Shown: ");
    let told: Vec<&str> = pages.iter().flat_map(|page| page.text.lines().filter(own)).collect();
    assert_eq!(told.join("\n"), all);
}

#[test]
fn a_pattern_that_no_line_matches_names_the_one_that_is_meant() {
    on_all(
        &[],
        |folder| folder.write("f", "Ab\na|b\nx\n\n"),
        |server, _| {
            for tool in ["view", "read_file"] {
                for (pattern, meant, lines) in [
                    ("/ab/i", "(?i)ab", "1 line"),
                    ("/Ab/", "Ab", "1 line"),
                    ("ab", "(?i)ab", "1 line"),
                    (r"Ab\|x", "Ab|x", "2 lines"),
                ] {
                    let notes = notes(server, tool, json!({ "filename": "f", "pattern": pattern }));
                    let told = format!("[With {}: {lines}]", json!({ "pattern": meant }));
                    assert!(
                        notes.starts_with("[No line matches the pattern]") && notes.contains(&told),
                        "{notes}"
                    );
                }
                let none = notes(server, tool, json!({ "filename": "f", "pattern": "0" }));
                assert_eq!(none, "[No line matches the pattern]");
                for part in [
                    json!({ "filename": "f", "pattern": "x", "end_line": 2 }),
                    json!({ "filename": "f", "pattern": "^$", "skip_empty": true }),
                ] {
                    let notes = notes(server, tool, part);
                    assert_eq!(notes, "[No line of those asked for matches the pattern]");
                }
                let few = json!({ "filename": "f", "pattern": r"Ab\|x", "max_lines": 1 });
                let notes = notes(server, tool, few);
                assert!(notes.ends_with(r#"[With {"pattern":"Ab|x"}: 2 lines]"#), "{notes}");
            }
        },
    );
}

/// The second text of an answer whose first one has no line.
fn notes(server: &dyn Mcp, tool: &str, arguments: Value) -> String {
    let answer = server.rpc("tools/call", json!({ "name": tool, "arguments": arguments }));
    let content = &answer["result"]["content"];
    assert_eq!(content[0]["text"], "", "{answer}");
    content[1]["text"].as_str().unwrap_or_default().to_owned()
}
