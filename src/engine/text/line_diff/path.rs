//! The search for a shortest diff: the greedy algorithm of Myers, with the order and the ties of jsdiff.
//!
//! A path goes from the start of both texts to their ends, along equal lines for free. The state after `d` edits is,
//! for each diagonal (old lines passed less new lines passed), how many old lines the farthest path has passed.
//! Which of several shortest paths wins depends on details, so each choice here is jsdiff's (`diff/base.js`); a
//! common end is therefore not removed beforehand either.

use super::{Kind, Run};

/// The most work of one search: one unit for each diagonal of a round and for each line passed, and one for each
/// 32 bytes compared. A unit takes a few nanoseconds.
const MAX_WORK: usize = 25_000_000;

/// On a diagonal that no path has reached.
const NONE: i32 = -1;

/// A text with the positions of its lines, at most 4 GB. A line includes its break.
pub(super) struct Lines<'t> {
    text: &'t [u8],
    /// The starts of the lines, and the end of the text.
    starts: Vec<u32>,
}

impl<'t> Lines<'t> {
    pub(super) fn new(text: &'t [u8]) -> Option<Lines<'t>> {
        let end = u32::try_from(text.len()).ok()?;
        let mut starts = Vec::with_capacity(super::count(text) + 1);
        starts.push(0);
        starts.extend(memchr::memchr_iter(b'\n', text).map(|brk| brk as u32 + 1));
        if starts.last() != Some(&end) {
            starts.push(end);
        }
        Some(Lines { text, starts })
    }

    fn len(&self) -> i32 {
        self.starts.len() as i32 - 1
    }

    fn line(&self, at: i32) -> &'t [u8] {
        &self.text[self.start(at)..self.start(at + 1)]
    }

    fn start(&self, at: i32) -> usize {
        self.starts[at as usize] as usize
    }
}

/// The runs of the path that jsdiff finds; none if it has more than `max_edits` edits or takes too much work.
pub(super) fn shortest(old: &Lines, new: &Lines, max_edits: usize) -> Option<Vec<Run>> {
    let most = max_edits.min((old.len() + new.len()) as usize);
    let choices = Search::new(old, new, most).run(most as i32)?;
    Some(follow(old, new, &choices))
}

struct Search<'l> {
    old: &'l Lines<'l>,
    new: &'l Lines<'l>,
    /// For each diagonal, the number of old lines passed.
    passed: Vec<i32>,
    /// The index of diagonal 0 in it.
    middle: i32,
    choices: Choices,
    work: usize,
}

impl<'l> Search<'l> {
    fn new(old: &'l Lines, new: &'l Lines, most: usize) -> Search<'l> {
        let passed = vec![NONE; 2 * most + 3];
        Search { old, new, passed, middle: most as i32 + 1, choices: Choices::default(), work: 0 }
    }

    /// Whether each edit of the path is a deletion.
    fn run(mut self, most: i32) -> Option<Vec<bool>> {
        let (old_len, new_len) = (self.old.len(), self.new.len());
        // A path at the end of a text cannot come back, and jsdiff no longer looks at the diagonals beyond it.
        let (mut lowest, mut highest) = (i32::MIN, i32::MAX);
        *self.at(0) = self.pass_equal(0, 0);
        for edits in 1..=most {
            let first = lowest.max(-edits);
            self.choices.start_round(first);
            for diagonal in (first..=highest.min(edits)).step_by(2) {
                self.work += 1;
                if self.work > MAX_WORK {
                    return None;
                }
                let deletion = std::mem::replace(self.at(diagonal - 1), NONE);
                let insertion = *self.at(diagonal + 1);
                let can_insert = insertion != NONE && insertion - diagonal <= new_len;
                let can_delete = deletion != NONE && deletion < old_len;
                let deletes = can_delete && !(can_insert && deletion < insertion);
                self.choices.push(deletes);
                if !can_insert && !can_delete {
                    *self.at(diagonal) = NONE;
                    continue;
                }
                let passed = if deletes { deletion + 1 } else { insertion };
                let passed = self.pass_equal(passed, diagonal);
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

    /// Number of old lines passed after the equal lines from here on.
    fn pass_equal(&mut self, passed: i32, diagonal: i32) -> i32 {
        let equal = equal_lines(self.old, self.new, passed, passed - diagonal);
        let bytes = self.old.start(passed + equal) - self.old.start(passed);
        self.work += equal as usize + bytes / 32;
        passed + equal
    }
}

/// Number of equal lines from two lines on.
fn equal_lines(old: &Lines, new: &Lines, old_at: i32, new_at: i32) -> i32 {
    let most = (old.len() - old_at).min(new.len() - new_at);
    (0..most).take_while(|nth| old.line(old_at + nth) == new.line(new_at + nth)).count() as i32
}

/// For each round and each of its diagonals, whether the path came to it by a deletion: one bit each.
#[derive(Default)]
struct Choices {
    bits: Vec<u64>,
    len: usize,
    /// For each round, its first diagonal and the number of bits before it.
    rounds: Vec<(i32, usize)>,
}

impl Choices {
    fn start_round(&mut self, first: i32) {
        self.rounds.push((first, self.len));
    }

    fn push(&mut self, deletes: bool) {
        if self.len.is_multiple_of(64) {
            self.bits.push(0);
        }
        if let Some(last) = self.bits.last_mut() {
            *last |= u64::from(deletes) << (self.len % 64);
        }
        self.len += 1;
    }

    /// The choices of the path that reached `diagonal` in the last round.
    fn path_to(&self, mut diagonal: i32) -> Vec<bool> {
        let choice = |&(first, before): &(i32, usize)| {
            let at = before + (diagonal - first) as usize / 2;
            let deletes = self.bits[at / 64] >> (at % 64) & 1 == 1;
            diagonal += if deletes { -1 } else { 1 };
            deletes
        };
        let mut path: Vec<bool> = self.rounds.iter().rev().map(choice).collect();
        path.reverse();
        path
    }
}

/// The runs of a path, given its edits: between two of them it passes all equal lines.
fn follow(old: &Lines, new: &Lines, deletes: &[bool]) -> Vec<Run> {
    let (mut runs, mut old_at, mut new_at) = (Vec::new(), 0, 0);
    let mut edits = deletes.iter();
    loop {
        let equal = equal_lines(old, new, old_at, new_at);
        extend(&mut runs, Kind::Equal, equal, old.start(old_at + equal) - old.start(old_at));
        (old_at, new_at) = (old_at + equal, new_at + equal);
        match edits.next() {
            Some(true) => {
                extend(&mut runs, Kind::Deleted, 1, old.line(old_at).len());
                old_at += 1;
            }
            Some(false) => {
                extend(&mut runs, Kind::Inserted, 1, new.line(new_at).len());
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
