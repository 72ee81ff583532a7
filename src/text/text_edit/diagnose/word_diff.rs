//! Compares the text searched for with the text found, word by word.
//!
//! Pure; knows kinds of differences, but no messages for them.

use similar::DiffTag;
use similar::algorithms::{Capture, Replace, myers};

use crate::text_edit::diagnose::normalize::{is_blank, is_invisible, mark, same_letters};

/// The kind of a difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DifferenceKind {
    /// Blanks, line breaks, and invisible characters.
    Whitespace,
    /// Upper and lower case.
    Case,
    /// Punctuation marks.
    Punctuation,
    /// Anything else.
    Content,
}

/// One difference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// Its kind.
    pub kind: DifferenceKind,
    /// The text searched for; may be empty.
    pub expected: String,
    /// The text found; may be empty.
    pub found: String,
    /// Both are the same letters, composed in different ways (NFC, NFD).
    pub same_letters: bool,
}

/// Maximum number of differences returned.
const TOLD: usize = 8;

/// Maximum length of a difference in bytes.
const SHOWN: usize = 160;

/// Maximum number of pairs of words to compare; longer texts are one difference.
const PAIRS: usize = 1 << 20;

/// The differences of the two texts, in order, and the number of further ones.
pub(crate) fn differences(expected: &str, found: &str) -> (Vec<Difference>, usize) {
    let (old, new) = (words(expected), words(found));
    let head = old.iter().zip(&new).take_while(|(old, new)| same(old, new)).count();
    let most = old.len().min(new.len()) - head;
    let tail =
        old.iter().rev().zip(new.iter().rev()).take(most).take_while(|(old, new)| same(old, new)).count();
    let (old, new) = (&old[head..old.len() - tail], &new[head..new.len() - tail]);
    let mut told = Vec::new();
    let mut more = 0;
    for (old, new) in apart(old, new) {
        if told.len() < TOLD {
            let (expected, found) = (old.concat(), new.concat());
            let kind = kind(&expected, &found);
            let same_letters = same_letters(&expected, &found);
            told.push(Difference { kind, expected: cut(expected), found: cut(found), same_letters });
        } else {
            more += 1;
        }
    }
    (told, more)
}

fn cut(mut text: String) -> String {
    if text.len() > SHOWN {
        text.truncate(crate::lines::char_boundary(text.as_bytes(), SHOWN));
        text.push('…');
    }
    text
}

/// The change of the indent, in columns, if it is equal for all lines and the only difference.
pub(crate) fn shift(expected: &str, found: &str) -> Option<i64> {
    let (old, new): (Vec<&str>, Vec<&str>) = (expected.lines().collect(), found.lines().collect());
    if old.len() != new.len() || old.len() < 2 {
        return None;
    }
    let indent = |line: &str| line.chars().take_while(|&c| c == ' ' || c == '\t').count() as i64;
    let mut shifts = old
        .iter()
        .zip(&new)
        .filter(|(old, _)| !old.trim().is_empty())
        .map(|(old, new)| (old.trim_start() == new.trim_start()).then(|| indent(new) - indent(old)));
    let first = shifts.next()??;
    (first != 0 && shifts.all(|shift| shift == Some(first))).then_some(first)
}

fn kind(expected: &str, found: &str) -> DifferenceKind {
    let without_blanks = |text: &str| -> String {
        text.chars().filter(|&c| !is_blank(c) && !is_invisible(c) && !matches!(c, '\n' | '\r')).collect()
    };
    let plain = |text: &str| -> String {
        text.chars().map(|c| mark(c).map_or(c.to_string(), str::to_owned)).collect()
    };
    let (old, new) = (without_blanks(expected), without_blanks(found));
    let marks = |text: &str| text.chars().all(|c| !c.is_alphanumeric());
    if old == new {
        DifferenceKind::Whitespace
    } else if old.to_lowercase() == new.to_lowercase() {
        DifferenceKind::Case
    } else if plain(&old) == plain(&new) || marks(&old) && marks(&new) {
        DifferenceKind::Punctuation
    } else {
        DifferenceKind::Content
    }
}

/// Splits a text into words, runs of blanks, line breaks, and single marks.
fn words(text: &str) -> Vec<&str> {
    let class = |c: char| match c {
        '\n' | '\r' => 0,
        c if is_blank(c) || is_invisible(c) => 1,
        c if c.is_alphanumeric() || c == '_' || unicode_normalization::char::is_combining_mark(c) => 2,
        _ => 3,
    };
    let mut words = Vec::new();
    let mut start = 0;
    let mut last = None;
    for (at, c) in text.char_indices() {
        let class = class(c);
        let crlf = c == '\n' && text[..at].ends_with('\r');
        if at > start && !crlf && (last != Some(class) || matches!(class, 0 | 3)) {
            words.push(&text[start..at]);
            start = at;
        }
        last = Some(class);
    }
    if start < text.len() {
        words.push(&text[start..]);
    }
    words
}

/// Whether the word `old` matches `new`: a `\n` or `\r\n` matches any line break.
fn same(old: &str, new: &str) -> bool {
    old == new || matches!(old, "\n" | "\r\n") && matches!(new, "\n" | "\r\n" | "\r")
}

/// The ranges of words in which the two differ, each as a part of `old` and a part of `new`.
fn apart<'w, 't>(old: &'w [&'t str], new: &'w [&'t str]) -> Vec<(&'w [&'t str], &'w [&'t str])> {
    if old.len() * new.len() > PAIRS {
        return vec![(old, new)];
    }
    let expected: Vec<OldWord> = old.iter().map(|word| OldWord(word)).collect();
    let found: Vec<NewWord> = new.iter().map(|word| NewWord(word)).collect();
    let mut capture = Replace::new(Capture::new());
    // The capture never fails.
    let Ok(()) = myers::diff(&mut capture, &expected[..], 0..old.len(), &found[..], 0..new.len());
    let changes = capture.into_inner().into_ops().into_iter().filter(|op| op.tag() != DiffTag::Equal);
    changes.map(|op| (&old[op.old_range()], &new[op.new_range()])).collect()
}

/// A word of the text searched for.
struct OldWord<'t>(&'t str);

/// A word of the file.
struct NewWord<'t>(&'t str);

impl PartialEq<OldWord<'_>> for NewWord<'_> {
    fn eq(&self, expected: &OldWord) -> bool {
        same(expected.0, self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(expected: &str, found: &str) -> Vec<(DifferenceKind, String, String)> {
        let all = differences(expected, found).0.into_iter();
        all.map(|one| (one.kind, one.expected, one.found)).collect()
    }

    #[test]
    fn each_kind_is_told_with_what_differs() {
        use DifferenceKind::*;
        for (expected, found, kind, old, new) in [
            ("const foo", "const  foo", Whitespace, " ", "  "),
            ("a\tb", "a    b", Whitespace, "\t", "    "),
            ("a b", "a\u{A0}b", Whitespace, " ", "\u{A0}"),
            ("a\rb", "a\nb", Whitespace, "\r", "\n"),
            ("say Hello now", "say hello now", Case, "Hello", "hello"),
            ("x = 'y'", "x = ’y'", Punctuation, "'", "’"),
            ("foo(bar)", "foo(baz)", Content, "bar", "baz"),
        ] {
            assert_eq!(told(expected, found), [(kind, old.to_owned(), new.to_owned())]);
        }
        assert!(told("same", "same").is_empty());
        assert!(told("a\nb\r\nc", "a\r\nb\rc").is_empty(), "a break finds any break");
    }

    #[test]
    fn an_indentation_shifted_as_a_whole_is_seen() {
        assert_eq!(shift("a\n  b\n\nc", "    a\n      b\n\n    c"), Some(4));
        assert_eq!(shift("  a\n    b", "a\n  b"), Some(-2));
        assert_eq!(shift("a\nb", "  a\nb"), None);
        assert_eq!(shift("a\nb", "a\nb"), None);
    }
}
