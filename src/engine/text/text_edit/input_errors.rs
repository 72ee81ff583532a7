//! Ways in which a text gets spoiled between a file and an edit, and what it was before that.
//!
//! Pure. Each is known from what models send: nothing here is ever applied, it only helps to say what is wrong.

/// What happened to the text that was searched for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InputError {
    /// A backslash and a letter stand where the file has the character that they mean, such as a break.
    Escaped,
    /// A break or a quote stands where the file has a backslash and a letter.
    Unescaped,
    /// `&lt;` stands for `<`.
    Entities,
    /// Its lines begin with their numbers.
    LineNumbers,
    /// Its lines begin with the marks of a diff.
    DiffMarks,
    /// It stands between code fences.
    Fenced,
    /// Breaks before it, or blanks or breaks behind it, are not in the file.
    BlanksAround {
        /// Before it.
        before: bool,
        /// Behind it.
        after: bool,
    },
}

/// Something around the text, before it is known what.
pub(super) const AROUND: InputError = InputError::BlanksAround { before: true, after: true };

/// What `text` may have been before a mistake was made.
pub(super) fn undone(text: &str) -> Vec<(InputError, String)> {
    let all = [
        (InputError::Fenced, fenced(text)),
        (InputError::Escaped, Some(without_escapes(text))),
        (InputError::Unescaped, Some(text.replace('\n', "\\n").replace('\t', "\\t"))),
        (InputError::Unescaped, Some(text.replace('"', "\\\""))),
        (InputError::Entities, Some(without_entities(text))),
        (InputError::LineNumbers, each_line(text, without_number)),
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

/// `change` of every line, if it has one for every line.
fn each_line(text: &str, change: impl Fn(&str) -> Option<&str>) -> Option<String> {
    let lines: Option<Vec<&str>> = text.split('\n').map(change).collect();
    lines.map(|lines| lines.join("\n"))
}

/// `  12: text`, `12\ttext`, `12 | text` and the like.
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
            ("-foo\n-bar", InputError::DiffMarks, "foo\nbar"),
            ("```rust\nfoo\n```", InputError::Fenced, "foo"),
            ("foo\n", AROUND, "foo"),
        ] {
            assert!(super::undone(text).contains(&(mistake, undone.to_owned())), "{text:?}");
        }
    }
}
