//! Plans edits by text of which some are not found exactly: those are looked for without regard to indentation.
//!
//! An edit that is found exactly is planned as everywhere. Knows no tool but for the names of arguments.

use std::borrow::Cow;

use super::{Tolerant, changed_lines, tolerant};
use crate::encoding::Encoding;
use crate::lines::LineIndex;
use crate::splice::{EditPlan, Splice};
use crate::text_edit::{self, EditedText, Found, TextEdits, TextLimits, Unmatched, in_place};
use crate::{Error, Result, Stop};

/// Edits, each applied to the result of those before it.
#[derive(Debug, Clone, Copy)]
pub struct TolerantEdits<'e> {
    /// Those.
    pub edits: &'e TextEdits,
    /// The number of the first line in messages.
    pub first_line: u64,
}

/// The changes of `edits` in `old`. `is_stored`: its bytes are those of the file, not decoded. `None` if the index is of another text.
///
/// Errors: those of [`text_edit::plan`], and [`Error::InvalidArguments`] for an edit that fits several places, or whose new text
/// becomes too long.
pub fn plan<'e>(
    edits: &TolerantEdits<'e>,
    index: &LineIndex,
    (old, is_stored): (&[u8], bool),
    limits: TextLimits,
    stop: &dyn Stop,
) -> Result<Option<EditPlan<'e>>> {
    match text_edit::plan(index, old, edits.edits, limits, stop) {
        Err(Error::Unmatched(unmatched)) if matches!(unmatched.found, Found::Nothing(_)) => {
            if edits.edits.edits().len() == 1 {
                // No text is copied, however long it is.
                let splice = edits.one(0, (old, None), index, limits, Error::Unmatched(unmatched))?;
                let plan = match is_stored {
                    true => EditPlan::new(vec![splice], old),
                    false => EditPlan::new(changed_lines(old, splice.at, &splice.text), old),
                };
                return Ok(plan.map(|plan| plan.for_places(1)));
            }
            // The edits are applied to a copy. What is between them would be encoded anew, perhaps as other bytes.
            if !is_stored || old.len() as u64 > limits.max_bytes {
                return Err(Error::Unmatched(unmatched));
            }
            let planned = edits.one_by_one(old, &unmatched, limits, stop)?;
            let Some((new, places)) = planned else { return Ok(None) };
            Ok(EditPlan::new(vec![whole_difference(old, new)], old).map(|plan| plan.for_places(places)))
        }
        planned => Ok(planned?.map(|planned| planned.plan)),
    }
}

impl TolerantEdits<'_> {
    /// The new text, with each edit applied alone, and how many places changed. `first`: the first edit that is not found exactly. `None` if the bytes are no text any
    /// more.
    fn one_by_one(
        &self,
        old: &[u8],
        first: &Unmatched,
        limits: TextLimits,
        stop: &dyn Stop,
    ) -> Result<Option<(Vec<u8>, usize)>> {
        let (mut text, mut done) = (old.to_vec(), EditPlan::default());
        let edits = self.edits.edits();
        for (number, edit) in edits.iter().enumerate() {
            stop.check()?;
            let Ok(index) = LineIndex::build(&text) else { return Ok(None) };
            let single = TextEdits::new(vec![edit.clone()]);
            let plan = match text_edit::plan(&index, &text, &single, limits, stop) {
                Ok(planned) => planned.map(|planned| planned.plan),
                Err(Error::Unmatched(mut unmatched)) => {
                    let edited = EditedText { old, plan: &done, text: &text };
                    (unmatched.edit, unmatched.edits) = (number, edits.len());
                    let is_missing = matches!(unmatched.found, Found::Nothing(_));
                    match number == first.edit {
                        // It is explained, and knows which edit made what.
                        true => *unmatched = first.clone(),
                        false => edited.relocate(&mut unmatched, stop)?,
                    }
                    let error = Error::Unmatched(unmatched);
                    if !is_missing {
                        return Err(error);
                    }
                    let splice = self.one(number, (&text, Some(edited)), &index, limits, error)?;
                    EditPlan::new(vec![splice], &text)
                }
                Err(error) => return Err(error),
            };
            let Some(plan) = plan else { return Ok(None) };
            let (size, max) = (plan.len_after(text.len()) as u64, old.len() as u64 + limits.max_bytes);
            if size > max {
                return Err(Error::TooLarge { size, max });
            }
            let mut new = Vec::with_capacity(size as usize);
            // A write to a vector cannot fail.
            let _ = plan.write_to(&text, &mut new);
            done = done.then(&plan, old);
            text = new;
        }
        Ok(Some((text, done.places())))
    }

    /// The change of one edit that is not found exactly. `edited`: what edits before it have made of the file. `error` is the error if
    /// it fits nowhere.
    fn one(
        &self,
        number: usize,
        (text, edited): (&[u8], Option<EditedText>),
        index: &LineIndex,
        limits: TextLimits,
        error: Error,
    ) -> Result<Splice<'static>> {
        let edit = &self.edits.edits()[number];
        if edit.occurrences != 1 || edit.old_text.is_empty() {
            return Err(error);
        }
        let most = limits.max_bytes as usize;
        let refuse = |problem: String| {
            Err(Error::InvalidArguments { at: format!("edits[{number}].old_text"), problem })
        };
        let kinds = index.break_kinds();
        match tolerant(text, &edit.old_text, &edit.new_text, kinds, most) {
            Tolerant::None => Err(error),
            Tolerant::TooLong => refuse("with the indentation of its place, the new text is too long; give the exact text of the place, or less at once".into()),
            Tolerant::Several { lines, total } => {
                // Places that edits before have made are told as the edits leave the text.
                let in_file = |line: &usize| {
                    let origin = edited?.origin(Encoding::Utf8, *line, *line);
                    (!origin.is_edited).then_some(origin.line)
                };
                let (lines, of) = match lines.iter().map(in_file).collect::<Option<Vec<usize>>>() {
                    Some(lines) => (lines, " of the file as it is"),
                    None if edited.is_some() => (lines, " of the text as the edits before leave it"),
                    None => (lines, ""),
                };
                let lines: Vec<String> =
                    lines.iter().map(|line| (*line as u64 + self.first_line).to_string()).collect();
                refuse(format!(
                    "it is not in the file to the letter, and without regard to indentation it fits {total} places, at \
                     lines {}{of}; expected the exact text of one place",
                    lines.join(", ")
                ))
            }
            Tolerant::One { range: at, new_text } => {
                let placed = if kinds.are_several() { in_place(text, at.clone(), &new_text) } else { None };
                Ok(Splice { at, text: Cow::Owned(placed.unwrap_or(new_text)) })
            }
        }
    }
}

/// One splice that makes `new` of `old`.
fn whole_difference(old: &[u8], new: Vec<u8>) -> Splice<'static> {
    let start = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    let rest = old.len().min(new.len()) - start;
    let end = old.iter().rev().zip(new.iter().rev()).take(rest).take_while(|(old, new)| old == new).count();
    Splice { at: start..old.len() - end, text: Cow::Owned(new[start..new.len() - end].to_vec()) }
}
