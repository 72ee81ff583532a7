//! The search of one file: which of its bytes are looked at, and what is found there.

use std::ops::Range;
use std::sync::Arc;

use super::best_reading::best_reading;
use super::delivery::Batch;
use super::large::{self, LargeHits, LargeText};
use super::source::Candidate;
use super::text::{Beginning, Opened, OpenedText};
use super::workers::{Scratch, Workers};
use super::{FoundFile, HeldText, LastFile};
use folder::fs::version::FileStamp;
use folder::fs::view::FileView;
use folder::{Belief, Error, Result};
use search::{Counted, Hit, line_at, whole_lines};
use sys::fs::Stat;
use text::encoded_edit::MAX_DECODED;
use text::encoding::{
    Encoding, EncodingChoice, EncodingSource, ReadingDoubt, Readings, TextEncoding, is_utf_8, readings,
    unmarked, with_replacements,
};

/// The largest file that is copied, in bytes. A larger one that is not UTF-8 is searched where it is mapped, so that its text in ASCII
/// is found.
const MAX_PIECE: usize = MAX_DECODED;

impl Workers<'_> {
    /// Searches a file, which was found as `stat`.
    pub(super) fn search_file(
        &self,
        file: Candidate,
        stat: Stat,
        batch: &mut Batch,
        scratch: &mut Scratch,
    ) -> Result<()> {
        let slot = self.slot(scratch)?;
        batch.late_in = Some(file.late());
        let stamp = FileStamp::of(&stat);
        let known = if self.asks_filters() { self.workspace.stretches(self.pattern, &stamp) } else { None };
        // The next search need not look at it.
        batch.unbelieved += u64::from(known.is_some() && file.belief == Some(Belief::Unknown));
        if known.as_ref().is_some_and(Vec::is_empty) {
            batch.count_file(&file, &stamp);
            return Ok(());
        }
        let found = match self.workspace.open_for_search(&file, stat, &mut scratch.buffer, self.control)? {
            Opened::Gone => return Ok(()),
            Opened::Unreadable => {
                batch.counts.unreadable += 1;
                return Ok(());
            }
            Opened::Copied(opened) => {
                let known = known.filter(|_| opened.stamp == stamp);
                self.search_copy(file, opened, known, batch, scratch)?
            }
            Opened::Mapped(opened, view) => {
                drop(slot);
                let known = known.filter(|_| opened.stamp == stamp);
                let bytes = view.bytes();
                if known.is_none() && self.options.encoding.to_decode(bytes).is_some() {
                    return self.search_in_one_piece(file, opened, &view, known, batch, scratch);
                }
                let Beginning::Text(start) = Beginning::of(bytes) else {
                    batch.counts.binary += 1;
                    return Ok(());
                };
                return match self.pattern.is_multiline() {
                    true => self.search_spanning(file, opened, (view, start), known, batch, scratch),
                    false => self.search_map(file, opened, (view, start), known, batch, scratch),
                };
            }
        };
        batch.add_found(found);
        Ok(())
    }

    /// Searches a mapped text, which begins at the byte `start`, for matches that may span lines: on this thread, because a match may lie in any two parts.
    fn search_spanning(
        &self,
        file: Candidate,
        opened: OpenedText,
        (view, start): (Arc<FileView>, usize),
        known: Option<Vec<Range<u64>>>,
        batch: &mut Batch,
        scratch: &mut Scratch,
    ) -> Result<()> {
        let bytes = view.bytes();
        let slot = self.workspace.search_slots().take_long(self.control)?;
        let text = &bytes[start..];
        let is_text = known.is_some() || large::is_utf8(text, || self.control.check())?;
        if !is_text && opened.len() <= MAX_PIECE {
            drop(slot);
            return self.search_in_one_piece(file, opened, &view, known, batch, scratch);
        }
        let (mut hits, mut count, mut rest) = (Vec::new(), Counted::default(), None);
        for stretch in stretches_of(text, known.as_deref(), start, file.start) {
            let Some(more) = scratch.scan.scan_map(text, stretch, self.options.keep, &mut hits)? else {
                drop(slot);
                return self.search_in_one_piece(file, opened, &view, known, batch, scratch);
            };
            count += more.count;
            rest = more.rest;
            if rest.is_some() {
                break;
            }
        }
        let found = MapHits { hits, count, is_text, rest };
        self.put_map(file, opened, (view, start), found, known.is_some(), batch)
    }

    /// Searches a copy of a mapped text: to decode it, also where it is not UTF-8, or for a pattern that needs one. That takes memory, so only one thread of
    /// all searches does it at a time, and not with the largest texts.
    fn search_in_one_piece(
        &self,
        file: Candidate,
        opened: OpenedText,
        view: &FileView,
        known: Option<Vec<Range<u64>>>,
        batch: &mut Batch,
        scratch: &mut Scratch,
    ) -> Result<()> {
        if opened.len() > MAX_PIECE {
            batch.counts.too_large_to_copy += 1;
            return Ok(());
        }
        let _slot = self.workspace.search_slots().take_long(self.control)?;
        let small = std::mem::replace(&mut scratch.buffer, view.bytes().to_vec());
        let is_changing = opened.is_changing || !view.unchanged();
        let found = self.search_copy(file, OpenedText { is_changing, ..opened }, known, batch, scratch);
        scratch.buffer = small;
        batch.add_found(found?);
        Ok(())
    }

    /// Whether what lies before the line at `from` is UTF-8: the parts that are searched begin there.
    fn is_utf8_before(&self, text: &[u8], from: usize) -> Result<bool> {
        if from == 0 {
            return Ok(true);
        }
        let _slot = self.workspace.search_slots().take_long(self.control)?;
        large::is_utf8(&text[..line_at(text, from)], || self.control.check())
    }

    /// Counts a text that was searched as UTF-8 although it is not, with so many hits.
    fn count_as_bytes(&self, is_such: bool, hits: u64, batch: &mut Batch) {
        batch.counts.as_bytes += u64::from(is_such);
        batch.counts.unsure += u64::from(is_such && hits == 0 && !self.pattern.is_ascii());
    }

    /// Searches the text in the thread's buffer. `known`: the only bytes of the file where a match can be.
    fn search_copy(
        &self,
        file: Candidate,
        opened: OpenedText,
        known: Option<Vec<Range<u64>>>,
        batch: &mut Batch,
        scratch: &mut Scratch,
    ) -> Result<Option<FoundFile>> {
        let (bytes, counts) = (&scratch.buffer[..opened.len()], &mut batch.counts);
        if known.is_none()
            && let Some(encoding) = self.options.encoding.to_decode(bytes)
        {
            let mark = encoding.mark();
            let has_mark = !mark.is_empty() && bytes.starts_with(mark);
            let source = match self.options.encoding {
                EncodingChoice::Auto if !has_mark => EncodingSource::Guess,
                _ => EncodingSource::Given,
            };
            let read_as = TextEncoding { encoding, source, has_mark };
            let bytes = unmarked(encoding, bytes);
            let replaced = || with_replacements(encoding, bytes).inspect(|_| counts.replaced += 1);
            let Some(text) = encoding.decode(bytes).ok().or_else(replaced) else {
                // UTF-16 holds NUL bytes.
                let is_binary = encoding.mark().is_empty() && Beginning::of(bytes) == Beginning::Binary;
                *(if is_binary { &mut counts.binary } else { &mut counts.not_text }) += 1;
                return Ok(None);
            };
            return self.search_decoded(file, opened, (text, read_as), batch, scratch);
        }
        let Beginning::Text(start) = Beginning::of(bytes) else {
            counts.binary += 1;
            return Ok(None);
        };
        // A file with a filter was found to be UTF-8.
        if known.is_none() && !is_utf_8(bytes) {
            counts.guessed += u64::from(self.options.encoding != EncodingChoice::Auto);
            let readings = readings(bytes);
            let best = best_reading(&readings, bytes, &mut scratch.scan)?;
            if best.is_none() && !self.pattern.is_ascii() {
                // Lines of another writer may be UTF-8.
                let other = Readings { encodings: vec![Encoding::Utf8], doubt: ReadingDoubt::OtherEncoding };
                let is_other = readings.doubt == ReadingDoubt::OtherEncoding
                    || best_reading(&other, bytes, &mut scratch.scan)?.is_some();
                counts.unsure += u64::from(is_other);
                counts.undecoded += u64::from(readings.doubt == ReadingDoubt::OtherSets);
            }
            let decoded = |one: Encoding| one.decode_lossy(unmarked(one, bytes)).into_owned();
            let text = best.map(decoded).unwrap_or_default();
            let encoding = best.unwrap_or(Encoding::Utf8);
            let is_sure = encoding == Encoding::Utf8 || readings.doubt == ReadingDoubt::None;
            let source = if is_sure { EncodingSource::Guess } else { EncodingSource::WeakGuess };
            let has_mark = unmarked(encoding, bytes).len() < bytes.len();
            let read_as = TextEncoding { encoding, source, has_mark };
            return self.search_decoded(file, opened, (text, read_as), batch, scratch);
        }
        let text = &bytes[start..];
        let (mut hits, mut count) = (Vec::new(), Counted::default());
        for stretch in stretches_of(text, known.as_deref(), start, file.start) {
            count += scratch.scan.scan(text, stretch, self.options.keep, &mut hits)?;
        }
        batch.unknown += u64::from(known.is_none() && opened.is_worth_filter());
        let held = match hits.is_empty() {
            true => HeldText::None,
            false => HeldText::Copy(bytes.to_vec(), start..bytes.len()),
        };
        Ok(found_file(file, opened, batch, hits, count, (held, utf_8(start))))
    }

    /// Searches a text that was decoded, and how. Its bytes are not those of the file.
    fn search_decoded(
        &self,
        file: Candidate,
        opened: OpenedText,
        (text, read_as): (String, TextEncoding),
        batch: &mut Batch,
        scratch: &mut Scratch,
    ) -> Result<Option<FoundFile>> {
        let (text, mut hits) = (text.into_bytes(), Vec::new());
        let lines = line_at(&text, file.start)..text.len();
        let count = scratch.scan.scan(&text, lines, self.options.keep, &mut hits)?;
        let whole = 0..text.len();
        let held = if hits.is_empty() { HeldText::None } else { HeldText::Copy(text, whole) };
        Ok(found_file(file, opened, batch, hits, count, (held, read_as)))
    }

    /// Searches a mapped text together with other threads. `start` and `known`: as above.
    fn search_map(
        &self,
        file: Candidate,
        opened: OpenedText,
        (view, start): (Arc<FileView>, usize),
        known: Option<Vec<Range<u64>>>,
        batch: &mut Batch,
        scratch: &mut Scratch,
    ) -> Result<()> {
        let bytes = view.bytes();
        let (text, range) = (&bytes[start..], start..bytes.len());
        if known.is_none() && opened.len() <= MAX_PIECE && !self.is_utf8_before(text, file.start)? {
            // A page before has decoded all of it: this one begins at a byte of what was decoded.
            return self.search_in_one_piece(file, opened, &view, None, batch, scratch);
        }
        let stretches = stretches_of(text, known.as_deref(), start, file.start);
        let mut large =
            LargeText::new(view.clone(), range.clone(), &stretches, self.options.keep, large::PART);
        large.is_known_text = known.is_some();
        large.takes_any_bytes = opened.len() > MAX_PIECE;
        let LargeHits { hits, count, is_text, rest } = self.search_large(large, scratch);
        let goes_on = || rest.is_none_or(|rest| known.is_some() || means_the_same_byte(text, rest));
        if opened.len() <= MAX_PIECE && !(is_text && goes_on()) {
            return self.search_in_one_piece(file, opened, &view, None, batch, scratch);
        }
        let count = Counted { hits: count, matches: count };
        let found = MapHits { hits, count, is_text, rest };
        self.put_map(file, opened, (view, start), found, known.is_some(), batch)
    }

    /// Puts what was found in a mapped text into the batch.
    fn put_map(
        &self,
        file: Candidate,
        opened: OpenedText,
        (view, start): (Arc<FileView>, usize),
        MapHits { hits, count, is_text, rest }: MapHits,
        is_known: bool,
        batch: &mut Batch,
    ) -> Result<()> {
        // The time is up: what was found so far counts, and the next call goes on in the file.
        let stopped = rest.map(|_| self.control.check().err().unwrap_or(Error::TimedOut));
        if let Some(rest) = rest.filter(|rest| *rest > file.start) {
            let (folder, path) = (file.number, file.path_from_start().to_vec());
            batch.last = Some(LastFile { folder, path, rest: Some((rest, opened.stamp)) });
        }
        // It was not searched if the time was up in its first line.
        let is_begun = rest.is_none_or(|rest| rest > file.start);
        let counted = batch.counts.files + u64::from(is_begun);
        self.count_as_bytes(!is_text && is_begun, count.hits, batch);
        batch.unknown += u64::from(is_text && !is_known && opened.is_worth_filter());
        let is_changing = opened.is_changing || !view.unchanged();
        let whole = start..view.bytes().len();
        let held = if hits.is_empty() { HeldText::None } else { HeldText::Map(view, whole) };
        let opened = OpenedText { is_changing, ..opened };
        let mut found = found_file(file, opened, batch, hits, count, (held, utf_8(start)));
        if let Some(file) = &mut found {
            file.end = rest.unwrap_or(usize::MAX);
            file.index = self.workspace.known_index(&file.stamp);
        }
        batch.counts.files = counted;
        batch.add_found(found);
        stopped.map_or(Ok(()), Err)
    }
}

/// What was found in a mapped text.
struct MapHits {
    /// The first hits, in order.
    hits: Vec<Hit>,
    count: Counted,
    /// Whether all that was searched is UTF-8.
    is_text: bool,
    /// Where the first line begins that was not searched, if the time is up.
    rest: Option<usize>,
}

/// The stretches of `text` to search: whole lines around the known bytes of the file, or all lines. The text begins at the
/// byte `offset` of the file; what lies before the line at `from` is left out.
fn stretches_of(text: &[u8], known: Option<&[Range<u64>]>, offset: usize, from: usize) -> Vec<Range<usize>> {
    let in_text = |byte: u64| usize::try_from(byte).unwrap_or(usize::MAX).saturating_sub(offset);
    match known {
        Some(known) => {
            whole_lines(text, known.iter().map(|range| in_text(range.start)..in_text(range.end)), from)
        }
        None => vec![line_at(text, from)..text.len()],
    }
}

/// Whether the byte `rest` of a text is the same byte of it decoded, for a search that ends there because the time is up. If bytes
/// behind it are wrong, the next search decodes all.
fn means_the_same_byte(text: &[u8], rest: usize) -> bool {
    let (before, behind) = text.split_at(rest.min(text.len()));
    let is_plain = |byte: &u8| matches!(byte, b' '..=b'~' | b'\t'..=b'\r');
    before.iter().all(is_plain) || large::is_utf8(behind, || Ok(())).unwrap_or_default()
}

/// How a text in UTF-8 is read, which begins at the byte `start` of its file.
fn utf_8(start: usize) -> TextEncoding {
    TextEncoding { encoding: Encoding::Utf8, source: EncodingSource::Given, has_mark: start > 0 }
}

fn found_file(
    file: Candidate,
    opened: OpenedText,
    batch: &mut Batch,
    hits: Vec<Hit>,
    Counted { hits: count, matches }: Counted,
    (text, read_as): (HeldText, TextEncoding),
) -> Option<FoundFile> {
    let OpenedText { stamp, is_changing, .. } = opened;
    batch.count_file(&file, &stamp);
    batch.counts.changing += u64::from(is_changing);
    let Candidate { number: folder, path, base, start, is_resumed, .. } = file;
    (count > 0).then_some(FoundFile {
        folder,
        path,
        base,
        stamp,
        start,
        end: usize::MAX,
        is_resumed,
        hits,
        count,
        matches,
        is_changing,
        read_as,
        text,
        index: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_goes_on_at_a_byte_only_if_no_decoding_moves_it() {
        for (text, rest, is_same) in [
            (&b"line\nline\ncaf\xE9\n"[..], 10, true),
            ("caf\u{e9}\nline\n".as_bytes(), 6, true),
            (b"caf\xC3\xA9\ncaf\xE9\n", 6, false),
            (b"\x1b[1m\n\x1b$BF|\x1b(B\n", 5, false),
        ] {
            assert_eq!(means_the_same_byte(text, rest), is_same, "{text:?}");
        }
    }
}
