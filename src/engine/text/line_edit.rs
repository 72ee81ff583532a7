//! Converts line edits to splices (SPEC 3 and 4, `edit_file`).
//!
//! Pure: takes an index, the bytes that it describes, and the edits; returns an [`EditPlan`] or an error. All
//! line numbers refer to the file before the call. Knows no names, files or interfaces.

use std::borrow::Cow;
use std::ops::Range;

use super::lines::{BOM, Break, Line, LineIndex};
use super::splice::{EditPlan, Splice};
use crate::engine::{Error, Result};

/// One change of one line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineEdit {
    /// The line, 0-based, in the file before the call.
    pub line: u64,
    /// The change.
    pub operation: Operation,
}

/// The change of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Operation {
    /// Replaces the line by `content`, which may hold several lines.
    Replace {
        /// The new text.
        content: String,
        /// The text that the client expects the line to have.
        expect: Option<String>,
    },
    /// Inserts `content` before the line.
    Insert {
        /// The new text.
        content: String,
    },
    /// Deletes the line with its line break.
    Delete {
        /// The text that the client expects the line to have.
        expect: Option<String>,
    },
}

impl Operation {
    /// The name of the operation in requests and errors.
    pub fn name(&self) -> &'static str {
        match self {
            Operation::Replace { .. } => "replace",
            Operation::Insert { .. } => "insert",
            Operation::Delete { .. } => "delete",
        }
    }

    fn expect(&self) -> Option<&str> {
        match self {
            Operation::Replace { expect, .. } | Operation::Delete { expect } => expect.as_deref(),
            Operation::Insert { .. } => None,
        }
    }
}

/// A call: edits, and text to append after the last line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LineEdits {
    /// In the order of the call.
    pub edits: Vec<LineEdit>,
    /// Text to append after all edits; the empty string appends nothing.
    pub append: Option<String>,
}

/// The plan of a call, and its report.
#[derive(Debug)]
pub struct Planned<'t> {
    /// The changes in bytes.
    pub plan: EditPlan<'t>,
    /// Lines inserted, deleted and appended; a replaced line counts as the number of its new lines.
    pub lines_modified: usize,
    /// Lines of the result.
    pub total_lines: usize,
}

/// Plans `edits` on the text `old`. Returns `None` if `old` does not match `index`.
///
/// Errors, in SPEC 4's order: [`Error::LineOutOfRange`] and [`Error::NotAsExpected`] in the order of the
/// edits, then [`Error::Conflict`].
pub fn plan<'t>(index: &LineIndex, old: &[u8], edits: &'t LineEdits) -> Result<Option<Planned<'t>>> {
    let text = Text { index, old };
    check_ranges(&text, &edits.edits)?;
    check_conflicts(&edits.edits)?;
    let order = Order::of(index.len_lines(), edits);
    let Some(composed) = Composer::new(&text).compose(&order) else { return Ok(None) };
    let mut plan = EditPlan::new(composed.splices, old);
    if composed.total == 1 && plan.as_ref().is_some_and(|plan| leaves_only_a_bom(plan, old)) {
        // Only a byte order mark would remain, which is not a line. A line break keeps it a line.
        let end = Splice { at: old.len()..old.len(), text: Cow::Borrowed(composed.last.as_bytes()) };
        plan = plan.and_then(|plan| plan.and(end, old));
    }
    Ok(plan.map(|plan| Planned { plan, lines_modified: composed.modified, total_lines: composed.total }))
}

fn leaves_only_a_bom(plan: &EditPlan, old: &[u8]) -> bool {
    let mut result = Vec::new();
    plan.len_after(old.len()) == BOM.len() && plan.write_to(old, &mut result).is_ok() && result == BOM
}

/// The text before the call.
struct Text<'o> {
    index: &'o LineIndex,
    old: &'o [u8],
}

impl Text<'_> {
    fn line(&self, line: usize) -> Option<Line> {
        self.index.line(line, self.old)
    }

    /// The line break for new text at `line`: the line's own, else that of the line before it, else `\n`.
    fn style(&self, line: usize) -> Break {
        let own = |line| LineIndex::line_break(&self.line(line)?, self.old);
        own(line).or_else(|| own(line.checked_sub(1)?)).unwrap_or(Break::Lf)
    }

    /// The line break for text inserted before `line`: that of the line before it, or of the first line.
    fn style_before(&self, line: usize) -> Break {
        self.style(line.min(self.index.len_lines()).saturating_sub(1))
    }
}

fn check_ranges(text: &Text, edits: &[LineEdit]) -> Result<()> {
    let total = text.index.len_lines();
    let reached = reachable_ends(total, edits);
    for (at, edit) in edits.iter().enumerate() {
        let inside = edit.line < total as u64;
        let valid = inside || matches!(edit.operation, Operation::Insert { .. }) && reached.contains(&at);
        if !valid {
            let operation = edit.operation.name();
            return Err(Error::LineOutOfRange { line: edit.line, operation, total, missing: None });
        }
        let Some(expected) = edit.operation.expect() else { continue };
        let found =
            text.line(edit.line as usize).and_then(|line| text.old.get(line.text)).unwrap_or_default();
        if found != expected.as_bytes() {
            let actual = String::from_utf8_lossy(found).into_owned();
            let stands_at = only_line_with(text, expected.as_bytes());
            return Err(Error::NotAsExpected { line: edit.line, actual, stands_at });
        }
    }
    Ok(())
}

/// The line whose whole text is `expected`, if exactly one has it. An empty text identifies no line.
fn only_line_with(text: &Text, expected: &[u8]) -> Option<u64> {
    if expected.is_empty() || memchr::memchr2(b'\n', b'\r', expected).is_some() {
        return None;
    }
    let body = text.old.get(text.index.first_byte()..)?;
    let is_break = |byte: Option<&u8>| matches!(byte, None | Some(b'\n' | b'\r'));
    // A match without line breaks cannot reach into the next line, so it hides no match that starts there.
    let mut lines = memchr::memmem::find_iter(body, expected).filter(|&at| {
        is_break(at.checked_sub(1).map(|before| &body[before])) && is_break(body.get(at + expected.len()))
    });
    let at = lines.next().filter(|_| lines.next().is_none())?;
    Some(text.index.line_at(text.index.first_byte() + at, text.old) as u64)
}

/// The valid inserts at or past the end: in ascending order, each at most at the number of lines so far.
fn reachable_ends(total: usize, edits: &[LineEdit]) -> Vec<usize> {
    let mut lines = total as u64;
    let mut valid = Vec::new();
    for (at, line, content) in inserts_past_end(total, edits) {
        if line > lines {
            break;
        }
        lines += split(content).count() as u64;
        valid.push(at);
    }
    valid
}

/// The inserts at or past the end, in ascending order of their lines, with their index in `edits`.
fn inserts_past_end(total: usize, edits: &[LineEdit]) -> Vec<(usize, u64, &str)> {
    let mut inserts: Vec<_> = edits
        .iter()
        .enumerate()
        .filter_map(|(at, edit)| match &edit.operation {
            Operation::Insert { content } if edit.line >= total as u64 => {
                Some((at, edit.line, content.as_str()))
            }
            _ => None,
        })
        .collect();
    inserts.sort_by_key(|(_, line, _)| *line);
    inserts
}

fn check_conflicts(edits: &[LineEdit]) -> Result<()> {
    let mut lines = std::collections::HashSet::new();
    for edit in edits {
        if !matches!(edit.operation, Operation::Insert { .. }) && !lines.insert(edit.line) {
            return Err(Error::Conflict { line: edit.line });
        }
    }
    Ok(())
}

/// The edits in file order.
struct Order<'t> {
    /// Edits of existing lines, by line. Inserts come before the replacement or deletion of their line, in
    /// the order of the call.
    inside: Vec<&'t LineEdit>,
    /// Texts to add after the last line.
    end: Vec<&'t str>,
    /// All lines from this one to the end of the file are deleted. The number of lines if the last line is
    /// not deleted.
    deleted_from: usize,
}

impl<'t> Order<'t> {
    fn of(total: usize, edits: &'t LineEdits) -> Order<'t> {
        let mut inside: Vec<&LineEdit> = edits.edits.iter().filter(|edit| edit.line < total as u64).collect();
        inside.sort_by_key(|edit| (edit.line, !matches!(edit.operation, Operation::Insert { .. })));
        let mut end: Vec<&str> =
            inserts_past_end(total, &edits.edits).into_iter().map(|(.., text)| text).collect();
        end.extend(edits.append.as_deref().filter(|text| !text.is_empty()));
        let deleted_at_end = inside
            .iter()
            .rev()
            .filter(|edit| !matches!(edit.operation, Operation::Insert { .. }))
            .zip((0..total as u64).rev())
            .take_while(|(edit, line)| {
                edit.line == *line && matches!(edit.operation, Operation::Delete { .. })
            })
            .count();
        Order { inside, end, deleted_from: total - deleted_at_end }
    }

    /// The index in `inside` of the insert that becomes the end of the file, if there is one.
    fn last_insert(&self) -> Option<usize> {
        if !self.end.is_empty() {
            return None;
        }
        let last = self.inside.iter().rposition(|edit| matches!(edit.operation, Operation::Insert { .. }))?;
        (self.inside[last].line >= self.deleted_from as u64).then_some(last)
    }
}

/// Builds the splices, and repairs line breaks at their borders.
struct Composer<'o, 't> {
    text: &'o Text<'o>,
    splices: Vec<Splice<'t>>,
    /// `lines_modified` and `new_total_lines`.
    modified: usize,
    total: usize,
    /// The line break used for the last line.
    last: Break,
}

impl<'o, 't> Composer<'o, 't> {
    fn new(text: &'o Text<'o>) -> Self {
        let total = text.index.len_lines();
        Composer { text, splices: Vec::new(), modified: 0, total, last: text.style_before(total) }
    }

    /// Returns `None` if the text does not match the index.
    fn compose(mut self, order: &Order<'t>) -> Option<Self> {
        let last_insert = order.last_insert();
        for (at, edit) in order.inside.iter().enumerate() {
            let number = edit.line as usize;
            let line = self.text.line(number)?;
            match &edit.operation {
                Operation::Insert { content } => {
                    let start = line.text.start;
                    let closed = last_insert != Some(at) || self.closes_file(content);
                    self.add(start..start, content, self.text.style_before(number), closed);
                }
                Operation::Delete { .. } => {
                    self.modified += 1;
                    self.total -= 1;
                    self.push(line.text.start..line.next, Cow::Borrowed(b""));
                }
                Operation::Replace { content, .. } => {
                    let unbroken = line.text.end == line.next;
                    let closed = unbroken && (ends_in_break(content) || last_line_is_empty(content));
                    self.total -= 1;
                    self.add(line.text, content, self.text.style(number), closed);
                }
            }
        }
        self.add_at_end(order);
        self.mend_borders();
        Some(self)
    }

    /// Adds texts after the last line. If that line stays and has no break, adds a break first.
    fn add_at_end(&mut self, order: &Order<'t>) {
        let (len, lines) = (self.text.old.len(), self.text.index.len_lines());
        let style = self.text.style_before(lines);
        let open_last = lines > 0 && !self.text.index.ends_in_break() && order.deleted_from == lines;
        for (at, content) in order.end.iter().enumerate() {
            if at == 0 && open_last && !self.ends_in_break_at(len) {
                self.push(len..len, Cow::Borrowed(style.as_bytes()));
            }
            let closed = at + 1 < order.end.len() || self.closes_file(content);
            self.add(len..len, content, style, closed);
        }
    }

    /// Whether the last splice ends at `at` with a line break (after a replacement of the last line).
    fn ends_in_break_at(&self, at: usize) -> bool {
        self.splices.last().is_some_and(|last| {
            last.at.end == at && !last.at.is_empty() && matches!(last.text.last(), Some(b'\n' | b'\r'))
        })
    }

    /// Whether text that becomes the end of the file ends in a line break (SPEC 3).
    fn closes_file(&self, content: &str) -> bool {
        let index = self.text.index;
        index.len_lines() == 0
            || index.ends_in_break()
            || ends_in_break(content)
            || last_line_is_empty(content)
    }

    /// Replaces the bytes `at` by the lines of `content`, joined by `brk`, and ended by it if `closed`.
    fn add(&mut self, at: Range<usize>, content: &'t str, brk: Break, closed: bool) {
        let lines = split(content).count();
        self.modified += lines;
        self.total += lines;
        self.last = brk;
        let mut text = Cow::Borrowed(&b""[..]);
        for (number, line) in split(content).enumerate() {
            if number == 0 {
                text = Cow::Borrowed(line.as_bytes());
            } else {
                text.to_mut().extend_from_slice(brk.as_bytes());
                text.to_mut().extend_from_slice(line.as_bytes());
            }
        }
        if closed {
            text.to_mut().extend_from_slice(brk.as_bytes());
        }
        self.push(at, text);
    }

    /// Appends a splice; merges it into the last one if they touch.
    fn push(&mut self, at: Range<usize>, text: Cow<'t, [u8]>) {
        match self.splices.last_mut() {
            Some(last) if last.at.end == at.start => {
                last.at.end = at.end;
                join(&mut last.text, text);
            }
            _ => self.splices.push(Splice { at, text }),
        }
    }

    /// If a lone `\r` would precede a `\n`, makes it `\r\n`, so that no line disappears.
    fn mend_borders(&mut self) {
        let old = self.text.old;
        for splice in &mut self.splices {
            let after = old.get(splice.at.end).copied();
            if splice.text.last() == Some(&b'\r') && after == Some(b'\n') {
                splice.text.to_mut().push(b'\n');
            }
            let before = splice.at.start.checked_sub(1).map(|at| old[at]);
            let first = splice.text.first().copied().or(after);
            if before == Some(b'\r') && first == Some(b'\n') {
                splice.text.to_mut().insert(0, b'\n');
            }
        }
    }
}

/// Appends `next` to `text`. If a `\r` would precede a `\n`, adds a `\n` between them.
fn join<'t>(text: &mut Cow<'t, [u8]>, next: Cow<'t, [u8]>) {
    if text.is_empty() {
        *text = next;
    } else if !next.is_empty() {
        if text.last() == Some(&b'\r') && next.first() == Some(&b'\n') {
            text.to_mut().push(b'\n');
        }
        text.to_mut().extend_from_slice(&next);
    }
}

/// The lines of a `content`. A final line break adds no line; the empty string is one empty line.
fn split(content: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(content);
    std::iter::from_fn(move || {
        let text = rest?;
        let Some(end) = memchr::memchr2(b'\n', b'\r', text.as_bytes()) else {
            rest = None;
            return Some(text);
        };
        let brk = if text[end..].starts_with("\r\n") { 2 } else { 1 };
        let after = &text[end + brk..];
        rest = (!after.is_empty()).then_some(after);
        Some(&text[..end])
    })
}

fn ends_in_break(content: &str) -> bool {
    content.ends_with(['\n', '\r'])
}

fn last_line_is_empty(content: &str) -> bool {
    split(content).last() == Some("")
}
