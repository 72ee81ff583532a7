//! Bounded answers: the pages of a list or a text give exactly the whole (contract 11).

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use serde_json::{Value, json};

use super::{put, serve};
use crate::support::{Folder, Mcp, ToolResult};

const LIMIT: &str = "--answer-limit=1";

fn next_of(result: &ToolResult) -> Option<Value> {
    let truncated = result.result["_meta"].get("file-editor/truncated")?;
    assert!(truncated["shown"].as_u64() < truncated["of"].as_u64(), "{truncated}");
    Some(truncated["next"].clone())
}

/// The answers of a call and of those that it says go on.
fn pages(server: &dyn Mcp, tool: &str, arguments: Value) -> Vec<ToolResult> {
    let (mut pages, mut next) = (Vec::new(), Some(arguments));
    while let Some(arguments) = next {
        assert!(pages.len() < 1_000, "{tool} does not end: {arguments}");
        let page = server.tool(tool, arguments.clone());
        assert!(!page.is_error, "{tool} {arguments}: {}", page.text);
        assert!(page.text.len() <= 1_024, "{tool} {arguments}: {} bytes", page.text.len());
        next = next_of(&page);
        pages.push(page);
    }
    assert!(pages.len() > 1, "{tool} needs no second page");
    pages
}

/// The lines of all pages but those in brackets at their ends.
fn lines(pages: &[ToolResult]) -> Vec<String> {
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

/// Texts that are hard to cut.
fn texts() -> Vec<(&'static str, String)> {
    vec![
        ("one long line", "x".repeat(5_000)),
        ("multi-byte characters", "ä漢😀".repeat(900)),
        ("lf", "a line of text\n".repeat(300)),
        ("crlf", "a line of text\r\n".repeat(300)),
        ("cr", "a line of text\r".repeat(300)),
        ("mixed", "aa\r\nb\nc\r".repeat(400)),
        ("no break at the end", "l\n".repeat(1_000) + "end"),
        ("empty lines", "\n".repeat(3_000)),
        ("long lines between", ("short\n".to_owned() + &"ü".repeat(2_000) + "\r\n").repeat(3)),
        ("brackets", "[Shown: lines 1-2 of 3 lines. Go on with x]\n".repeat(60)),
    ]
}

/// A page without its last line. A break stands before that line only if the text does not end in one.
fn part(page: &ToolResult) -> &str {
    let Some(truncated) = page.result["_meta"].get("file-editor/truncated") else { return &page.text };
    let end = page.text.rfind("[Shown: ").expect("a last line");
    let text = &page.text[..end];
    match text.len() as u64 > truncated["shown"].as_u64().expect("a number") {
        true => text.strip_suffix('\n').expect("a break before the last line"),
        false => text,
    }
}

/// Checks that the pages of each text give the text.
fn pages_give_the_text(of_which: impl Fn(&str) -> bool) {
    let folder = Folder::new();
    let server = serve(&folder, &[LIMIT]);
    let mut wrong = Vec::new();
    for (name, text) in texts().into_iter().filter(|(name, _)| of_which(name)) {
        folder.write(name, &text);
        let pages = pages(&server, "read_text_file", json!({ "path": name }));
        let joined: String = pages.iter().map(part).collect();
        if joined != text {
            wrong.push(format!("{name}: {} bytes of {}", joined.len(), text.len()));
        }
    }
    assert!(wrong.is_empty(), "{wrong:?}");
}

#[test]
fn the_pages_of_a_text_cut_inside_lines_give_exactly_the_text() {
    pages_give_the_text(|name| matches!(name, "one long line" | "multi-byte characters"));
}

#[test]
#[ignore = "open: the second page is a range of lines, which has LF for every break and none at the end"]
fn the_pages_of_every_text_give_exactly_the_text() {
    pages_give_the_text(|_| true);
}

#[test]
fn the_last_line_of_a_cut_page_stands_on_a_line_of_its_own() {
    let folder = Folder::new();
    let server = serve(&folder, &[LIMIT]);
    folder.write("f", "a line of text\n".repeat(300));
    for arguments in [
        json!({ "path": "f" }),
        json!({ "path": "f", "line_numbers": true }),
        json!({ "path": "f", "start_line": 2 }),
        json!({ "path": "f", "head": 200 }),
    ] {
        let page = server.tool("read_text_file", arguments.clone());
        let last = page.text.lines().last().expect("a line");
        assert!(
            last.starts_with("[Shown: ") && last.contains("Go on with read_text_file"),
            "{arguments}: {last}"
        );
    }
}

#[test]
fn the_numbered_lines_of_all_pages_are_all_lines_once() {
    let folder = Folder::new();
    let server = serve(&folder, &[LIMIT]);
    folder.write("f", (1..=300).map(|n| format!("line {n} of the text\r\n")).collect::<String>());
    for (arguments, wanted) in [
        (json!({ "path": "f", "line_numbers": true }), 1..=300),
        (json!({ "path": "f", "line_numbers": true, "start_line": 5, "end_line": 250 }), 5..=250),
    ] {
        let found = lines(&pages(&server, "read_text_file", arguments));
        let wanted: Vec<String> = wanted.map(|n| format!("{n}\tline {n} of the text")).collect();
        assert_eq!(found, wanted);
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
        for cursor in [foreign[0], foreign[1], "", "AAAA", "%%%", cut, "made up"] {
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
