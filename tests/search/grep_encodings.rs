//! What `grep` finds in files that are not UTF-8.

use serde_json::json;

use super::grep::parts;
use super::grep_whole::pages;
use super::serve;
use crate::support::{Folder, Mcp};
use crate::trees::next_of;

#[test]
fn files_in_other_encodings_are_found_by_their_text() {
    let folder = Folder::new();
    let utf16 = |text: &str| -> Vec<u8> {
        [0xFF, 0xFE].into_iter().chain(text.encode_utf16().flat_map(u16::to_le_bytes)).collect()
    };
    folder.write("utf16", utf16("eins\r\nzwei Überraschung\r\n"));
    folder.write("large", utf16(&("eine Zeile\n".repeat(100_000) + "zwei Überraschung\n")));
    // "слово" and "Überraschung" in windows-1251 and windows-1252.
    folder.write("cyrillic", b"\xf1\xeb\xee\xe2\xee\n");
    folder.write("western", b"\xdcberraschung\n");
    let server = serve(&folder, &["--max-size=10"]);
    let lines = |pattern: &str, encoding: &str| {
        let arguments = json!({ "pattern": pattern, "output_mode": "content", "encoding": encoding });
        let text = server.ok("grep", arguments);
        (parts(&text).0.to_owned(), parts(&text).1.to_owned())
    };
    let marked = "large\n100001:zwei Überraschung\n\nutf16\n2:zwei Überraschung";
    // What is not UTF-8 is searched as what it likely is, and that is told.
    let (text, balance) = lines("zwei", "utf-8");
    assert_eq!(text, marked);
    assert!(
        balance.starts_with("4 files searched")
            && balance.contains("2 files not in UTF-8 searched in the likely encoding"),
        "{balance}"
    );
    assert_eq!(lines("(?i)überraschung", "windows-1252").0, format!("{marked}\n\nwestern\n1:Überraschung"));
    assert_eq!(lines("слово", "windows-1251").0, "cyrillic\n1:слово");
    let first = server.tool(
        "grep",
        json!({ "pattern": "eine", "output_mode": "content", "head_limit": 99_999, "path": "large", "-n": false }),
    );
    let last = pages(&server, next_of(&first).expect("more"));
    assert!(last.last().is_some_and(|page| page.ends_with("eine Zeile")), "{last:?}");
}

#[test]
fn one_wrong_byte_hides_no_file_from_a_search() {
    let folder = Folder::new();
    folder.write("damaged", [b"int x = 1; // caf\xFF ".to_vec(), "é €\n".as_bytes().to_vec()].concat());
    folder.write("large", [b"caf\xE9 x = 1\n".to_vec(), vec![b'\n'; 2 << 20]].concat());
    // "表示ソース" in Shift_JIS: the second bytes of two characters are backslashes.
    let japanese = b"// \x95\x5C\x8E\xA6\x83\x5C\x81\x5B\x83\x58 x = 1\n".repeat(12);
    folder.write("sjis", &japanese);
    let server = serve(&folder, &["--max-size=10"]);
    let ask = |pattern: &str| {
        let call = json!({ "pattern": pattern, "output_mode": "content", "sort": "path" });
        server.ok("grep", call)
    };
    let text = ask("x = 1");
    let found =
        ["damaged\n1:int x = 1; // caf\u{fffd} é €", "large\n1:café x = 1", "sjis\n1:// 表示ソース x = 1"];
    assert!(found.iter().all(|lines| text.contains(lines)), "{text}");
    let told = "[3 files searched, 14 matching lines in 3 files, 3 files not in UTF-8 searched in the likely encoding";
    assert!(text.contains(told), "{text}");
    assert!(ask("表示").contains("sjis\n1:// 表示ソース"));
    // No match begins inside a character.
    assert!(ask("\\\\").starts_with("No matches found"));
}

#[test]
fn a_text_with_escape_sequences_is_searched_as_what_they_say_and_that_is_told() {
    let folder = Folder::new();
    // "日本語" in ISO-2022-JP, whose bytes are ASCII.
    let japanese = b"From: K\n\x1b$BF|K\\8l\x1b(B text\n";
    folder.write("mail", japanese);
    // So long that a filter is made of it, and that it is not copied.
    folder.write("long", [&japanese[..], &b"line\n".repeat(300_000)].concat());
    folder.write("half", [b"\x1b(I1\x1b(B\n".to_vec(), b"line\n".repeat(3_000)].concat());
    folder.write("colours", b"\x1b(B\x1b[1mF|K\x1b(B\n");
    let server = serve(&folder, &["--max-size=10"]);
    let lines = |pattern: &str, encoding: &str, multiline: bool| {
        let call = json!({
            "pattern": pattern, "output_mode": "content", "sort": "path", "encoding": encoding, "multiline": multiline
        });
        let text = server.ok("grep", call);
        (parts(&text).0.to_owned(), parts(&text).1.to_owned())
    };
    for encoding in ["utf-8", "auto"] {
        for multiline in [false, true] {
            let (text, balance) = lines("日本.", encoding, multiline);
            assert_eq!(text, "long\n2:日本語 text\n\nmail\n2:日本語 text", "{encoding}");
            let told = "3 files not in UTF-8 searched in the likely encoding";
            assert_eq!(balance.contains(told), encoding == "utf-8", "{balance}");
            assert_eq!(lines("ｱ", encoding, multiline).0, "half\n1:ｱ", "{encoding}");
            // No half of a character is one.
            assert_eq!(lines("F\\|K", encoding, multiline).0, "colours\n1:\u{1b}(B\u{1b}[1mF|K\u{1b}(B");
        }
    }
}
