//! Reads parts of a text by what a client sees of it: its beginning, its end, a range of lines, or from one byte on
//! (contract 11, 13). A part can be limited in bytes; then it says where it goes on.
//!
//! The beginning and the end of a large file are found without an index of the whole. Knows no protocol and no words.

use std::io;
use std::ops::Range;
use std::sync::Arc;

use super::excerpt::Excerpt;
use super::ranges::{Selection, TextPart};
use super::{ATTEMPTS, Workspace};
use folder::fs::view::{MAP_CUTOFF, OpenFile};
use folder::{Control, Error, FilePath, FileVersion, Result};
use text::encoding::{Encoding, EncodingChoice, EncodingSource, Likely, before_character, newlines_in};
use text::lines::BOM;

/// A part that was read.
#[derive(Debug)]
pub struct PartRead {
    /// Its bytes.
    pub excerpt: Excerpt,
    /// Its place in the file, in bytes.
    pub at: Range<u64>,
    /// Size of the file in bytes.
    pub size: u64,
    /// The 0-based number of its first line, if known.
    pub first_line: Option<u64>,
    /// Lines in the file, if known.
    pub total_lines: Option<usize>,
    /// It was cut at the limit: more of what was wanted comes after it.
    pub is_cut: bool,
    /// The version of the file.
    pub version: FileVersion,
    /// The encoding of the file, of which the excerpt is the text in UTF-8.
    pub encoding: Encoding,
    /// How that is known.
    pub encoding_source: EncodingSource,
    /// The bytes of the file from the beginning of the part on, if how many of them it takes is not known from its text; and
    /// how many bytes before the part stand in front of them, which say what they mean.
    pub(super) source: (Vec<u8>, usize),
}

impl PartRead {
    /// What the text likely is, if it was read as UTF-8 and its escape sequences say another encoding.
    pub fn likely(&self) -> Option<Likely> {
        self.excerpt.likely().filter(|_| self.encoding == Encoding::Utf8)
    }

    /// Whether the part ends at the end of a line, and not inside one.
    pub fn ends_a_line(&self) -> bool {
        !self.is_cut || matches!(self.excerpt.bytes().last(), Some(b'\n' | b'\r'))
    }

    /// Cuts the part to at most `limit` bytes, as the read does.
    pub fn cut(&mut self, limit: usize) {
        self.is_cut |= self.excerpt.cut(limit);
        self.set_end();
    }

    /// Notes where the excerpt ends in the file, after it was cut.
    pub(super) fn set_end(&mut self) {
        let start = self.at.start;
        self.at = match self.encoding {
            Encoding::Utf8 => self.excerpt.place(),
            encoding if encoding.is_multibyte() => {
                let (source, before) = &self.source;
                let (len, text) = encoding.source_len(source, self.excerpt.bytes().len());
                self.excerpt.cut(text);
                start..start + len.saturating_sub(*before) as u64
            }
            encoding => start..start + encoding.len_of(self.excerpt.bytes()),
        };
    }
}

/// Files up to this size, in bytes, are indexed for the sake of the number of their lines.
pub(super) const INDEXED: usize = 16 << 20;

/// Bytes that are searched for line breaks at once.
pub(super) const STEP: usize = MAP_CUTOFF;

impl Workspace {
    /// Reads a part of the file at `path`, at most `limit` bytes of its text in UTF-8; without a limit, at most
    /// [`WorkspaceOptions::max_bytes`] of the file. The file may be of any size.
    ///
    /// [`WorkspaceOptions::max_bytes`]: super::WorkspaceOptions::max_bytes
    pub fn read_part(
        &self,
        path: &FilePath,
        part: TextPart,
        encoding: EncodingChoice,
        limit: Option<usize>,
        control: &Control,
    ) -> Result<PartRead> {
        for _ in 0..ATTEMPTS {
            control.check()?;
            let found = self.find(path, control)?;
            let Some(file) = self.open_place(&found.place, path.sent(), control)? else { continue };
            if limit.is_none() && part == TextPart::Whole {
                self.check_whole(file.stamp().len, file.stamp().len)?;
            }
            let Some(version) = self.version(&file, path.sent(), control)? else { continue };
            let wanted = PartOf { file: &file, name: path.sent(), part, limit, version, control };
            let read = match encoding {
                EncodingChoice::Is(Encoding::Utf8) => self.part_of(&wanted),
                encoding => self.part_in(&wanted, encoding),
            };
            if let Some(read) = read? {
                if limit.is_none() {
                    self.check_whole(read.at.end - read.at.start, read.size)?;
                }
                return Ok(read);
            }
        }
        Err(Error::Changed { name: path.sent().into() })
    }

    /// A part of a text in UTF-8. `None` if the file changes meanwhile.
    pub(super) fn part_of(&self, wanted: &PartOf) -> Result<Option<PartRead>> {
        let PartOf { file, name, part, limit, control, .. } = *wanted;
        let size = file.len_bytes();
        let is_known = size <= INDEXED || limit.is_none() || self.cache.get(file.stamp()).is_some();
        let indexed = match part {
            TextPart::Lines(range) => self.lines_part(file, name, Selection::Lines(range), control)?,
            TextPart::LastLines(count) => self.lines_part(file, name, Selection::Last(count), control)?,
            TextPart::Span { span, most } => {
                self.lines_part(file, name, Selection::Span(span, most), control)?
            }
            TextPart::LinesFrom { range, byte } => {
                let lines = self.lines_part(file, name, Selection::Lines(range), control)?;
                lines.map(|lines| lines.starting_at(byte))
            }
            TextPart::Whole if is_known => self.raw_part(file, name, control)?,
            _ => return unindexed_part(wanted),
        };
        let Some(mut excerpt) = indexed else { return Ok(None) };
        let is_cut = limit.is_some_and(|limit| excerpt.cut(limit));
        let (first_line, total_lines) = (Some(excerpt.lines.start as u64), Some(excerpt.total));
        Ok(Some(PartRead { first_line, total_lines, ..wanted.read(excerpt, is_cut) }))
    }
}

/// A part of an open file.
pub(super) struct PartOf<'p> {
    pub(super) file: &'p Arc<OpenFile>,
    pub(super) name: &'p str,
    pub(super) part: TextPart,
    pub(super) limit: Option<usize>,
    pub(super) version: FileVersion,
    pub(super) control: &'p Control,
}

impl PartOf<'_> {
    /// The part of a text in UTF-8 that was read, of which no line is known.
    fn read(&self, excerpt: Excerpt, is_cut: bool) -> PartRead {
        PartRead {
            at: excerpt.place(),
            excerpt,
            size: self.file.len_bytes() as u64,
            first_line: None,
            total_lines: None,
            is_cut,
            version: self.version,
            encoding: Encoding::Utf8,
            encoding_source: EncodingSource::Given,
            source: (Vec::new(), 0),
        }
    }

    /// The place of a part that is found without an index, if its text begins at the byte `start`. `None` if the file has
    /// changed.
    pub(super) fn place(&self, encoding: Encoding, start: usize) -> Result<Option<Range<usize>>> {
        let size = self.file.len_bytes();
        let search = Search { file: self.file, encoding, limit: self.limit, control: self.control };
        let place = match self.part {
            TextPart::Head(count) => search.head(start, count),
            TextPart::Tail(count) => search.tail(start, count),
            TextPart::From { byte, pieces } => search.from(byte, pieces),
            _ => Ok(start..size),
        };
        self.checked(place)
    }

    /// What was read of the file. `None` if the file has changed.
    pub(super) fn checked<T>(&self, read: io::Result<T>) -> Result<Option<T>> {
        match read {
            Ok(read) => Ok(Some(read)),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(None),
            Err(error) => {
                self.control.check()?;
                Err(Error::read(self.name, error))
            }
        }
    }
}

/// A part whose place is found without an index.
fn unindexed_part(wanted: &PartOf) -> Result<Option<PartRead>> {
    let PartOf { file, name, part, limit, .. } = *wanted;
    let Some(place) = wanted.place(Encoding::Utf8, 0)? else { return Ok(None) };
    let Some(mut excerpt) = Excerpt::of_bytes(file.clone(), place.clone(), limit, name)? else {
        return Ok(None);
    };
    let is_cut = limit.is_some_and(|limit| excerpt.cut(limit)) || excerpt.place().end < place.end as u64;
    let first_line = (place.start <= BOM.len() && !matches!(part, TextPart::From { .. })).then_some(0);
    Ok(Some(PartRead { first_line, ..wanted.read(excerpt, is_cut) }))
}

/// Finds parts in the bytes of a file.
struct Search<'s> {
    file: &'s Arc<OpenFile>,
    encoding: Encoding,
    limit: Option<usize>,
    control: &'s Control,
}

impl Search<'_> {
    /// Ends a search in an operation that must stop. The error is the caller's to tell.
    fn check(&self) -> io::Result<()> {
        self.control.check().map_err(|_| io::ErrorKind::Interrupted.into())
    }

    /// The place from this byte on: so many pieces between `\n`, or all. A byte inside a character (the file has changed
    /// since the place was found) means the next character's.
    fn from(&self, byte: u64, pieces: Option<u64>) -> io::Result<Range<usize>> {
        let size = self.file.len_bytes();
        let start =
            usize::try_from(byte).unwrap_or(size).min(size).next_multiple_of(self.encoding.unit()).min(size);
        let view = self.file.clone().view(start..size.min(start + 4))?;
        let start = start + before_character(self.encoding, view.bytes());
        match pieces {
            Some(count) => self.head(start, count),
            None => Ok(start..size),
        }
    }

    /// The place of the first `count` pieces between `\n` from the byte `start` on. With a limit, no more than that is
    /// searched.
    fn head(&self, start: usize, count: u64) -> io::Result<Range<usize>> {
        let (size, unit) = (self.file.len_bytes(), self.encoding.unit());
        let most = self.limit.map(|limit| limit.saturating_mul(unit).saturating_add(STEP));
        let (mut at, mut left) = (start, count);
        while at < size && left > 0 {
            let end = size.min(at + STEP);
            self.check()?;
            let view = self.file.clone().view(at..end)?;
            for place in newlines_in(self.encoding, view.bytes()) {
                left -= 1;
                if left == 0 {
                    return Ok(start..at + place);
                }
            }
            at = end;
            if most.is_some_and(|most| at - start > most) {
                break;
            }
        }
        // A final break starts no further piece at the beginning of a text.
        let last = size.saturating_sub(1) / unit * unit;
        let view = self.file.clone().view(last..size)?;
        let ends_in_break =
            at == size && start < size && newlines_in(self.encoding, view.bytes()).next().is_some();
        Ok(start..if count == 0 {
            start
        } else if ends_in_break {
            last
        } else {
            size
        })
    }

    /// The place of the last `count` pieces between `\n` of a text that begins at the byte `first`.
    fn tail(&self, first: usize, count: u64) -> io::Result<Range<usize>> {
        let (size, unit) = (self.file.len_bytes(), self.encoding.unit());
        let (mut at, mut left) = (size, count);
        if count == 0 {
            return Ok(size..size);
        }
        while at > first {
            let start = at.saturating_sub(STEP).next_multiple_of(unit);
            self.check()?;
            let view = self.file.clone().view(start..at)?;
            for place in newlines_in(self.encoding, view.bytes()).rev() {
                left -= 1;
                if left == 0 {
                    return Ok(start + place + unit..size);
                }
            }
            at = start;
        }
        Ok(first..size)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use proptest::prelude::*;

    use super::super::ranges::LineRange;
    use super::*;
    use crate::WorkspaceOptions;
    use folder::fs::atomic::Durability;

    fn read(text: &str, part: TextPart, limit: Option<usize>) -> (String, bool, Option<usize>) {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("a"), text).unwrap();
        let options = WorkspaceOptions { durability: Durability::None, ..WorkspaceOptions::default() };
        let workspace = Workspace::open(&[dir.path().into()], options).unwrap();
        let path = workspace.parse_path("a").unwrap();
        let control = Control::new(Duration::from_secs(60));
        let read = workspace.read_part(&path, part, EncodingChoice::default(), limit, &control).unwrap();
        assert_eq!(read.size, text.len() as u64);
        let bytes = read.excerpt.bytes().to_vec();
        assert_eq!(&text.as_bytes()[read.at.start as usize..read.at.end as usize], bytes);
        (String::from_utf8(bytes).unwrap(), read.is_cut, read.total_lines)
    }

    /// The first pieces between `\n`, as the reference server tells them.
    fn naive_head(text: &str, count: usize) -> String {
        let pieces = text.strip_suffix('\n').unwrap_or(text).split('\n');
        pieces.take(count).collect::<Vec<_>>().join("\n")
    }

    fn naive_tail(text: &str, count: usize) -> String {
        let pieces: Vec<&str> = text.split('\n').collect();
        pieces[pieces.len().saturating_sub(count)..].join("\n")
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn beginning_and_end_are_the_pieces_between_breaks(
            text in "(a|\n|\r\n|\r|é){0,30}",
            count in 1..8usize,
        ) {
            prop_assert_eq!(read(&text, TextPart::Head(count as u64), None).0, naive_head(&text, count));
            prop_assert_eq!(read(&text, TextPart::Tail(count as u64), None).0, naive_tail(&text, count));
        }

        #[test]
        fn a_limited_part_goes_on_where_it_was_cut(text in "(abc|\n|\r\n|\r|é漢){0,40}", limit in 3..20usize) {
            let (mut all, mut at) = (String::new(), 0);
            loop {
                let on = TextPart::From { byte: at as u64, pieces: None };
                let part = if at == 0 { TextPart::Whole } else { on };
                let (shown, is_cut, _) = read(&text, part, Some(limit));
                prop_assert!(shown.len() <= limit);
                at += shown.len();
                all += &shown;
                if !is_cut {
                    break;
                }
                prop_assert!(!shown.is_empty());
            }
            prop_assert_eq!(all, text);
        }
    }

    #[test]
    fn a_limit_cuts_at_the_end_of_a_line_and_in_no_crlf_behind_a_mark_too() {
        for mark in ["", "\u{feff}"] {
            let text = mark.to_owned() + &"aé漢😀\r\n".repeat(9);
            for limit in 12..60 {
                for part in [TextPart::Tail(9), TextPart::Head(9), TextPart::Tail(3)] {
                    let (shown, is_cut, _) = read(&text, part, Some(limit));
                    assert!(
                        shown.len() <= limit && (!is_cut || shown.ends_with("\r\n")),
                        "{limit} {shown:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn large_texts_are_searched_in_steps() {
        let text = "0123456789\n".repeat(30_000);
        assert_eq!(read(&text, TextPart::Tail(20_001), None).0, &text[text.len() - 20_000 * 11..]);
        assert_eq!(read(&text, TextPart::Head(20_000), None).0, &text[..20_000 * 11 - 1]);
        let (shown, is_cut, total) = read(&text, TextPart::Head(20_000), Some(100));
        assert_eq!((shown.as_str(), is_cut, total), (&text[..99], true, None));
        let (shown, is_cut, total) = read(&text, TextPart::Whole, Some(100));
        assert_eq!((shown.as_str(), is_cut, total), (&text[..99], true, Some(30_000)));
    }

    #[test]
    fn lines_are_those_of_the_contract() {
        let range = |start, end| TextPart::Lines(LineRange { start: Some(start), end });
        let (shown, is_cut, total) = read("a\rb\r\nc\nd", range(1, Some(2)), None);
        assert_eq!((shown.as_str(), is_cut, total), ("b\r\nc", false, Some(4)));
        let (shown, is_cut, _) = read("aa\nbb\ncc\ndd", range(1, None), Some(5));
        assert_eq!((shown.as_str(), is_cut), ("bb\n", true));
    }
}
