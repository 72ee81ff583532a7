//! Replaces places of a text that a search has found, in any encoding (contract 19, `replace`).
//!
//! Pure. A place is replaced by new text and by parts of itself. Only new text is encoded: the bytes of those parts stay as they are,
//! also where they are no character, and so do all bytes that are in no place.

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use super::decoded::{Before, DecodedText, OfFile, Place, inside_character};
use super::doubt::{Doubt, half};
use super::encoded::{EncodedText, lacking_in_part};
use super::escapes::keeps_no_state;
use super::rewrite::no_text;
use crate::budget::{Budget, Share};
use crate::encoding::{Encoding, EncodingChoice, EncodingSource, Likely, TextEncoding, first_wrong};
use crate::splice::{Change, EditPlan};
use crate::text_edit::{Breaks, MAX_REPLACEMENTS};
use crate::{Error, Result, Stop};

/// The longest text that is decoded, in bytes. A longer one is searched as UTF-8.
pub const MAX_DECODED: usize = 64 << 20;

/// Maximum number of places of a text.
pub const MAX_PLACES: u64 = MAX_REPLACEMENTS;

/// Memory that is counted for each byte of a text that is decoded, and for each place.
const FOR_BYTE: usize = 4;
const FOR_PLACE: usize = 96;

/// Different new texts that are kept once each.
const KEPT_ONCE: usize = 1_024;

/// A part of what replaces a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NewPart<'p> {
    /// A new text.
    Text(Cow<'p, str>),
    /// These bytes of the searched text, which are in the place.
    Kept(Range<usize>),
}

/// The text of a file as it is searched: in UTF-8, with U+FFFD for what is no character.
pub struct SearchedText<'o> {
    of: EncodedText<'o>,
    /// `None`: it is searched as it is.
    decoded: Option<DecodedText<'o>>,
    doubt: Doubt,
    /// Memory that is held for it.
    pub held: Share,
}

impl<'o> SearchedText<'o> {
    /// The text of the file `name`, whose bytes are `old`, encoded as `text` says. `is_ascii`: the pattern, and all text that is put in, is
    /// ASCII, so that an unsure guess of the encoding is enough.
    ///
    /// # Errors
    ///
    /// [`Error::OtherEncoding`] if the guess is not enough, [`Error::NotInParts`] for an encoding that keeps a state between characters,
    /// [`Error::Busy`] without memory.
    pub fn new(
        text: TextEncoding,
        (name, old): (&str, &'o [u8]),
        is_ascii: bool,
        memory: &Budget,
        control: &dyn Stop,
    ) -> Result<SearchedText<'o>> {
        let encoding = text.encoding;
        keeps_no_state(encoding)?;
        if text.source == EncodingSource::WeakGuess && !is_ascii {
            let likely = Likely::Text { choice: EncodingChoice::Is(encoding), is_sure: false };
            return Err(no_text(name, old, Some(likely)));
        }
        let doubt = Doubt::of(&text, old, control)?;
        let of = EncodedText { encoding, old, start: text.mark().len() };
        let is_as_it_is = encoding == Encoding::Utf8
            && (old.len() > MAX_DECODED || first_wrong_character(old, control)?.is_none());
        let mut held = memory.share();
        if !is_as_it_is && !held.grow(SearchedText::memory_for(old.len())) {
            return Err(Error::Busy);
        }
        let decoded = if is_as_it_is { None } else { Some(DecodedText::new(of, control)?) };
        Ok(SearchedText { of, decoded, doubt, held })
    }

    /// The memory that a text of so many bytes takes at most.
    pub fn memory_for(bytes: usize) -> usize {
        FOR_BYTE * bytes
    }

    /// Whether its characters may be single bytes, although they are read as longer ones.
    pub fn may_be_halves(&self) -> bool {
        self.doubt == Doubt::BothEnds && self.of.encoding.is_multibyte()
    }

    /// The text in UTF-8.
    pub fn bytes(&self) -> &[u8] {
        match &self.decoded {
            Some(decoded) => decoded.text().as_bytes(),
            None => &self.of.old[self.of.start..],
        }
    }

    /// Where these bytes of it are in a file that is searched as it is.
    fn as_it_is(&self, at: &Range<usize>) -> Range<usize> {
        at.start + self.of.start..at.end + self.of.start
    }

    /// To replace places of it.
    pub fn replacing(&self) -> Replacing<'_> {
        let (place, changes, texts, numbers) = Default::default();
        let breaks = Breaks::new(self.bytes());
        let has_breaks = memchr::memchr2(b'\n', b'\r', self.bytes()).is_some();
        Replacing { text: self, place, changes, texts, numbers, breaks, has_breaks, held: 0 }
    }
}

/// Where the first bytes are that are no character of UTF-8. NUL is one.
pub(super) fn first_wrong_character(old: &[u8], control: &dyn Stop) -> Result<Option<usize>> {
    let mut from = 0;
    while let Some(wrong) = first_wrong(&old[from..], || control.check())? {
        if old[from + wrong] != 0 {
            return Ok(Some(from + wrong));
        }
        from += wrong + 1;
    }
    Ok(None)
}

/// The replacements of one text, one after the other.
pub struct Replacing<'s> {
    text: &'s SearchedText<'s>,
    place: Place,
    changes: Vec<(Change, Before)>,
    texts: Vec<Vec<u8>>,
    /// The numbers of the first texts.
    numbers: HashMap<Vec<u8>, usize>,
    breaks: Breaks<'s>,
    has_breaks: bool,
    /// Bytes of memory that it needs.
    pub held: usize,
}

impl Replacing<'_> {
    /// Replaces the bytes `at` of the searched text, behind all places before, by these parts. A break in new text gets the kind of the
    /// line where the place begins.
    ///
    /// # Errors
    ///
    /// [`Error::Unencodable`] for a new text, [`Error::InvalidArguments`] for a place that begins or ends inside a character of the file,
    /// or one too many.
    pub fn add(&mut self, at: Range<usize>, mut parts: Vec<NewPart>) -> Result<()> {
        if self.changes.len() as u64 == MAX_PLACES {
            let problem = "it is in more than 1,000,000 places; expected a pattern that is in fewer";
            return Err(Error::InvalidArguments { at: "old_text".into(), problem: problem.into() });
        }
        self.give_breaks(&at, &mut parts);
        let OfFile { bytes, first } = self.of_file(at)?;
        let new = self.new_bytes(first, &parts)?;
        let text = self.number(new);
        self.held += FOR_PLACE;
        self.changes.push((Change { at: bytes, text, part: 0..self.texts[text].len() }, first.recent));
        Ok(())
    }

    /// Fails if a place that a search of the bytes of the file has found is in none of these places: it begins or ends beside what is half
    /// of a character in the likely encoding, and is none in another. Both are in order.
    pub fn check_halves(&self, in_bytes: &[Range<usize>]) -> Result<()> {
        let mut changes = self.changes.iter().map(|(change, _)| &change.at).peekable();
        let mut is_in_one = |place: &Range<usize>| {
            while changes.next_if(|at| at.end < place.end).is_some() {}
            changes.peek().is_some_and(|at| at.start <= place.start && place.end <= at.end)
        };
        if switches::is_off("replace-halves") || in_bytes.iter().all(&mut is_in_one) {
            Ok(())
        } else {
            Err(half())
        }
    }

    /// What all of them change in the bytes of the file, and the memory that is held for that.
    pub fn finish(self, memory: &Budget) -> Result<(EditPlan<'static>, Share)> {
        let Replacing { text, changes, texts, held, .. } = self;
        let mut share = memory.share();
        if !share.grow(held) {
            return Err(Error::Busy);
        }
        if let Some(decoded) = &text.decoded {
            decoded.joins_nothing(&changes, &texts)?;
        }
        let old = text.of.old;
        let changes = changes.into_iter().map(|(change, _)| change);
        let plan = EditPlan::of_parts(changes, texts, old).ok_or_else(inside_character)?;
        text.doubt.check(old, &plan)?;
        Ok((plan.into_encoding(text.of.encoding), share))
    }

    fn of_file(&mut self, at: Range<usize>) -> Result<OfFile> {
        match &self.text.decoded {
            Some(decoded) => decoded.bytes_at(&mut self.place, at),
            None => Ok(OfFile { bytes: self.text.as_it_is(&at), first: Place::default() }),
        }
    }

    /// The bytes of what replaces a place that begins at `first`.
    fn new_bytes(&self, first: Place, parts: &[NewPart]) -> Result<Vec<u8>> {
        let (of, mut out) = (&self.text.of, Vec::new());
        for part in parts {
            match (part, &self.text.decoded) {
                (NewPart::Text(text), None) => out.extend_from_slice(text.as_bytes()),
                (NewPart::Text(text), Some(_)) => {
                    let lacks = |lacking| lacking_in_part(of.encoding, lacking);
                    of.encoding.encode(text, &mut out).map_err(lacks)?;
                }
                (NewPart::Kept(range), None) => out.extend_from_slice(&of.old[self.text.as_it_is(range)]),
                (NewPart::Kept(range), Some(decoded)) => {
                    let kept = decoded.bytes_at(&mut { first }, range.clone())?;
                    out.extend_from_slice(&of.old[kept.bytes]);
                }
            }
        }
        Ok(out)
    }

    /// Gives the breaks of new text the kind of their line. A `\r` and a `\n` of two breaks would become one: then a `\n` is `\r\n`.
    fn give_breaks(&mut self, at: &Range<usize>, parts: &mut [NewPart]) {
        let is_break = |text: &str| memchr::memchr2(b'\n', b'\r', text.as_bytes()).is_some();
        let has = |part: &NewPart| matches!(part, NewPart::Text(text) if is_break(text));
        if !self.has_breaks || !parts.iter().any(has) {
            return;
        }
        let old = self.text.bytes();
        let brk = std::str::from_utf8(self.breaks.behind(at.start)).unwrap_or("\n");
        let mut last = old[..at.start].last().copied();
        for part in parts.iter_mut() {
            match part {
                NewPart::Kept(range) => last = old[range.clone()].last().copied().or(last),
                NewPart::Text(text) => {
                    let given = text.replace("\r\n", "\n").replace('\r', "\n");
                    let mut out = String::with_capacity(given.len());
                    for (number, line) in given.split('\n').enumerate() {
                        if number > 0 {
                            let follows_return = out.as_bytes().last().copied().or(last) == Some(b'\r');
                            out.push_str(if brk == "\n" && follows_return { "\r\n" } else { brk });
                        }
                        out.push_str(line);
                    }
                    last = out.as_bytes().last().copied().or(last);
                    *text = Cow::Owned(out);
                }
            }
        }
        if let Some(NewPart::Text(text)) = parts.last_mut()
            && text.ends_with('\r')
            && old.get(at.end) == Some(&b'\n')
        {
            text.to_mut().push('\n');
        }
    }

    /// The number of a new text.
    fn number(&mut self, new: Vec<u8>) -> usize {
        if let Some(number) = self.numbers.get(&new) {
            return *number;
        }
        let number = self.texts.len();
        if number < KEPT_ONCE {
            self.numbers.insert(new.clone(), number);
        }
        self.held += new.capacity();
        self.texts.push(new);
        number
    }
}

impl std::fmt::Debug for SearchedText<'_> {
    fn fmt(&self, out: &mut std::fmt::Formatter) -> std::fmt::Result {
        out.debug_struct("SearchedText").field("held", &self.held).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Replacing<'_> {
    fn fmt(&self, out: &mut std::fmt::Formatter) -> std::fmt::Result {
        out.debug_struct("Replacing").field("places", &self.changes.len()).finish_non_exhaustive()
    }
}
