//! An edit as data: which ranges of the old bytes are replaced by which new bytes.
//!
//! Pure; knows neither lines nor files. The caller decides what to change; a plan only guarantees that one
//! forward pass can apply it.

mod compose;

use std::borrow::Cow;
use std::collections::HashMap;
use std::io::{self, Write};
use std::ops::Range;

use super::packed::{Packed, PackedReader};
use crate::encoding::Encoding;

/// One replacement: `text` replaces the old bytes `at`. An empty range inserts, an empty text deletes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Splice<'t> {
    /// The replaced bytes of the old text.
    pub at: Range<usize>,
    /// The new bytes.
    pub text: Cow<'t, [u8]>,
}

/// A stretch of the result of a plan; it may be empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece<'p> {
    /// These bytes of the old text.
    Kept(Range<usize>),
    /// New bytes.
    New(Cow<'p, [u8]>),
}

/// One replacement whose new text is given by its number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Change {
    /// The replaced bytes of the old text.
    pub(crate) at: Range<usize>,
    /// The number of the new text.
    pub(crate) text: usize,
    /// The part of that text to insert.
    pub(crate) part: Range<usize>,
}

/// A change without its position: number of bytes removed, number of the text inserted, start and length of
/// the part of it.
type SpliceKind = [usize; 4];

/// Maximum number of stored kinds. A change of a stored kind takes only a byte or two.
const KINDS: usize = 4 * 1024;

// Values of the three lowest bits of a change's first number.
const HELD: u64 = 6; // the number of a kind, less 6, follows; a smaller value is the number itself
const SAID: u64 = 7; // the kind itself follows
const BITS: u32 = 3;

/// All changes of one call, a few bytes each. Invariant: sorted, disjoint, within the old text; none replaces
/// bytes by equal bytes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EditPlan<'t> {
    /// The inserted texts.
    texts: Vec<Cow<'t, [u8]>>,
    /// For each change, the number of unchanged bytes before it, and its kind.
    changes: Packed,
    kinds: Vec<SpliceKind>,
    count: usize,
    /// See [`EditPlan::places`].
    places: usize,
    /// The end of the last change in the old text.
    end: usize,
    removed: usize,
    added: usize,
    /// See [`EditPlan::into_encoding`].
    is_other_encoding: bool,
}

impl<'t> EditPlan<'t> {
    /// The same plan, whose result is text in this encoding. A plan is of UTF-8 unless this says otherwise.
    pub fn into_encoding(mut self, encoding: Encoding) -> EditPlan<'t> {
        self.is_other_encoding = encoding != Encoding::Utf8;
        self
    }

    /// Whether the result is text in another encoding than UTF-8.
    pub fn is_other_encoding(&self) -> bool {
        self.is_other_encoding
    }

    /// Takes `splices` of the text `old` in order, and drops those that change nothing. Returns `None` if
    /// they overlap, are out of order, or reach past the end.
    pub fn new(splices: Vec<Splice<'t>>, old: &[u8]) -> Option<EditPlan<'t>> {
        let (mut plan, mut held) = (EditPlan::default(), HashMap::new());
        splices.into_iter().try_for_each(|splice| plan.add_splice(splice, old, &mut held))?;
        Some(plan.finish(old))
    }

    /// Like [`EditPlan::new`], for changes that insert parts of a few `texts`.
    pub(crate) fn of_parts<T: Into<Cow<'t, [u8]>>>(
        mut changes: impl Iterator<Item = Change>,
        texts: impl IntoIterator<Item = T>,
        old: &[u8],
    ) -> Option<EditPlan<'t>> {
        let texts = texts.into_iter().map(Into::into).collect();
        let (mut plan, mut held) = (EditPlan { texts, ..EditPlan::default() }, HashMap::new());
        changes.try_for_each(|change| plan.add(&change, old, &mut held))?;
        Some(plan.finish(old))
    }

    /// Like [`EditPlan::new`], for many splices with few texts. Stops at the first one that is an error or `None`.
    pub(crate) fn of_repeated<E>(
        splices: impl Iterator<Item = Result<Option<Splice<'t>>, E>>,
        old: &[u8],
    ) -> Result<Option<EditPlan<'t>>, E> {
        let (mut plan, mut held, mut numbers) = (EditPlan::default(), HashMap::new(), HashMap::new());
        for splice in splices {
            let Some(Splice { at, text }) = splice? else { return Ok(None) };
            let part = 0..text.len();
            let text = *numbers.entry(text).or_insert_with_key(|text| {
                plan.texts.push(text.clone());
                plan.texts.len() - 1
            });
            if plan.add(&Change { at, text, part }, old, &mut held).is_none() {
                return Ok(None);
            }
        }
        Ok(Some(plan.finish(old)))
    }

    /// The plan with one more splice at its end.
    pub(crate) fn and(mut self, splice: Splice<'t>, old: &[u8]) -> Option<EditPlan<'t>> {
        self.add_splice(splice, old, &mut HashMap::new())?;
        Some(self.finish(old))
    }

    fn add_splice(
        &mut self,
        splice: Splice<'t>,
        old: &[u8],
        held: &mut HashMap<SpliceKind, usize>,
    ) -> Option<()> {
        let change = Change { at: splice.at, text: self.texts.len(), part: 0..splice.text.len() };
        self.texts.push(splice.text);
        self.add(&change, old, held)
    }

    /// Appends a change; `held` maps the stored kinds to their numbers.
    fn add(&mut self, change: &Change, old: &[u8], held: &mut HashMap<SpliceKind, usize>) -> Option<()> {
        let Change { at, text, part } = change;
        let gone = old.get(at.clone()).filter(|_| self.end <= at.start)?;
        let put_in = self.texts.get(*text)?.get(part.clone())?;
        if gone == put_in {
            return Some(());
        }
        let kept = (at.start - self.end) as u64;
        let kind = [gone.len(), *text, part.start, part.len()];
        let kinds = &mut self.kinds;
        let full = kinds.len() == KINDS;
        let number = held.get(&kind).copied().or_else(|| {
            (!full).then(|| {
                held.insert(kind, kinds.len());
                kinds.push(kind);
                kinds.len() - 1
            })
        });
        match number.map(|number| number as u64) {
            Some(number) if number < HELD => self.changes.push(kept << BITS | number),
            Some(number) => {
                self.changes.push(kept << BITS | HELD);
                self.changes.push(number - HELD);
            }
            None => {
                self.changes.push(kept << BITS | SAID);
                kind.iter().for_each(|&number| self.changes.push(number as u64));
            }
        }
        self.count += 1;
        self.places += 1;
        self.end = at.end;
        self.removed += gone.len();
        self.added += put_in.len();
        Some(())
    }

    /// Makes the plan empty if its changes together undo each other.
    fn finish(self, old: &[u8]) -> EditPlan<'t> {
        if self.composes(old) { EditPlan::default() } else { self }
    }

    /// Number of changes.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Number of places that were to be changed. It is not that of the changes: places that touch can be one change, and the lines of
    /// a place several.
    pub fn places(&self) -> usize {
        self.places
    }

    /// The same plan, made for so many places. One that changes nothing has none.
    pub fn for_places(mut self, places: usize) -> EditPlan<'t> {
        self.places = if self.count == 0 { 0 } else { places };
        self
    }

    /// Whether the result equals the old text. Stops at the first difference.
    fn composes(&self, old: &[u8]) -> bool {
        if self.len_after(old.len()) != old.len() {
            return false;
        }
        let mut splices = self.splices().peekable();
        let mut at = splices.peek().map_or(0, |first| first.at.start);
        let mut is_next = |part: &[u8]| {
            at += part.len();
            old.get(at - part.len()..at) == Some(part)
        };
        while let Some(splice) = splices.next() {
            let kept_to = splices.peek().map_or(old.len(), |next| next.at.start);
            if !is_next(&splice.text) || !is_next(&old[splice.at.end..kept_to]) {
                return false;
            }
        }
        true
    }

    /// The changes, in order.
    pub fn splices(&self) -> Splices<'_> {
        Splices { texts: &self.texts, kinds: &self.kinds, changes: self.changes.read(), end: 0 }
    }

    /// Whether the result equals the old text.
    pub fn changes_nothing(&self) -> bool {
        self.count == 0
    }

    /// Length of the result in bytes, for an old text of `len` bytes.
    pub fn len_after(&self, len: usize) -> usize {
        len - self.removed + self.added
    }

    /// Memory of the texts that are not borrowed, in bytes.
    pub(crate) fn owned_texts(&self) -> usize {
        let owned = |text: &Cow<[u8]>| if let Cow::Owned(text) = text { text.capacity() } else { 0 };
        self.texts.iter().map(owned).sum()
    }

    /// Memory in bytes, without the texts.
    pub(crate) fn memory(&self) -> usize {
        self.changes.memory()
            + self.texts.capacity() * size_of::<Cow<[u8]>>()
            + self.kinds.capacity() * size_of::<SpliceKind>()
    }

    /// The result in order, for an old text of `len` bytes: what is kept of the old text, and what is new.
    pub fn pieces<'p>(&'p self, len: usize) -> impl Iterator<Item = Piece<'p>> {
        let mut done = 0;
        let before_and_new = move |splice: Splice<'p>| {
            let kept = done..splice.at.start;
            done = splice.at.end;
            [Piece::Kept(kept), Piece::New(splice.text)]
        };
        self.splices().flat_map(before_and_new).chain([Piece::Kept(self.end..len)])
    }

    /// Writes the result in one forward pass.
    pub fn write_to(&self, old: &[u8], out: &mut impl Write) -> io::Result<()> {
        self.pieces(old.len()).try_for_each(|piece| match piece {
            Piece::Kept(range) => out.write_all(&old[range]),
            Piece::New(text) => out.write_all(&text),
        })
    }
}

/// Iterates over the changes of a plan. A copy continues where the original was.
#[derive(Debug, Clone, Copy)]
pub struct Splices<'p> {
    texts: &'p [Cow<'p, [u8]>],
    kinds: &'p [SpliceKind],
    changes: PackedReader<'p>,
    end: usize,
}

impl<'p> Iterator for Splices<'p> {
    type Item = Splice<'p>;

    fn next(&mut self) -> Option<Splice<'p>> {
        let head = self.changes.next()?;
        let [gone, text, from, len] = match head & ((1 << BITS) - 1) {
            SAID => {
                let mut kind = [0; 4];
                for number in &mut kind {
                    *number = self.changes.next()? as usize;
                }
                kind
            }
            HELD => self.kinds[(HELD + self.changes.next()?) as usize],
            number => self.kinds[number as usize],
        };
        let start = self.end + (head >> BITS) as usize;
        self.end = start + gone;
        Some(Splice { at: start..self.end, text: Cow::Borrowed(&self.texts[text][from..from + len]) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn splice(at: Range<usize>, text: &str) -> Splice<'_> {
        Splice { at, text: Cow::Borrowed(text.as_bytes()) }
    }

    fn apply(old: &str, splices: Vec<Splice>) -> Option<String> {
        let plan = EditPlan::new(splices, old.as_bytes())?;
        assert!(plan.splices().is_sorted_by(|one, other| one.at.end <= other.at.start));
        let mut out = Vec::new();
        plan.write_to(old.as_bytes(), &mut out).unwrap();
        assert_eq!(out.len(), plan.len_after(old.len()));
        assert_eq!(plan.changes_nothing(), out == old.as_bytes());
        Some(String::from_utf8(out).unwrap())
    }

    #[test]
    fn splices_insert_replace_and_delete_in_one_pass() {
        let splices = vec![splice(0..0, "<"), splice(1..3, "XYZ"), splice(4..5, ""), splice(6..6, ">")];
        assert_eq!(apply("abcdef", splices).as_deref(), Some("<aXYZdf>"));
    }

    #[test]
    fn splices_may_touch() {
        let splices = vec![splice(1..1, "x"), splice(1..2, "y"), splice(2..2, "z")];
        assert!(EditPlan::new(splices.clone(), b"abc").unwrap().splices().eq(splices.clone()));
        assert_eq!(apply("abc", splices).as_deref(), Some("axyzc"));
    }

    #[test]
    fn changes_of_many_kinds_come_back_as_they_were_put() {
        let old = "x".repeat(300_000);
        let texts: Vec<String> = (0..30_000).map(|nth| format!("{}", nth % 10_000)).collect();
        let splices: Vec<Splice> =
            texts.iter().enumerate().map(|(nth, text)| splice(10 * nth..10 * nth + nth % 7, text)).collect();
        let plan = EditPlan::new(splices.clone(), old.as_bytes()).unwrap();
        assert!(plan.splices().eq(splices));
    }

    #[test]
    fn a_million_like_changes_take_a_byte_each() {
        let old = "ab".repeat(1_000_000);
        let change = |nth: usize| Change { at: 2 * nth..2 * nth + 1, text: 0, part: 0..4 };
        let texts = [&b"long"[..]];
        let plan = EditPlan::of_parts((0..1_000_000).map(change), texts, old.as_bytes()).unwrap();
        assert!(plan.memory() < 1_100_000, "{}", plan.memory());
        let mut out = Vec::new();
        plan.write_to(old.as_bytes(), &mut out).unwrap();
        assert!(out == "longb".repeat(1_000_000).as_bytes());
    }

    #[test]
    fn overlapping_unsorted_or_too_long_splices_are_no_plan() {
        assert_eq!(apply("abc", vec![splice(0..2, ""), splice(1..3, "")]), None);
        assert_eq!(apply("abc", vec![splice(2..3, ""), splice(0..1, "")]), None);
        assert_eq!(apply("abc", vec![splice(2..4, "")]), None);
    }

    #[test]
    fn splices_that_undo_one_another_change_nothing() {
        // Found by fuzzing: in `a\na`, the first line is deleted and the same line appended.
        assert_eq!(apply("a\na", vec![splice(0..2, ""), splice(3..3, "\na")]).as_deref(), Some("a\na"));
        assert_eq!(apply("abab", vec![splice(0..2, ""), splice(4..4, "ab")]).as_deref(), Some("abab"));
        assert_eq!(apply("abab", vec![splice(0..2, ""), splice(4..4, "ac")]).as_deref(), Some("abac"));
    }

    #[test]
    fn a_splice_by_the_same_text_changes_nothing() {
        assert_eq!(apply("abc", vec![splice(1..2, "b")]).as_deref(), Some("abc"));
    }
}
