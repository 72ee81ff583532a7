//! From checked line edits to splices: the order of the edits in the file, and line breaks at the borders.

use std::borrow::Cow;
use std::ops::Range;

use super::{LineEdit, LineEdits, Operation, Text, inserts_past_end};
use crate::lines::Break;
use crate::order;
use crate::splice::Splice;

/// The edits in file order.
pub(super) struct Order<'t> {
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
    pub(super) fn of(total: usize, edits: &'t LineEdits) -> Order<'t> {
        let mut inside: Vec<&LineEdit> = edits.edits.iter().filter(|edit| edit.line < total as u64).collect();
        order::sort_by_key(&mut inside, |edit| {
            (edit.line, !matches!(edit.operation, Operation::Insert { .. }))
        });
        let mut end: Vec<&str> =
            inserts_past_end(total, &edits.edits).into_iter().map(|(.., text)| text).collect();
        end.extend(edits.append.as_deref().filter(|text| !text.is_empty()));
        let mut deleted_from = total as u64;
        for edit in inside.iter().rev().filter(|edit| !matches!(edit.operation, Operation::Insert { .. })) {
            if !matches!(edit.operation, Operation::Delete { .. }) || edit.last() + 1 != deleted_from {
                break;
            }
            deleted_from = edit.line;
        }
        Order { inside, end, deleted_from: deleted_from as usize }
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
pub(super) struct Composer<'o, 't> {
    text: &'o Text<'o>,
    pub(super) splices: Vec<Splice<'t>>,
    /// `lines_modified` and `new_total_lines`.
    pub(super) modified: usize,
    pub(super) total: usize,
    /// The line break used for the last line.
    pub(super) last: Break,
}

impl<'o, 't> Composer<'o, 't> {
    pub(super) fn new(text: &'o Text<'o>) -> Self {
        let total = text.index.len_lines();
        Composer { text, splices: Vec::new(), modified: 0, total, last: text.style_before(total) }
    }

    /// Returns `None` if the text does not match the index.
    pub(super) fn compose(mut self, order: &Order<'t>) -> Option<Self> {
        let last_insert = order.last_insert();
        for (at, edit) in order.inside.iter().enumerate() {
            let (number, last) = (edit.line as usize, edit.last() as usize);
            let line = self.text.line(number)?;
            let end = if last == number { line.clone() } else { self.text.line(last)? };
            match &edit.operation {
                Operation::Insert { content, .. } => {
                    let start = line.text.start;
                    let closed = last_insert != Some(at) || self.closes_file(content);
                    let style = self.text.style_before(number);
                    self.add(start..start, content, [style; 2], closed);
                }
                Operation::Delete { .. } => {
                    let lines = last + 1 - number;
                    self.modified += lines;
                    self.total -= lines;
                    self.push(line.text.start..end.next, Cow::Borrowed(b""));
                }
                Operation::Replace { content, .. } => {
                    let unbroken = end.text.end == end.next;
                    let closed = unbroken && (ends_in_break(content) || last_line_is_empty(content));
                    self.total -= last + 1 - number;
                    let styles = [self.text.style(number), self.text.style(last)];
                    self.add(line.text.start..end.text.end, content, styles, closed);
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
            self.add(len..len, content, [style; 2], closed);
        }
    }

    /// Whether the last splice ends at `at` with a line break (after a replacement of the last line).
    fn ends_in_break_at(&self, at: usize) -> bool {
        self.splices.last().is_some_and(|last| {
            last.at.end == at && !last.at.is_empty() && matches!(last.text.last(), Some(b'\n' | b'\r'))
        })
    }

    /// Whether text that becomes the end of the file ends in a line break (contract 3).
    fn closes_file(&self, content: &str) -> bool {
        let index = self.text.index;
        index.len_lines() == 0
            || index.ends_in_break()
            || ends_in_break(content)
            || last_line_is_empty(content)
    }

    /// Replaces the bytes `at` by the lines of `content`, joined by the first of `breaks`, and ended by the second if
    /// `closed`.
    fn add(&mut self, at: Range<usize>, content: &'t str, [brk, last]: [Break; 2], closed: bool) {
        let lines = split(content).count();
        self.modified += lines;
        self.total += lines;
        self.last = last;
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
            if text.ends_with(b"\r") && last == Break::Lf {
                // The two would be one break.
                text.to_mut().push(b'\n');
            }
            text.to_mut().extend_from_slice(last.as_bytes());
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
pub(super) fn split(content: &str) -> impl Iterator<Item = &str> {
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
