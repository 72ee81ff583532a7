//! The balances of the pages of `grep`, and what a page says of the file in which it begins.

use serde_json::{Value, json};

use super::{SLOW, ab_letters, serve};
use crate::support::{Folder, Mcp, Stdio, ToolResult};
use crate::trees::{next_of, put};

const CHANGED: &str = "[The file has changed since the cursor was made, or is gone]";

/// The answers of a call and of those that it says go on.
fn follow(server: &Stdio, arguments: Value) -> Vec<ToolResult> {
    let (mut pages, mut next) = (Vec::new(), Some(arguments));
    while let Some(arguments) = next {
        let page = server.tool("grep", arguments);
        assert!(!page.is_error && pages.len() < 200, "{}", page.text);
        next = next_of(&page);
        pages.push(page);
    }
    pages
}

/// The line of a page that says what was searched.
fn balance(page: &ToolResult) -> &str {
    page.text.lines().find(|line| line.contains(" searched")).unwrap_or_else(|| panic!("{}", page.text))
}

/// The sum over all pages of the number before these words.
fn sum(pages: &[ToolResult], words: &[&str]) -> u64 {
    let number = |line: &str| -> u64 {
        let line = line.replace("the rest of 1 file searched", "");
        let words = words.iter().find_map(|word| Some(line[..line.find(word)?].to_owned()));
        let digits =
            |text: &String| text.rsplit(|char: char| !char.is_ascii_digit()).next().map(str::to_owned);
        words.as_ref().and_then(digits).and_then(|digits| digits.parse().ok()).unwrap_or(0)
    };
    pages.iter().map(|page| number(balance(page))).sum()
}

/// 12 files of 10 matching lines each, and between them what a search leaves out.
fn fill(folder: &Folder) {
    put(folder, ".gitignore", "*.log\n");
    for n in 0..12 {
        put(folder, &format!("d{}/f{n:02}", n % 3), "x\ny\n".repeat(10));
        put(folder, &format!("d{}/f{n:02}.log", n % 3), "x\n");
        put(folder, &format!("d{}/f{n:02}a", n % 3), "x\0");
        folder.link(&format!("d{}/f{n:02}b", n % 3), "nothing");
    }
    put(folder, "a.log", "x\n");
    put(folder, ".hidden", "x\n");
    put(folder, "none", "y\n");
}

#[test]
fn the_numbers_of_all_pages_are_together_those_of_the_whole() {
    not_under_wine!("wine shows links of this machine as what they lead to, and opens nothing through most");
    let folder = Folder::new();
    fill(&folder);
    let server = serve(&folder, &[]);
    let whole = server.ok("grep", json!({ "pattern": "x", "output_mode": "content" }));
    let expected = "[13 files searched, 120 matching lines in 12 files; left out: 13 ignored files, 2 hidden files, \
        12 links not followed, 12 binary files]";
    assert!(whole.ends_with(expected), "{whole}");
    for most in [1, 3, 7, 10, 25, 40, 119] {
        for offset in [0, 13] {
            let call =
                json!({ "pattern": "x", "output_mode": "content", "head_limit": most, "offset": offset });
            let pages = follow(&server, call);
            assert_eq!(pages.len() > 1, most + offset < 120);
            for (words, expected) in [
                (&[" matching line"][..], 120),
                // The rest of a file is not counted again.
                (
                    &[
                        " file searched",
                        " files searched",
                        " file and the rest of 1 searched",
                        " files and the rest of 1 searched",
                    ],
                    13,
                ),
                (&[" ignored file"], 13),
                (&[" hidden file"], 2),
                (&[" link"], 12),
                (&[" binary file"], 12),
            ] {
                let found = sum(&pages, words);
                let balances: Vec<&str> = pages.iter().map(balance).collect();
                assert_eq!(found, expected, "{words:?} {most} {offset}: {balances:#?}");
            }
        }
    }
}

#[test]
fn a_page_counts_the_lines_up_to_its_end_and_the_next_one_the_rest_of_the_file() {
    let folder = Folder::new();
    ["a", "b", "c"].iter().for_each(|name| folder.write(name, "x\n".repeat(10)));
    let server = serve(&folder, &[]);
    let pages = |arguments: Value| -> Vec<String> {
        follow(&server, arguments).iter().map(|page| balance(page).to_owned()).collect()
    };
    let content = json!({ "pattern": "x", "output_mode": "content", "head_limit": 15 });
    assert_eq!(
        pages(content),
        [
            "[2 files searched so far, 15 matching lines in 2 files]",
            "[behind the cursor 1 file and the rest of 1 searched, 15 matching lines in 1 file and the rest of 1; \
             nothing left out]"
        ]
    );
    let within = json!({ "pattern": "x", "output_mode": "content", "head_limit": 5, "path": "b" });
    assert_eq!(
        pages(within),
        [
            "[1 file searched so far, 5 matching lines in 1 file]",
            "[behind the cursor the rest of 1 file searched, 5 matching lines in the rest of 1 file; nothing left out]"
        ]
    );
    let first = server.tool("grep", json!({ "pattern": "x", "output_mode": "content", "head_limit": 4 }));
    let truncated = &first.result["_meta"]["file-editor/truncated"];
    assert_eq!(
        (&truncated["shown"], &truncated["of"]),
        (&json!(4), &json!(10)),
        "those of a file that was searched"
    );
    // By time, each answer needs all files.
    let by_time = json!({ "pattern": "x", "output_mode": "content", "head_limit": 15, "sort": "modified" });
    assert_eq!(pages(by_time), ["[3 files searched, 30 matching lines in 3 files; nothing left out]"; 2]);
}

#[test]
fn a_search_whose_time_was_up_in_a_file_goes_on_there_and_tells_a_change_only_if_there_is_one() {
    not_under_wine!("has a limit of time that such a program does not keep");
    let folder = Folder::new();
    let letters = ab_letters(4 << 20);
    let lines: Vec<&[u8]> = letters.as_bytes().chunks(100).collect();
    let text = lines.join(&b'\n');
    folder.write("f", [&text[..], b"\nneedle\n", &text, b"\nneedle\n", &text].concat());
    let server = serve(&folder, &["--timeout=3", "--max-size=100"]);
    let call = json!({ "pattern": format!("needle|{SLOW}"), "output_mode": "content" });
    let pages = follow(&server, call.clone());
    if pages.len() == 1 {
        println!("SKIPPED: the search ends in time");
        return;
    }
    assert!(pages.iter().all(|page| !page.text.contains(CHANGED)), "{}", pages[1].text);
    assert_eq!(sum(&pages, &[" matching line"]), 2);
    let next = next_of(&pages[0]).expect("more");
    std::fs::File::options()
        .append(true)
        .open(folder.path().join("f"))
        .unwrap()
        .set_modified(std::time::UNIX_EPOCH)
        .unwrap();
    assert!(server.ok("grep", next).contains(CHANGED));
}

#[test]
fn a_change_of_the_file_in_which_a_cursor_points_is_told_in_every_order() {
    for sort in ["path", "modified"] {
        let folder = Folder::new();
        folder.write("f", "x\n".repeat(10));
        folder.write("g", "x\n".repeat(10));
        folder.set_modified("g", 1_000);
        let server = serve(&folder, &[]);
        let call = json!({ "pattern": "x", "output_mode": "content", "head_limit": 5, "sort": sort });
        let next = next_of(&server.tool("grep", call)).expect("more");
        assert!(!server.ok("grep", next.clone()).contains(CHANGED), "{sort}");
        folder.write("f", "x\n".repeat(11));
        assert!(server.ok("grep", next.clone()).contains(CHANGED), "{sort}");
        folder.write("f", "y\n");
        assert!(server.ok("grep", next.clone()).contains(CHANGED), "{sort}: without a match");
        std::fs::remove_file(folder.path().join("f")).unwrap();
        assert!(server.ok("grep", next).contains(CHANGED), "{sort}: gone");
    }
}

#[test]
fn the_pages_of_a_file_whose_encoding_is_guessed_are_in_one_reading() {
    let folder = Folder::new();
    // "中文测试文件" in GBK, and in another reading of another length.
    let first = b"\xD6\xD0\xCE\xC4\xB2\xE2\xCA\xD4\xCE\xC4\xBC\xFE\n";
    folder.write("f", [first.to_vec(), b"x\n".repeat(100)].concat());
    let server = serve(&folder, &[]);
    let call = json!({ "pattern": "x", "output_mode": "content", "head_limit": 20 });
    let numbers: Vec<String> = follow(&server, call)
        .iter()
        .flat_map(|page| page.text.lines().filter_map(|line| Some(line.split_once(":x")?.0.to_owned())))
        .collect();
    assert_eq!(numbers, (2..102).map(|number| number.to_string()).collect::<Vec<_>>());
}

#[test]
fn the_pages_of_a_large_file_are_the_whole_when_only_its_beginning_is_not_utf8() {
    let folder = Folder::new();
    // Decoded, the first line is longer than its bytes, or shorter. The files are so large that they are mapped.
    let rest = [b"x\n".repeat(3_000), b"y\n".repeat(600_000)].concat();
    folder.write("western", [&b"caf\xE9 ".repeat(1_000)[..], b"\n", &rest].concat());
    folder.write("escaped", [&b"\x1b$BF|\x1b(B".repeat(200)[..], b"\n", &rest].concat());
    let server = serve(&folder, &["--max-size=10"]);
    for path in ["western", "escaped"] {
        for multiline in [false, true] {
            let call = json!({
                "pattern": "x", "path": path, "output_mode": "content", "head_limit": 900, "multiline": multiline
            });
            let pages = follow(&server, call);
            let lines = pages.iter().flat_map(|page| page.text.lines());
            let numbers: Vec<String> =
                lines.filter_map(|line| Some(line.split_once(":x")?.0.to_owned())).collect();
            let expected: Vec<String> = (2..3_002).map(|number| number.to_string()).collect();
            assert!(numbers == expected, "{path} {multiline}: {} lines", numbers.len());
        }
    }
}
