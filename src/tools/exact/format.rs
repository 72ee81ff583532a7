//! Describes differences and positions in words.

use crate::tools::LineBase;
use text::encoding::{Encoding, EncodingChoice};
use text::text_edit::{Difference, DifferenceKind, InputError, Similar, Snippet};

/// Maximum number of characters quoted of a difference.
const QUOTED: usize = 60;

/// What the tool that was called names its arguments.
#[derive(Debug)]
pub(in crate::tools) struct EditNames {
    pub(in crate::tools) old_text: &'static str,
    pub(in crate::tools) new_text: &'static str,
    /// The number of places to replace, and the argument that replaces all of them.
    pub(in crate::tools) count: (&'static str, &'static str),
    /// The tool that reads files in the same set.
    pub(in crate::tools) reader: &'static str,
    /// Whether the tool creates a missing file.
    pub(in crate::tools) creates: bool,
}

/// How a passage is read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reading {
    /// The names that the failed call has for things.
    pub(super) names: &'static EditNames,
    /// The number of the first line.
    pub(super) base: LineBase,
    /// The encoding of the file.
    pub(super) encoding: EncodingChoice,
    /// The tool that reads the file, if one is offered.
    pub(super) reader: Option<&'static str>,
}

/// The call that reads a passage, in brackets behind a blank; nothing if no tool reads it.
pub(super) fn read_call_behind(passage: &Snippet, reading: Reading) -> String {
    read_call(passage, reading).map(|call| format!(" ({call})")).unwrap_or_default()
}

/// The call that reads a passage.
pub(super) fn read_call(passage: &Snippet, reading: Reading) -> Option<String> {
    let first = passage.line + reading.base.first() as usize;
    let last = first + passage.further_lines;
    let encoding = match reading.encoding {
        EncodingChoice::Is(Encoding::Utf8) => String::new(),
        other => format!(" encoding={}", other.name()),
    };
    Some(format!("{}{encoding}", lines_call(reading.reader?, first, Some(last))))
}

/// The call that reads lines of a file up to `last`, or to the end.
pub(super) fn lines_call(reader: &str, first: usize, last: Option<usize>) -> String {
    match last {
        _ if reader == "read" => {
            format!("{reader} lines={first}-{}", last.map_or(String::new(), |last| last.to_string()))
        }
        Some(last) => format!("{reader} start_line={first} end_line={last}"),
        None => format!("{reader} start_line={first}"),
    }
}

/// The contract's name of a kind of difference (contract 5).
pub(super) fn kind(difference: &Difference) -> &'static str {
    match difference.kind {
        DifferenceKind::Whitespace => "whitespace",
        DifferenceKind::Case => "case",
        DifferenceKind::Punctuation => "punctuation",
        DifferenceKind::Content => "content",
    }
}

/// Describes one difference.
pub(super) fn difference(difference: &Difference, names: &EditNames) -> String {
    let Difference { expected, found, same_letters, .. } = difference;
    let old_text = names.old_text;
    if *same_letters {
        let (expected, found) = (code_points(expected), code_points(found));
        return format!(
            "the same letters, composed differently (NFC or NFD): {old_text} has {expected}, the file {found}"
        );
    }
    format!("{old_text} has {}, the file has {}", described(expected), described(found))
}

/// Describes a text: quotes visible characters, and names invisible ones.
fn described(text: &str) -> String {
    if text.is_empty() {
        return "nothing there".into();
    }
    let mut parts: Vec<String> = Vec::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let same: usize = rest.chars().take_while(|&other| other == c).map(char::len_utf8).sum();
        let shown = rest.find(|c| name(c).is_some()).unwrap_or(rest.len());
        if rest.starts_with("\r\n") {
            parts.push("a CR LF line break (U+000D U+000A)".into());
            rest = &rest[2..];
        } else if let Some(name) = name(c) {
            let count = same / c.len_utf8();
            let code = if c == ' ' { String::new() } else { format!(" (U+{:04X})", c as u32) };
            parts.push(match count {
                1 => format!("1 {name}{code}"),
                count => format!("{count} {name}s{code}"),
            });
            rest = &rest[same..];
        } else {
            let quoted: String = rest[..shown].chars().take(QUOTED).collect();
            let more = if quoted.len() < shown { "…" } else { "" };
            let mark = rest[..shown].chars().next().filter(|c| !c.is_ascii() && c.len_utf8() == shown);
            let code = mark.map(|c| format!(" (U+{:04X})", c as u32)).unwrap_or_default();
            parts.push(format!("`{quoted}{more}`{code}"));
            rest = &rest[shown..];
        }
        if parts.len() == 6 && !rest.is_empty() {
            parts.push("more".into());
            break;
        }
    }
    parts.join(" and ")
}

/// The name of a character that is invisible or hard to see.
fn name(c: char) -> Option<&'static str> {
    Some(match c {
        ' ' => "space",
        '\t' => "tab",
        '\n' => "LF line break",
        '\r' => "carriage return",
        '\u{A0}' => "no-break space",
        '\u{202F}' => "narrow no-break space",
        '\u{3000}' => "ideographic space",
        '\u{2000}'..='\u{200A}' => "typographic space",
        '\u{200B}' => "zero-width space",
        '\u{200C}' => "zero-width non-joiner",
        '\u{200D}' => "zero-width joiner",
        '\u{2060}' => "word joiner",
        '\u{FEFF}' => "byte order mark",
        '\u{AD}' => "soft hyphen",
        '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}' => "direction mark",
        '\u{2028}' => "line separator",
        c if c.is_whitespace() => "space of another kind",
        c if c.is_control() => "control character",
        _ => return None,
    })
}

fn code_points(text: &str) -> String {
    let points: Vec<String> = text.chars().take(12).map(|c| format!("U+{:04X}", c as u32)).collect();
    format!("`{text}` ({})", points.join(" "))
}

/// The one cause of all differences, if there is one.
pub(super) fn explanation(similar: &Similar, names: &EditNames) -> Option<String> {
    if let Some(mistake) = similar.mistake {
        return Some(format!("{} {}", names.old_text, self::mistake(mistake)));
    }
    similar.shift.map(|shift| match shift {
        1.. => format!(
            "the indentation is shifted as a whole: every line is {shift} columns further in, in the file"
        ),
        _ => format!(
            "the indentation is shifted as a whole: every line is {} columns further out, in the file",
            -shift
        ),
    })
}

fn mistake(mistake: InputError) -> &'static str {
    match mistake {
        InputError::Escaped => {
            "has a backslash and a letter (such as a literal \\n) where the file has the character itself"
        }
        InputError::Unescaped => {
            "has a line break, tab or quote where the file has a backslash and a letter (such as a literal \\n)"
        }
        InputError::Entities => {
            "has HTML entities (such as &lt;) where the file has the characters themselves"
        }
        InputError::LineNumbers => "has line numbers at the start of its lines; they are no part of the file",
        InputError::DiffMarks => {
            "has the + and - of a diff at the start of its lines; they are no part of the file"
        }
        InputError::Fenced => "stands between ``` fences; they are no part of the file",
        InputError::BlanksAround { before: true, after: false } => {
            "begins with line breaks that the file does not have there"
        }
        InputError::BlanksAround { before: false, .. } => {
            "ends with blanks or line breaks that the file does not have there"
        }
        InputError::BlanksAround { before: true, after: true } => {
            "begins with line breaks and ends with blanks or line breaks that the file does not have there"
        }
    }
}
