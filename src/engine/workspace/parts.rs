//! Reads parts of a text by what a client sees of it: its beginning, its end, a range of lines, or from one byte on
//! (contract 11, 13). A part can be limited in bytes; then it says where it goes on.
//!
//! The beginning and the end of a large file are found without an index of the whole. Knows no protocol and no words.

use std::io;
use std::ops::Range;
use std::sync::Arc;

use super::excerpt::{Excerpt, before_character};
use super::read::{LineRange, Selection};
use super::{ATTEMPTS, Workspace};
use crate::engine::fs::view::{MAP_CUTOFF, OpenFile};
use crate::engine::path::FilePath;
use crate::engine::text::lines::BOM;
use crate::engine::{Control, Error, FileVersion, Result};

/// The part of a text that is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextPart {
    /// All of it, breaks as they are.
    Whole,
    /// The first pieces between `\n`, without the last `\n`.
    Head(u64),
    /// The last pieces between `\n`; after a final `\n` there is an empty one.
    Tail(u64),
    /// Lines as contract 3 defines them.
    Lines(LineRange),
    /// So many lines at the end, as contract 3 defines them.
    LastLines(u64),
    /// From this byte on: so many pieces between `\n`, as of the beginning, or all.
    From {
        /// The first byte. Inside a character: the next character's.
        byte: u64,
        /// Number of pieces.
        pieces: Option<u64>,
    },
    /// Lines, but only from this byte on, which is one of their first line.
    LinesFrom {
        /// The lines.
        range: LineRange,
        /// The first byte.
        byte: u64,
    },
}

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
}

impl PartRead {
    /// Whether the part ends at the end of a line, and not inside one.
    pub fn ends_a_line(&self) -> bool {
        !self.is_cut || matches!(self.excerpt.bytes().last(), Some(b'\n' | b'\r'))
    }

    /// Cuts the part to at most `limit` bytes, as the read does.
    pub fn cut(&mut self, limit: usize) {
        self.is_cut |= self.excerpt.cut(limit);
        self.at = self.excerpt.place();
    }
}

/// Files up to this size, in bytes, are indexed for the sake of the number of their lines.
const INDEXED: usize = 16 << 20;

/// Bytes that are searched for line breaks at once.
const STEP: usize = MAP_CUTOFF;

impl Workspace {
    /// Reads a part of the file at `path`, at most `limit` bytes of it.
    pub fn read_part(
        &self,
        path: &FilePath,
        part: TextPart,
        limit: Option<usize>,
        control: &Control,
    ) -> Result<PartRead> {
        for _ in 0..ATTEMPTS {
            control.check()?;
            let found = self.find(path, control)?;
            let Some(file) = self.open_place(&found.place, path.sent(), control)? else { continue };
            let Some(version) = self.version(&file, control)? else { continue };
            if let Some(read) = self.part_of(&file, path, part, limit, version, control)? {
                return Ok(read);
            }
        }
        Err(Error::Changed { name: path.sent().into() })
    }

    /// `None` if the file changes meanwhile.
    fn part_of(
        &self,
        file: &Arc<OpenFile>,
        path: &FilePath,
        part: TextPart,
        limit: Option<usize>,
        version: FileVersion,
        control: &Control,
    ) -> Result<Option<PartRead>> {
        let size = file.len_bytes();
        let name = path.sent();
        let is_known = size <= INDEXED || limit.is_none() || self.cache.get(file.stamp()).is_some();
        let indexed = match part {
            TextPart::Lines(range) => self.lines_part(file, name, Selection::Lines(range), control)?,
            TextPart::LastLines(count) => self.lines_part(file, name, Selection::Last(count), control)?,
            TextPart::LinesFrom { range, byte } => {
                let lines = self.lines_part(file, name, Selection::Lines(range), control)?;
                lines.map(|lines| lines.starting_at(byte))
            }
            TextPart::Whole if is_known => self.raw_part(file, name, control)?,
            _ => return self.unindexed_part(file, name, part, limit, version, control),
        };
        let Some(mut excerpt) = indexed else { return Ok(None) };
        let is_cut = limit.is_some_and(|limit| excerpt.cut(limit));
        let at = excerpt.place();
        let (first_line, total_lines) = (Some(excerpt.lines.start as u64), Some(excerpt.total));
        Ok(Some(PartRead { excerpt, at, size: size as u64, first_line, total_lines, is_cut, version }))
    }

    /// A part whose place is found without an index.
    fn unindexed_part(
        &self,
        file: &Arc<OpenFile>,
        name: &str,
        part: TextPart,
        limit: Option<usize>,
        version: FileVersion,
        control: &Control,
    ) -> Result<Option<PartRead>> {
        let size = file.len_bytes();
        let place = match part {
            TextPart::Head(count) => head(file, 0, count, limit, control),
            TextPart::Tail(count) => tail(file, count, control),
            TextPart::From { byte, pieces } => from(file, byte, pieces, limit, control),
            _ => Ok(0..size),
        };
        let place = match place {
            Ok(place) => place,
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
            Err(error) => {
                control.check()?;
                return Err(Error::read(name, error));
            }
        };
        let Some(mut excerpt) = Excerpt::of_bytes(file.clone(), place.clone(), limit, name)? else {
            return Ok(None);
        };
        let is_cut = limit.is_some_and(|limit| excerpt.cut(limit)) || excerpt.place().end < place.end as u64;
        let at = excerpt.place();
        let first_line = (place.start <= BOM.len() && !matches!(part, TextPart::From { .. })).then_some(0);
        Ok(Some(PartRead { excerpt, at, size: size as u64, first_line, total_lines: None, is_cut, version }))
    }
}

/// Ends a search in an operation that must stop. The error is the caller's to tell.
fn check(control: &Control) -> io::Result<()> {
    control.check().map_err(|_| io::ErrorKind::Interrupted.into())
}

/// The place from this byte on: so many pieces between `\n`, or all. A byte inside a character (the file has changed since
/// the place was found) means the next character's.
fn from(
    file: &Arc<OpenFile>,
    byte: u64,
    pieces: Option<u64>,
    limit: Option<usize>,
    control: &Control,
) -> io::Result<Range<usize>> {
    let size = file.len_bytes();
    let start = usize::try_from(byte).unwrap_or(size).min(size);
    let view = file.clone().view(start..size.min(start + 4))?;
    let start = start + before_character(view.bytes());
    match pieces {
        Some(count) => head(file, start, count, limit, control),
        None => Ok(start..size),
    }
}

/// The place of the first `count` pieces between `\n` from the byte `start` on. With a limit, no more than that is searched.
fn head(
    file: &Arc<OpenFile>,
    start: usize,
    count: u64,
    limit: Option<usize>,
    control: &Control,
) -> io::Result<Range<usize>> {
    let size = file.len_bytes();
    let (mut at, mut left) = (start, count);
    while at < size && left > 0 {
        let end = size.min(at + STEP);
        check(control)?;
        let view = file.clone().view(at..end)?;
        for place in memchr::memchr_iter(b'\n', view.bytes()) {
            left -= 1;
            if left == 0 {
                return Ok(start..at + place);
            }
        }
        at = end;
        if limit.is_some_and(|limit| at - start > limit + STEP) {
            break;
        }
    }
    // A final break starts no further piece at the beginning of a text.
    let view = file.clone().view(size.saturating_sub(1)..size)?;
    let ends_in_break = at == size && start < size && view.bytes() == b"\n";
    Ok(start..if count == 0 { start } else { size - usize::from(ends_in_break) })
}

/// The place of the last `count` pieces between `\n`.
fn tail(file: &Arc<OpenFile>, count: u64, control: &Control) -> io::Result<Range<usize>> {
    let size = file.len_bytes();
    let (mut at, mut left) = (size, count);
    if count == 0 {
        return Ok(size..size);
    }
    while at > 0 {
        let start = at.saturating_sub(STEP);
        check(control)?;
        let view = file.clone().view(start..at)?;
        for place in memchr::memrchr_iter(b'\n', view.bytes()) {
            left -= 1;
            if left == 0 {
                return Ok(start + place + 1..size);
            }
        }
        at = start;
    }
    Ok(0..size)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use proptest::prelude::*;

    use super::*;
    use crate::engine::{Durability, WorkspaceOptions};

    fn read(text: &str, part: TextPart, limit: Option<usize>) -> (String, bool, Option<usize>) {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("a"), text).unwrap();
        let options = WorkspaceOptions { durability: Durability::None, ..WorkspaceOptions::default() };
        let workspace = Workspace::open(&[dir.path().into()], options).unwrap();
        let path = workspace.parse_path("a").unwrap();
        let control = Control::new(Duration::from_secs(60));
        let read = workspace.read_part(&path, part, limit, &control).unwrap();
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
