//! Answers in pages: by the answer limit and by `limit`.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use serde_json::{Value, json};

use super::{balance, paths, serve, touch};
use crate::support::{Folder, Mcp};
use crate::trees::{follow, next_of, put};

const LIMIT: &str = "--answer-limit=1";
const SORTS: [&str; 3] = ["modified", "path", "size"];
const CHANGED: &str = "[The files have changed since the cursor was made]";

/// Some 150 files of few sizes and times, in folders between and beside them.
fn fill(folder: &Folder) {
    for n in 0..50 {
        for (path, len) in [
            (format!("f{n:02}.txt"), 0),
            (format!("f{n:02}/ä漢 😀/deep.txt"), n % 3),
            (format!("z-{n:02}"), 1),
        ] {
            put(folder, &path, "x".repeat(len));
            folder.set_modified(&path, 1_000 + n as u64 % 7);
        }
    }
}

#[test]
fn the_pages_of_a_list_give_the_whole_list_in_every_order() {
    let folder = Folder::new();
    fill(&folder);
    let (limited, whole) = (serve(&folder, &[LIMIT]), serve(&folder, &["--answer-limit=0"]));
    for sort in SORTS {
        let arguments = json!({ "pattern": "**", "sort": sort });
        let text = whole.ok("glob", arguments.clone());
        let all = paths(&text);
        assert_eq!(all.len(), 150);
        let pages = follow(&limited, "glob", arguments.clone());
        assert!(pages.len() > 3, "{sort}");
        assert_eq!(pages.iter().flat_map(|page| paths(&page.text)).collect::<Vec<_>>(), all, "{sort}");
        assert!(pages.iter().all(|page| !page.text.contains(CHANGED)), "{sort}");
        let by_seven = json!({ "pattern": "**", "sort": sort, "limit": 7 });
        let pages = follow(&limited, "glob", by_seven);
        assert!(pages.iter().all(|page| paths(&page.text).len() <= 7));
        assert_eq!(pages.iter().flat_map(|page| paths(&page.text)).collect::<Vec<_>>(), all, "{sort}");
    }
}

#[test]
fn a_page_by_path_counts_what_lies_behind_its_cursor() {
    let folder = Folder::new();
    touch(&folder, &["a.log", "a/b.log", "a/c", "a/d.log", "a/e", "x.log", "y"]);
    put(&folder, ".gitignore", "*.log\n");
    let server = serve(&folder, &[]);
    let pages = follow(&server, "glob", json!({ "pattern": "*", "sort": "path", "limit": 1 }));
    let balances: Vec<&str> = pages.iter().map(|page| balance(&page.text)).collect();
    let expected = [
        "[3 files seen, 3 match; left out: 4 ignored files, 1 hidden file]",
        "[behind the cursor 2 files seen, 2 match; left out: 2 ignored files]",
        "[behind the cursor 1 file seen, 1 match; left out: 1 ignored file]",
    ];
    assert_eq!(balances, expected);
}

#[test]
fn a_limit_shows_the_first_of_all_and_says_of_how_many() {
    let folder = Folder::new();
    fill(&folder);
    folder.set_modified("z-07", 5_000);
    let server = serve(&folder, &[]);
    let page = server.tool("glob", json!({ "pattern": "*", "limit": 1 }));
    assert!(page.text.starts_with(
        "z-07\n[150 files seen, 150 match; nothing left out]\n[Shown: 1 of 150 files. Go on with glob {"
    ));
    let next = next_of(&page).expect("more");
    assert_eq!((&next["pattern"], &next["limit"], next.get("sort")), (&json!("*"), &json!(1), None));
    assert!(next_of(&server.tool("glob", json!({ "pattern": "*", "limit": 150 }))).is_none());
}

#[test]
fn a_cursor_works_on_another_server_and_tells_a_change_in_between() {
    for sort in SORTS {
        let folder = Folder::new();
        fill(&folder);
        let arguments = json!({ "pattern": "**", "sort": sort, "include_ignored": true });
        let next = next_of(&serve(&folder, &[LIMIT]).tool("glob", arguments)).expect("more");
        let other = serve(&folder, &[LIMIT]);
        let here = other.ok("glob", next.clone());
        assert!(!here.contains(CHANGED) && !here.contains("No more"), "{sort}: {here}");
        // By path the folder of the last path counts, in the other orders every file.
        let last = paths(&other.ok("glob", json!({ "pattern": "**", "sort": "path" })))
            .last()
            .map(|path| (*path).to_owned());
        let folder_of_last = last
            .as_deref()
            .and_then(|path| path.rsplit_once('/'))
            .map_or("", |(folder, _)| folder)
            .to_owned();
        let new = if folder_of_last.is_empty() { "new".to_owned() } else { format!("{folder_of_last}/new") };
        put(&folder, &new, "x");
        assert!(other.ok("glob", next).contains(CHANGED), "{sort}");
    }
}

#[test]
fn cursors_of_other_calls_are_errors_never_a_first_page() {
    let folder = Folder::new();
    fill(&folder);
    let server = serve(&folder, &[LIMIT]);
    let cursor = |arguments: Value| next_of(&server.tool("glob", arguments)).expect("more")["cursor"].clone();
    let one = cursor(json!({ "pattern": "**" }));
    for other in [
        json!({ "pattern": "*" }),
        json!({ "pattern": "**", "sort": "path" }),
        json!({ "pattern": "**", "path": "f01" }),
        json!({ "pattern": "**", "include_hidden": true }),
        json!({ "pattern": "**", "include_ignored": true }),
    ] {
        let mut call = other.clone();
        call["cursor"] = one.clone();
        let refused = server.refused("glob", call);
        assert!(refused.starts_with("Error: Invalid arguments: cursor"), "{other}: {refused}");
    }
    // How many are shown is no matter of the cursor.
    server.ok("glob", json!({ "pattern": "**", "limit": 3, "cursor": one }));
}

#[test]
fn files_that_change_between_pages_are_neither_lost_nor_repeated_where_their_place_stays() {
    let folder = Folder::new();
    fill(&folder);
    let server = serve(&folder, &[LIMIT]);
    let (mut next, mut shown) = (Some(json!({ "pattern": "z-*", "sort": "size" })), Vec::new());
    while let Some(arguments) = next {
        let page = server.tool("glob", arguments);
        shown.extend(paths(&page.text).into_iter().map(str::to_owned));
        next = next_of(&page);
        if next.is_some() {
            std::fs::remove_file(folder.path().join(shown.last().expect("a path"))).expect("removed");
        }
    }
    assert_eq!(shown, (0..50).map(|n| format!("z-{n:02}")).collect::<Vec<_>>());
}

#[test]
fn paths_that_are_no_utf8_or_longer_than_a_page_go_on_too() {
    not_under_wine!("has names of bytes that are no text");
    let folder = Folder::new();
    for n in 0..40u8 {
        std::fs::write(
            folder.path().join(OsStr::from_bytes(
                &[b"\xff-a-long-name-", &[b'a' + n % 20; 40][..], &[n + 0x80]].concat(),
            )),
            "",
        )
        .expect("a file");
    }
    let long = vec!["n".repeat(250); 6].join("/");
    touch(&folder, &[&format!("{long}/end"), "zz"]);
    let server = serve(&folder, &[LIMIT]);
    for sort in SORTS {
        let (mut next, mut shown) = (Some(json!({ "pattern": "**", "sort": sort })), Vec::new());
        while let Some(arguments) = next {
            let page = server.tool("glob", arguments);
            assert!(!page.is_error, "{}", page.text);
            shown.extend(paths(&page.text).into_iter().map(str::to_owned));
            next = next_of(&page);
        }
        let count = shown.len();
        shown.sort();
        shown.dedup();
        assert_eq!((count, shown.len()), (42, 42), "{sort}");
    }
}

#[test]
fn with_several_folders_pages_go_through_all_of_them() {
    let (one, other) = (Folder::new(), Folder::new());
    fill(&one);
    fill(&other);
    let flag = format!("--dir={}", other.path().display());
    let server = serve(&one, &["--answer-limit=2", &flag]);
    for sort in SORTS {
        let (mut next, mut shown) = (Some(json!({ "pattern": "**", "sort": sort })), Vec::new());
        while let Some(arguments) = next {
            let page = server.tool("glob", arguments);
            shown.extend(paths(&page.text).into_iter().map(str::to_owned));
            next = next_of(&page);
        }
        let count = shown.len();
        shown.sort();
        shown.dedup();
        assert_eq!((count, shown.len()), (300, 300), "{sort}");
    }
}
