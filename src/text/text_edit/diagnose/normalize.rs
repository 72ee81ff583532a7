//! Folds a text: ignores case, the kind and number of blanks, typographic marks, and accents.
//!
//! Pure; knows nothing of files. Each folded character keeps its position in the text.

use unicode_normalization::char::decompose_canonical;

use crate::normal_form::composed;

/// A folded text.
#[derive(Debug, Default)]
pub(crate) struct Normalized {
    pub(crate) chars: Vec<char>,
    /// For each folded character, the start of the original character in the text.
    starts: Vec<u32>,
    /// For each folded character, the end of the original character.
    ends: Vec<u32>,
}

impl Normalized {
    pub(crate) fn new(text: &str) -> Normalized {
        let mut folded = Normalized::default();
        for (at, c) in text.char_indices() {
            let end = (at + c.len_utf8()) as u32;
            if is_invisible(c) {
                continue;
            }
            if is_blank(c) || matches!(c, '\n' | '\r') {
                match folded.chars.last() {
                    Some(' ') => folded.ends.iter_mut().last().into_iter().for_each(|last| *last = end),
                    _ => folded.push(' ', at, end),
                }
                continue;
            }
            match mark(c) {
                Some(mark) => mark.chars().for_each(|mark| folded.push(mark, at, end)),
                // It belongs to the letter before it.
                None if is_accent(c) => {
                    folded.ends.iter_mut().last().into_iter().for_each(|last| *last = end)
                }
                None if c.is_ascii() => folded.push(c.to_ascii_lowercase(), at, end),
                None => {
                    decompose_canonical(c, |c| match is_accent(c) {
                        true => {}
                        false => c.to_lowercase().for_each(|c| folded.push(c, at, end)),
                    });
                }
            }
        }
        folded
    }

    fn push(&mut self, c: char, at: usize, end: u32) {
        self.chars.push(c);
        self.starts.push(at as u32);
        self.ends.push(end);
    }

    /// The range in the text of the folded characters `range`, which must not be empty.
    pub(crate) fn range(&self, range: std::ops::Range<usize>) -> std::ops::Range<usize> {
        self.starts[range.start] as usize..self.ends[range.end - 1] as usize
    }

    /// The characters without blanks at either end.
    pub(crate) fn trimmed(&self) -> &[char] {
        let chars = self.chars.strip_prefix(&[' ']).unwrap_or(&self.chars);
        chars.strip_suffix(&[' ']).unwrap_or(chars)
    }
}

/// A blank within a line, of any width.
pub(crate) fn is_blank(c: char) -> bool {
    c == '\t' || c.is_whitespace() && !matches!(c, '\n' | '\r')
}

/// A character without any visible form.
pub(crate) fn is_invisible(c: char) -> bool {
    matches!(c, '\u{AD}' | '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{2064}' | '\u{FEFF}')
}

/// A mark that is combined with the letter before it.
fn is_accent(c: char) -> bool {
    unicode_normalization::char::is_combining_mark(c)
}

/// The plain form of a typographic mark.
pub(crate) fn mark(c: char) -> Option<&'static str> {
    Some(match c {
        '\'' | '"' | '`' | '´' | '‘' | '’' | '‚' | '‛' | '“' | '”' | '„' | '‟' | '«' | '»' | '‹' | '›'
        | '′' | '″' => "'",
        '-' | '‐' | '‑' | '‒' | '–' | '—' | '―' | '−' => "-",
        '…' => "...",
        '，' => ",",
        '：' => ":",
        '；' => ";",
        '（' => "(",
        '）' => ")",
        _ => return None,
    })
}

/// Whether both are the same letters, composed in different ways.
pub(crate) fn same_letters(one: &str, other: &str) -> bool {
    composed(one) == composed(other)
}
