//! The hunks of a patch that had no place, and those that take their places. No other hunk of a file is lost.

use std::cell::RefCell;

use text::patch::{Hunk, HunkLine, HunkProblem, HunkReason, LineKind};

/// A hunk that had no place.
#[derive(Debug, Clone)]
pub(in crate::tools::agent) struct FailedHunk {
    /// The number of its edit.
    pub(in crate::tools::agent) edit: usize,
    pub(in crate::tools::agent) hunk: usize,
    /// Whether it was explained. Else another one overlaps with it, and one may take the place of both.
    is_told: bool,
}

/// Collects the hunks that have no place, when the edit of this number is planned.
#[derive(Debug, Clone, Copy)]
pub(in crate::tools::agent) struct FailedHunks<'h> {
    pub(in crate::tools::agent) edit: usize,
    pub(in crate::tools::agent) all: &'h RefCell<Vec<FailedHunk>>,
}

impl FailedHunks<'_> {
    /// Notes those of one plan in the place of those of the plan before.
    pub(in crate::tools::agent) fn note(&self, problems: &[HunkProblem]) {
        let (mut all, edit) = (self.all.borrow_mut(), self.edit);
        all.retain(|known| known.edit != edit);
        all.extend(problems.iter().map(|problem| FailedHunk { edit, hunk: problem.hunk, is_told: true }));
        for problem in problems {
            let HunkReason::Overlap { with } = problem.reason else { continue };
            if !all.iter().any(|known| known.edit == edit && known.hunk == with) {
                all.push(FailedHunk { edit, hunk: with, is_told: false });
            }
        }
    }
}

/// The hunks of a file with the given ones in the places of those that `failed`, or `None`: those are too few for that. If none is said to
/// have failed, `is_known` tells whether all of them fit, or nobody knows.
pub(super) fn corrected(
    hunks: &[Hunk],
    failed: &[&FailedHunk],
    is_known: bool,
    given: impl Iterator<Item = Hunk>,
) -> Option<Vec<Hunk>> {
    let has_failed = |at: usize| failed.iter().any(|failed| failed.hunk == at);
    let mut places: Vec<Vec<Hunk>> = hunks.iter().map(|hunk| vec![hunk.clone()]).collect();
    let (mut is_given, mut others) = (vec![false; hunks.len()], Vec::new());
    for hunk in given {
        let is_same = |at: &usize| !is_given[*at] && !has_failed(*at) && is_same(&hunks[*at], &hunk);
        match (0..hunks.len()).find(is_same) {
            Some(at) => (places[at], is_given[at]) = (vec![hunk], true),
            None => others.push(hunk),
        }
    }
    let is_open = |at: &usize| if is_known { has_failed(*at) } else { !is_given[*at] };
    let open: Vec<usize> = (0..hunks.len()).filter(is_open).collect();
    let fewest = if is_known { failed.iter().filter(|failed| failed.is_told).count() } else { open.len() };
    let is_whole = is_known && (0..hunks.len()).all(|at| is_given[at] || has_failed(at));
    match others.len() {
        0 => {}
        number if number < fewest && !is_whole => return None,
        _ => {
            open.iter().for_each(|at| places[*at].clear());
            let mut open = open.into_iter();
            let mut last = None;
            for hunk in others {
                last = open.next().or(last);
                match last {
                    Some(at) => places[at].push(hunk),
                    None => places.push(vec![hunk]),
                }
            }
        }
    }
    Some(places.into_iter().flatten().collect())
}

/// Whether two hunks remove and add the same lines.
pub(super) fn is_same(one: &Hunk, other: &Hunk) -> bool {
    fn changed(hunk: &Hunk) -> impl Iterator<Item = &HunkLine> {
        hunk.lines.iter().filter(|line| line.kind != LineKind::Context)
    }
    changed(one).eq(changed(other))
}
