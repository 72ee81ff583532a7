//! `replace` against crate `regex`: the same bytes in every file, whatever its encoding.

use proptest::prelude::*;
use proptest::sample::select;
use serde_json::json;

use super::serve;
use crate::support::{Folder, Mcp};

/// What a text is not taken for another encoding with, though one byte of it is wrong.
const UTF_8: &str = "ü日本語 ü日本語 ü日本語\n";

/// How a text becomes the bytes of a file, and a text again.
#[derive(Debug, Clone, Copy)]
enum Form {
    Utf8,
    Marked,
    Utf16,
    /// With a byte in front that is no character.
    Wrong,
}

impl Form {
    fn bytes(self, text: &str) -> Vec<u8> {
        match self {
            Form::Utf8 => text.into(),
            Form::Marked => [b"\xEF\xBB\xBF", text.as_bytes()].concat(),
            Form::Utf16 => {
                [&b"\xFF\xFE"[..], &text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<_>>()]
                    .concat()
            }
            Form::Wrong => [b"\xFF\n", UTF_8.as_bytes(), text.as_bytes()].concat(),
        }
    }
}

/// Patterns that match no line break, and replacements, which mean the same to crate `regex`.
const PATTERNS: [(&str, &str); 12] = [
    ("a", "xyz"),
    ("a+", ""),
    ("(a)(b)?", "<${2}${1}>"),
    ("a*", "-"),
    ("^", "> "),
    ("$", ";"),
    (r"\bab\b", "$$0"),
    ("(?P<one>[ab])(?P<two>c)", "${two}${one}"),
    ("é", "É"),
    ("(é|b)+", "[$0]"),
    (r"[^a\r\n]", "$0$0"),
    ("c.*$", "end"),
];

/// What `replace` makes of a text: what crate `regex` does, but for matches of nothing that are in no line.
fn expected(pattern: &str, replacement: &str, text: &str) -> String {
    let regex = regex::RegexBuilder::new(pattern).multi_line(true).crlf(true).build().expect("a pattern");
    let (bytes, mut out, mut done) = (text.as_bytes(), String::new(), 0);
    for captures in regex.captures_iter(text) {
        let at = captures.get(0).expect("the match").range();
        let is_break = |byte: Option<&u8>| byte.is_some_and(|byte| b"\r\n".contains(byte));
        let is_behind = at.start == text.len() && (text.is_empty() || is_break(bytes.last()));
        let is_inside = at.start > 0 && bytes.get(at.start - 1..at.start + 1) == Some(b"\r\n");
        if at.is_empty() && (is_behind || is_inside) {
            continue;
        }
        out.push_str(&text[done..at.start]);
        captures.expand(replacement, &mut out);
        done = at.end;
    }
    out + &text[done..]
}

#[test]
fn each_file_becomes_what_crate_regex_makes_of_its_text_and_an_undo_takes_it_back() {
    let forms = select(vec![Form::Utf8, Form::Utf8, Form::Marked, Form::Utf16, Form::Wrong]);
    let text = "([abcé ]{0,5}(\n|\r\n|\r)){0,5}[abcé]{0,3}";
    let corpus = prop::collection::vec((forms, text), 1..6);
    let folder = Folder::new();
    let server = serve(&folder, &["--sync=none"]);
    proptest!(ProptestConfig::with_cases(150), |(corpus in corpus, pattern in 0..PATTERNS.len())| {
        let (pattern, replacement) = PATTERNS[pattern];
        for name in folder.names() {
            std::fs::remove_file(folder.path().join(name)).unwrap();
        }
        for (number, (form, text)) in corpus.iter().enumerate() {
            folder.write(&format!("f{number}"), form.bytes(text));
        }
        let answer = server.tool("replace", json!({ "pattern": pattern, "replacement": replacement }));
        let is_wrong = |(form, _): &(Form, String)| matches!(form, Form::Wrong);
        if answer.is_error && corpus.iter().any(is_wrong) {
            // Beside a byte that is no character, a place may be half of a character.
            return Ok(());
        }
        prop_assert!(!answer.is_error, "{}", answer.text);
        for (number, (form, text)) in corpus.iter().enumerate() {
            let (found, name) = (folder.read(&format!("f{number}")), format!("f{number} {pattern} {text:?}"));
            match form {
                Form::Wrong => {
                    let text = expected(pattern, replacement, &format!("\u{fffd}\n{UTF_8}{text}"));
                    let shown = String::from_utf8_lossy(&found).into_owned();
                    prop_assert!(found.contains(&0xFF) || !text.contains('\u{fffd}'), "{}", name);
                    prop_assert_eq!(shown, text, "{}", name);
                }
                _ => prop_assert_eq!(found, form.bytes(&expected(pattern, replacement, text)), "{}", name),
            }
        }
        if answer.text.contains("(change ") {
            server.ok("undo", json!({}));
        }
        for (number, (form, text)) in corpus.iter().enumerate() {
            prop_assert_eq!(folder.read(&format!("f{number}")), form.bytes(text));
        }
    });
}
