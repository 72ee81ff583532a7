//! What a later call with a patch corrects of a patch: hunks that did not fit, the path of a file, or all that is done with a file.

use std::mem::discriminant;
use std::path::Path;
use std::sync::Arc;

use super::FailedEdits;
use super::hunks::{self, FailedHunk};
use crate::tools::agent::one_edit::Kind;
use crate::tools::agent::planned::Planned;
use folder::{Error, FilePath, Result};
use text::encoding::EncodingChoice;
use text::patch::Hunk;

/// An edit of the failed call with its number there, or one of the later call.
type Numbered = (Option<usize>, Planned);

impl FailedEdits {
    /// All of its edits, with those of a patch in the places of those of the same files. Hunks take the places of hunks. What failed gets
    /// `encoding`, if one is given.
    pub(in crate::tools::agent) fn patched(
        &self,
        patch: &[Planned],
        encoding: Option<EncodingChoice>,
    ) -> Result<Vec<Planned>> {
        if !self.is_patch {
            let problem = "the failed call has edits; give the corrected ones as edits, each with its n";
            return Err(refused(problem.into()));
        }
        let numbered = self.edits.iter().enumerate();
        let mut edits: Vec<Numbered> =
            numbered.filter_map(|(number, slot)| Some((Some(number), slot.edit()?.clone()))).collect();
        let mut done = Vec::<&FilePath>::new();
        for run in patch.chunk_by(|one, next| one.path == next.path) {
            let path = &run[0].path;
            if done.contains(&path) {
                let problem = format!("'{}' is in it twice; give each file once", path.sent());
                return Err(refused(problem));
            }
            done.push(path);
            self.put(run, patch, &mut edits)?;
        }
        let is_failed = |number: Option<usize>| number.is_none_or(|number| self.failed.contains(&number));
        let failed = edits.iter_mut().filter(|(number, _)| is_failed(*number));
        failed.for_each(|(_, edit)| edit.encoding = encoding.or(edit.encoding));
        Ok(edits.into_iter().map(|(_, edit)| edit).collect())
    }

    /// Puts the edits of one file in their places.
    fn put(&self, run: &[Planned], patch: &[Planned], edits: &mut Vec<Numbered>) -> Result<()> {
        let path = &run[0].path;
        let has_hunks = run.iter().all(|edit| hunks_of(edit).is_some());
        // A copy of the file is no edit of it.
        let is_of = |path: &FilePath, edit: &Planned| {
            edit.path == *path && !(has_hunks && matches!(&*edit.kind, Kind::Copy(_)))
        };
        let at = |path: &FilePath| edits.iter().position(|(_, old)| is_of(path, old));
        let behind_move = edits.iter().find_map(|(_, old)| match &*old.kind {
            Kind::Move(to) if old.path == *path && has_hunks => Some(to.clone()),
            _ => None,
        });
        let path = behind_move.as_ref().unwrap_or(path).clone();
        let first = match at(&path).or_else(|| at(self.misnamed(run, patch, edits)?)) {
            Some(first) => first,
            // Hunks for a file that was only moved.
            None if behind_move.is_some() => {
                edits.extend(run.iter().map(|edit| (None, edit.at(path.clone()))));
                return Ok(());
            }
            None => {
                let problem = format!(
                    "with retry, it has only what is corrected; the failed call has no '{}'; send other files in a call of their own",
                    path.sent()
                );
                return Err(refused(problem));
            }
        };
        let (old, encoding) = (edits[first].1.path.clone(), edits[first].1.encoding);
        let is_old = |(_, edit): &Numbered| is_of(&old, edit);
        let mut of_old = edits.iter().filter(|edit| is_old(edit));
        if has_hunks && of_old.all(|(_, edit)| hunks_of(edit).is_some()) {
            let failed = edits
                .iter()
                .position(|edit| is_old(edit) && edit.0.is_some_and(|number| self.failed.contains(&number)));
            let kind = self.corrected_hunks(&edits[failed.unwrap_or(first)], run)?;
            edits[failed.unwrap_or(first)].1.kind = Arc::new(kind);
            if old != path {
                let of_old = edits.iter_mut().filter(|(_, edit)| edit.path == old);
                of_old.for_each(|(_, edit)| edit.take_path_of(&run[0]));
            }
            return Ok(());
        }
        if edits.iter().any(|edit| is_old(edit) && self.would_be_lost(edit, run)) {
            return Err(refused(format!(
                "'{}' has edits that it would take the place of; give the corrected ones as edits, each with its n",
                old.sent()
            )));
        }
        edits.retain(|edit| !is_old(edit));
        for edit in run.iter().rev() {
            let mut edit = edit.clone();
            edit.encoding = encoding;
            edits.insert(first, (None, edit));
        }
        Ok(())
    }

    /// Whether the edits of a patch for the same file do not do what this one does.
    fn would_be_lost(&self, (number, edit): &Numbered, run: &[Planned]) -> bool {
        let is_failed = number.is_some_and(|number| self.failed.contains(&number));
        match &*edit.kind {
            Kind::Text(_) | Kind::Lines(_) | Kind::Symbol { .. } => true,
            Kind::Patch { is_whole: false, .. } => run.iter().any(|new| hunks_of(new).is_some()),
            kind => !is_failed && !run.iter().any(|new| discriminant(&*new.kind) == discriminant(kind)),
        }
    }

    /// The path of a file of the failed call for which the patch has another path.
    fn misnamed<'e>(
        &self,
        run: &[Planned],
        patch: &[Planned],
        edits: &'e [Numbered],
    ) -> Option<&'e FilePath> {
        let name = |path: &FilePath| Path::new(path.as_str()).file_name().map(ToOwned::to_owned);
        let is_one = |(number, old): &Numbered| {
            let is_failed = number.is_some_and(|number| self.failed.contains(&number));
            let is_like = |new: &Planned| name(&new.path) == name(&old.path) || is_same(new, old);
            is_failed && !patch.iter().any(|new| new.path == old.path) && run.iter().any(is_like)
        };
        edits.iter().find(|edit| is_one(edit)).map(|(_, edit)| &edit.path)
    }

    /// The hunks of an edit with those of a patch in the places of those that did not fit.
    fn corrected_hunks(&self, (number, edit): &Numbered, run: &[Planned]) -> Result<Kind> {
        let hunks = hunks_of(edit).unwrap_or_default();
        let failed = number.map_or(Vec::new(), |number| self.failed_hunks(number));
        let is_known = !failed.is_empty() || !number.is_some_and(|number| self.failed.contains(&number));
        let given = run.iter().filter_map(hunks_of).flatten().cloned();
        let hunks = hunks::corrected(hunks, &failed, is_known, given).ok_or_else(|| {
            let number = if failed.is_empty() { hunks.len() } else { failed.len() };
            refused(format!(
                "{number} hunks of '{}' did not fit, and it has fewer; give one for each of them, or all hunks of the file",
                edit.path.sent()
            ))
        })?;
        Ok(Kind::Patch { hunks, is_whole: false })
    }

    /// The hunks of an edit that had no place.
    pub(super) fn failed_hunks(&self, number: usize) -> Vec<&FailedHunk> {
        self.hunks.iter().filter(|hunk| hunk.edit == number).collect()
    }
}

/// The hunks of an edit that changes a file by nothing else.
pub(super) fn hunks_of(edit: &Planned) -> Option<&[Hunk]> {
    match &*edit.kind {
        Kind::Patch { hunks, is_whole: false } => Some(hunks),
        _ => None,
    }
}

/// Whether two edits do the same with their files, in part.
fn is_same(one: &Planned, other: &Planned) -> bool {
    match (&*one.kind, &*other.kind) {
        (Kind::Patch { hunks, .. }, Kind::Patch { hunks: others, .. }) => {
            hunks.iter().any(|hunk| others.iter().any(|other| hunks::is_same(hunk, other)))
        }
        (Kind::Content { text, .. }, Kind::Content { text: other, .. }) => text == other,
        (Kind::Move(to), Kind::Move(other)) => to == other,
        _ => false,
    }
}

fn refused(problem: String) -> Error {
    Error::InvalidArguments { at: "patch".into(), problem }
}
