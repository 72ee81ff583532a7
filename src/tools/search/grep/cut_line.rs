//! A line of an answer: whole, or the part of a long one around its first match. Knows no answer and no search.

use crate::tools::numbered::with_lf;

/// Adds a line and `\n`; of one over `width`, so many characters around the byte `first`, and which ones these are.
pub(super) fn push_cut(text: &mut String, line: &[u8], first: usize, width: usize) {
    if line.len() <= width {
        // A match that spans lines is told as lines.
        text.push_str(&with_lf(&String::from_utf8_lossy(line)));
        text.push('\n');
        return;
    }
    let columns = chars(line);
    let column = chars(&line[..first]);
    let from = column.saturating_sub(width / 4).min(columns.saturating_sub(width));
    if from > 0 {
        text.push('…');
    }
    // Only what is told is copied: a line may be as long as a file.
    let start = chars_before(line, first, column.saturating_sub(from));
    let told = &line[start..chars_behind(line, start, width)];
    text.push_str(&with_lf(&String::from_utf8_lossy(told)));
    if columns <= width {
        text.push('\n');
        return;
    }
    if from + width < columns {
        text.push('…');
    }
    let (first, last) = (from + 1, from + width);
    text.push_str(&format!(" [columns {first}-{last} of {columns}]\n"));
}

/// Number of characters.
fn chars(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| is_first(byte)).count()
}

/// Whether a character begins with this byte.
fn is_first(byte: &u8) -> bool {
    byte & 0xC0 != 0x80
}

/// Where the character begins that is so many before the one at `at`.
fn chars_before(line: &[u8], at: usize, count: usize) -> usize {
    let firsts = (0..at).rev().filter(|at| is_first(&line[*at]));
    if count == 0 { at } else { firsts.take(count).last().unwrap_or(at) }
}

/// Where the character begins that is so many behind the one at `at`, or the end.
pub(super) fn chars_behind(line: &[u8], at: usize, count: usize) -> usize {
    (at..line.len()).filter(|at| is_first(&line[*at])).nth(count).unwrap_or(line.len())
}
