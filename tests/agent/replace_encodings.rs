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
