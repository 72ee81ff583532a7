//! Lists whose time is up: what was met is told as a part, and the list goes on.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{SET, next_of};
use crate::search::bounds::{slow_calls, slow_tree};
use crate::support::{Folder, Mcp, Stdio, ToolResult};

/// What an answer says that the time was up before all was met.
const UNSEEN: &str = "looked at so far; left out: all that was not met before the time was up]";

fn is_partial(page: &ToolResult) -> bool {
    page.result["_meta"]["file-editor/truncated"]["partial"] == json!(true)
}

/// The paths in a page of a list or of a tree.
fn paths(tool: &str, text: &str) -> Vec<String> {
    if tool == "directory_tree" {
        let (tree, mut paths) = (text.split("\n[").next().unwrap_or_default(), Vec::new());
        collect(&serde_json::from_str(tree).expect("JSON"), "", &mut paths);
        return paths;
    }
    let is_entry =
        |line: &&str| ["[DIR] ", "[FILE] ", "/", "name: "].iter().any(|start| line.starts_with(start));
    text.lines().filter(is_entry).map(str::to_owned).collect()
}

fn collect(tree: &Value, above: &str, paths: &mut Vec<String>) {
    for entry in tree.as_array().into_iter().flatten() {
        let path = format!("{above}{}", entry["name"].as_str().unwrap_or_default());
        collect(&entry["children"], &format!("{path}/"), paths);
        paths.push(path);
    }
}

/// All paths of the pages of a call, and how many of these were parts for lack of time.
fn follow_all(server: &Stdio, tool: &str, call: Value) -> (Vec<String>, usize) {
    let (mut next, mut all, mut partial) = (Some(call), Vec::new(), 0);
    while let Some(arguments) = next {
        let page = server.tool(tool, arguments.clone());
        assert!(!page.is_error, "{tool} {arguments}: {}", page.text);
        assert_eq!(is_partial(&page), page.text.contains(UNSEEN), "{tool}: {}", page.text);
        assert_eq!(
            is_partial(&page),
            page.text.contains("the time was up. Go on with"),
            "{tool}: {}",
            page.text
        );
        partial += usize::from(is_partial(&page));
        assert!(partial < 60, "{tool} does not go on: {arguments}");
        all.extend(paths(tool, &page.text));
        next = next_of(&page);
    }
    (all, partial)
}

#[test]
fn a_list_whose_time_was_up_says_so_and_its_pages_together_are_the_whole() {
    for (set, tool, call) in [
        (SET, "list_directory", json!({ "path": ".", "depth": 2 })),
        (SET, "search_files", json!({ "path": ".", "pattern": "**", "excludePatterns": ["folder-04"] })),
        (SET, "search_files", json!({ "path": ".", "pattern": "**/*.py" })),
        (SET, "directory_tree", json!({ "path": "." })),
        ("--tools=text", "view", json!({ "filename": "." })),
    ] {
        let Some((folder, server)) = slow_tree(set, 12, 100_000, &["--timeout=1"]) else {
            return;
        };
        let (shown, partial) = follow_all(&server, tool, call.clone());
        assert!(partial > 0, "{tool}: {partial}");
        drop(server);
        let fast = Stdio::start(&folder, &[set, "--answer-limit=0"]).ready();
        let (whole, _) = follow_all(&fast, tool, call);
        if tool == "directory_tree" {
            // Pages repeat the folders above their first entries.
            let sets = [&shown, &whole].map(|paths| paths.iter().collect::<BTreeSet<_>>());
            assert_eq!(sets[0], sets[1]);
        } else {
            assert_eq!(shown, whole, "{tool}");
        }
    }
}

#[test]
fn a_list_that_came_to_nothing_in_its_time_says_how_to_narrow_the_call() {
    // The folder itself is read within the time, but too little of it is left for its folders.
    let Some((_folder, server)) = slow_tree(SET, 2, 460_000, &["--timeout=1"]) else { return };
    for (tool, call) in [
        ("list_directory", json!({ "path": ".", "depth": 2 })),
        ("search_files", json!({ "path": ".", "pattern": "**" })),
        ("directory_tree", json!({ "path": "." })),
    ] {
        let page = server.tool(tool, call.clone());
        assert!(!page.is_error && is_partial(&page), "{tool}: {}", page.text);
        assert!(page.text.contains("pass the path of a folder further down"), "{tool}: {}", page.text);
        // The same call would come to nothing again.
        let next = &page.result["_meta"]["file-editor/truncated"]["next"];
        assert!(next.is_null() && !page.text.contains("Go on with"), "{tool}: {}", page.text);
    }
}

#[test]
fn sizes_that_were_not_asked_for_in_time_are_said_to_be_missing_in_the_sums() {
    let folder = Folder::new();
    (0..900).for_each(|n| folder.write(&format!("f{n:03}"), "x"));
    let injected = "statx,newfstatat:delay_enter=60000";
    let Some(server) = slow_calls(&folder, injected, &[SET, "--timeout=1"]) else { return };
    for sort in ["name", "size"] {
        let page = server.tool("list_directory_with_sizes", json!({ "path": ".", "sortBy": sort }));
        assert!(!page.is_error && is_partial(&page), "{}", page.text);
        let entries = paths("", &page.text).len();
        assert!(
            entries > 0 && page.text.contains(&format!("Total: {entries} files, 0 directories")),
            "{}",
            page.text
        );
        assert!(
            page.text.contains(UNSEEN) && page.text.contains("[The sums are of these entries; "),
            "{}",
            page.text
        );
        assert!(
            page.text.contains("the time was up. Go on with list_directory {\"path\":\".\"}]"),
            "{}",
            page.text
        );
        assert!(!page.text.contains("has changed"), "{}", page.text);
    }
    drop(server);
    // A page that is also full cannot go on, either.
    let flags = [SET, "--timeout=1", "--answer-limit=1"];
    let Some(server) = slow_calls(&folder, injected, &flags) else { return };
    let page = server.tool("list_directory_with_sizes", json!({ "path": ".", "sortBy": "size" }));
    assert_eq!(next_of(&page), Some(json!({ "path": "." })), "{}", page.text);
}

#[test]
fn a_list_of_files_of_a_tree_goes_on_where_its_time_was_up() {
    let flags = ["--timeout=1", "--names=paths", "--structured"];
    let Some((_folder, server)) = slow_tree("--tools=lines", 12, 100_000, &flags) else { return };
    let (mut next, mut files, mut partial) = (Some(json!({})), Vec::new(), 0);
    while let Some(arguments) = next {
        let page = server.tool("list_files", arguments.clone());
        let data = &page.result["structuredContent"];
        assert!(!page.is_error, "{arguments}: {}", page.text);
        let is_partial = page.text.contains("\nNot shown: all that was not met before the time was up");
        assert_eq!(data["partial"] == json!(true), is_partial, "{data}");
        assert_eq!(page.text.contains("There may be more files. Go on with"), is_partial, "{}", page.text);
        partial += usize::from(is_partial);
        assert!(partial < 60, "the list does not go on: {arguments}");
        let name = |file: &Value| file["name"].as_str().expect("a name").to_owned();
        files.extend(data["files"].as_array().expect("files").iter().map(name));
        next = data.get("next").cloned();
    }
    assert!(partial > 0, "{partial}");
    let all = (0..12).flat_map(|n| [format!("folder-{n:02}.txt"), format!("folder-{n:02}/f.py")]);
    assert_eq!(files, all.collect::<Vec<_>>());
    let resources = server.rpc("resources/list", json!({}));
    assert!(
        resources["error"]["message"].as_str().is_some_and(|text| text.contains("timed out")),
        "{resources}"
    );
}

#[test]
fn a_list_of_files_of_one_folder_goes_on_where_its_time_was_up() {
    let folder = Folder::new();
    (0..2_000).for_each(|n| folder.write(&format!("f{n:04}"), "x"));
    let flags = ["--tools=lines", "--timeout=1", "--structured"];
    let injected = "statx,newfstatat:delay_enter=60000";
    let Some(server) = slow_calls(&folder, injected, &flags) else { return };
    let (mut next, mut files, mut partial) = (Some(json!({})), Vec::new(), 0);
    while let Some(arguments) = next {
        assert!(partial < 60, "the list does not go on: {arguments}");
        let page = server.tool("list_files", arguments.clone());
        let data = &page.result["structuredContent"];
        assert!(!page.is_error, "{arguments}: {}", page.text);
        let is_partial = page.text.contains("\nNot shown: all that was not met before the time was up");
        assert_eq!(data["partial"] == json!(true), is_partial, "{data}");
        partial += usize::from(is_partial);
        let name = |file: &Value| file["name"].as_str().expect("a name").to_owned();
        files.extend(data["files"].as_array().expect("files").iter().map(name));
        next = data.get("next").cloned();
    }
    assert!(partial > 0);
    assert_eq!(files, (0..2_000).map(|n| format!("f{n:04}")).collect::<Vec<_>>());
}

#[test]
fn a_folder_whose_names_alone_take_longer_than_the_time_is_answered_as_a_part_that_came_to_nothing() {
    let folder = Folder::new();
    // The names of one call of the system are at most 32 KB.
    (0..2_000).for_each(|n| folder.write(&format!("{n:0200}"), ""));
    let flags = ["--tools=filesystem,search,text.view", "--timeout=1"];
    let Some(server) = slow_calls(&folder, "getdents64:delay_enter=150000", &flags) else { return };
    for (tool, call) in [
        ("list_directory", json!({ "path": "." })),
        ("list_directory_with_sizes", json!({ "path": "." })),
        ("search_files", json!({ "path": ".", "pattern": "**" })),
        ("directory_tree", json!({ "path": "." })),
        ("view", json!({ "filename": "." })),
        ("glob", json!({ "pattern": "**", "sort": "path" })),
        ("grep", json!({ "pattern": "x", "output_mode": "content" })),
    ] {
        let page = server.tool(tool, call);
        assert!(!page.is_error && is_partial(&page), "{tool}: {}", page.text);
        assert!(page.text.contains("the time was up"), "{tool}: {}", page.text);
        let is_list = matches!(tool, "list_directory" | "view");
        assert!(!is_list || page.text.starts_with("[No entry could be looked at"), "{tool}: {}", page.text);
    }
    drop(server);
    let flags = ["--tools=lines", "--timeout=1", "--names=any"];
    let Some(server) = slow_calls(&folder, "getdents64:delay_enter=150000", &flags) else { return };
    let page = server.tool("list_files", json!({}));
    assert!(!page.is_error && page.text.contains("[No file could be looked at in the time"), "{}", page.text);
}
