//! Paths that are written for another place: with the separators or a drive of Windows, or with `~` or a variable for a shell.
//!
//! Knows no file system. What is there by such a name stays what it is.

/// Whether a new entry of this name would come from such a path. `is_first`: it is the first name of the path.
pub fn is_foreign(name: &str, is_first: bool) -> bool {
    name.contains('\\') || is_first && is_root(name)
}

/// Whether the path is such a one.
pub fn is_foreign_path(path: &str) -> bool {
    path.contains('\\') || is_root(path.split('/').next().unwrap_or_default())
}

/// The path with `/` between its names and nothing before the first, and whether a root stood there: that of this system or of another one.
pub fn plain(path: &str) -> (String, bool) {
    let mut names = path.split(['/', '\\']).peekable();
    let has_root = names.next_if(|first| first.is_empty() || is_root(first)).is_some();
    let names: Vec<&str> = names.filter(|name| !name.is_empty()).collect();
    (names.join("/"), has_root)
}

/// Whether another reader than this server takes the first name of a path for a place: a home, a drive, a variable, a scheme.
fn is_root(name: &str) -> bool {
    let is_drive = matches!(name.as_bytes(), [letter, b':'] if letter.is_ascii_alphabetic());
    name == "~" || is_drive || matches!(name, "file:" | "http:" | "https:") || is_variable(name)
}

/// The path without the quotes, brackets, blanks, `@`, punctuation and line numbers that a text has around it, if it has some, and the
/// lines that it names: the first and the last, counted from 1.
pub fn bare_path(path: &str) -> Option<(&str, Option<(u64, u64)>)> {
    let is_around = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`' | '<' | '>');
    let is_behind = |c: char| is_around(c) || matches!(c, ',' | ';' | ':' | '#');
    let trimmed =
        |text| str::trim_start_matches(text, |c: char| is_around(c) || c == '@').trim_end_matches(is_behind);
    let (mut bare, mut lines) = (trimmed(path), None);
    while let Some((rest, named)) = bare.rsplit_once([':', '#'])
        && let Some(range) = lines_in(named)
    {
        (bare, lines) = (trimmed(rest), Some(range));
    }
    (bare != path && !bare.is_empty()).then_some((bare, lines))
}

/// The lines of a text such as `12`, `12-20`, `L12`, `L12-L20` or `L12C3-L20C1`.
fn lines_in(text: &str) -> Option<(u64, u64)> {
    let line = |text: &str| {
        let numbers = text.strip_prefix('L').unwrap_or(text);
        let (line, column) = numbers.split_once('C').unwrap_or((numbers, "0"));
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        (is_number(line) && is_number(column)).then(|| line.parse().unwrap_or(u64::MAX))
    };
    match text.split_once('-') {
        Some((first, last)) => {
            let last = line(last).or_else(|| line(&format!("L{last}")))?;
            Some((line(first)?, last))
        }
        None => line(text).map(|line| (line, line)),
    }
}

/// Whether this is a variable of a shell, such as `$HOME` or `%HOME%`, which in lower case is a name, or `${home}` or `$(pwd)`.
/// What stands in braces may go on behind a `/`.
fn is_variable(name: &str) -> bool {
    let is_in = |start, end| {
        name.strip_prefix(start).is_some_and(|rest: &str| rest.ends_with(end) || !rest.contains(end))
    };
    if is_in("${", '}') || is_in("$(", ')') {
        return true;
    }
    let in_signs = || name.strip_prefix('%')?.strip_suffix('%');
    let variable = in_signs().or_else(|| name.strip_prefix('$'));
    variable.is_some_and(|name| {
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_windows_and_for_shells_are_known() {
        for (path, expected) in [
            (r"m\sub\x.py", ("m/sub/x.py", false)),
            (r"C:\Users\me\x", ("Users/me/x", true)),
            ("C:/x", ("x", true)),
            ("~/x", ("x", true)),
            ("~", ("", true)),
            ("$HOME/a/b", ("a/b", true)),
            ("${HOME}/a", ("a", true)),
            ("${workspaceFolder}/a", ("a", true)),
            ("$(pwd)/a", ("a", true)),
            ("$(dirname a/b)/c", ("b)/c", true)),
            (r"%USERPROFILE%\a", ("a", true)),
            (r"m\\sub\\x.py", ("m/sub/x.py", false)),
            ("file:///a", ("a", true)),
        ] {
            assert!(is_foreign_path(path), "{path}");
            assert_eq!(plain(path), (expected.0.to_owned(), expected.1), "{path}");
        }
        for path in [
            "a/b",
            "${name}.java",
            "~a/b",
            "a/~",
            "$id/edit.tsx",
            "$types.ts",
            "a:/b",
            "50%",
            "%",
            "$",
            "/a",
            "A.B:/x",
        ] {
            assert_eq!(is_foreign_path(path), path == "a:/b", "{path}");
        }
        for path in [
            "\"a/b\"", "'a/b'", "`a/b`", " a/b\n", "a/b:12", "a/b:12:3", "@a/b", "`@a/b:1`", "a/b:", "a/b#",
            "<a/b>", "`a/b`,", "\"a/b\";", "a/b,", "`a/b`:12", "<a/b:12>", "a/b#2:",
        ] {
            assert_eq!(bare_path(path).map(|(bare, _)| bare), Some("a/b"), "{path}");
        }
        for path in
            ["a/b", "a:b", "a@b", "", " ", "@", "12", "a#L", "a:L", "a:1-", "a#L1-x", "a#top", "a>b", "a,b"]
        {
            assert_eq!(bare_path(path), None, "{path}");
        }
        for (path, first, last) in [
            ("a/b:12", 12, 12),
            ("a/b:12:3", 12, 12),
            ("a/b:12-20", 12, 20),
            ("a/b:L12", 12, 12),
            ("a/b#L12", 12, 12),
            ("a/b#2", 2, 2),
            ("a/b#2-4", 2, 4),
            ("`a/b:3`,", 3, 3),
            ("<a/b>:3", 3, 3),
            ("a/b#L12-L20", 12, 20),
            ("a/b#L12-20", 12, 20),
            ("a/b#L12C3-L20C1", 12, 20),
            ("`a/b:0`", 0, 0),
        ] {
            assert_eq!(bare_path(path), Some(("a/b", Some((first, last)))), "{path}");
        }
        assert_eq!(plain("/home/me/a"), ("home/me/a".into(), true));
    }
}
