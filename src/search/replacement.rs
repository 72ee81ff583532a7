//! What a match is replaced by: text, and groups of the match (contract 19, `replace`).
//!
//! `$1` and `${1}` are a group by its number, of which all digits count, `${name}` by its name, `$0` is the match, and `$$` is `$`. Of a
//! pattern with named groups, `$name` is one, too. Any other `$` is text. `\1` for a group that there is is refused. Knows no files and no
//! encodings.

use std::borrow::Cow;
use std::ops::Range;

use regex_automata::PatternID;

use super::{Groups, Pattern};
use text::encoded_edit::NewPart;

/// See the module.
#[derive(Debug, Clone)]
pub struct Replacement {
    parts: Vec<Part>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Text(String),
    Group(usize),
}

/// A group that a pattern does not have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownGroup {
    /// As it stands in the replacement.
    pub group: String,
    /// Those that the pattern has, as they stand in a replacement.
    pub groups: Vec<String>,
}

impl Replacement {
    /// Text as it is.
    pub fn text(text: &str) -> Replacement {
        Replacement { parts: vec![Part::Text(text.into())] }
    }

    /// Reads a replacement of the matches of `pattern`.
    pub fn new(template: &str, pattern: &Pattern) -> Result<Replacement, UnknownGroup> {
        let names: Vec<Option<&str>> = pattern.regex().group_info().pattern_names(PatternID::ZERO).collect();
        let has_names = names.iter().any(Option::is_some);
        if let Some(group) = backslashed(template, &names) {
            return Err(UnknownGroup { group, groups: references(&names) });
        }
        let (mut parts, mut text, mut rest) = (Vec::new(), String::new(), template);
        while let Some((before, behind)) = rest.split_once('$') {
            text.push_str(before);
            let reference = Reference::read(behind).filter(|one| one.is_sure || has_names);
            let Some(Reference { name, len, .. }) = reference else {
                text.push('$');
                rest = behind.strip_prefix('$').unwrap_or(behind);
                continue;
            };
            let Some(group) = number_of(name, &names) else {
                let group = format!("${}", &behind[..len]);
                return Err(UnknownGroup { group, groups: references(&names) });
            };
            parts.push(Part::Text(std::mem::take(&mut text)));
            parts.push(Part::Group(group));
            rest = &behind[len..];
        }
        text.push_str(rest);
        parts.push(Part::Text(text));
        parts.retain(|part| !matches!(part, Part::Text(text) if text.is_empty()));
        Ok(Replacement { parts })
    }

    /// Whether it has other groups than the match itself.
    pub fn has_groups(&self) -> bool {
        self.parts.iter().any(|part| matches!(part, Part::Group(1..)))
    }

    /// Whether all its text is ASCII.
    pub fn is_ascii(&self) -> bool {
        self.parts.iter().all(|part| !matches!(part, Part::Text(text) if !text.is_ascii()))
    }

    /// What replaces the match with these groups of `text`. With `preserve_case`, its own letters have the case of the match: all are
    /// capitals if the match has two letters or more and all are; else the first one is a capital or none as the first letter of the
    /// match, and the others stay. A replacement all in capitals counts as one without.
    pub fn of<'r>(&'r self, text: &[u8], groups: &Groups, preserve_case: bool) -> Vec<NewPart<'r>> {
        let part = |part: &'r Part| match part {
            Part::Text(text) => Some(NewPart::Text(Cow::Borrowed(text.as_str()))),
            Part::Group(number) => groups.get(*number).cloned().flatten().map(NewPart::Kept),
        };
        let mut parts: Vec<NewPart<'r>> = self.parts.iter().filter_map(part).collect();
        if preserve_case && let Some(Some(whole)) = groups.first() {
            in_case_of(&shown(text, whole), &mut parts, |kept| shown(text, kept).chars().any(is_cased));
        }
        parts
    }
}

/// A backslash with the number of a group that there is, which other tools write for `$`. It would be text.
fn backslashed(template: &str, names: &[Option<&str>]) -> Option<String> {
    let is_group = |pair: &[u8]| {
        let number = usize::from(pair[1].wrapping_sub(b'0'));
        pair[0] == b'\\' && (1..names.len().min(10)).contains(&number)
    };
    let pair = template.as_bytes().windows(2).find(|pair| is_group(pair))?;
    Some(format!("\\{}", char::from(pair[1])))
}

fn shown<'t>(text: &'t [u8], range: &Range<usize>) -> Cow<'t, str> {
    String::from_utf8_lossy(text.get(range.clone()).unwrap_or_default())
}

/// Gives the letters of the texts the case of `model`.
fn in_case_of(model: &str, parts: &mut [NewPart], kept_has_letters: impl Fn(&Range<usize>) -> bool) {
    let Some(first) = model.chars().find(|letter| is_cased(*letter)) else { return };
    let own = |part: &NewPart| if let NewPart::Text(text) = part { text.to_string() } else { String::new() };
    if is_in_capitals(model) {
        change_texts(parts, str::to_uppercase);
        return;
    }
    if is_in_capitals(&parts.iter().map(own).collect::<String>()) {
        change_texts(parts, str::to_lowercase);
    }
    for part in parts {
        match part {
            NewPart::Kept(range) if kept_has_letters(range) => return,
            NewPart::Kept(_) => {}
            NewPart::Text(text) => {
                let Some((at, letter)) = text.char_indices().find(|(_, letter)| is_cased(*letter)) else {
                    continue;
                };
                let (before, behind) = (&text[..at], &text[at + letter.len_utf8()..]);
                let letter: String = match first.is_uppercase() {
                    true => letter.to_uppercase().collect(),
                    false => letter.to_lowercase().collect(),
                };
                *text = Cow::Owned([before, &letter, behind].concat());
                return;
            }
        }
    }
}

fn change_texts(parts: &mut [NewPart], change: impl Fn(&str) -> String) {
    for part in parts {
        if let NewPart::Text(text) = part {
            *text = Cow::Owned(change(text));
        }
    }
}

fn is_cased(letter: char) -> bool {
    letter.is_uppercase() || letter.is_lowercase()
}

/// Whether a text has two letters or more, all of them capitals.
fn is_in_capitals(text: &str) -> bool {
    let letters = || text.chars().filter(|letter| is_cased(*letter));
    letters().nth(1).is_some() && letters().all(char::is_uppercase)
}

/// A group as it stands behind a `$`.
struct Reference<'t> {
    name: &'t str,
    /// Bytes of the reference.
    len: usize,
    /// It is no text, whatever groups there are.
    is_sure: bool,
}

impl Reference<'_> {
    fn read(behind: &str) -> Option<Reference<'_>> {
        if let Some(inner) = behind.strip_prefix('{') {
            let name = &inner[..inner.find('}')?];
            let is_name = !name.is_empty() && name.chars().all(is_word);
            return is_name.then_some(Reference { name, len: name.len() + 2, is_sure: true });
        }
        let until = |is: fn(char) -> bool| behind.find(|char| !is(char)).unwrap_or(behind.len());
        let digits = until(|char| char.is_ascii_digit());
        let len = if digits > 0 { digits } else { until(is_word) };
        (len > 0).then(|| Reference { name: &behind[..len], len, is_sure: digits > 0 })
    }
}

fn is_word(char: char) -> bool {
    char == '_' || char.is_alphanumeric()
}

/// The number of the group with this name or number.
fn number_of(name: &str, names: &[Option<&str>]) -> Option<usize> {
    let by_name = || names.iter().position(|known| *known == Some(name));
    match name.parse::<usize>() {
        Ok(number) => (number < names.len()).then_some(number),
        Err(_) => by_name(),
    }
}

/// How all groups stand in a replacement.
fn references(names: &[Option<&str>]) -> Vec<String> {
    let reference = |(number, name): (usize, &Option<&str>)| match name {
        Some(name) => format!("${{{name}}}"),
        None => format!("${number}"),
    };
    names.iter().enumerate().map(reference).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{LineMatcher, PatternOptions};
    use text::Unstopped;
    use text::budget::Budget;
    use text::encoded_edit::SearchedText;
    use text::encoding::{Encoding, EncodingSource, TextEncoding};

    fn parts(template: &str, pattern: &str) -> Result<Vec<Part>, UnknownGroup> {
        let pattern = Pattern::new(pattern, PatternOptions::default()).unwrap();
        Replacement::new(template, &pattern).map(|replacement| replacement.parts)
    }

    fn written(parts: &[Part]) -> String {
        let one = |part: &Part| match part {
            Part::Text(text) => text.clone(),
            Part::Group(number) => format!("<{number}>"),
        };
        parts.iter().map(one).collect()
    }

    #[test]
    fn groups_are_named_by_number_and_by_name_and_two_dollars_are_one() {
        for (template, pattern, expected) in [
            ("$1x$0", "(a)", "<1>x<0>"),
            ("${1}0$$1", "(a)", "<1>0$1"),
            ("${word}-$word.", "(?P<word>a)", "<1>-<1>."),
            ("$ $( ${ ${} a$", "a", "$ $( ${ ${} a$"),
            ("$new = ${x y}", "a", "$new = ${x y}"),
            ("$$$1", "(a)", "$<1>"),
        ] {
            assert_eq!(
                parts(template, pattern).map(|parts| written(&parts)).unwrap(),
                expected,
                "{template}"
            );
        }
    }

    #[test]
    fn an_unknown_group_is_refused_with_those_that_there_are() {
        for (template, pattern, group) in [
            ("$10", "(a)", "$10"),
            ("${b}", "(?P<a>a)", "${b}"),
            ("$b", "(?P<a>a)", "$b"),
            ("${b}", "a", "${b}"),
        ] {
            assert_eq!(parts(template, pattern).unwrap_err().group, group, "{template}");
        }
        assert_eq!(parts("$3", "(a)(?P<b>b)").unwrap_err().groups, ["$0", "$1", "${b}"]);
    }

    fn in_case(model: &str, own: &str) -> String {
        let whole = [Some(0..model.len())];
        let replacement = Replacement::text(own);
        let parts = replacement.of(model.as_bytes(), &whole, true);
        let text =
            |part: NewPart| if let NewPart::Text(text) = part { text.into_owned() } else { String::new() };
        parts.into_iter().map(text).collect()
    }

    #[test]
    fn the_case_of_the_match_is_kept() {
        for (model, own, expected) in [
            ("recieve", "receive", "receive"),
            ("Recieve", "receive", "Receive"),
            ("RECIEVE", "receive", "RECEIVE"),
            ("reCieve", "Receive", "receive"),
            ("FooBar", "bazQux", "BazQux"),
            ("fooBar", "BazQux", "bazQux"),
            ("FOO_BAR", "baz_qux", "BAZ_QUX"),
            ("Foo", "BAZ", "Baz"),
            ("_x1", "YZ", "yz"),
            ("A", "beta", "Beta"),
            ("123", "One", "One"),
            ("Élan", "été", "Été"),
        ] {
            assert_eq!(in_case(model, own), expected, "{model} {own}");
        }
    }

    /// The rule, letter by letter.
    fn naive(model: &str, own: &str) -> String {
        let letters: Vec<char> = model.chars().filter(|c| c.is_ascii_alphabetic()).collect();
        let upper = |text: &[char]| text.len() > 1 && text.iter().all(char::is_ascii_uppercase);
        let mine: Vec<char> = own.chars().filter(|c| c.is_ascii_alphabetic()).collect();
        let (mut out, mut is_first) = (String::new(), true);
        for c in own.chars() {
            let own = if upper(&mine) { c.to_ascii_lowercase() } else { c };
            out.push(match letters.first() {
                None => c,
                _ if upper(&letters) => c.to_ascii_uppercase(),
                Some(first) if c.is_ascii_alphabetic() && std::mem::take(&mut is_first) => {
                    if first.is_ascii_uppercase() { c.to_ascii_uppercase() } else { c.to_ascii_lowercase() }
                }
                Some(_) => own,
            });
        }
        out
    }

    proptest! {
        #[test]
        fn the_case_is_that_of_the_rule(model in "[a-cA-C_1]{0,5}", own in "[a-cA-C_1]{0,5}") {
            prop_assert_eq!(in_case(&model, &own), naive(&model, &own));
        }
    }

    /// The bytes that replacing makes of `old`, and the text that it should be.
    fn replaced(
        read_as: TextEncoding,
        pattern: &str,
        template: &str,
        old: &[u8],
    ) -> Option<(Vec<u8>, String)> {
        let how = PatternOptions { multiline: template.len() % 2 == 1, ..PatternOptions::default() };
        let pattern = Pattern::new(pattern, how).unwrap();
        let replacement = Replacement::new(template, &pattern).unwrap();
        let memory = Budget::new(usize::MAX);
        let text = SearchedText::new(read_as, ("a", old), true, &memory, &Unstopped).unwrap();
        let (mut replacing, mut expected, mut done) = (text.replacing(), Vec::new(), 0);
        let mut matcher = LineMatcher::new(&pattern, &Unstopped);
        let finished = matcher.places(text.bytes(), true, &mut |groups| -> Result<(), text::Error> {
            let (at, new) = (groups[0].clone().unwrap(), replacement.of(text.bytes(), groups, false));
            expected.extend_from_slice(&text.bytes()[done..at.start]);
            for part in &new {
                match part {
                    NewPart::Text(text) => expected.extend_from_slice(text.as_bytes()),
                    NewPart::Kept(range) => expected.extend_from_slice(&text.bytes()[range.clone()]),
                }
            }
            done = at.end;
            replacing.add(at, new)
        });
        finished.ok()?;
        expected.extend_from_slice(&text.bytes()[done..]);
        let (plan, _) = replacing.finish(&memory).ok()?;
        let mut new = Vec::new();
        plan.write_to(old, &mut new).unwrap();
        Some((new, String::from_utf8(expected).unwrap()))
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 600, ..ProptestConfig::default() })]

        #[test]
        fn any_bytes_are_replaced_without_a_panic_and_read_as_the_text_that_is_wanted(
            bytes in proptest::collection::vec(
                proptest::sample::select(&b"aab \n\r\x00\xFF\xC3\xA9\x81\x40\xD8\x3D\xDE\xE9\xB0\xEB"[..]), 0..40),
            (pattern, template) in proptest::sample::select(vec![
                ("a", "bc"), ("(a)(b)?", "$2$1"), ("a*", "-"), ("[^a]", "$0$0"), (".", ""), ("(.)(.)", "$2$1x"), ("^|$", "b"), (r"\s+", " "),
            ]),
            encoding in proptest::sample::select(vec![
                Encoding::Utf8, Encoding::Utf16Le, Encoding::Utf16Be, Encoding::Windows1252, Encoding::Gbk, Encoding::ShiftJis,
                Encoding::Big5, Encoding::EucKr, Encoding::Gb18030,
            ]),
        ) {
            let mark = encoding.mark();
            let read_as = TextEncoding {
                encoding,
                source: EncodingSource::Given,
                has_mark: !mark.is_empty() && bytes.starts_with(mark),
            };
            let Some((new, expected)) = replaced(read_as, pattern, template, &bytes) else { return Ok(()) };
            let is_marked = !mark.is_empty() && new.starts_with(mark);
            // Some characters of the others have several codes.
            let is_one_to_one = matches!(encoding, Encoding::Utf8 | Encoding::Utf16Le | Encoding::Utf16Be | Encoding::Windows1252);
            if is_one_to_one && is_marked == read_as.has_mark && !expected.contains('\u{fffd}') {
                let memory = Budget::new(usize::MAX);
                let again = SearchedText::new(read_as, ("a", &new), true, &memory, &Unstopped).unwrap();
                prop_assert_eq!(String::from_utf8_lossy(again.bytes()), expected, "{:?}", new);
            }
        }
    }
}
