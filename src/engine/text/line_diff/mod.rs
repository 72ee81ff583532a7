//! The unified diff of two texts, equal byte for byte to that of npm's `diff` 8.0.4 (jsdiff).
//!
//! Pure; knows no files and no edits. `createTwoFilesPatch(name, name, old, new, "original", "modified")` is the
//! model. Of several shortest diffs, [`path`] finds the one that jsdiff finds, and [`hunks`] writes it. As in
//! jsdiff, only `\n` ends a line.

mod hunks;
mod pair;
mod path;
#[cfg(test)]
mod tests;

use pair::Pair;

/// A bound on the number of inserted and deleted lines for [`line_diff`]; within it, the bound on its work decides.
pub const MAX_LINE_EDITS: usize = 1 << 16;

/// A unified diff with four lines of context.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineDiff {
    /// The header, which is there also if nothing changes, and the hunks. It ends with a line break.
    pub text: String,
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

/// The diff from `old` to `new`, both named `name` in the header.
///
/// The search stops after `max_edits` inserted and deleted lines, or after an amount of work that takes about
/// 100 ms and 64 MB, and the diff is then coarse: made of short searches one after the other, or, of texts too
/// different or too long for these, of one deleted and one inserted block. The amount is counted, not timed, so that the same texts always
/// have the same diff.
pub fn line_diff(name: &str, old: &str, new: &str, max_edits: usize) -> LineDiff {
    let rule = "=".repeat(67);
    let mut text = format!("Index: {name}\n{rule}\n--- {name}\toriginal\n+++ {name}\tmodified\n");
    if old == new {
        return LineDiff { text, coarse: false };
    }
    let head = common_head(old.as_bytes(), new.as_bytes());
    let (old_rest, new_rest) = (&old.as_bytes()[head..], &new.as_bytes()[head..]);
    let mut runs = Vec::new();
    add(&mut runs, Kind::Equal, &old.as_bytes()[..head]);
    let coarse = !add_changes(&mut runs, old_rest, new_rest, max_edits);
    hunks::write(&mut text, old, new, &runs);
    LineDiff { text, coarse }
}

/// Adds the runs of two texts whose first lines differ. Returns whether they are jsdiff's.
fn add_changes(runs: &mut Vec<Run>, old: &[u8], new: &[u8], max_edits: usize) -> bool {
    let one_side = old.is_empty() || new.is_empty();
    let mut pair = if one_side { None } else { Pair::new(old, new) };
    if let Some(shortest) = pair.as_mut().and_then(|pair| path::shortest(pair, max_edits)) {
        runs.extend(shortest);
        return true;
    }
    let tail = common_tail(old, new);
    let (old, equal) = old.split_at(old.len() - tail);
    let new = &new[..new.len() - tail];
    match pair {
        Some(mut pair) if !old.is_empty() && !new.is_empty() => {
            pair.restart_without(count(equal));
            runs.extend(path::in_parts(&mut pair, max_edits));
        }
        _ => {
            add(runs, Kind::Deleted, old);
            add(runs, Kind::Inserted, new);
        }
    }
    add(runs, Kind::Equal, equal);
    one_side
}

fn add(runs: &mut Vec<Run>, kind: Kind, lines: &[u8]) {
    if !lines.is_empty() {
        runs.push(Run { kind, lines: count(lines), bytes: lines.len() });
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
