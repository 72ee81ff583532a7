//! Finds lines of a text that earlier edits of a call have made in the text of the file (contract 5: a failure names lines of the file
//! as it is, because nothing of the call is done).
//!
//! Pure. Works on lines as bytes, so that it holds in every encoding.

use std::ops::Range;

use super::diagnose::before_edits;
use super::table::piece_table::PieceTable;
use super::table::snippet::{Snippet, TextLines};
use super::{Diagnosis, Found, TextLimits, Unmatched};
use crate::encoding::{Encoding, LineScan, breaks_in};
use crate::lines::LineIndex;
use crate::splice::{EditPlan, Piece};
use crate::{Result, Stop};

/// A text that edits have made of the text of a file.
#[derive(Debug, Clone, Copy)]
pub struct EditedText<'e> {
    /// The bytes of the file.
    pub old: &'e [u8],
    /// What the edits change in them.
    pub plan: &'e EditPlan<'e>,
    /// The result.
    pub text: &'e [u8],
}

/// Lines of an edited text, in the text of the file.
pub(crate) struct Origin {
    /// The first of them, or the line at which they were put in.
    pub(crate) line: usize,
    /// Number of further lines.
    pub(crate) further_lines: usize,
    /// The lines are not as in the file: edits changed them or put them in.
    pub(crate) is_edited: bool,
}

impl EditedText<'_> {
    /// Makes the passages of a failure those of the file. Keeps as many as are reported for one edit.
    pub fn relocate(&self, unmatched: &mut Unmatched, control: &dyn Stop) -> Result<()> {
        let encoding = unmatched.encoding.unwrap_or(Encoding::Utf8);
        let mut passages: Vec<&mut Snippet> = Vec::new();
        match &mut unmatched.found {
            Found::Count { passages: found, .. } => {
                found.truncate(TextLimits::EACH);
                passages.extend(found);
            }
            Found::Nothing(Diagnosis { similar, already_applied, placeholder, head, .. }) => {
                passages.extend(similar.iter_mut().map(|similar| &mut similar.passage));
                passages.extend(already_applied);
                let parts = placeholder.iter_mut().flat_map(|part| [&mut part.before, &mut part.after]);
                passages.extend(parts.flatten());
                passages.push(head);
            }
        }
        for passage in passages {
            control.check()?;
            let origin = self.origin(encoding, passage.line, passage.line + passage.further_lines);
            (passage.line, passage.further_lines) = (origin.line, origin.further_lines);
            passage.is_edited |= origin.is_edited;
        }
        let mut lines = LineScan::new(encoding, 0);
        lines.push(self.old);
        unmatched.total_lines = lines.total() as usize;
        let is_utf_8 = encoding == Encoding::Utf8 && !unmatched.old_text.is_empty();
        if let (Found::Nothing(miss), Ok(index), true) =
            (&mut unmatched.found, LineIndex::build(self.old), is_utf_8)
            && let Some(pieces) = PieceTable::new(self.old, index.first_byte())
        {
            let lines = TextLines::new(&pieces, &index, self.old);
            miss.before_edits = before_edits(&unmatched.old_text, &lines, control)?;
        }
        Ok(())
    }

    /// Where the lines from `first` to `last` of the edited text come from.
    pub(crate) fn origin(&self, encoding: Encoding, first: usize, last: usize) -> Origin {
        let mut lines = LineScan::new(encoding, 0).noting(first as u64, last as u64);
        lines.push(self.text);
        let place = lines.place();
        let place = place.start as usize..place.end as usize;
        let (old, is_kept) = self.old_place(&place);
        let line_of = |at: usize| LineScan::new(encoding, 0).line_at(self.old.get(..at).unwrap_or_default());
        let (line, start) = line_of(old.start);
        let behind = self.old.get(old.end..).unwrap_or_default();
        let behind = &behind[..encoding.unit().min(behind.len())];
        let is_whole =
            start == old.start as u64 && (behind.is_empty() || breaks_in(encoding, behind).next().is_some());
        let further = line_of(old.end).0.saturating_sub(line) as usize;
        let further = if is_kept { last - first } else { further };
        Origin { line: line as usize, further_lines: further, is_edited: !is_kept || !is_whole }
    }

    /// The bytes of the file from which these of the edited text come, and whether they are the same.
    fn old_place(&self, place: &Range<usize>) -> (Range<usize>, bool) {
        let (mut at, mut before) = (0, 0);
        let (mut start, mut end) = (None, None);
        for piece in self.plan.pieces(self.old.len()) {
            let (len, kept) = match &piece {
                Piece::Kept(kept) => (kept.len(), Some(kept)),
                Piece::New(text) => (text.len(), None),
            };
            let put_in_at = before;
            let here = |byte: usize| kept.map_or(put_in_at, |kept| kept.start + byte - at);
            if let Some(kept) = kept {
                if at <= place.start && place.end <= at + len {
                    return (here(place.start)..here(place.end), true);
                }
                before = kept.end;
            }
            if start.is_none() && place.start < at + len {
                start = Some(here(place.start));
            }
            if end.is_none() && place.end <= at + len {
                end = Some(here(place.end));
            }
            at += len;
        }
        let start = start.unwrap_or(before);
        (start..end.unwrap_or(before).max(start), false)
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::*;
    use crate::splice::Splice;

    /// The origin of each line of the text, as `(line, further lines, is edited)`.
    fn origins(old: &str, splices: &[(Range<usize>, &str)]) -> Vec<(usize, usize, bool)> {
        let splice = |(at, text): &(Range<usize>, &'static str)| Splice {
            at: at.clone(),
            text: Cow::Borrowed(text.as_bytes()),
        };
        let splices: Vec<(Range<usize>, &'static str)> =
            splices.iter().map(|(at, text)| (at.clone(), &*String::from(*text).leak())).collect();
        let plan = EditPlan::new(splices.iter().map(splice).collect(), old.as_bytes()).unwrap();
        let mut text = Vec::new();
        plan.write_to(old.as_bytes(), &mut text).unwrap();
        let edited = EditedText { old: old.as_bytes(), plan: &plan, text: &text };
        let lines = LineIndex::build(&text).unwrap().len_lines();
        let origin = |line| {
            let Origin { line, further_lines, is_edited } = edited.origin(Encoding::Utf8, line, line);
            (line, further_lines, is_edited)
        };
        (0..lines).map(origin).collect()
    }

    #[test]
    fn a_line_that_no_edit_touched_has_its_number_in_the_file() {
        let kept = |line| (line, 0, false);
        assert_eq!(origins("a\nb\nc\n", &[]), [kept(0), kept(1), kept(2)]);
        assert_eq!(
            origins("a\nb\nc\n", &[(0..0, "x\ny\n")]),
            [(0, 0, true), (0, 0, true), kept(0), kept(1), kept(2)]
        );
        assert_eq!(origins("a\nb\nc\n", &[(0..4, "")]), [kept(2)]);
        assert_eq!(origins("a\n\nc", &[(0..2, "x\n")]), [(0, 0, true), kept(1), kept(2)]);
    }

    #[test]
    fn a_line_that_an_edit_changed_is_told_from_one_that_it_left() {
        let kept = |line| (line, 0, false);
        assert_eq!(origins("one\ntwo\nend", &[(4..5, "T")]), [kept(0), (1, 0, true), kept(2)]);
        // Two lines become one, and one becomes two.
        assert_eq!(origins("one\ntwo\nend", &[(3..4, "")]), [(0, 1, true), kept(2)]);
        assert_eq!(origins("one\ntwo\nend", &[(5..5, "\n")]), [kept(0), (1, 0, true), (1, 0, true), kept(2)]);
    }
}
