//! Two texts in lines that can be compared often.
//!
//! Lines found different get numbers, equal ones for equal lines, and are then compared by number. Lines found equal
//! at once, as most of a long text with one change, are never hashed.

use std::collections::HashMap;

use super::windows::GAP;

/// The most lines of two texts together: they take 8 bytes each.
const MAX_LINES: usize = 4_000_000;

/// The work to number a line, in the unit of [`Pair::work`].
const NUMBERING: usize = 12;

/// A text with the positions of its lines, at most 4 GB. A line includes its break.
pub(super) struct Lines<'t> {
    text: &'t [u8],
    /// The starts of the lines, and the end of the text.
    starts: Vec<u32>,
    /// The numbers of the lines, 0 for those that have none yet.
    numbers: Vec<u32>,
}

impl<'t> Lines<'t> {
    fn new(text: &'t [u8], count: usize) -> Option<Lines<'t>> {
        let end = u32::try_from(text.len()).ok()?;
        let mut starts = Vec::with_capacity(count + 1);
        starts.push(0);
        starts.extend(memchr::memchr_iter(b'\n', text).map(|brk| brk as u32 + 1));
        if starts.last() != Some(&end) {
            starts.push(end);
        }
        Some(Lines { text, starts, numbers: vec![0; count] })
    }

    pub(super) fn len(&self) -> i32 {
        self.numbers.len() as i32
    }

    /// Length in bytes of `count` lines from the line `at` on.
    pub(super) fn bytes(&self, at: i32, count: i32) -> usize {
        (self.starts[(at + count) as usize] - self.starts[at as usize]) as usize
    }

    fn drop_last(&mut self, count: usize) {
        let left = self.numbers.len().saturating_sub(count);
        self.starts.truncate(left + 1);
        self.numbers.truncate(left);
    }

    /// Whether this line stands for a gap.
    fn is_gap(&self, at: i32) -> bool {
        at < self.len() && self.text[self.starts[at as usize] as usize] == GAP
    }

    fn line(&self, at: usize) -> &'t [u8] {
        &self.text[self.starts[at] as usize..self.starts[at + 1] as usize]
    }
}

/// The two texts of a diff.
pub(super) struct Pair<'t> {
    pub(super) old: Lines<'t>,
    pub(super) new: Lines<'t>,
    /// The work since the start: one for each line and for each 32 bytes compared, [`NUMBERING`] for each line numbered.
    pub(super) work: usize,
    /// Whether a line was compared with a gap that is not the same one: what it would have been compared with is not
    /// known.
    pub(super) met_gap: bool,
    has_gaps: bool,
    numbers: HashMap<&'t [u8], u32>,
}

impl<'t> Pair<'t> {
    /// None if the texts are too long. `has_gaps`: lines of theirs may stand for gaps.
    pub(super) fn new(old: &'t [u8], new: &'t [u8], has_gaps: bool) -> Option<Pair<'t>> {
        let (old_count, new_count) = (super::count(old), super::count(new));
        if old_count + new_count > MAX_LINES {
            return None;
        }
        let (old, new) = (Lines::new(old, old_count)?, Lines::new(new, new_count)?);
        Some(Pair { old, new, work: 0, met_gap: false, has_gaps, numbers: HashMap::new() })
    }

    /// Drops the last lines of both texts, and forgets the work.
    pub(super) fn restart_without(&mut self, last: usize) {
        self.old.drop_last(last);
        self.new.drop_last(last);
        self.work = 0;
    }

    /// Number of equal lines from these two lines on.
    #[inline]
    pub(super) fn equal_lines(&mut self, old_at: i32, new_at: i32) -> i32 {
        let most = (self.old.len() - old_at).min(self.new.len() - new_at);
        let mut count = 0;
        while count < most && self.is_equal((old_at + count) as usize, (new_at + count) as usize) {
            count += 1;
        }
        if self.has_gaps && !switches::is_off("diff-gap") {
            self.met_gap |= self.old.is_gap(old_at + count) || self.new.is_gap(new_at + count);
        }
        if count > 0 {
            self.work += count as usize + self.old.bytes(old_at, count) / 32;
        }
        count
    }

    #[inline]
    fn is_equal(&mut self, old_at: usize, new_at: usize) -> bool {
        match (self.old.numbers[old_at], self.new.numbers[new_at]) {
            (0, _) | (_, 0) => self.is_newly_equal(old_at, new_at),
            (old, new) => old == new,
        }
    }

    #[cold]
    fn is_newly_equal(&mut self, old_at: usize, new_at: usize) -> bool {
        let (old, new) = (self.old.numbers[old_at], self.new.numbers[new_at]);
        if old == 0 && new == 0 && self.old.line(old_at) == self.new.line(new_at) {
            return true;
        }
        self.number(old, old_at, |pair| &mut pair.old) == self.number(new, new_at, |pair| &mut pair.new)
    }

    /// The number of a line, given its `number` or 0.
    fn number(&mut self, number: u32, at: usize, side: fn(&mut Self) -> &mut Lines<'t>) -> u32 {
        if number != 0 {
            return number;
        }
        let line = side(self).line(at);
        self.work += NUMBERING + line.len() / 32;
        let next = self.numbers.len() as u32 + 1;
        let number = *self.numbers.entry(line).or_insert(next);
        side(self).numbers[at] = number;
        number
    }
}
