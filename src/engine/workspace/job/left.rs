//! What becomes of a failed job of which a part could not be taken back.
//!
//! The journal gets what is left of it, so that `changes` tells the truth and an undo can take that back later.

use std::collections::HashSet;
use std::io;

use super::locks::Holding;
use super::record::Recording;
use super::recover::Settled;
use crate::change_log::ChangeNumber;
use crate::workspace::Workspace;
use folder::Error;
use folder::fs::atomic::Durability;
use folder::fs::failpoint;
use journal::{Rest, Step};

/// How far a job that failed was taken back.
pub(super) enum Undone {
    All,
    /// All of it, but perhaps not on the disk.
    Unflushed,
    /// The journal has the rest, as this change.
    But(ChangeNumber),
    /// The journal does not have the rest, or not yet.
    InPart,
}

impl Workspace {
    /// Settles a job that failed and of which the elements `left` could not be taken back. The job holds nothing then.
    pub(super) fn settle_left(
        &self,
        recording: Option<Recording>,
        left: &HashSet<usize>,
        holding: &mut Holding,
    ) -> Undone {
        if failpoint::crashed() {
            recording.into_iter().for_each(Recording::keep);
            return Undone::InPart;
        }
        // What is left is locked anew.
        *holding = Holding::default();
        let Some(mut open) = recording.and_then(Recording::into_open) else { return Undone::InPart };
        let rest = open.read().and_then(|change| {
            let mut rest = Rest::of(&change);
            let files = change.files.len();
            for (number, step) in change.steps.iter().enumerate().rev() {
                // A folder stays with what is left in it.
                let is_made = matches!(step, Step::Folder { .. } | Step::New { .. } | Step::Link { .. });
                let is_left = left.contains(&(files + number)) || is_made && rest.needs(step.place());
                if is_left { rest.keep_step(number) } else { rest.drop_step(number) }
            }
            (0..files).filter(|file| left.contains(file)).for_each(|file| rest.keep_file(file));
            let rest = rest.change();
            open.write_rest(&rest, self.options.durability == Durability::Full).map(|()| rest)
        });
        match rest {
            Ok(rest) => match self.settle(open, &rest) {
                Settled::TakenBack => Undone::All,
                Settled::Filed(number) => Undone::But(number),
                Settled::Later => Undone::InPart,
            },
            Err(error) => {
                tracing::warn!("--journal: what is left of a change that failed is not noted: {error}");
                open.keep();
                Undone::InPart
            }
        }
    }
}

impl Undone {
    /// What the error of the job says besides its reason. `None`: nothing.
    pub(super) fn problem(&self, reason: &Error) -> Option<Error> {
        let reason = match reason {
            Error::WriteFailed { source } => source.to_string(),
            Error::Changed { name } => format!("another program changed '{name}'"),
            _ => "a step failed".into(),
        };
        let left = match self {
            Undone::All => return None,
            Undone::Unflushed => {
                format!("{reason}; everything is as before, but that may not survive a loss of power")
            }
            Undone::But(number) => format!(
                "{reason}, and another program kept some of the changes before it from being taken back: they are c{number} \
                in the journal (see `changes`; `undo` takes them back when nothing is in the way); look before you send the call again"
            ),
            Undone::InPart => format!(
                "{reason}, and some of the changes before it could not be taken back: look before you send the call again"
            ),
        };
        Some(Error::WriteFailed { source: io::Error::other(left) })
    }
}
