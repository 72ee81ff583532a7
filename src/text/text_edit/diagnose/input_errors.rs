//! Common corruptions of a text between a file and an edit, and how to undo them.
//!
//! Pure. Models make these errors. An undone text is never applied, it only helps to explain the error.

/// What happened to the text that was searched for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InputError {
    /// It has an escape sequence where the file has the character, such as a line break.
    Escaped,
    /// It has a line break or a quote where the file has an escape sequence.
    Unescaped,
    /// It has `&lt;` for `<`.
    Entities,
    /// Its lines start with line numbers.
    LineNumbers,
    /// Its lines start with the marks of a diff.
    DiffMarks,
    /// It is enclosed in code fences.
    Fenced,
    /// It has line breaks before it, or blanks or breaks after it, that the file does not have.
    BlanksAround {
        /// Before it.
        before: bool,
        /// After it.
        after: bool,
    },
}

/// Surplus around the text, before it is known on which side.
pub(crate) const AROUND: InputError = InputError::BlanksAround { before: true, after: true };

/// Each possible error, with `text` as it may have been before.
pub(crate) fn undone(text: &str) -> Vec<(InputError, String)> {
    let all = [
        (InputError::Fenced, fenced(text)),
        (InputError::Escaped, Some(without_escapes(text))),
        (InputError::Unescaped, Some(text.replace('\n', "\\n").replace('\t', "\\t"))),
        (InputError::Unescaped, Some(text.replace('"', "\\\""))),
        (InputError::Entities, Some(without_entities(text))),
        (InputError::LineNumbers, each_line(text, without_number)),
        (InputError::LineNumbers, each_line(text, without_number_of_grep)),
        (
            InputError::DiffMarks,
            each_line(text, |line| line.strip_prefix(['+', '-', ' ']).or(line.is_empty().then_some(""))),
        ),
        (AROUND, Some(text.trim_end().trim_start_matches(['\n', '\r']).to_owned())),
    ];
    let changed = |(mistake, undone): (InputError, Option<String>)| Some((mistake, undone?));
    all.into_iter().filter_map(changed).filter(|(_, undone)| undone != text && !undone.is_empty()).collect()
}

fn without_escapes(text: &str) -> String {
    let mut out = String::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let meant = match (c, chars.peek()) {
            ('\\', Some('n')) => '\n',
            ('\\', Some('t')) => '\t',
            ('\\', Some('r')) => '\r',
            ('\\', Some(&c @ ('"' | '\'' | '\\' | '`' | '$'))) => c,
            _ => {
                out.push(c);
                continue;
            }
        };
        chars.next();
        out.push(meant);
    }
    out
}

fn without_entities(text: &str) -> String {
    let entities = [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&#39;", "'"),
        ("&apos;", "'"),
        ("&nbsp;", " "),
        ("&amp;", "&"),
    ];
    entities.iter().fold(text.to_owned(), |text, (entity, meant)| text.replace(entity, meant))
}

/// Applies `change` to every line. Returns `None` if it fails for one.
fn each_line(text: &str, change: impl Fn(&str) -> Option<&str>) -> Option<String> {
    let lines: Option<Vec<&str>> = text.split('\n').map(change).collect();
    lines.map(|lines| lines.join("\n"))
}

/// Removes a line number: `  12: text`, `12\ttext`, `12 | text` and similar.
fn without_number(line: &str) -> Option<&str> {
    if line.is_empty() {
        return Some("");
    }
    let number = line.trim_start();
    let rest = number.trim_start_matches(|c: char| c.is_ascii_digit());
    if rest.len() == number.len() {
        return None;
    }
    let mark = rest.trim_start_matches(' ');
    if let Some(text) = mark.strip_prefix(['\t', '→']) {
        return Some(text);
    }
    let text = mark.strip_prefix([':', '|', '│', '.', ')'])?;
    Some(text.strip_prefix(' ').unwrap_or(text))
}

/// Removes the number of a match, `12:text`, or of a line around it, `12-text`.
fn without_number_of_grep(line: &str) -> Option<&str> {
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let text = rest.strip_prefix([':', '-'])?;
    (rest.len() < line.len()).then_some(text)
}

fn fenced(text: &str) -> Option<String> {
    let inner = text.trim().strip_prefix("```")?.strip_suffix("```")?;
    let (_, inner) = inner.split_once('\n')?;
    Some(inner.strip_suffix('\n').unwrap_or(inner).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_mistake_is_undone() {
        for (text, mistake, undone) in [
            ("a\\nb", InputError::Escaped, "a\nb"),
            ("say \\\"x\\\"", InputError::Escaped, "say \"x\""),
            ("a\nb", InputError::Unescaped, "a\\nb"),
            ("a &lt; b &amp;&amp; c", InputError::Entities, "a < b && c"),
            ("  1\tfoo\n  2\tbar", InputError::LineNumbers, "foo\nbar"),
            (" 5\t    foo\n", InputError::LineNumbers, "    foo\n"),
            ("12: foo", InputError::LineNumbers, "foo"),
            ("2-    a\n3:    b\n4-    c", InputError::LineNumbers, "    a\n    b\n    c"),
            ("-foo\n-bar", InputError::DiffMarks, "foo\nbar"),
            ("```rust\nfoo\n```", InputError::Fenced, "foo"),
            ("foo\n", AROUND, "foo"),
        ] {
            assert!(super::undone(text).contains(&(mistake, undone.to_owned())), "{text:?}");
        }
    }
}
