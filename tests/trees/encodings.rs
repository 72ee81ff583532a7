//! Texts in other encodings than UTF-8 (contract 13).

use serde_json::{Value, json};

use super::bounded::{LIMIT, follow, lines, pages};
use super::{on_all, outcome, serve};
use crate::support::{Folder, Mcp};

/// A text in windows-1251, which is no UTF-8.
fn cyrillic(text: &str) -> Vec<u8> {
    let byte = |c: char| match c {
        'а'..='я' => (c as u32 - 'а' as u32) as u8 + 0xE0,
        'А'..='Я' => (c as u32 - 'А' as u32) as u8 + 0xC0,
        'ё' => 0xB8,
        _ => u8::try_from(c).expect("ASCII"),
    };
    text.chars().map(byte).collect()
}

fn utf_16(text: &str, with_mark: bool) -> Vec<u8> {
    let mark = if with_mark { Some(0xFEFF) } else { None };
    mark.into_iter().chain(text.encode_utf16()).flat_map(u16::to_be_bytes).collect()
}

const TEXT: &str = "Съешь ещё этих мягких\r\nфранцузских булок,\r\nда выпей чаю\r\n";

fn fill(folder: &Folder) {
    folder.write("utf-8", TEXT);
    folder.write("1251", cyrillic(TEXT));
    folder.write("16", utf_16(TEXT, true));
    folder.write("16be", utf_16(TEXT, false));
    folder.write("latin", b"caf\xE9 \x80\n");
    folder.write("undefined", [cyrillic("раз\nдва "), b"\x98".to_vec()].concat());
    folder.write("odd", b"a\0b\0\n\0c");
    folder.write("lone", b"a\0\x01\xDC");
    folder.write("bin", b"\x7fELF\x02\x01\0\0\0");
    folder.write("damaged", "ещё чаю\u{1}".as_bytes().iter().copied().chain(*b"\xFF").collect::<Vec<u8>>());
    folder.write(
        "koi",
        b"\xF3\xDF\xC5\xDB\xD8 \xC5\xDD\xA3 \xDC\xD4\xC9\xC8 \xCD\xD1\xC7\xCB\xC9\xC8 \xC2\xD5\xCC\xCF\xCB",
    );
}

#[test]
fn a_text_is_read_alike_in_every_encoding_whatever_part_of_it_is_asked_for() {
    on_all(&[], fill, |server, _| {
        for part in [
            json!({}),
            json!({ "head": 2 }),
            json!({ "tail": 2 }),
            json!({ "start_line": 2 }),
            json!({ "start_line": 1, "end_line": 2 }),
            json!({ "offset": 3, "limit": 5 }),
            json!({ "line_numbers": true }),
            json!({ "tail": 1, "line_numbers": true }),
            json!({ "start_line": 9 }),
        ] {
            let call = |path: &str, encoding: Option<&str>| {
                let mut arguments = part.clone();
                arguments["path"] = json!(path);
                if let Some(encoding) = encoding {
                    arguments["encoding"] = json!(encoding);
                }
                outcome(server, "read_text_file", &arguments)
            };
            let expected = call("utf-8", None);
            for (path, encoding) in [
                ("utf-8", "utf8"),
                ("utf-8", "auto"),
                ("1251", "windows-1251"),
                ("1251", "CP1251"),
                ("1251", "auto"),
                ("16", "utf-16"),
                ("16", "UTF-16BE"),
                ("16", "auto"),
                ("16be", "utf_16be"),
            ] {
                assert_eq!(call(path, Some(encoding)), expected, "{part} {path} {encoding}");
            }
        }
    });
}

#[test]
fn latin_1_is_the_real_one() {
    on_all(&[], fill, |server, _| {
        for (encoding, text) in
            [("iso-8859-1", "café \u{80}\n"), ("windows-1252", "café €\n"), ("iso-8859-15", "café \u{80}\n")]
        {
            let read = outcome(server, "read_text_file", &json!({ "path": "latin", "encoding": encoding }));
            assert_eq!(read, (false, text.to_owned()), "{encoding}");
        }
    });
}

#[test]
fn what_auto_has_found_stands_behind_the_text() {
    on_all(&[], fill, |server, _| {
        let told = |path: &str| {
            let read = server.tool("read_text_file", json!({ "path": path, "encoding": "auto" }));
            assert!(!read.is_error && read.text == TEXT, "{path}: {read:?}");
            let meta = read.result["_meta"]["file-editor/encoding"].clone();
            (read.texts[1..].to_vec(), meta)
        };
        let windows = "Encoding: windows-1251 (guessed)".to_owned();
        assert_eq!(told("1251"), (vec![windows], json!("windows-1251")));
        let marked = "Encoding: utf-16be (by its byte order mark)".to_owned();
        assert_eq!(told("16"), (vec![marked], json!("utf-16be")));
        assert_eq!(told("utf-8"), (vec![], Value::Null));
        let given = server.tool("read_text_file", json!({ "path": "1251", "encoding": "windows-1251" }));
        assert_eq!(given.texts.len(), 1);
    });
}

#[test]
fn an_error_names_the_likely_encoding_and_the_argument_to_pass() {
    on_all(&[], fill, |server, _| {
        let no_utf_8 = "Error: File contains invalid UTF-8 encoding\n";
        for (path, expected) in [
            ("1251", format!("{no_utf_8}It is likely windows-1251: pass \"encoding\": \"windows-1251\".")),
            ("16", format!("{no_utf_8}It is likely utf-16: pass \"encoding\": \"utf-16\".")),
            ("koi", format!("{no_utf_8}It may be koi8-u: pass \"encoding\": \"koi8-u\".")),
        ] {
            for tool in ["read_text_file", "read_file"] {
                let (failed, text) = outcome(server, tool, &json!({ "path": path }));
                let text =
                    text.replace("File '16' is not a text file", "File contains invalid UTF-8 encoding");
                assert!(failed && text == expected, "{tool} {path}: {text}");
            }
            let (_, text) = outcome(server, "read_multiple_files", &json!({ "paths": [path] }));
            let words = expected.rsplit_once('\n').expect("two lines").1;
            assert!(text.starts_with(&format!("{path}: Error - File ")) && text.contains(words), "{text}");
        }
        let (_, damaged) = outcome(server, "read_text_file", &json!({ "path": "damaged" }));
        assert!(damaged.contains("It may be UTF-8 with some wrong bytes"), "{damaged}");
        let (_, binary) = outcome(server, "read_text_file", &json!({ "path": "bin" }));
        assert!(binary.starts_with("Error: File 'bin' is not a text file\nIt is an ELF program or library, not text. Get its bytes"), "{binary}");
    });
}

#[test]
fn an_edit_of_another_encoding_needs_its_name_unless_its_texts_are_ascii() {
    on_all(&[], fill, |server, folder| {
        let edit =
            |old: &str, new: &str| json!({ "path": "1251", "edits": [{ "oldText": old, "newText": new }] });
        let expected = "Error: File contains invalid UTF-8 encoding\n\
            It is likely windows-1251: pass \"encoding\": \"windows-1251\".";
        assert_eq!(outcome(server, "edit_file", &edit("чаю", "чая")), (true, expected.to_owned()));
        assert_eq!(folder.read("1251"), cyrillic(TEXT));
        let mut named = edit("чаю", "чая");
        named["encoding"] = json!("windows-1251");
        let done = outcome(server, "edit_file", &named);
        assert!(!done.0 && done.1.contains("-да выпей чаю\n+да выпей чая\n"), "{done:?}");
        let text = TEXT.replace("чаю", "чая");
        assert_eq!(folder.read("1251"), cyrillic(&text));
        let done = server.tool("edit_file", edit(",\r\n", ";\r\n"));
        assert!(!done.is_error && done.texts[1] == "Encoding: windows-1251 (guessed)", "{done:?}");
        assert_eq!(folder.read("1251"), cyrillic(&text.replace(',', ";")));
        named["edits"][0]["newText"] = json!("漢");
        named["edits"][0]["oldText"] = json!("чая");
        let lacking = outcome(server, "edit_file", &named);
        assert!(lacking.0 && lacking.1.contains("windows-1251 lacks: line 1, column 1"), "{lacking:?}");
        assert_eq!(folder.read("1251"), cyrillic(&text.replace(',', ";")));
    });
}

/// The bytes of a text in Shift_JIS: two of each character that is not ASCII.
fn japanese(text: &str) -> Vec<u8> {
    let bytes = |c: char| match c {
        '表' => vec![0x95, 0x5C],
        '示' => vec![0x8E, 0xA6],
        'ソ' => vec![0x83, 0x5C],
        'ー' => vec![0x81, 0x5B],
        'ス' => vec![0x83, 0x58],
        c => vec![u8::try_from(c).expect("ASCII")],
    };
    text.chars().flat_map(bytes).collect()
}

#[test]
fn one_wrong_byte_hides_no_file_from_edits_in_ascii() {
    let source = "// 表示ソース\npath = \"a\\b\";\n".repeat(12);
    on_all(
        &[],
        |folder| {
            folder.write("sjis.c", japanese(&source));
            folder.write(
                "damaged.c",
                [b"int x = 1; // caf\xFF ".to_vec(), "é €\n".as_bytes().to_vec()].concat(),
            );
        },
        |server, folder| {
            // The second bytes of two of the characters are backslashes.
            let edit = json!({ "path": "sjis.c", "edits": [{ "oldText": "\\", "newText": "/", "replaceAll": true }] });
            let done = outcome(server, "edit_file", &edit);
            assert!(!done.0, "{done:?}");
            assert_eq!(folder.read("sjis.c"), japanese(&source.replace('\\', "/")));
            let edit = json!({ "path": "damaged.c", "edits": [{ "oldText": "x = 1", "newText": "x = 2" }] });
            let done = outcome(server, "edit_file", &edit);
            assert!(!done.0, "{done:?}");
            assert!(folder.read("damaged.c").starts_with(b"int x = 2; // caf\xFF \xC3"));
        },
    );
}

#[test]
fn texts_of_characters_of_several_bytes_are_read_written_and_edited() {
    let text = "// 表示ソース\n".repeat(3);
    on_all(
        &[],
        |folder| folder.write("f", japanese(&text)),
        |server, folder| {
            let read = |encoding: &str| {
                outcome(server, "read_text_file", &json!({ "path": "f", "encoding": encoding }))
            };
            for encoding in ["shift_jis", "SJIS", "cp932"] {
                assert_eq!(read(encoding), (false, text.clone()), "{encoding}");
            }
            let edit = json!({ "path": "f", "encoding": "shift_jis", "edits": [
            { "oldText": "ソース", "newText": "ソー", "replaceAll": true },
        ] });
            assert!(!outcome(server, "edit_file", &edit).0);
            assert_eq!(folder.read("f"), japanese(&text.replace("ソース", "ソー")));
            let near = outcome(server, "read_text_file", &json!({ "path": "f", "encoding": "shift-jiss" }));
            assert!(near.0 && near.1.contains("like it are shift_jis"), "{near:?}");
        },
    );
}

#[test]
fn what_edits_that_fit_blanks_aside_do_not_change_keeps_its_bytes() {
    // In GB18030, one byte and two are the same character; the last byte is none.
    let text = b"if x:\n\ta()\n\tp('\x80')\n\tb()\n# \xA2\xE3 \xFF\n";
    on_all(
        &[],
        |folder| folder.write("f", text),
        |server, folder| {
            let edit = |edits: &[(&str, &str)]| {
                let edits: Vec<Value> =
                    edits.iter().map(|(old, new)| json!({ "oldText": old, "newText": new })).collect();
                let call = json!({ "path": "f", "encoding": "gb18030", "edits": edits });
                outcome(server, "edit_file", &call)
            };
            let refused = edit(&[("a() ", "c()"), ("b() ", "d()")]);
            assert!(refused.0 && folder.read("f") == text, "{refused:?}");
            let done = edit(&[("a() \np('€')\nb()", "c()\np('€')\nd()")]);
            let expected = b"if x:\n\tc()\n\tp('\x80')\n\td()\n# \xA2\xE3 \xFF\n";
            assert!(!done.0 && folder.read("f") == expected, "{done:?}");
            folder.write("f", "if x:\n\ta()\n\tb()\n");
            let call = json!({ "path": "f", "encoding": "auto", "edits": [
                { "oldText": "a() ", "newText": "c()" }, { "oldText": "b() ", "newText": "é()" },
            ] });
            let done = outcome(server, "edit_file", &call);
            assert!(!done.0 && folder.read("f") == "if x:\n\tc()\n\té()\n".as_bytes(), "{done:?}");
        },
    );
}

#[test]
fn bytes_that_are_no_character_are_an_error_with_their_place_and_value() {
    on_all(&[], fill, |server, _| {
        for (path, encoding, expected) in [
            ("undefined", "windows-1251", "line 2, column 5: 0x98 is no character"),
            ("odd", "utf-16le", "line 2, column 1: the text ends inside a character, after 0x63"),
            ("lone", "utf-16", "line 1, column 2: 0x01 0xDC is half of a pair without the other half"),
        ] {
            let (failed, text) =
                outcome(server, "read_text_file", &json!({ "path": path, "encoding": encoding }));
            let name = if encoding == "utf-16" { "utf-16le" } else { encoding };
            assert!(failed, "{path}: {text}");
            let message = format!("Error: File contains invalid {name} encoding: {expected}\n");
            let hint = "If it has another encoding, pass \"encoding\", such as utf-8, ";
            assert!(text.starts_with(&message) && text.contains(hint), "{text}");
            assert_eq!(
                text.contains("If it is UTF-16, lines without them can be read"),
                path == "lone",
                "{text}"
            );
            assert!(!text.contains(&format!(" {encoding},")), "what has failed is not advised: {text}");
        }
        let binary = outcome(server, "read_text_file", &json!({ "path": "bin", "encoding": "latin1" }));
        assert!(binary.1.starts_with("Error: File 'bin' is not a text file"), "{binary:?}");
        let unknown = outcome(server, "read_text_file", &json!({ "path": "bin", "encoding": "klingon" }));
        let expected = "expected an encoding, such as utf-8, utf-16, windows-1252";
        assert!(unknown.0 && unknown.1.contains(expected), "{unknown:?}");
    });
}

#[test]
fn several_files_may_have_several_encodings() {
    on_all(&[], fill, |server, _| {
        let paths = json!([
            { "path": "1251", "encoding": "auto", "start_line": 3 },
            { "path": "16", "encoding": "utf-16", "start_line": 3 },
            "latin",
        ]);
        let (failed, text) = outcome(server, "read_multiple_files", &json!({ "paths": paths }));
        let expected = "1251:\nда выпей чаю\n[Encoding: windows-1251 (guessed)]\n\n---\n16:\nда выпей чаю\n\n---\nlatin: Error - ";
        assert!(!failed && text.starts_with(expected), "{text}");
    });
}

/// A page without its last line, and without the break before it if the page does not end in one.
fn shown(text: &str) -> &str {
    text.rfind("[Shown: ").map_or(text, |end| &text[..end])
}

#[test]
fn the_pages_of_a_long_text_are_together_the_text() {
    let folder = Folder::new();
    let server = serve(&folder, &[LIMIT]);
    let text: String = (0..300).map(|n| format!("строка {n} этого длинного текста\r\n")).collect();
    folder.write("1251", cyrillic(&text));
    folder.write("16", utf_16(&text, true));
    for (path, encoding) in [("1251", "windows-1251"), ("1251", "auto"), ("16", "auto"), ("16", "utf-16")] {
        let read = |more: Value| {
            let mut arguments = json!({ "path": path, "encoding": encoding });
            arguments
                .as_object_mut()
                .expect("an object")
                .extend(more.as_object().expect("an object").clone());
            pages(&server, "read_text_file", arguments)
        };
        let joined: String = read(json!({})).iter().map(|page| shown(&page.text).to_owned()).collect();
        assert_eq!(joined, text, "{path} {encoding}");
        let numbered = lines(&read(json!({ "line_numbers": true, "start_line": 2 })));
        let expected: Vec<String> =
            text.lines().enumerate().skip(1).map(|(n, line)| format!("{}\t{line}", n + 1)).collect();
        assert_eq!(numbered, expected, "{path} {encoding}");
        for head in [json!({ "head": 200 }), json!({ "tail": 200 })] {
            let tail = head.get("tail").is_some();
            let joined: String = read(head).iter().map(|page| shown(&page.text).to_owned()).collect();
            let lines: Vec<&str> = text.split('\n').collect();
            let expected = if tail {
                lines[lines.len() - 200..].join("\n").replace('\r', "")
            } else {
                lines[..200].join("\n")
            };
            assert_eq!(joined, expected, "{path} {encoding} {tail}");
        }
    }
}

#[test]
fn a_line_longer_than_an_answer_goes_on_inside_of_characters_of_two_units() {
    let folder = Folder::new();
    let server = serve(&folder, &[LIMIT]);
    let text = "漢😀".repeat(900);
    folder.write("16", utf_16(&text, true));
    for arguments in [
        json!({ "path": "16", "encoding": "utf-16" }),
        json!({ "path": "16", "encoding": "auto", "line_numbers": true }),
    ] {
        let pages = follow(&server, "read_text_file", arguments);
        let joined: String = lines(&pages).concat();
        assert_eq!(joined.trim_start_matches("1\t"), text);
    }
}

#[test]
fn a_cursor_belongs_to_its_encoding() {
    let folder = Folder::new();
    let server = serve(&folder, &[LIMIT]);
    folder.write("a", cyrillic(&TEXT.replace("\r\n", " ").repeat(50)));
    let page = server.tool("read_text_file", json!({ "path": "a", "encoding": "auto" }));
    let mut next = page.result["_meta"]["file-editor/truncated"]["next"].clone();
    assert_eq!(next["encoding"], "windows-1251");
    next["encoding"] = json!("latin1");
    assert!(server.refused("read_text_file", next).contains("it belongs to another call"));
}

#[test]
fn a_new_entry_below_a_file_is_refused_and_names_the_file() {
    on_all(
        &[],
        |folder| folder.write("a", "x"),
        |server, folder| {
            for (tool, arguments) in [
                ("write_file", json!({ "path": "a/new", "content": "" })),
                ("write_file", json!({ "path": "a/b/new", "content": "" })),
                ("create_directory", json!({ "path": "a/new" })),
                ("copy_file", json!({ "source": "a", "destination": "a/new" })),
                ("move_file", json!({ "source": "a", "destination": "a/new/" })),
            ] {
                let (failed, text) = outcome(server, tool, &arguments);
                assert!(failed && text.starts_with("Error: 'a' is a file, not a folder\n"), "{tool}: {text}");
            }
            let read = outcome(server, "read_text_file", &json!({ "path": "a/new" }));
            assert!(read.1.starts_with("Error: File 'a/new' not found"), "{read:?}");
            assert_eq!(folder.read("a"), b"x");
        },
    );
}
