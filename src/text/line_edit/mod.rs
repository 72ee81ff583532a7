//! Converts line edits to splices (contract 3 and 4, `edit_file`).
//!
//! Pure: takes an index, the bytes that it describes, and the edits; returns an [`EditPlan`] or an error. All
//! line numbers refer to the file before the call. Knows no names, files or interfaces.

mod compose;
mod expected;
use std::borrow::Cow;

use self::compose::{Composer, Order, split};
use self::expected::{only_place, text_of};
use super::lines::{BOM, Break, Line, LineIndex};
use super::splice::{EditPlan, Splice};
use crate::order;
use crate::{Error, Result};

/// One change of a line or of a range of lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineEdit {
    /// The line, 0-based, in the file before the call.
    pub line: u64,
    /// The last line of a range, inclusive and not before `line`. `None`: only `line`. An insert has none.
    pub end_line: Option<u64>,
    /// The change.
    pub operation: Operation,
}

impl LineEdit {
    /// The last line that the edit replaces or deletes.
    fn last(&self) -> u64 {
        self.end_line.unwrap_or(self.line).max(self.line)
    }
}

/// The change of a line. `expect` of a range is its whole text, lines joined by `\n`.
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
        /// The text that the client expects the line to have.
        expect: Option<String>,
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
            Operation::Replace { expect, .. }
            | Operation::Insert { expect, .. }
            | Operation::Delete { expect } => expect.as_deref(),
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
/// Errors, in contract 4's order: [`Error::LineOutOfRange`] and [`Error::NotAsExpected`] in the order of the
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
        let expect = edit.operation.expect();
        let out_of_range = match edit.operation {
            // Only a line of the file has a text to expect.
            Operation::Insert { .. } if expect.is_some() || !reached.contains(&at) => {
                edit.line >= total as u64
            }
            Operation::Insert { .. } => false,
            _ => edit.last() >= total as u64,
        };
        if out_of_range {
            let line = if edit.line < total as u64 { edit.last() } else { edit.line };
            let operation = edit.operation.name();
            return Err(Error::LineOutOfRange { line, operation, total });
        }
        let Some(expected) = expect else { continue };
        let found = text_of(text, &(edit.line as usize..=edit.last() as usize));
        if *found != *expected.as_bytes() {
            let actual = String::from_utf8_lossy(&found).into_owned();
            // Several lines are the text of a range only.
            let is_sought = edit.end_line.is_some() || !expected.contains('\n');
            let stands_at = is_sought.then(|| only_place(text, expected)).flatten();
            return Err(Error::NotAsExpected { line: edit.line, actual, stands_at });
        }
    }
    Ok(())
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
            Operation::Insert { content, .. } if edit.line >= total as u64 => {
                Some((at, edit.line, content.as_str()))
            }
            _ => None,
        })
        .collect();
    order::sort_by_key(&mut inserts, |(at, line, _)| (*line, *at));
    inserts
}

/// Refuses two edits that replace or delete the same line, and an insert within a range, which would split its text.
fn check_conflicts(edits: &[LineEdit]) -> Result<()> {
    // Both in order.
    let (mut taken, mut inserts): (Vec<(u64, u64)>, Vec<u64>) = Default::default();
    for edit in edits {
        let (first, last) = (edit.line, edit.last());
        let is_insert = matches!(edit.operation, Operation::Insert { .. });
        // Ranges that were taken before do not overlap, so only the last one that starts before the end can be in the way.
        let at = taken.partition_point(|(start, _)| *start <= last);
        let before = taken[..at].last().filter(|(_, end)| first <= *end);
        let behind_first = inserts.partition_point(|line| *line <= first);
        let conflict = match (before, is_insert) {
            (Some((start, _)), true) => (*start < first).then_some(first),
            (Some((start, _)), false) => Some(first.max(*start)),
            (None, true) => None,
            (None, false) => inserts.get(behind_first).copied().filter(|line| *line <= last),
        };
        if let Some(line) = conflict {
            return Err(Error::Conflict { line });
        }
        if is_insert {
            inserts.insert(behind_first, first);
        } else {
            taken.insert(at, (first, last));
        }
    }
    Ok(())
}
