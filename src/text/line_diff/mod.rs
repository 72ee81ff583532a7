//! The unified diff of two texts, equal byte for byte to that of npm's `diff` 8.0.4 (jsdiff).
//!
//! Pure; knows no files. `createTwoFilesPatch(name, name, old, new, "original", "modified")` is the
//! model. Of several shortest diffs, [`path`] finds the one that jsdiff finds, and [`hunks`] writes it. As in
//! jsdiff, only `\n` ends a line.

mod bounded;
mod hunks;
mod pair;
mod path;
#[cfg(test)]
mod tests;
mod windows;

use std::borrow::Cow;
use std::ops::Range;

use bounded::BoundedText;
use pair::Pair;
use windows::{NoWindows, Windows};

use super::splice::{EditPlan, Splice};

/// A bound on the number of inserted and deleted lines for [`plan_diff`]; within it, the bound on its work decides.
pub const MAX_LINE_EDITS: usize = 1 << 16;

/// A unified diff with four lines of context.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineDiff {
    /// The header, which is there also if nothing changes, and the hunks: whole lines, as many as were asked for.
    pub text: String,
    /// The lines of the diff of the changes that are not left out; `text` has fewer if they are too long for it.
    pub lines: usize,
    /// The last changes of the plan that are left out, because the lines around all of them are too long.
    pub left_out: usize,
    /// Whether the texts were too different for the search. The diff is then correct, but need not be the shortest,
    /// and differs from jsdiff's.
    pub coarse: bool,
}

/// Lines that are equal in both texts, or in only one of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Equal,
    Deleted,
    Inserted,
}

/// Adjacent lines of one kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Run {
    kind: Kind,
    lines: usize,
    bytes: usize,
}

/// The first number of lines behind each change that are looked at, and by how much it grows if they do not suffice.
const MARGIN: usize = 32;
const MARGIN_GROWS: usize = 8;

/// The most bytes of the windows around the changes, beyond which they are not made larger.
const MAX_WINDOWS: usize = 1 << 20;

/// The most bytes of the windows of each text. If the lines around all changes are longer, the diff is of the first
/// changes only.
const MAX_TEXT: usize = 8 << 20;

/// The work of a coarse diff after which what is left is deleted and inserted in blocks. See [`Pair::work`].
const COARSE_WORK: usize = 12_000_000;

/// How long a diff may be.
#[derive(Debug, Clone, Copy)]
pub struct DiffSize {
    /// The most bytes.
    pub bytes: usize,
    /// Equal lines before and after the changes of a hunk, at most 4.
    pub context: usize,
}

impl DiffSize {
    /// With as many lines of context as jsdiff gives.
    pub fn bytes(bytes: usize) -> DiffSize {
        DiffSize { bytes, context: windows::CONTEXT }
    }
}

/// The diff of the text `old`, named `name` in the header, and what `plan` makes of it, both with CRLF told as LF and
/// without the byte order mark. None if `old` is not the text of the plan.
///
/// It is the diff of the whole texts. But only the lines around the changes are looked at: if the search would need
/// others, it starts again with more of them. If a MB of text does not suffice, the diff is coarse.
///
/// The search stops after `max_edits` inserted and deleted lines, or after an amount of work that takes about
/// 100 ms and 64 MB, and the diff is then coarse: made of short searches one after the other, or, of texts too
/// different or too long for these, of one deleted and one inserted block. The amount is counted, not timed, so that the same texts always
/// have the same diff.
///
/// Memory is bounded for any text and any plan: at most 8 MB of each text are looked at, and the diff's text is bounded by
/// [`DiffSize::bytes`]. Changes beyond the 8 MB are left out.
pub fn plan_diff(
    name: &str,
    old: &[u8],
    plan: &EditPlan,
    max_edits: usize,
    size: DiffSize,
) -> Option<LineDiff> {
    if plan.changes_nothing() {
        return Some(written(name, &Windows::default(), &[], false, size));
    }
    diff_from(name, old, plan, max_edits, (MARGIN, size))
}

/// The same, with `first` lines behind each change to begin with.
fn diff_from(
    name: &str,
    old: &[u8],
    plan: &EditPlan,
    max_edits: usize,
    (first, size): (usize, DiffSize),
) -> Option<LineDiff> {
    let (mut margin, mut room) = (first, MAX_TEXT);
    loop {
        match Windows::around(old, plan, margin, room) {
            Err(NoWindows::NotText) => return None,
            Err(NoWindows::TooLong) => break,
            Ok(windows) => match search(&windows, max_edits) {
                Search::Found { runs, coarse } => return Some(written(name, &windows, &runs, coarse, size)),
                Search::TooMuch => {
                    return Some(written(name, &windows, &coarse(&windows, max_edits), true, size));
                }
                Search::MetGap => (margin, room) = (margin * MARGIN_GROWS, MAX_WINDOWS),
            },
        }
    }
    // Windows that cannot be shown whole need not be much longer than what is shown.
    let shown = size.bytes.saturating_mul(4).clamp(MAX_WINDOWS, MAX_TEXT);
    let windows = Windows::of_first(old, plan, first, if margin == first { shown } else { MAX_TEXT })?;
    Some(written(name, &windows, &coarse(&windows, max_edits), true, size))
}

/// The changes by whole lines that make `new` of `old`: the fewest lines, unless that takes too long to find. Lines that go and those
/// that come in their place are one change.
pub fn line_changes<'n>(old: &[u8], new: &'n [u8]) -> Vec<Splice<'n>> {
    if old == new {
        return Vec::new();
    }
    let (head, mut runs) = (common_head(old, new), Vec::new());
    add_changes(&mut runs, &old[head..], &new[head..], MAX_LINE_EDITS, &mut { COARSE_WORK });
    let (mut changes, mut from, mut to) = (Vec::<(Range<usize>, Range<usize>)>::new(), head, head);
    for Run { kind, bytes, .. } in runs {
        let gone = from..from + if kind == Kind::Inserted { 0 } else { bytes };
        let put_in = to..to + if kind == Kind::Deleted { 0 } else { bytes };
        (from, to) = (gone.end, put_in.end);
        match changes.last_mut() {
            _ if kind == Kind::Equal => {}
            Some((before, text)) if before.end == gone.start => {
                (before.end, text.end) = (gone.end, put_in.end)
            }
            _ => changes.push((gone, put_in)),
        }
    }
    changes.into_iter().map(|(at, put_in)| Splice { at, text: Cow::Borrowed(&new[put_in]) }).collect()
}

/// For each line of a new text, the line of the old one that it is. The lines have no breaks.
pub(super) fn kept_lines<'l>(
    old: impl Iterator<Item = &'l [u8]>,
    new: impl Iterator<Item = &'l [u8]>,
) -> Vec<Option<usize>> {
    fn joined<'l>(lines: impl Iterator<Item = &'l [u8]>) -> Vec<u8> {
        lines.flat_map(|line| [line, b"\n"]).collect::<Vec<_>>().concat()
    }
    let (old, new) = (joined(old), joined(new));
    let count = |text: &[u8]| memchr::memchr_iter(b'\n', text).count();
    let (mut kept, mut from, mut at) = (Vec::new(), 0, 0);
    for change in line_changes(&old, &new) {
        let equal = count(&old[from..change.at.start]);
        kept.extend((at..at + equal).map(Some));
        kept.resize(kept.len() + count(&change.text), None);
        (from, at) = (change.at.end, at + equal + count(&old[change.at]));
    }
    kept.extend((at..at + count(&old[from..])).map(Some));
    kept
}

/// The result of a search.
enum Search {
    Found {
        runs: Vec<Run>,
        /// They need not be jsdiff's. Only without gaps.
        coarse: bool,
    },
    /// It depends on lines that are not in the windows.
    MetGap,
    TooMuch,
}

fn header(name: &str) -> String {
    let rule = "=".repeat(67);
    format!("Index: {name}\n{rule}\n--- {name}\toriginal\n+++ {name}\tmodified\n")
}

fn written(name: &str, windows: &Windows, runs: &[Run], coarse: bool, size: DiffSize) -> LineDiff {
    let mut out = BoundedText::new(size.bytes);
    out.put(&header(name));
    hunks::write(&mut out, (&windows.old, &windows.new), &windows.gaps, runs, size.context);
    LineDiff { lines: out.lines(), text: out.into_text(), left_out: windows.left_out, coarse }
}

/// The runs that jsdiff finds in the whole texts, as far as the windows show them.
fn search(windows: &Windows, max_edits: usize) -> Search {
    let (old, new) = (windows.old.as_bytes(), windows.new.as_bytes());
    let head = if old == new { old.len() } else { common_head(old, new) };
    let mut runs = Vec::new();
    add(&mut runs, Kind::Equal, &old[..head]);
    if windows.gaps.is_empty() || head == old.len() {
        let coarse = !add_changes(&mut runs, &old[head..], &new[head..], max_edits, &mut { COARSE_WORK });
        return Search::Found { runs, coarse };
    }
    let Some(mut pair) = Pair::new(&old[head..], &new[head..], true) else { return Search::TooMuch };
    match path::shortest(&mut pair, max_edits) {
        Some(shortest) => runs.extend(shortest),
        None if pair.met_gap => return Search::MetGap,
        None => return Search::TooMuch,
    }
    if shows_no_gap(&windows.old, &runs) { Search::Found { runs, coarse: false } } else { Search::MetGap }
}

/// Whether no gap is so near to a change that it would be context.
fn shows_no_gap(old: &str, runs: &[Run]) -> bool {
    let mut at = 0;
    runs.iter().filter(|run| run.kind != Kind::Inserted).all(|run| {
        at += run.bytes;
        // Nothing was changed before the first lines.
        run.kind != Kind::Equal || at == run.bytes || hunks::shows_no_gap(&old[at - run.bytes..at])
    })
}

/// Runs that need not be the shortest, window by window.
fn coarse(windows: &Windows, max_edits: usize) -> Vec<Run> {
    let (mut runs, mut left) = (Vec::new(), COARSE_WORK);
    let mut old_pieces = windows::pieces(windows.old.as_bytes());
    let mut new_pieces = windows::pieces(windows.new.as_bytes());
    loop {
        // The last window of one text may be empty.
        let ((old, gap), (new, _)) = match (old_pieces.next(), new_pieces.next()) {
            (None, None) => break,
            (old, new) => (old.unwrap_or_default(), new.unwrap_or_default()),
        };
        // What is context in front of a gap is in both.
        let context = if gap.is_empty() { b"" } else { windows::context_at_end(old) };
        let (Some(old), Some(new)) = (old.strip_suffix(context), new.strip_suffix(context)) else { break };
        let head = if old == new { old.len() } else { common_head(old, new) };
        add(&mut runs, Kind::Equal, &old[..head]);
        add_changes(&mut runs, &old[head..], &new[head..], max_edits, &mut left);
        add(&mut runs, Kind::Equal, context);
        add(&mut runs, Kind::Equal, gap);
    }
    runs
}

/// Adds the runs of two texts without gaps whose first lines differ. `left` is the work that may be done. Returns whether
/// they are jsdiff's.
fn add_changes(runs: &mut Vec<Run>, old: &[u8], new: &[u8], max_edits: usize, left: &mut usize) -> bool {
    let one_side = old.is_empty() || new.is_empty();
    let mut pair = if one_side || *left == 0 { None } else { Pair::new(old, new, false) };
    if let Some(pair) = &mut pair {
        let shortest = path::shortest(pair, max_edits);
        *left = left.saturating_sub(pair.work);
        if let Some(shortest) = shortest {
            shortest.into_iter().for_each(|run| add_run(runs, run));
            return true;
        }
    }
    let tail = common_tail(old, new);
    let (old, equal) = old.split_at(old.len() - tail);
    let new = &new[..new.len() - tail];
    match pair {
        Some(mut pair) if !old.is_empty() && !new.is_empty() => {
            pair.restart_without(count(equal));
            path::in_parts(&mut pair, max_edits).into_iter().for_each(|run| add_run(runs, run));
            *left = left.saturating_sub(pair.work);
        }
        _ => {
            add(runs, Kind::Deleted, old);
            add(runs, Kind::Inserted, new);
        }
    }
    add(runs, Kind::Equal, equal);
    one_side
}

/// Adds whole lines of one kind.
fn add(runs: &mut Vec<Run>, kind: Kind, lines: &[u8]) {
    if !lines.is_empty() {
        add_run(runs, Run { kind, lines: count(lines), bytes: lines.len() });
    }
}

/// Adds a run to the last one, if it is of its kind.
fn add_run(runs: &mut Vec<Run>, run: Run) {
    match runs.last_mut().filter(|last| last.kind == run.kind) {
        Some(last) => (last.lines, last.bytes) = (last.lines + run.lines, last.bytes + run.bytes),
        None => runs.push(run),
    }
}

/// Number of lines; text after the last break is a line.
fn count(text: &[u8]) -> usize {
    let open = text.last().is_some_and(|&last| last != b'\n');
    memchr::memchr_iter(b'\n', text).count() + usize::from(open)
}

/// Length of the whole lines that both of two different texts start with.
fn common_head(old: &[u8], new: &[u8]) -> usize {
    const CHUNK: usize = 4096;
    let chunks = old.chunks(CHUNK).zip(new.chunks(CHUNK)).take_while(|(old, new)| old == new);
    let at: usize = chunks.map(|(chunk, _)| chunk.len()).sum();
    let rest = old[at..].iter().zip(&new[at..]).take_while(|(old, new)| old == new).count();
    memchr::memrchr(b'\n', &old[..at + rest]).map_or(0, |brk| brk + 1)
}

/// Length of the whole lines that both texts end with.
fn common_tail(old: &[u8], new: &[u8]) -> usize {
    const CHUNK: usize = 4096;
    let chunks = old.rchunks(CHUNK).zip(new.rchunks(CHUNK)).take_while(|(old, new)| old == new);
    let at: usize = chunks.map(|(chunk, _)| chunk.len()).sum();
    let (old_rest, new_rest) = (&old[..old.len() - at], &new[..new.len() - at]);
    let pairs = old_rest.iter().rev().zip(new_rest.iter().rev());
    let tail = at + pairs.take_while(|(old, new)| old == new).count();
    let starts_line = |text: &[u8]| text.len() == tail || text[text.len() - tail - 1] == b'\n';
    if starts_line(old) && starts_line(new) {
        return tail;
    }
    let equal = &old[old.len() - tail..];
    memchr::memchr(b'\n', equal).map_or(0, |brk| tail - brk - 1)
}
