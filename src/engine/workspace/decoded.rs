//! Reads parts of files in other encodings than UTF-8: finds the part in the encoded bytes, and decodes no more than is
//! wanted.
//!
//! Blocks are read and decoded one after the other, so a limited part takes little memory whatever the size of the file.
//! A line range is found in one pass over the file. Knows no tables of encodings.

use std::io;
use std::ops::Range;
use std::sync::Arc;

use super::excerpt::Excerpt;
use super::parts::{INDEXED, PartOf, PartRead, STEP};
use super::ranges::{LineRange, Selection, TextPart};
use super::{ATTEMPTS, Workspace};
use folder::fs::view::{FileView, OpenFile};
use folder::{Control, Error, FilePath, Result};
use text::encoding::{
    CharacterCount, DecodeError, Decoder, ESC, Encoding, EncodingChoice, EncodingSource, LOOKED_AT, Likely,
    LineScan, Undecodable, hidden, likely,
};

/// A part that has no limit and more bytes than this is not decoded as a whole: only found to be text.
const DECODED: usize = 1 << 20;

/// The length of a sequence that sets the state of a text in ISO-2022-JP.
const ESCAPE_LEN: usize = 3;

/// The part of a text that was decoded.
struct Decoded {
    text: String,
    /// See [`PartRead`].
    source: (Vec<u8>, usize),
    /// More of the part comes after it.
    has_more: bool,
}

impl Workspace {
    /// The likely encoding of the file at `path`, which is not UTF-8. `None` if it changes meanwhile, too.
    pub fn likely_encoding(&self, path: &FilePath, control: &Control) -> Result<Option<Likely>> {
        for _ in 0..ATTEMPTS {
            let found = self.find(path, control)?;
            let Some(file) = self.open_place(&found.place, path.sent(), control)? else { continue };
            return likely_of(&file, control).map_err(|error| Error::read(path.sent(), error));
        }
        Ok(None)
    }

    /// A part of a text whose encoding is not known to be UTF-8. `None` if the file changes meanwhile.
    pub(super) fn part_in(&self, wanted: &PartOf, choice: EncodingChoice) -> Result<Option<PartRead>> {
        let first = wanted.file.clone().view(0..4);
        let Some(first) = wanted.checked(first)? else { return Ok(None) };
        let (encoding, source) = match choice.of_beginning(first.bytes()) {
            Some(found) => found,
            None => {
                let marked = wanted.checked(escaped(wanted.file))?.flatten().and_then(Likely::encoding);
                match marked.map_or_else(|| self.part_of(wanted).map(Err), |found| Ok(Ok(found))) {
                    Ok(Ok(found)) => found,
                    Err(error @ (Error::InvalidUtf8 | Error::NotText { .. })) => {
                        let likely = wanted.checked(likely_of(wanted.file, wanted.control))?.flatten();
                        likely.and_then(Likely::encoding).ok_or(error)?
                    }
                    Ok(Err(read)) => return Ok(read),
                    Err(error) => return Err(error),
                }
            }
        };
        let mark = encoding.mark();
        let start = if !mark.is_empty() && first.bytes().starts_with(mark) { mark.len() } else { 0 };
        Source { of: wanted, encoding, start }.read(source)
    }
}

/// What a file is by its escape sequences or controls, although it may be all ASCII.
pub(super) fn escaped(file: &Arc<OpenFile>) -> io::Result<Option<Likely>> {
    let first = file.clone().view(0..file.len_bytes().min(LOOKED_AT))?;
    Ok(hidden(first.bytes()))
}

/// The likely encoding of a file, by its beginning and by the first part that is not ASCII.
pub(super) fn likely_of(file: &Arc<OpenFile>, control: &Control) -> io::Result<Option<Likely>> {
    let first = file.clone().view(0..STEP)?;
    let mut at = 0;
    let sample = loop {
        control.check().map_err(|_| io::Error::from(io::ErrorKind::Interrupted))?;
        let sample = file.clone().view(at..at + STEP)?;
        at += STEP;
        // By a NUL, the beginning alone decides.
        let decides = !sample.bytes().is_ascii() || memchr::memchr(0, sample.bytes()).is_some();
        if decides || at >= file.len_bytes() {
            break sample;
        }
    };
    Ok(likely(first.bytes(), sample.bytes()))
}

/// A part whose place is known.
struct Located {
    place: Range<usize>,
    /// Its lines, if they were counted.
    lines: Range<usize>,
    /// Lines in the file, if they were counted.
    total: Option<usize>,
}

/// A text in an encoding.
struct Source<'s> {
    of: &'s PartOf<'s>,
    encoding: Encoding,
    /// Where it begins: behind its mark.
    start: usize,
}

impl Source<'_> {
    /// `None` if the file changes meanwhile.
    fn read(&self, encoding_source: EncodingSource) -> Result<Option<PartRead>> {
        let PartOf { file, part, limit, version, .. } = *self.of;
        let Some(Located { place, lines, mut total }) = self.locate()? else { return Ok(None) };
        let is_long = limit.is_none() && place.len() > DECODED && !self.encoding.is_stateful();
        let Some(Decoded { text, source, has_more }) = self.decode(place.clone(), is_long)? else {
            return Ok(None);
        };
        let mut excerpt = if is_long {
            let Some(view) = self.bytes(place.start, place.end)? else { return Ok(None) };
            Excerpt::encoded(view, self.encoding, lines.clone(), total.unwrap_or(0))
        } else {
            Excerpt::decoded(text, file.clone(), lines.clone(), total.unwrap_or(0))
        };
        let is_cut = limit.is_some_and(|limit| excerpt.cut(limit)) | has_more;
        let size = file.len_bytes();
        if is_cut && part == TextPart::Whole && size <= INDEXED {
            let Some(scan) = self.scan(self.start, size, self.lines())? else { return Ok(None) };
            total = Some(scan.total() as usize);
        }
        if !file.unchanged() {
            return Ok(None);
        }
        let is_at_start = place.start <= self.start && !matches!(part, TextPart::From { .. });
        let first_line = (is_at_start || !lines.is_empty()).then_some(lines.start as u64);
        let start = place.start as u64;
        let mut read = PartRead {
            at: start..place.end as u64,
            source,
            excerpt,
            size: size as u64,
            first_line,
            total_lines: total,
            is_cut,
            version,
            encoding: self.encoding,
            encoding_source,
        };
        if is_cut {
            read.set_end();
        }
        Ok(Some(read))
    }

    fn locate(&self) -> Result<Option<Located>> {
        match self.of.part {
            TextPart::Lines(range) => self.locate_lines(|total| range.within(total)),
            TextPart::LastLines(count) => self.locate_lines(|total| Selection::Last(count).within(total)),
            TextPart::Span { span, most } => self.locate_lines(|total| span.within(total, most)),
            TextPart::LinesFrom { range, byte } => self.locate_from(range, byte),
            _ => {
                let place = self.of.place(self.encoding, self.start)?;
                Ok(place.map(|place| Located { place, lines: 0..0, total: None }))
            }
        }
    }

    /// The lines that `choose` says of so many.
    fn locate_lines(&self, choose: impl Fn(usize) -> Result<Range<usize>>) -> Result<Option<Located>> {
        let size = self.of.file.len_bytes();
        // Lines of a range are known before the file is read, those at the end are not.
        let wanted = match self.of.part {
            TextPart::Lines(LineRange { start, end }) => {
                self.lines().noting(start.unwrap_or(0), end.unwrap_or(u64::MAX))
            }
            _ => self.lines(),
        };
        let Some(mut scan) = self.scan(self.start, size, wanted)? else { return Ok(None) };
        let total = scan.total() as usize;
        let lines = choose(total)?;
        if matches!(self.of.part, TextPart::LastLines(_) | TextPart::Span { .. }) && !lines.is_empty() {
            let wanted = self.lines().noting(lines.start as u64, (lines.end as u64).saturating_sub(1));
            let Some(second) = self.scan(self.start, size, wanted)? else { return Ok(None) };
            scan = second;
        }
        let place = if lines.is_empty() { self.start as u64..self.start as u64 } else { scan.place() };
        Ok(Some(Located { place: place.start as usize..place.end as usize, lines, total: Some(total) }))
    }

    /// The lines of a range from this byte on, which is one of their first line.
    fn locate_from(&self, range: LineRange, byte: u64) -> Result<Option<Located>> {
        let size = self.of.file.len_bytes();
        let first = range.start.unwrap_or(0);
        if byte > size as u64 {
            return Err(Error::StartPastEnd { start: first, total: 0 });
        }
        let from = PartOf { part: TextPart::From { byte, pieces: None }, ..*self.of };
        let Some(place) = from.place(self.encoding, self.start)? else { return Ok(None) };
        let last = range.end.unwrap_or(u64::MAX);
        if last < first {
            return Err(Error::InvalidRange { start: first, end: last });
        }
        let lines = LineScan::new(self.encoding, place.start as u64).noting(0, last - first);
        let Some(scan) = self.scan(place.start, size, lines)? else { return Ok(None) };
        let (end, line) = (scan.place().end as usize, first as usize);
        Ok(Some(Located {
            place: place.start..end.max(place.start),
            lines: line..line.saturating_add(1),
            total: None,
        }))
    }

    /// A count of the lines of the text.
    fn lines(&self) -> LineScan {
        LineScan::new(self.encoding, self.start as u64)
    }

    /// Counts the lines of the bytes, until the end of the wanted ones where no others are counted. `None` if the file is
    /// shorter now.
    fn scan(&self, start: usize, end: usize, mut lines: LineScan) -> Result<Option<LineScan>> {
        let (mut at, only_end) = (start, matches!(self.of.part, TextPart::LinesFrom { .. }));
        while at < end && !(only_end && lines.has_end()) {
            let Some(view) = self.bytes(at, end.min(at + STEP))? else { return Ok(None) };
            lines.push(view.bytes());
            at += view.bytes().len();
        }
        Ok(Some(lines))
    }

    /// The text of the bytes, or somewhat more than the limit of it. `only_checks`: no text, but the error for bytes that are
    /// none.
    fn decode(&self, place: Range<usize>, only_checks: bool) -> Result<Option<Decoded>> {
        let limit = self.of.limit;
        let unit = self.encoding.unit();
        let step = limit.map_or(STEP, |limit| limit.saturating_add(8).saturating_mul(unit).min(STEP));
        let mut text = String::new();
        let keeps_source = self.encoding.is_multibyte() && !only_checks;
        let (mut decoder, mut at) = (Decoder::new(self.encoding), place.start);
        let Some(state) = self.state_at(place.start)? else { return Ok(None) };
        let start = place.start - state.len();
        // A whole sequence is no text yet.
        let _ = decoder.push(&state, &mut text);
        let (state_len, mut source) = (state.len(), state);
        let is_full = |text: &String| limit.is_some_and(|limit| text.len() > limit);
        let decoded = loop {
            if at == place.end || is_full(&text) {
                break if at == place.end { decoder.finish(&mut text) } else { Ok(()) };
            }
            let Some(view) = self.bytes(at, place.end.min(at + step))? else { return Ok(None) };
            self.of.control.file_progress(at, self.of.file.len_bytes());
            if let Err(error) = decoder.push(view.bytes(), &mut text) {
                break Err(error);
            }
            at += view.bytes().len();
            if keeps_source {
                source.extend_from_slice(view.bytes());
            }
            if only_checks {
                text.clear();
            }
        };
        match decoded {
            // What is wrong lies behind what is shown.
            Err(_) if is_full(&text) => {
                Ok(Some(Decoded { text, source: (source, state_len), has_more: true }))
            }
            Ok(()) => Ok(Some(Decoded { text, source: (source, state_len), has_more: at < place.end })),
            Err(error) if self.of.file.unchanged() => Err(self.explained(error, start)?),
            Err(_) => Ok(None),
        }
    }

    /// The escape sequence that says what the bytes from this one on mean, in an encoding that has states; else nothing.
    fn state_at(&self, byte: usize) -> Result<Option<Vec<u8>>> {
        let mut end = byte;
        // Two sequences with nothing between them are an error.
        let next = self.bytes(byte, self.of.file.len_bytes().min(byte + 1))?;
        if !self.encoding.is_stateful() || next.is_some_and(|next| next.bytes() == [ESC]) {
            return Ok(Some(Vec::new()));
        }
        while end > self.start {
            let start = end.saturating_sub(STEP).max(self.start);
            let Some(view) = self.bytes(start, end)? else { return Ok(None) };
            if let Some(at) = memchr::memrchr(ESC, view.bytes()) {
                let escape = self.bytes(start + at, byte.min(start + at + ESCAPE_LEN))?;
                return Ok(escape.map(|escape| escape.bytes().to_vec()));
            }
            end = start;
        }
        Ok(Some(Vec::new()))
    }

    /// The error for bytes of a text that begins at the byte `start`.
    fn explained(&self, error: DecodeError, start: usize) -> Result<Error> {
        let Undecodable { at, bytes, why } = match error {
            DecodeError::Nul => return Ok(Error::NotText { name: self.of.name.into() }),
            DecodeError::Undecodable(undecodable) => undecodable,
        };
        let at = start + at as usize;
        let changed = || Error::Changed { name: self.of.name.into() };
        let (mut scan, mut from) = (self.lines(), self.start);
        while from < at {
            let view = self.bytes(from, at.min(from + STEP))?.ok_or_else(changed)?;
            scan.push(view.bytes());
            from += view.bytes().len();
        }
        let (line, begins) = scan.line_at(&[]);
        let (mut before, mut from) = (CharacterCount::new(self.encoding), begins as usize);
        while from < at {
            let view = self.bytes(from, at.min(from + STEP))?.ok_or_else(changed)?;
            before.push(view.bytes());
            from += view.bytes().len();
        }
        let column = 1 + before.finish();
        Ok(Error::Undecodable { encoding: self.encoding, line, column, bytes, why })
    }

    /// Bytes of the file. `None` if it is shorter now.
    fn bytes(&self, start: usize, end: usize) -> Result<Option<FileView>> {
        self.of.control.check()?;
        let view = self.of.file.clone().view(start..end);
        self.of.checked(view)
    }
}
