//! What refusals of undos say: what is in the way, and what to do about it.

use super::super::Workspace;
use super::super::changed_files::Within;
use super::super::job::JobError;
use super::history::History;
use super::refused;
use crate::change_log::ChangeNumber;
use folder::Error;
use journal::{Change, Step, Toggle};

/// The most paths that an error names.
const MOST_PATHS: usize = 3;

/// The error for a change that cannot be taken back.
pub(super) fn not_undoable(number: ChangeNumber, change: &Change) -> Error {
    let why = &change.not_undoable;
    refused("change", &format!("c{number} cannot be taken back: {why}; edit the files instead"))
}

/// The error for pieces that are taken back already. `by`: the changes that did that.
pub(super) fn taken_back(at: &str, what: &str, mut by: Vec<ChangeNumber>) -> Error {
    by.sort_unstable();
    by.dedup();
    let ids: Vec<String> = by.iter().rev().take(MOST_PATHS).map(|number| format!("c{number}")).collect();
    let (ids, last) = (ids.join(", "), ids.first().cloned().unwrap_or_default());
    refused(at, &format!("{what} is taken back already, by {ids}; `undo` of {last} does it again"))
}

/// The errors of the job that takes a change back, in the words of one who names no paths.
pub(super) fn of_job(error: JobError) -> JobError {
    let told = |error| match error {
        Error::Exists { name, .. } => refused(
            &name,
            "something else has this name since, and stays; move that away, then undo the change again",
        ),
        Error::NotFound(missing) => refused(&missing.name, "another program has deleted or moved it since"),
        error => error,
    };
    match error {
        JobError::Failed(error) => JobError::Failed(told(error)),
        JobError::Refused(all) => {
            JobError::Refused(all.into_iter().map(|(number, error)| (number, told(error))).collect())
        }
    }
}

/// The error for a path at which a change did nothing.
pub(super) fn nothing_there(
    workspace: &Workspace,
    history: &History,
    toggles: &[Toggle],
    within: &Within,
) -> Error {
    let (number, change) = &history.changes[0];
    let place = |place: &journal::Place| workspace.served_place(change, place);
    let (mut paths, mut more) = (Vec::new(), 0);
    for element in toggles.iter().filter_map(|toggle| toggle.element) {
        let at = match change.step(element) {
            None => change.files.get(element).and_then(|file| place(&file.at)),
            Some(Step::Moved { to, .. }) => {
                let to = place(to);
                if let Some(to) = to.as_ref().filter(|to| within.is_below(to)) {
                    let to = workspace.told(to);
                    let problem =
                        format!("c{number} moved the folder {to} as a whole: give that path, or none");
                    return refused("path", &problem);
                }
                to
            }
            Some(step) => place(step.place()),
        };
        let path = at.map(|at| workspace.told(&at));
        match path.filter(|path| !paths.contains(path)) {
            Some(path) if paths.len() < MOST_PATHS => paths.push(path),
            Some(_) => more += 1,
            None => {}
        }
    }
    let more = if more > 0 { " and others" } else { "" };
    refused("path", &format!("c{number} changed nothing there; it changed {}{more}", paths.join(", ")))
}
