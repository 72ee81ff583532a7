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
