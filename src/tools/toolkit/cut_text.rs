//! The text of one file that is too long for an answer: cut at the end of a line.

use serde_json::{Value, json};

use crate::tools::Members;
use crate::tools::limited::{MAX_TOKENS, within_tokens};

/// The bytes of the line that says that a text was cut.
const LAST_LINE: usize = 1_024;

/// Cuts a text that is longer than `limit` bytes and ends it with a line break. Returns how many bytes of how many are left.
pub(super) fn cut_text(text: &mut String, limit: Option<usize>) -> Option<(usize, usize)> {
    let (of, limit) = (text.len(), limit?);
    if of <= limit && within_tokens(text.as_bytes(), MAX_TOKENS) == of {
        return None;
    }
    let within = within_tokens(text.as_bytes(), MAX_TOKENS - LAST_LINE);
    let mut end = limit.saturating_sub(LAST_LINE.min(limit / 2)).min(within);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    // A long last line is cut inside, so that not all of a text is lost.
    let shown = text[..end].rfind('\n').map(|at| at + 1).filter(|at| *at > end / 2).unwrap_or(end);
    text.truncate(shown);
    if !text.ends_with('\n') {
        text.push('\n');
    }
    Some((shown, of))
}

/// What `_meta` says of a text of which so many bytes of so many are shown, and the arguments of the call that gives all.
pub(super) fn cut_meta((shown, of): (usize, usize), next: &Value) -> Members {
    Members::default().with("file-editor/truncated", &json!({ "shown": shown, "of": of, "next": next }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_at_the_end_of_a_line_or_inside_a_long_one() {
        let cut = |text: &str, limit| {
            let mut text = text.to_owned();
            let cut = cut_text(&mut text, limit);
            (text, cut)
        };
        let (lines, long) = ("line\n".repeat(1_000), format!("title\n{}", "ä".repeat(2_000)));
        assert_eq!(cut(&lines, None), (lines.clone(), None));
        assert_eq!(cut(&lines, Some(5_000)), (lines.clone(), None));
        assert_eq!(cut(&lines, Some(2_050)), ("line\n".repeat(205), Some((1_025, 5_000))));
        let (text, shown) = cut(&long, Some(3_001));
        assert_eq!((text, shown), (format!("title\n{}\n", "ä".repeat(985)), Some((1_976, 4_006))));
    }
}
