//! Finds a line of an old text that stands for text that it leaves out, such as `# ... existing code ...`.
//!
//! Models write such lines instead of text that they do not want to repeat. Pure; knows no messages.

use crate::text_edit::search::occurrences;
use crate::text_edit::table::snippet::{Snippet, TextLines};
use crate::{Result, Stop};

/// What a comment begins with, in many languages.
const COMMENTS: [&str; 9] = ["#", "//", "/*", "{/*", "<!--", "--", ";", "%", "*"];

/// Words of a comment that speaks of text left out.
const WORDS: [&str; 8] = ["existing", "rest", "unchanged", "remain", "same", "omitted", "previous", "other"];

/// A line that stands for text left out.
#[derive(Debug, Clone, PartialEq)]
pub struct Placeholder {
    /// The line, without the blanks around it.
    pub line: String,
    /// Where the text before it is, if that is one place.
    pub before: Option<Snippet>,
    /// Where the text after the last such line is, if that is one place.
    pub after: Option<Snippet>,
}

/// The first placeholder of `needle` that is not in the text itself.
pub(crate) fn placeholder(
    needle: &str,
    lines: &TextLines,
    control: &dyn Stop,
) -> Result<Option<Placeholder>> {
    let mut at = 0;
    let mut places = needle.split_inclusive('\n').filter_map(|line| {
        at += line.len();
        is_placeholder(line.trim()).then_some((at - line.len(), at, line.trim()))
    });
    let Some((start, end, line)) = places.next() else { return Ok(None) };
    let end = places.last().map_or(end, |(_, end, _)| end);
    if occurrences(line, lines.pieces, 1, control)?.count > 0 {
        return Ok(None);
    }
    let one_place = |part: &str| -> Result<Option<Snippet>> {
        let part = part.trim_matches(['\n', '\r']);
        if part.trim().is_empty() {
            return Ok(None);
        }
        let sought = occurrences(part, lines.pieces, 2, control)?;
        let first = sought.matches.first().filter(|_| sought.count == 1);
        Ok(first.map(|(start, end)| lines.passage(start, end)))
    };
    let (before, after) = (one_place(&needle[..start])?, one_place(&needle[end..])?);
    Ok(Some(Placeholder { line: line.to_owned(), before, after }))
}

/// Whether a line is only dots, or a comment with dots that speaks of text left out.
fn is_placeholder(line: &str) -> bool {
    let is_dots = |text: &str| matches!(text, "..." | "…");
    let inner = line.trim_start_matches(['#', '/', '*', '{', '<', '!', '-', ';', '%', '(', '[', ' ']);
    let inner = inner.trim_end_matches(['/', '*', '}', '-', '>', ')', ']', ' ']);
    let starts = inner.starts_with("...") || inner.starts_with('…');
    let ends = inner.ends_with("...") || inner.ends_with('…');
    let lower = inner.to_lowercase();
    let speaks = || WORDS.iter().any(|word| lower.contains(word));
    let is_comment = COMMENTS.iter().any(|mark| line.starts_with(mark));
    is_dots(inner) || is_comment && (starts || ends && speaks())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_stand_for_others_are_told_from_code() {
        for line in [
            "...",
            "…",
            "# ...",
            "// ...",
            "[...]",
            "{ ... }",
            "# ... existing code ...",
            "// ... rest of the code",
            "// rest of code ...",
            "/* ... */",
            "{/* ... other items ... */}",
            "<!-- ... -->",
            "-- ... unchanged",
            "; ...",
            "// … existing code …",
        ] {
            assert!(is_placeholder(line), "{line}");
        }
        for line in [
            "",
            "#",
            "...args,",
            "f(...x)",
            "print('...')",
            "# Loading...",
            "a = [...b]",
            "// the rest",
            "- item",
        ] {
            assert!(!is_placeholder(line), "{line}");
        }
    }
}
