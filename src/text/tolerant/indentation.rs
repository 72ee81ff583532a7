//! How the leading blanks of a block, as they were sent, become those of the file: one mapping for the whole block.
//!
//! Pure. Knows lines, but no files and no edits.
//!
//! A line of the new text that is indented like a line of the old text is indented as that one is in the file. Other
//! indentations are mapped by levels, if the unit of a level is known on both sides and all that is known agrees. Where
//! it is not, there is no mapping: a guess would change the nesting.

use std::collections::{HashMap, HashSet};

use super::blanks::{Line, Pieces, blank_head};
use super::levels::{Strings, continuations, hanging, may_open_level, opens_level, shows_level};
use crate::order;

/// The longest unit of a level that is looked for in a text.
const MAX_UNIT: usize = 16;

/// The lines of one edit.
pub(super) struct Block<'t> {
    /// The old text as it was sent.
    pub(super) old: Vec<Line<'t>>,
    /// The same lines in the file.
    pub(super) found: Vec<Line<'t>>,
    /// The new text as it was sent.
    pub(super) new: Vec<Line<'t>>,
    /// Whether the place begins inside a string.
    pub(super) strings: Strings,
}

impl<'t> Block<'t> {
    /// For each line of the old text, and of the new one, whether it shows how lines nest: blank lines, comments and what is inside
    /// strings do not, unless there is nothing else.
    pub(super) fn nesting(&self) -> [Vec<bool>; 2] {
        let of = |lines: &[Line]| -> Vec<bool> {
            let mut strings = self.strings;
            lines.iter().map(|line| !strings.pass_text(line.core) && !line.is_blank()).collect()
        };
        let found = [of(&self.old), of(&self.new)];
        match switches::is_off("tolerant-texts") || !found.iter().flatten().any(|nests| *nests) {
            true => [&self.old, &self.new].map(|lines| lines.iter().map(|line| !line.is_blank()).collect()),
            false => found,
        }
    }

    /// The indentations, as sent, of lines of the old text that stand on a level.
    pub(super) fn levels(&self) -> HashSet<&'t [u8]> {
        let [nests, _] = self.nesting();
        let lines = self.old.iter().zip(&nests).zip(hanging(&self.old, &nests));
        lines.filter(|((_, nests), hangs)| **nests && !hangs).map(|((line, _), _)| line.head).collect()
    }

    /// Whether there are list items.
    fn has_items(&self) -> bool {
        self.old.iter().chain(&self.new).any(|line| item_mark(line) > 0)
    }

    /// The indentations, as sent, that only list items have, and that the file has otherwise.
    fn moved_lists(&self) -> HashSet<&'t [u8]> {
        let lines = || self.old.iter().zip(&self.found).filter(|(old, _)| !old.is_blank());
        let others: HashSet<_> =
            lines().map(|(old, _)| old).filter(|old| item_mark(old) == 0).map(|old| old.head).collect();
        let moved = lines().filter(|(old, found)| old.head != found.head).map(|(old, _)| old.head);
        moved.filter(|head| !others.contains(head)).collect()
    }
}

/// Blanks as they were sent, and those of the file in their place.
type Pair<'t> = (&'t [u8], &'t [u8]);

/// The mapping of one block.
pub(super) struct Mapping<'t> {
    whole: Option<ByLevel<'t>>,
    cut: Option<Cut<'t>>,
    /// The indentations, as sent, that only list items have, and that the file has otherwise.
    moved_lists: HashSet<&'t [u8]>,
}

/// The mapping of an old text that begins behind blanks of the file and is right otherwise.
struct Cut<'t> {
    /// The blanks of the first line.
    first: Pair<'t>,
    /// Those of the file there and of the other lines, if no others are known: lines may be right by chance, in levels of another length
    /// or without any indentation.
    only: Option<HashSet<&'t [u8]>>,
}

/// A mapping in which each indentation has one counterpart, and deeper ones have deeper ones.
struct ByLevel<'t> {
    /// All indentations of the old text, the shallowest first.
    pairs: Vec<Pair<'t>>,
    /// The unit of a level; none if other indentations than those in `pairs` are not known.
    unit: Option<Unit<'t>>,
}

/// The blanks of one level, as they were sent and in the file. Equal ones map any number of blanks of their kinds.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Unit<'t>(&'t [u8], &'t [u8]);

impl<'t> Mapping<'t> {
    /// The mapping of a block of the text `file`. None if its lines of the old text have none.
    pub(super) fn of(block: &Block<'t>, file: &'t [u8]) -> Option<Mapping<'t>> {
        let whole = ByLevel::of(block, file);
        let may_be_levels = whole.is_none() && pairs(block, &block.nesting()[0]).is_some();
        let [nests, _] = block.nesting();
        let others = || block.old.iter().zip(&nests).skip(1).filter(|(_, nests)| **nests);
        let shows_none = others().all(|(line, _)| line.head.is_empty());
        let cut = cut_first(block).map(|first| {
            let known = || others().map(|(line, _)| line.head).chain([first.1]).collect();
            Cut { first, only: (may_be_levels || shows_none).then(known) }
        });
        let mapping = Mapping { whole, cut, moved_lists: block.moved_lists() };
        (mapping.whole.is_some() || mapping.cut.is_some()).then_some(mapping)
    }

    /// Whether the lines behind the first one are indented as in the file: they keep their blanks.
    pub(super) fn is_of_file(&self) -> bool {
        self.whole.is_none() && self.cut.as_ref().is_some_and(|cut| cut.only.is_none())
    }

    /// The blanks of the file in front of a first line that was sent without them.
    pub(super) fn cut_level(&self) -> Option<&'t [u8]> {
        self.cut.as_ref().map(|cut| cut.first.1)
    }

    /// Whether lines on any level are indented alike: as they were sent, or by a unit that all lines of the old text confirm.
    pub(super) fn has_levels(&self) -> bool {
        let is_same = |whole: &ByLevel| whole.pairs.iter().all(|(sent, found)| sent == found);
        self.is_of_file() || self.whole.as_ref().is_some_and(|whole| whole.unit.is_some() || is_same(whole))
    }

    /// The length of a level as it was sent, if it is known.
    pub(super) fn sent_level(&self) -> Option<usize> {
        Some(self.whole.as_ref()?.unit?.0.len())
    }

    /// The length of a level in the file, if it is known and was sent as another one.
    pub(super) fn level(&self) -> Option<usize> {
        let unit = self.whole.as_ref()?.unit?;
        (!unit.is_same()).then_some(unit.1.len())
    }

    /// The blanks for a line of the new text. None if they are not known, or longer than `most`.
    pub(super) fn map(&self, line: &Line, is_first: bool, most: usize) -> Option<Vec<u8>> {
        let sent = line.head;
        // Where a list may stand as far out as its key, a key among the items is the next one: it may belong further out.
        if item_mark(line) == 0 && self.moved_lists.contains(sent) {
            return None;
        }
        let whole = self.whole.as_ref().map(|whole| whole.map(sent, most));
        let cut = self.cut.as_ref().map(|Cut { first: (first, found), only }| match is_first {
            true => (sent == *first).then(|| found.to_vec()),
            false => only.as_ref().is_none_or(|only| only.contains(sent)).then(|| sent.to_vec()),
        });
        match (whole, cut) {
            (Some(whole), Some(cut)) if whole != cut => None,
            (whole, cut) => whole.or(cut).flatten(),
        }
    }
}

/// The blanks of the first line, if it was sent without any, and all other lines are indented as in the file.
fn cut_first<'t>(block: &Block<'t>) -> Option<Pair<'t>> {
    let mut pairs = block.old.iter().zip(&block.found);
    let (first, found) = pairs.next().filter(|(old, _)| !old.is_blank())?;
    let is_cut = first.head.is_empty() && !found.head.is_empty() && !block.has_items();
    let mut others = pairs.filter(|(old, _)| !old.is_blank()).peekable();
    (is_cut && others.peek().is_some() && others.all(|(old, found)| old.head == found.head))
        .then_some((first.head, found.head))
}

impl<'t> ByLevel<'t> {
    fn of(block: &Block<'t>, file: &'t [u8]) -> Option<ByLevel<'t>> {
        let [nests_old, nests_new] = block.nesting();
        let old = || block.old.iter().zip(&nests_old).filter(|(_, nests)| **nests).map(|(line, _)| line);
        let new = || block.new.iter().zip(&nests_new).filter(|(_, nests)| **nests).map(|(line, _)| line);
        let pairs = pairs(block, &nests_old)?;
        if pairs.iter().all(|(sent, found)| sent == found) {
            // As in an exact edit.
            let unit = (!pairs.is_empty()).then_some(Unit(b"", b""));
            return Some(ByLevel { pairs, unit }.unless_texts_differ(block));
        }
        let lines = || {
            let mut strings = Strings::default();
            let lines = Pieces::of_file(file).map(|line| Line::of(&file[line]));
            lines.filter(move |line| !strings.pass_text(line.core))
        };
        // From a line further out than the old text, a step may be several levels.
        let shallowest = pairs.first().map_or(&b""[..], |(sent, _)| sent);
        let is_known = |line: &Line| line.head.starts_with(shallowest);
        let of_new = steps_below(new().copied(), is_known);
        let sent = smallest_step(steps(old().copied()).chain(of_new));
        let found = usual_step(steps(lines()));
        let of_texts = sent.zip(found).map(|(sent, found)| Unit(sent, found));
        let levels = block.levels();
        let of_levels: Vec<Pair> = pairs.iter().copied().filter(|(sent, _)| levels.contains(sent)).collect();
        let of_pairs = smallest_difference(&of_levels);
        let fits = |unit: &Unit| unit.fits(&pairs);
        // Lines below a list item are indented by its mark, which may be as long as a level is. So where the file has lists, other
        // indentations than those of the old text are known only if it shows a level itself, and that is the file's.
        let has_items = block.has_items();
        let has_lists = has_items || lines().any(|line| item_mark(&line) > 0);
        let unit = match (of_texts, of_pairs) {
            (Some(unit), _) if fits(&unit) => {
                let shows_level =
                    || steps_below(old().copied(), |above| item_mark(above) == 0).next().is_some();
                Some(unit).filter(|unit| !has_lists || unit.is_same() && shows_level())
            }
            (_, Some(unit)) if !fits(&unit) => return None,
            (Some(_), Some(_)) if has_items => return None,
            (Some(_), _) => None,
            // Equal blanks may be those of aligned lines, which tell nothing of a level.
            (None, unit) => unit.filter(|unit| !has_lists && !unit.is_same()),
        };
        let is_known = |line: &Line| pairs.iter().any(|(sent, _)| *sent == line.head);
        let goes_on = || continuations(&block.new, &nests_new).any(|[_, at]| !is_known(&block.new[at]));
        let unit = unit.filter(|unit| unit.is_same() || !goes_on());
        Some(ByLevel { unit, pairs }.unless_texts_differ(block))
    }

    /// Code of one indentation shows no other one, and code that stands as it was sent may do so by chance, at the start of a line or
    /// aligned. Comments and what is inside strings are no evidence for other indentations, but against them: where the mapping does not
    /// give what the file has, the others are not known.
    fn unless_texts_differ(self, block: &Block) -> ByLevel<'t> {
        let fits = |(old, found): (&Line, &Line)| {
            old.is_blank() || self.map(old.head, found.head.len()).as_deref() == Some(found.head)
        };
        let shows_more = self.pairs.len() > 1 && self.pairs.iter().any(|(sent, found)| sent != found);
        let is_shown = shows_more || block.old.iter().zip(&block.found).all(fits);
        ByLevel { unit: self.unit.filter(|_| is_shown), ..self }
    }

    fn map(&self, sent: &[u8], most: usize) -> Option<Vec<u8>> {
        if let Ok(at) = self.pairs.binary_search_by_key(&sent.len(), |(sent, _)| sent.len()) {
            let (known, found) = self.pairs[at];
            return (known == sent).then(|| found.to_vec());
        }
        let (unit, &(shallowest, found)) = (self.unit?, self.pairs.first()?);
        if unit == Unit(b"", b"") {
            return Some(sent.to_vec());
        }
        match (sent.strip_prefix(shallowest), shallowest.strip_prefix(sent)) {
            (Some(deeper), _) => Some([found, &unit.map(deeper, most)?].concat()),
            (None, Some(shallower)) => found.strip_suffix(&*unit.map(shallower, most)?).map(<[u8]>::to_vec),
            _ => None,
        }
    }
}

/// The indentations of the lines of the old text that nest, with those of the file. None if one has two counterparts, or they are not
/// nested alike.
fn pairs<'t>(block: &Block<'t>, nests: &[bool]) -> Option<Vec<Pair<'t>>> {
    let mut known = HashMap::new();
    let lines = block.old.iter().zip(&block.found).zip(nests).filter(|(_, nests)| **nests);
    for ((old, found), _) in lines {
        if *known.entry(old.head).or_insert(found.head) != found.head {
            return None;
        }
    }
    let mut pairs: Vec<Pair> = known.into_iter().collect();
    order::sort_by_key(&mut pairs, |(sent, _)| sent.len());
    let is_deeper = |one: &[u8], other: &[u8]| one.len() < other.len() && other.starts_with(one);
    let nested = |pairs: &[Pair]| is_deeper(pairs[0].0, pairs[1].0) && is_deeper(pairs[0].1, pairs[1].1);
    pairs.windows(2).all(nested).then_some(pairs)
}

/// The smallest difference of two indentations, as sent and in the file.
fn smallest_difference<'t>(pairs: &[Pair<'t>]) -> Option<Unit<'t>> {
    let differences = pairs.windows(2).map(|pairs| {
        let ((sent, found), (deeper, found_deeper)) = (pairs[0], pairs[1]);
        Unit(&deeper[sent.len()..], &found_deeper[found.len()..])
    });
    differences.min_by_key(|unit| unit.0.len())
}

impl Unit<'_> {
    fn is_same(&self) -> bool {
        self.0 == self.1
    }

    /// Blanks of whole levels in the file's units. None if they are not whole levels, or longer than `most`.
    fn map(&self, sent: &[u8], most: usize) -> Option<Vec<u8>> {
        let Unit(unit, found) = *self;
        if self.is_same() {
            // Aligned lines keep their blanks, but no tab goes below blanks that are spaces.
            return sent.iter().all(|blank| unit.contains(blank)).then(|| sent.to_vec());
        }
        let levels = repeats(sent, unit)?;
        (levels.checked_mul(found.len())? <= most).then(|| found.repeat(levels))
    }

    /// Whether the differences of all these pairs are whole levels.
    fn fits(&self, pairs: &[Pair]) -> bool {
        pairs.iter().skip(1).all(|(sent, found)| {
            let (sent, found) = (&sent[pairs[0].0.len()..], &found[pairs[0].1.len()..]);
            self.map(sent, found.len()).as_deref() == Some(found)
        })
    }
}

/// How often `text` repeats `unit`, if it does nothing else.
fn repeats(text: &[u8], unit: &[u8]) -> Option<usize> {
    let is_whole = !unit.is_empty() && text.len().is_multiple_of(unit.len());
    (is_whole && text.chunks(unit.len()).all(|part| part == unit)).then(|| text.len() / unit.len())
}

/// What each line is indented deeper than the one above it, where that may be a level.
fn steps<'t>(lines: impl Iterator<Item = Line<'t>>) -> impl Iterator<Item = &'t [u8]> {
    steps_below(lines, |_| true)
}

/// The same below those lines that `counts` takes.
fn steps_below<'t>(
    lines: impl Iterator<Item = Line<'t>>,
    counts: impl Fn(&Line) -> bool,
) -> impl Iterator<Item = &'t [u8]> {
    let (mut above, mut outer): (Option<(Line, bool)>, Vec<Line>) = (None, Vec::new());
    lines.filter(|line| !line.is_blank()).filter_map(move |line| {
        outer.truncate(outer.partition_point(|above| above.head.len() < line.head.len()));
        let goes_on = outer.last().is_some_and(|above| !may_open_level(above.core));
        outer.push(line);
        // What goes on with another line may stand anywhere: only if it opens a level, that one is below it.
        let shows = |(above, goes_on): &(Line, bool)| {
            shows_level(above.core) && counts(above) && (!goes_on || opens_level(above.core))
        };
        let (above, _) = above.replace((line, goes_on)).filter(shows)?;
        let step = line.head.strip_prefix(above.head)?.get(item_mark(&above)..)?;
        (!step.is_empty() && step.len() <= MAX_UNIT).then_some(step)
    })
}

/// The length of the mark of a list item and the blanks behind it; 0 for other lines.
pub(super) fn item_mark(line: &Line) -> usize {
    match line.core.strip_prefix(b"-") {
        Some([]) => MAX_UNIT,
        Some(rest) if blank_head(rest) > 0 => 1 + blank_head(rest),
        _ => 0,
    }
}

/// The smallest step, if all are whole multiples of it.
fn smallest_step<'t>(steps: impl Iterator<Item = &'t [u8]>) -> Option<&'t [u8]> {
    let steps: Vec<&[u8]> = steps.collect();
    let smallest = *steps.iter().min_by_key(|step| step.len())?;
    steps.iter().all(|step| repeats(step, smallest).is_some()).then_some(smallest)
}

/// The step that is more frequent than all others together.
fn usual_step<'t>(steps: impl Iterator<Item = &'t [u8]>) -> Option<&'t [u8]> {
    let (mut counts, mut total) = (HashMap::<&[u8], usize>::new(), 0);
    for step in steps {
        *counts.entry(step).or_default() += 1;
        total += 1;
    }
    counts.into_iter().find(|&(_, count)| total < 2 * count).map(|(step, _)| step)
}
