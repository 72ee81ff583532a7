//! The lines of a file that are printed: those of its hits, and lines around them, in order and each once.
//!
//! Knows no output.

use std::collections::VecDeque;
use std::io;
use std::ops::Range;

use super::Context;
use crate::tools::numbered::count_breaks;
use engine::FoundFile;
use search::{Hit, LineMatcher, behind_break, line_before, line_end};

/// How many more hits of a file are looked for at once.
const AT_ONCE: usize = 4_096;

/// A line around a match, or the lines of a match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Passage {
    /// Their bytes, with the last break.
    pub(super) bytes: Range<usize>,
    /// The number of the first one, 1-based.
    pub(super) line: u64,
    /// Whether it is a match.
    pub(super) is_match: bool,
    /// Lines are left out between these and the passage before.
    pub(super) is_behind_gap: bool,
}

/// See the module.
pub(super) struct Passages<'f> {
    text: &'f [u8],
    context: Context,
    hits: VecDeque<Hit>,
    /// Hits behind the last one that counts: in the lines around that one, they are matches all the same.
    beyond: Vec<Hit>,
    /// Hits of the file that are not in `hits` yet.
    more: u64,
    ready: VecDeque<Passage>,
    /// What lies before this byte was passed.
    passed: usize,
    /// A hit was passed.
    has_begun: bool,
    /// The number of the line at `counted`, 1-based.
    line: u64,
    counted: usize,
}

impl<'f> Passages<'f> {
    /// Of the first `most` hits of a file.
    pub(super) fn new(file: &'f FoundFile, context: Context, most: Option<usize>) -> Passages<'f> {
        let wanted = most.map_or(file.count, |most| file.count.min(most as u64));
        let kept = file.hits.len().min(usize::try_from(wanted).unwrap_or(usize::MAX));
        Passages {
            text: file.text(),
            context,
            hits: file.hits[..kept].iter().copied().collect(),
            beyond: file.hits[kept..].to_vec(),
            more: wanted - kept as u64,
            ready: VecDeque::new(),
            passed: 0,
            has_begun: false,
            line: 1,
            counted: 0,
        }
    }

    /// The next passage. `scan` looks for hits that the file was not found with.
    pub(super) fn next(&mut self, scan: &mut LineMatcher) -> io::Result<Option<Passage>> {
        if self.ready.is_empty() {
            self.look_for_more(scan)?;
            match self.hits.pop_front() {
                Some(hit) => self.pass(hit),
                None => self.pass_behind(self.text.len()),
            }
        }
        Ok(self.ready.pop_front())
    }

    fn look_for_more(&mut self, scan: &mut LineMatcher) -> io::Result<()> {
        if !self.hits.is_empty() || self.more == 0 {
            return Ok(());
        }
        let at_once = usize::try_from(self.more).map_or(AT_ONCE, |more| more.min(AT_ONCE));
        let found = scan.hits_behind(self.text, self.passed, 0, at_once);
        let (hits, _) = found.map_err(|_| io::Error::from(io::ErrorKind::TimedOut))?;
        // A file that has changed may have fewer.
        self.more = if hits.is_empty() { 0 } else { self.more - hits.len() as u64 };
        self.hits = hits.into();
        Ok(())
    }

    /// Adds what lies behind the hit before this one and in front of it, and the hit.
    fn pass(&mut self, hit: Hit) {
        self.pass_behind(hit.start);
        let befores = std::iter::successors(Some(hit.start), |at| line_before(self.text, *at));
        let before = befores.skip(1).take(self.context.before).take_while(|at| *at >= self.passed).last();
        let is_behind_gap = self.has_begun && before.unwrap_or(hit.start) > self.passed;
        if let Some(before) = before {
            self.add_context(before..hit.start, is_behind_gap);
        }
        let end = behind_break(self.text, hit.end);
        self.add(hit.start..end, true, is_behind_gap && before.is_none());
        self.has_begun = true;
    }

    /// Adds the lines behind the last hit, up to the byte `end`.
    fn pass_behind(&mut self, end: usize) {
        if !self.has_begun {
            return;
        }
        let mut to = self.passed;
        for _ in 0..self.context.after {
            if to >= end {
                break;
            }
            to = behind_break(self.text, line_end(self.text, to..end));
        }
        if end == self.text.len() {
            self.has_begun = false;
            for hit in std::mem::take(&mut self.beyond).into_iter().filter(|hit| hit.start < to) {
                self.add_context(self.passed..hit.start, false);
                self.add(hit.start..behind_break(self.text, hit.end).min(to), true, false);
            }
        }
        self.add_context(self.passed..to, false);
    }

    /// Adds lines around a match, each as a passage.
    fn add_context(&mut self, bytes: Range<usize>, is_behind_gap: bool) {
        let mut at = bytes.start;
        while at < bytes.end {
            let end = behind_break(self.text, line_end(self.text, at..bytes.end));
            self.add(at..end, false, is_behind_gap && at == bytes.start);
            at = end;
        }
    }

    fn add(&mut self, bytes: Range<usize>, is_match: bool, is_behind_gap: bool) {
        self.line += count_breaks(&self.text[self.counted..bytes.start]) as u64;
        self.counted = bytes.start;
        self.passed = bytes.end;
        self.ready.push_back(Passage { bytes, line: self.line, is_match, is_behind_gap });
    }
}
