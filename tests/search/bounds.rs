//! Hostile patterns, calls whose time is up, and cancelled calls.

use std::time::Duration;

use serde_json::json;

use super::{SET, SLOW, ab_letters, balance, has_thread, paths, serve, touch};
use crate::support::{
    Folder, MB, Mcp, Stdio, cancelled, command, memory_taken, mostly_within, ping, request, until,
    with_injected,
};
use crate::trees::{next_of, put};

/// What an answer says that came to nothing in its time.
const NO_PROGRESS: &str = "[No entry could be looked at in the time.";

#[test]
fn no_pattern_takes_long_or_ends_the_server() {
    let folder = Folder::new();
    let deep = vec!["aaaaaaaaaaaaaaaaaaaaaaaaaaaa"; 30].join("/");
    touch(&folder, &[&format!("{deep}/b"), "x"]);
    let server = serve(&folder, &["--timeout=60"]);
    for pattern in [
        "a*".repeat(1_000) + "c",
        "**/".repeat(1_000) + "c",
        "*".repeat(100_000),
        "{a,b}".repeat(60),
        "{a,".repeat(5_000),
        "[".repeat(10_000),
        "+(a|+(a))".repeat(200),
        "{1..1000000}{1..1000000}".into(),
        "\\".repeat(9_999),
        "!".repeat(9_999) + "a",
        "a/".repeat(2_000) + "*",
        "\0".into(),
        "./".repeat(5_000) + "x",
        "$".to_owned() + &"()".repeat(50_000),
    ] {
        let result = server.tool("glob", json!({ "pattern": pattern, "limit": 1 }));
        assert!(result.text.len() < 200_000, "{} bytes", result.text.len());
    }
    assert_eq!(paths(&server.ok("glob", json!({ "pattern": "x" }))), ["x"]);
}

/// A tree of so many folders and a file beside each, under a server of this set whose system calls for reading a folder, two for each,
/// take this many microseconds.
pub(crate) fn slow_tree(set: &str, folders: usize, delay: u32, flags: &[&str]) -> Option<(Folder, Stdio)> {
    let folder = Folder::new();
    for n in 0..folders {
        put(&folder, &format!("folder-{n:02}/f.py"), "def f():\n    pass\n");
        put(&folder, &format!("folder-{n:02}.txt"), "");
    }
    let server = slow_calls(&folder, &format!("getdents64:delay_enter={delay}"), &[&[set], flags].concat())?;
    Some((folder, server))
}

/// A server whose system calls are tampered with. It makes them each time: what it knew of a folder, it would not ask again.
pub(crate) fn slow_calls(folder: &Folder, injected: &str, flags: &[&str]) -> Option<Stdio> {
    let command = command(folder, "stdio", &[flags, &["--live=off"]].concat());
    Some(Stdio::run(with_injected(&command, injected)?).ready())
}

pub(super) fn slow(delay: u32, flags: &[&str]) -> Option<(Folder, Stdio)> {
    slow_tree(SET, 98, delay, flags)
}

#[test]
fn when_the_time_is_up_what_was_found_is_answered_as_a_part_and_the_list_by_path_goes_on() {
    not_under_wine!("has a limit of time that such a program does not keep");
    let Some((_folder, server)) = slow_tree(SET, 16, 100_000, &["--timeout=1"]) else { return };
    let (mut next, mut shown, mut partial) =
        (Some(json!({ "pattern": "**", "sort": "path" })), Vec::new(), 0);
    while let Some(arguments) = next {
        assert!(partial < 40, "the list does not go on: {arguments}");
        let page = server.tool("glob", arguments);
        assert!(!page.is_error, "{}", page.text);
        shown.extend(paths(&page.text).into_iter().map(str::to_owned));
        let is_partial = page.result["_meta"]["file-editor/truncated"]["partial"] == json!(true);
        assert_eq!(is_partial, balance(&page.text).contains("before the time was up"), "{}", page.text);
        assert_eq!(is_partial, page.text.contains("of at least"), "{}", page.text);
        partial += usize::from(is_partial);
        next = page.result["_meta"]["file-editor/truncated"].get("next").cloned();
    }
    assert!(partial > 0);
    let all = (0..16).flat_map(|n| [format!("folder-{n:02}.txt"), format!("folder-{n:02}/f.py")]);
    assert_eq!(shown, all.collect::<Vec<_>>());
    let newest = server.tool("glob", json!({ "pattern": "**" }));
    let next = &newest.result["_meta"]["file-editor/truncated"]["next"];
    assert_eq!(next, &json!({ "pattern": "**", "sort": "path" }), "{}", newest.text);
    let none = server.tool("glob", json!({ "pattern": "*.zzz" })).text;
    assert!(none.contains("0 match before the time was up") && !none.contains(NO_PROGRESS), "{none}");
}

#[test]
fn a_list_by_path_whose_time_was_up_before_the_second_folder_goes_on_behind_the_first() {
    let (one, other) = (Folder::new(), Folder::new());
    touch(&one, &["f"]);
    touch(&other, &["f"]);
    let second = format!("--dir={}", other.path().display());
    let flags = [SET, "--timeout=2", &second];
    let Some(server) = slow_calls(&one, "getdents64:delay_enter=600000", &flags) else { return };
    let page = server.tool("glob", json!({ "pattern": "*.zzz", "sort": "path" }));
    assert!(page.text.contains("1 file seen, 0 match before the time was up"), "{}", page.text);
    assert!(!page.text.contains(NO_PROGRESS), "{}", page.text);
    let next = next_of(&page).expect("a call that goes on");
    assert!(next["cursor"].is_string(), "{next}");
    let page = server.tool("glob", next);
    assert!(page.text.contains("behind the cursor 0 files seen"), "{}", page.text);
    assert!(page.text.contains(NO_PROGRESS), "{}", page.text);
}

#[test]
fn a_cancelled_search_ends_within_50_ms() {
    not_under_wine!("has a limit of time that such a program does not keep");
    mostly_within(Duration::from_millis(50), || {
        let Some((_folder, server)) = slow(5_000, &["--max-in-flight=1"]) else { return Duration::ZERO };
        server.send(&request(7, "tools/call", json!({ "name": "glob", "arguments": { "pattern": "**" } })));
        let start = std::time::Instant::now();
        server.send(&cancelled(7));
        server.send(&ping("next"));
        assert_eq!(server.recv()["id"], "next");
        start.elapsed()
    });
}

#[test]
fn a_search_for_matches_that_span_lines_takes_no_copy_of_a_large_file() {
    let folder = Folder::new();
    let text = "some words of a line\n".repeat(30 * MB / 21) + "needle\nend\n";
    folder.write("f", &text);
    let server = serve(&folder, &["--filter-cache=0", "--max-file=100"]);
    let call = json!({ "pattern": r"needle\nend", "multiline": true, "output_mode": "content" });
    let taken =
        memory_taken(server.pid(), text.len(), || assert!(server.ok("grep", call).contains(":needle\n")));
    assert!(taken <= 4 * MB, "{taken} bytes");
}

#[test]
fn one_wrong_byte_hides_no_file_of_any_size_from_a_search_for_ascii() {
    let folder = Folder::new();
    let text =
        [&b"NEEDLE\nend\n"[..], &b"some words of a long line\n".repeat(66 * MB / 26), b"caf\xe9\n"].concat();
    folder.write("f", text);
    let server = serve(&folder, &["--max-file=100"]);
    for call in [
        json!({ "pattern": "NEEDLE", "output_mode": "content" }),
        json!({ "pattern": r"NEEDLE\nend", "multiline": true, "output_mode": "content" }),
    ] {
        let text = server.ok("grep", call.clone());
        assert!(text.contains("\n1:NEEDLE\n"), "{call}: {text}");
        let told =
            "1 file over 64 MB and not in UTF-8 searched as UTF-8: of other characters, only ASCII is found";
        assert!(text.contains(told), "{call}: {text}");
    }
    // That proves no absence of other characters.
    for multiline in [false, true] {
        let text = server.ok("grep", json!({ "pattern": "\u{e9}", "multiline": multiline }));
        let told = "1 file without a match that may have another encoding than the likely one (pass encoding to name it)]";
        assert!(text.contains(told), "{text}");
    }
}

/// One line of 32 MB that does not match.
fn long_line() -> Folder {
    let folder = Folder::new();
    folder.write("long", ab_letters(32 << 20));
    folder
}

#[test]
fn a_search_in_one_long_line_ends_when_its_time_is_up_and_says_that_it_has_no_result() {
    not_under_wine!("has a limit of time that such a program does not keep");
    let folder = long_line();
    let server = serve(&folder, &["--timeout=1", "--max-file=100"]);
    for multiline in [false, true] {
        let arguments = json!({ "pattern": SLOW, "output_mode": "content", "multiline": multiline });
        let text = server.ok("grep", arguments);
        assert!(text.contains("0 files searched so far"), "{text}");
        assert!(text.contains("[No file could be searched in the time. "), "{text}");
    }
}

#[test]
fn a_cancelled_search_in_one_long_line_ends_within_50_ms() {
    let folder = long_line();
    for multiline in [false, true] {
        mostly_within(Duration::from_millis(50), || {
            let server = serve(&folder, &["--max-in-flight=1", "--max-file=100"]);
            let arguments = json!({ "pattern": SLOW, "multiline": multiline });
            server.send(&request(7, "tools/call", json!({ "name": "grep", "arguments": arguments })));
            until("threads search", || has_thread(server.pid(), "search"));
            let start = std::time::Instant::now();
            server.send(&cancelled(7));
            server.send(&ping("next"));
            assert_eq!(server.recv()["id"], "next");
            until("no thread searches", || !has_thread(server.pid(), "search"));
            start.elapsed()
        });
    }
}

#[test]
fn a_long_list_holds_no_more_than_an_answer_shows() {
    let folder = Folder::new();
    (0..3_000).for_each(|n| put(&folder, &format!("d{}/file-with-a-long-name-{n:05}", n % 10), ""));
    let server = serve(&folder, &[]);
    let page = server.tool("glob", json!({ "pattern": "**" }));
    assert!(page.text.len() <= 60 << 10, "{}", page.text.len());
    assert_eq!(page.result["_meta"]["file-editor/truncated"]["of"], 3_000);
    assert!(next_of(&page).is_some());
}
