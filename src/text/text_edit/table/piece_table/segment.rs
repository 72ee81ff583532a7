//! A segment: adjacent bytes of one source. And a compact form for a sequence of segments.
//!
//! A call may make a million replacements, which leave as many segments of the old text. So each segment is
//! written as its difference from the one before.

use crate::packed::{read, write};

/// Stands for no address.
pub(super) const NOWHERE: usize = usize::MAX;

/// Stands for no edit: the old text.
const OLD: u32 = u32::MAX;

/// Number of recent insertions that are remembered while a sequence is written or read.
const RECENT: usize = 8;

/// A part of the old text or of the inserted text of an edit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Segment {
    /// Length in bytes, at least one.
    pub(super) len: usize,
    /// The edit, or [`OLD`].
    edit: u32,
    /// Its start in its source; in the old text, that is its address.
    pub(super) from: usize,
    /// Its position in the old text, or the one at which the edit inserted it. Never decreases along a text.
    pub(super) old_at: usize,
    /// The address of the first byte, or [`NOWHERE`].
    pub(super) address: usize,
}

impl Segment {
    pub(super) fn old(at: usize, len: usize) -> Segment {
        Segment { len, edit: OLD, from: at, old_at: at, address: at }
    }

    pub(super) fn new(edit: u32, old_at: usize, len: usize, address: usize) -> Segment {
        Segment { len, edit, from: 0, old_at, address }
    }

    /// The edit that inserted it; `None` for the old text.
    pub(super) fn edit(&self) -> Option<u32> {
        (self.edit != OLD).then_some(self.edit)
    }

    /// Its first `len` bytes.
    pub(super) fn first(self, len: usize) -> Segment {
        Segment { len, ..self }
    }

    /// All but its first `len` bytes.
    pub(super) fn behind(self, len: usize) -> Segment {
        let moved = |at: usize, by: usize| if at == NOWHERE { at } else { at + by };
        Segment {
            len: self.len - len,
            from: self.from + len,
            old_at: if self.edit == OLD { self.old_at + len } else { self.old_at },
            address: moved(self.address, len),
            ..self
        }
    }

    /// Whether it contains the byte with this address.
    pub(super) fn holds(&self, address: usize) -> bool {
        self.address != NOWHERE && self.address <= address && address - self.address < self.len
    }
}

/// State while a sequence of segments is written or read.
#[derive(Debug)]
struct RecentSources {
    /// The end of the last segment in the old text.
    old: usize,
    /// Edit, start and length of recent insertions. The next one overwrites the oldest.
    recent: [(u32, usize, usize); RECENT],
    next: usize,
}

impl RecentSources {
    fn new(old: usize) -> RecentSources {
        RecentSources { old, recent: [(OLD, 0, 0); RECENT], next: 0 }
    }

    fn remember(&mut self, put_in: (u32, usize, usize)) {
        self.recent[self.next] = put_in;
        self.next = (self.next + 1) % RECENT;
    }
}

// The two lowest bits of a number say what follows.
const KEPT: u64 = 0; // the old text continues; the number of bytes
const SKIPPED: u64 = 1; // the number of deleted bytes of the old text; then how many bytes follow
const AS_BEFORE: u64 = 2; // three bits: which recent insertion; then the number of deleted bytes
const PUT_IN: u64 = 3; // a bit: has an address; length; then deleted bytes, edit, start, address

/// Writes a sequence of segments.
#[derive(Debug)]
pub(super) struct Writer {
    tokens: Vec<u8>,
    known: RecentSources,
}

impl Writer {
    /// For segments after the position `old` of the old text. Clears `room` and uses it as the buffer.
    pub(super) fn new(mut room: Vec<u8>, old: usize) -> Writer {
        room.clear();
        Writer { tokens: room, known: RecentSources::new(old) }
    }

    pub(super) fn push(&mut self, segment: &Segment) {
        let gone = (segment.old_at - self.known.old) as u64;
        let put_in = (segment.edit, segment.from, segment.len);
        let out = &mut self.tokens;
        if segment.edit == OLD {
            let len = segment.len as u64;
            if gone == 0 {
                write(out, len << 2 | KEPT);
            } else {
                write(out, gone << 2 | SKIPPED);
                write(out, len);
            }
            self.known.old = segment.old_at + segment.len;
            return;
        }
        let addressed = segment.address != NOWHERE;
        match self.known.recent.iter().position(|recent| !addressed && *recent == put_in) {
            Some(slot) => write(out, gone << 5 | (slot as u64) << 2 | AS_BEFORE),
            None => {
                write(out, (segment.len as u64) << 3 | u64::from(addressed) << 2 | PUT_IN);
                [gone, segment.edit.into(), segment.from as u64]
                    .iter()
                    .for_each(|&number| write(out, number));
                if addressed {
                    write(out, segment.address as u64);
                } else {
                    self.known.remember(put_in);
                }
            }
        }
        self.known.old = segment.old_at;
    }

    pub(super) fn finish(self) -> Vec<u8> {
        self.tokens
    }
}

/// Reads a sequence of segments.
#[derive(Debug)]
pub(super) struct SegmentReader<T> {
    tokens: T,
    at: usize,
    known: RecentSources,
}

impl<T: AsRef<[u8]>> SegmentReader<T> {
    /// Reads `tokens`, which were written after the position `old` of the old text.
    pub(super) fn new(tokens: T, old: usize) -> SegmentReader<T> {
        SegmentReader { tokens, at: 0, known: RecentSources::new(old) }
    }

    fn number(&mut self) -> Option<u64> {
        read(self.tokens.as_ref(), &mut self.at)
    }
}

impl<T: AsRef<[u8]>> Iterator for SegmentReader<T> {
    type Item = Segment;

    fn next(&mut self) -> Option<Segment> {
        // All numbers were written from values of these types.
        let head = self.number()?;
        let segment = match head & 3 {
            KEPT => Segment::old(self.known.old, (head >> 2) as usize),
            SKIPPED => Segment::old(self.known.old + (head >> 2) as usize, self.number()? as usize),
            AS_BEFORE => {
                let (edit, from, len) = self.known.recent[(head >> 2) as usize % RECENT];
                let old_at = self.known.old + (head >> 5) as usize;
                Segment { len, edit, from, old_at, address: NOWHERE }
            }
            _ => {
                let len = (head >> 3) as usize;
                let old_at = self.known.old + self.number()? as usize;
                let (edit, from) = (self.number()? as u32, self.number()? as usize);
                let address = if head >> 2 & 1 == 1 { self.number()? as usize } else { NOWHERE };
                if address == NOWHERE {
                    self.known.remember((edit, from, len));
                }
                Segment { len, edit, from, old_at, address }
            }
        };
        self.known.old = if segment.edit == OLD { segment.old_at + segment.len } else { segment.old_at };
        Some(segment)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn written(segments: &[Segment], old: usize) -> Vec<u8> {
        let mut writer = Writer::new(Vec::new(), old);
        segments.iter().for_each(|segment| writer.push(segment));
        writer.finish()
    }

    #[test]
    fn like_replacements_take_three_bytes_each_and_those_that_touch_one() {
        let put_in = |at| Segment::new(7, at, 40, NOWHERE);
        let apart: Vec<_> =
            (0..1000).flat_map(|nth| [put_in(2 * nth), Segment::old(2 * nth + 1, 1)]).collect();
        assert!(written(&apart, 0).len() < 3_010);
        let touching: Vec<_> = (0..1000).map(put_in).collect();
        assert!(written(&touching, 0).len() < 1_010);
    }

    proptest! {
        #[test]
        fn a_row_reads_as_it_was_written(
            old in 0..1000usize,
            steps in prop::collection::vec((any::<bool>(), 0..300usize, 1..300usize, 0..4u32, 0..3usize, any::<bool>()), 0..80),
        ) {
            let (mut at, mut segments) = (old, Vec::new());
            for (is_old, gone, len, edit, from, addressed) in steps {
                at += gone;
                if is_old {
                    segments.push(Segment::old(at, len));
                    at += len;
                } else {
                    let address = if addressed { 1_000_000 + at } else { NOWHERE };
                    segments.push(Segment { from, ..Segment::new(edit, at, len, address) });
                }
            }
            let tokens = written(&segments, old);
            prop_assert_eq!(SegmentReader::new(&tokens, old).collect::<Vec<_>>(), segments);
        }
    }
}
