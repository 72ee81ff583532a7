//! The headings of Markdown. A heading reaches to the next one of its level or of a higher one.
//!
//! Read line by line: headings with `#`, and lines underlined with `=` or `-`, outside of fenced code and of the block of data
//! that may stand above a text.

use analyzer_wire::{Definition, Kind, Outline};

use super::meaning::{LONGEST, one_line};

/// The headings of a text.
pub(crate) fn outline(text: &[u8]) -> Outline {
    let mut headings = Headings::default();
    let mut lines = (1..).zip(text.split(|byte| *byte == b'\n')).peekable();
    if lines.next_if(|(_, line)| trimmed(line) == b"---").is_some() {
        let is_end = |line: &[u8]| matches!(trimmed(line), b"---" | b"...");
        // Without an end it is none: the first lines then have no headings that count.
        for (_, line) in lines.by_ref() {
            if is_end(line) {
                break;
            }
        }
    }
    let mut fence: Option<(u8, usize)> = None;
    // The line before, if it may be underlined.
    let mut before: Option<(u32, &[u8])> = None;
    for (number, line) in lines {
        let bare = trimmed(line);
        let is_indented = line.starts_with(b"    ") || line.starts_with(b"\t");
        match (fence, fence_of(bare)) {
            (Some((mark, length)), found) => {
                if found.is_some_and(|(other, len, is_bare)| other == mark && len >= length && is_bare) {
                    fence = None;
                }
                before = None;
            }
            (None, Some((mark, length, _))) if !is_indented => (fence, before) = (Some((mark, length)), None),
            _ if is_indented => before = None,
            _ => {
                let under = underline(bare).zip(before.take());
                if let Some((level, text)) = hashes(bare) {
                    headings.add(level, number, text, bare);
                } else if let Some((level, (first, text))) = under {
                    headings.add(level, first, text, text);
                } else if may_be_underlined(bare) {
                    before = Some((number, bare));
                }
            }
        }
        if !bare.is_empty() {
            headings.last = number;
        }
    }
    headings.finish()
}

/// Headings, and those that are not closed: their levels and places.
#[derive(Debug, Default)]
struct Headings {
    definitions: Vec<Definition>,
    open: Vec<(usize, usize)>,
    /// The last line that is not empty.
    last: u32,
}

impl Headings {
    fn add(&mut self, level: usize, line: u32, name: &[u8], signature: &[u8]) {
        let end = self.last.min(line.saturating_sub(1));
        self.close(level, end);
        let parent = self.open.last().map(|(_, at)| *at as u32);
        self.open.push((level, self.definitions.len()));
        self.definitions.push(Definition {
            kind: Kind::Heading,
            name: one_line(name, LONGEST),
            parent,
            first: line,
            line,
            last: line,
            signature: one_line(signature, LONGEST),
            is_public: true,
            is_bare: false,
        });
    }

    /// Ends the headings from this level on.
    fn close(&mut self, level: usize, last: u32) {
        while let Some((_, at)) = self.open.pop_if(|(of, _)| *of >= level) {
            let heading = &mut self.definitions[at];
            heading.last = last.max(heading.line);
        }
    }

    fn finish(mut self) -> Outline {
        let last = self.last;
        self.close(0, last);
        Outline { definitions: self.definitions, ..Outline::default() }
    }
}

fn trimmed(line: &[u8]) -> &[u8] {
    line.trim_ascii()
}

/// The level and the text of a heading with `#`.
fn hashes(line: &[u8]) -> Option<(usize, &[u8])> {
    let level = line.iter().take_while(|byte| **byte == b'#').count();
    let rest = &line[level..];
    if !(1..=6).contains(&level) || rest.first().is_some_and(|byte| !byte.is_ascii_whitespace()) {
        return None;
    }
    let text = rest.trim_ascii();
    let hashes = text.iter().rev().take_while(|byte| **byte == b'#').count();
    // Hashes at its end close it.
    let bare = &text[..text.len() - hashes];
    let is_closed = bare.is_empty() || bare.ends_with(b" ") || bare.ends_with(b"\t");
    let text = if is_closed { bare.trim_ascii() } else { text };
    (!text.is_empty()).then_some((level, text))
}

/// The level that a line of `=` or `-` makes of the line above it.
fn underline(line: &[u8]) -> Option<usize> {
    let is_all = |mark: u8| !line.is_empty() && line.iter().all(|byte| *byte == mark);
    if is_all(b'=') {
        return Some(1);
    }
    is_all(b'-').then_some(2)
}

/// Whether a line under this one may make it a heading: it is no item of a list, quote, table, and no heading.
fn may_be_underlined(line: &[u8]) -> bool {
    let is_item = line.first().is_none_or(|first| b"-*+>|#=<".contains(first));
    let digits = line.iter().take_while(|byte| byte.is_ascii_digit()).count();
    !(is_item || digits > 0 && line[digits..].starts_with(b". "))
}

/// The mark of a fence, how many of them there are, and whether nothing stands behind them.
fn fence_of(line: &[u8]) -> Option<(u8, usize, bool)> {
    let mark = *line.first().filter(|mark| matches!(mark, b'`' | b'~'))?;
    let length = line.iter().take_while(|byte| **byte == mark).count();
    let rest = &line[length..];
    // A code span that begins a line is no fence.
    let is_fence = length >= 3 && !(mark == b'`' && rest.contains(&b'`'));
    is_fence.then_some((mark, length, rest.is_empty()))
}
