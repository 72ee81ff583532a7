//! Where an edit may cut a character in two, because it is unsure how the text is encoded (contract 25).
//!
//! Pure. Looks at the bytes of the file at the ends of the places that were found, so that it does not matter how they were.

use std::borrow::Cow;
use std::ops::Range;

use super::encoded::EncodedText;
use super::places;
use crate::encoding::{Encoding, EncodingSource, TextEncoding, first_wrong, is_mostly_utf_8};
use crate::splice::{EditPlan, Splice};
use crate::{Error, Result, Stop};

/// What a place may cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Doubt {
    /// Nothing.
    None,
    /// UTF-8 with a few wrong bytes: a character that begins with wrong bytes in front of the place.
    WrongBefore,
    /// Perhaps not UTF-8, of which the old_text is: a character that begins in front of the place.
    AnyBefore,
    /// Perhaps another encoding: a character at either end.
    BothEnds,
}

impl Doubt {
    /// The doubt that this is the encoding of the bytes.
    pub(super) fn of(text: &TextEncoding, old: &[u8], control: &dyn Stop) -> Result<Doubt> {
        if text.source == EncodingSource::WeakGuess {
            return Ok(Doubt::BothEnds);
        }
        if text.encoding != Encoding::Utf8 {
            return Ok(Doubt::None);
        }
        Ok(match first_wrong(old, || control.check())? {
            None => Doubt::None,
            Some(wrong) if text.has_mark || is_mostly_utf_8(old, wrong) => Doubt::WrongBefore,
            Some(_) => Doubt::AnyBefore,
        })
    }

    /// Fails if a place of this plan may cut a character, or its new text may become part of one.
    pub(super) fn check(self, old: &[u8], plan: &EditPlan) -> Result<()> {
        self.check_places(old, plan.splices().map(|splice| splice.at))?;
        if self != Doubt::None && !switches::is_off("doubt-joins") && self.joins(old, plan) {
            let problem = "it would stand beside a byte that is not ASCII, and may become part of a character with it, because \
                the encoding of the file is unsure; pass encoding, or begin and end the text at a blank or a line break";
            return Err(Error::InvalidArguments { at: "new_text".into(), problem: problem.into() });
        }
        Ok(())
    }

    /// Fails if one of these places of the file may cut a character.
    pub(super) fn check_places(
        self,
        old: &[u8],
        mut places: impl Iterator<Item = Range<usize>>,
    ) -> Result<()> {
        let is_cut = |at: Range<usize>| {
            self.may_cut(old, at.start) || self == Doubt::BothEnds && self.may_cut(old, at.end)
        };
        if self == Doubt::None || !places.any(is_cut) { Ok(()) } else { Err(half()) }
    }

    /// Fails if this old_text may be in the bytes where the likely encoding has halves of characters.
    pub(super) fn check_halves(self, text: &EncodedText, old_text: &str, control: &dyn Stop) -> Result<()> {
        if self != Doubt::BothEnds || !old_text.is_ascii() || switches::is_off("doubt-halves") {
            return Ok(());
        }
        self.check_places(text.old, places::find(text, old_text, control)?.iter())
    }

    /// Whether bytes that the plan puts beside each other may be one character.
    fn joins(self, old: &[u8], plan: &EditPlan) -> bool {
        let (mut end, mut before, mut is_joined) = (0, Cow::from(&b""[..]), false);
        for Splice { at, text } in plan.splices() {
            if end < at.start {
                is_joined |= self.may_join(&before, old[end]);
                before = Cow::from(&old[..at.start]);
            }
            if let Some(&first) = text.first() {
                is_joined |= self.may_join(&before, first);
                // In UTF-8, a text is whole characters.
                before = if self == Doubt::BothEnds { text } else { Cow::default() };
            }
            end = at.end;
        }
        is_joined || old.get(end).is_some_and(|&next| self.may_join(&before, next))
    }

    /// Whether a character may go on at this byte.
    fn may_cut(self, old: &[u8], at: usize) -> bool {
        let (before, from) = old.split_at(at.min(old.len()));
        from.first().is_some_and(|&next| self.may_join(before, next))
    }

    /// Whether the byte `next` may go on a character that begins at the end of `before`.
    fn may_join(self, before: &[u8], next: u8) -> bool {
        let may_go_on = next.is_ascii_digit()
            || (0x40..0x7F).contains(&next)
            || self == Doubt::BothEnds && !next.is_ascii();
        let is_open = before.last().is_some_and(|last| !last.is_ascii());
        is_open && may_go_on && !(self == Doubt::WrongBefore && ends_in_character(before))
    }
}

/// The error for a place that may cut a character.
pub(super) fn half() -> Error {
    let problem = "it stands beside a byte that is not ASCII, and may be half of a character, because the encoding of the \
        file is unsure; pass encoding, or begin and end the text at a blank or a line break";
    Error::InvalidArguments { at: "old_text".into(), problem: problem.into() }
}

/// Whether the last bytes are a character of UTF-8 that is not ASCII.
fn ends_in_character(bytes: &[u8]) -> bool {
    let is_one = |part: &[u8]| std::str::from_utf8(part).is_ok_and(|text| text.chars().count() == 1);
    (2..=4).filter_map(|len| bytes.len().checked_sub(len)).any(|start| is_one(&bytes[start..]))
}
