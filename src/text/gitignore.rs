//! A rule of gitignore(5) as git reads it, in the words of the matcher (the crate `ignore`), which reads some rules otherwise.
//!
//! Both the files of rules and `--exclude` go through here (contract 12). Knows no files and no lists of rules.

use std::borrow::Cow;

/// The rule for the matcher: braces stand for themselves, brackets hold what git takes them to hold, blanks at the end but
/// spaces count, and any number of stars from two on is `**`. `None`: it names nothing.
pub fn as_git_reads(line: &str) -> Option<Cow<'_, str>> {
    let (line, blank) = trimmed(line)?;
    // In braces, the matcher keeps it.
    let blank = blank.map(|blank| format!("{{{blank}}}")).unwrap_or_default();
    if line.starts_with('#')
        || !line.contains(['{', '}', '[']) && !line.contains("**") && !line.ends_with(r"\\/")
    {
        return Some(if blank.is_empty() { line } else { format!("{line}{blank}").into() });
    }
    let (mut text, mut rest, mut is_literal) = (String::new(), &*line, true);
    while let Some(char) = rest.chars().next() {
        if let Some(behind) = rest.strip_prefix('[') {
            let (set, behind) = Brackets::read(behind)?;
            text.push_str(&set.text());
            (rest, is_literal) = (behind, false);
            continue;
        }
        let len = match char {
            '\\' => 1 + rest[1..].chars().next().map_or(0, char::len_utf8),
            '*' => rest.len() - rest.trim_start_matches('*').len(),
            _ => char.len_utf8(),
        };
        let (part, behind) = rest.split_at(len);
        rest = behind;
        match char {
            '*' => rest = push_stars(&mut text, len, rest, is_literal),
            '{' | '}' => text.extend(['\\', char]),
            _ => text.push_str(part),
        }
        is_literal &= !matches!(char, '*' | '?' | '\\');
    }
    if let Some(before) = text.strip_suffix(r"\\/") {
        // The matcher would take the second backslash for one that stands before the slash.
        text = format!(r"{before}[\]/");
    }
    Some(Cow::Owned(with_slash_of(&line, text) + &blank))
}

/// The text of a rule with the start that lets it match at the depths where the rule as it was written does. A slash in brackets counts
/// in the rule, and is in the text exactly if the brackets are negated.
fn with_slash_of(line: &str, text: String) -> String {
    let (mark, body) = text.split_at(usize::from(text.starts_with('!')));
    let has_slash = |rule: &str| rule.strip_suffix('/').unwrap_or(rule).contains('/');
    match (has_slash(line), has_slash(body)) {
        (true, false) => format!("{mark}/{body}"),
        (false, true) => format!("{mark}**/{body}"),
        _ => text,
    }
}

/// Adds so many stars, which `rest` follows. Returns what of `rest` is still to be read. `is_literal`: no wildcard and no
/// backslash stands before them.
fn push_stars<'r>(text: &mut String, stars: usize, rest: &'r str, is_literal: bool) -> &'r str {
    let is_start = matches!(text.as_str(), "" | "!") || text.ends_with('/');
    match rest.strip_prefix('/') {
        _ if stars < 2 => text.push('*'),
        None if is_start && rest.starts_with(r"\/") => text.push_str("**/*"),
        None if is_start && rest.is_empty() => text.push_str("**"),
        Some(_) if is_start => text.push_str("**"),
        // Git compares the literal characters first and takes `**/` as if it began there: `x**/y` names `xy` and `xa/b/y`.
        Some(behind) if is_literal && !behind.is_empty() => {
            let mut last = text.pop().map(String::from).unwrap_or_default();
            if let "," | "{" | "}" = &*last {
                last.insert(0, '\\');
                text.truncate(text.trim_end_matches('\\').len());
            }
            text.push_str(&format!("{{{last},{last}*/**/}}"));
            return behind;
        }
        _ => text.push('*'),
    }
    rest
}

/// What brackets hold.
#[derive(Default)]
struct Brackets {
    is_negated: bool,
    /// The characters of ASCII, a bit each.
    ascii: u128,
    /// The others and ranges of them, as the matcher reads them.
    others: String,
}

impl Brackets {
    /// Reads them from behind the `[`. Returns what follows them. `None`: they have no end or an unknown class, and match nothing.
    fn read(text: &str) -> Option<(Brackets, &str)> {
        let inner = text.strip_prefix(['!', '^']);
        let mut set = Brackets { is_negated: inner.is_some(), ..Brackets::default() };
        let start = inner.unwrap_or(text);
        // `low`: the character that a range may begin with.
        let (mut rest, mut low) = (start, None);
        loop {
            let is_first = rest.len() == start.len();
            if let Some(behind) = rest.strip_prefix(']').filter(|_| !is_first) {
                return Some((set, behind));
            }
            let range = rest.strip_prefix('-').filter(|high| !high.starts_with(']')).zip(low.take());
            if let Some((high, low)) = range {
                let (high, behind) = literal(high)?;
                set.add_range(low, high);
                rest = behind;
            } else if let Some((name, behind)) = class(rest) {
                set.add_class(name)?;
                rest = behind;
            } else {
                let (char, behind) = literal(rest)?;
                set.add_range(char, char);
                (rest, low) = (behind, Some(char));
            }
        }
    }

    /// Adds a range. One that ends before it begins holds its first character.
    fn add_range(&mut self, low: char, high: char) {
        let high = high.max(low);
        if high.is_ascii() {
            self.ascii |= (low..=high).fold(0, |bits, char| bits | 1 << u32::from(char));
        } else {
            self.others.extend([low, '-', high]);
        }
    }

    /// Adds the characters of the class that has this name.
    fn add_class(&mut self, name: &str) -> Option<()> {
        let holds: fn(&u8) -> bool = match name {
            "alnum" => u8::is_ascii_alphanumeric,
            "alpha" => u8::is_ascii_alphabetic,
            "blank" => |char| b" \t".contains(char),
            "cntrl" => u8::is_ascii_control,
            "digit" => u8::is_ascii_digit,
            "graph" => u8::is_ascii_graphic,
            "lower" => u8::is_ascii_lowercase,
            "print" => |char| matches!(char, b' '..=b'~'),
            "punct" => u8::is_ascii_punctuation,
            // Without the vertical tab and the form feed, in git.
            "space" => |char| b" \t\r\n".contains(char),
            "upper" => u8::is_ascii_uppercase,
            "xdigit" => u8::is_ascii_hexdigit,
            _ => return None,
        };
        self.ascii |= (0..128).filter(holds).fold(0, |bits, char| bits | 1 << char);
        Some(())
    }

    /// The brackets for the matcher: what has a meaning there stands where it has none. They never match a slash.
    fn text(&self) -> String {
        let has = |char: char| self.ascii >> u32::from(char) & 1 == 1;
        // No name has a NUL.
        let first = if has(']') { ']' } else { '\0' };
        let plain = ('\x01'..='\x7f').filter(|&char| has(char) && !matches!(char, ']' | '-' | '/'));
        let mut text = String::from(if self.is_negated { "[^" } else { "[" });
        text.push(first);
        text.extend(self.is_negated.then_some('/'));
        text.extend(plain);
        text.push_str(&self.others);
        text.extend(has('-').then_some('-'));
        text + "]"
    }
}

/// The character that stands for itself at the start of `text`, perhaps behind a backslash, and what follows it.
fn literal(text: &str) -> Option<(char, &str)> {
    let mut chars = text.strip_prefix('\\').unwrap_or(text).chars();
    Some((chars.next()?, chars.as_str()))
}

/// The name of the class at the start of `text`, such as `[:alpha:]`, and what follows the class.
fn class(text: &str) -> Option<(&str, &str)> {
    let (name, behind) = text.strip_prefix("[:")?.split_once(']')?;
    Some((name.strip_suffix(':')?, behind))
}

/// The rule without the spaces at its end, and without another blank there, or one behind a backslash, which comes by itself.
/// `None`: the rule names nothing, because a backslash ends it or stands before the slash at its end, or it ends in two slashes.
fn trimmed(line: &str) -> Option<(Cow<'_, str>, Option<char>)> {
    let (mut end, mut is_escaped, mut escapes) = (0, false, false);
    for (at, char) in line.char_indices() {
        if char == ' ' && !escapes {
            continue;
        }
        (end, is_escaped) = (at + char.len_utf8(), escapes);
        escapes = char == '\\' && !escapes;
    }
    let rule = &line[..end];
    let last = rule.chars().next_back()?;
    if escapes || is_escaped && last == '/' || rule.ends_with("//") || rule == "!" {
        return None;
    }
    if !last.is_whitespace() {
        return Some((Cow::Borrowed(rule), None));
    }
    Some((Cow::Borrowed(&rule[..end - last.len_utf8() - usize::from(is_escaped)]), Some(last)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_stand_where_the_matcher_reads_them_so() {
        for (line, expected) in [
            ("[]!^-]", Some("[]!^-]")),
            ("[!a]", Some("**/[^\0/a]")),
            ("!a[b/]", Some("!/a[\0b]")),
            ("x/[b-a]{", Some("x/[\0b]\\{")),
            ("[é-üx]/", Some("[\0xé-éé-ü]/")),
            ("[a\\]", None),
            ("[[:none:]]", None),
            ("a[", None),
            (r"[/a\\/", None),
            (r"a\\/", Some(r"a[\]/")),
        ] {
            assert_eq!(as_git_reads(line).as_deref(), expected, "{line}");
        }
    }
}
