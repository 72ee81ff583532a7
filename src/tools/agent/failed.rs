//! The edits of a call that failed, of which a later one corrects some (contract 19, `retry`).

use std::mem::take;
use std::sync::Arc;

use self::counted::Counted;
use self::hunks::FailedHunk;
use super::one_edit::{Kind, OneEdit};
use super::planned::Planned;
use super::unread::Slot;
use crate::tools::ParseOptions;
use crate::tools::arguments::Ordinal;
use folder::{Error, Result};
use text::encoding::EncodingChoice;

pub(super) mod counted;
pub(super) mod hunks;
mod patch;

/// The edits of a call that failed.
#[derive(Debug)]
pub(super) struct FailedEdits {
    pub(super) edits: Vec<Slot>,
    /// The numbers of those that do not fit, from 0.
    pub(super) failed: Vec<usize>,
    /// The hunks of patches that had no place.
    pub(super) hunks: Vec<FailedHunk>,
    /// The files whose lines they count.
    pub(super) counted: Counted,
    pub(super) is_patch: bool,
    pub(super) message: String,
}

impl FailedEdits {
    /// Bytes of memory, about.
    pub(super) fn bytes(&self) -> usize {
        self.message.len() + self.edits.iter().map(Slot::bytes).sum::<usize>()
    }

    /// All of its edits, with the corrected ones in their places, and without those that are left out. What failed gets `encoding`, if
    /// one is given.
    pub(super) fn corrected(
        &self,
        given: Vec<OneEdit>,
        encoding: Option<EncodingChoice>,
        options: ParseOptions,
    ) -> Result<Vec<Planned>> {
        let mut by_number = self.by_number(given)?;
        let (mut edits, mut last) = (Vec::with_capacity(self.edits.len()), None);
        let mut is_done = false;
        for (number, slot) in self.edits.iter().enumerate() {
            if take(&mut is_done) {
                continue;
            }
            let (given, at) = by_number[number].take().unzip();
            let (start, own) = (edits.len(), given.as_ref().and_then(|given| given.encoding));
            let is_left_out = given.as_ref().is_some_and(|given: &OneEdit| given.skip);
            let is_replaced = given.as_ref().is_some_and(|given| given.skip || !given.says_nothing());
            is_done = is_replaced && self.is_of_deletion(number) && by_number[number + 1].is_none();
            let edit = match (slot, given) {
                (Slot::Edit(edit), _) if is_left_out => {
                    let edit = edit.behind(last.take());
                    last = Some(edit.path.clone());
                    self.without_failed_hunks(number, &edit)
                }
                (Slot::Unread(unread), _) if is_left_out => {
                    last = unread.path(last.take(), options);
                    None
                }
                (Slot::Edit(edit), None) => Some(edit.behind(last.take())),
                (Slot::Edit(edit), Some(given)) => {
                    let at = format!("edits[{}]", at.unwrap_or(number));
                    let corrected = edit.corrected(given, &at)?.behind(last.take());
                    edits.extend(self.other_hunks(number, edit, &corrected, &at)?);
                    Some(corrected)
                }
                (Slot::Unread(unread), given) => {
                    Some(unread.corrected(given, (number, &mut last), options)?)
                }
            };
            if let Some(edit) = &edit
                && !is_left_out
            {
                last = edit.path_behind();
            }
            edits.extend(edit);
            if own.is_none() && self.failed.contains(&number) {
                edits[start..].iter_mut().for_each(|edit| edit.encoding = encoding.or(edit.encoding));
            }
        }
        match edits.is_empty() {
            true => Err(refused("edits", "all of them are left out: there is nothing to change".into())),
            false => Ok(edits),
        }
    }

    /// What is given for each of the edits, with its place in the list that was sent.
    fn by_number(&self, given: Vec<OneEdit>) -> Result<Vec<Option<(OneEdit, usize)>>> {
        let mut by_number: Vec<Option<(OneEdit, usize)>> = self.edits.iter().map(|_| None).collect();
        let is_in_order = given.len() == self.failed.len();
        for (at, mut edit) in given.into_iter().enumerate() {
            let refuse = |problem: String| refused(&format!("edits[{at}].n"), problem);
            let number = match edit.n.take() {
                Some(Ordinal(n)) => n.checked_sub(1).and_then(|number| usize::try_from(number).ok()),
                None => self.failed.get(at).copied().filter(|_| is_in_order),
            };
            let Some((number, place)) = number.and_then(|number| Some((number, by_number.get_mut(number)?)))
            else {
                let last = self.edits.len();
                return Err(refuse(format!(
                    "expected the number of the edit that it corrects, from 1 to {last}"
                )));
            };
            if place.replace((edit, at)).is_some() {
                return Err(refuse(format!("the edit {} is corrected before it in the list", number + 1)));
            }
        }
        // What is given for the second part of a deletion alone is for all of it.
        for number in 1..by_number.len() {
            if self.is_of_deletion(number - 1) && by_number[number - 1].is_none() {
                by_number[number - 1] = by_number[number].take();
            }
        }
        Ok(by_number)
    }

    /// Whether this edit removes the lines of a file that the next one deletes: without it, nothing guards the file.
    fn is_of_deletion(&self, number: usize) -> bool {
        let kind = |number: usize| self.edits.get(number)?.edit().map(|edit| &*edit.kind);
        matches!(kind(number), Some(Kind::Patch { is_whole: true, .. }))
            && matches!(kind(number + 1), Some(Kind::Delete { .. }))
    }

    /// The edit that is left of one that is left out: a patch without its hunks that had no place.
    fn without_failed_hunks(&self, number: usize, edit: &Planned) -> Option<Planned> {
        let (hunks, failed) = (patch::hunks_of(edit)?, self.failed_hunks(number));
        let is_left = |at: usize| !failed.iter().any(|failed| failed.hunk == at);
        let left = hunks.iter().enumerate().filter(|(at, _)| is_left(*at)).map(|(_, hunk)| hunk.clone());
        let hunks: Vec<_> = left.filter(|_| !failed.is_empty()).collect();
        let mut edit = edit.clone();
        let is_left = !hunks.is_empty();
        edit.kind = Arc::new(Kind::Patch { hunks, is_whole: false });
        is_left.then_some(edit)
    }

    /// The hunks of a patch that stay when another edit takes the place of the one that had no place.
    fn other_hunks(
        &self,
        number: usize,
        edit: &Planned,
        corrected: &Planned,
        at: &str,
    ) -> Result<Option<Planned>> {
        let is_whole = matches!(&*corrected.kind, Kind::Patch { .. } | Kind::Content { .. });
        let Some(hunks) = patch::hunks_of(edit).filter(|hunks| !is_whole && hunks.len() > 1) else {
            return Ok(None);
        };
        match self.failed_hunks(number)[..] {
            [_] => Ok(self.without_failed_hunks(number, edit)),
            _ => {
                let problem = format!(
                    "it would take the place of {} hunks; give corrected hunks as patch",
                    hunks.len()
                );
                Err(refused(at, problem))
            }
        }
    }
}

fn refused(at: &str, problem: String) -> Error {
    Error::InvalidArguments { at: at.into(), problem }
}
