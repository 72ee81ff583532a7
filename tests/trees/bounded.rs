//! Bounded answers: the pages of a list or a text give exactly the whole (contract 11).

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use serde_json::{Value, json};

use super::{put, serve};
use crate::support::{Folder, Mcp, ToolResult};

pub(super) const LIMIT: &str = "--answer-limit=1";

pub(crate) fn next_of(result: &ToolResult) -> Option<Value> {
    let truncated = result.result["_meta"].get("file-editor/truncated")?;
    let cut = truncated["cut"].as_object().is_some_and(|cut| !cut.is_empty());
    let partial = truncated["partial"] == true;
    assert!(cut || partial || truncated["shown"].as_u64() < truncated["of"].as_u64(), "{truncated}");
    Some(truncated["next"].clone())
}

/// The answers of a call and of those that it says go on: at least two.
pub(super) fn pages(server: &dyn Mcp, tool: &str, arguments: Value) -> Vec<ToolResult> {
    let pages = follow(server, tool, arguments);
    assert!(pages.len() > 1, "{tool} needs no second page");
    pages
}

/// The answers of a call and of those that it says go on.
pub(crate) fn follow(server: &dyn Mcp, tool: &str, arguments: Value) -> Vec<ToolResult> {
    let (mut pages, mut next) = (Vec::new(), Some(arguments));
    while let Some(arguments) = next {
        assert!(pages.len() < 1_000, "{tool} does not end: {arguments}");
        let page = server.tool(tool, arguments.clone());
        assert!(!page.is_error, "{tool} {arguments}: {}", page.text);
        assert!(page.text.len() <= 1_024, "{tool} {arguments}: {} bytes", page.text.len());
        next = next_of(&page);
        pages.push(page);
    }
    pages
}

/// The lines of all pages but those in brackets at their ends.
pub(super) fn lines(pages: &[ToolResult]) -> Vec<String> {
    let own = |line: &&str| !line.starts_with("[Shown: ") && !line.starts_with("[Not shown: ");
    pages.iter().flat_map(|page| page.text.lines().filter(own).map(str::to_owned)).collect()
}

/// A tree of some 150 files, in folders between and beside them.
fn fill(folder: &Folder) {
    for n in 0..50 {
        put(folder, &format!("file-{n:02}.txt"), "x\n");
        put(folder, &format!("file-{n:02}/ä漢 😀/deep.txt"), "x\n");
        put(folder, &format!("z-{n:02}"), "x\n");
    }
}

#[test]
fn the_pages_of_a_list_give_the_whole_list() {
    let folder = Folder::new();
    fill(&folder);
    let (limited, whole) = (serve(&folder, &[LIMIT]), serve(&folder, &["--answer-limit=0"]));
    for (tool, arguments) in [
        ("list_directory", json!({ "path": "." })),
        ("list_directory", json!({ "path": ".", "depth": 3 })),
        ("search_files", json!({ "path": ".", "pattern": "**/deep.txt" })),
    ] {
        let all: Vec<String> = whole.ok(tool, arguments.clone()).lines().map(str::to_owned).collect();
        assert!(all.len() >= 50, "{all:?}");
        assert_eq!(lines(&pages(&limited, tool, arguments)), all, "{tool}");
    }
    let sizes = pages(&limited, "list_directory_with_sizes", json!({ "path": "." }));
    let entries =
        lines(&sizes).into_iter().filter(|line| line.starts_with("[FILE]") || line.starts_with("[DIR]"));
    assert_eq!(entries.count(), 150);
}

#[test]
fn the_pages_of_a_tree_hold_every_name() {
    let folder = Folder::new();
    fill(&folder);
    let server = serve(&folder, &[LIMIT]);
    let pages = pages(&server, "directory_tree", json!({ "path": "." }));
    let all = lines(&pages).join("\n");
    for n in 0..50 {
        for name in [format!("file-{n:02}.txt"), format!("file-{n:02}"), format!("z-{n:02}")] {
            assert!(all.contains(&format!("\"name\": \"{name}\"")), "{name} is on no page");
        }
    }
    assert_eq!(all.matches("deep.txt").count(), 50);
}

/// Names of which some are no UTF-8, in the order of their bytes.
fn odd_names(folder: &Folder) -> usize {
    let mut names: Vec<Vec<u8>> = vec![
        b"a".to_vec(),
        b"b".to_vec(),
        b"m\xe9".to_vec(),
        b"\\x".to_vec(),
        b"\xff1".to_vec(),
        b"\xff2".to_vec(),
    ];
    names.extend((0..40).map(|n| format!("n{n:02}{}", "x".repeat(40)).into_bytes()));
    names
        .iter()
        .for_each(|name| std::fs::write(folder.path().join(OsStr::from_bytes(name)), "").expect("a file"));
    names.len()
}

#[test]
fn names_that_are_no_utf8_are_on_the_pages_too() {
    not_under_wine!("has names of bytes that are no text");
    let folder = Folder::new();
    let count = odd_names(&folder);
    let server = serve(&folder, &[LIMIT]);
    for (tool, arguments) in [
        ("list_directory", json!({ "path": "." })),
        ("list_directory_with_sizes", json!({ "path": "." })),
        ("search_files", json!({ "path": ".", "pattern": "**" })),
    ] {
        let mut all = lines(&pages(&server, tool, arguments));
        all.retain(|line| line.starts_with('[') || line.starts_with('/'));
        let shown = all.len();
        all.dedup();
        assert_eq!((shown, all.len()), (count, count), "{tool}: {all:?}");
    }
}

#[test]
fn made_up_and_foreign_cursors_are_errors_never_a_first_page() {
    let folder = Folder::new();
    fill(&folder);
    folder.write("long", "x".repeat(5_000));
    let server = serve(&folder, &[LIMIT]);
    let cursor = |tool: &str, arguments: Value| -> String {
        let next = next_of(&server.tool(tool, arguments)).expect("a second page");
        next["cursor"].as_str().unwrap_or_else(|| panic!("no cursor: {next}")).to_owned()
    };
    let list = cursor("list_directory", json!({ "path": "." }));
    let text = cursor("read_text_file", json!({ "path": "long" }));
    let search = cursor("search_files", json!({ "path": ".", "pattern": "**" }));
    for (tool, mut arguments, foreign) in [
        ("list_directory", json!({ "path": "." }), [&text, &search]),
        ("list_directory", json!({ "path": "file-00" }), [&list, &search]),
        ("list_directory", json!({ "path": ".", "depth": 2 }), [&list, &search]),
        ("directory_tree", json!({ "path": "." }), [&list, &search]),
        ("list_directory_with_sizes", json!({ "path": "." }), [&list, &text]),
        ("search_files", json!({ "path": ".", "pattern": "**/x" }), [&list, &search]),
        ("read_text_file", json!({ "path": "file-00.txt" }), [&text, &list]),
    ] {
        let cut = &list[..list.len() - 3];
        for cursor in [foreign[0], foreign[1], "A", "AAAA", "%%%", cut, "made up"] {
            arguments["cursor"] = json!(cursor);
            let refused = server.refused(tool, arguments.clone());
            assert!(refused.starts_with("Error: Invalid arguments: cursor"), "{tool} {arguments}: {refused}");
        }
    }
}

#[test]
fn a_cursor_works_on_another_server_and_tells_a_change_in_between() {
    let folder = Folder::new();
    fill(&folder);
    folder.write("long", "x".repeat(5_000));
    for (tool, arguments) in [
        ("list_directory", json!({ "path": "." })),
        ("search_files", json!({ "path": ".", "pattern": "**" })),
        ("directory_tree", json!({ "path": "." })),
        ("list_directory_with_sizes", json!({ "path": "." })),
        ("read_text_file", json!({ "path": "long" })),
    ] {
        folder.set_modified("long", 1_000_000_000);
        let one = serve(&folder, &[LIMIT]);
        let next = next_of(&one.tool(tool, arguments)).expect("a second page");
        let here = one.ok(tool, next.clone());
        drop(one);
        let other = serve(&folder, &[LIMIT]);
        assert_eq!(other.ok(tool, next.clone()), here, "{tool}");
        assert!(!here.contains("has changed"), "{tool}: {here}");
        match tool {
            "read_text_file" => folder.write("long", "y".repeat(5_000)),
            _ => folder.write(&format!("new-for-{tool}"), ""),
        }
        let told = other.ok(tool, next);
        assert!(told.contains("has changed since the cursor was made"), "{tool}: {told}");
    }
}

/// Folders within folders.
fn deep(folder: &Folder, name: &str, levels: usize) {
    super::make(folder, &vec![name; levels].join("/"));
}

#[test]
fn an_entry_that_is_longer_than_a_page_is_shown_and_the_list_goes_on_behind_it() {
    let folder = Folder::new();
    deep(&folder, &"n".repeat(250), 4);
    put(&folder, "z", "");
    let (limited, whole) = (serve(&folder, &[LIMIT]), serve(&folder, &[]));
    let arguments = json!({ "path": ".", "depth": 9 });
    let all: Vec<String> = whole.ok("list_directory", arguments.clone()).lines().map(str::to_owned).collect();
    let (mut shown, mut next) = (Vec::new(), Some(arguments));
    while let Some(arguments) = next {
        let page = limited.tool("list_directory", arguments);
        let lines = lines(std::slice::from_ref(&page));
        assert!(!lines.is_empty(), "a page without an entry: {}", page.text);
        shown.extend(lines);
        next = next_of(&page);
    }
    assert_eq!(shown, all);
}

#[test]
fn the_pages_of_a_deep_tree_come_to_an_end() {
    let folder = Folder::new();
    deep(&folder, "d", 100);
    put(&folder, &format!("{}/leaf", ["d"; 100].join("/")), "");
    let server = serve(&folder, &[]);
    let (mut next, mut found) = (Some(json!({ "path": "." })), false);
    for _ in 0..100 {
        let Some(arguments) = next.take() else { break };
        let page = server.tool("directory_tree", arguments);
        found |= page.text.contains("leaf");
        next = next_of(&page);
    }
    assert!(next.is_none() && found, "{next:?}");
}

#[test]
fn an_answer_with_several_files_keeps_the_limit() {
    not_under_wine!("has a limit of time that such a program does not keep");
    let folder = Folder::new();
    (0..1_000).for_each(|n| put(&folder, &format!("f{n:03}"), "some text here\n".repeat(40)));
    let server = serve(&folder, &[]);
    for base in ["f", "missing"] {
        let paths: Vec<String> = (0..1_000).map(|n| format!("{base}{n:03}")).collect();
        let text = server.ok("read_multiple_files", json!({ "paths": paths }));
        assert!(text.len() <= 60 * 1_024, "{base}: {} bytes", text.len());
    }
}

#[test]
fn of_several_long_files_each_has_its_share_and_the_others_are_told() {
    let folder = Folder::new();
    for name in ["a", "b"] {
        put(&folder, name, "a line of text\n".repeat(7_000));
    }
    let server = serve(&folder, &[]);
    let page = server.tool("read_multiple_files", json!({ "paths": ["a", "b"] }));
    let truncated = &page.result["_meta"]["file-editor/truncated"];
    assert_eq!((&truncated["shown"], &truncated["of"]), (&json!(2), &json!(2)), "{truncated}");
    for name in ["a", "b"] {
        let rest = server.tool("read_text_file", truncated["cut"][name].clone());
        assert!(!rest.is_error && rest.text.starts_with("a line of text\n"), "{name}: {}", rest.text);
    }
    let versions = page.result["_meta"]["file-editor/versions"].as_object().expect("an object").len();
    assert!(page.text.contains("b:\na line of text\n") && versions == 2, "{versions}");
    assert!(50_000 < page.text.len() && page.text.len() <= 60 * 1_024, "{}", page.text.len());
}

#[test]
fn an_edit_of_more_lines_than_a_diff_tells_is_made_and_says_so() {
    not_under_wine!("has a limit of time or takes long");
    let folder = Folder::new();
    let lines = "a line with a word\n".repeat(1_000_000);
    let one_line = "a long word ".repeat(1_000_000);
    for text in [&lines, &one_line] {
        for (flag, most) in [(LIMIT, 1_024), ("--answer-limit=0", 17 << 20)] {
            folder.write("f", text);
            let edit = json!({ "oldText": "word", "newText": "w", "replaceAll": true });
            let server = serve(&folder, &["--max-file=100", flag]);
            let answer = server.tool("edit_file", json!({ "path": "f", "edits": [edit] }));
            assert!(!answer.is_error && answer.text.len() <= most, "{flag}: {} bytes", answer.text.len());
            assert_eq!(next_of(&answer), Some(Value::Null), "{flag}");
            let last = answer.text.lines().rev().nth(2).expect("a last line");
            assert!(last.starts_with("[Shown: ") && last.contains(" further changes are in none"), "{last}");
            assert!(folder.read("f") == text.replace("word", "w").as_bytes(), "{flag}");
        }
    }
}
