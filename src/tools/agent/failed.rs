//! The edits of a call that failed, of which a later one corrects some (contract 19, `retry`).

use std::collections::HashMap;

use super::one_edit::OneEdit;
use super::patched::PatchEdit;
use super::planned::Planned;
use super::unread::Slot;
use crate::tools::ParseOptions;
use crate::tools::arguments::Count;
use folder::{Error, FilePath, Result};

/// The edits of a call that failed.
#[derive(Debug)]
pub(super) struct FailedEdits {
    pub(super) edits: Vec<Slot>,
    /// The numbers of those that do not fit, from 0.
    pub(super) failed: Vec<usize>,
    pub(super) is_patch: bool,
    pub(super) message: String,
}

impl FailedEdits {
    /// Bytes of memory, about.
    pub(super) fn bytes(&self) -> usize {
        self.message.len() + self.edits.iter().map(Slot::bytes).sum::<usize>()
    }

    /// All of its edits, with the corrected ones in their places.
    pub(super) fn corrected(&self, given: Vec<OneEdit>, options: ParseOptions) -> Result<Vec<Planned>> {
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
            let given = by_number.remove(&number);
            let edit = match (slot, given) {
                (Slot::Edit(edit), None) => edit.behind(last.take()),
                (Slot::Edit(edit), Some((given, at))) => {
                    edit.corrected(given, &format!("edits[{at}]"))?.behind(last.take())
                }
                (Slot::Unread(unread), given) => {
                    unread.corrected(given.map(|(given, _)| given), (number, &mut last), options)?
                }
            };
            last = edit.path_behind();
            edits.push(edit);
        }
        Ok(edits)
    }

    /// All of its edits, with those of a patch in the places of its edits of the same files.
    pub(super) fn patched(&self, patch: Vec<PatchEdit>) -> Result<Vec<Planned>> {
        let mut edits: Vec<Planned> = self.edits.iter().filter_map(Slot::edit).cloned().collect();
        let (mut done, mut behind) = (Vec::<FilePath>::new(), 0);
        for edit in patch {
            let path = edit.path.clone();
            if done.last() != Some(&path) {
                let is_same = |old: &Planned| old.path == path;
                let first = edits.iter().position(is_same).filter(|_| !done.contains(&path));
                behind = first.ok_or_else(|| Error::InvalidArguments {
                    at: "patch".into(),
                    problem: format!(
                        "with retry, it has only corrected files, each once; the failed call has no '{}'; send the other files in a call of their own",
                        path.sent()
                    ),
                })?;
                edits.retain(|old| old.path != path);
                done.push(path);
            }
            edits.insert(behind, edit.into());
            behind += 1;
        }
        Ok(edits)
    }
}
