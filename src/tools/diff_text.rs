//! A unified diff at the end of a text for a model.

use std::fmt::Write;

use super::limited::MAX_TOKENS;
use text::diff::Diff;

/// Maximum size of a diff in bytes. It also bounds the tokens, because no byte is more than one.
pub(super) const MAX_DIFF: usize = 16 * 1024;
const _: () = assert!(MAX_DIFF < MAX_TOKENS);

/// Adds an empty line, the diff and, if it is not all, the number of hunks that are not shown. `text` has no final line
/// break, before and afterwards.
pub(super) fn push_diff(text: &mut String, diff: &Diff) {
    if !diff.text.is_empty() {
        text.push_str("\n\n");
        text.push_str(diff.text.trim_end_matches('\n'));
    }
    // A write to a String cannot fail.
    match diff.more {
        0 => {}
        1 => text.push_str("\n\n1 hunk more is not shown."),
        more => _ = write!(text, "\n\n{more} hunks more are not shown."),
    }
}
