//! Where a search goes on, as a cursor keeps it.

use super::files::MatchedFile;
use crate::tools::walking::{kept, path_kept};
use engine::{FoundFile, LateFile, SearchPlace};

/// See the module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    /// The rank of the file in a list by rank.
    pub(super) rank: Option<i128>,
    /// The number of its served folder, 0-based.
    pub(super) folder: usize,
    /// Below the folder that is searched.
    pub(super) path: Vec<u8>,
    /// Where the search goes on in it, at a line; `None`: all of it was told.
    pub(super) byte: Option<usize>,
    /// What lies before this byte was told, if that is more or less than what lies before `byte`.
    pub(super) told: Option<usize>,
    /// Whether an earlier answer told lines of the file in which it is.
    pub(super) is_told: bool,
    /// How many entries behind it are still to be left out.
    pub(super) skip: u64,
}

/// Where an answer ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct EndPlace {
    pub(super) folder: usize,
    /// Below the folder that is searched.
    pub(super) path: Vec<u8>,
    /// The file.
    late: LateFile,
    /// The byte where the next search begins, at a line.
    pub(super) byte: usize,
    /// What lies before this byte was told.
    pub(super) told: usize,
    /// The state of the file.
    pub(super) state: u64,
    /// Matches of the file of which nothing was told.
    pub(super) matches_behind: u64,
    /// Whether those are all of its matches.
    pub(super) is_before_all: bool,
}

/// Stands before a byte of a file of which no line was told.
const UNTOLD: &str = "n";

impl EndPlace {
    pub(super) fn new(
        file: &FoundFile,
        byte: usize,
        told: usize,
        state: u64,
        matches_behind: u64,
    ) -> EndPlace {
        let (folder, path) = (file.folder, file.path[file.base..].to_vec());
        let is_before_all = matches_behind == file.matches;
        let late = LateFile { folder, path: file.path.clone(), base: file.base };
        EndPlace { folder, path, late, byte, told, state, matches_behind, is_before_all }
    }

    /// The file in which the answer ended, because the time was up.
    pub(super) fn late(&self) -> LateFile {
        self.late.clone()
    }
}

impl Place {
    /// Behind a file.
    pub(super) fn behind(folder: usize, path: &[u8]) -> Place {
        Place { rank: None, folder, path: path.into(), byte: None, told: None, is_told: true, skip: 0 }
    }

    /// Behind a file in a list by rank.
    pub(super) fn behind_by_rank(file: &MatchedFile) -> Place {
        Place { rank: Some(file.rank), ..Place::behind(file.folder, &file.path) }
    }

    /// In a file.
    pub(super) fn inside(end: &EndPlace) -> Place {
        let told = (!switches::is_off("grep-context-pages") && end.told != end.byte).then_some(end.told);
        Place {
            byte: Some(end.byte),
            told,
            is_told: !end.is_before_all,
            ..Place::behind(end.folder, &end.path)
        }
    }

    /// Whether it is at this file or in it.
    pub(super) fn is_in(&self, folder: usize, path: &[u8]) -> bool {
        (self.folder, &self.path[..]) == (folder, path)
    }

    /// Reads the text of a place.
    pub(super) fn read(text: &str) -> Option<Place> {
        let mut words = text.splitn(5, ' ');
        let mut word = || words.next();
        let rank = match word()? {
            "-" => None,
            rank => Some(rank.parse().ok()?),
        };
        let folder = word()?.parse().ok()?;
        let byte = word()?;
        let is_told = !byte.starts_with(UNTOLD);
        let (byte, told) = match byte.trim_start_matches(UNTOLD).split_once('+') {
            Some((byte, told)) => (byte, Some(told.parse().ok()?)),
            None => (byte.trim_start_matches(UNTOLD), None),
        };
        let byte = if byte == "-" { None } else { Some(byte.parse().ok()?) };
        let skip = word()?.parse().ok()?;
        Some(Place { rank, folder, byte, told, is_told, skip, path: path_kept(word()?).into_owned() })
    }

    /// Its text.
    pub(super) fn text(&self) -> String {
        let or_dash = |number: Option<String>| number.unwrap_or_else(|| "-".into());
        let rank = or_dash(self.rank.map(|rank| rank.to_string()));
        let byte = or_dash(self.byte.map(|byte| byte.to_string()));
        let byte = self.told.map_or_else(|| byte.clone(), |told| format!("{byte}+{told}"));
        let untold = if self.is_told { "" } else { UNTOLD };
        format!("{rank} {} {untold}{byte} {} {}", self.folder, self.skip, kept(&self.path))
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
        let told = Place { told: Some(9), ..inside.clone() };
        let untold = Place { is_told: false, ..inside.clone() };
        for place in [Place { rank: Some(-5), ..inside.clone() }, inside, told, untold, behind] {
            assert_eq!(Place::read(&place.text()), Some(place));
        }
        assert!(
            ["", "- 0", "x 0 - 0 a", "- x - 0 a", "- 0 - x a"].iter().all(|text| Place::read(text).is_none())
        );
    }
}
