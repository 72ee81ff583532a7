//! What an answer of `analyze_code_churn` shows, and the words that several formats have in common.

use std::collections::HashMap;

use crate::tools::balance::several;
use crate::tools::toolkit::page_start::PageStart;
use crate::tools::walking::{in_one_line, shown, shown_line};
use ::toolkit::churn::{AuthorCommits, Churn, FileChurn, HotSpot, MOST_OLDER, Uncounted};
use engine::Unanalysed;
use sys::path::told;

/// Hot spots and authors that are shown.
const MOST: usize = 10;

/// Bytes of the limit of an answer for each author, and for each hot spot.
const ROOM_OF_ONE: usize = 800;

/// See the module.
pub(super) struct Shown<'c> {
    pub(super) churn: &'c Churn,
    pub(super) spots: Vec<HotSpot<'c>>,
    /// Their scores, by their paths.
    pub(super) spot_scores: HashMap<&'c [u8], f64>,
    /// The complexity of files, by their paths.
    pub(super) scores: &'c HashMap<String, f64>,
    /// Why the complexity of files is not known.
    pub(super) unknown_complexity: Option<String>,
    /// What was not analysed if the time was up.
    pub(super) unscored: Option<Unanalysed>,
    /// What stands before the path of a file below the project, so that other tools take the whole.
    pub(super) before: String,
    /// Days of the period.
    pub(super) days: u64,
    /// The first file that is shown.
    pub(super) start: PageStart,
    /// The longest text in bytes, if there is a limit.
    pub(super) limit: Option<usize>,
}

impl<'c> Shown<'c> {
    /// The files from the offset on.
    pub(super) fn files(&self) -> &'c [FileChurn] {
        let files = &self.churn.files;
        &files[self.start.skipped().min(files.len())..]
    }

    /// The hot spots that are shown: on the first page.
    pub(super) fn spots(&self) -> &[HotSpot<'c>] {
        &self.spots[..self.spots.len().min(self.most())]
    }

    /// Where the hot spots stand that are not shown, if there are such.
    pub(super) fn other_spots(&self) -> &'static str {
        if self.spots().len() < self.spots.len() { " (format csv has the scores of all)" } else { "" }
    }

    /// The authors that are shown: on the first page.
    pub(super) fn authors(&self) -> &'c [AuthorCommits] {
        let authors = &self.churn.authors;
        &authors[..authors.len().min(self.most())]
    }

    /// Authors and hot spots that are shown: fewer in a short answer, so that there is room for files.
    fn most(&self) -> usize {
        let most = self.limit.map_or(MOST, |limit| MOST.min(limit / ROOM_OF_ONE));
        if self.start.offset > 0 { 0 } else { most }
    }

    /// The path of a file as other tools take it. It may have line breaks; bytes that are no UTF-8 are `\xNN`.
    pub(super) fn path(&self, file: &FileChurn) -> String {
        told(&(self.before.clone() + &shown(&file.path))).into_owned()
    }

    /// The same on one line.
    pub(super) fn path_line(&self, file: &FileChurn) -> String {
        told(&format!("{}{}", in_one_line(&self.before), shown_line(&file.path))).into_owned()
    }

    /// The complexity of a file that exists.
    pub(super) fn complexity(&self, file: &FileChurn) -> Option<f64> {
        self.scores.get(std::str::from_utf8(&file.path).ok()?).copied().filter(|_| file.exists)
    }

    /// The score of a file as a hot spot.
    pub(super) fn score(&self, file: &FileChurn) -> Option<f64> {
        self.spot_scores.get(&*file.path).copied()
    }

    /// What the figures leave out, one sentence each.
    pub(super) fn notes(&self) -> Vec<String> {
        let Churn { files, oversized, is_cut, late, .. } = self.churn;
        let mut notes = Vec::new();
        let too_large: u64 = files.iter().map(|file| file.too_large).sum();
        if too_large > 0 {
            notes.push(format!(
                "{} of files over 16 MiB or 1,048,576 changed lines without line counts",
                several(too_large, "change")
            ));
        }
        if let Some(first) = oversized.first() {
            let commits = several(oversized.len() as u64, "commit");
            notes.push(format!("{commits} changed too many files to count them, such as {first}"));
        }
        if let Some(why) = &self.unknown_complexity {
            notes.push(format!("There are no hot spots: {why}"));
        }
        if let Some(Unanalysed { files, has_unseen }) = self.unscored {
            let least = if has_unseen { "at least " } else { "" };
            let files = several(files, "file");
            notes.push(format!(
                "The time was up: {least}{files} were not analyzed for hot spots. What was analyzed is kept for further calls"
            ));
        }
        if let Some(Uncounted { commits, has_unseen }) = *late {
            let least = if has_unseen { "at least " } else { "" };
            let commits = several(commits as u64, "older commit");
            let way_out = match self.days {
                1 => "Have the server started with a longer --timeout",
                _ => "Pass a smaller period_days",
            };
            notes.push(format!(
                "The time was up: the figures are of the newest commits of the period; {least}{commits} of it are not counted. The list \
                    of a part has no further page. {way_out}"
            ));
        }
        if *is_cut {
            notes.push(format!("The history was read up to {MOST_OLDER} commits before the period"));
        }
        notes
    }
}

/// A number with one digit behind the point.
pub(super) fn tenth(number: f64) -> f64 {
    (number * 10.0).round() / 10.0
}

/// Name and address of an author, on one line.
pub(super) fn author_text(of: &AuthorCommits) -> String {
    in_one_line(&format!("{} <{}>", of.author.name, of.author.email)).into_owned()
}
