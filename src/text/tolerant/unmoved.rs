//! Whether a new text may be indented like the file already, although the old text is not: then a mapping would nest its lines
//! another way than is meant.
//!
//! Pure. Knows lines and their mapped indentations, but no files and no edits.

use std::collections::HashSet;

use super::blanks::{Line, Pieces};
use super::indentation::{Block, Mapping, item_mark};

/// What a line ends with if those below it are usually deeper.
const OPENERS: &[u8] = b":{[(=+|&\\>";

/// A line of the new text that is not blank.
struct Row<'t> {
    line: &'t Line<'t>,
    mapped: Vec<u8>,
    /// Whether a line of the old text is indented like this one.
    is_known: bool,
    /// Whether the old text has this line, blanks aside.
    is_kept: bool,
}

/// Whether lines of the new text that are indented like no line of the old one fit the text `file` as they were sent, and the mapping
/// would move them. `kept` has the line of the old text for each of the new one that is the same, blanks aside.
pub(super) fn fits_unmoved(
    block: &Block,
    mapping: &Mapping,
    kept: &[Option<usize>],
    file: &[u8],
    most: usize,
) -> bool {
    let known: HashSet<&[u8]> =
        block.old.iter().filter(|line| !line.is_blank()).map(|line| line.head).collect();
    let lines = block.new.iter().zip(kept).enumerate().filter(|(_, (line, _))| !line.is_blank());
    let row = |(nth, (line, kept)): (usize, (_, &Option<usize>))| {
        let line: &Line = line;
        let (is_known, is_kept) = (known.contains(line.head), kept.is_some());
        Some(Row { line, mapped: mapping.map(line, nth == 0, most)?, is_known, is_kept })
    };
    let Some(rows) = lines.map(row).collect::<Option<Vec<Row>>>() else { return false };
    let found = block.found.iter().filter(|line| !line.is_blank()).map(|line| line.head);
    let Some(outermost) = found.min_by_key(|head| head.len()) else { return false };
    let strange = || rows.iter().filter(|row| !row.is_known);
    // A line further out than the place shows that the new text is indented like the old one.
    let is_inside = |row: &Row| row.line.head.starts_with(outermost);
    if !strange().any(|row| row.mapped != row.line.head) || !strange().all(is_inside) {
        return false;
    }
    let fits_whole = rows.iter().all(is_inside)
        && rows.iter().any(|row| !row.is_known && row.line.head == outermost)
        && is_nested(&rows, |row| row.line.head);
    fits_whole || fits_in_part(&rows, file)
}

/// Whether lines that are indented like no line of the old text fit as they were sent below those that the mapping moves.
fn fits_in_part(rows: &[Row], file: &[u8]) -> bool {
    let is_moved = |row: &Row| row.is_known && !row.is_kept && row.mapped != row.line.head;
    let shallowest =
        rows.iter().filter(|row| !row.is_known).map(|row| row.line.head).min_by_key(|head| head.len());
    let in_file = |head| Pieces::of_file(file).map(|at| Line::of(&file[at])).any(|line| line.head == head);
    !rows.iter().skip(1).any(is_moved)
        && is_nested(rows, |row| if row.is_known { &row.mapped } else { row.line.head })
        && shallowest.is_some_and(in_file)
}

/// Whether the line below each one that opens a block is deeper, or a list item.
fn is_nested<'r>(rows: &'r [Row<'r>], head: impl Fn(&'r Row<'r>) -> &'r [u8]) -> bool {
    let opens = |line: &Line| line.core.last().is_some_and(|last| OPENERS.contains(last));
    rows.windows(2).all(|pair| {
        let [above, below] = pair else { return true };
        !opens(above.line) || item_mark(below.line) > 0 || head(above).len() < head(below).len()
    })
}
