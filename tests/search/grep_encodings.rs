//! What `grep` finds in files that are not UTF-8.

use serde_json::json;

use super::grep::parts;
use super::grep_whole::pages;
use super::serve;
use crate::support::{Folder, Mcp, Stdio};
use crate::trees::next_of;

#[test]
fn files_in_other_encodings_are_found_by_their_text() {
    let folder = Folder::new();
    let utf16 = |text: &str| -> Vec<u8> {
        [0xFF, 0xFE].into_iter().chain(text.encode_utf16().flat_map(u16::to_le_bytes)).collect()
    };
    folder.write("utf16", utf16("eins\r\nzwei Überraschung\r\n"));
    folder.write("large", utf16(&("eine Zeile\n".repeat(100_000) + "zwei Überraschung\n")));
    // "слово" and "Überraschung" in windows-1251 and windows-1252.
    folder.write("cyrillic", b"\xf1\xeb\xee\xe2\xee\n");
    folder.write("western", b"\xdcberraschung\n");
    let server = serve(&folder, &["--max-size=10"]);
    let lines = |pattern: &str, encoding: &str| {
        let arguments = json!({ "pattern": pattern, "output_mode": "content", "encoding": encoding });
        let text = server.ok("grep", arguments);
        (parts(&text).0.to_owned(), parts(&text).1.to_owned())
    };
    let marked = "large\n100001:zwei Überraschung\n\nutf16\n2:zwei Überraschung";
    // What is not UTF-8 is searched as what it likely is, and that is told.
    let (text, balance) = lines("zwei", "utf-8");
    assert_eq!(text, marked);
    assert!(
        balance.starts_with("4 files searched")
            && balance.contains("2 files not in UTF-8 searched in the likely encoding"),
        "{balance}"
    );
    assert_eq!(lines("(?i)überraschung", "windows-1252").0, format!("{marked}\n\nwestern\n1:Überraschung"));
    assert_eq!(lines("слово", "windows-1251").0, "cyrillic\n1:слово");
    let first = server.tool(
        "grep",
        json!({ "pattern": "eine", "output_mode": "content", "head_limit": 99_999, "path": "large", "-n": false }),
    );
    let last = pages(&server, next_of(&first).expect("more"));
    assert!(last.last().is_some_and(|page| page.ends_with("eine Zeile")), "{last:?}");
}

#[test]
fn one_wrong_byte_hides_no_file_from_a_search() {
    let folder = Folder::new();
    folder.write("damaged", [b"int x = 1; // caf\xFF ".to_vec(), "é €\n".as_bytes().to_vec()].concat());
    folder.write("large", [b"caf\xE9 x = 1\n".to_vec(), vec![b'\n'; 2 << 20]].concat());
    // "表示ソース" in Shift_JIS: the second bytes of two characters are backslashes.
    let japanese = b"// \x95\x5C\x8E\xA6\x83\x5C\x81\x5B\x83\x58 x = 1\n".repeat(12);
    folder.write("sjis", &japanese);
    let server = serve(&folder, &["--max-size=10"]);
    let ask = |pattern: &str| {
        let call = json!({ "pattern": pattern, "output_mode": "content", "sort": "path" });
        server.ok("grep", call)
    };
    let text = ask("x = 1");
    let found =
        ["damaged\n1:int x = 1; // caf\u{fffd} é €", "large\n1:café x = 1", "sjis\n1:// 表示ソース x = 1"];
    assert!(found.iter().all(|lines| text.contains(lines)), "{text}");
    let told = "[3 files searched, 14 matching lines in 3 files, 3 files not in UTF-8 searched in the likely encoding";
    assert!(text.contains(told), "{text}");
    assert!(ask("表示").contains("sjis\n1:// 表示ソース"));
    // No match begins inside a character.
    assert!(ask("\\\\").starts_with("No matches found"));
}

#[test]
fn a_text_with_escape_sequences_is_searched_as_what_they_say_and_that_is_told() {
    let folder = Folder::new();
    // "日本語" in ISO-2022-JP, whose bytes are ASCII.
    let japanese = b"From: K\n\x1b$BF|K\\8l\x1b(B text\n";
    folder.write("mail", japanese);
    // So long that a filter is made of it, and that it is not copied.
    folder.write("long", [&japanese[..], &b"line\n".repeat(300_000)].concat());
    folder.write("half", [b"\x1b(I1\x1b(B\n".to_vec(), b"line\n".repeat(3_000)].concat());
    folder.write("colours", b"\x1b(B\x1b[1mF|K\x1b(B\n");
    let server = serve(&folder, &["--max-size=10"]);
    let lines = |pattern: &str, encoding: &str, multiline: bool| {
        let call = json!({
            "pattern": pattern, "output_mode": "content", "sort": "path", "encoding": encoding, "multiline": multiline
        });
        let text = server.ok("grep", call);
        (parts(&text).0.to_owned(), parts(&text).1.to_owned())
    };
    for encoding in ["utf-8", "auto"] {
        for multiline in [false, true] {
            let (text, balance) = lines("日本.", encoding, multiline);
            assert_eq!(text, "long\n2:日本語 text\n\nmail\n2:日本語 text", "{encoding}");
            let told = "3 files not in UTF-8 searched in the likely encoding";
            assert_eq!(balance.contains(told), encoding == "utf-8", "{balance}");
            assert_eq!(lines("ｱ", encoding, multiline).0, "half\n1:ｱ", "{encoding}");
            // No half of a character is one.
            assert_eq!(lines("F\\|K", encoding, multiline).0, "colours\n1:\u{1b}(B\u{1b}[1mF|K\u{1b}(B");
        }
    }
}

/// Encodings, a line in each, a word of it, and bytes that are no character.
const LINES: [(&str, &str, &str, &[u8]); 7] = [
    ("gbk", "中文文本，测试一下编码。我们今天去学校读书写字，天气很好。\n", "测试", b"\xFF"),
    ("big5", "這個功能許可使用者開啟檔案，並且設定閱讀的路徑，如果成功。\n", "檔案", b"\xFF"),
    ("shift_jis", "日本語のテキスト、表示能力を確認する。予算は未定であります。\n", "表示", b"\xFF"),
    ("euc-jp", "日本語のテキスト、表示能力を確認する。予算は未定であります。\n", "表示", b"\xFF"),
    ("euc-kr", "한국어 글을 시험합니다. 우리는 오늘 학교에 가서 공부합니다.\n", "시험", b"\xFF"),
    ("windows-1251", "Съешь ещё этих мягких французских булок, да выпей чаю.\n", "мягких", b"\x98"),
    (
        "windows-1252",
        "Les élèves français sont déjà arrivés à l'école, où ils ont mangé.\n",
        "élèves",
        b"\x81",
    ),
];

/// The bytes of a text in an encoding, as the server writes them.
fn encoded(encoding: &str, text: &str) -> Vec<u8> {
    let folder = Folder::new();
    let server = Stdio::start(&folder, &["--tools=text"]).ready();
    server.ok("write_file", json!({ "filename": "f", "content": text, "encoding": encoding }));
    folder.read("f")
}

#[test]
fn one_wrong_byte_hides_no_text_that_is_not_ascii() {
    for (encoding, line, word, wrong) in LINES {
        let folder = Folder::new();
        let bytes = encoded(encoding, &line.repeat(8));
        folder.write("end", [&bytes[..], wrong].concat());
        folder.write("front", [wrong, &bytes[..]].concat());
        let server = serve(&folder, &[]);
        let count = |more: &str| {
            let call = json!({ "pattern": word, "output_mode": "count", "encoding": more });
            let text = server.ok("grep", call);
            (parts(&text).0.to_owned(), parts(&text).1.to_owned())
        };
        for more in ["", "auto", encoding] {
            let (text, balance) = count(more);
            assert_eq!(text, "end: 8\nfront: 8", "{encoding} {more:?}: {balance}");
            // Where the call names an encoding that does not fit, that is told.
            let told = "2 files with bytes that are no character of the encoding, searched as U+FFFD";
            assert_eq!(balance.contains(told), more == encoding, "{balance}");
        }
    }
}

#[test]
fn a_likely_encoding_proves_no_absence_of_other_characters_than_ascii() {
    let folder = Folder::new();
    let (_, line, word, _) = LINES[6];
    folder.write("mac", encoded("macintosh", &line.repeat(8)));
    folder.write("gbk", encoded("gbk", &LINES[0].1.repeat(8)));
    let server = serve(&folder, &[]);
    let ask = |pattern: &str, path: &str, encoding: &str| {
        server.ok(
            "grep",
            json!({ "pattern": pattern, "path": path, "encoding": encoding, "output_mode": "content" }),
        )
    };
    let other = "1 file without a match that may have another encoding than the likely one (pass encoding to name it)]";
    assert!(ask(word, "mac", "").contains(other), "{}", ask(word, "mac", ""));
    for pattern in ["absent", "[A-Z]bsent", "zz|(?-u:\\b)yy"] {
        assert!(ask(pattern, "mac", "").contains("nothing left out"), "{pattern}");
    }
    // A class or a border of words depends on what the bytes are.
    folder.write("word", b"n = 'Gr\x9a\xa7e'\n");
    folder.write("three", b"x \x95\\\n");
    for (pattern, path, encoding) in [(r"'\w+'", "word", "macintosh"), ("^.{3}$", "three", "shift_jis")] {
        assert!(ask(pattern, path, "").contains(other), "{}", ask(pattern, path, ""));
        assert!(ask(pattern, path, encoding).contains("\n1:"), "{}", ask(pattern, path, encoding));
    }
    for pattern in [r"zz\s", r"\bzz", "zz[^x]", "zz."] {
        assert!(ask(pattern, "mac", "").contains(other), "{pattern}");
    }
    assert!(ask(word, "mac", "macintosh").contains("1:Les élèves"));
    // Bytes that are all text of several bytes are no other text by chance.
    assert!(ask(word, "gbk", "").contains("nothing left out"));
    // But a line of another writer may be.
    let korean = "안녕하세요 세계 오늘 날씨 좋다 사람 시간 거리 학교 자동차\n".repeat(3);
    folder.write("mixed", [encoded("euc-kr", &korean), "Straße\n".into()].concat());
    assert!(ask("Straße", "mixed", "").contains(other), "{}", ask("Straße", "mixed", ""));
    assert!(ask("Brücke", "mixed", "").contains("nothing left out"));
}

#[test]
fn escape_sequences_anywhere_are_decoded_or_told() {
    let folder = Folder::new();
    let japanese = &b"From: K\n\x1b$BF|K\\8l\x1b(B text\n"[..];
    let far = b"a line in ASCII\n".repeat(70_000);
    folder.write("far", [&far, japanese].concat());
    folder.write("wrong", [japanese, b"\xFF\n"].concat());
    folder.write("mixed", [japanese, "é\n".as_bytes()].concat());
    folder.write("other", [japanese, b"\x1b$(D00\x1b(B\n"].concat());
    folder.write("korean", b"\x1b$)C\n\x0e0!1b\x0f\n");
    let server = serve(&folder, &["--max-size=10"]);
    let lines = |pattern: &str, path: &str, encoding: &str| {
        let call = json!({
            "pattern": pattern, "path": path, "encoding": encoding, "output_mode": "content", "-n": false
        });
        let text = server.ok("grep", call);
        (parts(&text).0.to_owned(), parts(&text).1.to_owned())
    };
    for name in ["far", "wrong", "mixed", "other"] {
        for encoding in ["", "auto", "iso-2022-jp"] {
            let (text, balance) = lines("日本.", name, encoding);
            assert_eq!(text, format!("{name}\n日本語 text"), "{encoding}: {balance}");
        }
    }
    for (name, is_whole) in
        [("far", true), ("wrong", true), ("mixed", true), ("other", false), ("korean", false)]
    {
        let (_, balance) = lines("中文", name, "");
        assert_eq!(balance.contains("nothing left out"), is_whole, "{name}: {balance}");
        let told = "1 file with characters of ISO-2022 that are not decoded";
        assert_eq!(balance.contains(told), !is_whole, "{name}: {balance}");
        assert!(lines("absent", name, "").1.contains("nothing left out"), "{name}");
    }
}

#[test]
fn a_text_in_the_roman_set_is_searched_as_it_is_and_as_it_reads() {
    let folder = Folder::new();
    folder.write("f", b"\x1b(Ja~b\\c\x1b(B\n");
    let server = serve(&folder, &[]);
    for encoding in ["", "auto"] {
        for pattern in ["~", "\\", "a", "¥", "‾"] {
            let call = json!({
                "pattern": pattern, "fixed_strings": true, "encoding": encoding, "output_mode": "count"
            });
            let text = server.ok("grep", call);
            assert!(text.starts_with("f: 1\n"), "{pattern}: {text}");
        }
    }
}
