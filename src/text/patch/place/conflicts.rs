//! Checks that no hunk changes lines that another one has. Lines that stay may belong to several hunks.

use super::sides::Sides;
use super::{HunkProblem, HunkReason};

/// Lines of the text that a hunk replaces. None: it adds lines before this one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Changed {
    from: usize,
    to: usize,
    hunk: usize,
}

/// The hunks that overlap with others; `lines` has the place of each one.
pub(super) fn find(sides: &[Sides], lines: &[usize]) -> Vec<HunkProblem> {
    let mut changes: Vec<Changed> = Vec::new();
    for (hunk, (side, line)) in sides.iter().zip(lines).enumerate() {
        changes.extend(side.changes.iter().map(|change| {
            let from = line + change.from;
            Changed { from, to: from + change.removed, hunk }
        }));
    }
    crate::order::sort_by(&mut changes, Ord::cmp);
    let mut with: Vec<Option<usize>> = vec![None; sides.len()];
    let mut last: Option<Changed> = None;
    for change in &changes {
        if let Some(before) = last.filter(|last| change.from < last.to) {
            let later = change.hunk.max(before.hunk);
            with[later].get_or_insert(change.hunk.min(before.hunk));
        }
        last = last.filter(|last| last.to > change.to).or(Some(*change));
    }
    if with.iter().all(Option::is_none) {
        for (hunk, (side, &line)) in sides.iter().zip(lines).enumerate() {
            let end = line + side.old.len();
            let is_above = |change: &Changed| change.to <= line;
            // An insert at either end of the hunk is outside of it.
            let first = changes.partition_point(is_above);
            let inside = changes[first..].iter().take_while(|change| change.from < end);
            with[hunk] = inside.map(|change| change.hunk).find(|&other| other != hunk);
        }
    }
    let problem = |(hunk, with): (usize, Option<usize>)| {
        Some(HunkProblem { hunk, reason: HunkReason::Overlap { with: with? } })
    };
    with.into_iter().enumerate().filter_map(problem).collect()
}
