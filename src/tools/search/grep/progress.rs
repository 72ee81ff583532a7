//! Sees to it that pages of a search that runs out of time go on: a file that takes all of the time is skipped, and named.

use super::Sort;
use super::place::Place;
use super::run::{Next, Run};
use crate::tools::walking::path_line_in;
use engine::{SearchStop, Searched};

/// What a page that came to no further line says, and where the next one goes on: nowhere, if that would be the same again.
pub(super) struct Stuck {
    pub(super) note: String,
    pub(super) next: Next,
}

impl Run<'_> {
    /// See [`Stuck`]. `next`: where the search ended.
    pub(super) fn stuck(self, searched: &Searched, next: &Next) -> Option<Stuck> {
        let has_moved = match next {
            Some((place, _)) => self.grep.place.as_ref() != Some(place),
            None => searched.last.is_some(),
        };
        if searched.stop != Some(SearchStop::Time) || has_moved {
            return None;
        }
        let how = if self.grep.scope.how.multiline {
            "without multiline or for a shorter match"
        } else {
            "for a shorter match"
        };
        let late = searched.late_in.as_ref();
        let path =
            late.map(|late| path_line_in(self.workspace.folder_paths().folders(), late.folder, &late.path));
        // The file itself is one that was not searched, unless some of its lines were.
        let has_others = searched.has_unseen || searched.not_searched > u64::from(next.is_none());
        if let (Some(late), Some(path), true) = (late, &path, has_others && self.grep.sort == Sort::Path) {
            let skip = next.as_ref().map_or(self.grep.offset, |(place, _)| place.skip);
            let begun = self.grep.place.as_ref().is_some_and(|place| place.byte.is_some());
            let what = if begun { format!("The rest of {path}") } else { path.clone() };
            let note = format!(
                "[{what} took all of the time and is skipped: it is not searched by the call that goes on. Search it by its own path {how}, or \
                 have the server started with a longer --timeout]"
            );
            let place = Place { skip, ..Place::behind(late.folder, late.path_from_start()) };
            return Some(Stuck { note, next: Some((place, 0)) });
        }
        let at = path.map_or(String::new(), |path| format!(" at {path}"));
        let note = format!(
            "[No file could be searched in the time. The same call may end in the same way{at}: search {how}, less at a time (path, glob), or \
             have the server started with a longer --timeout]"
        );
        Some(Stuck { note, next: None })
    }
}
