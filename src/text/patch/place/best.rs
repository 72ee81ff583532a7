//! Where a hunk that fits nowhere fits best: whole lines are compared, near the passages that are similar and near the line that it names.

use super::sides::Sides;
use crate::lines::LineIndex;
use crate::text_edit::Snippet;

/// How far from a similar passage, in lines, the hunk may begin.
const AROUND: usize = 20;

/// Lines at which the hunk may begin if nothing says where.
const UNGUIDED: usize = 1_000;

/// Lines of a hunk that are compared.
const LINES: usize = 200;

/// Characters of a line that are compared where two lines differ.
const COMPARED: usize = 120;

/// Maximum number of bytes quoted of the lines.
const QUOTED: usize = 4_000;

/// The line at which `sides` fits best, of those around the lines `near`, and around the one that the hunk names, else of the first. The most lines are
/// equal there, then the first one that is not is the most similar; of equal places, the nearest to the line that the hunk names, then
/// the first. `None` if no line is equal, unless it is similar there.
pub(super) fn line(sides: &Sides, near: &[usize], index: &LineIndex, old: &[u8]) -> Option<usize> {
    let asked = sides.hunk.old_start;
    let around = |line: usize| line.saturating_sub(AROUND)..=line.saturating_add(AROUND);
    let mut lines: Vec<usize> = near.iter().copied().chain(asked).flat_map(around).collect();
    if lines.is_empty() {
        lines.extend(0..UNGUIDED);
    }
    lines.retain(|line| *line < index.len_lines());
    crate::order::sort_by_key(&mut lines, |line| (asked.map_or(0, |asked| asked.abs_diff(*line)), *line));
    lines.dedup();
    let mut best: Option<((usize, f64), usize)> = None;
    for line in lines {
        let score = score(sides, line, index, old);
        if best.is_none_or(|(other, _)| other < score) {
            best = Some((score, line));
        }
    }
    best.filter(|((equal, _), _)| *equal > 0 || !near.is_empty()).map(|(_, line)| line)
}

/// Twice the number of lines that are equal from `line` on, and once that of those which are but for blanks; and how similar the first
/// one is that is not equal.
fn score(sides: &Sides, line: usize, index: &LineIndex, old: &[u8]) -> (usize, f64) {
    let (mut equal, mut first) = (0, None);
    for (nth, text) in sides.old.iter().take(LINES).enumerate() {
        let found = text_of(line + nth, index, old);
        let found = found.as_deref().unwrap_or_default();
        let is_blank = text.trim().is_empty();
        match () {
            () if is_blank && found.trim().is_empty() => continue,
            () if found == *text => equal += 2,
            () if found.trim() == text.trim() => equal += 1,
            () => {}
        }
        if found != *text {
            first.get_or_insert_with(|| likeness(text, found));
        }
    }
    (equal, first.unwrap_or(1.0))
}

fn likeness(one: &str, other: &str) -> f64 {
    let start = |text: &str| text.trim().chars().take(COMPARED).collect::<String>();
    strsim::normalized_damerau_levenshtein(&start(one), &start(other))
}

/// The text of a line, without its break. `None` behind the last.
fn text_of<'t>(line: usize, index: &LineIndex, old: &'t [u8]) -> Option<std::borrow::Cow<'t, str>> {
    Some(String::from_utf8_lossy(old.get(index.line(line, old)?.text)?))
}

/// The lines where the hunk fits best.
pub(super) fn passage(sides: &Sides, first: usize, index: &LineIndex, old: &[u8]) -> Snippet {
    let count = sides.old.len().min(index.len_lines().saturating_sub(first)).max(1);
    let mut text = String::new();
    for line in first..first + count {
        if line > first {
            text.push('\n');
        }
        text.push_str(&text_of(line, index, old).unwrap_or_default());
        if text.len() > QUOTED {
            text.truncate(crate::lines::char_boundary(text.as_bytes(), QUOTED));
            break;
        }
    }
    let last = text.rsplit('\n').next().unwrap_or_default();
    Snippet {
        line: first,
        further_lines: count - 1,
        column: 0,
        column_end: last.chars().count(),
        column_now: None,
        put_in_by: None,
        is_edited: false,
        at: 0..text.len(),
        text,
        before: None,
        after: None,
    }
}
