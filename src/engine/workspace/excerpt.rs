//! The bytes that a read gives: lines or other parts of an open file, not copied.

use std::io;
use std::ops::Range;
use std::sync::Arc;

use folder::fs::version::FileStamp;
use folder::fs::view::{FileView, OpenFile};
use folder::{Error, Result};
use text::encoding::{Encoding, Likely, hidden};
use text::lines::{BOM, LineIndex, NotText, char_boundary};

/// The result of a read. Large results are mapped, not copied.
#[derive(Debug)]
pub struct Excerpt {
    pub(super) view: FileView,
    pub(super) bytes: Range<usize>,
    /// The lines returned, 0-based, end exclusive.
    pub lines: Range<usize>,
    /// Lines in the file.
    pub total: usize,
    /// The bytes are a copy that was verified: they cannot change any more.
    pub(super) settled: bool,
    /// See [`Excerpt::encoding`].
    pub(super) encoding: Encoding,
}

impl Excerpt {
    /// The bytes of the lines, without the line break of the last one. They may change while they are read.
    pub fn bytes(&self) -> &[u8] {
        &self.view.bytes()[self.bytes.clone()]
    }

    /// The encoding of the bytes, all of which are characters of it. UTF-8, but in a long text of another encoding, which is
    /// decoded when it is used.
    pub fn encoding(&self) -> Encoding {
        self.encoding
    }

    /// What the text likely is, if its escape sequences or controls say another encoding than UTF-8, as which it was read.
    pub fn likely(&self) -> Option<Likely> {
        hidden(self.bytes())
    }

    /// A copy of the bytes as text. `name` is for the error: the file has changed, or the system failed to read it.
    pub fn text(&self, name: &str) -> Result<String> {
        let bytes = self.bytes().to_vec();
        let text = match self.encoding {
            Encoding::Utf8 => String::from_utf8(bytes).ok(),
            encoding => encoding.decode(&bytes).ok(),
        };
        self.check(name)?;
        text.ok_or_else(|| Error::Changed { name: name.into() })
    }

    /// Refuses bytes read so far that are not those that the file held when it was opened.
    pub fn check(&self, name: &str) -> Result<()> {
        match self.settled || unchanged(&self.view, name)? {
            true => Ok(()),
            false => Err(Error::Changed { name: name.into() }),
        }
    }

    /// The state of the file that was read.
    pub fn stamp(&self) -> &FileStamp {
        self.view.file().stamp()
    }

    /// The place of the bytes in the file.
    pub(super) fn place(&self) -> Range<u64> {
        let at = |byte: usize| (self.view.offset() + byte) as u64;
        at(self.bytes.start)..at(self.bytes.end)
    }

    /// Cuts the excerpt to at most `limit` bytes, at the end of a line if one ends there. Returns whether it was longer.
    pub fn cut(&mut self, limit: usize) -> bool {
        let len = cut_end(self.bytes(), limit);
        let is_cut = len < self.bytes.len();
        self.bytes.end = self.bytes.start + len;
        is_cut
    }

    /// The same without what stands before this byte of the file. Inside a character: without the character.
    pub(super) fn starting_at(mut self, byte: u64) -> Excerpt {
        let at = usize::try_from(byte).unwrap_or(usize::MAX).saturating_sub(self.view.offset());
        let at = at.clamp(self.bytes.start, self.bytes.end);
        self.bytes.start = at + before_character(&self.view.bytes()[at..self.bytes.end]);
        self
    }

    /// The bytes `place` of a file, without an index; at most a little more than `limit`. `None` if the file has changed.
    pub(super) fn of_bytes(
        file: Arc<OpenFile>,
        place: Range<usize>,
        limit: Option<usize>,
        name: &str,
    ) -> Result<Option<Excerpt>> {
        let mark = if place.start == 0 { BOM.len() } else { 0 };
        // One byte more than the limit shows whether it cuts a break, and three complete a character.
        let wanted = limit.map_or(place.len(), |limit| place.len().min(limit.saturating_add(mark + 4)));
        let window = place.start..place.start + wanted;
        let Some(view) = loaded(file.view(window), name)? else { return Ok(None) };
        let end = limit.map_or(wanted, |limit| wanted.min(limit.saturating_add(mark + 1)));
        let end = end.min(view.bytes().len());
        let checked = &view.bytes()[..end + before_character(&view.bytes()[end..])];
        let text = LineIndex::build(checked).map_err(|why| not_text(why, name));
        if !unchanged(&view, name)? {
            return Ok(None);
        }
        text?;
        let start = if place.start == 0 && view.bytes().starts_with(BOM) { BOM.len() } else { 0 };
        let (bytes, settled) = (start..checked.len(), view.is_copy());
        Ok(Some(Excerpt { view, bytes, lines: 0..0, total: 0, settled, encoding: Encoding::Utf8 }))
    }

    /// All bytes of a view, which need not be text. The caller verifies them if they are a copy.
    pub(super) fn of_any_bytes(view: FileView) -> Excerpt {
        let (bytes, settled) = (0..view.bytes().len(), view.is_copy());
        Excerpt { view, bytes, lines: 0..0, total: 0, settled, encoding: Encoding::Utf8 }
    }

    /// A text that was decoded from a file, with its lines.
    pub(super) fn decoded(text: String, file: Arc<OpenFile>, lines: Range<usize>, total: usize) -> Excerpt {
        let view = FileView::made(text.into_bytes(), file);
        let (bytes, settled) = (0..view.bytes().len(), true);
        Excerpt { view, bytes, lines, total, settled, encoding: Encoding::Utf8 }
    }

    /// A text in this encoding, still encoded, with its lines. All of it was found to be characters. The caller verifies it
    /// afterwards.
    pub(super) fn encoded(view: FileView, encoding: Encoding, lines: Range<usize>, total: usize) -> Excerpt {
        let (bytes, settled) = (0..view.bytes().len(), view.is_copy());
        Excerpt { view, bytes, lines, total, settled, encoding }
    }

    /// Whether all bytes read so far are those that the file held when it was opened.
    pub fn unchanged(&self) -> bool {
        (!switches::is_off("read-copy") && self.settled) || self.view.unchanged()
    }
}

/// The end of the part of `bytes` to show if at most `limit` bytes are wanted: behind the last break, or at a character.
fn cut_end(bytes: &[u8], limit: usize) -> usize {
    if bytes.len() <= limit {
        return bytes.len();
    }
    let shown = &bytes[..limit];
    // Not between the two bytes of a CRLF.
    let splits = |end: usize| shown[end - 1] == b'\r' && bytes.get(end) == Some(&b'\n');
    match memchr::memrchr2(b'\n', b'\r', shown).map(|at| at + 1) {
        Some(end) if !splits(end) => end,
        Some(end) => memchr::memrchr2(b'\n', b'\r', &shown[..end - 1]).map_or(end - 1, |at| at + 1),
        None => char_boundary(bytes, limit),
    }
}

/// Number of bytes before the first character that begins in `bytes`, if they begin inside one.
pub(super) fn before_character(bytes: &[u8]) -> usize {
    bytes.iter().take(3).take_while(|byte| **byte & 0xC0 == 0x80).count()
}

/// A view of a file. `None` if the file is shorter now.
pub(super) fn loaded(view: io::Result<FileView>, name: &str) -> Result<Option<FileView>> {
    match view {
        Ok(view) => Ok(Some(view)),
        Err(error) if switches::is_off("read-error") || error.kind() == io::ErrorKind::UnexpectedEof => {
            Ok(None)
        }
        Err(error) => Err(Error::read(name, error)),
    }
}

/// See [`FileView::unchanged`]. Bytes that the system failed to read are an error: the file has not changed.
pub(super) fn unchanged(view: &FileView, name: &str) -> Result<bool> {
    view.is_unchanged().map_err(|error| Error::read(name, error))
}

/// The error for a file that is not text.
pub(super) fn not_text(why: NotText, name: &str) -> Error {
    match why {
        NotText::Nul => Error::NotText { name: name.into() },
        NotText::InvalidUtf8 => Error::InvalidUtf8,
    }
}
