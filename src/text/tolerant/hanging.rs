//! Whether lines that are indented by the line they hang below, and not by levels, still are once they are mapped.
//!
//! Pure. Knows lines and their mapped indentations, but no files and no edits. Such a line may be sent as deep as a level is by
//! chance, and the mapping takes it for that one.

use std::collections::HashSet;

use super::blanks::Line;
use super::indentation::{Block, Mapping, item_mark};
use super::levels::{bracket_end, continuations, hanging};

/// Whether each line that stands behind the mark of the list item above it does so once mapped: such a line is indented by the mark,
/// also where a line of the old text is indented as deep by levels.
pub(super) fn keeps_marks(block: &Block, mapping: &Mapping, most: usize) -> bool {
    let mut items: Vec<(&Line, Option<Vec<u8>>)> = Vec::new();
    let lines = block.new.iter().enumerate().filter(|(_, line)| !line.is_blank());
    let mut keeps = lines.map(|(nth, line)| {
        let mapped = mapping.map(line, nth == 0, most);
        items.truncate(items.partition_point(|(item, _)| item.head.len() < line.head.len()));
        let behind = items.last().and_then(|(item, head)| {
            let blanks =
                line.head.strip_prefix(item.head).filter(|blanks| blanks.len() == item_mark(item))?;
            Some([head.as_deref()?, blanks].concat())
        });
        let keeps = behind.is_none() || behind == mapped;
        if item_mark(line) > 0 {
            items.push((line, mapped));
        }
        keeps
    });
    keeps.all(|keeps| keeps)
}

/// Whether new lines on a level are indented as the old text shows for a level: how much further out or in a hanging line stands
/// tells nothing of them. `kept` has the line of the old text for each of the new one that is the same, blanks aside.
pub(super) fn keeps_levels(block: &Block, mapping: &Mapping, kept: &[Option<usize>]) -> bool {
    if mapping.has_levels() {
        return true;
    }
    let ([_, nests], mut levels) = (block.nesting(), block.levels());
    levels.extend(mapping.cut_level());
    let hangs = hanging(&block.new, &nests);
    block.new.iter().enumerate().all(|(at, line)| {
        let stays = || kept[at].is_some_and(|old| block.old[old].head == line.head);
        line.is_blank() || hangs[at] || levels.contains(line.head) || stays()
    })
}

/// Whether each line of the new text that goes on with the one above it is as much deeper as it was sent, or the old text shows how
/// much deeper it is in the file. One that is a level or two deeper, and not aligned, may be mapped by levels. `kept` has the line of the old text for each of the new one that is the same, blanks aside.
pub(super) fn keeps_continuations(
    block: &Block,
    mapping: &Mapping,
    kept: &[Option<usize>],
    most: usize,
) -> bool {
    if mapping.is_of_file() {
        return true;
    }
    let [nests_old, nests_new] = block.nesting();
    let of_old = continuations(&block.old, &nests_old);
    let known: HashSet<[&[u8]; 2]> = of_old.map(|pair| pair.map(|at| block.old[at].head)).collect();
    let mapped = |at: usize| mapping.map(&block.new[at], at == 0, most);
    continuations(&block.new, &nests_new).all(|[above, at]| {
        let [outer, head] = [above, at].map(|at| block.new[at].head);
        let stays = kept[at].is_some_and(|at| block.old[at].head == head);
        let keeps = || {
            let [outer_to, to] = [mapped(above)?, mapped(at)?];
            // Tabs may be sent above blanks.
            let is_as_sent = outer_to == outer && to == head;
            Some(is_as_sent || to == [&*outer_to, head.strip_prefix(outer)?].concat())
        };
        let by_level = || {
            let blanks = head.len() - outer.len();
            let is_level = |unit| blanks == unit || blanks == 2 * unit;
            mapping.sent_level().is_some_and(is_level) && bracket_end(block.new[above].core) != Some(blanks)
        };
        stays || known.contains(&[outer, head]) || by_level() || keeps() == Some(true)
    })
}

/// Whether new lines of strings and comments are indented as the old ones beside them. Where the file has an old one otherwise than it
/// is mapped, another one that is as deep or deeper may belong to it.
pub(super) fn keeps_texts(block: &Block, mapping: &Mapping, kept: &[Option<usize>], most: usize) -> bool {
    let [nests_old, nests_new] = block.nesting();
    let texts = |nests: &[bool], lines: &[Line], at: usize| !nests[at] && !lines[at].is_blank();
    let differs = |at: &usize| {
        let (old, found) = (&block.old[*at], &block.found[*at]);
        texts(&nests_old, &block.old, *at) && mapping.map(old, *at == 0, most).as_deref() != Some(found.head)
    };
    let shallowest = (0..block.old.len()).filter(differs).map(|at| block.old[at].head.len()).min();
    shallowest.is_none_or(|shallowest| {
        let fits = |at: usize| {
            kept[at].is_some_and(|old| block.old[old] == block.new[at])
                || block.new[at].head.len() < shallowest
        };
        (0..block.new.len()).all(|at| !texts(&nests_new, &block.new, at) || fits(at))
    })
}
