//! A text decoded so that an edit of it can be planned, and the plan as a change of the encoded bytes.
//!
//! Pure. Only what a plan replaces is encoded; all other bytes stay, also those that are no character. Such bytes are U+FFFD
//! in the decoded text, and no edit names them.

use std::ops::Range;

use super::encoded::{EncodedText, lacking_in_part};
use crate::encoding::{DecodeError, Decoder, Encoding, Malformed};
use crate::splice::{Change, EditPlan, Splice};
use crate::{Error, Result, Stop};

/// Bytes that are decoded at once.
const STRETCH: usize = 4 << 10;

/// Bytes of the longest character.
const LONGEST: usize = 4;

/// What stands for bytes that are no character.
const WRONG: char = '\u{fffd}';

/// See the module.
pub(super) struct DecodedText<'o> {
    of: EncodedText<'o>,
    text: String,
    /// Where stretches that can be decoded alone begin, in the text and in the bytes of the file.
    stretches: Vec<(usize, usize)>,
    has_wrong: bool,
}

impl<'o> DecodedText<'o> {
    /// Decodes a text without NUL characters.
    pub(super) fn new(of: EncodedText<'o>, control: &dyn Stop) -> Result<DecodedText<'o>> {
        let mut decoded = DecodedText { of, text: String::new(), stretches: Vec::new(), has_wrong: false };
        let mut at = of.start;
        while at < of.old.len() {
            control.check()?;
            let end = stretch_end(of.encoding, of.old, at);
            decoded.stretches.push((decoded.text.len(), at));
            decoded.add(&of.old[at..end]);
            at = end;
        }
        Ok(decoded)
    }

    fn add(&mut self, stretch: &[u8]) {
        if let Ok(text) = self.of.encoding.decode(stretch) {
            self.text.push_str(&text);
            return;
        }
        let mut rest = stretch;
        while !rest.is_empty() {
            let first = First::of(self.of.encoding, rest);
            self.text.push_str(&first.text);
            self.has_wrong |= first.is_wrong;
            rest = &rest[first.len..];
        }
    }

    /// The text in UTF-8.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Fails for an old_text that would fit bytes that are no character.
    pub(super) fn check_old_text(&self, old_text: &str) -> Result<()> {
        if !self.has_wrong || !old_text.contains(WRONG) {
            return Ok(());
        }
        let problem =
            "it is not in the file: U+FFFD stands for bytes that are no character; expected text without it";
        Err(Error::InvalidArguments { at: "old_text".into(), problem: problem.into() })
    }

    /// A plan of the decoded text as one of the bytes of the file.
    pub(super) fn encoded(&self, plan: &EditPlan, control: &dyn Stop) -> Result<EditPlan<'static>> {
        let (mut changes, mut texts) = (Vec::new(), Vec::new());
        let mut last: Option<Vec<u8>> = None;
        let mut place = Place::default();
        for splice in plan.splices() {
            control.check()?;
            let Splice { at, text } = self.of_characters(splice);
            let OfFile { bytes: at, first } = self.bytes_at(&mut place, at)?;
            if last.as_deref() != Some(&*text) {
                texts.push(self.encode(&text)?);
                last = Some(text.into_owned());
            }
            let text = texts.len() - 1;
            changes.push((Change { at, text, part: 0..texts[text].len() }, first.recent));
        }
        self.joins_nothing(&changes, &texts)?;
        let changes = changes.into_iter().map(|(change, _)| change);
        let encoded = EditPlan::of_parts(changes, texts, self.of.old).ok_or_else(inside_character)?;
        Ok(encoded.for_places(plan.places()))
    }

    /// The same change, made longer until it begins and ends at characters of the text.
    fn of_characters<'s>(&self, splice: Splice<'s>) -> Splice<'s> {
        let bytes = self.text.as_bytes();
        let Splice { at: Range { mut start, mut end }, mut text } = splice;
        while !self.text.is_char_boundary(start) {
            start -= 1;
            text.to_mut().insert(0, bytes[start]);
        }
        while !self.text.is_char_boundary(end) {
            text.to_mut().push(bytes[end]);
            end += 1;
        }
        Splice { at: start..end, text }
    }

    /// Where these bytes of the text are in the file. Places are asked for in order.
    pub(super) fn bytes_at(&self, place: &mut Place, of_text: Range<usize>) -> Result<OfFile> {
        let start = self.byte_at(place, of_text.start)?;
        let first = *place;
        Ok(OfFile { bytes: start..self.byte_at(place, of_text.end)?, first })
    }

    fn encode(&self, text: &[u8]) -> Result<Vec<u8>> {
        let (encoding, mut out) = (self.of.encoding, Vec::new());
        let text = std::str::from_utf8(text).map_err(|_| inside_character())?;
        encoding.encode(text, &mut out).map_err(|lacking| lacking_in_part(encoding, lacking))?;
        Ok(out)
    }

    /// The byte of the file at which this place of the text is. Places are asked for in order.
    fn byte_at(&self, place: &mut Place, wanted: usize) -> Result<usize> {
        let next = |number: usize| self.stretches.get(number).filter(|(text, _)| *text <= wanted);
        if place.next == 0 {
            *place = Place { byte: self.of.start, ..Place::default() };
        }
        while let Some((text, byte)) = next(place.next) {
            *place = Place { next: place.next + 1, text: *text, byte: *byte, recent: [usize::MAX; 3] };
        }
        while place.text < wanted {
            let first = First::of(self.of.encoding, &self.of.old[place.byte..]);
            place.recent = [place.recent[1], place.recent[2], place.byte];
            place.byte += first.len.max(1);
            place.text += first.text.len();
        }
        if place.text == wanted { Ok(place.byte) } else { Err(inside_character()) }
    }

    /// Fails if bytes before a change that are no character would become part of one. Changes that touch are made together.
    pub(super) fn joins_nothing(&self, changes: &[(Change, Before)], texts: &[Vec<u8>]) -> Result<()> {
        if !self.has_wrong {
            return Ok(());
        }
        let mut changes = changes.iter().peekable();
        while let Some((Change { at, text, .. }, recent)) = changes.next() {
            let (mut end, mut new) = (at.end, texts[*text].clone());
            while let Some((next, _)) = changes.next_if(|(next, _)| next.at.start == end) {
                end = next.at.end;
                new.extend_from_slice(&texts[next.text]);
            }
            let after = self.of.old.get(end..).unwrap_or_default();
            new.extend_from_slice(&after[..after.len().min(LONGEST)]);
            for from in recent.iter().filter(|from| **from < at.start && **from + LONGEST > at.start) {
                if goes_on(self.of.encoding, &self.of.old[*from..at.start], &new) {
                    return Err(self.of.unfinished(*from..at.start));
                }
            }
        }
        Ok(())
    }
}

/// A place in both texts. `recent` are the bytes where the last characters before it begin.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Place {
    /// The number of the stretch behind it.
    next: usize,
    text: usize,
    byte: usize,
    pub(super) recent: Before,
}

/// Bytes of the file, and the place where they begin.
pub(super) struct OfFile {
    pub(super) bytes: Range<usize>,
    pub(super) first: Place,
}

/// Where the last characters before a place begin, in bytes of the file.
pub(super) type Before = [usize; 3];

pub(super) fn inside_character() -> Error {
    let problem = "it begins or ends inside a character of the encoding; expected whole characters";
    Error::InvalidArguments { at: "old_text".into(), problem: problem.into() }
}

/// Whether a character that begins with `part` goes on in the bytes `new`.
fn goes_on(encoding: Encoding, part: &[u8], new: &[u8]) -> bool {
    let joined = [part, &new[..new.len().min(LONGEST)]].concat();
    First::of(encoding, &joined).len > part.len()
}

/// The bytes at the end of a text that begin a character which goes on in the bytes `new`.
pub(super) fn unfinished_end(text: &EncodedText, new: &[u8]) -> Option<Range<usize>> {
    let (old, encoding) = (text.old, text.encoding);
    let whole =
        old[text.start..].iter().rposition(|byte| *byte < b'0').map_or(text.start, |at| text.start + at + 1);
    let mut at = whole;
    while at < old.len() {
        if at + LONGEST > old.len() && goes_on(encoding, &old[at..], new) {
            return Some(at..old.len());
        }
        at += First::of(encoding, &old[at..]).len.max(1);
    }
    None
}

/// The end of a stretch that can be decoded alone, from a character on.
fn stretch_end(encoding: Encoding, bytes: &[u8], from: usize) -> usize {
    let most = from + STRETCH;
    if most >= bytes.len() {
        return bytes.len();
    }
    // No byte below the digits is part of a longer character.
    let is_whole = |byte: &u8| *byte < b'0';
    match encoding {
        Encoding::Utf16Le | Encoding::Utf16Be => {
            let high = if encoding == Encoding::Utf16Le { bytes[most - 1] } else { bytes[most - 2] };
            most - if high & 0xFC == 0xD8 { 2 } else { 0 }
        }
        encoding if encoding == Encoding::Utf8 || encoding.is_multibyte() => {
            let within = bytes[from..most].iter().rposition(is_whole).map(|at| from + at + 1);
            let behind = || bytes[most..].iter().position(is_whole).map(|at| most + at + 1);
            within.or_else(behind).unwrap_or(bytes.len())
        }
        _ => most,
    }
}

/// The first character of bytes that begin at one.
struct First {
    len: usize,
    text: String,
    is_wrong: bool,
}

impl First {
    fn of(encoding: Encoding, bytes: &[u8]) -> First {
        let (mut decoder, mut text) = (Decoder::new(encoding), String::new());
        let most = bytes.len().min(LONGEST);
        let wrong = |error: DecodeError| First {
            len: match error {
                DecodeError::Undecodable(wrong) => wrong.bytes.len().max(1),
                DecodeError::Nul => encoding.unit(),
            },
            text: WRONG.into(),
            is_wrong: true,
        };
        let mut at = 0;
        while at < most {
            let next = most.min(at + encoding.unit());
            if let Err(error) = decoder.push(&bytes[at..next], &mut text) {
                return wrong(error);
            }
            at = next;
            if !text.is_empty() {
                return First { len: at, text, is_wrong: false };
            }
        }
        match decoder.finish(&mut text) {
            Err(error) => wrong(error),
            Ok(()) => First { len: most, text, is_wrong: false },
        }
    }
}

impl EncodedText<'_> {
    /// The error for bytes that would become part of another character.
    pub(super) fn unfinished(&self, at: Range<usize>) -> Error {
        let is_utf_16 = self.encoding.unit() == 2;
        self.malformed(at, if is_utf_16 { Malformed::LoneSurrogate } else { Malformed::Incomplete })
    }
}
