//! Replaces a whole text, and shows what changes by lines.
//!
//! Pure.

use std::borrow::Cow;

use super::rewrite::{Rewrite, rewrite};
use super::{ChangePlanned, ChangeScope, EVERYTHING, Planner, TextDone, places};
use crate::diff::{Diff, unified_in};
use crate::encoding::{Encoding, LineScan};
use crate::line_diff::line_changes;
use crate::lines::BOM;
use crate::splice::{EditPlan, Splice};
use crate::{Error, Result};

/// Bytes of the old and of the new text up to which their lines are compared. Of longer texts, everything between the first
/// and the last difference is one change.
const COMPARED: usize = 256 << 10;

/// Bytes compared at once.
const CHUNK: usize = 4 << 10;

impl Planner<'_> {
    /// All bytes of the file become `content`, behind the mark of the encoding if it has one.
    pub(super) fn whole<'t>(&self, content: &'t str) -> Result<ChangePlanned<'t>> {
        let old = self.old;
        let Rewrite { content, was, report } = rewrite(self.choice, self.scope.name, old, content)?;
        let (text, encoding) = (report.encoding, report.encoding.encoding);
        // Bytes that are no text are shown as they look in the new encoding.
        let was = was.unwrap_or(encoding);
        let after = lines(Encoding::Utf8, content.as_bytes());
        let done = TextDone::Written { before: lines(was, old), after };
        let len = content.len();
        let shown = (old.len().max(len) <= COMPARED).then(|| self.line_diff(was, &content));
        let splice = match encoding {
            Encoding::Utf8 => {
                let has_mark = text.has_mark && old.starts_with(BOM) && !content.as_bytes().starts_with(BOM);
                let start = if has_mark { BOM.len() } else { 0 };
                let bytes = match content {
                    Cow::Borrowed(content) => Cow::Borrowed(content.as_bytes()),
                    Cow::Owned(content) => Cow::Owned(content.into_bytes()),
                };
                Splice { at: start..old.len(), text: bytes }
            }
            _ => {
                let bytes = text.encode_whole(&content);
                let bytes =
                    bytes.map_err(|lacking| Error::Unencodable { encoding, lacking, in_part: false })?;
                Splice { at: 0..old.len(), text: Cow::Owned(bytes) }
            }
        };
        let diff = shown.unwrap_or_else(|| self.byte_diff(encoding, &splice));
        let held = self.memory(splice.text.len().saturating_sub(len))?;
        // One change within the old bytes is always a plan.
        let plan = EditPlan::new(vec![splice], old).unwrap_or_default().into_encoding(encoding);
        Ok(ChangePlanned { plan, done, text, rewritten: Some(report), diff, held })
    }

    /// The same for an old_text that stands for the whole text, if the file does not hold it as text.
    pub(super) fn everything<'t>(&self, content: &'t str) -> Result<ChangePlanned<'t>> {
        let places = places::find(&self.encoded(), EVERYTHING, self.control)?;
        match places.count {
            0 => self.whole(content),
            count => {
                let times = if count == 1 { "once".to_owned() } else { format!("{count} times") };
                let problem = format!(
                    "\"{EVERYTHING}\" stands for the whole content, but the file holds it as text, {times}; expected content for \
                     the whole new text, or an old_text with the text around the {EVERYTHING} that is meant"
                );
                Err(Error::InvalidArguments { at: "old_text".into(), problem })
            }
        }
    }

    /// The lines that differ.
    fn line_diff(&self, was: Encoding, content: &str) -> Diff {
        let ChangeScope { name, max_diff, .. } = self.scope;
        let mark = if self.old.starts_with(was.mark()) { was.mark().len() } else { 0 };
        let old = was.decode_lossy(&self.old[mark..]);
        let content = content.strip_prefix('\u{feff}').unwrap_or(content);
        let plan = EditPlan::new(line_changes(old.as_bytes(), content.as_bytes()), old.as_bytes());
        unified_in(Encoding::Utf8, old.as_bytes(), &plan.unwrap_or_default(), name, max_diff)
    }

    /// Everything between the first and the last difference.
    fn byte_diff(&self, encoding: Encoding, splice: &Splice) -> Diff {
        let ChangeScope { name, max_diff, .. } = self.scope;
        let start = splice.at.start;
        let (old, new) = (&self.old[start..], &*splice.text);
        let (head, tail) = common_ends(encoding.unit(), old, new);
        let text = Cow::Borrowed(&new[head..new.len() - tail]);
        let narrow = Splice { at: start + head..self.old.len() - tail, text };
        let plan = EditPlan::new(vec![narrow], self.old);
        unified_in(encoding, self.old, &plan.unwrap_or_default(), name, max_diff)
    }
}

/// Number of lines.
pub(super) fn lines(encoding: Encoding, bytes: &[u8]) -> u64 {
    let start = if bytes.starts_with(encoding.mark()) { encoding.mark().len() } else { 0 };
    let mut scan = LineScan::new(encoding, start as u64);
    scan.push(&bytes[start..]);
    scan.total()
}

/// Numbers of bytes, of whole units, with which both texts begin and end, and which do not overlap.
fn common_ends(unit: usize, old: &[u8], new: &[u8]) -> (usize, usize) {
    let chunks = old.chunks(CHUNK).zip(new.chunks(CHUNK)).take_while(|(old, new)| old == new);
    let head = chunks.map(|(chunk, _)| chunk.len()).sum();
    let (old_rest, new_rest) = (&old[head..], &new[head..]);
    let head = head + old_rest.iter().zip(new_rest).take_while(|(old, new)| old == new).count();
    let head = head - head % unit;
    if !old.len().is_multiple_of(unit) || !new.len().is_multiple_of(unit) {
        return (head, 0);
    }
    let (old, new) = (&old[head..], &new[head..]);
    let chunks = old.rchunks(CHUNK).zip(new.rchunks(CHUNK)).take_while(|(old, new)| old == new);
    let tail: usize = chunks.map(|(chunk, _)| chunk.len()).sum();
    let (old_rest, new_rest) = (&old[..old.len() - tail], &new[..new.len() - tail]);
    let pairs = old_rest.iter().rev().zip(new_rest.iter().rev());
    let tail = tail + pairs.take_while(|(old, new)| old == new).count();
    (head, tail - tail % unit)
}
