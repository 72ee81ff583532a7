//! The edits of a call that failed, of which a later one corrects some (contract 19, `retry`).

use std::collections::HashMap;
use std::sync::Arc;

use self::hunks::FailedHunk;
use super::one_edit::{Kind, OneEdit};
use super::planned::Planned;
use super::unread::Slot;
use crate::tools::ParseOptions;
use crate::tools::arguments::Count;
use folder::{Error, Result};
use text::encoding::EncodingChoice;

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
        let mut by_number = HashMap::new();
        let is_in_order = given.len() == self.failed.len();
        for (at, mut edit) in given.into_iter().enumerate() {
            let refuse = |problem: String| Error::InvalidArguments { at: format!("edits[{at}].n"), problem };
            let number = match edit.n.take() {
                Some(Count(n)) => usize::try_from(n - 1).ok().filter(|number| *number < self.edits.len()),
                None => self.failed.get(at).copied().filter(|_| is_in_order),
            };
            let number = number.ok_or_else(|| {
                let last = self.edits.len();
                refuse(format!("expected the number of the edit that it corrects, from 1 to {last}"))
            })?;
            if by_number.insert(number, (edit, at)).is_some() {
                return Err(refuse(format!("the edit {} is corrected before it in the list", number + 1)));
            }
        }
        let (mut edits, mut last) = (Vec::with_capacity(self.edits.len()), None);
        for (number, slot) in self.edits.iter().enumerate() {
            let (given, at) = by_number.remove(&number).unzip();
            let (start, own) = (edits.len(), given.as_ref().and_then(|given| given.encoding));
            let is_left_out = given.as_ref().is_some_and(|given: &OneEdit| given.skip);
            let edit = match (slot, given) {
                (Slot::Edit(edit), _) if is_left_out => {
                    let edit = edit.behind(last.take());
                    last = Some(edit.path.clone());
                    self.without_failed_hunks(number, &edit)
                }
                (Slot::Unread(_), _) if is_left_out => None,
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
        let of_text = matches!(&*corrected.kind, Kind::Text(_) | Kind::Lines(_));
        let Some(hunks) = patch::hunks_of(edit).filter(|hunks| of_text && hunks.len() > 1) else {
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
