//! The names of files in the header lines of a unified diff.
//!
//! Knows the prefixes that programs put before a name, and git's quotes, but no files.

/// Names that stand before a path, with a slash, for the side of the diff.
const PREFIXES: [&str; 9] = ["a/", "b/", "i/", "w/", "c/", "o/", "1/", "2/", "./"];

/// What editors and people add to the name of the old or the new file.
const COPIES: [&str; 6] = [".orig", ".old", ".bak", "~", ".new", ".tmp"];

/// A path, and another reading of the same name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Path {
    pub(super) path: String,
    pub(super) other: Option<String>,
}

/// The name behind `---` or `+++`, as written. An error if it is not UTF-8. `/dev/null` is `Ok(None)`.
pub(super) fn name(text: &str) -> Result<Option<String>, ()> {
    let name = match text.strip_prefix('"') {
        Some(_) => quoted(text).ok_or(())?.0,
        None => {
            let text = text.split('\t').next().unwrap_or_default();
            text[..before_time(text)].trim_end().to_owned()
        }
    };
    Ok((name != "/dev/null").then_some(name))
}

/// The end of a name before a time such as `2024-01-31 10:00:00`, which some programs put behind blanks and not behind a tab.
fn before_time(text: &str) -> usize {
    let is_time = |at: &usize| {
        let time = &text.as_bytes()[at + 1..];
        let shape = b"0000-00-00 00:00";
        time.len() >= shape.len()
            && shape.iter().zip(time).all(|(shape, byte)| match shape {
                b'0' => byte.is_ascii_digit(),
                other => other == byte,
            })
    };
    memchr::memchr_iter(b' ', text.as_bytes()).find(is_time).unwrap_or(text.len())
}

/// A name in git's quotes, and what follows. `None` if it is not well-formed, or not UTF-8.
fn quoted(text: &str) -> Option<(String, &str)> {
    let mut bytes = Vec::new();
    let mut rest = text.strip_prefix('"')?.as_bytes();
    loop {
        let (&byte, after) = rest.split_first()?;
        rest = after;
        match byte {
            b'"' => break,
            b'\\' => {
                let (&escape, after) = rest.split_first()?;
                rest = after;
                bytes.push(match escape {
                    b'a' => 7,
                    b'b' => 8,
                    b't' => b'\t',
                    b'n' => b'\n',
                    b'v' => 11,
                    b'f' => 12,
                    b'r' => b'\r',
                    b'"' | b'\\' => escape,
                    b'0'..=b'3' => {
                        let (octal, after) = rest.split_first_chunk::<2>()?;
                        rest = after;
                        let digit = |byte: &u8| (b'0'..=b'7').contains(byte).then(|| byte - b'0');
                        (escape - b'0') << 6 | digit(&octal[0])? << 3 | digit(&octal[1])?
                    }
                    _ => return None,
                });
            }
            byte => bytes.push(byte),
        }
    }
    Some((String::from_utf8(bytes).ok()?, std::str::from_utf8(rest).ok()?))
}

/// The two names of a line `diff --git`, as written. `None` if it does not tell where the first one ends.
pub(super) fn pair(text: &str) -> Option<(String, String)> {
    if text.starts_with('"') {
        let (old, rest) = quoted(text)?;
        let new = name(rest.strip_prefix(' ')?).ok()??;
        return Some((old, new));
    }
    if text.ends_with('"') {
        let at = text.find(" \"")?;
        return Some((text[..at].into(), quoted(&text[at + 1..])?.0));
    }
    let text = text.trim_end();
    let halves = |at: usize| (&text[..at], &text[at + 1..]);
    let mut blanks = memchr::memchr_iter(b' ', text.as_bytes()).map(halves);
    let only = (memchr::memchr_iter(b' ', text.as_bytes()).count() == 1).then(|| text.split_once(' '));
    let (old, new) = only
        .flatten()
        .or_else(|| blanks.find(|(old, new)| old == new || tail(old).is_some() && tail(old) == tail(new)))?;
    Some((old.into(), new.into()))
}

/// The path without its first folder.
fn tail(path: &str) -> Option<&str> {
    path.split_once('/').map(|(_, tail)| tail).filter(|tail| !tail.is_empty())
}

fn without_prefix(path: &str) -> Option<&str> {
    PREFIXES.iter().find_map(|prefix| path.strip_prefix(prefix)).filter(|path| !path.is_empty())
}

/// The path of a name that stands alone.
pub(super) fn single(name: &str) -> Path {
    match without_prefix(name) {
        Some(path) => Path { path: path.into(), other: Some(name.into()) },
        None => Path { path: name.into(), other: None },
    }
}

/// The path of a file that both names name. `None` if they name two files.
pub(super) fn common(old: &str, new: &str) -> Option<Path> {
    if old == new {
        let other = without_prefix(old).map(str::to_owned);
        return Some(Path { path: old.into(), other });
    }
    if let Some(path) = tail(old).filter(|_| tail(old) == tail(new)) {
        return Some(Path { path: path.into(), other: Some(new.into()) });
    }
    let (old, new) = (without_prefix(old).unwrap_or(old), without_prefix(new).unwrap_or(new));
    let (short, long) = if old.len() <= new.len() { (old, new) } else { (new, old) };
    let is_copy = long.strip_prefix(short).is_some_and(|end| end.is_empty() || COPIES.contains(&end));
    let is_below = long.strip_suffix(short).is_some_and(|folder| folder.ends_with('/'));
    (is_copy || is_below).then(|| Path { path: short.into(), other: is_below.then(|| long.into()) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_ends_before_a_time_and_is_read_from_quotes() {
        for (text, expected) in [
            ("a/x.rs", "a/x.rs"),
            ("a/x y.rs\t2024-01-31 10:00:00.000 +0000", "a/x y.rs"),
            ("a/x y.rs 2024-01-31 10:00:00.000 +0000", "a/x y.rs"),
            ("x.rs\t(revision 5)", "x.rs"),
            (r#""a/\303\251 \"q\"\\\t.txt""#, "a/é \"q\"\\\t.txt"),
        ] {
            assert_eq!(name(text), Ok(Some(expected.into())), "{text}");
        }
        assert_eq!(name("/dev/null\t1970-01-01"), Ok(None));
        for text in [r#""a/\303""#, r#""a/x"#, r#""a\9""#, r#""a\40""#, "\""] {
            assert_eq!(name(text), Err(()), "{text}");
        }
    }

    #[test]
    fn a_git_line_with_blanks_is_divided_where_both_halves_name_one_file() {
        let divided = |text| pair(text).unwrap_or_default();
        assert_eq!(divided("a/x b/x"), ("a/x".into(), "b/x".into()));
        assert_eq!(divided("a/x y b/x y"), ("a/x y".into(), "b/x y".into()));
        assert_eq!(divided("x y x y"), ("x y".into(), "x y".into()));
        assert_eq!(divided(r#""a/\303\251" "b/\303\251""#), ("a/é".into(), "b/é".into()));
        assert_eq!(divided(r#"a/x "b/\303\251""#), ("a/x".into(), "b/é".into()));
        assert_eq!(pair("a/x y b/z w"), None);
        assert_eq!(pair(""), None);
    }

    #[test]
    fn prefixes_are_no_part_of_a_path_and_two_files_have_none_in_common() {
        let path = |old, new| common(old, new).map(|path| (path.path, path.other.unwrap_or_default()));
        let is = |path: &str, other: &str| Some((path.to_owned(), other.to_owned()));
        assert_eq!(path("a/src/x", "b/src/x"), is("src/x", "b/src/x"));
        assert_eq!(path("i/x", "w/x"), is("x", "w/x"));
        assert_eq!(path("old-1.0/src/x", "new-1.1/src/x"), is("src/x", "new-1.1/src/x"));
        assert_eq!(path("src/x", "src/x"), is("src/x", ""));
        assert_eq!(path("a/x", "a/x"), is("a/x", "x"));
        assert_eq!(path("x.orig", "x"), is("x", ""));
        assert_eq!(path("a/x", "x"), is("x", ""));
        assert_eq!(path("/tmp/t/src/x", "src/x"), is("src/x", "/tmp/t/src/x"));
        assert_eq!(path("a/x", "b/y"), None);
        assert_eq!(path("x.c", "x.cc"), None);
        assert_eq!(single("b/x"), Path { path: "x".into(), other: Some("b/x".into()) });
        assert_eq!(single("x"), Path { path: "x".into(), other: None });
    }
}
