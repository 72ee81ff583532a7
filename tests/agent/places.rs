//! How many places changed: those that were asked for and found, however they lie beside each other.

use serde_json::{Value, json};

use super::{edit, serve};
use crate::support::{Folder, Mcp, Stdio};
use crate::trees::put;

#[test]
fn places_that_touch_count_each() {
    let folder = Folder::new();
    let server = serve(&folder, &[]);
    let utf_16 = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
    let wide = [b"\xff\xfe".to_vec(), utf_16("aaa\n")].concat();
    let patch = "--- a\n+++ a\n@@ -1 +1 @@\n-1\n+one\n@@ -2 +2 @@\n-2\n+two\n";
    for (file, edits, places) in [
        (&b"aaaa\nb\n"[..], json!([{ "old": "a", "new": "x", "all": true }]), "4 places"),
        (b"a\nb\nc\nd\n", json!([{ "old": "b\n", "new": "" }, { "old": "c\n", "new": "" }]), "2 places"),
        (b"1\n2\n3\n4\n", json!([{ "lines": "1-2", "new": "x" }, { "lines": "2", "new": "y" }]), "2 places"),
        (b"1\n2\n3\n4\n", json!([{ "lines": "1-3", "new": "x\ny\nz" }]), "1 place"),
        (b"a\r\nbb\nc", json!([{ "old": "b", "new": "x\ny", "all": true }]), "2 places"),
        (&wide, json!([{ "old": "a", "new": "x", "all": true }]), "3 places"),
        (b"def f():\n    a()\n    b()\n", json!([{ "old": "a()\nb()", "new": "c()\nd()" }]), "1 place"),
        (b"ab\n", json!([{ "old": "a", "new": "x" }, { "old": "xb", "new": "y" }]), "2 places"),
        (b"ab\n", json!([{ "old": "a", "new": "a" }, { "old": "b", "new": "y" }]), "1 place"),
        (b"a\n", json!([{ "content": "b\n" }]), "1 place"),
        (b"a\n", json!([{ "append": "b" }, { "append": "c" }]), "2 places"),
        (b"1\n2\n", json!(patch), "2 places"),
    ] {
        put(&folder, "a", file);
        let told = match &edits {
            Value::String(patch) => server.ok("edit", json!({ "patch": patch })),
            edits => {
                let mut edits = edits.clone();
                edits[0]["path"] = json!("a");
                edit(&server, edits)
            }
        };
        assert!(told.starts_with(&format!("Changed {places} in 1 file")), "{edits}: {told}");
    }
    put(&folder, "a", "a\n");
    let none = edit(&server, json!([{ "path": "a", "old": "a", "new": "b" }, { "old": "b", "new": "a" }]));
    assert_eq!(none, "Nothing changed: the edits leave everything as it is.");
}

#[test]
fn the_other_sets_count_alike() {
    let folder = Folder::new();
    let edit = |old: &str, new: &str| json!({ "oldText": old, "newText": new, "replaceAll": true });
    let server = Stdio::start(&folder, &["--tools=filesystem"]).ready();
    for (file, edits, places) in [
        ("aaaa\n", json!([edit("a", "x")]), "4 places"),
        ("a\r\nbb\nc", json!([edit("b", "x\ny")]), "2 places"),
        ("a\nb\nc\n", json!([edit("b\n", ""), edit("c\n", "")]), "2 places"),
        ("f:\n  a\n  b\n", json!([{ "oldText": "a\nb", "newText": "c\nd" }]), "1 place"),
    ] {
        put(&folder, "a", file);
        let told = server.ok("edit_file", json!({ "path": "a", "edits": edits, "diff": false }));
        assert_eq!(told, format!("Changed {places} in a"), "{file:?}");
    }
    put(&folder, "a", "aaaa\n");
    let server = Stdio::start(&folder, &["--tools=text"]).ready();
    let told = server.ok("edit_file", json!({ "filename": "a", "old_text": "a", "new_text": "x" }));
    assert!(told.starts_with("Replaced 4 in a\n"), "{told}");
}
