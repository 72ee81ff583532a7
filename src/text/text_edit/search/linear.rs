//! Searches an old_text at a cost that does not depend on the contents: a few passes over the text.
//!
//! Pure. Searches the whole old_text by `memmem`, which is linear. Where line breaks matter, it compares
//! symbols instead of bytes: each break of the text is one symbol, so no match starts or ends inside one.
//! Where a break matches any other, all breaks are the same symbol.

use memchr::memmem::Finder;

use crate::text_edit::search::haystack::Haystacks;
use crate::text_edit::table::cursor::Cursor;
use crate::text_edit::table::matches::Sought;
use crate::text_edit::table::piece_table::PieceTable;
use crate::text_edit::work;
use crate::{Error, Result, Stop};

/// The symbol of a `\r\n` where breaks differ. No text holds this byte.
const CRLF: u8 = 0;

/// Symbols read at once, less the overlap, if the old_text is not longer.
const BLOCK: usize = 64 * 1024;

/// Limits of the work at positions where only the kind of a break differs: passes over the text and the
/// old_text, and bytes compared in any text.
const PASSES: usize = 64;
const LEAST: usize = 64 << 20;

/// How the line breaks of a pattern match.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum LineBreaks {
    AsGiven,
    /// Each `\n` or `\r\n` matches any break.
    Any,
}

/// How many matches the caller wants.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wanted {
    /// The search ends after more matches than these.
    pub(crate) enough: u64,
    /// Maximum number of matches returned.
    pub(crate) keep: usize,
}

/// The matches of `text`, which must not be empty.
pub(crate) fn search(
    text: &[u8],
    breaks: LineBreaks,
    pieces: &PieceTable,
    wanted: Wanted,
    control: &dyn Stop,
) -> Result<Sought> {
    // As given, only a break at an end of the pattern can be half a break of the text.
    let by_bytes = breaks == LineBreaks::AsGiven && text[0] != b'\n' && text[text.len() - 1] != b'\r';
    if by_bytes {
        search_bytes(text, pieces, wanted, control)
    } else {
        Symbols::new(text, breaks, pieces).search(wanted, control)
    }
}

/// The matches of `text`, byte by byte. `text` must not start or end with half a break.
pub(crate) fn search_bytes(
    text: &[u8],
    pieces: &PieceTable,
    wanted: Wanted,
    control: &dyn Stop,
) -> Result<Sought> {
    let mut sought = Sought::default();
    if pieces.len() < text.len() {
        return Ok(sought);
    }
    let finder = Finder::new(text);
    let mut haystacks = Haystacks::new(pieces, text.len());
    let mut taken = 0;
    while let Some(mut haystack) = haystacks.next() {
        control.check()?;
        let mut at = taken;
        let starts = &haystack.bytes[..haystack.bytes.len().min(haystack.starts + text.len() - 1)];
        while let Some(skipped) = starts.get(at..).and_then(|rest| finder.find(rest)) {
            let place = at + skipped;
            at = place + text.len();
            if sought.count < wanted.keep as u64 {
                let (start, end) = haystack.match_at(place, text.len());
                sought.add(start, end, wanted.keep);
            } else {
                // Further matches are only counted.
                sought.count += 1;
                if let &[byte] = text {
                    sought.count += memchr::memchr_iter(byte, &starts[at..]).count() as u64;
                    at = starts.len();
                }
            }
            if wanted.enough < sought.count {
                return Ok(sought);
            }
            if sought.count % 65_536 == 0 {
                control.check()?;
            }
        }
        // `memmem` reads each byte a few times at most.
        work::count(starts.len());
        taken = at.saturating_sub(haystack.starts);
    }
    Ok(sought)
}

/// The symbols of the line breaks.
#[derive(Debug, Clone, Copy)]
struct Code {
    crlf: u8,
    cr: u8,
}

/// Symbols that keep the kind of each break: a lone `\r` in the old_text matches no other break.
const KINDS: Code = Code { crlf: b'\n', cr: b'\r' };

/// The search by symbols.
struct Symbols<'s, 't> {
    pieces: &'s PieceTable<'t>,
    code: Code,
    needle: Vec<u8>,
    /// The pattern with the kinds of its breaks, if some breaks do not match any break.
    kinds: Option<Vec<u8>>,
    /// Remaining limit of bytes compared for the kinds of breaks.
    left: usize,
}

/// A position in the text, and the number of symbols before it.
#[derive(Clone, Copy)]
struct SymbolCursor {
    cursor: Cursor,
    symbols: usize,
}

impl<'s, 't> Symbols<'s, 't> {
    fn new(text: &[u8], breaks: LineBreaks, pieces: &'s PieceTable<'t>) -> Symbols<'s, 't> {
        let code = match breaks {
            LineBreaks::AsGiven => Code { crlf: CRLF, cr: b'\r' },
            LineBreaks::Any => Code { crlf: b'\n', cr: b'\n' },
        };
        let symbols = |code| {
            let mut out = Vec::with_capacity(text.len());
            encode(text, None, code, usize::MAX, Some(&mut out));
            out
        };
        let (needle, kinds) = (symbols(code), symbols(KINDS));
        let kinds = (breaks == LineBreaks::Any && kinds.contains(&b'\r')).then_some(kinds);
        Symbols { pieces, code, left: LEAST.max(PASSES * (pieces.len() + needle.len())), needle, kinds }
    }

    fn search(mut self, wanted: Wanted, control: &dyn Stop) -> Result<Sought> {
        let mut sought = Sought::default();
        if self.pieces.len() < self.needle.len() {
            return Ok(sought);
        }
        let needle = std::mem::take(&mut self.needle);
        let (finder, overlap) = (Finder::new(&needle), needle.len() - 1);
        let block = BLOCK.max(needle.len() / 4);
        let start = SymbolCursor { cursor: self.pieces.start(), symbols: 0 };
        let (mut read, mut kind, mut mark) = (start, start, start);
        let (mut buffer, mut kinds, mut base, mut at) = (Vec::new(), Vec::new(), 0, 0);
        loop {
            control.check()?;
            let room = block + overlap - buffer.len();
            let before = buffer.len();
            self.read(&mut read, room, self.code, Some(&mut buffer));
            if self.kinds.is_some() {
                self.read(&mut kind, room, KINDS, Some(&mut kinds));
            }
            work::count(buffer.len());
            while let Some(skipped) = buffer.get(at - base..).and_then(|rest| finder.find(rest)) {
                at += skipped;
                if let Some(other) = self.other_start(at, &kinds[(at - base).min(kinds.len())..])? {
                    at = other;
                    continue;
                }
                if sought.count < wanted.keep as u64 {
                    let before = at - mark.symbols;
                    self.read(&mut mark, before, self.code, None);
                    let start = mark.cursor;
                    self.read(&mut mark, needle.len(), self.code, None);
                    sought.add(start, self.pieces.behind(mark.cursor), wanted.keep);
                } else {
                    sought.count += 1;
                }
                at += needle.len();
                if wanted.enough < sought.count {
                    return Ok(sought);
                }
            }
            if buffer.len() - before < room {
                return Ok(sought);
            }
            // Keeps the symbols with which a match may start that continues after the buffer.
            at = at.max(base + buffer.len() - overlap);
            let gone = (at - base).min(buffer.len());
            buffer.drain(..gone);
            kinds.drain(..gone.min(kinds.len()));
            base += gone;
        }
    }

    /// The next possible start of a match, if the one at `at` is wrong because the text has another break for
    /// a lone `\r`. `kinds` are the text's symbols from `at` on. Fails if this takes too long.
    fn other_start(&mut self, at: usize, kinds: &[u8]) -> Result<Option<usize>> {
        let Some(wanted) = &self.kinds else { return Ok(None) };
        let differs = |(wanted, found): (&u8, &u8)| *wanted == b'\r' && *found != b'\r';
        let Some(place) = wanted.iter().zip(kinds).position(differs) else { return Ok(None) };
        work::count(place + 1);
        self.left = self.left.checked_sub(place + 1).ok_or_else(too_costly)?;
        // That break is wrong for all starts that put a `\r` there.
        let other = wanted[..place].iter().rposition(|&symbol| symbol != b'\r');
        Ok(Some(at + other.map_or(place + 1, |other| place - other)))
    }

    /// Reads at most `most` symbols, into `out` if given.
    fn read(&self, place: &mut SymbolCursor, most: usize, code: Code, mut out: Option<&mut Vec<u8>>) {
        let mut left = most;
        while 0 < left
            && let Some((rest, next)) = self.pieces.forward(place.cursor)
        {
            let after = rest.ends_with(b"\r").then(|| self.pieces.byte_after(next)).flatten();
            let (bytes, symbols) = encode(rest, after, code, left, out.as_deref_mut());
            work::count(bytes);
            place.cursor = if bytes == rest.len() { next } else { self.pieces.advance(place.cursor, bytes) };
            place.symbols += symbols;
            left -= symbols;
        }
    }
}

fn too_costly() -> Error {
    let problem = "its carriage returns stand among other line breaks so that it takes too long to look for; expected line \
        breaks of one kind, or a shorter text";
    Error::InvalidArguments { at: "old_text".into(), problem: problem.into() }
}

/// Appends the symbols of `bytes` to `out`, at most `most`; `after` is the byte that follows `bytes`. Returns
/// the number of bytes and of symbols. The bytes are one more than `bytes` has if a `\r\n` ends after it.
fn encode(
    bytes: &[u8],
    after: Option<u8>,
    code: Code,
    most: usize,
    mut out: Option<&mut Vec<u8>>,
) -> (usize, usize) {
    let (mut at, mut symbols) = (0, 0);
    while at < bytes.len() && symbols < most {
        if bytes[at] == b'\r' {
            let is_crlf = bytes.get(at + 1).copied().or(after) == Some(b'\n');
            if let Some(out) = &mut out {
                out.push(if is_crlf { code.crlf } else { code.cr });
            }
            (at, symbols) = (at + if is_crlf { 2 } else { 1 }, symbols + 1);
            continue;
        }
        let part = &bytes[at..bytes.len().min(at.saturating_add(most - symbols))];
        let plain = memchr::memchr(b'\r', part).unwrap_or(part.len());
        if let Some(out) = &mut out {
            out.extend_from_slice(&part[..plain]);
        }
        (at, symbols) = (at + plain, symbols + plain);
    }
    (at, symbols)
}

#[cfg(test)]
mod tests {

    use proptest::prelude::*;

    use super::*;
    use crate::text_edit::table::matches::Matches;

    fn found(pieces: &PieceTable, text: &[u8], breaks: LineBreaks) -> Vec<(usize, usize)> {
        let wanted = Wanted { enough: u64::MAX, keep: usize::MAX };
        let sought = search(text, breaks, pieces, wanted, &crate::Unstopped).unwrap();
        assert_eq!(sought.count, sought.matches.len());
        let place = |cursor| {
            let (mut at, mut bytes) = (cursor, 0);
            while let Some((before, start)) = pieces.backward(at) {
                (at, bytes) = (start, bytes + before.len());
            }
            bytes
        };
        sought.matches.iter().map(|(start, end)| (place(start), place(end))).collect()
    }

    fn naive(text: &[u8], old: &[u8], any: bool) -> Vec<(usize, usize)> {
        // Line breaks as units, each with its length.
        let units = |bytes: &[u8]| {
            let (mut units, mut at) = (Vec::new(), 0);
            while at < bytes.len() {
                let len = if bytes[at..].starts_with(b"\r\n") { 2 } else { 1 };
                units.push((at, bytes[at..at + len].to_vec()));
                at += len;
            }
            units
        };
        let (text_units, old_units) = (units(text), units(old));
        let is_break = |unit: &[u8]| matches!(unit, b"\n" | b"\r\n" | b"\r");
        let agree =
            |old: &[u8], unit: &[u8]| old == unit || any && matches!(old, b"\n" | b"\r\n") && is_break(unit);
        let (mut all, mut at) = (Vec::new(), 0);
        while at + old_units.len() <= text_units.len() {
            let here = &text_units[at..at + old_units.len()];
            if here.iter().zip(&old_units).all(|((_, unit), (_, old))| agree(old, unit)) {
                let (last, unit) = &here[here.len() - 1];
                all.push((here[0].0, last + unit.len()));
                at += old_units.len();
            } else {
                at += 1;
            }
        }
        all
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

        #[test]
        fn what_is_found_is_what_a_look_at_every_place_finds(
            text in "([ab]{0,3}(\n|\r\n|\r)){0,12}[ab]{0,3}",
            old in "((a|b|ab)?(\n|\r\n|\r)){0,3}(a|b|ab|)",
            cuts in prop::collection::vec((any::<u16>(), 0..3usize), 0..4),
            any_break in any::<bool>(),
        ) {
            prop_assume!(!old.is_empty());
            let mut expected = text.clone();
            let mut pieces = PieceTable::new(text.as_bytes(), 0).unwrap();
            for (number, (at, len)) in cuts.into_iter().enumerate() {
                if expected.is_empty() {
                    break;
                }
                let from = at as usize % expected.len();
                let to = (from + len).clamp(from + 1, expected.len());
                let cursors = (pieces.advance(pieces.start(), from), pieces.behind(pieces.advance(pieces.start(), to)));
                pieces.replace_all(&Matches::from_iter([cursors]), b"\r", number as u32, usize::MAX).unwrap();
                expected.replace_range(from..to, "\r");
            }
            let breaks = if any_break { LineBreaks::Any } else { LineBreaks::AsGiven };
            prop_assert_eq!(
                found(&pieces, old.as_bytes(), breaks),
                naive(expected.as_bytes(), old.as_bytes(), any_break),
                "{:?} in {:?}", old, expected
            );
        }
    }
}
