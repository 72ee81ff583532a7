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
    let path = path.replace('\\', "/");
    let (first, rest) = path.split_once('/').unwrap_or((&path, ""));
    match first.is_empty() || is_root(first) {
        true => (rest.trim_matches('/').to_owned(), true),
        false => (path.trim_end_matches('/').to_owned(), false),
    }
}

/// Whether another reader than this server takes the first name of a path for a place: a home, a drive, a variable, a scheme.
fn is_root(name: &str) -> bool {
    let is_drive = matches!(name.as_bytes(), [letter, b':'] if letter.is_ascii_alphabetic());
    name == "~" || is_drive || matches!(name, "file:" | "http:" | "https:") || is_variable(name)
}

/// The path without the quotes, blanks, `@` and line number that a text has around it, if it has some.
pub fn bare(path: &str) -> Option<&str> {
    let is_around = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`');
    let mut bare = path.trim_matches(is_around).trim_start_matches('@');
    while let Some((rest, number)) = bare.rsplit_once(':') {
        if number.is_empty() || !number.bytes().all(|byte| byte.is_ascii_digit()) {
            break;
        }
        bare = rest;
    }
    (bare != path && !bare.is_empty()).then_some(bare)
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
        for path in ["\"a/b\"", "'a/b'", "`a/b`", " a/b\n", "a/b:12", "a/b:12:3", "@a/b", "`@a/b:1`"] {
            assert_eq!(bare(path), Some("a/b"), "{path}");
        }
        for path in ["a/b", "a:b", "a:", "a@b", "", " ", "@", "12"] {
            assert_eq!(bare(path), None, "{path}");
        }
        assert_eq!(plain("/home/me/a"), ("home/me/a".into(), true));
    }
}
