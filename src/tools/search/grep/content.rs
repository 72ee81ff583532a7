//! The answer `content` of `grep`: matching lines and lines around them, grouped by file.

use std::ops::Range;

use crate::engine::{FoundFile, Hit, LineMatcher, behind_break, line_at, line_before, line_end};
use crate::tools::LineBase;
use crate::tools::numbered::{count_breaks, with_lf};

/// How lines are told.
#[derive(Debug, Clone, Copy)]
pub(super) struct LineForm {
    /// Whether a line begins with its number.
    pub(super) numbers: bool,
    pub(super) base: LineBase,
    /// Lines before and behind each match.
    pub(super) before: u64,
    pub(super) after: u64,
    /// Only the matches, each on a line of its own.
    pub(super) only_matches: bool,
    /// The longest line that is told whole, in characters.
    pub(super) max_columns: usize,
}

/// Where an answer ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct EndPlace {
    pub(super) folder: usize,
    /// Below the folder that is searched.
    pub(super) path: Vec<u8>,
    /// The byte where the first line begins that was not told.
    pub(super) byte: usize,
    /// The state of the file.
    pub(super) state: u64,
    /// Hits of the file from there on.
    pub(super) hits_behind: u64,
    /// Whether those are all of its hits.
    pub(super) is_before_all: bool,
}

/// See the module.
pub(super) struct Content<'p> {
    pub(super) text: String,
    form: LineForm,
    scan: LineMatcher<'p>,
    /// Bytes of text that are wanted at most.
    room: usize,
    /// Hits that are wanted at most.
    limit: u64,
    /// Hits that are still left out.
    pub(super) skip: u64,
    /// Hits that were told.
    pub(super) shown: u64,
    /// Where the answer ended, if there are more hits.
    pub(super) end: Option<EndPlace>,
    /// It ended because the time was up.
    pub(super) is_late: bool,
    /// Files that changed while their lines were told.
    pub(super) changed: u64,
}

/// The lines of one file that are being told.
struct FileText<'f> {
    text: &'f [u8],
    /// The text up to here is counted in `line`.
    counted: usize,
    /// The number of the line at `counted`.
    line: u64,
    /// Lines before this byte were told, or are left out.
    told: usize,
    /// Nothing of the file was told yet.
    is_new: bool,
    file: &'f FoundFile,
}

/// Over so many bytes, the number of a line is looked up in the file's index, if there is one.
const WORTH_INDEX: usize = 64 << 10;

/// Stands for lines that are left out because the answer is full.
const CUT: &str = "[The rest is left out: the answer is full]\n";

/// Characters of a line that are told even if there is little room.
const MIN_COLUMNS: usize = 100;

impl EndPlace {
    fn new(file: &FoundFile, byte: usize, state: u64, hits_behind: u64) -> EndPlace {
        let (folder, path) = (file.folder, file.path[file.base..].to_vec());
        EndPlace { folder, path, byte, state, hits_behind, is_before_all: hits_behind == file.count }
    }
}

impl<'f> FileText<'f> {
    fn new(file: &'f FoundFile, first: u64) -> FileText<'f> {
        FileText { text: file.text(), counted: 0, line: first, told: file.start, is_new: true, file }
    }

    /// Counts on, or looks up the number of the line at the byte `at`.
    fn count_to(&mut self, at: usize, first: u64) {
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
}

impl<'p> Content<'p> {
    pub(super) fn new(
        scan: LineMatcher<'p>,
        form: LineForm,
        room: usize,
        limit: u64,
        skip: u64,
    ) -> Content<'p> {
        Content {
            text: String::new(),
            form,
            scan,
            room,
            limit,
            skip,
            shown: 0,
            end: None,
            is_late: false,
            changed: 0,
        }
    }

    /// Tells the hits of a file; returns whether there is room for more.
    pub(super) fn push(&mut self, file: &FoundFile, path: &str, state: u64) -> bool {
        if self.skip >= file.count {
            self.skip -= file.count;
            return true;
        }
        let mut lines = FileText::new(file, self.form.base.first());
        let (text, mut hits) = (lines.text, file.hits.clone());
        let mut last: Option<Hit> = None;
        let mut hits_behind = file.count - self.skip;
        if self.skip > 0 {
            hits = self.hits_behind(file, line_at(text, file.start), state, hits_behind);
        }
        while !hits.is_empty() && self.end.is_none() {
            for hit in std::mem::take(&mut hits) {
                if !self.push_whole_hit(&mut lines, path, last, hit) {
                    let byte = last.map_or(hit.start, |last| behind_break(text, last.end));
                    self.end = Some(EndPlace::new(file, byte, state, hits_behind));
                    break;
                }
                last = Some(hit);
                hits_behind = hits_behind.saturating_sub(1);
            }
            // No more hits are kept of a file than an answer mostly holds.
            if let (Some(last), None) = (last, &self.end) {
                hits = self.hits_behind(file, behind_break(text, last.end), state, hits_behind);
            }
        }
        if let (Some(last), None) = (last, &self.end) {
            self.push_behind(&mut lines, last, text.len().min(file.end));
        }
        self.changed += u64::from(!file.unchanged());
        self.end.is_none()
    }

    /// The next hits from the byte `from` on, without those that are left out, where `left` are. If the time is up, the
    /// answer ends there.
    fn hits_behind(&mut self, file: &FoundFile, from: usize, state: u64, left: u64) -> Vec<Hit> {
        let at_once = usize::try_from(left).map_or(file.hits.len(), |left| left.min(file.hits.len()));
        match self.scan.hits_behind(file.text(), from, self.skip, at_once) {
            Ok(hits) => {
                self.skip = 0;
                hits
            }
            Err(_) => {
                self.end = Some(EndPlace::new(file, from, state, left));
                self.is_late = true;
                Vec::new()
            }
        }
    }

    /// Adds a hit with the lines around it, if there is room. The first one of an answer is cut instead.
    fn push_whole_hit(&mut self, lines: &mut FileText, path: &str, last: Option<Hit>, hit: Hit) -> bool {
        if self.shown >= self.limit {
            last.into_iter().for_each(|last| self.push_behind(lines, last, hit.start));
            return false;
        }
        let (start, told) = (self.text.len(), lines.told);
        self.push_hit(lines, path, last, hit);
        if (self.is_full() || self.is_late) && self.shown > 0 {
            self.text.truncate(start);
            lines.told = told;
            last.into_iter().for_each(|last| self.push_behind(lines, last, hit.start));
            return false;
        }
        self.shown += 1;
        true
    }

    fn is_full(&self) -> bool {
        self.text.len() > self.room
    }

    /// Adds a hit with the lines before it, and those behind the last one.
    fn push_hit(&mut self, lines: &mut FileText, path: &str, last: Option<Hit>, hit: Hit) {
        if std::mem::take(&mut lines.is_new) {
            if !self.text.is_empty() {
                self.text.push('\n');
            }
            self.text.push_str(path);
            self.text.push('\n');
        }
        if let Some(last) = last {
            self.push_behind(lines, last, hit.start);
        }
        let mut from = hit.start;
        for _ in 0..self.form.before {
            match line_before(lines.text, from) {
                Some(start) if start >= lines.told => from = start,
                _ => break,
            }
        }
        let has_context = self.form.before > 0 || self.form.after > 0;
        if has_context && last.is_some() && from > lines.told {
            self.text.push_str("--\n");
        }
        self.push_lines(lines, from..hit.start, '-');
        match self.form.only_matches {
            true => self.push_matches(lines, hit),
            false => self.push_lines(lines, hit.start..behind_break(lines.text, hit.end), ':'),
        }
        lines.told = behind_break(lines.text, hit.end);
    }

    /// Adds lines behind a hit, up to the byte `end`.
    fn push_behind(&mut self, lines: &mut FileText, hit: Hit, end: usize) {
        let start = behind_break(lines.text, hit.end);
        let mut to = start;
        for _ in 0..self.form.after {
            if to >= end {
                break;
            }
            to = behind_break(lines.text, line_end(lines.text, to..end));
        }
        self.push_lines(lines, start..to, '-');
    }

    /// Adds whole lines; `mark` stands behind each number. Without room, it says that lines are left out.
    fn push_lines(&mut self, lines: &mut FileText, range: Range<usize>, mark: char) {
        let mut at = range.start;
        while at < range.end {
            if self.is_full() {
                self.text.push_str(CUT);
                break;
            }
            let end = line_end(lines.text, at..range.end);
            self.push_number(lines, at, mark);
            self.push_line(&lines.text[at..end], mark == ':');
            at = behind_break(lines.text, end);
        }
        lines.told = range.end.max(lines.told);
    }

    fn push_matches(&mut self, lines: &mut FileText, hit: Hit) {
        let found_in = &lines.text[hit.start..behind_break(lines.text, hit.end).max(hit.start)];
        let (mut matches, mut bytes) = (Vec::new(), 0);
        let room = self.room.saturating_sub(self.text.len());
        let searched = self.scan.matches(found_in, |found| {
            bytes += found.len();
            matches.push(found);
            bytes <= room
        });
        self.is_late |= searched.is_err();
        if matches.is_empty() {
            // Each line that counts is told.
            self.push_number(lines, hit.start, ':');
            self.text.push('\n');
        }
        for found in matches {
            if self.is_full() {
                self.text.push_str(CUT);
                return;
            }
            self.push_number(lines, hit.start + found.start, ':');
            let text = &found_in[found];
            let end = text.len() - usize::from(text.ends_with(b"\n")) - usize::from(text.ends_with(b"\r\n"));
            self.push_line(&text[..end], false);
        }
    }

    fn push_number(&mut self, lines: &mut FileText, at: usize, mark: char) {
        if !self.form.numbers {
            return;
        }
        lines.count_to(at, self.form.base.first());
        self.text.push_str(itoa::Buffer::new().format(lines.line));
        self.text.push(mark);
    }

    /// Adds a line or match and `\n`; of a long one, the part around its first match.
    fn push_line(&mut self, line: &[u8], has_match: bool) {
        let width = self.form.max_columns.min(self.room.saturating_sub(self.text.len()).max(MIN_COLUMNS));
        if line.len() <= width {
            // A match that spans lines is told as lines.
            self.text.push_str(&with_lf(&String::from_utf8_lossy(line)));
            self.text.push('\n');
            return;
        }
        let columns = chars(line);
        let first = if has_match { self.scan.first_match(line).unwrap_or(0).min(line.len()) } else { 0 };
        let column = chars(&line[..first]);
        let from = column.saturating_sub(width / 4).min(columns.saturating_sub(width));
        if from > 0 {
            self.text.push('…');
        }
        // Only what is told is copied: a line may be as long as a file.
        let start = chars_before(line, first, column.saturating_sub(from));
        let told = &line[start..chars_behind(line, start, width)];
        self.text.push_str(&with_lf(&String::from_utf8_lossy(told)));
        if columns <= width {
            self.text.push('\n');
            return;
        }
        if from + width < columns {
            self.text.push('…');
        }
        let (first, last) = (from + 1, from + width);
        self.text.push_str(&format!(" [columns {first}-{last} of {columns}]\n"));
    }
}

/// Number of characters.
fn chars(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| is_first(byte)).count()
}

/// Whether a character begins with this byte.
fn is_first(byte: &u8) -> bool {
    byte & 0xC0 != 0x80
}

/// Where the character begins that is so many before the one at `at`.
fn chars_before(line: &[u8], at: usize, count: usize) -> usize {
    let firsts = (0..at).rev().filter(|at| is_first(&line[*at]));
    if count == 0 { at } else { firsts.take(count).last().unwrap_or(at) }
}

/// Where the character begins that is so many behind the one at `at`, or the end.
fn chars_behind(line: &[u8], at: usize, count: usize) -> usize {
    (at..line.len()).filter(|at| is_first(&line[*at])).nth(count).unwrap_or(line.len())
}
