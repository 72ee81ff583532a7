//! Finds a line of an old text that stands for text that it leaves out, such as `# ... existing code ...`.
//!
//! Models write such lines instead of text that they do not want to repeat. Pure; knows no messages.

use crate::omission::is_placeholder;
use crate::text_edit::search::occurrences;
use crate::text_edit::table::snippet::{Snippet, TextLines};
use crate::{Result, Stop};

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
