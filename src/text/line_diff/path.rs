//! The search for a shortest diff: the greedy algorithm of Myers, with the order and the ties of jsdiff.
//!
//! A path goes from the start of both texts to their ends, along equal lines for free. The state after `d` edits is,
//! for each diagonal (old lines passed less new lines passed), how many old lines the farthest path has passed.
//! Which of several shortest paths wins depends on details, so each choice here is jsdiff's (`diff/base.js`); a
//! common end is therefore not removed beforehand either.

use super::pair::Pair;
use super::{Kind, Run};

/// The most work of the search for a shortest path: one for each diagonal of a round, and that of the comparisons.
/// One takes up to about 8 ns.
const MAX_WORK: usize = 9_000_000;

/// The same for a path in parts.
const MAX_WORK_IN_PARTS: usize = 3_000_000;

/// The most edits of a part.
const PART: usize = 256;

/// On a diagonal that no path has reached.
const NONE: i32 = -1;

/// The runs of the path that jsdiff finds; none if it has more than `max_edits` edits or takes too much work, or if the
/// search met a gap.
pub(super) fn shortest(pair: &mut Pair, max_edits: usize) -> Option<Vec<Run>> {
    let mut route = Route::default();
    let part = Search::new(pair, &route, max_edits).run(MAX_WORK)?;
    part.ends.then(|| route.follow(pair, &part.deletes))?;
    Some(route.runs)
}

/// The runs of a path that is shortest only in each part: a part goes on from the farthest point of the last one. What
/// is left when there was too much work is deleted and inserted.
pub(super) fn in_parts(pair: &mut Pair, max_edits: usize) -> Vec<Run> {
    let mut route = Route::default();
    while let Some(part) = Search::new(pair, &route, max_edits.clamp(1, PART)).run(MAX_WORK_IN_PARTS) {
        route.follow(pair, &part.deletes);
        if part.ends {
            return route.runs;
        }
    }
    route.replace_rest(pair);
    route.runs
}

/// A part of a path.
struct Part {
    /// For each edit, whether it is a deletion.
    deletes: Vec<bool>,
    /// Whether it reaches the ends of both texts.
    ends: bool,
}

/// A search from a point on.
struct Search<'p, 't> {
    pair: &'p mut Pair<'t>,
    old_start: i32,
    new_start: i32,
    /// For each diagonal, the number of old lines passed.
    passed: Vec<i32>,
    /// The index of diagonal 0 in it.
    middle: i32,
    choices: Choices,
}

impl<'p, 't> Search<'p, 't> {
    fn new(pair: &'p mut Pair<'t>, from: &Route, max_edits: usize) -> Search<'p, 't> {
        let (old_start, new_start) = (from.old_at, from.new_at);
        let left = pair.old.len() - old_start + pair.new.len() - new_start;
        let most = max_edits.min(left as usize);
        let passed = vec![NONE; 2 * most + 3];
        Search { pair, old_start, new_start, passed, middle: most as i32 + 1, choices: Choices::default() }
    }

    /// The first path to reach both ends, else the one that is farthest after the last round; none if the work is
    /// too much, or if a path met a gap other than by way of equal lines.
    fn run(mut self, max_work: usize) -> Option<Part> {
        let (old_len, new_len) = (self.pair.old.len() - self.old_start, self.pair.new.len() - self.new_start);
        // A path at the end of a text cannot come back, and jsdiff no longer looks at the diagonals beyond it.
        let (mut lowest, mut highest) = (i32::MIN, i32::MAX);
        *self.at(0) = self.pass_equal(0, 0);
        for edits in 1..self.middle {
            let first = lowest.max(-edits);
            self.choices.start_round(first);
            for diagonal in (first..=highest.min(edits)).step_by(2) {
                self.pair.work += 1;
                if self.pair.work > max_work {
                    return None;
                }
                let deletion = std::mem::replace(self.at(diagonal - 1), NONE);
                let insertion = *self.at(diagonal + 1);
                let can_insert = insertion != NONE && insertion - diagonal <= new_len;
                let can_delete = deletion != NONE && deletion < old_len;
                let deletes = can_delete && !(can_insert && deletion < insertion);
                self.choices.deletes.push(deletes);
                if !can_insert && !can_delete {
                    *self.at(diagonal) = NONE;
                    continue;
                }
                let passed = if deletes { deletion + 1 } else { insertion };
                let passed = self.pass_equal(passed, diagonal);
                if self.pair.met_gap {
                    return None;
                }
                let (old_ends, new_ends) = (passed >= old_len, passed - diagonal >= new_len);
                if old_ends && new_ends {
                    return Some(Part { deletes: self.choices.path_to(diagonal), ends: true });
                }
                *self.at(diagonal) = passed;
                if old_ends {
                    highest = highest.min(diagonal - 1);
                }
                if new_ends {
                    lowest = lowest.max(diagonal + 1);
                }
            }
        }
        let reached = self.choices.last_round().map(|diagonal| (*self.at(diagonal), diagonal));
        let reached = reached.filter(|&(passed, _)| passed != NONE);
        let (_, farthest) = reached.max_by_key(|&(passed, diagonal)| 2 * passed - diagonal)?;
        Some(Part { deletes: self.choices.path_to(farthest), ends: false })
    }

    /// Number of old lines passed after the equal lines from here on.
    fn pass_equal(&mut self, passed: i32, diagonal: i32) -> i32 {
        passed + self.pair.equal_lines(self.old_start + passed, self.new_start + passed - diagonal)
    }

    fn at(&mut self, diagonal: i32) -> &mut i32 {
        &mut self.passed[(self.middle + diagonal) as usize]
    }
}

/// How the paths came to the diagonals, for each round.
#[derive(Default)]
struct Choices {
    /// For each diagonal of each round, whether by a deletion.
    deletes: Vec<bool>,
    /// For each round, its first diagonal and the number of choices before it.
    rounds: Vec<(i32, usize)>,
}

impl Choices {
    fn start_round(&mut self, first: i32) {
        self.rounds.push((first, self.deletes.len()));
    }

    /// The diagonals of the last round.
    fn last_round(&self) -> impl Iterator<Item = i32> + use<> {
        let (first, before) = self.rounds.last().copied().unwrap_or((0, 0));
        (first..).step_by(2).take(self.deletes.len() - before)
    }

    /// The choices of the path that reached `diagonal` in the last round.
    fn path_to(&self, mut diagonal: i32) -> Vec<bool> {
        let choice = |&(first, before): &(i32, usize)| {
            let deletes = self.deletes[before + (diagonal - first) as usize / 2];
            diagonal += if deletes { -1 } else { 1 };
            deletes
        };
        let mut path: Vec<bool> = self.rounds.iter().rev().map(choice).collect();
        path.reverse();
        path
    }
}

/// The runs of a path up to a point.
#[derive(Default)]
struct Route {
    runs: Vec<Run>,
    old_at: i32,
    new_at: i32,
}

impl Route {
    /// Goes on along a path, given its edits: between two of them it passes all equal lines.
    fn follow(&mut self, pair: &mut Pair, deletes: &[bool]) {
        self.pass_equal(pair);
        for &deletes in deletes {
            if deletes {
                self.extend(Kind::Deleted, 1, pair.old.bytes(self.old_at, 1));
                self.old_at += 1;
            } else {
                self.extend(Kind::Inserted, 1, pair.new.bytes(self.new_at, 1));
                self.new_at += 1;
            }
            self.pass_equal(pair);
        }
    }

    fn pass_equal(&mut self, pair: &mut Pair) {
        let equal = pair.equal_lines(self.old_at, self.new_at);
        self.extend(Kind::Equal, equal, pair.old.bytes(self.old_at, equal));
        (self.old_at, self.new_at) = (self.old_at + equal, self.new_at + equal);
    }

    fn replace_rest(&mut self, pair: &Pair) {
        let (old_left, new_left) = (pair.old.len() - self.old_at, pair.new.len() - self.new_at);
        self.extend(Kind::Deleted, old_left, pair.old.bytes(self.old_at, old_left));
        self.extend(Kind::Inserted, new_left, pair.new.bytes(self.new_at, new_left));
    }

    /// Adds lines to the last run, if it is of their kind.
    fn extend(&mut self, kind: Kind, lines: i32, bytes: usize) {
        match self.runs.last_mut().filter(|last| last.kind == kind) {
            _ if lines == 0 => {}
            Some(last) => (last.lines, last.bytes) = (last.lines + lines as usize, last.bytes + bytes),
            None => self.runs.push(Run { kind, lines: lines as usize, bytes }),
        }
    }
}
