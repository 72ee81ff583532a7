//! Makes line edits of placed hunks, and plans them.

use std::borrow::Cow;

use super::sides::{SideChange, Sides};
use crate::line_edit::{self, LineEdit, LineEdits, Operation};
use crate::lines::LineIndex;
use crate::splice::{EditPlan, Splice};

/// The break at the end of the text, where a hunk says what becomes of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum EndBreak {
    Stays,
    Added,
    Removed,
}

/// The changes of hunks that do not overlap, `lines` has the place of each one. `None` if the text does not match the index.
pub(super) fn plan(
    sides: &[Sides],
    lines: &[usize],
    index: &LineIndex,
    old: &[u8],
) -> Option<EditPlan<'static>> {
    let mut order: Vec<usize> = (0..sides.len()).collect();
    crate::order::sort_by_key(&mut order, |&hunk| (lines[hunk], lines[hunk] + sides[hunk].old.len(), hunk));
    let changes = order.iter().flat_map(|&hunk| {
        let (side, line) = (&sides[hunk], lines[hunk]);
        side.changes.iter().map(move |change| (line + change.from, change, side))
    });
    let mut changes: Vec<(usize, &SideChange, &Sides)> = changes.collect();
    crate::order::sort_by_key(&mut changes, |&(from, change, _)| (from, change.removed > 0));
    let total = index.len_lines();
    let mut end = EndBreak::Stays;
    if let Some((from, change, side)) = changes.last()
        && from + change.removed == total
        && !change.added.is_empty()
    {
        end = match (side.hunk.old_is_open, side.hunk.new_is_open) {
            (true, false) => EndBreak::Added,
            (false, true) => EndBreak::Removed,
            _ => EndBreak::Stays,
        };
    }
    let count = changes.len();
    let edit = |(nth, (from, change, _)): (usize, &(usize, &SideChange, &Sides))| {
        edit(*from, change, nth + 1 == count && end == EndBreak::Added)
    };
    let edits = LineEdits { edits: changes.iter().enumerate().map(edit).collect(), append: None };
    let plan = line_edit::plan(index, old, &edits).ok()??.plan;
    let own = |splice: Splice| Splice { at: splice.at, text: Cow::Owned(splice.text.into_owned()) };
    let mut splices: Vec<Splice<'static>> = plan.splices().map(own).collect();
    if end == EndBreak::Removed {
        remove_end_break(&mut splices, index, old)?;
    }
    if total < 2 && !index.ends_in_break() {
        break_as_sent(&mut splices, &changes);
    }
    EditPlan::new(splices, old)
}

/// Gives the lines of a text that had no break those of the patch.
fn break_as_sent(splices: &mut [Splice], changes: &[(usize, &SideChange, &Sides)]) {
    let mut breaks: Vec<&str> = Vec::new();
    for (nth, (from, change, _)) in changes.iter().enumerate() {
        // The line that the text had, where it stays and others follow.
        let stays = *from == 1 && changes[..nth].iter().all(|(from, change, _)| from + change.removed == 0);
        breaks.extend(change.breaks.first().filter(|_| stays));
        breaks.extend(&change.breaks);
    }
    let mut breaks = breaks.into_iter();
    for splice in splices {
        let mut text = Vec::new();
        for byte in &*splice.text {
            let brk = if *byte == b'\n' { breaks.next() } else { None };
            text.extend_from_slice(brk.map_or(std::slice::from_ref(byte), str::as_bytes));
        }
        splice.text = Cow::Owned(text);
    }
}

/// `closes`: the last line gets a break, also where the last line of the text has none.
fn edit(from: usize, change: &SideChange, closes: bool) -> LineEdit {
    let (expect, line) = (None, from as u64);
    let end_line = (change.removed > 0).then(|| line + change.removed as u64 - 1);
    let mut content = change.added.join("\n");
    // Otherwise a last line that is empty would be none.
    if closes || change.added.last().is_some_and(|last| last.is_empty()) && change.added.len() > 1 {
        content.push('\n');
    }
    let operation = match (change.removed, change.added.len()) {
        (_, 0) => Operation::Delete { expect },
        (0, _) => Operation::Insert { content, expect },
        _ => Operation::Replace { content, expect },
    };
    LineEdit { line, end_line, operation }
}

fn remove_end_break(splices: &mut Vec<Splice<'static>>, index: &LineIndex, old: &[u8]) -> Option<()> {
    if let Some(last) = splices.last_mut().filter(|last| last.at.end == old.len() && !last.text.is_empty()) {
        let text = last.text.to_mut();
        let brk = if text.ends_with(b"\r\n") {
            2
        } else {
            usize::from(text.ends_with(b"\n") || text.ends_with(b"\r"))
        };
        text.truncate(text.len() - brk);
        return Some(());
    }
    let Some(line) = index.len_lines().checked_sub(1) else { return Some(()) };
    let end = index.line(line, old)?;
    splices.push(Splice { at: end.text.end..end.next, text: Cow::Borrowed(b"") });
    Some(())
}
