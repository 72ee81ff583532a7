//! Where a search goes on, as a cursor keeps it.

use super::content::EndPlace;
use super::files::MatchedFile;
use crate::engine::SearchPlace;
use crate::tools::walking::{kept, path_kept};

/// See the module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    /// The time of the file in a list by time.
    pub(super) modified_ns: Option<i128>,
    /// The number of its served folder, 0-based.
    pub(super) folder: usize,
    /// Below the folder that is searched.
    pub(super) path: Vec<u8>,
    /// Where its first line begins that was not told; `None`: all of it was.
    pub(super) byte: Option<usize>,
    /// Whether an earlier answer told lines of the file in which it is.
    pub(super) is_told: bool,
    /// How many entries behind it are still to be left out.
    pub(super) skip: u64,
}

/// Stands before a byte of a file of which no line was told.
const UNTOLD: &str = "n";

impl Place {
    /// Behind a file.
    pub(super) fn behind(folder: usize, path: &[u8]) -> Place {
        Place { modified_ns: None, folder, path: path.into(), byte: None, is_told: true, skip: 0 }
    }

    /// Behind a file in a list by time.
    pub(super) fn behind_in_time(file: &MatchedFile) -> Place {
        Place { modified_ns: Some(file.modified_ns), ..Place::behind(file.folder, &file.path) }
    }

    /// In a file.
    pub(super) fn inside(end: &EndPlace) -> Place {
        Place { byte: Some(end.byte), is_told: !end.is_before_all, ..Place::behind(end.folder, &end.path) }
    }

    /// Whether it is at this file or in it.
    pub(super) fn is_in(&self, folder: usize, path: &[u8]) -> bool {
        (self.folder, &self.path[..]) == (folder, path)
    }

    /// Reads the text of a place.
    pub(super) fn read(text: &str) -> Option<Place> {
        let mut words = text.splitn(5, ' ');
        let mut word = || words.next();
        let modified_ns = match word()? {
            "-" => None,
            time => Some(time.parse().ok()?),
        };
        let folder = word()?.parse().ok()?;
        let byte = word()?;
        let is_told = !byte.starts_with(UNTOLD);
        let byte = match byte.trim_start_matches(UNTOLD) {
            "-" => None,
            byte => Some(byte.parse().ok()?),
        };
        let skip = word()?.parse().ok()?;
        Some(Place { modified_ns, folder, byte, is_told, skip, path: path_kept(word()?).into_owned() })
    }

    /// Its text.
    pub(super) fn text(&self) -> String {
        let or_dash = |number: Option<String>| number.unwrap_or_else(|| "-".into());
        let time = or_dash(self.modified_ns.map(|time| time.to_string()));
        let byte = or_dash(self.byte.map(|byte| byte.to_string()));
        let untold = if self.is_told { "" } else { UNTOLD };
        format!("{time} {} {untold}{byte} {} {}", self.folder, self.skip, kept(&self.path))
    }

    /// As the engine takes it.
    pub(super) fn as_searched(&self) -> SearchPlace<'_> {
        SearchPlace { folder: self.folder, path: &self.path, byte: self.byte }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_read_back() {
        let behind = Place::behind(1, b"a b/\xff");
        let inside = Place { byte: Some(7), skip: 3, ..behind.clone() };
        let untold = Place { is_told: false, ..inside.clone() };
        for place in [Place { modified_ns: Some(-5), ..inside.clone() }, inside, untold, behind] {
            assert_eq!(Place::read(&place.text()), Some(place));
        }
        assert!(
            ["", "- 0", "x 0 - 0 a", "- x - 0 a", "- 0 - x a"].iter().all(|text| Place::read(text).is_none())
        );
    }
}
