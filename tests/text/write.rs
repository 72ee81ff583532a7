//! `write_file`: the whole content of a file, in an encoding.

use serde_json::json;

use super::{failure, on_all};
use crate::support::Folder;
use crate::trees::put;

#[test]
fn a_file_is_created_with_its_folders_and_then_written() {
    on_all(
        &[],
        |_| {},
        |server, folder| {
            let call = json!({ "filename": "a/b/new.txt", "content": "one\r\ntwo" });
            let created = server.tool("write_file", call.clone());
            assert_eq!((created.text.as_str(), created.is_error), ("File created: a/b/new.txt", false));
            assert_eq!(folder.text("a/b/new.txt"), "one\r\ntwo");
            assert_eq!(server.ok("write_file", call), "File written: a/b/new.txt");
            let version = created.result["_meta"]["file-editor/version"].clone();
            let other = json!({ "path": "a/b/new.txt", "text": "x", "expectedVersion": version });
            assert_eq!(server.ok("write_file", other.clone()), "File written: a/b/new.txt");
            let stale = failure(server, "write_file", other);
            assert!(
                stale.starts_with("Error: File 'a/b/new.txt' does not have the expected version"),
                "{stale}"
            );
            assert_eq!(folder.text("a/b/new.txt"), "x");
            for name in ["content", "text", "file_text"] {
                server.ok("write_file", json!({ "file_path": "empty", name: "" }));
                assert_eq!(folder.text("empty"), "", "{name}");
            }
        },
    );
}

#[test]
fn a_text_is_encoded_and_a_mark_stays() {
    let fill = |folder: &Folder| {
        folder.write("marked", "\u{feff}old");
        folder.write("16be", b"\xFE\xFF\0o");
        folder.write("1251", b"\xD1\xFA\xE5\xF8\xFC \xE5\xF9\xB8 \xFD\xF2\xE8\xF5 \xEC\xFF\xE3\xEA\xE8\xF5 \xE1\xF3\xEB\xEE\xEA");
        folder.write("unknown", b"\x7fELF\x02\x01\0\0\0");
    };
    on_all(&[], fill, |server, folder| {
        for (name, encoding, content, bytes) in [
            ("n1", "utf-8", "é", &b"\xC3\xA9"[..]),
            ("n2", "utf-16", "é\n", b"\xFF\xFE\xE9\0\n\0"),
            ("n3", "utf-16be", "é", b"\0\xE9"),
            ("n4", "iso-8859-15", "€", b"\xA4"),
            ("n5", "CP1251", "ё№", b"\xB8\xB9"),
            ("n6", "auto", "é", b"\xC3\xA9"),
            ("marked", "utf-8", "new", b"\xEF\xBB\xBFnew"),
            ("marked", "auto", "é", b"\xEF\xBB\xBF\xC3\xA9"),
            ("16be", "utf-16", "x", b"\xFE\xFF\0x"),
            ("16be", "auto", "y", b"\xFE\xFF\0y"),
            ("16be", "utf-16le", "z", b"\xFF\xFEz\0"),
        ] {
            let call = json!({ "filename": name, "encoding": encoding, "content": content });
            server.ok("write_file", call.clone());
            assert_eq!(folder.read(name), bytes, "{call}");
            let read = server.ok("read_file", json!({ "filename": name, "encoding": encoding }));
            assert_eq!(read, content, "{call}");
        }
        let guessed =
            server.tool("write_file", json!({ "filename": "1251", "encoding": "auto", "content": "ещё" }));
        assert_eq!(guessed.texts, ["File written: 1251", "Encoding: windows-1251 (guessed)"]);
        assert_eq!(folder.read("1251"), b"\xE5\xF9\xB8");
        let unknown = failure(
            server,
            "write_file",
            json!({ "filename": "unknown", "encoding": "auto", "content": "x" }),
        );
        assert!(unknown.starts_with("Error: File 'unknown' is not a text file"), "{unknown}");
    });
}

#[test]
fn a_character_that_the_encoding_lacks_is_an_error_and_nothing_is_written() {
    let fill = |folder: &Folder| put(folder, "old", "old");
    on_all(&[], fill, |server, folder| {
        for name in ["old", "new", "no/such/folder/new"] {
            let call = json!({ "filename": name, "encoding": "windows-1251", "content": "раз\nдва 漢" });
            let text = failure(server, "write_file", call);
            let expected =
                "Error: Text holds a character that windows-1251 lacks: line 2, column 5: '漢' (U+6F22)\n";
            assert!(text.starts_with(expected), "{text}");
        }
        assert_eq!(folder.names(), ["old"]);
        assert_eq!(folder.text("old"), "old");
    });
}

#[test]
fn what_was_written_in_another_encoding_is_not_taken_for_utf_8_afterwards() {
    on_all(
        &[],
        |_| {},
        |server, folder| {
            let call = json!({ "filename": "f", "encoding": "windows-1251", "content": "ещё\n" });
            server.ok("write_file", call);
            for filter in [json!({}), json!({ "start_line": 1 }), json!({ "pattern": "x" })] {
                let mut call = filter.clone();
                call["filename"] = json!("f");
                let text = failure(server, "read_file", call);
                assert!(
                    text.starts_with("Error: File contains invalid UTF-8 encoding: line 1, column 1: 0xE5"),
                    "{text}"
                );
            }
            assert_eq!(folder.read("f"), b"\xE5\xF9\xB8\n");
        },
    );
}

#[test]
fn nothing_is_written_outside_into_git_or_where_it_is_forbidden() {
    on_all(
        &[],
        |folder| put(folder, "dir/x", ""),
        |server, _| {
            for (name, expected) in [
                ("../x", "Error: Invalid filename format"),
                (".git/hooks/x", "Error: Permission denied accessing '.git/hooks/x'"),
                ("dir", "Error: Permission denied accessing 'dir'"),
                ("dir/x/y", "Error: 'dir/x' is a file, not a folder"),
            ] {
                let text = failure(server, "write_file", json!({ "filename": name, "content": "x" }));
                assert!(text.starts_with(expected), "{name}: {text}");
            }
            let nul = failure(server, "write_file", json!({ "filename": "n", "content": "a\0b" }));
            assert!(nul.starts_with("Error: Invalid arguments: content: it holds a NUL character"), "{nul}");
        },
    );
}
