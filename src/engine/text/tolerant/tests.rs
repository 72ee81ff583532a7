use proptest::prelude::*;

use super::*;

/// The text after the edit, if one place fits.
fn edited(text: &str, old: &str, new: &str) -> Option<String> {
    match tolerant(text.as_bytes(), old, new, 1_000) {
        Tolerant::One { range, new_text } => {
            Some([&text[..range.start], &new_text, &text[range.end..]].concat())
        }
        _ => None,
    }
}

#[test]
fn indentation_is_that_of_the_reference() {
    for (text, old, new, expected) in [
        (
            "def f():\n    if x:\n        y = 1\n",
            "if x:\n    y = 1",
            "if x:\n    y = 10\n    w = 3",
            "def f():\n    if x:\n    y = 10\n    w = 3\n",
        ),
        ("    a\n    b\n", "a\nb\n", "A\nB\n", "    A\nB\n"),
        ("    a\n    b", "  a\n  b", "  A\n    B\nC", "    A\n      B\nC"),
        ("  a\n\tb", " a\n  b", " a\n    b", "  a\n    b"),
        ("x\n\ny", "  ", "z", "x\nz\ny"),
        // Less indented than before: no less than the first line found.
        ("  a\n    b", "a\n  b ", "a\n b", "  a\n  b"),
        // A tab is one character, and so is a no-break space.
        ("\ta\n\t\tb", "a\n\u{A0}b", "a\n   b", "\ta\n\t  b"),
        // More new lines than old ones: they stay as they are.
        ("  a", "a ", "a\n    b", "  a\n    b"),
        ("  a \n", " a", "", "  \n"),
    ] {
        assert_eq!(edited(text, old, new).as_deref(), Some(expected), "{text:?} {old:?} {new:?}");
    }
}

#[test]
fn any_break_ends_a_line_and_the_last_one_stays() {
    for brk in ["\n", "\r\n", "\r"] {
        let text = ["x", " a ", " b ", "y", ""].join(brk);
        for old in ["a\nb", "a\r\nb", "a\rb"] {
            let expected = format!("x{brk} A\nB{brk}y{brk}");
            assert_eq!(edited(&text, old, "A\r\nB"), Some(expected), "{text:?} {old:?}");
        }
    }
}

#[test]
fn an_old_text_that_ends_with_a_break_needs_a_blank_line_or_the_end() {
    assert_eq!(edited(" a\nb", "a\n", "x\n"), None);
    assert_eq!(edited(" a\n", "a\n", "x\n").as_deref(), Some(" x\n"));
    assert_eq!(edited(" a\n \nb", "a\n", "x").as_deref(), Some(" x\nb"));
}

#[test]
fn a_byte_order_mark_of_the_file_stays_in_front() {
    assert_eq!(edited("\u{FEFF} a\n b", "a\n b", "x\n y").as_deref(), Some("\u{FEFF} x\n y"));
    assert_eq!(edited("\u{FEFF}", " ", "x").as_deref(), Some("\u{FEFF}x"));
}

#[test]
fn blanks_are_those_of_javascript() {
    let blanks =
        "\t\u{B}\u{C} \u{A0}\u{1680}\u{2000}\u{200A}\u{2028}\u{2029}\u{202F}\u{205F}\u{3000}\u{FEFF}";
    for blank in blanks.chars() {
        assert_eq!(
            edited(&format!("x\n{blank}a{blank}"), "a", "b"),
            Some(format!("x\n{blank}b")),
            "{blank:?}"
        );
    }
    for other in "\u{85}\u{200B}\u{180E}\u{2060}\u{1F}\0é".chars() {
        assert_eq!(edited(&format!("{other}a"), "a", "b"), None, "{other:?}");
        assert_eq!(edited(&format!("a{other}"), "a", "b"), None, "{other:?}");
    }
}

#[test]
fn several_places_are_reported_and_may_overlap() {
    let found = tolerant(" a\n a\n a\nb".as_bytes(), "a\na", "", 100);
    assert_eq!(found, Tolerant::Several { lines: vec![0, 1], total: 2 });
    let found = tolerant(" a\n".repeat(50).as_bytes(), "a", "", 100);
    assert_eq!(found, Tolerant::Several { lines: (0..20).collect(), total: 50 });
    assert_eq!(tolerant(b"a\nb", "c", "", 100), Tolerant::None);
    assert_eq!(tolerant(b"a", "a\nb", "", 100), Tolerant::None);
}

#[test]
fn a_new_text_too_long_is_refused() {
    assert_eq!(tolerant(b"    a", "a", "abc", 6), Tolerant::TooLong);
    assert_eq!(tolerant(b"    a", "a", "abc", 7), Tolerant::One { range: 0..5, new_text: "    abc".into() });
    assert_eq!(tolerant(b" a", "a", "b\nc\n", 4), Tolerant::TooLong);
    // Each line of the new text repeats the wide indentation.
    let lines = "\n b".repeat(1_000);
    let wide = format!("{}a{lines}", " ".repeat(100_000));
    assert_eq!(tolerant(wide.as_bytes(), &format!("a{lines}"), &lines, 1 << 20), Tolerant::TooLong);
}

#[test]
fn blank_lines_take_linear_time() {
    let text = "\n".repeat(2_000_000);
    let old = "\n".repeat(1_000_000);
    assert!(matches!(tolerant(text.as_bytes(), &old, "", 100), Tolerant::Several { total: 1_000_001, .. }));
    assert_eq!(tolerant(text.as_bytes(), &(old + "x"), "", 100), Tolerant::None);
}

/// The reference's algorithm, on characters, for all windows.
fn naive(text: &str, old: &str, new: &str) -> Vec<(usize, String)> {
    let lines = |text: &str| -> Vec<String> {
        text.replace("\r\n", "\n").replace('\r', "\n").split('\n').map(str::to_owned).collect()
    };
    let is_blank = |c: char| c == '\u{FEFF}' || (c.is_whitespace() && c != '\u{85}');
    let blanks = |line: &str| -> String { line.chars().take_while(|&c| is_blank(c)).collect() };
    let (content, old, new) = (lines(text), lines(old), lines(new));
    let mut found = Vec::new();
    for at in 0..(content.len() + 1).saturating_sub(old.len()) {
        let mut pairs = content[at..at + old.len()].iter().zip(&old);
        if !pairs.all(|(line, old)| line.trim_matches(is_blank) == old.trim_matches(is_blank)) {
            continue;
        }
        let indent = blanks(&content[at]);
        let new = new.iter().enumerate().map(|(nth, line)| {
            let old_blanks = old.get(nth).map(|line| blanks(line)).unwrap_or_default().chars().count();
            let new_blanks = blanks(line).chars().count();
            let bare = line.trim_start_matches(is_blank);
            match nth {
                0 => indent.clone() + bare,
                _ if old_blanks == 0 || new_blanks == 0 => line.clone(),
                _ => indent.clone() + &" ".repeat(new_blanks.saturating_sub(old_blanks)) + bare,
            }
        });
        let new: Vec<String> = new.collect();
        let whole = [&content[..at], &new[..], &content[at + old.len()..]].concat().join("\n");
        found.push((at, whole));
    }
    found
}

/// A text of a few kinds of lines. It never starts with a byte order mark.
fn text(most: usize) -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "a", "a", "b", "\n", "\n", "\n", "\r\n", "\r", " ", "  ", "\t", "\u{A0}", "\u{FEFF}", "\u{85}",
        "\u{3000}",
    ]);
    prop::collection::vec(piece, 0..most)
        .prop_map(|pieces| pieces.concat().trim_start_matches('\u{FEFF}').into())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn all_windows_are_found_as_by_a_naive_search(text in text(30), old in text(6), new in text(12)) {
        let expected = naive(&text, &old, &new);
        match tolerant(text.as_bytes(), &old, &new, 10_000) {
            Tolerant::None => prop_assert!(expected.is_empty()),
            Tolerant::One { range, new_text } => {
                // Put together after the change of breaks: a lone `\r` in front may come to stand before a `\n`.
                let plain = |text: &str| text.replace("\r\n", "\n").replace('\r', "\n");
                let whole = [plain(&text[..range.start]), new_text, plain(&text[range.end..])].concat();
                prop_assert_eq!(expected.len(), 1);
                prop_assert_eq!(&whole, &expected[0].1);
            }
            Tolerant::Several { lines, total } => {
                prop_assert_eq!(total, expected.len());
                prop_assert_eq!(lines, expected.iter().take(20).map(|(at, _)| *at).collect::<Vec<_>>());
            }
            Tolerant::TooLong => prop_assert!(false),
        }
    }
}
