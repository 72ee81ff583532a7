//! Finds the lines behind `@@` in a text, and which lines each of them is above.
//!
//! A header is above the lines down to the next one that is not deeper and begins like it: with a letter, or with the same mark. That is
//! the next function, class or heading.

use std::collections::HashMap;

use super::occurrences::lines;
use super::sides::Sides;
use crate::lines::LineIndex;
use crate::{Stop, Stopped};

/// Maximum number of lines kept for one header.
const KEPT: usize = 1 << 12;

/// Length of a header beyond which it is not looked for.
const LONGEST: usize = 256;

/// Length to which git cuts a header.
const CUT: usize = 80;

/// A header stands in this line, and is above the lines up to `end`.
struct Region {
    line: usize,
    end: usize,
    /// The greatest end of this region and those before it.
    last_end: usize,
}

/// Where one header stands.
#[derive(Default)]
struct Header {
    /// Lines that are the header, blanks aside.
    exact: Vec<Region>,
    /// Lines that begin with it.
    begins: Vec<Region>,
}

/// Where the headers of hunks stand in a text.
pub(super) struct Headers<'h> {
    numbers: HashMap<&'h str, usize>,
    headers: Vec<Header>,
}

/// A region whose end is not known yet.
struct OpenRegion {
    indent: usize,
    number: usize,
    is_exact: bool,
    at: usize,
}

impl<'h> Headers<'h> {
    pub(super) fn find(
        sides: &[Sides<'h>],
        index: &LineIndex,
        old: &[u8],
        stop: &dyn Stop,
    ) -> Result<Headers<'h>, Stopped> {
        let mut numbers: HashMap<&str, usize> = HashMap::new();
        for header in sides.iter().flat_map(|side| &side.hunk.headers) {
            let fresh = numbers.len();
            numbers.entry(header.trim()).or_insert(fresh);
        }
        let longest = numbers.keys().map(|header| header.len()).max().unwrap_or(0).min(LONGEST);
        let mut headers: Vec<Header> = (0..numbers.len()).map(|_| Header::default()).collect();
        let mut open: HashMap<u8, Vec<OpenRegion>> = HashMap::new();
        let mut unasked = 0;
        for (line, bytes) in lines(old, index).enumerate() {
            unasked += bytes.len() + 64;
            if unasked > 1 << 18 {
                stop.check()?;
                unasked = 0;
            }
            let text = bytes.trim_ascii();
            let Some(&first) = text.first() else { continue };
            let indent = bytes.len() - bytes.trim_ascii_start().len();
            let open = open.entry(kind(first)).or_default();
            while let Some(region) = open.pop_if(|region| indent <= region.indent) {
                close(&mut headers, &region, line);
            }
            for (number, is_exact) in named(&numbers, text, longest) {
                let found = &mut headers[number];
                let regions = if is_exact { &mut found.exact } else { &mut found.begins };
                if regions.len() < KEPT {
                    open.push(OpenRegion { indent, number, is_exact, at: regions.len() });
                    regions.push(Region { line, end: usize::MAX, last_end: usize::MAX });
                }
            }
        }
        for header in &mut headers {
            for regions in [&mut header.exact, &mut header.begins] {
                let mut last = 0;
                for region in regions {
                    last = region.end.max(last);
                    region.last_end = last;
                }
            }
        }
        Ok(Headers { numbers, headers })
    }

    fn regions(&self, header: &str) -> &[Region] {
        let Some(header) = self.numbers.get(header.trim()).and_then(|&number| self.headers.get(number))
        else {
            return &[];
        };
        if header.exact.is_empty() { &header.begins } else { &header.exact }
    }

    /// The one of these places of a hunk, in order, that its headers leave: the only one that each of them is above; or, if there is
    /// none, the only one below them.
    pub(super) fn only(&self, side: &Sides, places: &[usize]) -> Option<usize> {
        let len = side.old.len();
        let (inner, outer) = side.hunk.headers.split_last()?;
        // A header may be a line of the hunk, too.
        let is_in = |place: usize, header: &String| {
            let regions = self.regions(header);
            let above = regions.partition_point(|region| region.line < place + len);
            regions[..above].last().is_some_and(|region| place < region.last_end)
        };
        let (mut only, mut looked_at) = (None, 0);
        for region in self.regions(inner) {
            let first = places.partition_point(|place| place + len <= region.line);
            for &place in places[first..].iter().take_while(|place| **place < region.end) {
                looked_at += 1;
                let is_other = only.is_some_and(|only| only != place);
                match outer.iter().all(|header| is_in(place, header)) {
                    true if is_other => return None,
                    true => only = Some(place),
                    false if looked_at == KEPT => return None,
                    false => {}
                }
            }
        }
        only.or_else(|| {
            let firsts = side.hunk.headers.iter().map(|header| Some(self.regions(header).first()?.line));
            let above = firsts.collect::<Option<Vec<usize>>>()?.into_iter().max()?;
            let below = &places[places.partition_point(|place| place + len <= above)..];
            if let [only] = below { Some(*only) } else { None }
        })
    }
}

fn close(headers: &mut [Header], region: &OpenRegion, line: usize) {
    let header = &mut headers[region.number];
    let regions = if region.is_exact { &mut header.exact } else { &mut header.begins };
    if let Some(region) = regions.get_mut(region.at) {
        region.end = line;
    }
}

/// Lines that begin with bytes of one kind may be the next function or heading.
fn kind(first: u8) -> u8 {
    if is_letter(first) || matches!(first, b'$' | b'@') { b'a' } else { first }
}

fn is_letter(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || !byte.is_ascii()
}

/// The headers that this line is, or begins with: with the whole of a word, or with as much as git leaves of a line.
fn named(numbers: &HashMap<&str, usize>, text: &[u8], longest: usize) -> Vec<(usize, bool)> {
    let number = |text: &[u8]| numbers.get(std::str::from_utf8(text).ok()?).copied();
    let is_end = |at: usize| at == CUT || !(is_letter(text[at - 1]) && is_letter(text[at]));
    let starts = (1..text.len().min(longest + 1)).filter(|&at| is_end(at));
    let mut found: Vec<_> = starts.filter_map(|at| Some((number(&text[..at])?, false))).collect();
    found.extend((text.len() <= longest).then(|| number(text)).flatten().map(|number| (number, true)));
    found
}
