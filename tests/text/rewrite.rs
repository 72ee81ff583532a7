//! A text that replaces a whole file keeps its encoding, mark and kind of line break, or the answer says what changed.

use serde_json::{Value, json};

use crate::support::{Folder, Mcp, Stdio};

/// The tools that replace a whole file: their set, their name, and the name of their argument for the path.
const TOOLS: [(&str, &str, &str); 3] = [
    ("text", "write_file", "filename"),
    ("text", "edit_file", "filename"),
    ("filesystem", "write_file", "path"),
];

/// A sentence of which an encoding can be told for certain, several times.
const FRENCH: &str = "Les élèves français sont déjà arrivés à l'école, où ils ont mangé des pâtes.\n";
const RUSSIAN: &[u8] = b"\xD1\xFA\xE5\xF8\xFC \xE5\xF9\xB8 \xFD\xF2\xE8\xF5 \xEC\xFF\xE3\xEA\xE8\xF5 \xF4\xF0\xE0\xED\xF6\xF3\xE7\xF1\xEA\xE8\xF5 \xE1\xF3\xEB\xEE\xEA.\n";

fn utf_16(mark: &[u8], text: &str, bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
    mark.iter().copied().chain(text.encode_utf16().flat_map(bytes)).collect()
}

fn latin_1(text: &str) -> Vec<u8> {
    text.chars().map(|c| c as u8).collect()
}

/// Runs `test` for each tool; it gets the second text of the answer to the call that writes `content` over `old`, and the file.
fn on_each(test: impl Fn(&dyn Fn(&[u8], &str) -> (Option<String>, Vec<u8>))) {
    for (set, tool, path) in TOOLS {
        let folder = Folder::new();
        let server = Stdio::start(&folder, &[&format!("--tools={set}"), "--sync=none"]).ready();
        test(&|old: &[u8], content: &str| {
            folder.write("f", old);
            let result = server.tool(tool, json!({ (path): "f", "content": content }));
            assert!(!result.is_error, "{set}.{tool}: {}", result.text);
            (result.texts.get(1).cloned(), folder.read("f"))
        });
    }
}

#[test]
fn encoding_mark_and_breaks_stay() {
    let french = latin_1(&FRENCH.repeat(3));
    let crlf = "Line breaks: CRLF, as the file had";
    on_each(|write| {
        for (old, content, new, note) in [
            (b"old\n".to_vec(), "é\n", "é\n".as_bytes().to_vec(), None),
            (b"\xEF\xBB\xBFold\n".to_vec(), "é\n", b"\xEF\xBB\xBF\xC3\xA9\n".to_vec(), None),
            (
                utf_16(b"\xFF\xFE", "old\r\n", u16::to_le_bytes),
                "é\n漢\n",
                utf_16(b"\xFF\xFE", "é\r\n漢\r\n", u16::to_le_bytes),
                Some(format!("Encoding: utf-16le (by its byte order mark)\n{crlf}")),
            ),
            (
                utf_16(b"\xFE\xFF", "old\n", u16::to_be_bytes),
                "é\n",
                utf_16(b"\xFE\xFF", "é\n", u16::to_be_bytes),
                Some("Encoding: utf-16be (by its byte order mark)".into()),
            ),
            (french.clone(), "à\n", b"\xE0\n".to_vec(), Some("Encoding: windows-1252 (guessed)".into())),
            (
                RUSSIAN.repeat(3),
                "\u{435}\u{449}\u{451}\n",
                b"\xE5\xF9\xB8\n".to_vec(),
                Some("Encoding: windows-1251 (guessed)".into()),
            ),
            (b"a\r\nb\r\n".to_vec(), "x\ny\n", b"x\r\ny\r\n".to_vec(), Some(crlf.into())),
            (b"a\r\nb\r\n".to_vec(), "x\r\ny\r\n", b"x\r\ny\r\n".to_vec(), None),
            (b"a\r\nb\r\n".to_vec(), "x\r\ny\n", b"x\r\ny\r\n".to_vec(), Some(crlf.into())),
            (b"a\r\nb\r\n".to_vec(), "x", b"x".to_vec(), None),
            (b"".to_vec(), "x\r\n", b"x\r\n".to_vec(), None),
        ] {
            assert_eq!(write(&old, content), (note, new), "{old:x?} {content:?}");
        }
    });
}

#[test]
fn what_cannot_stay_is_told() {
    let french = latin_1(&FRENCH.repeat(3));
    on_each(|write| {
        for (old, content, note) in [
            (french.clone(), "жук\n", "Encoding: was windows-1252, which lacks 'ж' (U+0436), is now utf-8"),
            (b"a\nb\n".to_vec(), "x\r\n", "Line breaks: were LF, are now CRLF"),
            (b"a\r\nb\n".to_vec(), "x\n", "Line breaks: were LF and CRLF, are now LF"),
            (
                b"\x89PNG\r\n\x1a\n\0\0".to_vec(),
                "x\n",
                "The file was not text but a PNG image of 10 bytes, which this text has replaced",
            ),
            (
                b"\x01\0\0\x02".to_vec(),
                "x\n",
                "The file was not text but binary data of 4 bytes, which this text has replaced",
            ),
        ] {
            assert_eq!(write(&old, content), (Some(note.into()), content.as_bytes().to_vec()), "{old:x?}");
        }
    });
}

#[test]
fn an_encoding_that_is_given_is_written_and_the_former_one_told() {
    for (set, tool, path) in TOOLS {
        let folder = Folder::new();
        let server = Stdio::start(&folder, &[&format!("--tools={set}")]).ready();
        folder.write("f", utf_16(b"\xFF\xFE", "old\r\n", u16::to_le_bytes));
        let write = |encoding: &str, content: &str| {
            server.tool(tool, json!({ (path): "f", "content": content, "encoding": encoding }))
        };
        let refused = write("windows-1252", "漢");
        assert!(refused.is_error && refused.text.contains("windows-1252 lacks"), "{}", refused.text);
        assert_eq!(folder.read("f").len(), 12);
        let written = write("utf-8", "é\n");
        assert_eq!(
            written.texts[1],
            "Encoding: was utf-16le, is now utf-8\nLine breaks: CRLF, as the file had"
        );
        assert_eq!(folder.read("f"), "é\r\n".as_bytes());
        folder.write("f", RUSSIAN.repeat(3));
        let written = write("utf-8", "\u{449}\n");
        assert_eq!(written.texts[1], "Encoding: was windows-1251, is now utf-8");
        assert_eq!(folder.read("f"), "\u{449}\n".as_bytes());
        let written = write("Shift-JIS", "表\n");
        assert!(!written.is_error && folder.read("f") == b"\x95\\\n", "{}", written.text);
        let unknown = write("klingon", "x");
        assert!(unknown.is_error && folder.read("f") == b"\x95\\\n", "{}", unknown.text);
    }
}

#[test]
fn an_encoding_that_is_unsure_becomes_utf_8_and_the_answer_says_so() {
    // "数据" in GBK, and UTF-8 with a byte that is no character.
    for old in [&b"caf\xE9\r\n"[..], b"\xCA\xFD\xBE\xDD\r\n", b"caf\xC3\xA9 \xFF x\r\n"] {
        on_each(|write| {
            let (note, new) = write(old, "th\u{e9} 漢\n");
            let note = note.expect("a second text");
            assert_eq!(new, "thé 漢\r\n".as_bytes());
            assert!(
                note.starts_with("Encoding: was probably ") && note.contains(", is now utf-8\n"),
                "{note}"
            );
            assert!(note.ends_with("Line breaks: CRLF, as the file had"), "{note}");
        });
    }
    for (set, tool, path) in TOOLS {
        let folder = Folder::new();
        folder.write("f", b"caf\xE9\n");
        let server = Stdio::start(&folder, &[&format!("--tools={set}")]).ready();
        let text = server.ok(tool, json!({ (path): "f", "content": "thé\n" }));
        let first = text.lines().next().unwrap_or_default();
        assert!(first.ends_with("f, now in utf-8: its encoding was unsure"), "{first}");
    }
    // What is not valid UTF-8 but for a wrong byte has line breaks, too.
    let wrong = ["é漢\r\n".repeat(9).as_bytes(), b"\xFF\r\n"].concat();
    on_each(|write| {
        let (note, new) = write(&wrong, "é\n");
        let expected = "Encoding: was not valid UTF-8, is now utf-8\nLine breaks: CRLF, as the file had";
        assert_eq!((note.as_deref(), new), (Some(expected), "é\r\n".as_bytes().to_vec()));
    });
}

#[test]
fn what_the_text_was_is_told_where_a_mark_or_escape_sequences_do_not_say_it() {
    let japanese = &b"K \x1b$BF|K\\\x1b(B\n"[..];
    let unsure = ", now in utf-8: its encoding was unsure";
    for (set, tool, path) in TOOLS {
        let folder = Folder::new();
        let server = Stdio::start(&folder, &[&format!("--tools={set}"), "--sync=none"]).ready();
        let write = |old: &[u8], content: &str| {
            folder.write("f", old);
            let result = server.tool(tool, json!({ (path): "f", "content": content }));
            let first = result.text.lines().next().unwrap_or_default().to_owned();
            (first, result.texts.get(1).cloned().unwrap_or_default(), folder.read("f"))
        };
        let invalid = "Encoding: was not valid utf-16le, is now utf-8";
        let escaped = "Encoding: had escape sequences of ISO-2022, is now utf-8";
        for (old, note) in [
            (b"\xFF\xFE\0\0a\0\0\0".to_vec(), invalid),
            (b"\xFF\xFEa\0b".to_vec(), invalid),
            (b"\xFF\xFEa\0\0\xDC".to_vec(), invalid),
            ([japanese, b"\xFF\n"].concat(), escaped),
            ([japanese, "é\n".as_bytes()].concat(), escaped),
            ([japanese, b"\x1b$(D00\x1b(B\n"].concat(), escaped),
        ] {
            let (first, told, new) = write(&old, "é 漢\n");
            assert!(first.ends_with(unsure) && told.starts_with(note), "{old:x?}: {first}\n{told}");
            assert_eq!(new, "é 漢\n".as_bytes(), "{old:x?}");
        }
        // The text as a read without an encoding shows it.
        let raw = std::str::from_utf8(japanese).expect("ASCII");
        let (first, told, new) = write(japanese, raw);
        assert!(
            !first.contains("utf-8") && !told.contains("utf-8") && told.contains("ISO-2022"),
            "{first}\n{told}"
        );
        assert_eq!(new, japanese);
        let far = [&b"a line in ASCII\n".repeat(70_000)[..], japanese].concat();
        assert_eq!(write(&far, "日\n").2, b"\x1b$BF|\x1b(B\n");
    }
}

#[test]
fn the_diff_of_a_text_that_takes_the_breaks_of_the_file_shows_only_what_differs() {
    let folder = Folder::new();
    folder.write("f", b"one\r\ntwo\r\nthree\r\n");
    let server = Stdio::start(&folder, &["--tools=text"]).ready();
    let content: Value = json!("one\n2\nthree\n");
    let text = server.ok("edit_file", json!({ "filename": "f", "content": content }));
    let diff = "--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n one\r\n-two\r\n+2\r\n three\r";
    assert_eq!(text, format!("File written: f\nLines: 3 before, 3 now\n\n{diff}"));
}
