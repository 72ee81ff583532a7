//! Changes every place of an old_text in the encoded bytes, without decoding them.
//!
//! Pure.

use std::ops::RangeInclusive;

use super::doubt::Doubt;
use super::encoded::{EncodedText, is_first_half, is_second_half};
use super::places::{self, Places};
use super::{ChangePlanned, EveryPlace, IfMissing, Planner, TextDone, UNCOUNTED};
use crate::encoding::{Encoding, LineScan, Malformed};
use crate::lines::BreakKinds;
use crate::splice::{Change, EditPlan};
use crate::text_edit::{TextEdit, with_breaks};
use crate::{Error, Result};

impl Planner<'_> {
    /// Every place in the encoded bytes.
    pub(super) fn every_encoded<'t>(
        &self,
        every: &'t EveryPlace,
        edit: &TextEdit,
    ) -> Result<Option<ChangePlanned<'t>>> {
        let text = self.encoded();
        if text.has_nul(self.control)? {
            return Err(Error::NotText { name: self.scope.name.into() });
        }
        // In the search, a symbol of the old_text takes six bytes at most.
        let mut held = self.memory(6 * edit.old_text.len())?;
        let places = places::find(&text, &edit.old_text, self.control)?;
        if places.count == 0 {
            return match every.missing {
                IfMissing::Fail | IfMissing::AppendIfUnlike => Err(self.explained(&every.edits)?),
                _ => Ok(Some(self.planned(EditPlan::default(), TextDone::Missed, held))),
            };
        }
        let has_breaks = edit.new_text.contains(['\n', '\r']);
        let kinds = if has_breaks { text.break_kinds() } else { BreakKinds::default() };
        if kinds.are_several() || edit.new_text.is_empty() && joins_breaks(&text, &places) {
            // Lines get the breaks of their places.
            return self.every_decoded(every, edit);
        }
        let with_own_breaks = kinds.only().and_then(|only| with_breaks(&edit.new_text, only));
        let new = self.encode(with_own_breaks.as_deref().unwrap_or(&edit.new_text))?;
        if new.is_empty() {
            joins_no_halves(&text, &places)?;
        }
        let doubt = Doubt::of(&self.text, self.old, self.control)?;
        let part = 0..new.len();
        let changes = places.iter().map(|at| Change { at, text: 0, part: part.clone() });
        let Some(plan) = EditPlan::of_parts(changes, [new], self.old) else { return Ok(None) };
        doubt.check(self.old, &plan)?;
        if !held.grow((plan.memory() + plan.owned_texts() + places.memory()).saturating_sub(UNCOUNTED)) {
            return Err(Error::Busy);
        }
        let lines = lines_of(&text, &places);
        let done = TextDone::Replaced { count: places.count, lines };
        Ok(Some(self.planned(plan, done, held)))
    }
}

/// Whether the removal of a place would make one break of a `\r` and a `\n`.
fn joins_breaks(text: &EncodedText, places: &Places) -> bool {
    let mut start = text.start;
    let mut end = text.start;
    places.iter().any(|at| {
        start = if at.start == end { start } else { at.start };
        end = at.end;
        text.unit_before(start) == Some(u16::from(b'\r')) && text.unit(end) == Some(u16::from(b'\n'))
    })
}

/// Fails if the removal of these places would make a character of two parts of characters.
fn joins_no_halves(text: &EncodedText, places: &Places) -> Result<()> {
    if text.encoding.unit() != 2 && text.encoding != Encoding::Utf8 {
        return Ok(());
    }
    // Places that touch each other are removed together.
    let mut start = text.start;
    let mut end = text.start;
    for at in places.iter() {
        start = if at.start == end { start } else { at.start };
        end = at.end;
        if let Some(part) = text.open_character(start).filter(|_| text.is_inside_character(end)) {
            return Err(text.malformed(part, Malformed::Incomplete));
        }
        let is_joined = text.encoding.unit() == 2
            && text.unit_before(start).is_some_and(is_first_half)
            && text.unit(end).is_some_and(is_second_half);
        if is_joined {
            return Err(text.malformed(start - 2..start, Malformed::LoneSurrogate));
        }
    }
    Ok(())
}

/// The first and the last line of the first places.
fn lines_of(text: &EncodedText, places: &Places) -> Vec<RangeInclusive<u64>> {
    let (mut scan, mut done) = (LineScan::new(text.encoding, text.start as u64), text.start);
    let mut line_at = |at: usize| {
        let line = scan.line_at(text.old.get(done..at).unwrap_or_default());
        done = at;
        line
    };
    let range = |at: &std::ops::Range<usize>| {
        let (first, _) = line_at(at.start);
        let (last, begins) = line_at(at.end);
        // A break at the end belongs to the line that it ends.
        let ends_in_break = begins == at.end as u64 && first < last;
        first..=last - u64::from(ends_in_break)
    };
    places.first.iter().map(range).collect()
}
