//! Where an edit may cut a character in two, because it is unsure how the text is encoded (contract 25).
//!
//! Pure. Looks at the bytes of the file at the ends of the places that were found, so that it does not matter how they were.

use std::ops::Range;

use crate::encoding::{Encoding, EncodingSource, TextEncoding, first_wrong, is_mostly_utf_8};
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
            Some(wrong) if is_mostly_utf_8(old, wrong) => Doubt::WrongBefore,
            Some(_) => Doubt::AnyBefore,
        })
    }

    /// Fails if one of these places of the file may cut a character.
    pub(super) fn check(self, old: &[u8], mut places: impl Iterator<Item = Range<usize>>) -> Result<()> {
        let is_cut = |at: Range<usize>| {
            self.may_cut(old, at.start) || self == Doubt::BothEnds && self.may_cut(old, at.end)
        };
        if self == Doubt::None || !places.any(is_cut) {
            return Ok(());
        }
        let problem = "it stands beside a byte that is not ASCII, and may be half of a character, because the encoding of the \
            file is unsure; pass encoding, or begin and end the text at a blank or a line break";
        Err(Error::InvalidArguments { at: "old_text".into(), problem: problem.into() })
    }

    /// Whether a character may go on at this byte.
    fn may_cut(self, old: &[u8], at: usize) -> bool {
        let (before, from) = old.split_at(at.min(old.len()));
        let (Some(last), Some(&next)) = (before.last(), from.first()) else { return false };
        let may_go_on = next.is_ascii_digit()
            || (0x40..0x7F).contains(&next)
            || self == Doubt::BothEnds && !next.is_ascii();
        !last.is_ascii() && may_go_on && !(self == Doubt::WrongBefore && ends_in_character(before))
    }
}

/// Whether the last bytes are a character of UTF-8 that is not ASCII.
fn ends_in_character(bytes: &[u8]) -> bool {
    let is_one = |part: &[u8]| std::str::from_utf8(part).is_ok_and(|text| text.chars().count() == 1);
    (2..=4).filter_map(|len| bytes.len().checked_sub(len)).any(|start| is_one(&bytes[start..]))
}
