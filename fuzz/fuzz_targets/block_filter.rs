//! Compares the block filter with a scan of the whole text.
//!
//! Must hold for any pattern, text and size of blocks: a line that matches has a byte in a range that the filter
//! admits, a text that matches is admitted as a whole, and a filter of the text's start admits the rest. A filter
//! may admit too much.
//!
//! Input: a byte for the size of the blocks, a byte for the size of their filters; the pattern; after a line break,
//! the text.

#![no_main]

use libfuzzer_sys::fuzz_target;
use regex_automata::meta::{Config, Regex};
use regex_syntax::ParserBuilder;
use search::{FileFilter, FilterBuilder, Query, Shape};

fuzz_target!(|data: &[u8]| {
    let [size, percent, rest @ ..] = data else { return };
    let Some(end) = rest.iter().position(|byte| *byte == b'\n') else { return };
    let (Ok(pattern), text) = (std::str::from_utf8(&rest[..end]), &rest[end + 1..]) else { return };
    let Ok(hir) = ParserBuilder::new().utf8(false).build().parse(pattern) else { return };
    let query = Query::of(&hir);
    let config = Config::new().utf8_empty(false).nfa_size_limit(Some(1 << 16));
    let Ok(regex) = Regex::builder().configure(config).build_from_hir(&hir) else { return };

    let shape = Shape::new(u32::from(*size), u32::from(*percent) * 4);
    let mut builder = FilterBuilder::new(shape);
    builder.push(text);
    check(&builder.finish(text.len() as u64), &query, &regex, text);
    builder.push(&text[..text.len() / 2]);
    check(&builder.finish(text.len() as u64), &query, &regex, text);
});

fn check(filter: &FileFilter, query: &Query, regex: &Regex, text: &[u8]) {
    let (len, ranges) = (text.len() as u64, filter.candidates(query, true));
    assert!(ranges.iter().all(|range| range.start < range.end && range.end <= len), "{ranges:?}");
    assert!(ranges.windows(2).all(|two| two[0].end < two[1].start), "{ranges:?}");
    let mut end = 0;
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        let start = end;
        end += line.len() as u64;
        let kept = || ranges.iter().any(|range| range.start < end && start < range.end);
        let matches = || regex.is_match(line) || regex.is_match(line.strip_suffix(b"\n").unwrap_or(line));
        assert!(
            kept() || !matches(),
            "the line at {start} of {:?}, {ranges:?}",
            text.escape_ascii().to_string()
        );
    }
    let anywhere = filter.candidates(query, false);
    assert!(text.is_empty() || anywhere == [0..len] || anywhere.is_empty() && !regex.is_match(text));
}
