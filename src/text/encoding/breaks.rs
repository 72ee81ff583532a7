//! Finds line breaks in encoded bytes, so that lines are counted without decoding them.

use super::Encoding;

/// The places of the units `\n` and `\r` in bytes that begin at a unit, and which of them it is.
pub fn breaks_in(encoding: Encoding, bytes: &[u8]) -> impl DoubleEndedIterator<Item = (usize, u8)> {
    let (unit, low) = (encoding.unit(), usize::from(encoding == Encoding::Utf16Be));
    let breaks = memchr::memchr2_iter(b'\n', b'\r', bytes);
    breaks.filter_map(move |at| Some((unit_at(unit, low, bytes, at)?, bytes[at])))
}

/// The places of the units `\n` only.
pub fn newlines_in(encoding: Encoding, bytes: &[u8]) -> impl DoubleEndedIterator<Item = usize> {
    let (unit, low) = (encoding.unit(), usize::from(encoding == Encoding::Utf16Be));
    memchr::memchr_iter(b'\n', bytes).filter_map(move |at| unit_at(unit, low, bytes, at))
}

/// The place of the unit whose byte at `at` is not 0, if its other one is.
fn unit_at(unit: usize, low: usize, bytes: &[u8], at: usize) -> Option<usize> {
    let is_unit = unit == 1 || (at % 2 == low && bytes.get(at ^ 1) == Some(&0));
    is_unit.then_some(at - at % unit)
}

/// Number of characters that begin in bytes.
fn characters_in(encoding: Encoding, bytes: &[u8]) -> u64 {
    bytes.chunks(encoding.unit()).filter(|unit| begins(encoding, unit)).count() as u64
}

/// Counts the characters of a text block by block, from the first byte of one on. Blocks end anywhere but inside a unit.
pub struct CharacterCount {
    encoding: Encoding,
    /// Where characters are not known by their own bytes.
    decoder: Option<encoding_rs::Decoder>,
    count: u64,
}

impl CharacterCount {
    /// No characters yet.
    pub fn new(encoding: Encoding) -> CharacterCount {
        let tables = encoding.row().tables.filter(|_| encoding.is_multibyte());
        let decoder = tables.map(|tables| tables.new_decoder_without_bom_handling());
        CharacterCount { encoding, decoder, count: 0 }
    }

    /// Takes the next block.
    pub fn push(&mut self, block: &[u8]) {
        match self.decoder {
            None => self.count += characters_in(self.encoding, block),
            Some(_) => self.decode(block, false),
        }
    }

    /// The number of characters; one that is not complete counts.
    pub fn finish(mut self) -> u64 {
        self.decode(&[], true);
        self.count
    }

    fn decode(&mut self, block: &[u8], is_last: bool) {
        let Some(decoder) = &mut self.decoder else { return };
        let mut text = String::new();
        text.reserve(decoder.max_utf8_buffer_length(block.len()).unwrap_or_default());
        // The room is enough for all of the block.
        let _ = decoder.decode_to_string(block, &mut text, is_last);
        self.count += text.chars().count() as u64;
    }
}

/// Number of bytes before the first character that begins in bytes, if they begin at a unit inside one.
pub fn before_character(encoding: Encoding, bytes: &[u8]) -> usize {
    let units = bytes.chunks(encoding.unit()).take(3);
    encoding.unit() * units.take_while(|unit| !begins(encoding, unit)).count()
}

fn begins(encoding: Encoding, unit: &[u8]) -> bool {
    match (encoding, unit) {
        (Encoding::Utf8, [byte]) => byte & 0xC0 != 0x80,
        (Encoding::Utf16Le, [_, high]) | (Encoding::Utf16Be, [high, _]) => high & 0xFC != 0xDC,
        _ => true,
    }
}

/// Counts the lines of a text block by block, and notes where some of them are.
#[derive(Debug, Clone)]
pub struct LineScan {
    encoding: Encoding,
    /// The line in which the next byte is, 0-based.
    line: u64,
    /// Where it begins.
    start: u64,
    /// It begins behind a `\r` that may be the first half of a break.
    after_cr: bool,
    /// Where the last break begins.
    last_break: u64,
    /// Where the next block begins.
    at: u64,
    /// The first wanted line; where it begins.
    first: (u64, Option<u64>),
    /// The last wanted line; where its break begins.
    last: (u64, Option<u64>),
}

impl LineScan {
    /// A scan of a text that begins at this byte.
    pub fn new(encoding: Encoding, start: u64) -> LineScan {
        let wanted = (u64::MAX, None);
        LineScan {
            encoding,
            line: 0,
            start,
            after_cr: false,
            last_break: start,
            at: start,
            first: wanted,
            last: wanted,
        }
    }

    /// Notes where the line `first` begins and where the line `last` ends.
    pub fn noting(mut self, first: u64, last: u64) -> LineScan {
        let begins = (first == 0).then_some(self.start);
        (self.first, self.last) = ((first, begins), (last, None));
        self
    }

    /// Takes the next block, which begins at a unit.
    pub fn push(&mut self, block: &[u8]) {
        let unit = self.encoding.unit() as u64;
        for (at, byte) in breaks_in(self.encoding, block) {
            let at = self.at + at as u64;
            if byte == b'\n' && self.after_cr && at == self.start {
                self.after_cr = false;
            } else {
                if self.line == self.last.0 {
                    self.last.1 = Some(at);
                }
                self.line += 1;
                self.last_break = at;
                self.after_cr = byte == b'\r';
            }
            self.start = at + unit;
            if self.line == self.first.0 {
                self.first.1 = Some(self.start);
            }
        }
        self.at += block.len() as u64;
    }

    /// The line behind all bytes so far, and where it begins.
    pub fn line_at(&mut self, block: &[u8]) -> (u64, u64) {
        self.push(block);
        (self.line, self.start)
    }

    /// The end of the last wanted line is known.
    pub fn has_end(&self) -> bool {
        self.last.1.is_some()
    }

    /// Lines of the text that ends here. A break at the end starts no line.
    pub fn total(&self) -> u64 {
        self.line + u64::from(self.start < self.at)
    }

    /// The place of the wanted lines of the text that ends here, without the break of the last one.
    pub fn place(&self) -> std::ops::Range<u64> {
        let end_of_text = if self.start < self.at { self.at } else { self.last_break };
        let end = self.last.1.unwrap_or(end_of_text);
        self.first.1.unwrap_or(end).min(end)..end
    }
}
