//! Replaces a whole text, and shows what changes by lines.
//!
//! Pure.

use std::borrow::Cow;

use super::{ChangePlanned, ChangeScope, Planner, TextDone};
use crate::engine::encoding::{Encoding, LineScan};
use crate::engine::text::diff::{Diff, unified_in};
use crate::engine::text::line_diff::line_changes;
use crate::engine::text::lines::BOM;
use crate::engine::text::splice::{EditPlan, Splice};
use crate::engine::{Error, Result};

/// Bytes of the old and of the new text up to which their lines are compared. Of longer texts, everything between the first
/// and the last difference is one change.
const COMPARED: usize = 256 << 10;

/// Bytes compared at once.
const CHUNK: usize = 4 << 10;

impl Planner<'_> {
    /// All bytes of the file become `content`, behind the mark of the encoding if it has one.
    pub(super) fn whole<'t>(&self, content: &'t str) -> Result<ChangePlanned<'t>> {
        let (encoding, old) = (self.text.encoding, self.old);
        let splice = match encoding {
            Encoding::Utf8 => {
                let start =
                    if self.text.has_mark && !content.as_bytes().starts_with(BOM) { BOM.len() } else { 0 };
                Splice { at: start..old.len(), text: Cow::Borrowed(content.as_bytes()) }
            }
            _ => {
                let bytes = self.text.encode_whole(content);
                let bytes = bytes.map_err(|lacking| Error::Unencodable { encoding, lacking })?;
                Splice { at: 0..old.len(), text: Cow::Owned(bytes) }
            }
        };
        // What was another encoding by its mark is shown in it.
        let was = Encoding::of_mark(old).unwrap_or(encoding);
        let done =
            TextDone::Written { before: lines(was, old), after: lines(Encoding::Utf8, content.as_bytes()) };
        let diff = self.diff(was, content, &splice);
        let held = self.memory(splice.text.len().saturating_sub(content.len()))?;
        // One change within the old bytes is always a plan.
        let plan = EditPlan::new(vec![splice], old).unwrap_or_default();
        Ok(ChangePlanned { plan, done, text: self.text, diff, held })
    }

    fn diff(&self, was: Encoding, content: &str, splice: &Splice) -> Diff {
        let ChangeScope { name, max_diff, .. } = self.scope;
        if self.old.len().max(content.len()) <= COMPARED {
            let mark = if self.old.starts_with(was.mark()) { was.mark().len() } else { 0 };
            let old = was.decode_lossy(&self.old[mark..]);
            let content = content.strip_prefix('\u{feff}').unwrap_or(content);
            let plan = EditPlan::new(line_changes(old.as_bytes(), content.as_bytes()), old.as_bytes());
            return unified_in(Encoding::Utf8, old.as_bytes(), &plan.unwrap_or_default(), name, max_diff);
        }
        let (encoding, start) = (self.text.encoding, splice.at.start);
        let (old, new) = (&self.old[start..], &*splice.text);
        let (head, tail) = common_ends(encoding.unit(), old, new);
        let text = Cow::Borrowed(&new[head..new.len() - tail]);
        let narrow = Splice { at: start + head..self.old.len() - tail, text };
        let plan = EditPlan::new(vec![narrow], self.old);
        unified_in(encoding, self.old, &plan.unwrap_or_default(), name, max_diff)
    }
}

fn lines(encoding: Encoding, bytes: &[u8]) -> u64 {
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
