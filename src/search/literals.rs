//! Which literals every match of a pattern contains.
//!
//! Reads the pattern as `regex-syntax` parsed it, with its flags applied. The result is a condition that the text of
//! every match satisfies: it may be too weak, never too strong. Knows no filter and no file.
//!
//! Literals are folded: ASCII letters are lower case. What is compared with them must be folded, too. Other letters
//! that a case-insensitive pattern admits are alternatives (`k` in any case is `k` or U+212A).
//!
//! The work is bounded for any pattern: at most [`MAX_LITERALS`] literals of at most [`MAX_LITERAL`] bytes are made.

use regex_syntax::hir::{Class, ClassBytes, ClassUnicode, Hir, HirKind, Repetition};

/// The longest literal in bytes. A longer one is cut into pieces that overlap by [`OVERLAP`] bytes.
pub(super) const MAX_LITERAL: usize = 64;

/// Every sequence of one byte more lies within one of two pieces of a literal that follow each other.
const OVERLAP: usize = 7;

/// The most literals that the walk makes. What comes later is not required.
pub(super) const MAX_LITERALS: usize = 256;

/// The most alternatives for one stretch of a match.
const MAX_ALTERNATIVES: usize = 16;

/// The most copies of a repeated expression that are joined.
const MAX_COPIES: u32 = 16;

/// What the text of a match contains.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Condition {
    /// This literal, folded. It may be too short to be of use.
    Literal(Vec<u8>),
    /// All of these. None of them: any text will do.
    All(Vec<Condition>),
    /// At least one of these. None of them: there is no match.
    Any(Vec<Condition>),
}

/// The condition for the text of every match of `pattern`.
pub(super) fn required(pattern: &Hir) -> Condition {
    let mut walk = Walk { left: MAX_LITERALS };
    let mut sequence = Sequence::new();
    walk.read(pattern, &mut sequence);
    walk.end(sequence)
}

/// Strings of which one stands at a place of the match.
type Alternatives = Vec<Vec<u8>>;

/// What is known of the text of a match from its start, or the start of a part, up to the current place.
struct Sequence {
    /// What it contains.
    required: Vec<Condition>,
    /// It ends in one of these.
    tail: Alternatives,
    /// It *is* one of the strings in `tail`.
    exact: bool,
}

impl Sequence {
    fn new() -> Sequence {
        Sequence { required: Vec::new(), tail: vec![Vec::new()], exact: true }
    }
}

struct Walk {
    /// The number of literals that may still be made.
    left: usize,
}

impl Walk {
    /// Appends what `pattern` matches to `sequence`.
    fn read(&mut self, pattern: &Hir, sequence: &mut Sequence) {
        match pattern.kind() {
            // Assertions only make matches fewer.
            HirKind::Empty | HirKind::Look(_) => {}
            HirKind::Literal(literal) => self.literal(&literal.0, sequence),
            HirKind::Class(class) => match class_strings(class) {
                Some(strings) => self.append(&strings, sequence),
                None => self.gap(sequence),
            },
            HirKind::Capture(capture) => self.read(&capture.sub, sequence),
            HirKind::Concat(parts) => parts.iter().for_each(|part| self.read(part, sequence)),
            HirKind::Repetition(repetition) => self.repetition(repetition, sequence),
            HirKind::Alternation(parts) => self.alternation(parts, sequence),
        }
    }

    fn literal(&mut self, bytes: &[u8], sequence: &mut Sequence) {
        for piece in bytes.chunks(MAX_LITERAL - OVERLAP) {
            if self.left == 0 {
                return self.gap(sequence);
            }
            self.append(&[piece.to_ascii_lowercase()], sequence);
        }
    }

    fn repetition(&mut self, repetition: &Repetition, sequence: &mut Sequence) {
        let (min, max) = (repetition.min, repetition.max);
        if max == Some(0) || self.left == 0 {
            return self.gap(sequence);
        }
        let mut one = Sequence::new();
        self.read(&repetition.sub, &mut one);
        if !one.exact {
            return match min {
                0 => self.gap(sequence),
                _ => self.append_inexact(one, sequence),
            };
        }
        if (min, max) == (0, Some(1)) {
            one.tail.push(Vec::new());
            return self.append(&one.tail, sequence);
        }
        let copies = min.min(MAX_COPIES);
        (0..copies).for_each(|_| self.append(&one.tail, sequence));
        if max != Some(copies) {
            // Its text begins with so many copies, and ends with so many.
            self.gap(sequence);
            (0..copies).for_each(|_| self.append(&one.tail, sequence));
        }
    }

    fn alternation(&mut self, parts: &[Hir], sequence: &mut Sequence) {
        if self.left == 0 {
            return self.gap(sequence);
        }
        let mut read = Vec::with_capacity(parts.len());
        for part in parts {
            let mut one = Sequence::new();
            self.read(part, &mut one);
            read.push(one);
        }
        let tails = || read.iter().flat_map(|one| one.tail.iter().cloned());
        let strings = reduced(tails());
        if read.iter().all(|one| one.exact) && strings.len() <= MAX_ALTERNATIVES {
            return self.append(&strings, sequence);
        }
        let tail = if strings.len() <= MAX_ALTERNATIVES { strings } else { vec![Vec::new()] };
        let any = read.into_iter().map(|one| self.end(one)).collect();
        self.append_inexact(Sequence { required: vec![Condition::Any(any)], tail, exact: false }, sequence);
    }

    /// Appends one of `strings`.
    fn append(&mut self, strings: &[Vec<u8>], sequence: &mut Sequence) {
        let longest = |strings: &[Vec<u8>]| strings.iter().map(Vec::len).max().unwrap_or(0);
        let fits = |tail: &[Vec<u8>]| {
            tail.len() * strings.len() <= MAX_ALTERNATIVES && longest(tail) + longest(strings) <= MAX_LITERAL
        };
        if self.left == 0 || strings.len() > MAX_ALTERNATIVES {
            return self.gap(sequence);
        }
        if !fits(&sequence.tail) {
            self.require_tail(sequence);
            sequence.tail = reduced(sequence.tail.iter().map(|string| end_of(string)));
        }
        if !fits(&sequence.tail) {
            sequence.tail = vec![Vec::new()];
        }
        let joined =
            |start: &Vec<u8>| strings.iter().map(move |end| [start.as_slice(), end].concat()).collect();
        sequence.tail = reduced(sequence.tail.iter().flat_map(|start| -> Alternatives { joined(start) }));
    }

    /// Appends a part whose text is not known as a whole.
    fn append_inexact(&mut self, part: Sequence, sequence: &mut Sequence) {
        self.gap(sequence);
        sequence.required.extend(part.required);
        sequence.tail = part.tail;
    }

    /// Appends any text.
    fn gap(&mut self, sequence: &mut Sequence) {
        self.require_tail(sequence);
        sequence.tail = vec![Vec::new()];
    }

    /// Keeps the tail as a requirement.
    fn require_tail(&mut self, sequence: &mut Sequence) {
        sequence.exact = false;
        let useless = sequence.tail.iter().any(Vec::is_empty);
        if useless || sequence.tail.len() > self.left {
            return;
        }
        self.left -= sequence.tail.len();
        let literals = sequence.tail.iter().cloned().map(Condition::Literal);
        sequence.required.push(Condition::Any(literals.collect()));
    }

    fn end(&mut self, mut sequence: Sequence) -> Condition {
        self.require_tail(&mut sequence);
        Condition::All(sequence.required)
    }
}

/// The characters of a class, folded, if they are few.
fn class_strings(class: &Class) -> Option<Alternatives> {
    // Both cases of a letter become one string, so a class may have more characters than there may be strings.
    const MAX_CHARACTERS: usize = 2 * MAX_ALTERNATIVES;
    let strings = match class {
        Class::Unicode(class) => {
            if unicode_len(class) > MAX_CHARACTERS {
                return None;
            }
            let characters = class.iter().flat_map(|range| range.start()..=range.end());
            reduced(characters.map(|c| c.to_ascii_lowercase().to_string().into_bytes()))
        }
        Class::Bytes(class) => {
            if bytes_len(class) > MAX_CHARACTERS {
                return None;
            }
            let bytes = class.iter().flat_map(|range| range.start()..=range.end());
            reduced(bytes.map(|byte| vec![byte.to_ascii_lowercase()]))
        }
    };
    (strings.len() <= MAX_ALTERNATIVES).then_some(strings)
}

fn unicode_len(class: &ClassUnicode) -> usize {
    class.iter().map(|range| range.len()).sum()
}

fn bytes_len(class: &ClassBytes) -> usize {
    class.iter().map(|range| range.len()).sum()
}

/// The last bytes of a string, up to [`OVERLAP`], from the start of a character on.
fn end_of(string: &[u8]) -> Vec<u8> {
    let end = &string[string.len().saturating_sub(OVERLAP)..];
    let start = end.iter().position(|byte| byte & 0xC0 != 0x80).unwrap_or(end.len());
    end[start..].to_vec()
}

/// The strings without repetitions.
fn reduced(strings: impl Iterator<Item = Vec<u8>>) -> Alternatives {
    let mut strings: Alternatives = strings.collect();
    text::order::sort_by(&mut strings, Ord::cmp);
    strings.dedup();
    strings
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The condition as text: `(a|b)` for any, `a b` for all; `*` for one that any text satisfies.
    fn shown(condition: &Condition) -> String {
        match condition {
            Condition::Literal(literal) => literal.escape_ascii().to_string(),
            Condition::All(parts) if parts.is_empty() => "*".into(),
            Condition::All(parts) => parts.iter().map(shown).collect::<Vec<_>>().join(" "),
            Condition::Any(parts) if parts.len() == 1 => shown(&parts[0]),
            Condition::Any(parts) if parts.iter().any(|part| shown(part) == "*") => "*".into(),
            Condition::Any(parts) => format!("({})", parts.iter().map(shown).collect::<Vec<_>>().join("|")),
        }
    }

    fn of(pattern: &str) -> String {
        let hir = regex_syntax::ParserBuilder::new().utf8(false).build().parse(pattern).unwrap();
        shown(&required(&hir))
    }

    #[test]
    fn what_a_match_contains() {
        for (pattern, expected) in [
            ("Hello", "hello"),
            ("fn +main", "fn   main"),
            ("foo.*bar", "foo bar"),
            ("foo|Bar", "(bar|foo)"),
            ("(foo|bar)qux", "(barqux|fooqux)"),
            ("colou?r", "(color|colour)"),
            ("ab+c", "ab bc"),
            ("a(bc){2,}d", "abcbc bcbcd"),
            ("x(bc){2}d", "xbcbcd"),
            ("^foo$", "foo"),
            ("foo\\b.bar", "foo bar"),
            ("gr[ae]y", "(gray|grey)"),
            ("(foo.*bar|baz)qux", "(foo bar|baz) (barqux|bazqux)"),
            ("(a.c|def)+g", "(a c|def) (cg|defg)"),
            ("(?i)ok", "(ok|o\\xe2\\x84\\xaa)"),
            ("(?-u:\\xff)a", "\\xffa"),
        ] {
            assert_eq!(of(pattern), expected, "{pattern}");
        }
    }

    #[test]
    fn what_has_no_literal_requires_nothing() {
        for pattern in ["", ".*", "\\w+", "a*", "(abc)?", "abc|", "(abc|.)", "(?:abc){0}", "[a-z]{3}", "\\pL"]
        {
            assert_eq!(of(pattern), "*", "{pattern}");
        }
    }

    #[test]
    fn a_long_literal_is_cut_into_pieces_that_overlap() {
        let letters: String = (0..150).map(|n| char::from(b'a' + n % 26)).collect();
        let pieces: Vec<String> = of(&letters).split(' ').map(str::to_owned).collect();
        assert!(pieces.len() > 1 && pieces.iter().all(|piece| piece.len() <= MAX_LITERAL), "{pieces:?}");
        for gram in letters.as_bytes().windows(OVERLAP + 1) {
            let gram = std::str::from_utf8(gram).unwrap();
            assert!(pieces.iter().any(|piece| piece.contains(gram)), "{gram}");
        }
    }

    #[test]
    fn letters_with_two_cases_are_cut_into_pieces_of_few_alternatives() {
        let condition = regex_syntax::parse("(?i)магний").map(|hir| required(&hir)).unwrap();
        let Condition::All(pieces) = condition else { panic!() };
        assert_eq!(pieces.len(), 3);
        for piece in pieces {
            assert!(matches!(piece, Condition::Any(any) if any.len() == MAX_ALTERNATIVES));
        }
    }

    #[test]
    fn any_pattern_makes_few_literals() {
        let deep = format!("{}ab{}", "(".repeat(100), "c)+".repeat(100));
        let words: String = (0..5000).map(|n| format!("word{n}x|")).collect();
        let classes = "[abc][def]x".repeat(3000);
        for pattern in [deep.as_str(), &words, &classes, "((((a{9}){9}){9}){9}b?){9}"] {
            let mut parser = regex_syntax::ParserBuilder::new().nest_limit(1000).build();
            let condition = required(&parser.parse(pattern).unwrap());
            assert!(count(&condition) <= MAX_LITERALS);
        }
    }

    fn count(condition: &Condition) -> usize {
        match condition {
            Condition::Literal(_) => 1,
            Condition::All(parts) | Condition::Any(parts) => parts.iter().map(count).sum(),
        }
    }
}
