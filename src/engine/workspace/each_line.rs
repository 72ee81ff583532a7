//! Reads the lines of a text one after the other, in any encoding, for filters (contract 15).
//!
//! The file is read and decoded in steps. No more is held than a step and the line that goes on behind it, so the size of
//! the file does not matter. Knows no filters.

use std::io;
use std::sync::Arc;

use super::decoded::{escaped, likely_of};
use super::parts::STEP;
use super::ranges::{LineEnd, LineSpan};
use super::{ATTEMPTS, Workspace};
use folder::fs::view::{FileView, OpenFile};
use folder::{Control, Error, FilePath, FileVersion, Result};
use search::behind_break;
use text::encoding::{
    DecodeError, Decoder, Encoding, EncodingChoice, EncodingSource, Likely, LineScan, Undecodable,
};

/// The longest line that is given to a filter, in bytes of UTF-8. It is held as a whole.
const LONGEST: usize = 1 << 20;

/// Takes the lines of a text.
pub trait LineSink {
    /// The lines come from the first one on, perhaps again: what was taken before is void.
    fn begin(&mut self);

    /// Takes whole lines with their breaks, which only the last one of the text may lack. `first` is the 0-based number of
    /// the first of them. Returns whether more are wanted.
    fn take(&mut self, first: u64, lines: &str) -> Result<bool>;
}

/// What is known of a text whose lines were read.
#[derive(Debug, Clone, Copy)]
pub struct LinesRead {
    /// The version of the file.
    pub version: FileVersion,
    /// Its encoding.
    pub encoding: Encoding,
    /// How that is known.
    pub encoding_source: EncodingSource,
    /// What it likely is, if it was taken as UTF-8 and escape sequences say another encoding.
    pub likely: Option<Likely>,
}

impl Workspace {
    /// Gives the lines of the file at `path` to `sink`.
    ///
    /// # Errors
    ///
    /// A range that starts past the end, or ends before it starts; bytes that are no character, with their place; a line of
    /// more than 1 MB in the range.
    pub fn each_line(
        &self,
        path: &FilePath,
        encoding: EncodingChoice,
        span: LineSpan,
        sink: &mut dyn LineSink,
        control: &Control,
    ) -> Result<LinesRead> {
        for _ in 0..ATTEMPTS {
            control.check()?;
            let found = self.find(path, control)?;
            let Some(file) = self.open_place(&found.place, path.sent(), control)? else { continue };
            let Some(version) = self.version(&file, path.sent(), control)? else { continue };
            let text = TextFile { file: &file, name: path.sent(), span, control };
            match text.read(encoding, sink) {
                Err(error @ (Error::TimedOut | Error::Cancelled)) => return Err(error),
                // What was read is valid, an error too, only if the file has not changed.
                _ if !file.unchanged() => {}
                Ok(None) => {}
                Ok(Some((encoding, encoding_source))) => {
                    let likely =
                        if encoding == Encoding::Utf8 { escaped(&file).ok().flatten() } else { None };
                    return Ok(LinesRead { version, encoding, encoding_source, likely });
                }
                Err(error) => return Err(error),
            }
        }
        Err(Error::Changed { name: path.sent().into() })
    }
}

/// A text that is read.
struct TextFile<'t> {
    file: &'t Arc<OpenFile>,
    name: &'t str,
    span: LineSpan,
    control: &'t Control,
}

impl TextFile<'_> {
    /// `None` if the file changes meanwhile.
    fn read(
        &self,
        choice: EncodingChoice,
        sink: &mut dyn LineSink,
    ) -> Result<Option<(Encoding, EncodingSource)>> {
        let Some(first) = self.bytes(0, 4)? else { return Ok(None) };
        let (encoding, source) = match choice.of_beginning(first.bytes()) {
            Some(found) => found,
            None => match escaped(self.file) {
                Ok(likely) => match likely.and_then(Likely::encoding) {
                    Some(found) => found,
                    None => return self.read_found(first.bytes(), sink),
                },
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
                Err(error) => return Err(Error::read(self.name, error)),
            },
        };
        let read = self.read_in(encoding, first.bytes(), sink, false)?;
        Ok(read.map(|()| (encoding, source)))
    }

    /// As UTF-8; if it is not valid, in the likely encoding.
    fn read_found(
        &self,
        first: &[u8],
        sink: &mut dyn LineSink,
    ) -> Result<Option<(Encoding, EncodingSource)>> {
        // All of it, because a text has one encoding, whichever lines are wanted.
        let error = match self.read_in(Encoding::Utf8, first, sink, true) {
            Err(error @ (Error::NotText { .. } | Error::Undecodable { .. })) => error,
            read => return Ok(read?.map(|()| (Encoding::Utf8, EncodingSource::Given))),
        };
        let likely = likely_of(self.file, self.control)
            .or_else(|error| self.control.check().and(Err(Error::read(self.name, error))));
        let (encoding, source) = likely?.and_then(Likely::encoding).ok_or(error)?;
        Ok(self.read_in(encoding, first, sink, false)?.map(|()| (encoding, source)))
    }

    /// In this encoding. `first` are the first bytes of the file. `to_the_end`: what follows the lines that are wanted must
    /// be text, too.
    fn read_in(
        &self,
        encoding: Encoding,
        first: &[u8],
        sink: &mut dyn LineSink,
        to_the_end: bool,
    ) -> Result<Option<()>> {
        let (mark, size) = (encoding.mark(), self.file.len_bytes());
        let mut at = if !mark.is_empty() && first.starts_with(mark) { mark.len() } else { 0 };
        let Some((start, end)) = self.range(encoding, at)? else { return Ok(None) };
        sink.begin();
        // Reserved once: a text that grows is held twice while it is moved.
        let rest = String::with_capacity((LONGEST + 3 * STEP).min(3 * size + STEP));
        let mut lines = Lines { sink, start, end, line: 0, rest, dropped: 0 };
        let mut decoder = Decoder::new(encoding);
        while at < size {
            let Some(view) = self.bytes(at, size.min(at + STEP))? else { return Ok(None) };
            let decoded = decoder.push(view.bytes(), &mut lines.rest);
            at += view.bytes().len();
            self.control.file_progress(at, size);
            if !lines.give(false)? {
                if !to_the_end {
                    return Ok(Some(()));
                }
                lines.want_no_more();
            }
            decoded.map_err(|error| self.explained(error, encoding, &lines))?;
        }
        decoder.finish(&mut lines.rest).map_err(|error| self.explained(error, encoding, &lines))?;
        lines.give(true)?;
        match self.span.start {
            Some(LineEnd::At(start)) if start >= lines.line => {
                Err(Error::StartPastEnd { start, total: lines.line as usize })
            }
            _ => Ok(Some(())),
        }
    }

    /// The first and the last line of the range in the text that begins at the byte `start`. `None` if the file is shorter
    /// now.
    fn range(&self, encoding: Encoding, start: usize) -> Result<Option<(u64, u64)>> {
        let LineSpan { start: from, end: to } = self.span;
        let is_from_end = |end: Option<LineEnd>| matches!(end, Some(LineEnd::FromEnd(_)));
        let mut scan = LineScan::new(encoding, start as u64);
        let (mut at, size) = (start, self.file.len_bytes());
        while at < size && (is_from_end(from) || is_from_end(to)) {
            let Some(view) = self.bytes(at, size.min(at + STEP))? else { return Ok(None) };
            scan.push(view.bytes());
            at += view.bytes().len();
        }
        self.span.lines(scan.total()).map(Some)
    }

    /// The error for bytes behind the text in `lines`, of which whole lines were given.
    fn explained(&self, error: DecodeError, encoding: Encoding, lines: &Lines) -> Error {
        let Undecodable { bytes, why, .. } = match error {
            DecodeError::Nul => return Error::NotText { name: self.name.into() },
            DecodeError::Undecodable(undecodable) => undecodable,
        };
        let (line, column) = match lines.rest.ends_with('\r') {
            true => (lines.line + 1, 1),
            false => (lines.line, 1 + lines.dropped + lines.rest.chars().count() as u64),
        };
        Error::Undecodable { encoding, line, column, bytes, why }
    }

    /// Bytes of the file. `None` if it is shorter now.
    fn bytes(&self, start: usize, end: usize) -> Result<Option<FileView>> {
        self.control.check()?;
        match self.file.clone().view(start..end) {
            Ok(view) => Ok(Some(view)),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(None),
            Err(error) => Err(Error::read(self.name, error)),
        }
    }
}

/// The text behind the lines that were given, and where it stands.
struct Lines<'l> {
    sink: &'l mut dyn LineSink,
    /// The first line that is wanted.
    start: u64,
    /// The last one.
    end: u64,
    /// The 0-based number of the line with which the rest begins.
    line: u64,
    rest: String,
    /// Characters of that line that were dropped.
    dropped: u64,
}

impl Lines<'_> {
    /// Gives the whole lines in the rest to the sink; at the end of the text, all of it. Returns whether more are wanted.
    fn give(&mut self, is_end: bool) -> Result<bool> {
        let end = if is_end { self.rest.len() } else { whole_lines(&self.rest) };
        let goes_on = self.give_lines(end)?;
        self.rest.drain(..end);
        // A CR at the end ends the line as soon as it is known what follows it.
        if self.rest.len() > LONGEST && goes_on && !self.rest.ends_with('\r') {
            if self.line >= self.start {
                return Err(Error::LongLine { line: self.line, max: LONGEST as u64 });
            }
            self.dropped += self.rest.chars().count() as u64;
            self.rest.clear();
        }
        if is_end && self.dropped > 0 {
            self.line += 1;
        }
        Ok(goes_on)
    }

    /// From now on, lines are only counted.
    fn want_no_more(&mut self) {
        (self.start, self.end) = (u64::MAX, u64::MAX);
    }

    /// Gives the lines in the first `end` bytes of the rest, as far as they are wanted.
    fn give_lines(&mut self, end: usize) -> Result<bool> {
        let block = &self.rest[..end];
        if block.is_empty() {
            return Ok(true);
        }
        let first = self.line;
        let skipped = self.start.saturating_sub(first);
        let mut scan = LineScan::new(Encoding::Utf8, 0).noting(skipped, self.end - first);
        scan.push(block.as_bytes());
        self.line += scan.total();
        self.dropped = 0;
        if self.line <= self.start {
            return Ok(true);
        }
        let place = scan.place();
        let end = if scan.has_end() { behind_break(block.as_bytes(), place.end as usize) } else { end };
        let goes_on = self.sink.take(first + skipped, &block[place.start as usize..end])?;
        Ok(goes_on && !scan.has_end())
    }
}

/// The end of the last line that is complete.
fn whole_lines(text: &str) -> usize {
    let bytes = text.as_bytes();
    // A CR at the end may be the first half of a break.
    let searched = bytes.strip_suffix(b"\r").unwrap_or(bytes);
    memchr::memrchr2(b'\n', b'\r', searched).map_or(0, |at| at + 1)
}
