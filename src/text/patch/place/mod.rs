//! Finds the hunks of a patch in a text, and plans their changes.
//!
//! [`occurrences`] finds the lines of hunks, [`headers`] the lines behind `@@`, [`conflicts`] checks that hunks do not overlap, and
//! [`edits`] makes line edits of them, so that breaks are those of any edit by lines.

mod best;
mod choose;
mod conflicts;
mod edits;
mod headers;
mod occurrences;
mod sides;

use self::choose::Chooser;
use self::sides::Sides;
use super::Hunk;
use crate::lines::LineIndex;
use crate::splice::EditPlan;
use crate::text_edit::{Diagnosis, TextEdit, diagnose};
use crate::{Error, Stop, Stopped};

/// Maximum number of places that are reported for a hunk.
const REPORTED: usize = 20;

/// Number of hunks for which similar passages are looked for.
const DIAGNOSED: usize = 10;

/// Number of bytes of a hunk, in whole lines, that similar passages are looked for.
const COMPARED: usize = 16 * 1024;

/// Maximum number of bytes quoted of a line.
const QUOTED: usize = 400;

/// Where the hunks fit, and what they change.
#[derive(Debug)]
pub struct Placed {
    /// The changes in bytes.
    pub plan: EditPlan<'static>,
    /// For each hunk, the line of the old text at which it begins, or before which it adds lines, 0-based.
    pub lines: Vec<usize>,
}

/// Why hunks have no place.
#[derive(Debug)]
pub enum Unplaced {
    /// The caller wants the work to stop.
    Stopped(Stopped),
    /// All hunks that do not fit, in the order of the patch. The others fit.
    Problems(Vec<HunkProblem>),
}

/// A hunk that does not fit.
#[derive(Debug, Clone, PartialEq)]
pub struct HunkProblem {
    /// The index of the hunk.
    pub hunk: usize,
    /// Why it does not fit.
    pub reason: HunkReason,
}

/// Why a hunk does not fit. Lines are those of the old text, 0-based.
#[derive(Debug, Clone, PartialEq)]
pub enum HunkReason {
    /// Its lines are nowhere in the text.
    NotFound {
        /// Where its lines differ from the most similar passage.
        difference: Option<FirstDifference>,
        /// Similar passages. `None` after the first ten hunks.
        diagnosis: Option<Box<Diagnosis>>,
    },
    /// Its lines are in several places, and neither its number nor the line behind `@@` tells which is meant.
    Ambiguous {
        /// The first lines of the places, at most 20.
        lines: Vec<usize>,
        /// The number of places that come into question.
        total: usize,
    },
    /// It only adds lines, and does not say where.
    NoPlace,
    /// It only adds lines, beyond the end of the text.
    PastEnd {
        /// The line before which it adds them.
        line: usize,
        /// The lines of the text.
        total: usize,
    },
    /// It changes lines that another hunk has, too.
    Overlap {
        /// The index of the other one.
        with: usize,
    },
}

/// The first line of a hunk that a similar passage has not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FirstDifference {
    /// Its index in the old side of the hunk.
    pub old_line: usize,
    /// Its text; cut if it is long.
    pub expected: String,
    /// The line of the text in its place, 0-based.
    pub line: usize,
    /// The text there; cut if it is long. `None` behind the end.
    pub found: Option<String>,
}

impl From<Stopped> for Unplaced {
    fn from(stopped: Stopped) -> Unplaced {
        Unplaced::Stopped(stopped)
    }
}

/// Finds `hunks` of one file in the text `old`, and plans their changes. Returns `None` if `old` does not match `index`.
///
/// A hunk fits where all lines of its old side are, to the letter but for their breaks. If that is in several places, decide, in this
/// order: its number, moved by as much as the hunk before it was found from its number, if that is the first line of a place; the end of
/// the text, for a hunk that belongs there, but not against such a number; the number, if one place is nearest; the lines behind `@@`, if
/// they leave one place.
///
/// Added lines take the break of the lines that they replace, or beside them. Other lines keep their bytes.
pub fn place(
    hunks: &[Hunk],
    index: &LineIndex,
    old: &[u8],
    stop: &dyn Stop,
) -> Result<Option<Placed>, Unplaced> {
    let sides: Vec<Sides> = hunks.iter().map(|hunk| Sides::of(hunk, index)).collect();
    let mut problems = Vec::new();
    let mut lines = Vec::new();
    for (hunk, found) in Chooser::new(&sides, index, old, stop).choose()?.into_iter().enumerate() {
        match found {
            Ok(line) => lines.push(line),
            Err(reason) => problems.push(HunkProblem { hunk, reason }),
        }
    }
    if problems.is_empty() {
        problems = conflicts::find(&sides, &lines);
    }
    if !problems.is_empty() {
        return match explain(&mut problems, &sides, index, old, stop) {
            Ok(()) => Err(Unplaced::Problems(problems)),
            Err(Error::Stopped(stopped)) => Err(Unplaced::Stopped(stopped)),
            Err(_) => Ok(None),
        };
    }
    stop.check()?;
    Ok(edits::plan(&sides, &lines, index, old).map(|plan| Placed { plan, lines }))
}

/// Adds similar passages to the problems of hunks that are nowhere.
fn explain(
    problems: &mut [HunkProblem],
    sides: &[Sides],
    index: &LineIndex,
    old: &[u8],
    stop: &dyn Stop,
) -> crate::Result<()> {
    let nowhere = problems.iter_mut().filter_map(|problem| match &mut problem.reason {
        HunkReason::NotFound { difference, diagnosis } => Some((problem.hunk, difference, diagnosis)),
        _ => None,
    });
    for (hunk, difference, diagnosis) in nowhere.take(DIAGNOSED) {
        stop.check()?;
        let sides = &sides[hunk];
        let old_text = start_of(sides.old.iter().copied());
        let new_text = start_of(sides.hunk.new_side());
        let edit = TextEdit { old_text, new_text, occurrences: 1 };
        let Some(mut found) = diagnose(index, old, edit, stop)? else { continue };
        let near: Vec<usize> = found.similar.iter().map(|similar| similar.passage.line).collect();
        let first = best::line(sides, &near, index, old);
        *difference = first.and_then(|first| first_difference(sides, first, index, old));
        if let (Some(first), Some(similar)) = (first, found.similar.first_mut())
            && first != similar.passage.line
        {
            similar.passage = best::passage(sides, first, index, old);
        }
        *diagnosis = Some(Box::new(found));
    }
    Ok(())
}

/// The first line of the hunk that is not that of the text, if the hunk begins at the line `first` of it.
fn first_difference(sides: &Sides, first: usize, index: &LineIndex, old: &[u8]) -> Option<FirstDifference> {
    let line = |line: usize| old.get(index.line(line, old)?.text);
    let differs = |(nth, text): &(usize, &&str)| line(first + nth) != Some(text.as_bytes());
    let (nth, text) = sides.old.iter().enumerate().find(differs)?;
    let found = line(first + nth).map(|text| cut(&String::from_utf8_lossy(text)));
    Some(FirstDifference { old_line: nth, expected: cut(text), line: first + nth, found })
}

/// The first lines, joined, and no more than are compared with passages.
fn start_of<'t>(lines: impl Iterator<Item = &'t str>) -> String {
    let mut text = String::new();
    for (nth, line) in lines.enumerate() {
        if nth > 0 {
            text.push('\n');
        }
        text.push_str(line);
        if text.len() > COMPARED {
            break;
        }
    }
    text
}

fn cut(text: &str) -> String {
    match text.get(..crate::lines::char_boundary(text.as_bytes(), QUOTED)) {
        Some(start) if start.len() < text.len() => format!("{start}…"),
        _ => text.into(),
    }
}
