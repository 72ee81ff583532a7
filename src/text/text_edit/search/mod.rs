//! Finds the text of each edit of a call, at its turn.
//!
//! Pure. One search of the text covers several short parts ("stretches") of each old_text; the rarest becomes
//! its anchor. After each edit, only the inserted text and its surroundings are searched, for the anchors of
//! later edits. An anchor in the text was found when its last byte was inserted, and its address has been
//! kept. So at an edit's turn, only the bytes around the kept addresses are compared. If all stretches of an
//! edit are so frequent that their addresses take too much memory, the edit searches the whole text.

mod haystack;
mod linear;
mod multi_pattern;
mod occurrences;
pub(crate) mod pattern;

use std::collections::HashMap;

use crate::order;
use crate::text_edit::TextEdit;
use crate::text_edit::search::occurrences::{NeedleOccurrences, Occurrences};
use crate::text_edit::search::pattern::{Pattern, stretches};
use crate::text_edit::table::matches::Matches;
use crate::text_edit::table::matches::Sought;
use crate::text_edit::table::piece_table::PieceTable;
use crate::{Error, Result, Stop};

/// With fewer edits, each one searches the whole text.
const FEW: usize = 3;

/// Maximum number of stretches searched for one old_text.
const TRIED: usize = 3;

/// A shorter stretch is used only if there is no other.
const SHORT: usize = 3;

/// Maximum number of addresses kept for one stretch: `KEPT` beyond twice the expected matches of its edits,
/// and at most `MOST`. With more, a search of the whole text is as fast.
const KEPT: usize = 1_000;
const MOST: usize = 16 * 1024;

/// Bytes of the text that are sampled to choose the anchor of a single edit.
const SAMPLE: usize = 64 * 1024;

#[derive(Debug)]
pub(crate) struct Search<'e> {
    patterns: Vec<Pattern<'e>>,
    /// For each pattern, the number of its anchor.
    anchors: Vec<Option<usize>>,
    /// For each anchor, the last edit that uses it.
    last: Vec<usize>,
    addresses: Occurrences<'e>,
}

/// The occurrences of `text`, which must not be empty; at most `keep` matches are returned. Returns nothing
/// if the search would take too long, because the result is only a hint.
pub(crate) fn occurrences(
    text: &str,
    pieces: &PieceTable,
    keep: usize,
    control: &dyn Stop,
) -> Result<Sought> {
    let mut search = Search::of(vec![(text.as_bytes(), keep as u64)], pieces, control)?;
    unless_too_costly(search.find(0, pieces, keep, control))
}

/// Replaces the error of a search that would take too long by an empty result.
pub(crate) fn unless_too_costly(sought: Result<Sought>) -> Result<Sought> {
    match sought {
        Err(Error::InvalidArguments { .. }) => Ok(Sought::default()),
        sought => sought,
    }
}

/// The middle of the text's first piece.
fn sample<'t>(pieces: &PieceTable<'t>) -> &'t [u8] {
    let first = pieces.forward(pieces.start()).map_or(&b""[..], |(bytes, _)| bytes);
    let from = first.len().saturating_sub(SAMPLE) / 2;
    &first[from..first.len().min(from + SAMPLE)]
}

impl<'e> Search<'e> {
    /// Prepares the search for `edits` in the text before the first of them. `is_mixed`: its breaks may be of several kinds.
    pub(crate) fn new(
        edits: &'e [TextEdit],
        pieces: &PieceTable,
        is_mixed: bool,
        control: &dyn Stop,
    ) -> Result<Search<'e>> {
        let wishes = edits.iter().map(|edit| (edit.old_text.as_bytes(), edit.occurrences)).collect();
        let mut search = Search::of(wishes, pieces, control)?;
        if is_mixed && !switches::is_off("any-break-in-mixed") {
            search.patterns.iter_mut().for_each(Pattern::match_any_break);
        }
        Ok(search)
    }

    /// Prepares the search for texts, each with its expected number of occurrences.
    fn of(wishes: Vec<(&'e [u8], u64)>, pieces: &PieceTable, control: &dyn Stop) -> Result<Search<'e>> {
        let mut search = Search {
            patterns: wishes.iter().map(|(text, _)| Pattern::new(text)).collect(),
            anchors: vec![None; wishes.len()],
            last: Vec::new(),
            addresses: Occurrences::new(Vec::new(), 0),
        };
        if FEW <= wishes.len() {
            search.choose(&wishes, pieces, control)?;
        } else {
            search.patterns.iter_mut().for_each(|pattern| pattern.choose_by(sample(pieces)));
        }
        Ok(search)
    }

    /// Chooses the anchors: the stretches that occur least often in the text.
    fn choose(&mut self, wishes: &[(&'e [u8], u64)], pieces: &PieceTable, control: &dyn Stop) -> Result<()> {
        let all: Vec<_> = wishes.iter().map(|(text, _)| stretches(text)).collect();
        let mut shared: HashMap<&[u8], u32> = HashMap::new();
        for ((text, _), stretches) in wishes.iter().zip(&all) {
            stretches.iter().for_each(|at| *shared.entry(&text[at.clone()]).or_default() += 1);
        }
        let mut numbers: HashMap<&[u8], usize> = HashMap::new();
        let mut kept: Vec<NeedleOccurrences> = Vec::new();
        let mut tried = Vec::with_capacity(wishes.len());
        for ((text, occurrences), mut stretches) in wishes.iter().zip(all) {
            // A stretch that other edits of the call share probably occurs often.
            order::sort_by_key(&mut stretches, |at| (at.len() < SHORT, shared[&text[at.clone()]]));
            let long = stretches.iter().filter(|at| SHORT <= at.len()).count();
            stretches.truncate(TRIED.min(long.max(1)));
            let numbered = stretches.into_iter().map(|at| {
                let needle = &text[at.clone()];
                let number = *numbers.entry(needle).or_insert(kept.len());
                if number == kept.len() {
                    kept.push(NeedleOccurrences::new(needle, KEPT));
                }
                let most = &mut kept[number].most;
                *most = (*most + (*occurrences).min(MOST as u64) as usize * 2).min(MOST);
                (number, at)
            });
            tried.push(numbered.collect::<Vec<_>>());
        }
        self.last = vec![0; kept.len()];
        self.addresses = Occurrences::new(kept, pieces.len());
        self.addresses.search(pieces, control)?;
        let mut chosen = vec![false; self.last.len()];
        for (edit, tried) in tried.into_iter().enumerate() {
            let known = tried
                .into_iter()
                .filter_map(|(number, at)| Some((self.addresses.of(number).len()?, number, at)));
            if let Some((_, number, at)) = known.min_by_key(|(len, ..)| *len) {
                self.patterns[edit].set_anchor(at);
                self.anchors[edit] = Some(number);
                self.last[number] = edit;
                chosen[number] = true;
            }
        }
        self.addresses.keep_only(|number| chosen[number]);
        Ok(())
    }

    /// The matches of the edit `number` now; at most `keep` of them are returned.
    pub(crate) fn find(
        &mut self,
        number: usize,
        pieces: &PieceTable,
        keep: usize,
        control: &dyn Stop,
    ) -> Result<Sought> {
        let pattern = &self.patterns[number];
        if pattern.text().is_empty() {
            let matches = Matches::from_iter([(pieces.start(), pieces.end())]);
            return Ok(if pieces.len() == 0 { Sought { count: 1, matches } } else { Sought::default() });
        }
        let anchor = self.anchors[number];
        let known = anchor.and_then(|anchor| self.addresses.cursors(anchor, pieces));
        if let Some(anchor) = anchor.filter(|&anchor| self.last[anchor] == number) {
            self.addresses.forget(anchor);
        }
        pattern.find(known.as_deref(), pieces, keep, control)
    }

    /// Searches the text that the edit `number` inserted into `leaves` for the anchors of later edits.
    pub(crate) fn search_around(
        &mut self,
        number: usize,
        pieces: &PieceTable,
        leaves: &[u32],
        control: &dyn Stop,
    ) -> Result<()> {
        if self.last.iter().all(|&last| last <= number) {
            return Ok(());
        }
        self.addresses.search_around(number as u32, pieces, leaves, control)
    }

    /// Memory in bytes.
    pub(crate) fn memory(&self) -> usize {
        self.patterns.capacity() * size_of::<Pattern>() + self.addresses.memory()
    }
}
