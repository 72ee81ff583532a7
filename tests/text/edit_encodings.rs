//! `edit_file` on texts in other encodings than UTF-8: only the bytes that it names change.

use serde_json::{Value, json};

use super::{failure, on_all};
use crate::support::Folder;

/// A text in an encoding, by tables of this file's own.
fn encoded(encoding: &str, text: &str) -> Vec<u8> {
    let byte = |c: char| match (encoding, c) {
        (_, '\0'..='\x7f') => c as u8,
        ("windows-1251", 'А'..='я') => (c as u32 - 'А' as u32) as u8 + 0xC0,
        ("windows-1251", 'ё') => 0xB8,
        ("windows-1252", '€') => 0x80,
        ("iso-8859-15", '€') => 0xA4,
        (_, '\u{a0}'..='\u{ff}') => c as u8,
        _ => panic!("{c} in {encoding}"),
    };
    match encoding {
        "utf-8" => text.into(),
        "utf-16le" => text.encode_utf16().flat_map(u16::to_le_bytes).collect(),
        "utf-16be" => text.encode_utf16().flat_map(u16::to_be_bytes).collect(),
        _ => text.chars().map(byte).collect(),
    }
}

/// Encodings, and a word that each of them has.
const WORDS: [(&str, &str); 7] = [
    ("utf-8", "漢字"),
    ("utf-16le", "漢😀"),
    ("utf-16be", "漢😀"),
    ("windows-1251", "ещё"),
    ("windows-1252", "5 €"),
    ("iso-8859-1", "café"),
    ("iso-8859-15", "5 €"),
];

#[test]
fn each_mode_works_in_each_encoding() {
    on_all(
        &[],
        |_| {},
        |server, folder| {
            for (encoding, word) in WORDS {
                let edit = |mut arguments: Value| {
                    arguments["filename"] = json!(encoding);
                    arguments["encoding"] = json!(encoding);
                    server.ok("edit_file", arguments)
                };
                let holds =
                    |text: &str| assert_eq!(folder.read(encoding), encoded(encoding, text), "{encoding}");
                let created = edit(json!({ "new_text": format!("a {word}\r\n") }));
                assert!(created.starts_with(&format!("File created: {encoding}\n")), "{created}");
                holds(&format!("a {word}\r\n"));
                edit(json!({ "new_text": format!("{word}{word}\r\n") }));
                let text = edit(json!({ "old_text": word, "new_text": "x\ny" }));
                let diff =
                    format!("@@ -1,2 +1,5 @@\n-a {word}\r\n+a x\r\n+y\r\n-{word}{word}\r\n+x\r\n+yx\r\n+y\r");
                assert_eq!(
                    text,
                    format!(
                        "Replaced 3 in {encoding}\nLines 1, 2\n\n--- a/{encoding}\n+++ b/{encoding}\n{diff}"
                    )
                );
                holds("a x\r\ny\r\nx\r\nyx\r\ny\r\n");
                edit(json!({ "old_text": "y\nx", "new_text": word }));
                holds(&format!("a x\r\n{word}\r\nyx\r\ny\r\n"));
                edit(json!({ "old_text": "\n" }));
                holds(&format!("a x{word}yxy"));
                edit(json!({ "old_text": "none", "new_text": word, "if_missing": "append" }));
                holds(&format!("a x{word}yxy{word}"));
                edit(json!({ "old_text": "*", "new_text": word }));
                holds(word);
                edit(json!({ "content": "a\n" }));
                holds("a\n");
                folder.write(encoding, encoded(encoding, &format!("a\r\n{word}\nb\r\n")));
                edit(json!({ "old_text": format!("a\n{word}\n"), "new_text": format!("a\nx\n{word}\n") }));
                holds(&format!("a\r\nx\r\n{word}\nb\r\n"));
            }
        },
    );
}

#[test]
fn bytes_that_are_no_character_stay_as_they_are() {
    let windows =
        [&encoded("windows-1251", "раз ")[..], b"\x98 ", &encoded("windows-1251", "два раз")].concat();
    // A lone second half, a lone first half, and an odd byte at the end.
    let utf_16 = [
        &b"\xFF\xFE\x00\xDC"[..],
        &encoded("utf-16le", "один a"),
        b"\x3D\xD8",
        &encoded("utf-16le", "b один"),
        b"!",
    ]
    .concat();
    on_all(
        &[],
        |folder| {
            folder.write("1251", &windows);
            folder.write("16", &utf_16);
        },
        |server, folder| {
            let text = server.ok(
                "edit_file",
                json!({ "filename": "1251", "encoding": "windows-1251", "old_text": "раз", "new_text": "три" }),
            );
            assert!(
                text.starts_with("Replaced 2 in 1251\nLine 1\n") && text.contains("-раз \u{fffd} два раз\n"),
                "{text}"
            );
            let expected =
                [&encoded("windows-1251", "три ")[..], b"\x98 ", &encoded("windows-1251", "два три")]
                    .concat();
            assert_eq!(folder.read("1251"), expected);
            let text = server.ok(
                "edit_file",
                json!({ "filename": "16", "encoding": "utf-16", "old_text": "один", "new_text": "два" }),
            );
            assert!(text.starts_with("Replaced 2 in 16\nLine 1\n"), "{text}");
            let expected = [
                &b"\xFF\xFE\x00\xDC"[..],
                &encoded("utf-16le", "два a"),
                b"\x3D\xD8",
                &encoded("utf-16le", "b два"),
                b"!",
            ]
            .concat();
            assert_eq!(folder.read("16"), expected);
        },
    );
}

#[test]
fn what_would_be_written_wrong_is_an_error_with_line_column_and_value() {
    on_all(
        &[],
        |folder| {
            folder.write("1251", encoded("windows-1251", "раз\nдва\n"));
            folder.write("odd", b"a\0\n\0b\0c");
            folder.write("half", [&encoded("utf-16le", "a\nb")[..], b"\x3D\xD8"].concat());
            folder.write("halves", [b"\x3D\xD8", &encoded("utf-16le", "x")[..], b"\x00\xDE"].concat());
        },
        |server, folder| {
            let before = folder.snapshot();
            let lacks =
                "Error: Text holds a character that windows-1251 lacks: line 2, column 3: '漢' (U+6F22)\n";
            let ends = "Error: File contains invalid utf-16le encoding: line 2, column 2: ";
            for (path, encoding, old_text, new_text, expected) in [
                ("1251", "windows-1251", json!("два"), "a\nб 漢", lacks.to_owned()),
                ("1251", "windows-1251", json!("none"), "a\nб 漢", lacks.to_owned()),
                ("1251", "windows-1251", json!("a\nб 漢"), "a", lacks.to_owned()),
                ("1251", "windows-1251", json!("a\nб 漢"), "", lacks.to_owned()),
                ("1251", "windows-1251", Value::Null, "a\nб 漢", lacks.to_owned()),
                ("new", "windows-1251", Value::Null, "a\nб 漢", lacks.to_owned()),
                (
                    "odd",
                    "utf-16le",
                    Value::Null,
                    "x",
                    format!("{ends}the text ends inside a character, after 0x63"),
                ),
                (
                    "odd",
                    "utf-16le",
                    json!("z"),
                    "x",
                    format!("{ends}the text ends inside a character, after 0x63"),
                ),
                ("half", "utf-16le", Value::Null, "x", format!("{ends}0x3D 0xD8 is half of a pair")),
                (
                    "halves",
                    "utf-16le",
                    json!("x"),
                    "",
                    "Error: File contains invalid utf-16le encoding: line 1, column 1: 0x3D 0xD8 is half"
                        .to_owned(),
                ),
            ] {
                let arguments = json!({ "filename": path, "encoding": encoding, "old_text": old_text, "new_text": new_text });
                let text = failure(server, "edit_file", arguments);
                assert!(text.starts_with(expected.trim_end()), "{path}: {text}");
            }
            assert_eq!(folder.snapshot(), before);
            server.ok(
                "edit_file",
                json!({ "filename": "halves", "encoding": "utf-16le", "old_text": "x", "new_text": "y" }),
            );
        },
    );
}

#[test]
fn a_mark_stays_and_utf_16_gets_one() {
    let little = |text: &str| [&b"\xFF\xFE"[..], &encoded("utf-16le", text)].concat();
    let big = |text: &str| [&b"\xFE\xFF"[..], &encoded("utf-16be", text)].concat();
    on_all(
        &[],
        |folder| {
            folder.write("be", big("ab\n"));
            folder.write("le", little("ab\n"));
            folder.write("8", "\u{feff}ab\n");
            folder.write("none", encoded("utf-16le", "ab\n"));
        },
        |server, folder| {
            let edit = |path: &str, mut arguments: Value| {
                arguments["filename"] = json!(path);
                arguments["encoding"] = json!(if path == "8" { "utf-8" } else { "utf-16" });
                server.ok("edit_file", arguments)
            };
            for path in ["be", "le", "8", "none", "new"] {
                if path != "new" {
                    edit(path, json!({ "old_text": "b", "new_text": "漢" }));
                    edit(path, json!({ "new_text": "c" }));
                }
                let expected: Vec<u8> = match path {
                    "be" => big("a漢\nc"),
                    "le" => little("a漢\nc"),
                    "8" => "\u{feff}a漢\nc".into(),
                    _ => encoded("utf-16le", "a漢\nc"),
                };
                assert!(path == "new" || folder.read(path) == expected, "{path}: {:?}", folder.read(path));
                edit(path, json!({ "content": "d" }));
                let expected: Vec<u8> = match path {
                    "be" => big("d"),
                    "8" => "\u{feff}d".into(),
                    _ => little("d"),
                };
                assert_eq!(folder.read(path), expected, "{path}");
            }
            // UTF-8 is what was asked for, whatever the file was.
            for (path, was, tool) in [("be", "utf-16be", "edit_file"), ("le", "utf-16le", "write_file")] {
                let call = json!({ "filename": path, "content": "é\n", "encoding": "utf-8" });
                let written = server.tool(tool, call);
                let expected = format!("Encoding: was {was}, is now utf-8");
                assert_eq!(written.texts.get(1), Some(&expected), "{path}");
            }
            assert_eq!(folder.text("be"), "é\n");
        },
    );
}

#[test]
fn auto_says_what_it_took_and_no_encoding_is_guessed_unasked() {
    let text = "Съешь ещё этих мягких французских булок, да выпей чаю\n";
    let cyrillic = |text: &str| encoded("windows-1251", text);
    on_all(
        &[],
        |folder: &Folder| {
            folder.write("1251", cyrillic(text));
            folder.write("16", [&b"\xFE\xFF"[..], &encoded("utf-16be", text)].concat());
            folder.write("8", text);
            folder.write("bin", b"\x7fELF\x02\x01\0\0\0");
        },
        |server, folder| {
            for (path, note) in [
                ("1251", Some("Encoding: windows-1251 (guessed)")),
                ("16", Some("Encoding: utf-16be (by its byte order mark)")),
                ("8", None),
            ] {
                let arguments =
                    json!({ "filename": path, "encoding": "auto", "old_text": "чаю", "new_text": "чай" });
                let result = server.tool("edit_file", arguments);
                assert!(
                    !result.is_error && result.text.starts_with(&format!("Replaced 1 in {path}\nLine 1\n")),
                    "{result:?}"
                );
                assert_eq!(result.texts.get(1).map(String::as_str), note, "{path}");
            }
            let text = text.replace("чаю", "чай");
            assert_eq!(folder.read("1251"), cyrillic(&text));
            assert_eq!(folder.text("8"), text);
            let before = folder.snapshot();
            let unasked = failure(server, "edit_file", json!({ "filename": "1251", "new_text": "ё" }));
            assert!(
                unasked.starts_with("Error: File contains invalid UTF-8 encoding")
                    && unasked.ends_with("It is likely windows-1251: pass \"encoding\": \"windows-1251\"."),
                "{unasked}"
            );
            for encoding in ["utf-8", "auto", "windows-1251"] {
                let arguments = json!({ "filename": "bin", "encoding": encoding, "new_text": "x" });
                let text = failure(server, "edit_file", arguments);
                assert!(text.starts_with("Error: File 'bin' is not a text file"), "{encoding}: {text}");
            }
            assert_eq!(folder.snapshot(), before);
        },
    );
}

#[test]
fn wrong_bytes_in_utf_8_stay_and_what_is_likely_another_encoding_is_refused_with_its_place() {
    let damaged = ["раз два\nраз ".as_bytes(), b"\xFF\xE6\xBCx\xA2 \n"].concat();
    on_all(
        &[],
        |folder| {
            folder.write("f", &damaged);
            folder.write("1251", [&b"a\nb"[..], &encoded("windows-1251", "раз")].concat());
        },
        |server, folder| {
            let edit = |mut arguments: Value| {
                arguments["filename"] = json!("f");
                server.ok("edit_file", arguments)
            };
            let text = edit(json!({ "old_text": "раз", "new_text": "три" }));
            assert!(text.starts_with("Replaced 2 in f\nLines 1, 2\n"), "{text}");
            edit(json!({ "new_text": "end", "encoding": "utf-8" }));
            let expected = ["три два\nтри ".as_bytes(), b"\xFF\xE6\xBCx\xA2 \nend"].concat();
            assert_eq!(folder.read("f"), expected);
            let joins = failure(server, "edit_file", json!({ "filename": "f", "old_text": "x" }));
            assert!(joins.contains("line 2, column ") && joins.contains("0xE6 0xBC"), "{joins}");
            let miss = json!({ "filename": "f", "old_text": "двa", "new_text": "y", "if_missing": "fail" });
            assert!(failure(server, "edit_file", miss).contains("три два"));
            let auto = json!({ "filename": "f", "old_text": "три", "encoding": "auto" });
            assert!(!failure(server, "edit_file", auto).contains(", auto"));
            let other = failure(server, "edit_file", json!({ "filename": "1251", "new_text": "ё" }));
            assert!(other.contains("line 2, column 2: 0xF0"), "{other}");
            assert_eq!(folder.read("f"), expected);
        },
    );
}

#[test]
fn an_edited_file_is_not_taken_for_utf_8_afterwards() {
    on_all(
        &[],
        |folder| folder.write("f", encoded("windows-1251", "раз\n")),
        |server, folder| {
            let edit =
                json!({ "filename": "f", "encoding": "windows-1251", "old_text": "раз", "new_text": "два" });
            server.ok("edit_file", edit);
            let read = failure(server, "read_file", json!({ "filename": "f" }));
            assert!(read.starts_with("Error: File contains invalid UTF-8 encoding"), "{read}");
            let read = server.ok("read_file", json!({ "filename": "f", "encoding": "windows-1251" }));
            assert_eq!((&*read, folder.read("f")), ("два\n", encoded("windows-1251", "два\n")));
        },
    );
}
