//! Every encoding, read and written, against Python's codecs: all single bytes, and random texts.

use std::io::Write;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::serve;
use crate::support::{Folder, MB, Mcp, Random, memory_taken};

/// The encodings, and Python's names of them.
const CODECS: [(&str, &str); 8] = [
    ("utf-8", "utf-8-sig"),
    ("utf-16", "utf-16"),
    ("utf-16le", "utf-16-le"),
    ("utf-16be", "utf-16-be"),
    ("windows-1251", "cp1251"),
    ("windows-1252", "cp1252"),
    ("iso-8859-1", "iso8859-1"),
    ("iso-8859-15", "iso8859-15"),
];

/// Decodes bytes, or encodes texts; null is an error.
const SCRIPT: &str = r"
import json, sys
def run(codec, value):
    try:
        if isinstance(value, list):
            return bytes(value).decode(codec)
        return list(value.encode(codec))
    except UnicodeError:
        return None
json.dump([run(*case) for case in json.load(sys.stdin)], sys.stdout)
";

/// What Python gives for each codec and value: bytes as an array, or a text. `None` if there is no Python.
fn python(cases: &[(&str, Value)]) -> Option<Vec<Value>> {
    let started =
        Command::new("python3").args(["-c", SCRIPT]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let Ok(mut child) = started else {
        println!("skipped: there is no python3 to compare with");
        return None;
    };
    let mut input = child.stdin.take().expect("its input");
    input.write_all(json!(cases).to_string().as_bytes()).expect("a reader");
    drop(input);
    let output = child.wait_with_output().expect("its output");
    assert!(output.status.success());
    Some(serde_json::from_slice(&output.stdout).expect("JSON"))
}

#[test]
fn every_byte_and_random_bytes_are_read_as_by_python() {
    let (folder, mut random) = (Folder::new(), Random::new());
    let server = serve(&folder, &[]);
    let mut cases = Vec::new();
    for (ours, codec) in CODECS {
        // A NUL is no text here.
        let wide = |bytes: &[u8]| -> Vec<u8> { bytes.iter().flat_map(|byte| [*byte, 4]).collect() };
        let singles =
            (1..=255u8).map(|byte| if ours.starts_with("utf-16") { wide(&[byte]) } else { vec![byte] });
        let of_random = (0..60).map(|_| (0..random.below(12)).map(|_| random.below(255) as u8 + 1).collect());
        let of_random: Vec<Vec<u8>> = of_random.collect();
        cases.extend(singles.chain(of_random).map(|bytes| (ours, codec, bytes)));
    }
    let asked: Vec<_> = cases.iter().map(|(_, codec, bytes)| (*codec, json!(bytes))).collect();
    let Some(expected) = python(&asked) else { return };
    for ((encoding, _, bytes), expected) in cases.iter().zip(expected) {
        folder.write("f", bytes);
        let read = server.tool("read_file", json!({ "filename": "f", "encoding": encoding }));
        let told = if read.is_error { Value::Null } else { json!(read.text) };
        // A mark is not shown, whoever names the order of the bytes.
        let expected =
            expected.as_str().map_or(Value::Null, |text| json!(text.trim_start_matches('\u{feff}')));
        assert_eq!(told, expected, "{encoding} {bytes:x?}: {}", read.text);
        let filtered =
            server.tool("read_file", json!({ "filename": "f", "encoding": encoding, "pattern": "^" }));
        assert_eq!(filtered.is_error, expected.is_null(), "{encoding} {bytes:x?}: {}", filtered.text);
    }
}

#[test]
fn random_texts_are_written_as_by_python_and_read_back() {
    let (folder, mut random) = (Folder::new(), Random::new());
    let server = serve(&folder, &[]);
    let alphabet: Vec<char> = "aZ \t\n\r~é€ŠžœÿÄØ¤¦ЖщёЄ№„…™\u{80}\u{98}\u{a0}漢\u{301}😀".chars().collect();
    let mut cases = Vec::new();
    for (ours, codec) in CODECS {
        for number in 0..80 {
            // Most texts of the last characters are in no encoding of one byte.
            let end = if number % 2 == 0 { alphabet.len() } else { 14 };
            let text: String =
                (0..random.below(8)).map(|_| alphabet[random.below(end as u64) as usize]).collect();
            cases.push((ours, if codec == "utf-8-sig" { "utf-8" } else { codec }, text));
        }
    }
    let asked: Vec<_> = cases.iter().map(|(_, codec, text)| (*codec, json!(text))).collect();
    let Some(expected) = python(&asked) else { return };
    for ((encoding, _, text), expected) in cases.iter().zip(expected) {
        let _ = std::fs::remove_file(folder.path().join("f"));
        let call = json!({ "filename": "f", "encoding": encoding, "content": text });
        let written = server.tool("write_file", call);
        let bytes = if written.is_error { Value::Null } else { json!(folder.read("f")) };
        assert_eq!(bytes, expected, "{encoding} {text:?}: {}", written.text);
        if !written.is_error {
            let read = server.ok("read_file", json!({ "filename": "f", "encoding": encoding }));
            assert_eq!(read, *text, "{encoding}");
        }
    }
}

#[test]
fn what_auto_has_guessed_stands_in_a_text_of_its_own() {
    let folder = Folder::new();
    let server = serve(&folder, &[]);
    let text = "\u{421}ъешь ещё этих мягких французских булок\n";
    let cyrillic = |c: char| match c {
        'а'..='я' => (c as u32 - 'а' as u32) as u8 + 0xE0,
        'С' => 0xD1,
        'ё' => 0xB8,
        _ => c as u8,
    };
    folder.write("1251", text.chars().map(cyrillic).collect::<Vec<u8>>());
    folder.write(
        "16",
        [&b"\xFE\xFF"[..], &text.encode_utf16().flat_map(u16::to_be_bytes).collect::<Vec<u8>>()].concat(),
    );
    folder.write("8", text);
    for filter in [json!({}), json!({ "pattern": "ещё" }), json!({ "line_numbers": true })] {
        for (name, note) in [
            ("1251", Some("Encoding: windows-1251 (guessed)")),
            ("16", Some("Encoding: utf-16be (by its byte order mark)")),
            ("8", None),
        ] {
            let mut call = filter.clone();
            (call["filename"], call["encoding"]) = (json!(name), json!("auto"));
            let read = server.tool("read_file", call);
            assert!(!read.is_error && read.text.contains(text.trim_end()), "{name} {filter}: {}", read.text);
            assert_eq!(read.texts.get(1).map(String::as_str), note, "{name} {filter}");
        }
    }
    let refused = server.tool("read_file", json!({ "filename": "1251" }));
    assert!(
        refused.is_error && refused.text.contains("pass \"encoding\": \"windows-1251\""),
        "{}",
        refused.text
    );
}

#[test]
fn a_long_text_is_decoded_while_it_is_sent() {
    let folder = Folder::new();
    let line = "строка \"журнала\" с номером\r\n";
    let text = line.repeat(400_000);
    let bytes: Vec<u8> = text.chars().map(windows_1251).collect();
    folder.write("long", &bytes);
    folder.write("warm", &bytes[..2 << 20]);
    let server = serve(&folder, &["--answer-limit=0", "--max-file=100"]);
    let read = |name: &str| server.ok("read_file", json!({ "filename": name, "encoding": "windows-1251" }));
    read("warm");
    let taken = memory_taken(server.pid(), bytes.len(), || assert!(read("long") == text));
    assert!(taken <= 4 * MB, "{taken} bytes");
}

/// A byte of windows-1251, of ASCII and small letters.
fn windows_1251(character: char) -> u8 {
    match character {
        'а'..='я' => (character as u32 - 'а' as u32) as u8 + 0xE0,
        ascii => ascii as u8,
    }
}

/// "日本" in ISO-2022-JP, whose bytes are ASCII, and a line in ASCII.
const ESCAPED: &[u8] = b"\x1b$BF|K\\\x1b(B K\nline\n";

#[test]
fn a_read_of_escape_sequences_names_their_encoding() {
    let folder = Folder::new();
    folder.write("f", ESCAPED);
    folder.write("colours", b"\x1b[1mbold\x1b(B\n");
    let words = "likely iso-2022-jp: pass \"encoding\": \"iso-2022-jp\".";
    for (set, tool, path, more) in [
        ("text", "read_file", "filename", json!({})),
        ("text", "read_file", "filename", json!({ "line_numbers": true })),
        ("text", "read_file", "filename", json!({ "pattern": "日本" })),
        ("text", "view", "filename", json!({ "end_line": 1 })),
        ("filesystem", "read_text_file", "path", json!({ "head": 1 })),
        ("lines", "read_file", "name", json!({})),
        ("lines", "read_file", "name", json!({ "line_numbers": true })),
    ] {
        let server = crate::support::Stdio::start(&folder, &[&format!("--tools={set}")]).ready();
        let ask = |file: &str, encoding: Option<&str>| {
            let mut arguments = more.clone();
            arguments[path] = json!(file);
            encoding.into_iter().for_each(|encoding| arguments["encoding"] = json!(encoding));
            server.tool(tool, arguments)
        };
        let told = ask("f", None);
        let expected =
            if set == "lines" { "likely iso-2022-jp, which read_file does not decode" } else { words };
        // A pattern that matches nothing in the bytes is told beside it.
        let further = |texts: &[String]| {
            let notes = texts.iter().skip(1).filter(|text| !text.starts_with("[No line matches"));
            notes.cloned().collect::<Vec<_>>()
        };
        let notes = further(&told.texts);
        assert!(notes.len() == 1 && notes[0].contains(expected), "{tool} {more}: {:?}", told.texts);
        assert!(further(&ask("colours", None).texts).is_empty(), "{tool} {more}");
        if set != "lines" {
            let auto = ask("f", Some("auto"));
            assert!(auto.text.contains("日本 K"), "{}", auto.text);
            assert_eq!(auto.texts[1], "Encoding: iso-2022-jp (guessed)");
            assert_eq!(ask("f", Some("iso-2022-jp")).texts.len(), 1);
        }
    }
    let server = crate::support::Stdio::start(&folder, &["--tools=filesystem"]).ready();
    let several = server.ok("read_multiple_files", json!({ "paths": ["f", "colours"] }));
    assert!(several.matches(words).count() == 1, "{several}");
}

#[test]
fn no_tool_puts_other_characters_between_escape_sequences() {
    for (set, tool, path) in [
        ("exact", "file_edit", "path"),
        ("filesystem", "edit_file", "path"),
        ("text", "edit_file", "filename"),
    ] {
        let folder = Folder::new();
        folder.write("f", ESCAPED);
        let server = crate::support::Stdio::start(&folder, &[&format!("--tools={set}")]).ready();
        let edit = match set {
            "exact" => json!({ (path): "f", "edits": [{ "old_text": "F", "new_text": "G" }] }),
            "filesystem" => json!({ (path): "f", "edits": [{ "oldText": "F", "newText": "G" }] }),
            _ => json!({ (path): "f", "old_text": "F", "new_text": "G" }),
        };
        let refused = server.tool(tool, edit);
        assert!(
            refused.is_error && refused.text.contains("iso-2022-jp is not edited in parts"),
            "{}",
            refused.text
        );
        // What is advised can be done with the tools of the set, or without a tool.
        let advice =
            if set == "exact" { "convert the file to UTF-8" } else { "write the whole text instead" };
        assert!(
            refused.text.contains(advice) && !refused.text.contains("old_text, new_text"),
            "{}",
            refused.text
        );
        assert_eq!(folder.read("f"), ESCAPED);
    }
    let folder = Folder::new();
    folder.write("f", ESCAPED);
    let server = crate::support::Stdio::start(&folder, &["--tools=lines"]).ready();
    let replace = |content: &str| {
        let edit = json!({ "line": 0, "operation": "replace", "content": content });
        server.tool("edit_file", json!({ "name": "f", "edits": [edit] }))
    };
    let refused = replace("日");
    assert!(
        refused.is_error && refused.text.contains("iso-2022-jp is not edited in parts"),
        "{}",
        refused.text
    );
    assert_eq!(folder.read("f"), ESCAPED);
    assert!(!replace("day").is_error && folder.read("f") == b"day\nline\n");
}

#[test]
fn a_refusal_of_halves_of_characters_names_the_line_and_only_what_helps() {
    const KOREAN: &[u8] = b"\x1b$)C\nK \x0e0!Kb\x0f K\n";
    for (set, tool, path, edit, line) in [
        ("exact", "file_edit", "path", json!({ "edits": [{ "old_text": "Kb", "new_text": "x" }] }), 2),
        ("filesystem", "edit_file", "path", json!({ "edits": [{ "oldText": "Kb", "newText": "x" }] }), 2),
        ("text", "edit_file", "filename", json!({ "old_text": "Kb", "new_text": "x" }), 2),
        ("text", "edit_file", "filename", json!({ "old_text": "C\nK", "new_text": "x" }), 1),
    ] {
        let folder = Folder::new();
        folder.write("f", KOREAN);
        let server = crate::support::Stdio::start(&folder, &[&format!("--tools={set}")]).ready();
        let mut edit = edit;
        edit[path] = json!("f");
        let refused = server.tool(tool, edit);
        let told = format!(
            "the edit begins or ends between escape sequences of ISO-2022, or inside one (line {line}); "
        );
        assert!(refused.is_error && refused.text.contains(&told), "{set}: {}", refused.text);
        assert!(!refused.text.contains("iso-2022-jp"), "{set}: {}", refused.text);
        assert_eq!(folder.read("f"), KOREAN);
    }
    // A line that ends in a CR alone is between the sequences; other text in its place changes nothing about that.
    let folder = Folder::new();
    let japanese = b"\x1b$BF|\rK\\\x1b(B\n\xc3\xa9\n";
    folder.write("f", japanese);
    let server = crate::support::Stdio::start(&folder, &["--tools=lines"]).ready();
    let edit = json!({ "line": 1, "operation": "replace", "content": "day" });
    let refused = server.tool("edit_file", json!({ "name": "f", "edits": [edit] }));
    assert!(refused.is_error && refused.text.contains("or inside one (line 1); convert"), "{}", refused.text);
    assert_eq!(folder.read("f"), japanese);
}
