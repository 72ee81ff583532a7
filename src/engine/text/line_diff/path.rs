//! The search for a shortest diff: the greedy algorithm of Myers, with the order and the ties of jsdiff.
//!
//! A path goes from the start of both texts to their ends, along equal lines for free. The state after `d` edits is,
//! for each diagonal (old lines passed less new lines passed), how many old lines the farthest path has passed.
//! Which of several shortest paths wins depends on details, so each choice here is jsdiff's (`diff/base.js`); a
//! common end is therefore not removed beforehand either.

use super::pair::Pair;
use super::{Kind, Run};

/// The most work of one search: one for each diagonal of a round, and that of the comparisons. One takes a few
/// nanoseconds.
const MAX_WORK: usize = 12_000_000;

/// On a diagonal that no path has reached.
const NONE: i32 = -1;

/// The runs of the path that jsdiff finds; none if it has more than `max_edits` edits or takes too much work.
pub(super) fn shortest(mut pair: Pair, max_edits: usize) -> Option<Vec<Run>> {
    let most = max_edits.min((pair.old.len() + pair.new.len()) as usize);
    let deletes = Search::new(&mut pair, most).run(most as i32)?;
    Some(follow(&mut pair, &deletes))
}

struct Search<'p, 't> {
    pair: &'p mut Pair<'t>,
    /// For each diagonal, the number of old lines passed.
    passed: Vec<i32>,
    /// The index of diagonal 0 in it.
    middle: i32,
    choices: Choices,
}

impl<'p, 't> Search<'p, 't> {
    fn new(pair: &'p mut Pair<'t>, most: usize) -> Search<'p, 't> {
        Search {
            pair,
            passed: vec![NONE; 2 * most + 3],
            middle: most as i32 + 1,
            choices: Choices::default(),
        }
    }

    /// Whether each edit of the path is a deletion.
    fn run(mut self, most: i32) -> Option<Vec<bool>> {
        let (old_len, new_len) = (self.pair.old.len(), self.pair.new.len());
        // A path at the end of a text cannot come back, and jsdiff no longer looks at the diagonals beyond it.
        let (mut lowest, mut highest) = (i32::MIN, i32::MAX);
        *self.at(0) = self.pair.equal_lines(0, 0);
        for edits in 1..=most {
            let first = lowest.max(-edits);
            self.choices.start_round(first);
            for diagonal in (first..=highest.min(edits)).step_by(2) {
                self.pair.work += 1;
                if self.pair.work > MAX_WORK {
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
                let passed = passed + self.pair.equal_lines(passed, passed - diagonal);
                let (old_ends, new_ends) = (passed >= old_len, passed - diagonal >= new_len);
                if old_ends && new_ends {
                    return Some(self.choices.path_to(diagonal));
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
        None
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

/// The runs of a path, given its edits: between two of them it passes all equal lines.
fn follow(pair: &mut Pair, deletes: &[bool]) -> Vec<Run> {
    let (mut runs, mut old_at, mut new_at) = (Vec::new(), 0, 0);
    let mut edits = deletes.iter();
    loop {
        let equal = pair.equal_lines(old_at, new_at);
        extend(&mut runs, Kind::Equal, equal, pair.old.bytes(old_at, equal));
        (old_at, new_at) = (old_at + equal, new_at + equal);
        match edits.next() {
            Some(true) => {
                extend(&mut runs, Kind::Deleted, 1, pair.old.bytes(old_at, 1));
                old_at += 1;
            }
            Some(false) => {
                extend(&mut runs, Kind::Inserted, 1, pair.new.bytes(new_at, 1));
                new_at += 1;
            }
            None => return runs,
        }
    }
}

/// Adds lines to the last run, if it is of their kind.
fn extend(runs: &mut Vec<Run>, kind: Kind, lines: i32, bytes: usize) {
    match runs.last_mut().filter(|last| last.kind == kind) {
        _ if lines == 0 => {}
        Some(last) => (last.lines, last.bytes) = (last.lines + lines as usize, last.bytes + bytes),
        None => runs.push(Run { kind, lines: lines as usize, bytes }),
    }
}
