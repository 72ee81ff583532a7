//! Keeps a `\r` and a `\n` of two line breaks apart where what was between them goes: else a line would disappear (contract 3).
//!
//! Pure. Knows the searched text and the parts of what replaces its places, not how they are encoded.

use std::ops::Range;

use super::NewPart;

/// What stands at the end of the last place.
#[derive(Debug, Default)]
pub(super) struct End {
    /// Where the place ends in the searched text.
    at: usize,
    /// The last byte of the text up to there as it will be.
    last: Option<u8>,
    /// Where that byte ends in the searched text, if it is from there.
    of_text: Option<usize>,
}

impl End {
    /// Takes the parts of the next place, and puts a break between two bytes that would become one.
    pub(super) fn begin(&mut self, text: &[u8], at: Range<usize>, parts: &mut Vec<NewPart>) {
        if at.start != self.at {
            let last = at.start.checked_sub(1).and_then(|before| text.get(before).copied());
            *self = End { at: at.start, last, of_text: Some(at.start) };
        }
        let mut number = 0;
        while let Some(part) = parts.get(number) {
            let (bytes, range) = match part {
                NewPart::Text(new) => (new.as_bytes(), None),
                NewPart::Kept(range) => (text.get(range.clone()).unwrap_or_default(), Some(range.clone())),
            };
            if let (Some(&first), Some(&last)) = (bytes.first(), bytes.last()) {
                let is_joined = self.joins(first, range.as_ref().map(|range| range.start));
                (self.last, self.of_text) = (Some(last), range.map(|range| range.end));
                if is_joined {
                    parts.insert(number, NewPart::Text("\n".into()));
                    number += 1;
                }
            }
            number += 1;
        }
        self.at = at.end;
    }

    /// Whether a break must stand behind the last place. `next`: where the next place begins.
    pub(super) fn needs_break(&self, text: &[u8], next: Option<usize>) -> bool {
        let behind = text.get(self.at).filter(|_| next != Some(self.at));
        behind.is_some_and(|byte| self.joins(*byte, Some(self.at)))
    }

    /// Whether a byte, which begins at this place of the searched text, becomes one break with what is before it and was none.
    fn joins(&self, byte: u8, from: Option<usize>) -> bool {
        let were_one = from.is_some() && from == self.of_text;
        self.last == Some(b'\r') && byte == b'\n' && !were_one && !switches::is_off("breaks-stay-two")
    }
}
