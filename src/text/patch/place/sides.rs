//! A hunk as it is looked for in a text: its old lines, and its changes.

use super::super::{Hunk, HunkLine, LineKind};
use crate::lines::LineIndex;

/// The byte order mark, which belongs to no line of a text, but begins the first line of a diff.
const MARK: char = '\u{FEFF}';

/// The old lines of a hunk, and what it does to them.
pub(super) struct Sides<'h> {
    pub(super) hunk: &'h Hunk,
    pub(super) old: Vec<&'h str>,
    /// In the order of the old lines, with a line between them that stays.
    pub(super) changes: Vec<SideChange<'h>>,
}

/// Old lines, next to each other, that are replaced by new ones. It removes or adds at least one.
#[derive(Debug, Default)]
pub(super) struct SideChange<'h> {
    /// The first one, counted from the first line of the hunk, and how many they are.
    pub(super) from: usize,
    pub(super) removed: usize,
    pub(super) added: Vec<&'h str>,
    /// The break of each added line in the patch.
    pub(super) breaks: Vec<&'h str>,
}

impl<'h> Sides<'h> {
    pub(super) fn of(hunk: &'h Hunk, index: &LineIndex) -> Sides<'h> {
        let mut sides = Sides { hunk, old: Vec::new(), changes: Vec::new() };
        let (mut stays, mut is_first_new) = (true, true);
        let is_at_start = hunk.old_start.is_none_or(|start| start == 0);
        let is_marked = hunk.old_side().next().is_some_and(|line| line.starts_with(MARK));
        for HunkLine { kind, text, brk } in &hunk.lines {
            let unmarked = |is_first: bool| match is_first && is_at_start {
                true => text.strip_prefix(MARK).unwrap_or(text),
                false => text,
            };
            let new = match is_first_new && (is_marked || index.first_byte() > 0) {
                true => unmarked(true),
                false => text,
            };
            let old = unmarked(sides.old.is_empty());
            is_first_new &= *kind == LineKind::Remove;
            if *kind == LineKind::Context {
                sides.old.push(old);
                stays = true;
                continue;
            }
            if stays {
                sides.changes.push(SideChange { from: sides.old.len(), ..SideChange::default() });
                stays = false;
            }
            let Some(change) = sides.changes.last_mut() else { continue };
            if *kind == LineKind::Remove {
                sides.old.push(old);
                change.removed += 1;
            } else {
                change.added.push(new);
                change.breaks.push(brk);
            }
        }
        sides
    }

    /// Whether the old lines are those of the text `old` from `line` on.
    pub(super) fn fit(&self, line: usize, index: &LineIndex, old: &[u8]) -> bool {
        if self.old.len() > index.len_lines().saturating_sub(line) {
            return false;
        }
        // The end of the line may be far away.
        let Some(start) = index.line_start(line, old, 0) else { return false };
        let mut rest = old.get(start..).unwrap_or_default();
        self.old.iter().all(|text| {
            let Some(behind) = rest.strip_prefix(text.as_bytes()) else { return false };
            let brk = match behind {
                [b'\r', b'\n', ..] => 2,
                [b'\r' | b'\n', ..] => 1,
                [] => 0,
                _ => return false,
            };
            rest = &behind[brk..];
            true
        })
    }
}
