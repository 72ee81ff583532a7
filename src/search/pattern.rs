//! The pattern of a search (contract 14): a regular expression of Rust's syntax, or fixed text, made ready to find lines.
//!
//! Matching takes linear time, and what a pattern may take in memory is bounded. Knows no files.

use std::sync::OnceLock;

use regex_automata::meta::{BuildError, Config, Regex};
use regex_syntax::hir::{
    Class, ClassBytes, ClassBytesRange, ClassUnicode, ClassUnicodeRange, Hir, HirKind, Look, LookSet,
};
use regex_syntax::{ParserBuilder, ast, hir};

use super::filter::Query;
use super::stoppable::Stoppable;

/// The longest pattern, in bytes.
const MAX_PATTERN: usize = 64 << 10;

/// Bound on the compiled form of a pattern, in bytes.
const MAX_COMPILED: usize = 8 << 20;

/// Bound on the states that one thread keeps of a pattern, in bytes, for each direction.
const MAX_STATES: usize = 1 << 20;

/// The same where each state is large.
const MAX_STATES_OF_HEAVY: usize = 2 << 20;

/// A pattern with a larger compiled form is heavy, in bytes.
const HEAVY: usize = 256 << 10;

/// Levels of groups in a pattern.
const MAX_NESTING: u32 = 200;

/// Characters that are `s` and `k` in another case. No text of single bytes has them.
const FOLDED: [char; 2] = ['\u{17f}', '\u{212a}'];

/// How a pattern is read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct PatternOptions {
    /// The pattern is text, not a regular expression.
    pub fixed: bool,
    /// Upper and lower case are the same.
    pub ignore_case: bool,
    /// A match begins and ends at the border of a word.
    pub whole_words: bool,
    /// A match may span lines.
    pub multiline: bool,
}

/// See the module.
#[derive(Debug)]
pub struct Pattern {
    regex: Regex,
    query: Query,
    multiline: bool,
    is_ascii: bool,
    hir: Hir,
    /// Made when a long text is first searched. `None`: it would be too large.
    stoppable: OnceLock<Option<Stoppable>>,
}

/// Why a pattern cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PatternError {
    /// It looks ahead or behind, or refers back to a group: that takes more than linear time.
    NotLinear,
    /// It is no valid regular expression: what is wrong, and the byte where.
    Syntax(String, usize),
    /// It holds a line break, but matches do not span lines.
    LineBreak,
    /// It, or its compiled form, is too large.
    TooLarge,
}

impl Pattern {
    /// Reads a pattern.
    pub fn new(pattern: &str, options: PatternOptions) -> Result<Pattern, PatternError> {
        if pattern.len() > MAX_PATTERN {
            return Err(PatternError::TooLarge);
        }
        let mut hir = match options.fixed && !options.ignore_case {
            true => Hir::literal(pattern.as_bytes()),
            false => parse(pattern, options)?,
        };
        hir = if options.multiline { any_breaks(&hir) } else { within_lines(&hir)? };
        if options.whole_words {
            let (start, end) = (Hir::look(Look::WordStartHalfUnicode), Hir::look(Look::WordEndHalfUnicode));
            hir = Hir::concat(vec![start, hir, end]);
        }
        let config = Config::new()
            .nfa_size_limit(Some(MAX_COMPILED))
            .onepass_size_limit(Some(MAX_COMPILED / 8))
            .hybrid_cache_capacity(MAX_STATES);
        let regex = Regex::builder().configure(config).build_from_hir(&hir).map_err(too_large)?;
        let (query, is_ascii, stoppable) =
            (Query::of(&hir), pattern.is_ascii() && is_ascii(&hir), OnceLock::new());
        Ok(Pattern { regex, query, multiline: options.multiline, is_ascii, hir, stoppable })
    }

    /// The form for searches that can be stopped, if there is one.
    pub(super) fn stoppable(&self) -> Option<&Stoppable> {
        let states = if self.is_heavy() { MAX_STATES_OF_HEAVY } else { MAX_STATES };
        let new = || Stoppable::new(&self.hir, MAX_COMPILED, states, self.is_heavy());
        self.stoppable.get_or_init(new).as_ref()
    }

    /// The compiled form. Finds matches in text whose lines end in `\n`, `\r\n` or `\r`.
    pub fn regex(&self) -> &Regex {
        &self.regex
    }

    /// What the filter of a file is asked.
    pub fn query(&self) -> &Query {
        &self.query
    }

    /// Whether the regex engine may take many microseconds for a byte, so that no text is short.
    pub(super) fn is_heavy(&self) -> bool {
        self.regex.memory_usage() > HEAVY
    }

    /// The longest match, in bytes, if that is bounded.
    pub(super) fn longest(&self) -> Option<usize> {
        self.hir.properties().maximum_len()
    }

    /// Whether no part of it matches a character that is not ASCII, or depends on one beside it: then the encoding of a text does
    /// not matter, if ASCII means ASCII in it.
    pub fn is_ascii(&self) -> bool {
        self.is_ascii
    }

    /// Whether a match may span lines.
    pub fn is_multiline(&self) -> bool {
        self.multiline
    }
}

fn is_ascii(hir: &Hir) -> bool {
    match hir.kind() {
        HirKind::Empty => true,
        HirKind::Look(look) => !LookSet::singleton(*look).contains_word_unicode(),
        HirKind::Literal(literal) => literal.0.is_ascii(),
        HirKind::Class(Class::Bytes(class)) => class.is_ascii(),
        HirKind::Class(Class::Unicode(class)) => {
            let is_folded = |range: &ClassUnicodeRange| FOLDED.contains(&range.start()) && range.len() == 1;
            class.ranges().iter().all(|range| range.end().is_ascii() || is_folded(range))
        }
        HirKind::Repetition(repetition) => is_ascii(&repetition.sub),
        HirKind::Capture(capture) => is_ascii(&capture.sub),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => parts.iter().all(is_ascii),
    }
}

fn parse(pattern: &str, options: PatternOptions) -> Result<Hir, PatternError> {
    let escaped = options.fixed.then(|| regex_syntax::escape(pattern));
    ParserBuilder::new()
        .nest_limit(MAX_NESTING)
        .multi_line(true)
        .crlf(true)
        .case_insensitive(options.ignore_case)
        .build()
        .parse(escaped.as_deref().unwrap_or(pattern))
        .map_err(syntax_error)
}

fn syntax_error(error: regex_syntax::Error) -> PatternError {
    match error {
        regex_syntax::Error::Parse(error) => match error.kind() {
            ast::ErrorKind::UnsupportedLookAround | ast::ErrorKind::UnsupportedBackreference => {
                PatternError::NotLinear
            }
            ast::ErrorKind::NestLimitExceeded(_) => PatternError::TooLarge,
            kind => PatternError::Syntax(kind.to_string(), error.span().start.offset),
        },
        regex_syntax::Error::Translate(error) => {
            PatternError::Syntax(error.kind().to_string(), error.span().start.offset)
        }
        error => PatternError::Syntax(error.to_string(), 0),
    }
}

fn too_large(_: BuildError) -> PatternError {
    PatternError::TooLarge
}

/// The same expression without matches that hold a line break. A break that is asked for by itself is an error.
fn within_lines(hir: &Hir) -> Result<Hir, PatternError> {
    Ok(match hir.kind() {
        HirKind::Empty => Hir::empty(),
        HirKind::Look(look) => Hir::look(*look),
        HirKind::Literal(hir::Literal(bytes)) => match memchr::memchr2(b'\n', b'\r', bytes) {
            Some(_) => return Err(PatternError::LineBreak),
            None => Hir::literal(bytes.clone()),
        },
        // It matches nothing at all.
        HirKind::Class(class) if is_empty(class) => hir.clone(),
        HirKind::Class(class) => without_breaks(class).ok_or(PatternError::LineBreak)?,
        HirKind::Repetition(repetition) => Hir::repetition(hir::Repetition {
            sub: within_lines(&repetition.sub)?.into(),
            ..repetition.clone()
        }),
        HirKind::Capture(capture) => {
            Hir::capture(hir::Capture { sub: within_lines(&capture.sub)?.into(), ..capture.clone() })
        }
        HirKind::Concat(parts) => Hir::concat(parts.iter().map(within_lines).collect::<Result<_, _>>()?),
        HirKind::Alternation(parts) => {
            Hir::alternation(parts.iter().map(within_lines).collect::<Result<_, _>>()?)
        }
    })
}

/// The same expression where a break of any kind is what `\n` is where lines end in `\n` only: a match holds a CRLF whole
/// or not at all. `\r\n` stands for a CRLF, and `\r` by itself for that byte.
fn any_breaks(hir: &Hir) -> Hir {
    match hir.kind() {
        HirKind::Literal(hir::Literal(bytes)) => literal_with_any_breaks(bytes),
        HirKind::Class(class) if has(class, '\n') => match without_breaks(class) {
            Some(others) => Hir::alternation(vec![others, any_break()]),
            None => any_break(),
        },
        HirKind::Class(class) if spans_cr(class) => without_breaks(class).unwrap_or_else(|| hir.clone()),
        HirKind::Repetition(repetition) => {
            Hir::repetition(hir::Repetition { sub: any_breaks(&repetition.sub).into(), ..repetition.clone() })
        }
        HirKind::Capture(capture) => {
            Hir::capture(hir::Capture { sub: any_breaks(&capture.sub).into(), ..capture.clone() })
        }
        HirKind::Concat(parts) => Hir::concat(parts.iter().map(any_breaks).collect()),
        HirKind::Alternation(parts) => Hir::alternation(parts.iter().map(any_breaks).collect()),
        _ => hir.clone(),
    }
}

/// One break of any kind. A CRLF is one, so its bytes are none by themselves.
fn any_break() -> Hir {
    let lone_lf = Hir::concat(vec![Hir::look(Look::EndCRLF), Hir::literal(*b"\n")]);
    let lone_cr = Hir::concat(vec![Hir::literal(*b"\r"), Hir::look(Look::StartCRLF)]);
    Hir::alternation(vec![Hir::literal(*b"\r\n"), lone_lf, lone_cr])
}

fn literal_with_any_breaks(bytes: &[u8]) -> Hir {
    let (mut parts, mut start) = (Vec::new(), 0);
    for at in memchr::memchr_iter(b'\n', bytes) {
        // A CRLF that is asked for is one.
        if at > 0 && bytes[at - 1] == b'\r' {
            continue;
        }
        parts.push(Hir::literal(&bytes[start..at]));
        parts.push(any_break());
        start = at + 1;
    }
    parts.push(Hir::literal(&bytes[start..]));
    Hir::concat(parts)
}

/// Whether an ASCII character is in the class.
fn has(class: &Class, ascii: char) -> bool {
    match class {
        Class::Unicode(class) => {
            class.ranges().iter().any(|range| (range.start()..=range.end()).contains(&ascii))
        }
        Class::Bytes(class) => {
            class.ranges().iter().any(|range| (range.start()..=range.end()).contains(&(ascii as u8)))
        }
    }
}

/// Whether a class without `\n` holds `\r` only because it holds what is around it, as `[^\n]` and `[^\S\n]` do: a break is no
/// such character. A class that names `\r` finds that byte.
fn spans_cr(class: &Class) -> bool {
    has(class, '\r') && has(class, '\x0c') && (has(class, '\x0b') || has(class, '\x0e'))
}

/// The class without line breaks. `None` if it consists of them.
fn without_breaks(class: &Class) -> Option<Hir> {
    let class = match class {
        Class::Unicode(class) => {
            let mut class = class.clone();
            let breaks = ['\n', '\r'].map(|char| ClassUnicodeRange::new(char, char));
            class.difference(&ClassUnicode::new(breaks));
            Class::Unicode(class)
        }
        Class::Bytes(class) => {
            let mut class = class.clone();
            let breaks = [b'\n', b'\r'].map(|byte| ClassBytesRange::new(byte, byte));
            class.difference(&ClassBytes::new(breaks));
            Class::Bytes(class)
        }
    };
    (!is_empty(&class)).then(|| Hir::class(class))
}

fn is_empty(class: &Class) -> bool {
    match class {
        Class::Unicode(class) => class.ranges().is_empty(),
        Class::Bytes(class) => class.ranges().is_empty(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(pattern: &str, options: PatternOptions, text: &str) -> Option<std::ops::Range<usize>> {
        Pattern::new(pattern, options).unwrap().regex().find(text).map(|found| found.range())
    }

    #[test]
    fn a_match_stays_in_its_line_unless_it_may_span_lines() {
        let (lines, spanning) =
            (PatternOptions::default(), PatternOptions { multiline: true, ..PatternOptions::default() });
        for pattern in [r"a\s*b", "a[^x]b", "(?s)a.b", r"a\W+b", "a(?s:.)*b"] {
            for text in ["a\nb", "a\rb", "a\r\nb"] {
                assert_eq!(found(pattern, lines, text), None, "{pattern} {text:?}");
            }
        }
        assert_eq!(found(r"a\s*b", spanning, "a\r\nb"), Some(0..4));
        assert_eq!(found(r"a\nb", spanning, "a\nb"), Some(0..3));
        for (text, end) in [("a\nb", 3), ("a\rb", 3), ("a\r\nb", 4), ("azb", 3)] {
            for pattern in [r"a(?:\n|z)b", r"a[\nz]b", r"(?s)a.+b", r"a[^x]+b"] {
                assert_eq!(found(pattern, spanning, text), Some(0..end), "{pattern} {text:?}");
            }
        }
        for pattern in [r"a\nb", "\\r", "[\\n]", "a\nb"] {
            assert_eq!(Pattern::new(pattern, lines).err(), Some(PatternError::LineBreak), "{pattern:?}");
        }
    }

    #[test]
    fn anchors_are_at_lines_that_end_in_any_break() {
        for text in ["x\nab\ny", "x\r\nab\r\ny", "x\rab\ry"] {
            let range = found("^ab$", PatternOptions::default(), text).unwrap();
            assert_eq!(&text[range], "ab", "{text:?}");
        }
        assert_eq!(found("^b", PatternOptions::default(), "ab"), None);
    }

    #[test]
    fn fixed_text_is_no_expression_and_case_and_words_count_as_told() {
        let fixed = PatternOptions { fixed: true, ..PatternOptions::default() };
        assert_eq!(found("a.b(", fixed, "axb( a.b("), Some(5..9));
        assert_eq!(found("A.b(", PatternOptions { ignore_case: true, ..fixed }, "axb( a.B("), Some(5..9));
        let words = PatternOptions { whole_words: true, ..PatternOptions::default() };
        assert_eq!(found("ab|a", words, "abc xa ab"), Some(7..9));
        assert_eq!(found("ä", words, "äb ä"), Some(4..6));
        assert_eq!(
            found("-a", words, "x-a -ab -a"),
            Some(8..10),
            "as grep -w: a word character on neither side"
        );
    }

    #[test]
    fn what_cannot_be_used_is_told_apart() {
        let error = |pattern: &str| Pattern::new(pattern, PatternOptions::default()).unwrap_err();
        for pattern in ["a(?=b)", "(?<!a)b", r"(a)\1", "(?!x)"] {
            assert_eq!(error(pattern), PatternError::NotLinear, "{pattern}");
        }
        assert!(matches!(error("foo("), PatternError::Syntax(_, 3)), "{:?}", error("foo("));
        assert!(matches!(error("a**["), PatternError::Syntax(..)));
        let large =
            ["x".repeat(MAX_PATTERN + 1), r"(\pL{500}){500}".into(), "(".repeat(300) + &")".repeat(300)];
        for pattern in large {
            assert_eq!(error(&pattern), PatternError::TooLarge);
        }
    }

    #[test]
    fn a_pattern_is_ascii_if_no_part_can_match_other_characters() {
        let is_ascii = |pattern: &str, ignore_case| {
            Pattern::new(pattern, PatternOptions { ignore_case, ..PatternOptions::default() })
                .unwrap()
                .is_ascii()
        };
        for pattern in ["abc", "(?-u)\\w+", "[a-z]", "(a|b)?", "^$", "ask", "(?-u:\\b)a", "[[:alpha:]]"] {
            assert!(is_ascii(pattern, false) && is_ascii(pattern, true), "{pattern}");
        }
        for pattern in ["é", "a|中", "\\p{Han}", "[à-ü]", "(a(é)?)*", "a.*b", "\\w+", "\\s", "[^a]", "\\bk"]
        {
            assert!(!is_ascii(pattern, false) && !is_ascii(pattern, true), "{pattern}");
        }
    }
}
