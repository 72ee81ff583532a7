//! The lines of one file that `grep` tells: their numbers, and what was told of them.

use crate::tools::numbered::count_breaks;
use engine::FoundFile;
use search::line_before;

/// See the module.
pub(super) struct FileText<'f> {
    pub(super) text: &'f [u8],
    pub(super) path: &'f str,
    /// The text up to here is counted in `line`.
    counted: usize,
    /// The number of the line at `counted`.
    pub(super) line: u64,
    /// What lies before this byte was told, or is left out.
    pub(super) told: usize,
    /// This answer has told nothing of the file yet.
    pub(super) is_new: bool,
    /// An earlier answer has told lines of it up to this byte.
    pub(super) told_before: Option<usize>,
    file: &'f FoundFile,
}

/// Over so many bytes, the number of a line is looked up in the file's index, if there is one.
const WORTH_INDEX: usize = 64 << 10;

/// Bytes that the number of a line and the sign behind it take at most.
const MAX_NUMBER: usize = 22;

impl<'f> FileText<'f> {
    pub(super) fn new(file: &'f FoundFile, path: &'f str, first: u64, told: usize) -> FileText<'f> {
        let (text, is_new, told_before) = (file.text(), true, None);
        FileText { text, path, counted: 0, line: first, told, is_new, told_before, file }
    }

    /// Whether lines are left out between those that were told of the file and the one at the byte `from`.
    pub(super) fn has_gap(&self, from: usize) -> bool {
        if self.is_new { self.told_before.is_some_and(|told| from > told) } else { from > self.told }
    }

    /// Bytes that stand before the next line at most: the path of the file, if it is the first one, and its number.
    pub(super) fn head(&self) -> usize {
        MAX_NUMBER + if self.is_new { self.path.len() + 3 } else { 0 }
    }

    /// Counts on, or looks up the number of the line at the byte `at`.
    pub(super) fn count_to(&mut self, at: usize, first: u64) {
        if at < self.counted {
            (self.counted, self.line) = (0, first);
        }
        let known = if at - self.counted > WORTH_INDEX { self.file.line_at(at) } else { None };
        self.line = match known {
            Some(line) => first + line,
            None => self.line + count_breaks(&self.text[self.counted..at]) as u64,
        };
        self.counted = at;
    }

    /// Where the line begins that is at most so many before the one at `at`, of those that were not told.
    pub(super) fn lines_before(&self, at: usize, count: u64) -> usize {
        let befores = std::iter::successors(Some(at), |at| line_before(self.text, *at));
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        befores.skip(1).take(count).take_while(|start| *start >= self.told).last().unwrap_or(at)
    }
}
