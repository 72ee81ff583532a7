//! Text that is put into a file is in the encoding of the file, in every set and by every kind of edit.

use serde_json::{Value, json};
use text::encoding::Encoding;

use crate::support::{Folder, Mcp, Stdio};
use crate::trees::put;

/// Calls of each set that put `new` into the file `f`, which holds `old` in one place, with an encoding or none.
fn calls(old: &str, new: &str, encoding: Option<&str>) -> Vec<(&'static str, &'static str, Value)> {
    let edit = |mut edit: Value| {
        edit["path"] = json!("f");
        if let Some(encoding) = encoding {
            edit["encoding"] = json!(encoding);
        }
        ("agent", "edit", json!({ "edits": [edit] }))
    };
    let mut others = [
        ("agent", "replace", json!({ "pattern": old, "replacement": new })),
        ("agent", "replace", json!({ "pattern": "^", "replacement": new })),
        ("text", "edit_file", json!({ "filename": "f", "old_text": old, "new_text": new })),
        (
            "text",
            "edit_file",
            json!({ "filename": "f", "old_text": "nowhere", "new_text": new, "if_missing": "append" }),
        ),
        ("text", "edit_file", json!({ "filename": "f", "new_text": new })),
        ("filesystem", "edit_file", json!({ "path": "f", "edits": [{ "oldText": old, "newText": new }] })),
    ];
    if let Some(encoding) = encoding {
        others.iter_mut().for_each(|(_, _, call)| call["encoding"] = json!(encoding));
    }
    let edits = [
        edit(json!({ "old": old, "new": new })),
        edit(json!({ "lines": "1", "new": new })),
        edit(json!({ "append": new })),
    ];
    edits.into_iter().chain(others).collect()
}

/// Fails if one of the calls puts something into a file with these bytes. Returns the refusals.
fn refusals(bytes: &[u8], calls: Vec<(&'static str, &'static str, Value)>) -> Vec<String> {
    let folder = Folder::new();
    let mut refusals = Vec::new();
    for set in ["agent", "text", "filesystem"] {
        let server = Stdio::start(&folder, &[&format!("--tools={set}")]).ready();
        for (_, tool, call) in calls.iter().filter(|(of, ..)| *of == set) {
            put(&folder, "f", bytes);
            let answer = server.tool(tool, call.clone());
            assert_eq!(folder.read("f"), bytes, "{call} {}", answer.text);
            if answer.is_error {
                refusals.push(answer.text);
            }
        }
    }
    refusals
}

#[test]
fn a_file_that_is_not_utf_16_gets_no_utf_16() {
    let code = b"int main() {\n  return 0;\n}\n";
    for encoding in ["utf-16", "ucs-2", "unicode", "utf-16le", "utf-16be"] {
        let told = refusals(code, calls("return 0;", "ok", Some(encoding)));
        assert!(told.len() >= 7, "{encoding} {told:#?}");
        assert!(told.iter().any(|text| text.contains("the file is text in utf-8")), "{told:#?}");
    }
    refusals("schön ist es\n".as_bytes(), calls("ist", "ok", Some("utf-16")));
    refusals(b"caf\xE9 au lait\n", calls("au", "ok", Some("utf-16le")));
}

#[test]
fn a_file_in_utf_8_gets_no_text_in_another_encoding() {
    let text = "häöü ÄÖ text 日本\n".as_bytes();
    for encoding in ["windows-1252", "iso-8859-1", "gb18030"] {
        let told = refusals(text, calls("text", "é", Some(encoding)));
        assert!(told.iter().all(|text| text.contains("the file is text in utf-8")), "{told:#?}");
        assert_eq!(told.len(), 9, "{encoding} {told:#?}");
    }
    let told = refusals(text, calls("text", "ж", Some("koi8-r")));
    assert_eq!(told.len(), 9, "{told:#?}");
}

#[test]
fn a_short_text_in_another_encoding_gets_no_utf_8() {
    let code = "/* パスワードリセットの確認 */\nint main(void) {\n    puts(\"ok\");\n    return 0;\n}\n";
    let thai = code.replace("パスワードリセットの確認", "ยืนยันการตั้งรหัสผ่านใหม่");
    for (encoding, text, new, label) in
        [(Encoding::EucJp, code, "終わり", "euc-jp"), (Encoding::Windows874, &thai, "ดี", "windows-874")]
    {
        let mut bytes = Vec::new();
        encoding.encode(text, &mut bytes).expect("its characters");
        let told = refusals(&bytes, calls("ok", new, None));
        assert_eq!(told.len(), 9, "{told:#?}");
        let named = told.iter().filter(|text| text.contains(label)).count();
        assert!(named >= 7, "{told:#?}");
    }
}

#[test]
fn utf_16_without_mark_blanks_and_breaks_is_no_plain_text() {
    for (text, word) in [("ความสุขของประเทศไทย", "สุข"), ("Привет", "вет")]
    {
        for (wide, label) in [(Encoding::Utf16Le, "utf-16le"), (Encoding::Utf16Be, "utf-16be")] {
            for times in [1, 300] {
                let mut bytes = Vec::new();
                wide.encode(&text.repeat(times), &mut bytes).expect("all characters");
                let mut calls = calls("nowhere", "x", None);
                // It puts text in as the file is likely encoded, and says so.
                calls.retain(|(_, tool, _)| *tool != "replace");
                let told = refusals(&bytes, calls);
                assert!(told.iter().filter(|text| text.contains(label)).count() >= 4, "{told:#?}");
                let folder = Folder::new();
                put(&folder, "f", &bytes);
                let server = Stdio::start(&folder, &["--tools=filesystem,search"]).ready();
                let found = server.ok("grep", json!({ "pattern": word }));
                assert!(found.contains("1 matching line in 1 file, 1 file not in UTF-8"), "{found}");
                let read = server.tool("read_text_file", json!({ "path": "f", "encoding": "auto" }));
                let told = read.texts.join("\n");
                assert!(read.text.contains(text) && told.contains("unsure"), "{told}");
            }
        }
    }
}
