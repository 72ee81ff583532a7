//! What an answer says if the time was up before all files were searched.

use serde_json::{Value, json};

use super::{SLOW, ab_letters, serve};
use crate::support::{Folder, Mcp, ToolResult};
use crate::trees::next_of;

const FILES: usize = 512;

/// A match in the first file, then files in which a search takes long.
fn corpus() -> Folder {
    let folder = Folder::new();
    folder.write("a", "needle\n");
    folder.write("b000", ab_letters(1 << 20));
    let link = |n| std::fs::hard_link(folder.path().join("b000"), folder.path().join(format!("b{n:03}")));
    (1..FILES - 1).for_each(|n| link(n).expect("a link"));
    folder
}

/// The number before these words, or 0.
fn number(text: &str, words: &[&str]) -> usize {
    let before = words.iter().find_map(|word| text.split_once(word)).map_or("", |(before, _)| before);
    let digits = before.rsplit(|char: char| !char.is_ascii_digit()).next();
    digits.and_then(|digits| digits.parse().ok()).unwrap_or(0)
}

/// The numbers of files that an answer says were searched whole, begun, and not searched.
fn counts(page: &ToolResult) -> [usize; 3] {
    let line = page.text.lines().find(|line| line.contains(" searched so far")).unwrap_or(&page.text);
    let line = &line.replace("the rest of 1 file searched", "");
    [
        number(
            line,
            &[
                " file searched so far",
                " files searched so far",
                " file and the rest of 1",
                " files and the rest of 1",
            ],
        ),
        number(line, &[" file not searched to its end"]),
        number(line, &[" file not searched for lack of time", " files not searched for lack of time"]),
    ]
}

#[test]
fn every_answer_whose_time_was_up_counts_the_files_that_were_not_searched() {
    let folder = corpus();
    let server = serve(&folder, &["--timeout=1", "--filter-cache=0"]);
    let pattern = format!("needle|{SLOW}");
    for output_mode in ["content", "files_with_matches", "count"] {
        for sort in ["path", "modified"] {
            let call = json!({ "pattern": pattern, "output_mode": output_mode, "sort": sort });
            let page = server.tool("grep", call.clone());
            assert!(!page.is_error, "{call}: {}", page.text);
            assert!(page.text.contains("a\n1:needle") || page.text.contains("a: 1"), "{call}: {}", page.text);
            let [searched, _, not_searched] = counts(&page);
            // What the walk did not meet in time has no number.
            let all_met = !page.text.contains("all that was not met");
            let all = searched + not_searched;
            assert!(
                not_searched > 0 && if all_met { all == FILES } else { all < FILES },
                "{call}: {}",
                page.text
            );
            assert!(!page.text.contains("nothing left out"), "{call}: {}", page.text);
            if sort == "modified" {
                continue;
            }
            let next = next_of(&page).expect("more");
            let page = server.tool("grep", next.clone());
            assert!(!page.is_error, "{next}: {}", page.text);
            let [further, begun, rest] = counts(&page);
            let all_met = !page.text.contains("all that was not met");
            let all = searched + further + rest + begun;
            assert!(rest > 0 && (all >= FILES || !all_met), "{next}: {}", page.text);
            assert!(searched + further + rest <= FILES + 1, "{next}: {}", page.text);
        }
    }
}

/// Lines of 180 KB each, on which every byte takes long for a pattern with many states.
fn heavy() -> Folder {
    let folder = Folder::new();
    let line = "\u{e9}\u{65e5}\u{1f642}".repeat(20_000);
    (0..8).for_each(|n| folder.write(&format!("f{n}"), &line));
    folder
}

#[test]
fn a_pattern_with_many_states_does_not_lose_the_partial_answer() {
    let folder = heavy();
    for flags in [&["--timeout=1"][..], &["--timeout=1", "--answer-limit=0", "--filter-cache=0"]] {
        let server = serve(&folder, flags);
        for pattern in [r".{1000}[^\u{e9}\u{65e5}\u{1f642}]", r"\w{70}\d", ".{1000}z"] {
            for arguments in [
                json!({ "pattern": pattern }),
                json!({ "pattern": pattern, "output_mode": "content", "sort": "modified" }),
                json!({ "pattern": pattern, "output_mode": "content", "multiline": true }),
                json!({ "pattern": pattern, "output_mode": "count", "path": "f0" }),
            ] {
                let page = server.tool("grep", arguments.clone());
                assert!(!page.is_error, "{arguments}: {}", page.text);
                let is_late = page.text.contains("the time was up");
                assert_eq!(is_late, page.text.contains("for lack of time"), "{arguments}: {}", page.text);
            }
        }
    }
}

#[test]
fn a_match_of_a_file_that_takes_longer_than_the_time_is_told() {
    not_under_wine!("has a limit of time that such a program does not keep");
    let folder = Folder::new();
    // Its first part takes a moment, the others many seconds of every processor.
    let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let letters = ab_letters(1 << 20);
    let lines = letters.as_bytes().chunks(1_000).map(|line| String::from_utf8_lossy(line) + "\n");
    let slow = lines.collect::<String>().repeat(16 * processors);
    folder.write("f", ["needle1\n", &"x\n".repeat(300_000), &slow].concat());
    let server = serve(&folder, &["--timeout=2", "--filter-cache=0"]);
    for more in [json!({}), json!({ "-C": 1 }), json!({ "sort": "modified" })] {
        let mut call = json!({ "pattern": format!("{SLOW}|needle\\d"), "output_mode": "content", "-o": true, "-n": false });
        call.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let page = server.tool("grep", call.clone());
        assert!(page.text.starts_with("f\nneedle1\n"), "{call}: {}", page.text);
        assert!(
            page.text.contains("1 file not searched to its end for lack of time"),
            "{call}: {}",
            page.text
        );
        let next = next_of(&page).expect("more");
        assert!(next != call && !page.text.contains("nothing left out"), "{call}: {}", page.text);
    }
}

#[test]
fn a_search_for_matches_that_span_lines_goes_on_in_a_file_that_takes_longer_than_the_time() {
    not_under_wine!("has a limit of time that such a program does not keep");
    let folder = Folder::new();
    let line = ab_letters(1_000) + "\n";
    folder.write("f", ["one\nneedle\n", &line.repeat(60_000), "one\nneedle\n"].concat());
    let server = serve(&folder, &["--timeout=1", "--filter-cache=0"]);
    let (mut next, mut found, mut pages) = (
        Some(
            json!({ "pattern": format!("{SLOW}|one\\nneedle"), "output_mode": "content", "multiline": true }),
        ),
        0,
        0,
    );
    while let Some(call) = next {
        let page = server.tool("grep", call.clone());
        assert!(!page.is_error, "{}", page.text);
        found += page.text.matches(":needle").count();
        next = next_of(&page);
        assert!(next.as_ref() != Some(&call) && pages < 60, "{}", page.text);
        pages += 1;
    }
    assert_eq!(found, 2, "{pages} pages");
}

#[test]
fn a_list_of_files_whose_time_was_up_does_not_say_that_nothing_is_left_out() {
    let Some((_folder, server)) = super::bounds::slow(100_000, &["--timeout=1"]) else { return };
    let text = server.ok("glob", json!({ "pattern": "**" }));
    assert!(text.contains("left out: all that was not met before the time was up"), "{text}");
    let next: Value = json!({ "pattern": "f" });
    let text = server.ok("grep", next);
    assert!(text.contains("all that was not met before the time was up"), "{text}");
}

#[test]
fn matches_found_before_the_time_was_up_are_told_and_each_page_goes_on() {
    not_under_wine!("has a limit of time that such a program does not keep");
    let folder = Folder::new();
    let line = ab_letters(1_000) + "\n";
    folder.write("f", format!("needle1\n{}needle2\n", line.repeat(24_000)));
    let server = serve(&folder, &["--timeout=3", "--filter-cache=0"]);
    for more in [json!({}), json!({ "-C": 1 }), json!({ "sort": "modified" })] {
        let mut call = json!({ "pattern": format!("{SLOW}|needle\\d"), "output_mode": "content", "-o": true, "-n": false });
        call.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let page = server.tool("grep", call.clone());
        assert!(page.text.starts_with("f\n") && page.text.contains("\nneedle1\n"), "{call}: {}", page.text);
        for page in [&page, &server.tool("grep", next_of(&page).unwrap_or(call.clone()))] {
            let is_late = page.text.contains(" searched so far");
            assert!(!(is_late && page.text.contains("nothing left out")), "{call}: {}", page.text);
            let again = next_of(page);
            assert!(!is_late || again.is_some_and(|next| next != call), "{call}: {}", page.text);
            call = next_of(page).unwrap_or(call);
        }
    }
}

#[test]
fn a_file_that_takes_all_of_the_time_is_skipped_by_name_and_those_behind_it_are_searched() {
    not_under_wine!("has a limit of time that such a program does not keep");
    let folder = Folder::new();
    folder.write("a", "needle\n");
    folder.write("b", ab_letters(32 << 20));
    folder.write("c", "needle\n");
    let server = serve(&folder, &["--timeout=1", "--filter-cache=0", "--max-file=100"]);
    for output_mode in ["content", "count"] {
        let call = json!({ "pattern": format!("{SLOW}|needle"), "output_mode": output_mode, "sort": "path" });
        let (mut next, mut texts) = (Some(call), Vec::new());
        while let Some(call) = next {
            let page = server.tool("grep", call.clone());
            assert!(!page.is_error && texts.len() < 8, "{call}: {texts:#?}");
            next = next_of(&page).filter(|next| !next.is_null());
            assert!(next.as_ref() != Some(&call), "{call}: {}", page.text);
            texts.push(page.text);
        }
        let all = texts.concat();
        assert!(all.contains("[b took all of the time and is skipped"), "{all}");
        let found = if output_mode == "content" { ["a\n1:needle", "c\n1:needle"] } else { ["a: 1", "c: 1"] };
        assert!(found.iter().all(|found| all.contains(found)), "{all}");
    }
    // Nothing comes behind it: no call goes on.
    for path in [json!({ "path": "b" }), json!({ "glob": "b" })] {
        let mut call = json!({ "pattern": SLOW, "output_mode": "content" });
        call.as_object_mut().unwrap().extend(path.as_object().unwrap().clone());
        let page = server.tool("grep", call.clone());
        assert!(page.text.contains("The same call may end in the same way at b: search"), "{}", page.text);
        assert_eq!(next_of(&page), Some(Value::Null), "{}", page.text);
    }
}
