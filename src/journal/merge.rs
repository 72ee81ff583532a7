//! Takes a change back out of a text that may have changed since.

use std::ops::Range;

use super::hunks::{Hunk, Lines, Replaced, with_neighbours};
use super::{FileChange, hash};
use text::splice::{EditPlan, Splice};

/// Why a change cannot be taken back out of a text: its lines have changed since.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflict {
    /// What the change had replaced in these lines, in order.
    pub places: Vec<ConflictPlace>,
    /// About where the lines are now, or were.
    pub at: Range<usize>,
    /// Whether they are there as the change made them: lines beside them have changed. `at` holds those, too.
    pub is_beside: bool,
    /// Which of the later changes has changed them, by its index. `None`: another program.
    pub by: Option<usize>,
}

/// A place in lines that have changed since.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConflictPlace {
    /// Where it was in the text that the change made.
    pub start: usize,
    /// The bytes that the change had replaced.
    pub old: Vec<u8>,
    /// Those that it had put there.
    pub new: Vec<u8>,
}

/// The plan that takes `change` back out of `now`, the content of its file. `later`: the changes of the same file since, in order.
/// What was changed in other lines since stays.
pub fn undo_plan(
    change: &FileChange,
    now: &[u8],
    later: &[&FileChange],
) -> Result<EditPlan<'static>, Conflict> {
    let starts = match followed(change, hash(now), later) {
        Some(Ok(starts)) => starts,
        // What touched the lines may have been taken back since.
        Some(Err(touched)) => found(change, now).map_err(|_| touched.conflict(now))?,
        None => found(change, now)
            .map_err(|hunk| Touched { hunk, start: hunk.at.start, by: None }.conflict(now))?,
    };
    let splices = change.hunks.iter().zip(starts).flat_map(|(hunk, start)| {
        hunk.replaced.iter().map(move |replaced| {
            let start = start.saturating_add(replaced.start);
            Splice { at: start..start.saturating_add(replaced.new.len()), text: replaced.old.clone().into() }
        })
    });
    let splices: Vec<Splice> = splices.collect();
    let is_there =
        |splice: &Splice, replaced: &Replaced| now.get(splice.at.clone()) == Some(&replaced.new[..]);
    let replaced = change.hunks.iter().flat_map(|hunk| &hunk.replaced);
    let are_there = splices.iter().zip(replaced).all(|(splice, replaced)| is_there(splice, replaced));
    // Hunks that were found are in order, and do not overlap.
    let plan = EditPlan::new(splices, now).filter(|_| are_there);
    plan.ok_or_else(|| match change.hunks.first() {
        Some(hunk) => Touched { hunk, start: hunk.at.start, by: None }.conflict(now),
        None => Conflict { places: Vec::new(), at: 0..0, is_beside: false, by: None },
    })
}

/// A hunk whose lines, or lines beside them, have changed since.
struct Touched<'h> {
    hunk: &'h Hunk,
    /// About where its lines are now.
    start: usize,
    by: Option<usize>,
}

/// A hunk that is followed through later changes: where its lines are with their neighbours, and which change touched them first.
struct Followed<'h> {
    hunk: &'h Hunk,
    region: Range<usize>,
    touched: Option<usize>,
}

/// Where the hunks are in the text with the hash `now`, if all changes since are known.
fn followed<'h>(
    change: &'h FileChange,
    now: u64,
    later: &[&FileChange],
) -> Option<Result<Vec<usize>, Touched<'h>>> {
    let all = change.hunks.iter().map(|hunk| Followed { hunk, region: hunk.region(), touched: None });
    let mut all: Vec<Followed> = all.collect();
    let (mut content, mut next) = (change.after, 0);
    while content != now {
        // What was taken back since touched nothing.
        let same = later[next..].iter().rposition(|later| later.before == content);
        let at = next + same?;
        let by = later[at];
        if by.hunks.is_empty() {
            // What it changed is not kept.
            return None;
        }
        for Followed { hunk, region, touched } in &mut all {
            let (start, touches) = moved(region, hunk.is_at_border(), by);
            *region = start..start.saturating_add(region.len());
            *touched = touched.or(touches.then_some(at));
        }
        (content, next) = (by.after, at + 1);
    }
    let start = |one: &Followed| one.region.start.saturating_add(one.hunk.around[0].len);
    let first = all.iter().filter(|one| one.touched.is_some()).min_by_key(|one| one.touched);
    Some(match first {
        Some(first) => Err(Touched { hunk: first.hunk, start: start(first), by: first.touched }),
        None => Ok(all.iter().map(start).collect()),
    })
}

/// Where a region starts behind a later change, and whether that touches it. `at_border`: whether the text begins with the region, and
/// whether it ends with it: what is put in there touches it.
fn moved(region: &Range<usize>, at_border: [bool; 2], by: &FileChange) -> (usize, bool) {
    let [begins, ends] = at_border;
    let mut shift = 0_isize;
    let start = |shift| region.start.saturating_add_signed(shift);
    for hunk in &by.hunks {
        for replaced in &hunk.replaced {
            let from = hunk.at.start.saturating_add(replaced.start).saturating_add_signed(-shift);
            let to = from.saturating_add(replaced.old.len());
            if from > region.end || from == region.end && !ends {
                return (start(shift), false);
            }
            if to > region.start || begins {
                // What is put in before the lines moves them on.
                let is_before = replaced.old.is_empty() && from <= region.start;
                let put_in = if is_before { replaced.new.len() as isize } else { 0 };
                return (start(shift + put_in), true);
            }
            shift += replaced.new.len() as isize - replaced.old.len() as isize;
        }
    }
    (start(shift), false)
}

/// Where the hunks are, found by their lines. `Err`: the first one that is not.
fn found<'h>(change: &'h FileChange, now: &[u8]) -> Result<Vec<usize>, &'h Hunk> {
    let lines = Lines::of(now, &change.hunks);
    let mut end = 0;
    let start_of = |hunk: &'h Hunk| {
        let start = lines.find(hunk).filter(|start| hunk.is_unique && *start >= end).ok_or(hunk)?;
        end = start.saturating_add(hunk.at.len());
        Ok(start)
    };
    change.hunks.iter().map(start_of).collect()
}

impl Touched<'_> {
    /// What is told of it.
    fn conflict(&self, now: &[u8]) -> Conflict {
        let Touched { hunk, start, by } = *self;
        let place = |replaced: &Replaced| ConflictPlace {
            start: hunk.at.start.saturating_add(replaced.start),
            old: replaced.old.clone(),
            new: replaced.new.clone(),
        };
        let places = hunk.replaced.iter().map(place).collect();
        match hunk.nearest(now, start) {
            Some(at) => Conflict { places, at: with_neighbours(now, at), is_beside: true, by },
            None => Conflict { places, at: start..start.saturating_add(hunk.at.len()), is_beside: false, by },
        }
    }
}
