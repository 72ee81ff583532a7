//! No match is lost: filters of small blocks against a naive scan.

#![allow(clippy::single_range_in_vec_init)] // One range is meant, not the numbers in it.

use std::ops::Range;

use proptest::prelude::*;
use regex_automata::meta::Regex;
use regex_syntax::ParserBuilder;
use regex_syntax::hir::Hir;

use super::blocks::Blocks;
use super::grams::BITMAP_WORDS;
use super::*;

/// Small blocks, with filters that are large enough to exclude something.
const SMALL: Shape = Shape::new(64, 60);

fn parsed(pattern: &str) -> Hir {
    ParserBuilder::new().multi_line(true).build().parse(pattern).unwrap()
}

fn query(pattern: &str) -> Query {
    Query::of(&parsed(pattern))
}

fn built(shape: Shape, text: &[u8]) -> FileFilter {
    let mut builder = FilterBuilder::new(shape);
    builder.push(text);
    builder.finish(text.len() as u64)
}

/// The lines of a text, with their line feeds.
fn lines(text: &[u8]) -> impl Iterator<Item = Range<usize>> {
    let mut end = 0;
    text.split_inclusive(|byte| *byte == b'\n').map(move |line| {
        end += line.len();
        end - line.len()..end
    })
}

/// Panics if a match is in no range that the filter admits.
fn assert_nothing_lost(filter: &FileFilter, pattern: &str, text: &[u8]) {
    let (hir, len) = (parsed(pattern), text.len() as u64);
    let (query, regex) = (Query::of(&hir), Regex::builder().build_from_hir(&hir).unwrap());
    let ranges = filter.candidates(&query, true);
    assert!(ranges.iter().all(|range| range.start < range.end && range.end <= len), "{ranges:?}");
    assert!(ranges.windows(2).all(|two| two[0].end < two[1].start), "{ranges:?}");
    for line in lines(text) {
        let kept =
            || ranges.iter().any(|range| range.start < line.end as u64 && (line.start as u64) < range.end);
        assert!(
            !regex.is_match(&text[line.clone()]) || kept(),
            "{pattern:?} in line {line:?} of {:?}, {ranges:?}",
            text.escape_ascii().to_string()
        );
    }
    let anywhere = filter.candidates(&query, false);
    assert!(anywhere == [0..len] || anywhere.is_empty(), "{anywhere:?}");
    let lost = anywhere.is_empty() && len > 0 && regex.is_match(text);
    assert!(!lost, "{pattern:?} in {:?}", text.escape_ascii().to_string());
}

/// Patterns of few letters, with all kinds of operators.
fn patterns() -> impl Strategy<Value = String> {
    let atoms = prop_oneof![
        8 => "[abk]{4,9}",
        4 => "(кот|слон|ко|世界|界)[abk]{0,3}",
        2 => prop::sample::select(vec![".", "\\b", "^", "$", "\\w", "[ab]", "[^a]", "[kK\u{212A}]", "(?s-u:.)", "\n"])
            .prop_map(str::to_owned),
    ];
    let wrapped = atoms.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            3 => prop::collection::vec(inner.clone(), 1..4).prop_map(|parts| parts.concat()),
            2 => prop::collection::vec(inner.clone(), 2..4).prop_map(|parts| format!("(?:{})", parts.join("|"))),
            1 => (inner.clone(), prop::sample::select(vec!["*", "+", "?", "{2}", "{2,}", "{0,3}", "{18}"]))
                .prop_map(|(part, how)| format!("(?:{part}){how}")),
            1 => inner.prop_map(|part| format!("(?i:{part})")),
        ]
    });
    // Some are not valid regexes, as `(?s-u:.)` may match what is not UTF-8.
    wrapped.prop_filter("a pattern", |pattern| {
        ParserBuilder::new().utf8(false).build().parse(pattern).is_ok_and(|hir| {
            Regex::builder().build_from_hir(&hir).is_ok() && regex_syntax::parse(pattern).is_ok()
        })
    })
}

/// Texts of the same few letters: short and long lines, and bytes that are no UTF-8.
fn texts() -> impl Strategy<Value = Vec<u8>> {
    let part = prop_oneof![
        12 => "[abkABK]{1,12}".prop_map(String::into_bytes),
        6 => prop::sample::select(vec!["кот", "СЛОН", "Кот", "世界", "界", "\u{212A}", " ", "\r\n", "\r"])
            .prop_map(|text| text.as_bytes().to_vec()),
        4 => Just(b"\n".to_vec()),
        2 => "[c-z ]{20,150}".prop_map(String::into_bytes),
        1 => prop::collection::vec(any::<u8>(), 1..4),
    ];
    prop::collection::vec(part, 0..120).prop_map(|parts| parts.concat())
}

proptest! {
    #[test]
    fn no_match_is_lost(pattern in patterns(), text in texts(), percent in prop::sample::select(vec![20, 60, 200])) {
        assert_nothing_lost(&built(Shape::new(64, percent), &text), &pattern, &text);
    }

    #[test]
    fn no_literal_that_stands_in_the_text_is_lost(
        text in texts(), start in any::<prop::sample::Index>(), len in 1..100usize, insensitive in any::<bool>(),
    ) {
        let text = String::from_utf8_lossy(&text).into_owned();
        let starts: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
        prop_assume!(!starts.is_empty());
        let rest = &text[starts[start.index(starts.len())]..];
        let literal: String = rest.chars().take(len).filter(|c| *c != '\n').collect();
        let flag = if insensitive { "(?i)" } else { "" };
        let pattern = format!("{flag}{}", regex_syntax::escape(&literal));
        assert_nothing_lost(&built(SMALL, text.as_bytes()), &pattern, text.as_bytes());
    }

    #[test]
    fn no_line_with_two_literals_is_lost(
        text in texts(), line in any::<prop::sample::Index>(), at in prop::array::uniform4(any::<prop::sample::Index>()),
    ) {
        let text = String::from_utf8_lossy(&text).into_owned();
        let lines: Vec<&str> = text.lines().filter(|line| line.chars().count() > 8).collect();
        prop_assume!(!lines.is_empty());
        let line: Vec<char> = lines[line.index(lines.len())].chars().collect();
        let mut at = at.map(|at| at.index(line.len()));
        at.sort_unstable();
        let literal = |range: Range<usize>| regex_syntax::escape(&line[range].iter().collect::<String>());
        let pattern = format!("{}.*{}", literal(at[0]..at[1]), literal(at[2]..at[3]));
        assert_nothing_lost(&built(SMALL, text.as_bytes()), &pattern, text.as_bytes());
    }

    #[test]
    fn a_filter_of_the_first_bytes_admits_all_that_follows(
        pattern in patterns(), text in texts(), pushed in any::<prop::sample::Index>(),
    ) {
        let mut builder = FilterBuilder::new(SMALL);
        builder.push(&text[..pushed.index(text.len() + 1)]);
        assert_nothing_lost(&builder.finish(text.len() as u64), &pattern, &text);
    }

    #[test]
    fn a_filter_does_not_depend_on_the_pieces_it_is_made_from(
        text in texts(), pieces in prop::collection::vec(1..200usize, 1..20),
    ) {
        let mut builder = FilterBuilder::new(SMALL);
        let (mut rest, mut sizes) = (text.as_slice(), pieces.iter().cycle());
        while let (false, Some(size)) = (rest.is_empty(), sizes.next()) {
            let (piece, later) = rest.split_at(rest.len().min(*size));
            builder.push(piece);
            rest = later;
        }
        prop_assert_eq!(builder.finish(text.len() as u64), built(SMALL, &text));
        // Nothing of one file is left for the next.
        builder.push(&text);
        prop_assert_eq!(builder.finish(text.len() as u64), built(SMALL, &text));
    }
}

#[test]
fn eight_n_grams_at_a_time_are_the_same_as_one_at_a_time() {
    let texts =
        ["plain text, with_words 12 and {signs}\n", "Кот и Слон — é à la carte\n", "世界 mixed 界abc\n"];
    for text in texts.map(|text| text.repeat(40)) {
        let (shape, mut bitmap, mut blocks) =
            (Shape::new(1 << 16, 500), [0; BITMAP_WORDS], Blocks::default());
        let folded = text.to_ascii_lowercase();
        grams::bits(folded.as_bytes(), text.len())
            .for_each(|bit| bitmap[usize::from(bit >> 6)] |= 1 << (bit & 63));
        blocks.add(&bitmap, text.len(), true, shape);
        assert!(blocks.finish(text.len() as u64, shape) == built(shape, text.as_bytes()), "{text}");
    }
}

/// Lines of words, `len` bytes. Each block has a few hundred of its own.
fn words(len: usize) -> String {
    let words = (0u32..).map(|n| format!("w{:x} ", (n / 3000 * 300 + n % 300).wrapping_mul(0x9E37_79B9)));
    let mut text = String::new();
    for (number, word) in words.enumerate() {
        if text.len() >= len {
            break;
        }
        text += &word;
        if number % 8 == 7 {
            text.push('\n');
        }
    }
    text.truncate(len);
    text
}

#[test]
fn a_literal_is_looked_for_only_where_it_may_stand() {
    let mut text = words(1 << 20);
    text.replace_range(500_000..500_032, "the needle of a haystack\nis here");
    let filter = FileFilter::build(text.as_bytes());
    let ranges = |pattern| filter.candidates(&query(pattern), true);
    for pattern in ["needle of", "(?i)NEEDLE OF", "n(ee|aa)dle of a", "the +needle of", "needle of a (hay)?"]
    {
        let ranges = ranges(pattern);
        let bytes: u64 = ranges.iter().map(|range| range.end - range.start).sum();
        assert!(ranges.iter().any(|range| range.contains(&500_000)), "{pattern}: {ranges:?}");
        assert!(bytes <= 3 * 65_536, "{pattern}: {ranges:?}");
    }
    assert_eq!(ranges("absent from this text"), []);
    assert_eq!(filter.candidates(&query("absent from this text"), false), []);
    assert_eq!(filter.candidates(&query("needle of"), false), [0..1 << 20]);
    assert_eq!(ranges("n.e"), [0..1 << 20]);
}

#[test]
fn two_words_of_a_line_are_found_across_many_blocks_without_a_line_feed() {
    let filler = words(300_000).replace('\n', " ");
    let text = format!("first\nfound here {filler} and there\nlast\n");
    let filter = FileFilter::build(text.as_bytes());
    let ranges = |pattern| filter.candidates(&query(pattern), true);
    assert!(!ranges("found.*there").is_empty());
    // Both stand in the file, and in no line.
    let apart = text.replace(" and there", "\nand there");
    let apart = FileFilter::build(apart.as_bytes());
    assert!(apart.candidates(&query("found.*and there"), false) == [0..apart.len_bytes()]);
    let other = format!("{0}\nfound the first\n{0}\nand the second one\n{0}", words(100_000));
    let other = FileFilter::build(other.as_bytes());
    assert_eq!(other.candidates(&query("found the first.*and the second one"), true), []);
    assert!(!other.candidates(&query("found the first|and the second one"), true).is_empty());
}

#[test]
fn a_filter_takes_three_percent_of_the_text_and_a_tiny_file_has_none() {
    for len in [0, 100, 1000, 2000, 65_536, 1 << 20, 3_000_001] {
        let filter = FileFilter::build(words(len).as_bytes());
        let data = filter.bytes() - size_of::<FileFilter>();
        assert!(data * 100 <= len * 3 || len <= 100, "{data} for {len}");
        assert_eq!(filter.is_empty(), len <= 100, "{len}");
    }
    assert_eq!(FileFilter::build(b"").candidates(&query("word"), true), []);
    assert_eq!(FileFilter::build(b"a").candidates(&query("word"), true), [0..1]);
}

#[test]
fn more_bytes_than_the_file_has_make_a_filter_that_excludes_nothing() {
    let (text, mut builder) = (words(200_000), FilterBuilder::default());
    builder.push(text.as_bytes());
    let filter = builder.finish(150_000);
    assert!(filter.is_empty());
    assert_eq!(filter.candidates(&query("absent from this text"), true), [0..150_000]);
}
