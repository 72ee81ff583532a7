//! An old_text that is not there: whether it may be a mistake, and the explanation in a text of any encoding.
//!
//! Pure.

use super::{Planner, UNCOUNTED};
use crate::budget::Share;
use crate::lines::LineIndex;
use crate::text_edit::{self, Diagnosis, Found, TextEdits, Unmatched};
use crate::{Error, Result};

/// Bytes of a text that are decoded to explain why an old_text is not in it.
const EXPLAINED: usize = 24 << 20;

/// Whether an old_text that was not found is a single line, more than a line break, and nothing in the text is like it.
pub(super) fn is_unlike(unmatched: &Unmatched) -> bool {
    let old_text = &*unmatched.old_text;
    let line = ["\r\n", "\n", "\r"].iter().find_map(|brk| old_text.strip_suffix(brk)).unwrap_or(old_text);
    let is_line = !line.is_empty() && !line.contains(['\n', '\r']);
    let is_strange =
        |miss: &Diagnosis| miss.similar.is_empty() && miss.already_applied.is_empty() && !miss.stopped_early;
    is_line && matches!(&unmatched.found, Found::Nothing(miss) if is_strange(miss))
}

impl Planner<'_> {
    /// As much of the text as there is memory to explain a miss in: half of it, or half of that, if other edits have the rest.
    fn explainable<'w>(&self, whole: &'w [u8]) -> Result<(Share, &'w [u8])> {
        let mut len = whole.len().min(EXPLAINED);
        loop {
            match self.memory(3 * len) {
                Err(_) if len > UNCOUNTED => len /= 2,
                held => return Ok((held?, &whole[..len])),
            }
        }
    }

    /// The error for an old_text that is not there: what is similar to it in the decoded text.
    pub(super) fn explained(&self, edits: &TextEdits) -> Result<Error> {
        let text = self.encoded();
        let whole = &self.old[text.start..];
        let (_held, shown) = self.explainable(whole)?;
        let is_cut = shown.len() < whole.len();
        let decoded = self.text.encoding.decode_lossy(shown);
        let Ok(index) = LineIndex::build(decoded.as_bytes()) else {
            return Ok(Error::NotText { name: self.scope.name.into() });
        };
        match text_edit::plan(&index, decoded.as_bytes(), edits, self.scope.limits, self.control) {
            Err(Error::Unmatched(mut unmatched)) => {
                if let Found::Nothing(diagnosis) = &mut unmatched.found {
                    diagnosis.stopped_early |= is_cut;
                }
                Ok(Error::Unmatched(unmatched))
            }
            Err(error) => Err(error),
            // What is no character looks like U+FFFD once it is decoded, and only there.
            Ok(_) => {
                let problem = "it is not in the file; expected text that is";
                Ok(Error::InvalidArguments { at: "old_text".into(), problem: problem.into() })
            }
        }
    }
}
