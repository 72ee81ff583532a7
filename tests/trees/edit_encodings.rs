//! `edit_file` on files that are not UTF-8, without their encoding (contract 25).

use serde_json::json;

use super::{on_all, outcome};
use crate::support::{Folder, Mcp, Stdio};

#[test]
fn a_file_of_any_size_with_a_wrong_byte_is_edited_by_texts_in_ascii() {
    let log = [&b"caf\xE9 one\n"[..], &b"a line of the log\n".repeat(60_000), b"last one\n"].concat();
    on_all(
        &["--max-file=1"],
        |folder| folder.write("log", &log),
        |server, folder| {
            let edit = json!({ "path": "log", "edits": [{ "oldText": "last one", "newText": "last two" }] });
            let done = outcome(server, "edit_file", &edit);
            assert!(!done.0, "{done:?}");
            assert_eq!(folder.read("log"), [&log[..log.len() - 4], b"two\n"].concat());
        },
    );
}

#[test]
fn an_edit_of_an_unsure_encoding_skips_no_place_and_joins_no_bytes() {
    let koi = b"\xC5\xCC\xDB\xCC\xD3A A\n";
    let edit = |set: &str, old: &str, new: &str| match set {
        "text" => json!({ "filename": "f", "old_text": old, "new_text": new }),
        _ => json!({ "path": "f", "edits": [{ "oldText": old, "newText": new }] }),
    };
    for set in ["filesystem", "text"] {
        for (bytes, old, new, at) in [
            (&koi[..], "A", "B", "old"),
            (b"\xD6 ab\n", " ab", "ab", "new"),
            (b"\x95 b\n", " b", "\\b", "new"),
        ] {
            let folder = Folder::new();
            folder.write("f", bytes);
            let server = Stdio::start(&folder, &[&format!("--tools={set}")]).ready();
            let result = server.tool("edit_file", edit(set, old, new));
            let at = if set == "text" { format!("{at}_text") } else { format!("{at}Text") };
            assert!(result.is_error && result.text.contains("pass encoding"), "{}", result.text);
            assert!(result.text.contains(&at), "{}", result.text);
            assert_eq!(folder.read("f"), bytes);
        }
    }
    let folder = Folder::new();
    folder.write("f", b"\xD6\xD0\xD6");
    let server = Stdio::start(&folder, &["--tools=text"]).ready();
    let result = server.tool("edit_file", json!({ "filename": "f", "new_text": "bar" }));
    assert!(result.is_error, "{}", result.text);
    assert_eq!(folder.read("f"), b"\xD6\xD0\xD6");
}

#[test]
fn a_miss_in_a_likely_encoding_names_a_read_that_works() {
    on_all(
        &[],
        |folder| folder.write("latin", b"caf\xE9 au lait and tea\n"),
        |server, _| {
            let edit =
                json!({ "path": "latin", "edits": [{ "oldText": " au lait and teas", "newText": "" }] });
            let (is_error, text) = outcome(server, "edit_file", &edit);
            assert!(is_error && text.contains("start_line=1"), "{text}");
            let encoding = text.split_once("encoding=").map(|(_, rest)| rest.split([')', ' ']).next());
            let read = json!({ "path": "latin", "encoding": encoding.flatten() });
            let (is_error, read) = outcome(server, "read_text_file", &read);
            assert!(encoding.is_some() && !is_error && read.contains("au lait"), "{text}\n{read}");
        },
    );
}

#[test]
fn texts_with_escape_sequences_are_refused_and_files_of_shift_jis_keep_their_characters() {
    let files: [(&str, &[u8], &str); 3] = [
        ("jis", b"\x1b$BF|K\\\x1b(B K\n", "F"),
        ("auto", b"'\x8e\x9e\x8d\\\x93\\ y\n", "\\"),
        ("chance", b"'\x82\xdc\x90\xdd\x97\\ y\n", "\\"),
    ];
    on_all(
        &[],
        |folder| files.iter().for_each(|(name, bytes, _)| folder.write(name, bytes)),
        |server, folder| {
            let before = folder.snapshot();
            for (name, _, old) in files {
                for encoding in [None, Some("auto")] {
                    let edits = json!([{ "oldText": old, "newText": "/", "replaceAll": true }]);
                    let mut edit = json!({ "path": name, "edits": edits });
                    if let Some(encoding) = encoding {
                        edit["encoding"] = json!(encoding);
                    }
                    let (is_error, text) = outcome(server, "edit_file", &edit);
                    assert!(is_error && text.contains("encoding"), "{name}: {text}");
                }
            }
            assert_eq!(folder.snapshot(), before);
        },
    );
}

#[test]
fn a_character_that_the_file_cannot_hold_names_a_call_that_writes_it() {
    on_all(
        &[],
        |folder| folder.write("f", b"caf\xE9\n"),
        |server, folder| {
            let edits = json!([{ "oldText": "caf\u{e9}", "newText": "漢" }]);
            let edit = json!({ "path": "f", "encoding": "windows-1252", "edits": edits });
            let (is_error, text) = outcome(server, "edit_file", &edit);
            let advice = "send the whole text of the file to write_file with \"encoding\": \"utf-8\"";
            assert!(is_error && text.contains(advice), "{text}");
            let write = json!({ "path": "f", "content": "漢\n", "encoding": "utf-8" });
            assert!(!outcome(server, "write_file", &write).0 && folder.text("f") == "漢\n");
        },
    );
}
