//! Takes a change back out of a text that may have changed since.

use std::ops::Range;

use super::hunks::{Hunk, Lines, Replaced};
use super::{FileChange, hash};
use text::splice::{EditPlan, Splice};

/// Why a change cannot be taken back out of a text: its lines have changed since.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflict {
    /// What the change had replaced in these lines, in order.
    pub places: Vec<ConflictPlace>,
    /// Where the lines were in the text that the change made.
    pub at: Range<usize>,
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
        Some(Err(conflict)) => found(change, now).map_err(|_| conflict)?,
        None => found(change, now)?,
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
    plan.ok_or_else(|| conflict(change.hunks.first(), None))
}

/// Where the hunks are in the text with the hash `now`, if all changes since are known.
fn followed(change: &FileChange, now: u64, later: &[&FileChange]) -> Option<Result<Vec<usize>, Conflict>> {
    let mut regions: Vec<(Range<usize>, &Hunk)> =
        change.hunks.iter().map(|hunk| (hunk.region(), hunk)).collect();
    let (mut content, mut next, mut touched) = (change.after, 0, None);
    while content != now {
        // What was taken back since touched nothing.
        let same = later[next..].iter().rposition(|later| later.before == content);
        let at = next + same?;
        let by = later[at];
        if by.hunks.is_empty() {
            // What it changed is not kept.
            return None;
        }
        for (region, hunk) in &mut regions {
            match moved(region, hunk.is_at_border(), by) {
                Some(start) => *region = start..start.saturating_add(region.len()),
                None => touched = touched.or_else(|| Some(conflict(Some(*hunk), Some(at)))),
            }
        }
        (content, next) = (by.after, at + 1);
    }
    let starts = regions.into_iter().map(|(region, hunk)| region.start.saturating_add(hunk.around[0].len));
    Some(touched.map_or_else(|| Ok(starts.collect()), Err))
}

/// Where a region starts behind a later change. `None` if that touches it. `at_border`: whether the text begins with the region, and
/// whether it ends with it: what is put in there touches it.
fn moved(region: &Range<usize>, at_border: [bool; 2], by: &FileChange) -> Option<usize> {
    let [begins, ends] = at_border;
    let mut shift = 0_isize;
    for hunk in &by.hunks {
        for replaced in &hunk.replaced {
            let start = hunk.at.start.saturating_add(replaced.start).saturating_add_signed(-shift);
            let end = start.saturating_add(replaced.old.len());
            if start > region.end || start == region.end && !ends {
                return Some(region.start.saturating_add_signed(shift));
            }
            if end > region.start || begins {
                return None;
            }
            shift += replaced.new.len() as isize - replaced.old.len() as isize;
        }
    }
    Some(region.start.saturating_add_signed(shift))
}

/// Where the hunks are, found by their lines.
fn found(change: &FileChange, now: &[u8]) -> Result<Vec<usize>, Conflict> {
    let lines = Lines::of(now, &change.hunks);
    let mut end = 0;
    let start_of = |hunk: &Hunk| {
        let start = lines.find(hunk).filter(|start| hunk.is_unique && *start >= end);
        let start = start.ok_or_else(|| conflict(Some(hunk), None))?;
        end = start.saturating_add(hunk.at.len());
        Ok(start)
    };
    change.hunks.iter().map(start_of).collect()
}

fn conflict(hunk: Option<&Hunk>, by: Option<usize>) -> Conflict {
    let Some(hunk) = hunk else { return Conflict { places: Vec::new(), at: 0..0, by } };
    let place = |replaced: &Replaced| ConflictPlace {
        start: hunk.at.start.saturating_add(replaced.start),
        old: replaced.old.clone(),
        new: replaced.new.clone(),
    };
    Conflict { places: hunk.replaced.iter().map(place).collect(), at: hunk.at.clone(), by }
}
