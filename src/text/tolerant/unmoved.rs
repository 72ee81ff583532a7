//! Whether a new text may be indented like the file already, although the old text is not: then a mapping would nest its lines
//! another way than is meant.
//!
//! Pure. Knows lines and their mapped indentations, but no files and no edits. It reads the new text in several ways, each of which
//! maps other lines, and counts where neighbours do not nest as code and documents do. The mapping stands unless another way is
//! better, or as good where nothing in the new text is indented like the old one.

use std::collections::HashSet;
use std::ops::Range;

use super::blanks::{Line, Pieces};
use super::indentation::{Block, Mapping, item_mark};
use super::levels::Strings;

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
    /// Whether it has it with these blanks at its start.
    stays: bool,
    /// Whether the file has it with these blanks, and the old text with others.
    stands_as_file: bool,
}

/// Which lines of the new text are mapped. The others are meant as they were sent.
#[derive(Clone, Copy)]
enum Reading {
    All,
    /// Those that are indented like a line of the old text.
    Known,
    /// Those that the old text has, indented as there.
    Staying,
    None,
}

impl Row<'_> {
    fn head(&self, reading: Reading) -> &[u8] {
        let is_mapped = match reading {
            Reading::All => true,
            Reading::Known => self.is_known,
            Reading::Staying => self.stays,
            Reading::None => false,
        };
        if is_mapped { &self.mapped } else { self.line.head }
    }

    /// Whether it is new and indented like the old text, and the mapping moves it.
    fn is_moved(&self) -> bool {
        self.is_known && !self.is_kept && self.mapped != self.line.head
    }
}

/// Whether lines of the new text fit the text `file` at `place` better as they were sent than mapped; or as well, if they are indented
/// like no line of the old text. `kept` has the line of the old text for each of the new one that is the same, blanks aside.
pub(super) fn fits_unmoved(
    block: &Block,
    mapping: &Mapping,
    kept: &[Option<usize>],
    (file, place): (&[u8], Range<usize>),
    most: usize,
) -> bool {
    let [nests_old, nests_new] = block.nesting();
    let old = block.old.iter().zip(&nests_old).filter(|(_, nests)| **nests);
    let known: HashSet<&[u8]> = old.map(|(line, _)| line.head).collect();
    let lines = block.new.iter().zip(kept).enumerate().filter(|(nth, _)| nests_new[*nth]);
    let row = |(nth, (line, kept)): (usize, (_, &Option<usize>))| {
        let line: &Line = line;
        let (is_known, is_kept) = (known.contains(line.head), kept.is_some());
        let stays = kept.is_some_and(|at| block.old[at].head == line.head);
        let was = kept.and_then(|at| block.old.get(at).zip(block.found.get(at)));
        let stands_as_file = was.is_some_and(|(old, found)| found.head == line.head && old.head != line.head);
        let mapped = mapping.map(line, nth == 0, most)?;
        Some(Row { line, mapped, is_known, is_kept, stays, stands_as_file })
    };
    let Some(rows) = lines.map(row).collect::<Option<Vec<Row>>>() else { return false };
    let around = Around::of(file, place, mapping.level());
    let found = || block.found.iter().zip(&nests_old).filter(|(_, nests)| **nests).map(|(line, _)| line);
    let ends_well = around.ends_well(rows.iter().map(|row| &*row.mapped));
    if !ends_well && around.ends_well(found().map(|line| line.head)) && !switches::is_off("tolerant-below") {
        return true;
    }
    if rows.iter().all(|row| row.mapped == row.line.head) {
        return false;
    }
    if rows.first().is_some_and(|row| row.stands_as_file) && !switches::is_off("tolerant-as-file") {
        return true;
    }
    let faults = |reading| around.faults(rows.iter().map(|row| (row.line, row.head(reading), row.stays)));
    let mapped = faults(Reading::All);
    let fits = |other: &[bool]| !other.iter().zip(&mapped).any(|(other, mapped)| *other && !mapped);
    let others = [Reading::Known, Reading::Staying, Reading::None].map(faults);
    let nests = !around.faults(found().map(|line| (line, line.head, false))).contains(&true);
    if nests && others.iter().any(|other| fits(other) && *other != mapped) {
        return true;
    }
    let [in_part, _, whole] = others;
    let Some(outermost) = found().map(|line| line.head).min_by_key(|head| head.len()) else { return false };
    let is_inside = |row: &Row| row.line.head.starts_with(outermost);
    // Some line of the old text stands further out.
    let is_out = known.iter().any(|head| head.len() < outermost.len());
    let begins = |row: &Row| row.line.head == outermost && (is_out || !row.is_known);
    if rows.iter().all(is_inside) && rows.iter().any(begins) && fits(&whole) {
        return true;
    }
    let strange = || rows.iter().filter(|row| !row.is_known);
    let shallowest = strange().map(|row| row.line.head).min_by_key(|head| head.len());
    let in_file = |head| Pieces::of_file(file).map(|at| Line::of(&file[at])).any(|line| line.head == head);
    // A line further out than the place, or a new one that the mapping moves, shows that the new text is indented like the old one.
    strange().any(|row| row.mapped != row.line.head)
        && strange().all(is_inside)
        && !rows.iter().skip(1).any(Row::is_moved)
        && fits(&in_part)
        && shallowest.is_some_and(in_file)
}

/// The lines of the file around a place that show how lines nest.
struct Around<'t> {
    above: Option<Line<'t>>,
    /// The indentations of the lines above in which the place lies, the shallowest first.
    open: Vec<&'t [u8]>,
    below: Option<Line<'t>>,
    /// The most by which a line is deeper than the one above it, if that is known.
    level: Option<usize>,
}

impl<'t> Around<'t> {
    fn of(file: &'t [u8], place: Range<usize>, level: Option<usize>) -> Around<'t> {
        let (mut above, mut open, mut strings) = (None, Vec::new(), Strings::default());
        for at in Pieces::of_file(file) {
            let line = Line::of(&file[at.clone()]);
            let nests = !strings.pass_text(line.core) && !line.is_blank();
            if at.end <= place.start && nests {
                reach(&mut open, line.head);
                above = Some(line);
            } else if at.start >= place.end && nests {
                return Around { above, open, below: Some(line), level };
            }
        }
        Around { above, open, below: None, level }
    }

    /// Whether the line below the place is on a level that is open behind lines with these indentations, or on a deeper one.
    fn ends_well<'r>(&'r self, heads: impl Iterator<Item = &'r [u8]>) -> bool {
        let mut open: Vec<&'r [u8]> = self.open.clone();
        heads.for_each(|head| _ = reach(&mut open, head));
        self.below.as_ref().is_none_or(|below| reach(&mut open, below.head))
    }

    /// For each of these lines in the place, and the one below it, whether it does not nest with the line above it. A line comes with
    /// its indentation and whether it stays in the file.
    fn faults<'r>(&'r self, lines: impl Iterator<Item = (&'r Line<'r>, &'r [u8], bool)>) -> Vec<bool> {
        let below = self.below.iter().map(|line| (line, line.head, true));
        let (mut open, mut above) = (self.open.clone(), self.above.as_ref().map(|line| (line, true)));
        let fault = |(line, head, stays): (&'r Line<'r>, &'r [u8], bool)| {
            let deeper = head.len().saturating_sub(open.last().map_or(head.len(), |last| last.len()));
            let is_level = reach(&mut open, head);
            let Some((above, stayed)) = above.replace((line, stays)) else { return false };
            let opens = above.core.last().is_some_and(|last| OPENERS.contains(last));
            match deeper {
                // Both stand so in the file.
                _ if stays && stayed => false,
                0 => !is_level || opens && item_mark(line) == 0,
                _ if item_mark(above) > 0 => false,
                _ => !opens && (stays || stayed) || self.level.is_some_and(|level| level < deeper),
            }
        };
        lines.chain(below).map(fault).collect()
    }
}

/// Makes the last of the open indentations that of the next line. Returns whether it is deeper than the last one, or one of them.
fn reach<'t>(open: &mut Vec<&'t [u8]>, head: &'t [u8]) -> bool {
    let closed = open.iter().rposition(|outer| outer.len() <= head.len()).map_or(0, |last| last + 1);
    let is_closing = closed < open.len();
    open.truncate(closed);
    let is_open = open.last() == Some(&head);
    if !is_open {
        open.push(head);
    }
    is_open || !is_closing
}
