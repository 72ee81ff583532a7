//! `replace` in files whose encoding is unsure.

use serde_json::json;

use super::serve;
use crate::support::{Folder, Mcp};
use crate::trees::put;

#[test]
fn every_place_of_a_line_is_replaced_or_the_file_is_named() {
    let folder = Folder::new();
    let server = serve(&folder, &[]);
    // In Shift_JIS, the first `f` would be the second half of a character.
    for (bytes, places) in [(&b"caf\x82foofoofoo\n"[..], 3), (b"caf\x82foobar\n", 2)] {
        put(&folder, "a", bytes);
        let call = json!({ "pattern": "foo|bar", "replacement": "q" });
        let answer = server.tool("replace", call.clone());
        assert!(answer.is_error && answer.text.contains("may be half of a character"), "{}", answer.text);
        assert_eq!(folder.read("a"), bytes);
        let mut named = call;
        named["encoding"] = json!("windows-1252");
        let text = server.ok("replace", named);
        assert!(text.starts_with(&format!("Changed {places} places")), "{text}");
        assert_eq!(folder.read("a"), [&b"caf\x82"[..], &b"q".repeat(places), b"\n"].concat());
    }
}

#[test]
fn a_place_that_begins_with_what_may_be_half_of_a_character_is_not_cut() {
    let folder = Folder::new();
    let server = serve(&folder, &[]);
    // In Shift_JIS, `b` would be the second half of a character, and the place would begin behind it.
    let bytes = b"caf\x82barfoo\nxfoo\n";
    put(&folder, "a", bytes);
    let answer = server.tool("replace", json!({ "pattern": "[a-z]+o", "replacement": "Z" }));
    assert!(answer.is_error && answer.text.contains("may be half of a character"), "{}", answer.text);
    assert_eq!(folder.read("a"), bytes);
}

#[test]
fn a_pattern_that_is_not_ascii_says_where_its_absence_is_not_proved() {
    let folder = Folder::new();
    put(&folder, "a", b"\xec\xe8\xf0 foo\n");
    put(&folder, "b", "foo\n");
    let server = serve(&folder, &[]);
    let text = server.ok("replace", json!({ "pattern": "мир", "replacement": "свет" }));
    assert!(text.starts_with("Nothing changed: nothing matches."), "{text}");
    assert!(text.contains("1 file without a match perhaps in another encoding than guessed"), "{text}");
    server.ok("replace", json!({ "pattern": "foo", "replacement": "bar" }));
    assert_eq!((folder.read("a"), folder.text("b")), (b"\xec\xe8\xf0 bar\n".to_vec(), "bar\n".into()));
}

/// A text with the mark of UTF-8 and a wrong byte.
const MARKED: &[u8] = b"\xEF\xBB\xBFabc = 1\nc\xC3\xA9 text \xFF\nend\n";

#[test]
fn the_mark_of_a_text_with_wrong_bytes_is_no_part_of_it() {
    let folder = Folder::new();
    let server = serve(&folder, &[]);
    put(&folder, "m.txt", MARKED);
    for more in [json!({}), json!({ "encoding": "utf-8" }), json!({ "encoding": "auto" })] {
        let mut call = json!({ "pattern": "^abc", "path": "m.txt" });
        call.as_object_mut().expect("an object").extend(more.as_object().cloned().unwrap_or_default());
        let text = server.ok("grep", call);
        assert!(text.contains("1: abc = 1"), "{text}");
    }
    let rest = &MARKED[3..];
    let line = |first: &str| [&MARKED[..3], first.as_bytes(), &rest[b"abc = 1".len()..]].concat();
    let hunk = "--- a/m.txt\n+++ b/m.txt\n@@ -1 +1 @@\n-abc = 1\n+X = 1\n";
    for (tool, call, expected) in [
        ("replace", json!({ "pattern": "^a", "replacement": "#" }), line("#bc = 1")),
        ("replace", json!({ "pattern": "\\A.", "replacement": "#" }), line("#bc = 1")),
        ("replace", json!({ "pattern": "^abc", "replacement": "Y" }), line("Y = 1")),
        ("replace", json!({ "pattern": "\\A", "replacement": "# " }), line("# abc = 1")),
        ("edit", json!({ "path": "m.txt", "lines": "1", "new": "X" }), line("X")),
        ("edit", json!({ "path": "m.txt", "lines": "1", "new": "X", "expect": "abc = 1" }), line("X")),
        ("edit", json!({ "path": "m.txt", "old": "abc", "new": "X" }), line("X = 1")),
        ("edit", json!({ "patch": hunk }), line("X = 1")),
    ] {
        put(&folder, "m.txt", MARKED);
        let answer = server.tool(tool, call.clone());
        assert!(!answer.is_error, "{call}: {}", answer.text);
        assert_eq!(folder.read("m.txt"), expected, "{call}");
    }
}

#[test]
fn a_long_text_with_a_wrong_byte_is_edited_however_little_memory_there_is_for_copies() {
    let folder = Folder::new();
    let server = serve(&folder, &["--max-size=1"]);
    for line in [&b"caf\xE9 ok 12345\n"[..], "caf\u{e9} ok 12345\n".as_bytes()] {
        let rest = line.repeat(200_000);
        put(&folder, "l.log", [b"first\n", &rest[..], b"needle \xFF end\n"].concat());
        for call in [
            json!({ "path": "l.log", "old": "needle", "new": "nadel" }),
            json!({ "path": "l.log", "lines": "1", "new": "1st" }),
            json!({ "path": "l.log", "append": "last\n" }),
        ] {
            server.ok("edit", call);
        }
        assert!(folder.read("l.log") == [b"1st\n", &rest[..], b"nadel \xFF end\nlast\n"].concat());
    }
    let wide: Vec<u8> =
        "\u{feff}caf ok 12345\n".repeat(200_000).encode_utf16().flat_map(u16::to_le_bytes).collect();
    put(&folder, "w.log", wide);
    let answer = server.tool("edit", json!({ "path": "w.log", "lines": "1", "new": "1st" }));
    assert!(answer.is_error && answer.text.contains("MB in utf-16le"), "{}", answer.text);
}

#[test]
fn the_error_for_wrong_bytes_says_where_they_are_and_what_works() {
    let folder = Folder::new();
    let server = serve(&folder, &[]);
    put(&folder, "m.txt", MARKED);
    let answer = server.tool("read", json!({ "path": "m.txt" }));
    assert!(
        answer.is_error && answer.text.contains("line 2, column 9: 0xFF is no character"),
        "{}",
        answer.text
    );
    assert!(answer.text.contains(r#"grep {"pattern":"","path":"m.txt"} shows its lines"#), "{}", answer.text);
    let lines = server.ok("grep", json!({ "pattern": "", "path": "m.txt" }));
    assert!(lines.contains("1: abc = 1\n2: c\u{e9} text \u{fffd}\n3: end\n"), "{lines}");
    let half: Vec<u8> =
        [&[0xFEFF, 97, 10, 0xD800, 98, 10][..]].concat().into_iter().flat_map(u16::to_le_bytes).collect();
    put(&folder, "s.txt", half);
    let answer = server.tool("read", json!({ "path": "s.txt", "encoding": "utf-16" }));
    assert!(answer.is_error && answer.text.contains("lines without them can be read"), "{}", answer.text);
    let line = server.ok("read", json!({ "path": "s.txt", "encoding": "utf-16", "lines": "1" }));
    assert!(line.contains('a'), "{line}");
}
