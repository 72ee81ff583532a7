//! `grep` by relevance: files that define the word come first, tests and copies of foreign code last (contract 22).

use serde_json::json;

use super::serve;
use crate::support::{Folder, Mcp};
use crate::trees::put;

fn corpus() -> Folder {
    let folder = Folder::new();
    for (path, text) in [
        ("a/use.rs", "fn other() { total() }\n"),
        ("docs/total.md", "# total\n"),
        ("src/sum.rs", "// total\npub fn total() -> u32 { 1 }\n"),
        ("src/b.py", "class Bag:\n    def total(self):\n        return 1\n"),
        ("tests/t.rs", "fn t() { total() }\n"),
        ("vendor/v.c", "int total(void) { return 1; }\nint x = total();\n"),
    ] {
        put(&folder, path, text);
    }
    folder
}

/// The paths of an answer, in their order.
fn paths(answer: &str) -> Vec<&str> {
    let known = ["a/use.rs", "docs/total.md", "src/b.py", "src/sum.rs", "tests/t.rs", "vendor/v.c"];
    let mut found: Vec<(usize, &str)> =
        known.into_iter().filter_map(|path| Some((answer.find(path)?, path))).collect();
    found.sort_unstable();
    found.into_iter().map(|(_, path)| path).collect()
}

#[test]
fn files_that_define_the_word_come_first_and_tests_behind_the_others() {
    let folder = corpus();
    let server = serve(&folder, &[]);
    let by_relevance = ["src/b.py", "src/sum.rs", "vendor/v.c", "a/use.rs", "docs/total.md", "tests/t.rs"];
    for pattern in ["total", r"\btotal\b", r"total\("] {
        for mode in ["content", "files_with_matches", "count"] {
            let arguments = json!({ "pattern": pattern, "output_mode": mode, "sort": "relevance" });
            let answer = server.ok("grep", arguments);
            let mut expected = by_relevance.to_vec();
            expected.retain(|path| pattern != r"total\(" || *path != "docs/total.md");
            assert_eq!(paths(&answer), expected, "{pattern} {mode}: {answer}");
            assert!(answer.contains("6 files searched"), "{answer}");
        }
    }
    // No name: by the paths alone.
    let answer = server.ok("grep", json!({ "pattern": "tot.l", "sort": "relevance" }));
    let expected = ["a/use.rs", "docs/total.md", "src/b.py", "src/sum.rs", "tests/t.rs", "vendor/v.c"];
    assert_eq!(paths(&answer), expected, "{answer}");
}

#[test]
fn pages_by_relevance_put_together_are_the_whole() {
    let folder = corpus();
    let server = serve(&folder, &[]);
    let mut arguments = json!({ "pattern": "total", "sort": "relevance", "head_limit": 1 });
    let mut lines = Vec::new();
    loop {
        let answer = server.ok("grep", arguments.clone());
        let told = answer.lines().take_while(|line| !line.starts_with('['));
        lines.extend(told.map(str::to_owned));
        let Some(cursor) = answer.split("\"cursor\":\"").nth(1).and_then(|rest| rest.split('"').next())
        else {
            break;
        };
        arguments["cursor"] = json!(cursor);
    }
    let whole = server.ok("grep", json!({ "pattern": "total", "sort": "relevance" }));
    let whole: Vec<&str> = whole.lines().take_while(|line| !line.starts_with('[')).collect();
    // Each page names its file.
    let matches = |lines: &[&str]| lines.iter().filter(|line| line.contains("total")).count();
    let lines: Vec<&str> = lines.iter().map(String::as_str).filter(|line| !line.is_empty()).collect();
    assert_eq!(matches(&lines), matches(&whole), "{lines:?} {whole:?}");
    let mut of_whole = whole.iter().filter(|line| !line.is_empty());
    let mut shown = lines.iter().peekable();
    for expected in of_whole.by_ref() {
        while shown.peek().is_some_and(|line| *line != expected) {
            shown.next();
        }
        assert_eq!(shown.next(), Some(expected), "{lines:?} {whole:?}");
    }
}

#[test]
fn one_file_is_searched_by_relevance_whatever_it_is() {
    let folder = corpus();
    put(&folder, "notes.txt", "total\n");
    let server = serve(&folder, &[]);
    let search =
        |path: &str| server.ok("grep", json!({ "pattern": "total", "path": path, "sort": "relevance" }));
    assert!(search("notes.txt").contains("total") && search("src/sum.rs").contains("pub fn total"));
    let upper = json!({ "pattern": "TOTAL", "-i": true, "sort": "relevance", "output_mode": "count" });
    assert_eq!(paths(&server.ok("grep", upper))[0], "src/b.py");
}
