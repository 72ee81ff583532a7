//! Reads parts of files in other encodings than UTF-8: finds the part in the encoded bytes, and decodes no more than is
//! wanted.
//!
//! Blocks are read and decoded one after the other, so a limited part takes little memory whatever the size of the file.
//! A line range is found in one pass over the file. Knows no tables of encodings.

use std::io;
use std::ops::Range;
use std::sync::Arc;

use super::excerpt::Excerpt;
use super::parts::{INDEXED, PartOf, PartRead, STEP, TextPart};
use super::read::{LineRange, Selection};
use super::{ATTEMPTS, Workspace};
use crate::engine::encoding::{
    DecodeError, Decoder, Encoding, EncodingChoice, Likely, LineScan, Undecodable, characters_in, likely,
};
use crate::engine::fs::view::{FileView, OpenFile};
use crate::engine::path::FilePath;
use crate::engine::{Control, Error, Result};

/// How the encoding of a file is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EncodingSource {
    /// The client gave it, or it is UTF-8 because nothing speaks against it.
    Given,
    /// The byte order mark says it.
    Mark,
    /// It is the likely one.
    Guess,
}

/// The part of a text that was decoded.
struct Decoded {
    text: String,
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
        let by_mark = Encoding::of_mark(first.bytes()).filter(|encoding| encoding.unit() == 2);
        let (encoding, source) = match (choice, by_mark) {
            (EncodingChoice::Is(encoding), _) => (encoding, EncodingSource::Given),
            (EncodingChoice::Utf16, by_mark) => (by_mark.unwrap_or(Encoding::Utf16Le), EncodingSource::Given),
            (EncodingChoice::Auto, Some(encoding)) => (encoding, EncodingSource::Mark),
            (EncodingChoice::Auto, None) => match self.part_of(wanted) {
                Err(error @ (Error::InvalidUtf8 | Error::NotText { .. })) => {
                    match wanted.checked(likely_of(wanted.file, wanted.control))?.flatten() {
                        Some(Likely::Known(EncodingChoice::Is(encoding))) => {
                            (encoding, EncodingSource::Guess)
                        }
                        _ => return Err(error),
                    }
                }
                read => return read,
            },
        };
        let mark = encoding.mark();
        let start = if !mark.is_empty() && first.bytes().starts_with(mark) { mark.len() } else { 0 };
        Source { of: wanted, encoding, start }.read(source)
    }
}

/// The likely encoding of a file, by its beginning and by the first part that is not ASCII.
fn likely_of(file: &Arc<OpenFile>, control: &Control) -> io::Result<Option<Likely>> {
    let first = file.clone().view(0..STEP)?;
    let mut at = 0;
    let sample = loop {
        control.check().map_err(|_| io::Error::from(io::ErrorKind::Interrupted))?;
        let sample = file.clone().view(at..at + STEP)?;
        at += STEP;
        if !sample.bytes().is_ascii() || at >= file.len_bytes() {
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
        let Some(Decoded { text, has_more }) = self.decode(place.clone())? else { return Ok(None) };
        let mut excerpt = Excerpt::decoded(text, file.clone(), lines.clone(), total.unwrap_or(0));
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
        Ok(Some(PartRead {
            at: start..start + self.encoding.len_of(excerpt.bytes()),
            excerpt,
            size: size as u64,
            first_line,
            total_lines: total,
            is_cut,
            version,
            encoding: self.encoding,
            encoding_source,
        }))
    }

    fn locate(&self) -> Result<Option<Located>> {
        match self.of.part {
            TextPart::Lines(range) => self.locate_lines(|total| range.within(total)),
            TextPart::LastLines(count) => self.locate_lines(|total| Selection::Last(count).within(total)),
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
        let guessed = match self.of.part {
            TextPart::Lines(range) => range.within(usize::MAX)?,
            _ => 0..0,
        };
        let Some(mut scan) = self.scan(self.start, size, self.lines_of(&guessed))? else { return Ok(None) };
        let total = scan.total() as usize;
        let lines = choose(total)?;
        if matches!(self.of.part, TextPart::LastLines(_)) {
            let Some(second) = self.scan(self.start, size, self.lines_of(&lines))? else { return Ok(None) };
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
        Ok(Some(Located { place: place.start..end.max(place.start), lines: line..line + 1, total: None }))
    }

    /// A count of the lines of the text.
    fn lines(&self) -> LineScan {
        LineScan::new(self.encoding, self.start as u64)
    }

    fn lines_of(&self, lines: &Range<usize>) -> LineScan {
        self.lines().noting(lines.start as u64, (lines.end as u64).saturating_sub(1))
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

    /// The text of the bytes, or somewhat more than the limit of it.
    fn decode(&self, place: Range<usize>) -> Result<Option<Decoded>> {
        let limit = self.of.limit;
        let unit = self.encoding.unit();
        let step = limit.map_or(STEP, |limit| limit.saturating_add(8).saturating_mul(unit).min(STEP));
        let mut text = String::with_capacity(if limit.is_none() { 2 * place.len() } else { 0 });
        let (mut decoder, mut at) = (Decoder::new(self.encoding), place.start);
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
        };
        match decoded {
            // What is wrong lies behind what is shown.
            Err(_) if is_full(&text) => Ok(Some(Decoded { text, has_more: true })),
            Ok(()) => Ok(Some(Decoded { text, has_more: at < place.end })),
            Err(error) if self.of.file.unchanged() => Err(self.explained(error, place.start)?),
            Err(_) => Ok(None),
        }
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
        let (mut column, mut from) = (1, begins as usize);
        while from < at {
            let view = self.bytes(from, at.min(from + STEP))?.ok_or_else(changed)?;
            column += characters_in(self.encoding, view.bytes());
            from += view.bytes().len();
        }
        Ok(Error::Undecodable { encoding: self.encoding, line, column, bytes, why })
    }

    /// Bytes of the file. `None` if it is shorter now.
    fn bytes(&self, start: usize, end: usize) -> Result<Option<FileView>> {
        self.of.control.check()?;
        let view = self.of.file.clone().view(start..end);
        self.of.checked(view)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use proptest::prelude::*;

    use super::*;
    use crate::engine::{Durability, WorkspaceOptions};

    /// A folder with a file `a`.
    fn folder(bytes: &[u8]) -> (tempfile::TempDir, Workspace) {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("a"), bytes).unwrap();
        let options = WorkspaceOptions {
            durability: Durability::None,
            max_bytes: 100 << 20,
            ..WorkspaceOptions::default()
        };
        let workspace = Workspace::open(&[dir.path().into()], options).unwrap();
        (dir, workspace)
    }

    fn read(
        workspace: &Workspace,
        part: TextPart,
        choice: EncodingChoice,
        limit: Option<usize>,
    ) -> Result<PartRead> {
        let path = workspace.parse_path("a").unwrap();
        workspace.read_part(&path, part, choice, limit, &Control::new(Duration::from_secs(60)))
    }

    /// What a client sees of a part.
    fn seen(read: Result<PartRead>) -> String {
        read.map_or_else(
            |error| format!("{error:?}"),
            |read| {
                let text = String::from_utf8(read.excerpt.bytes().to_vec()).unwrap();
                // Lines of a part that is not cut need not be counted.
                let total = read.total_lines.filter(|_| read.is_cut);
                let first = total.and(read.first_line);
                format!("{text:?} {} {first:?} {total:?}", read.is_cut)
            },
        )
    }

    fn encoded(encoding: Encoding, with_mark: bool, text: &str) -> Vec<u8> {
        let mut bytes = if with_mark { encoding.mark().to_vec() } else { Vec::new() };
        encoding.encode(text, &mut bytes).unwrap();
        bytes
    }

    fn parts() -> impl Strategy<Value = TextPart> {
        let range = (proptest::option::of(0..6u64), proptest::option::of(0..6u64));
        prop_oneof![
            Just(TextPart::Whole),
            (0..5u64).prop_map(TextPart::Head),
            (0..5u64).prop_map(TextPart::Tail),
            (1..5u64).prop_map(TextPart::LastLines),
            range.prop_map(|(start, end)| TextPart::Lines(LineRange { start, end })),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(400))]
        #[test]
        fn a_part_in_any_encoding_is_that_of_the_same_text_in_utf_8(
            text in "(ab|Ж|й|\n|\r\n|\r){0,20}",
            with_mark in any::<bool>(),
            part in parts(),
            limit in proptest::option::of(4..20usize),
        ) {
            let (_dir, workspace) = folder(&encoded(Encoding::Utf8, with_mark, &text));
            let expected = seen(read(&workspace, part, EncodingChoice::default(), limit));
            for encoding in [Encoding::Utf16Le, Encoding::Utf16Be, Encoding::Windows1251] {
                let (_dir, workspace) = folder(&encoded(encoding, with_mark, &text));
                let given = seen(read(&workspace, part, EncodingChoice::Is(encoding), limit));
                prop_assert_eq!(&given, &expected, "{:?}", encoding);
                if with_mark && encoding.unit() == 2 {
                    for choice in [EncodingChoice::Utf16, EncodingChoice::Auto] {
                        let found = seen(read(&workspace, part, choice, limit));
                        prop_assert_eq!(&found, &expected, "{:?} {:?}", encoding, choice);
                    }
                }
            }
        }

        #[test]
        fn a_limited_part_goes_on_where_it_was_cut(
            text in "(abc|\n|\r\n|\r|é漢😀){0,40}",
            limit in 4..20usize,
            with_lines in any::<bool>(),
        ) {
            let choice = EncodingChoice::Utf16;
            let (_dir, workspace) = folder(&encoded(Encoding::Utf16Be, true, &text));
            let (mut all, mut part) = (String::new(), TextPart::Whole);
            loop {
                let read = read(&workspace, part, choice, Some(limit)).unwrap();
                prop_assert!(read.excerpt.bytes().len() <= limit);
                all += std::str::from_utf8(read.excerpt.bytes()).unwrap();
                if !read.is_cut {
                    break;
                }
                prop_assert!(!read.excerpt.bytes().is_empty());
                let (byte, range) = (read.at.end, LineRange { start: Some(0), end: None });
                part = match with_lines {
                    true => TextPart::LinesFrom { range, byte },
                    false => TextPart::From { byte, pieces: None },
                };
            }
            let end = if with_lines && part != TextPart::Whole { text.trim_end_matches(['\r', '\n']) } else { &text };
            prop_assert!(all.starts_with(end) && text.starts_with(&all), "{:?} {:?}", all, text);
        }
    }

    #[test]
    fn texts_of_many_blocks_are_read_as_in_utf_8() {
        let text = "строка текста Ж😀\r\n".repeat(30_000);
        let (_dir, utf_8) = folder(text.as_bytes());
        let (_dir2, other) = folder(&encoded(Encoding::Utf16Le, true, &text));
        let range = |start, end| TextPart::Lines(LineRange { start: Some(start), end: Some(end) });
        for part in [
            TextPart::Whole,
            TextPart::Head(20_000),
            TextPart::Tail(20_000),
            TextPart::LastLines(20_000),
            range(4_000, 29_000),
            range(29_999, 90_000),
        ] {
            for limit in [None, Some(100), Some(200_000)] {
                let expected = seen(read(&utf_8, part, EncodingChoice::default(), limit));
                assert!(
                    seen(read(&other, part, EncodingChoice::Auto, limit)) == expected,
                    "{part:?} {limit:?}"
                );
            }
        }
    }

    #[test]
    fn an_error_is_told_by_its_line_and_column_in_the_file_wherever_the_part_begins() {
        let line = "строка\r\n";
        let mut bytes = encoded(Encoding::Utf16Le, true, &line.repeat(20_000));
        bytes.extend_from_slice(b"a\0b\0\x01\xDCc\0");
        let (_dir, workspace) = folder(&bytes);
        let last = TextPart::Tail(1);
        for part in
            [TextPart::Whole, last, TextPart::LastLines(3), TextPart::From { byte: 40_002, pieces: None }]
        {
            let Err(Error::Undecodable { encoding, line, column, bytes, why }) =
                read(&workspace, part, EncodingChoice::Auto, None)
            else {
                panic!("{part:?} is no error");
            };
            assert_eq!((encoding, line, column), (Encoding::Utf16Le, 20_000, 3), "{part:?}");
            assert_eq!((&bytes[..], why), (&b"\x01\xDC"[..], crate::engine::Malformed::LoneSurrogate));
        }
        // What lies behind the part that is shown is not looked at.
        assert!(read(&workspace, TextPart::Whole, EncodingChoice::Auto, Some(1_000)).is_ok());
    }

    #[test]
    fn auto_takes_utf_8_where_it_is_valid_and_else_the_likely_encoding() {
        let text = "Съешь ещё этих мягких французских булок.\n".repeat(9);
        let (_dir, workspace) = folder(text.as_bytes());
        let found = read(&workspace, TextPart::Whole, EncodingChoice::Auto, None).unwrap();
        assert_eq!((found.encoding, found.encoding_source), (Encoding::Utf8, EncodingSource::Given));
        // The part that is not ASCII is far from the beginning.
        let text = "x\n".repeat(100_000) + &text;
        let (_dir, workspace) = folder(&encoded(Encoding::Windows1251, false, &text));
        let found = read(&workspace, TextPart::Whole, EncodingChoice::Auto, None).unwrap();
        assert_eq!((found.encoding, found.encoding_source), (Encoding::Windows1251, EncodingSource::Guess));
        assert_eq!(found.excerpt.bytes(), text.as_bytes());
        let (_dir, workspace) = folder(b"\x7fELF\x02\x01\0\0\0\0");
        let binary = read(&workspace, TextPart::Whole, EncodingChoice::Auto, None);
        assert!(matches!(binary, Err(Error::NotText { .. })));
    }
}
