//! Patterns that may be meant where one finds nothing: the slips that are usual in calls, each mended by itself.
//!
//! Knows no files: whether a mended pattern finds more, its caller asks.

use regex_syntax::escape;
use serde_json::{Map, Value, json};

use search::PatternOptions;
use text::normal_form::{composed, decomposed};

/// A pattern, and how it is read.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct NearPattern {
    pub(super) pattern: String,
    pub(super) how: PatternOptions,
}

/// Quotation marks and apostrophes, and all that stand for the same one.
const QUOTES: [&str; 2] = ["\"“”„‟«»", "'‘’‚‛`´"];

impl NearPattern {
    /// The patterns that may be meant by this one.
    pub(super) fn all(pattern: &str, how: PatternOptions) -> Vec<NearPattern> {
        let same = || NearPattern { pattern: pattern.to_owned(), how };
        let mut near = Vec::new();
        if !how.ignore_case && pattern.contains(char::is_alphabetic) {
            near.push(NearPattern { how: PatternOptions { ignore_case: true, ..how }, ..same() });
        }
        let is_text = escape(pattern) == pattern;
        if !is_text {
            near.push(NearPattern { how: PatternOptions { fixed: !how.fixed, ..how }, ..same() });
        }
        near.extend(without_delimiters(pattern, how));
        let mut other = |pattern: String| near.push(NearPattern { pattern, ..same() });
        if pattern.contains(r"\\") {
            other(pattern.replace(r"\\", r"\"));
        }
        if !how.fixed {
            if pattern.contains(r"\|") {
                other(replaced(pattern, |char, is_escaped| (is_escaped && char == '|').then(|| "|".into())));
                other(basic(pattern));
            }
            if pattern.contains(r"\b") {
                other(replaced(pattern, |char, is_escaped| (is_escaped && char == 'b').then(String::new)));
            }
        }
        other(composed(pattern));
        other(decomposed(pattern));
        near.extend(with_any_quotes(pattern, how));
        if how.whole_words {
            near.push(NearPattern { how: PatternOptions { whole_words: false, ..how }, ..same() });
        }
        if !how.multiline && !how.fixed && may_span_lines(pattern) {
            near.push(NearPattern { how: PatternOptions { multiline: true, ..how }, ..same() });
        }
        let mut different: Vec<NearPattern> = Vec::new();
        for other in near {
            if other != same() && !other.pattern.is_empty() && !different.contains(&other) {
                different.push(other);
            }
        }
        different
    }

    /// The pattern with its flags in it, for a tool that takes no others. `None`: it cannot be said so.
    pub(super) fn inline(&self) -> Option<String> {
        let PatternOptions { fixed, ignore_case, whole_words, multiline } = self.how;
        let text = if fixed { escape(&self.pattern) } else { self.pattern.clone() };
        let flags = if ignore_case { "(?i)" } else { "" };
        (!whole_words && !multiline).then(|| format!("{flags}{text}"))
    }

    /// The arguments that differ from those of `pattern` and `how`.
    pub(super) fn arguments(&self, pattern: &str, how: PatternOptions) -> String {
        let mut arguments = Map::new();
        if self.pattern != pattern {
            arguments.insert("pattern".into(), json!(self.pattern));
        }
        for (name, value, was) in [
            ("-i", self.how.ignore_case, how.ignore_case),
            ("fixed_strings", self.how.fixed, how.fixed),
            ("-w", self.how.whole_words, how.whole_words),
            ("multiline", self.how.multiline, how.multiline),
        ] {
            if value != was {
                arguments.insert(name.into(), json!(value));
            }
        }
        written(&arguments)
    }
}

/// Arguments as they stand in a call.
pub(super) fn written(arguments: &Map<String, Value>) -> String {
    let parts = arguments.iter().map(|(name, value)| format!("{}: {value}", json!(name)));
    parts.collect::<Vec<_>>().join(", ")
}

/// `/x/i` as other languages write a regular expression.
fn without_delimiters(pattern: &str, how: PatternOptions) -> Option<NearPattern> {
    let (inner, flags) = pattern.strip_prefix('/')?.rsplit_once('/')?;
    flags.chars().all(|flag| "gimsuyxU".contains(flag)).then(|| {
        let multiline = how.multiline || flags.contains('s');
        let how = PatternOptions { ignore_case: how.ignore_case || flags.contains('i'), multiline, ..how };
        NearPattern { pattern: inner.replace(r"\/", "/"), how }
    })
}

/// A basic regular expression of POSIX, as `grep` reads it, in this syntax.
fn basic(pattern: &str) -> String {
    replaced(pattern, |char, is_escaped| match (is_escaped, "|(){}+?".contains(char)) {
        (true, true) => Some(char.into()),
        (false, true) => Some(format!("\\{char}")),
        _ => None,
    })
}

/// The pattern with each quote standing for any of its kind.
fn with_any_quotes(pattern: &str, how: PatternOptions) -> Option<NearPattern> {
    let kind = |char| QUOTES.iter().find(|kind| kind.contains(char));
    let expression = if how.fixed { escape(pattern) } else { pattern.to_owned() };
    let text = replaced(&expression, |char, _| kind(char).map(|kind| format!("[{kind}]")));
    (text != expression).then_some(NearPattern { pattern: text, how: PatternOptions { fixed: false, ..how } })
}

/// Whether a match could hold a line break, with `multiline`.
fn may_span_lines(pattern: &str) -> bool {
    let has_flag = pattern.split("(?").skip(1).any(|flags| {
        let flags = flags.split(|char: char| !char.is_ascii_alphabetic()).next().unwrap_or_default();
        flags.contains('s')
    });
    has_flag || [r"\s", r"\S", r"\W", r"\D", "[^"].iter().any(|part| pattern.contains(part))
}

/// The expression, in which `by` replaces characters; a backslash before one goes with it.
fn replaced(expression: &str, by: impl Fn(char, bool) -> Option<String>) -> String {
    let (mut text, mut chars) = (String::with_capacity(expression.len()), expression.chars());
    while let Some(char) = chars.next() {
        let escaped = if char == '\\' { chars.next() } else { None };
        match by(escaped.unwrap_or(char), escaped.is_some()) {
            Some(other) => text.push_str(&other),
            None => {
                text.push(char);
                text.extend(escaped);
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: PatternOptions =
        PatternOptions { fixed: false, ignore_case: true, whole_words: false, multiline: false };

    fn near(pattern: &str, how: PatternOptions) -> Vec<String> {
        NearPattern::all(pattern, how).iter().map(|near| near.arguments(pattern, how)).collect()
    }

    #[test]
    fn each_usual_slip_is_mended() {
        for (pattern, expected) in [
            (r"foo\|bar", r#""pattern": "foo|bar""#),
            (r"\(a\|b\)+c", r#""pattern": "(a|b)\\+c""#),
            ("/a.b/", r#""pattern": "a.b""#),
            (r"\\bfoo\\(", r#""pattern": "\\bfoo\\(""#),
            ("a\u{308}b", "\"pattern\": \"äb\""),
            ("äb", "\"pattern\": \"a\u{308}b\""),
            ("it's", "\"pattern\": \"it['‘’‚‛`´]s\""),
            ("say “x”", "\"pattern\": \"say [\\\"“”„‟«»]x[\\\"“”„‟«»]\""),
            (r"\bfoo\b.", r#""pattern": "foo.""#),
            ("(?s)a.*b", r#""multiline": true"#),
            ("(?is:a.b)", r#""multiline": true"#),
            (r"a\s+b", r#""multiline": true"#),
            ("a(b", r#""fixed_strings": true"#),
        ] {
            let near = near(pattern, PLAIN);
            assert!(near.iter().any(|near| near == expected), "{pattern}: {near:?}");
        }
        let case = PatternOptions { ignore_case: false, ..PLAIN };
        assert_eq!(near("/ab/i", case)[1..], ["\"-i\": true, \"pattern\": \"ab\""]);
        assert_eq!(near("ab", PatternOptions { whole_words: true, ..PLAIN }), ["\"-w\": false"]);
        let fixed = PatternOptions { fixed: true, ..PLAIN };
        assert_eq!(near("a.b", fixed), ["\"fixed_strings\": false"]);
        assert!(
            near("a.'", fixed).contains(&"\"fixed_strings\": false, \"pattern\": \"a\\\\.['‘’‚‛`´]\"".into())
        );
    }

    #[test]
    fn a_pattern_without_a_slip_has_no_near_ones() {
        for pattern in ["", "foo", "foo_bar 1", "//", "日本"] {
            assert_eq!(near(pattern, PLAIN), [""; 0], "{pattern}");
        }
    }
}
