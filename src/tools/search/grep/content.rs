//! The answer `content` of `grep`: matching lines and lines around them, grouped by file.

use std::ops::Range;

use super::cut_line::{chars_behind, push_cut};
use super::file_text::FileText;
use super::place::{EndPlace, Place};
use crate::tools::LineBase;
use crate::tools::limited::Room;
use crate::tools::numbered::count_breaks;
use engine::FoundFile;
use search::{Hit, LineMatcher, behind_break, line_before, line_end};

/// How lines are told.
#[derive(Debug, Clone, Copy)]
pub(super) struct LineForm {
    /// Whether a line begins with its number.
    pub(super) numbers: bool,
    /// Whether a line stands behind its number and a blank, and the path of its file before `:`.
    pub(super) is_spaced: bool,
    pub(super) base: LineBase,
    /// Lines before and behind each match.
    pub(super) before: u64,
    pub(super) after: u64,
    /// Only the matches, each on a line of its own.
    pub(super) only_matches: bool,
    /// The longest line that is told whole, in characters.
    pub(super) max_columns: usize,
}

/// See the module.
pub(super) struct Content<'p> {
    pub(super) text: String,
    form: LineForm,
    scan: LineMatcher<'p>,
    room: Room,
    /// Hits that are wanted at most.
    limit: u64,
    /// Where an earlier answer ended.
    resume: Option<&'p Place>,
    /// Hits that are still left out.
    pub(super) skip: u64,
    /// Hits that were told, or begun to be told.
    pub(super) shown: u64,
    /// The matches of these hits.
    pub(super) matches_shown: u64,
    /// Matches that an earlier answer told, or began to tell.
    pub(super) told_again: u64,
    /// Lines that were told.
    lines: u64,
    /// Where the answer ended, if there are more lines.
    pub(super) end: Option<EndPlace>,
    /// It ended because the time was up.
    pub(super) is_late: bool,
    /// Files that changed while their lines were told.
    pub(super) changed: u64,
}

/// What there was room for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Told {
    All,
    /// The next search begins at this byte; what lies before [`FileText::told`] was told.
    Part(usize),
}

/// Characters of a line that are told even if there is little room.
const MIN_COLUMNS: usize = 100;

/// Matches of one line that are looked for at a time.
const MATCHES: usize = 1_024;

impl<'p> Content<'p> {
    pub(super) fn new(
        scan: LineMatcher<'p>,
        form: LineForm,
        room: Room,
        limit: u64,
        skip: u64,
        resume: Option<&'p Place>,
    ) -> Content<'p> {
        Content {
            text: String::new(),
            form,
            scan,
            room,
            limit,
            resume,
            skip,
            shown: 0,
            matches_shown: 0,
            told_again: 0,
            lines: 0,
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
        let resume = self.resume.filter(|place| place.is_in(file.folder, &file.path[file.base..]));
        let begin = resume
            .and_then(|place| place.told)
            .unwrap_or(0)
            .clamp(file.start, file.text().len().max(file.start));
        let mut lines = FileText::new(file, path, self.form.base.first(), begin);
        lines.told_before = resume.filter(|place| place.is_told).and_then(|place| place.told);
        let (text, mut hits) = (lines.text, file.hits.clone());
        let mut last: Option<Hit> = None;
        let mut matches_behind = file.matches;
        if self.skip > 0 {
            hits = self.hits_behind_skipped(file, state, &mut matches_behind);
        }
        while !hits.is_empty() && self.end.is_none() {
            for hit in std::mem::take(&mut hits) {
                let is_told = hit.start < begin;
                let begun = self.shown;
                let told = self.push_hit(&mut lines, last, hit, is_told);
                let matches = hit.matches * (self.shown - begun);
                let again = hit.matches * u64::from(is_told);
                matches_behind = matches_behind.saturating_sub(matches + again);
                self.matches_shown += matches;
                self.told_again += again;
                if let Told::Part(byte) = told {
                    self.end = Some(EndPlace::new(file, byte, lines.told, state, matches_behind));
                    break;
                }
                last = Some(hit);
            }
            // No more hits are kept of a file than an answer mostly holds.
            if let (Some(last), None) = (last, &self.end) {
                hits = self.hits_behind(file, behind_break(text, last.end), state, &mut matches_behind);
            }
        }
        if let (Some(last), None) = (last, &self.end)
            && !self.push_behind(&mut lines, last, text.len().min(file.end))
        {
            self.end = Some(EndPlace::new(file, last.start, lines.told, state, matches_behind));
        }
        self.changed += u64::from(!file.unchanged());
        self.end.is_none()
    }

    /// The hits of a file without those that are left out, whose matches are taken from `left`. If the time is up, the next answer leaves out
    /// those that are not kept.
    fn hits_behind_skipped(&mut self, file: &FoundFile, state: u64, left: &mut u64) -> Vec<Hit> {
        let skipped = usize::try_from(self.skip).map_or(file.hits.len(), |skip| skip.min(file.hits.len()));
        let (left_out, kept) = file.hits.split_at(skipped);
        self.skip -= skipped as u64;
        *left = left.saturating_sub(left_out.iter().map(|hit| hit.matches).sum());
        match (kept, left_out) {
            ([], [.., last]) => {
                let from = behind_break(file.text(), last.end);
                self.hits_behind(file, from, state, left)
            }
            _ => kept.to_vec(),
        }
    }

    /// The next hits from the byte `from` on, where `left` matches are, without those that are left out, whose matches are taken from them. If
    /// the time is up, the answer ends there.
    fn hits_behind(&mut self, file: &FoundFile, from: usize, state: u64, left: &mut u64) -> Vec<Hit> {
        let at_once = usize::try_from(*left).map_or(file.hits.len(), |left| left.min(file.hits.len()));
        match self.scan.hits_behind(file.text(), from, self.skip, at_once) {
            Ok((hits, skipped)) => {
                self.skip = 0;
                *left = left.saturating_sub(skipped);
                hits
            }
            Err(_) => {
                self.end = Some(EndPlace::new(file, from, from, state, *left));
                self.is_late = true;
                Vec::new()
            }
        }
    }

    /// Adds a hit with the lines before it, and those behind the last one. Of a hit that an earlier answer began to tell, the
    /// rest.
    fn push_hit(&mut self, lines: &mut FileText, last: Option<Hit>, hit: Hit, is_told: bool) -> Told {
        if let Some(last) = last
            && !self.push_behind(lines, last, hit.start)
        {
            return Told::Part(last.start);
        }
        let from = if is_told { hit.start } else { lines.lines_before(hit.start, self.form.before) };
        if !is_told && self.shown >= self.limit {
            return Told::Part(from);
        }
        let (text_len, told, is_new, count) = (self.text.len(), lines.told, lines.is_new, self.lines);
        self.push_gap(lines, from);
        let mut is_all = self.push_lines(lines, from..hit.start, '-') && self.push_lines_of(lines, hit);
        if !is_told && lines.told <= hit.start {
            self.text.truncate(text_len);
            (lines.told, lines.is_new, self.lines) = (told, is_new, count);
            if count > 0 || self.is_late {
                return Told::Part(from);
            }
            // The match comes first, with as much before it as leaves room for it.
            self.push_shortened(lines, from, hit);
            is_all = self.push_lines_of(lines, hit);
        }
        self.shown += u64::from(!is_told);
        if is_all { Told::All } else { Told::Part(hit.start) }
    }

    /// Adds the last of the lines from `from` up to a hit, as many as take half of the room and leave enough for the hit; how many were left out stands
    /// before them.
    fn push_shortened(&mut self, lines: &mut FileText, from: usize, hit: Hit) {
        let first = &lines.text[hit.start..line_end(lines.text, hit.start..hit.end)];
        let left = self.room.left(&self.text);
        let mut room = left.saturating_sub(self.told_len(first) + 2 * lines.head()).min(left / 2);
        let mut start = hit.start;
        while let Some(before) = line_before(lines.text, start).filter(|before| *before >= from) {
            let len = (start - before).min(self.form.max_columns.saturating_mul(4)) + MIN_COLUMNS;
            let Some(left) = room.checked_sub(len) else { break };
            (room, start) = (left, before);
        }
        let left_out = count_breaks(&lines.text[from..start]);
        self.push_gap(lines, from);
        self.begin_file(lines);
        if left_out > 0 {
            self.text.push_str(&match left_out {
                1 => "[1 line before is left out: the answer is full]\n".to_owned(),
                _ => format!("[{left_out} lines before are left out: the answer is full]\n"),
            });
        }
        lines.told = start;
        self.push_lines(lines, start..hit.start, '-');
        // There is room for the match, whatever the lines before it take.
        (lines.told, self.lines) = (hit.start, 0);
    }

    /// Adds the lines of a hit that were not told, or its matches. Returns whether that were all.
    fn push_lines_of(&mut self, lines: &mut FileText, hit: Hit) -> bool {
        match self.form.only_matches {
            true => self.push_matches(lines, hit),
            false => self.push_lines(lines, hit.start..behind_break(lines.text, hit.end), ':'),
        }
    }

    /// Whether there is no room for this line, up to the longest that is told. There is for the first one, so that each answer
    /// goes on: only that is cut to the room, because no later answer has the rest.
    fn is_full_for(&mut self, lines: &FileText, line: &[u8]) -> bool {
        let left = self.room.left(&self.text);
        self.lines > 0
            && (left == 0 || self.told_len(line) > left.saturating_sub(lines.head()).max(MIN_COLUMNS))
    }

    /// Bytes of a line that are told, as far as its first characters say.
    fn told_len(&self, line: &[u8]) -> usize {
        chars_behind(line, 0, self.form.max_columns)
    }

    /// Adds the sign for lines that are left out before the byte `from`, where lines around matches are told.
    fn push_gap(&mut self, lines: &mut FileText, from: usize) {
        if self.form.before + self.form.after > 0 && lines.has_gap(from) {
            self.begin_file(lines);
            self.text.push_str("--\n");
        }
    }

    /// Adds the path of the file before its first line.
    fn begin_file(&mut self, lines: &mut FileText) {
        if std::mem::take(&mut lines.is_new) {
            // Numbers tell the lines of a file from the path of the next one.
            if !(self.text.is_empty() || self.form.is_spaced && self.form.numbers) {
                self.text.push('\n');
            }
            self.text.push_str(lines.path);
            self.text.push_str(if self.form.is_spaced { ":\n" } else { "\n" });
        }
    }

    /// Adds lines behind a hit, up to the byte `end`. Returns whether that were all.
    fn push_behind(&mut self, lines: &mut FileText, hit: Hit, end: usize) -> bool {
        let start = behind_break(lines.text, hit.end);
        let mut to = start;
        for _ in 0..self.form.after {
            if to >= end {
                break;
            }
            to = behind_break(lines.text, line_end(lines.text, to..end));
        }
        self.push_lines(lines, start..to, '-')
    }

    /// Adds the lines of the range that were not told; `mark` stands behind each number. Returns whether that were all.
    fn push_lines(&mut self, lines: &mut FileText, range: Range<usize>, mark: char) -> bool {
        let mut at = range.start.max(lines.told);
        while at < range.end {
            let end = line_end(lines.text, at..range.end);
            if self.is_full_for(lines, &lines.text[at..end]) {
                return false;
            }
            self.begin_file(lines);
            self.push_number(lines, at, mark);
            self.push_line(&lines.text[at..end], mark == ':');
            at = behind_break(lines.text, end);
            lines.told = at;
            self.lines += 1;
        }
        true
    }

    /// Adds the matches in a hit that were not told, each as a line. If the time is up, those found until then. Returns whether that were all.
    fn push_matches(&mut self, lines: &mut FileText, hit: Hit) -> bool {
        let end = behind_break(lines.text, hit.end).max(hit.start);
        let found_in = &lines.text[hit.start..end];
        loop {
            let told = lines.told.saturating_sub(hit.start);
            let mut matches = Vec::new();
            let searched = self.scan.matches(found_in, |found| {
                if found.start >= told {
                    matches.push(found);
                }
                matches.len() < MATCHES
            });
            self.is_late |= searched.is_err();
            if matches.is_empty() && told == 0 && !self.is_late {
                // Each line that counts is told.
                matches.push(0..0);
            }
            let is_last = matches.len() < MATCHES;
            for found in matches {
                if self.is_full_for(lines, &found_in[found.clone()]) {
                    return false;
                }
                self.begin_file(lines);
                self.push_number(lines, hit.start + found.start, ':');
                lines.told = hit.start + found.end.max(1);
                let text = &found_in[found];
                let end =
                    text.len() - usize::from(text.ends_with(b"\n")) - usize::from(text.ends_with(b"\r\n"));
                self.push_line(&text[..end], false);
                self.lines += 1;
            }
            if self.is_late {
                return false;
            }
            if is_last {
                // An earlier answer may have told lines behind the hit.
                lines.told = lines.told.max(end);
                return true;
            }
        }
    }

    fn push_number(&mut self, lines: &mut FileText, at: usize, mark: char) {
        if !self.form.numbers {
            return;
        }
        lines.count_to(at, self.form.base.first());
        self.text.push_str(itoa::Buffer::new().format(lines.line));
        self.text.push(mark);
        self.text.push_str(if self.form.is_spaced { " " } else { "" });
    }

    /// Adds a line or match and `\n`; of a long one, the part around its first match.
    fn push_line(&mut self, line: &[u8], has_match: bool) {
        let width = self.form.max_columns.min(self.room.left(&self.text).max(MIN_COLUMNS));
        let first = match has_match && line.len() > width {
            true => self.scan.first_match(line).unwrap_or(0).min(line.len()),
            false => 0,
        };
        push_cut(&mut self.text, line, first, width);
    }
}
