//! Cursors: what they belong to, how long they are, and what they do when things change under them (contract 11).

use std::os::unix::fs::MetadataExt;

use serde_json::{Value, json};

use super::bounded::{LIMIT, lines, next_of, pages};
use super::{SET, make, put, serve};
use crate::support::{Folder, Mcp, Stdio, named};

fn dir(folder: &Folder) -> String {
    format!("--dir={}", folder.path().display())
}

#[test]
fn a_cursor_of_one_served_folder_is_not_taken_for_another_and_works_on_any_server_of_its_own() {
    let (one, other) = (Folder::new(), Folder::new());
    for folder in [&one, &other] {
        folder.write("f", "a line of text\n".repeat(200));
        (0..60).for_each(|n| put(folder, &format!("in/file-{n}"), "x"));
    }
    let path = |folder: &Folder, path: &str| named(&folder.path().join(path));
    let both = Stdio::start(&one, &[SET, LIMIT, &dir(&other)]).ready();
    // The same folder: alone, and as the second of two.
    let alone = serve(&other, &[LIMIT]);
    let turned = Stdio::start(&other, &[SET, LIMIT, &dir(&one)]).ready();
    for (tool, relative) in [
        ("read_text_file", "f"),
        ("list_directory", "in"),
        ("list_directory_with_sizes", "in"),
        ("directory_tree", "in"),
        ("search_files", "in"),
    ] {
        let mut arguments = json!({ "path": path(&other, relative) });
        if tool == "search_files" {
            arguments["pattern"] = json!("**");
        }
        let mut next = next_of(&both.tool(tool, arguments)).expect("a second page");
        let here = both.ok(tool, next.clone());
        assert_eq!(turned.ok(tool, next.clone()), here, "{tool}");
        assert_eq!(alone.ok(tool, next.clone()), here, "{tool}");
        // A relative path leads to the first folder that has it.
        for path in [path(&one, relative), relative.to_owned()] {
            next["path"] = json!(path);
            let refused = both.refused(tool, next.clone());
            assert!(
                refused.starts_with("Error: Invalid arguments: cursor: it belongs to another"),
                "{refused}"
            );
        }
        next["path"] = json!(relative);
        alone.ok(tool, next);
    }
}

#[test]
fn a_cursor_is_short_whatever_its_call_and_a_long_call_is_told_within_the_limit() {
    let folder = Folder::new();
    (0..60).for_each(|n| put(&folder, &format!("file-{n}"), "x"));
    let server = serve(&folder, &["--answer-limit=2"]);
    let patterns: Vec<String> = (0..50).map(|n| format!("{}{n}", "no-such-name".repeat(20))).collect();
    let arguments = json!({ "path": ".", "pattern": "**", "excludePatterns": patterns });
    let page = server.tool("search_files", arguments.clone());
    let next = next_of(&page).expect("a second page");
    let cursor = next["cursor"].as_str().expect("a cursor");
    assert!(cursor.len() <= 100, "{cursor}");
    assert_eq!(next["excludePatterns"], arguments["excludePatterns"]);
    let last = format!("Go on with search_files, the same arguments and {{\"cursor\":\"{cursor}\"}}]");
    assert!(page.text.len() <= 2_048 && page.text.ends_with(&last), "{}", page.text);
    let second = lines(&[server.tool("search_files", next)]);
    assert!(second[0].contains(&named(&folder.path().join("file-"))), "{}", second[0]);
}

#[test]
fn an_answer_keeps_the_limit_also_in_a_deep_folder_and_with_numbered_lines() {
    not_under_wine!("has names that Windows does not admit");
    let folder = Folder::new();
    let deep = ["folder-with-a-name"; 15].join("/");
    (0..99).for_each(|n| put(&folder, &format!("{deep}/file \"{n}\""), "\n".repeat(5_000)));
    let server = serve(&folder, &["--answer-limit=2"]);
    let file = format!("{deep}/file \"1\"");
    for (tool, arguments) in [
        ("read_text_file", json!({ "path": file })),
        ("read_text_file", json!({ "path": file, "line_numbers": true })),
        ("read_text_file", json!({ "path": file, "head": 4_000 })),
        ("read_multiple_files", json!({ "paths": [file] })),
        ("list_directory", json!({ "path": deep })),
        ("list_directory", json!({ "path": ".", "depth": 20 })),
        ("list_directory_with_sizes", json!({ "path": deep, "sortBy": "size" })),
        ("search_files", json!({ "path": ".", "pattern": "**" })),
    ] {
        let (mut next, mut calls) = (Some(arguments.clone()), 0);
        while let Some(call) = next.filter(|_| calls < 5) {
            let page = server.tool(tool, call);
            assert!(!page.is_error && page.text.len() <= 2_048, "{tool} {arguments}: {}", page.text.len());
            (next, calls) = (next_of(&page).filter(|next| next.is_object()), calls + 1);
        }
        assert!(calls > 1 || tool == "read_multiple_files", "{tool} {arguments} needs no second page");
    }
}

#[test]
fn a_cursor_into_a_changed_file_says_that_it_changed_whatever_it_holds_now() {
    let folder = Folder::new();
    folder.write("f", "ab".repeat(3_000));
    let server = serve(&folder, &[LIMIT]);
    for arguments in [
        json!({ "path": "f" }),
        json!({ "path": "f", "head": 9 }),
        json!({ "path": "f", "tail": 9 }),
        json!({ "path": "f", "start_line": 1 }),
        json!({ "path": "f", "line_numbers": true }),
    ] {
        folder.write("f", "ab".repeat(3_000));
        let next = next_of(&server.tool("read_text_file", arguments.clone())).expect("a second page");
        let changed = "[The file has changed since the cursor was made]";
        for text in ["a".to_owned() + &"ä".repeat(3_000), "ä漢😀".repeat(900), "a".into()] {
            folder.write("f", &text);
            let page = server.ok("read_text_file", next.clone());
            assert!(page.contains(changed), "{arguments}: {page}");
        }
        for bytes in [&b"\xff"[..], b"\0"] {
            folder.write("f", bytes.repeat(6_000));
            let refused = server.refused("read_text_file", next.clone());
            let told = "Error: File 'f' was changed by another program; read it again";
            assert!(refused.starts_with(told), "{arguments}: {refused}");
        }
    }
}

#[test]
fn a_change_is_told_though_the_length_is_the_same_and_the_time_of_the_last_write_is_set_back() {
    let folder = Folder::new();
    make(&folder, "sub");
    (0..60).for_each(|n| folder.write(&format!("sub/entry-with-a-long-name-{n:02}"), ""));
    folder.write("f", "a".repeat(6_000));
    // Sets the time of the last write back. Returns the time of the last change, which no program sets.
    let set_back = |name: &str| {
        let time = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000);
        let file = std::fs::File::open(folder.path().join(name)).expect("opened");
        file.set_modified(time).expect("a time set");
        let state = file.metadata().expect("a state");
        (state.ctime(), state.ctime_nsec())
    };
    let before = ["f", "sub"].map(set_back);
    let server = serve(&folder, &[LIMIT]);
    let next =
        |tool: &str, path: &str| next_of(&server.tool(tool, json!({ "path": path }))).expect("a second page");
    let calls = [("read_text_file", "f"), ("list_directory", "sub"), ("directory_tree", "sub")];
    let calls = calls.map(|(tool, path)| (tool, next(tool, path)));
    for (tool, next) in &calls {
        assert!(!server.ok(tool, next.clone()).contains("has changed"), "{tool}");
    }
    folder.write("f", "b".repeat(6_000));
    std::fs::remove_file(folder.path().join("sub/entry-with-a-long-name-59")).expect("removed");
    folder.write("sub/entry-with-a-long-name-60", "");
    // Until the clock of the file system has advanced.
    while ["f", "sub"].map(set_back).iter().zip(&before).any(|(now, before)| now == before) {}
    for (tool, next) in calls {
        let told = server.ok(tool, next);
        assert!(told.contains("has changed since the cursor was made]"), "{tool}: {told}");
    }
}

#[test]
fn a_cursor_with_line_numbers_goes_on_with_them_and_one_without_has_none() {
    let folder = Folder::new();
    folder.write("f", format!("one\n{}\nthree\nfour\n", "x".repeat(3_000)));
    let server = serve(&folder, &[LIMIT]);
    let numbered = json!({ "path": "f", "start_line": 2, "end_line": 3, "line_numbers": true });
    let all = pages(&server, "read_text_file", numbered);
    assert!(all[0].text.starts_with("2\txxx") && all[1].text.starts_with("xxx"));
    assert!(all.last().expect("a page").text.ends_with("x\n3\tthree"), "ends with what was asked");
    let mut next =
        next_of(&server.tool("read_text_file", json!({ "path": "f", "start_line": 2 }))).expect("more");
    next["line_numbers"] = json!(true);
    assert!(server.refused("read_text_file", next).starts_with("Error: Invalid arguments: cursor"));
}

#[test]
fn pages_by_size_neither_repeat_nor_lose_entries_of_one_size_nor_where_the_last_one_is_gone() {
    let folder = Folder::new();
    (0..60).for_each(|n| folder.write(&format!("file-{n:02}"), if n < 5 { "large" } else { "x" }));
    make(&folder, "folder");
    let server = serve(&folder, &[LIMIT]);
    let by_size = json!({ "path": ".", "sortBy": "size" });
    let (mut next, mut shown, mut changes) = (Some(by_size), Vec::new(), 0);
    while let Some(arguments) = next {
        let page = server.tool("list_directory_with_sizes", arguments);
        changes += usize::from(page.text.contains("has changed since the cursor was made"));
        let names = page.text.lines().filter_map(|line| line.strip_prefix("[FILE] ")?.split(' ').next());
        shown.extend(names.map(str::to_owned));
        next = next_of(&page);
        if next.is_some() {
            std::fs::remove_file(folder.path().join(shown.last().expect("an entry"))).expect("removed");
        }
    }
    let all: Vec<String> = (0..60).map(|n| format!("file-{n:02}")).collect();
    assert_eq!(shown, all);
    assert!(changes > 0, "nobody was told");
}

#[test]
fn a_size_that_changes_is_told_where_it_decides_the_order() {
    let folder = Folder::new();
    (0..60).for_each(|n| folder.write(&format!("file-{n:02}"), "x"));
    let server = serve(&folder, &[LIMIT]);
    let next = |sort: &str| -> Value {
        let page = server.tool("list_directory_with_sizes", json!({ "path": ".", "sortBy": sort }));
        next_of(&page).expect("a second page")
    };
    let (by_size, by_name) = (next("size"), next("name"));
    folder.write("file-59", "longer");
    let told = "[The folder has changed since the cursor was made]";
    assert!(server.ok("list_directory_with_sizes", by_size).contains(told));
    assert!(!server.ok("list_directory_with_sizes", by_name).contains(told));
}

#[test]
fn of_several_files_a_cut_one_goes_on_to_the_end_of_its_range() {
    let folder = Folder::new();
    folder.write("f", (1..=900).map(|n| format!("line {n}\n")).collect::<String>());
    folder.write("long", format!("{}\nnext\nno more\n", "x".repeat(5_000)));
    let server = serve(&folder, &["--answer-limit=8"]);
    let paths = json!([{ "path": "f", "start_line": 2, "end_line": 800 }, { "path": "long", "end_line": 2 }]);
    let text = server.ok("read_multiple_files", json!({ "paths": paths }));
    let calls =
        text.lines().filter_map(|line| line.split_once("Go on with read_text_file ")).map(|(_, call)| call);
    let calls: Vec<Value> =
        calls.map(|call| serde_json::from_str(call.trim_end_matches(']')).expect("JSON")).collect();
    assert_eq!((calls.len(), &calls[0]["end_line"]), (2, &json!(800)), "{text}");
    for (call, end) in calls.into_iter().zip(["line 800", "x\nnext"]) {
        let (mut next, mut last) = (Some(call), String::new());
        while let Some(call) = next {
            let page = server.tool("read_text_file", call);
            (next, last) = (next_of(&page), page.text);
        }
        assert!(last.ends_with(end), "{last}");
    }
}
