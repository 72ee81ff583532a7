//! Changes that were made though the journal could not be written: the server remembers the last ones, so that the last change of a
//! session is not taken for one before it.

use std::path::PathBuf;

use super::{ChangeLog, ChangeNumber, held};

/// The most changes that are remembered. The oldest go, those of the same session first.
const MOST: usize = 256;

/// The most places that are remembered of one. Of more, it counts as a change of everything.
const MOST_PLACES: usize = 100;

/// A change that the journal has not.
#[derive(Debug, Clone)]
pub struct Unrecorded {
    pub(crate) session: String,
    /// The changes of its session up to this number came before it.
    pub behind: ChangeNumber,
    /// Served folders by their numbers, and paths below them.
    pub(crate) places: Vec<(usize, PathBuf)>,
    /// Whether it has changed more than these.
    pub has_more: bool,
    /// Why the journal could not be written.
    pub why: String,
}

impl ChangeLog {
    /// Remembers a change that the journal has not.
    pub(crate) fn remember<'p>(
        &self,
        session: &str,
        why: &str,
        mut places: impl Iterator<Item = &'p (usize, PathBuf)>,
    ) {
        let mut all = held(&self.unrecorded);
        if all.len() >= MOST {
            let oldest = all.iter().position(|one| one.session == session).unwrap_or(0);
            all.remove(oldest);
        }
        all.push(Unrecorded {
            session: session.into(),
            behind: *held(&self.last),
            places: places.by_ref().take(MOST_PLACES).cloned().collect(),
            has_more: places.next().is_some(),
            why: why.into(),
        });
    }

    /// The changes of a session that the journal has not, in order.
    pub(crate) fn unrecorded_of(&self, session: &str) -> Vec<Unrecorded> {
        held(&self.unrecorded).iter().filter(|one| one.session == session).cloned().collect()
    }
}
