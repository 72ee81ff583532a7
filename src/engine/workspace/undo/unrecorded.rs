//! What is told of changes that the journal has not.

use super::super::{Place, Workspace};
use crate::change_log::Unrecorded;
use folder::FilePath;

/// The most paths that are named.
const MOST_PATHS: usize = 3;

impl Workspace {
    /// The changes of a session that the journal has not, in order; with `path`, those at it or below.
    pub fn unrecorded(&self, session: &str, path: Option<&FilePath>) -> Vec<Unrecorded> {
        let mut all = self.change_log().map(|log| log.unrecorded_of(session)).unwrap_or_default();
        if let Some(within) = path.filter(|_| !all.is_empty()).map(|path| self.within(path)) {
            let is_there = |place: &Place| within.holds(place) || within.is_below(place);
            all.retain(|one| one.has_more || one.places.iter().any(is_there));
        }
        all
    }

    /// The paths that such a change has changed, the first ones.
    pub fn unrecorded_paths(&self, change: &Unrecorded) -> String {
        let paths: Vec<String> =
            change.places.iter().take(MOST_PATHS).map(|place| self.told(place)).collect();
        let more = if paths.len() < change.places.len() { " and others" } else { "" };
        paths.join(", ") + more
    }
}
