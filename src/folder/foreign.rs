//! Paths that are written for another place: with the separators or a drive of Windows, or with `~` or a variable for a shell.
//!
//! Knows no file system. What is there by such a name stays what it is.

/// Whether a new entry of this name would come from such a path. `is_first`: it is the first name of the path, `is_only`: and the last.
pub fn is_foreign(name: &str, is_first: bool, is_only: bool) -> bool {
    let is_foreign_first =
        || is_root(name) || behind_drive(name, is_only).is_some() || !is_only && is_other_home(name);
    name.contains('\\') || is_first && is_foreign_first()
}

/// Whether the path is such a one.
pub fn is_foreign_path(path: &str) -> bool {
    let (first, is_only) = path.split_once('/').map_or((path, true), |(first, _)| (first, false));
    path.contains('\\') || is_foreign(first, true, is_only)
}

/// The path with `/` between its names and nothing before the first, and whether a root stood there: that of this system or of another one.
pub fn plain(path: &str) -> (String, bool) {
    let path = without_device(path);
    let mut names = path.split(['/', '\\']).peekable();
    let is_only = !path.contains(['/', '\\']);
    // What is relative on a drive is taken as relative here.
    let relative = names.peek().and_then(|first| behind_drive(first, is_only));
    let is_root = |first: &&str| first.is_empty() || is_foreign(first, true, is_only);
    let has_root = names.next_if(is_root).is_some() && relative.is_none();
    let names: Vec<&str> = relative.into_iter().chain(names).filter(|name| !name.is_empty()).collect();
    (names.join("/"), has_root)
}

/// Whether another reader than this server takes the first name of a path for a place: a home, a drive, a variable, a scheme.
fn is_root(name: &str) -> bool {
    let is_drive = matches!(name.as_bytes(), [letter, b':'] if letter.is_ascii_alphabetic());
    name == "~" || is_drive || is_scheme(name) || is_variable(name)
}

/// A path without the mark of Windows for paths that are taken as they are, or for devices.
pub fn without_device(path: &str) -> &str {
    [r"\\?\", r"\\.\"].iter().find_map(|mark| path.strip_prefix(mark)).unwrap_or(path)
}

/// What stands behind a drive without a slash, or behind `file:`, in the first name of a path: `C:x` is relative on Windows. `is_only`:
/// it is the whole path. `a:b` alone is a name like others, and behind a file of one letter, a line number may stand.
fn behind_drive(name: &str, is_only: bool) -> Option<&str> {
    let (place, rest) = name.split_once(':')?;
    let is_place = match place.as_bytes() {
        [b'A'..=b'Z'] => true,
        [b'a'..=b'z'] => !is_only || has_extension(rest),
        _ => place.eq_ignore_ascii_case("file"),
    };
    (is_place && rest.contains(|c: char| !c.is_ascii_digit() && c != ':')).then_some(rest)
}

/// Whether a shell takes the first name of a path for the home of a user: `~root/x`.
fn is_other_home(name: &str) -> bool {
    name.strip_prefix('~').is_some_and(|user| user.starts_with(|c: char| c.is_ascii_lowercase() || c == '_'))
}

/// Whether a name is what stands before `//` in URIs such as `vscode://file/x`.
fn is_scheme(name: &str) -> bool {
    let is_usual = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b':');
    name.strip_suffix(':').is_some_and(|scheme| {
        scheme.len() > 1
            && scheme.starts_with(|first: char| first.is_ascii_alphabetic())
            && scheme.bytes().all(is_usual)
    })
}

/// A path without what a text has around it, and the lines that it names: the first and the last, counted from 1.
pub type BarePath<'p> = (&'p str, Option<(u64, u64)>);

/// Most ends of a path that may be where another text begins.
const MOST_ENDS: usize = 8;

/// Quotes that no usual name has, besides `'`.
const QUOTES: [char; 12] = ['"', '`', '“', '”', '„', '‟', '‘', '’', '«', '»', '‹', '›'];

/// What stands before the lines that `path` ends in, as it is: before the last range of lines first, then before those in front of it.
pub fn before_lines(path: &str) -> impl Iterator<Item = BarePath<'_>> {
    let last = |path| split_lines(path).map(|(before, lines)| (before, Some(lines)));
    std::iter::successors(last(path), move |(before, _)| last(before)).take(MOST_ENDS)
}

/// A path and the range of lines behind it.
fn split_lines(path: &str) -> Option<(&str, (u64, u64))> {
    let (before, named) = path.rsplit_once([':', '#'])?;
    Some((before, lines_in(named)?))
}

/// What `path` may be: what stands before its lines as it is, then what [`bare_paths`] says.
pub fn readings(path: &str) -> impl Iterator<Item = BarePath<'_>> {
    before_lines(path).chain(bare_paths(path))
}

/// What `path` may be without the quotes, brackets, stars, blanks, `@`, punctuation and line numbers that a text has around it, and without
/// what follows the name of a file with an extension behind `:`, `#` or a comma with a blank. The longest is the first.
pub fn bare_paths(path: &str) -> Vec<BarePath<'_>> {
    let within = path.rsplit_once("](").or_else(|| path.rsplit_once("\":")).map_or(path, |(_, path)| path);
    let (mut bare, mut lines) = (unmarked(within), None);
    let first = bare;
    while let Some((rest, range)) = split_lines(bare) {
        (bare, lines) = (unmarked(rest), Some(range));
    }
    let has_extension =
        |path: &str| path.rsplit('/').next().is_some_and(|name| name.trim_start_matches('.').contains('.'));
    let mut ends: Vec<usize> = first.match_indices([':', '#']).map(|(at, _)| at).collect();
    ends.extend(first.match_indices(", ").map(|(at, _)| at));
    text::order::sort_by(&mut ends, |one, other| other.cmp(one));
    let cut =
        ends.into_iter().take(MOST_ENDS).map(|at| unmarked(&first[..at])).filter(|path| has_extension(path));
    let all = [(bare, lines)].into_iter().chain(cut.map(|path| (path, None)));
    let mut bare: Vec<BarePath<'_>> = all.filter(|(bare, _)| *bare != path && !bare.is_empty()).collect();
    bare.dedup_by(|one, before| one.0 == before.0);
    bare
}

/// A path without quotes anywhere, and without other marks around it, if it has some.
pub fn unquoted(path: &str) -> Option<String> {
    let plain = unmarked(path).replace(QUOTES, "");
    (plain != path && !plain.is_empty()).then_some(plain)
}

/// A path without blanks and line breaks around its names, if there are some.
pub fn without_blanks(path: &str) -> Option<String> {
    let names: Vec<&str> = path.split('/').map(str::trim).collect();
    let plain = names.join("/");
    (plain != path && !plain.trim_matches('/').is_empty()).then_some(plain)
}

/// Whether a new name at the end of a path, or of a folder in it, is a slip: one with an encoded slash, or a word in angle brackets that
/// stands for another.
pub fn is_slip(name: &str) -> bool {
    has_encoded_slash(name) || has_place_for_word(name)
}

/// The path that a path with such a name, or with lines behind the name of a file with an extension, is to be. `Some(None)`: any other.
pub fn without_slip(path: &str) -> Option<Option<String>> {
    if has_encoded_slash(path) {
        return Some(decoded(path));
    }
    let is_path = |plain: &String| has_extension(plain) && !has_place_for_word(plain);
    if path.split('/').any(has_place_for_word) {
        return Some(unquoted(path).filter(is_path));
    }
    let (before, _) = before_lines(path).last()?;
    has_extension(before).then(|| Some(before.to_owned()))
}

fn has_encoded_slash(name: &str) -> bool {
    name.as_bytes()
        .windows(3)
        .any(|part| part.eq_ignore_ascii_case(b"%2f") || part.eq_ignore_ascii_case(b"%5c"))
}

/// Whether a name has a word in small letters in angle brackets. A type such as `Vec<T>` is none.
fn has_place_for_word(name: &str) -> bool {
    let is_usual = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || " -_.:".contains(c);
    let is_word =
        |word: &str| word.starts_with(|c: char| c.is_ascii_lowercase()) && word.chars().all(is_usual);
    name.split('<').skip(1).any(|part| part.split_once('>').is_some_and(|(word, _)| is_word(word)))
}

/// A path without percent signs before hexadecimal digits, and with `/` between its names.
fn decoded(path: &str) -> Option<String> {
    let digit = |byte: Option<&u8>| byte.and_then(|byte| char::from(*byte).to_digit(16));
    let (bytes, mut out, mut at) = (path.as_bytes(), Vec::new(), 0);
    while let Some(&byte) = bytes.get(at) {
        match (byte, digit(bytes.get(at + 1)), digit(bytes.get(at + 2))) {
            (b'%', Some(high), Some(low)) => {
                out.push((high * 16 + low) as u8);
                at += 3;
            }
            _ => {
                out.push(byte);
                at += 1;
            }
        }
    }
    String::from_utf8(out).ok().map(|path| path.replace('\\', "/"))
}

/// Whether a path ends in a name with an extension that has a letter.
fn has_extension(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    let extension = name.trim_start_matches('.').rsplit_once('.').map(|(_, extension)| extension);
    extension.is_some_and(|extension| extension.contains(|c: char| c.is_ascii_alphabetic()))
}

/// Whether a name begins with a mark of a text that no usual name begins with: a quote, a star, or a bracket that is not closed in it.
pub fn begins_with_mark(name: &str) -> bool {
    let mut chars = name.chars();
    match chars.next() {
        Some('(') => !name.contains(')'),
        Some('[') => !name.contains(']'),
        Some('{') => !name.contains('}'),
        Some(first) => QUOTES.contains(&first) || matches!(first, '*' | '<'),
        None => false,
    }
}

fn unmarked(text: &str) -> &str {
    let is_around = |c: char| {
        c.is_whitespace()
            || QUOTES.contains(&c)
            || matches!(c, '\'' | '<' | '>' | '(' | ')' | '[' | ']' | '{' | '}' | '*')
    };
    let is_behind = |c: char| is_around(c) || matches!(c, ',' | ';' | ':' | '#' | '.' | '…');
    text.trim_start_matches(|c: char| is_around(c) || c == '@').trim_end_matches(is_behind)
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

/// Whether this is a variable of a shell, such as `$HOME` or `%HOME%`, which in lower case is a name, `${home}`, `$(pwd)` or
/// `$env:HOME`. What stands in braces may go on behind a `/`.
fn is_variable(name: &str) -> bool {
    let is_in = |start, end| {
        name.strip_prefix(start).is_some_and(|rest: &str| rest.ends_with(end) || !rest.contains(end))
    };
    let is_of_environment = name
        .strip_prefix('$')
        .and_then(|rest| rest.get(..4))
        .is_some_and(|rest| rest.eq_ignore_ascii_case("env:"));
    if is_of_environment || is_in("${", '}') || is_in("$(", ')') {
        return true;
    }
    let in_signs = || name.strip_prefix('%')?.strip_suffix('%');
    let variable = in_signs().or_else(|| name.strip_prefix('$'));
    variable.is_some_and(|name| {
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_')
    })
}

/// Whether a name is a glob of several names, or of all but some: `!(a)`, `@(a|b)`, `+(a)`.
pub fn is_extended_glob(name: &str) -> bool {
    name.ends_with(')') && ["!(", "@(", "+("].iter().any(|begin| name.starts_with(begin))
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
            ("~root/x/y", ("x/y", true)),
            ("$HOME/a/b", ("a/b", true)),
            ("${HOME}/a", ("a", true)),
            ("${workspaceFolder}/a", ("a", true)),
            ("$(pwd)/a", ("a", true)),
            ("$(dirname a/b)/c", ("b)/c", true)),
            (r"%USERPROFILE%\a", ("a", true)),
            (r"m\\sub\\x.py", ("m/sub/x.py", false)),
            ("file:///a", ("a", true)),
            ("FILE:///a/b", ("a/b", true)),
            ("vscode-remote://a/b", ("a/b", true)),
            ("jar:file:/a/b", ("a/b", true)),
            ("c:/a", ("a", true)),
            ("C:n.txt", ("n.txt", false)),
            (r"c:src\n.txt", ("src/n.txt", false)),
            ("C:src/n.txt", ("src/n.txt", false)),
            ("c:src/n", ("src/n", false)),
            ("c:n.txt", ("n.txt", false)),
            ("file:n.txt", ("n.txt", false)),
            (r"\\server\share\n.txt", ("server/share/n.txt", true)),
            (r"\\?\C:\n.txt", ("n.txt", true)),
            ("$env:TEMP/n.txt", ("n.txt", true)),
            (r"$Env:UserProfile\n.txt", ("n.txt", true)),
            (r"HKCU:\a", ("a", true)),
        ] {
            assert!(is_foreign_path(path), "{path}");
            assert_eq!(plain(path), (expected.0.to_owned(), expected.1), "{path}");
        }
        for path in [
            "a/b",
            "${name}.java",
            "~a",
            "~$a/b",
            "a/~b/c",
            "a/~",
            "$id/edit.tsx",
            "$types.ts",
            "a:/b",
            "50%",
            "%",
            "$",
            "/a",
            "A.B:/x",
            "a/C:n.txt",
            "ab:n.txt",
            "a:12",
            "A:12:3",
            "a:b",
            "files:n",
        ] {
            assert_eq!(is_foreign_path(path), path == "a:/b", "{path}");
        }
        for path in [
            "\"a/b\"",
            "'a/b'",
            "`a/b`",
            " a/b\n",
            "a/b:12",
            "a/b:12:3",
            "@a/b",
            "`@a/b:1`",
            "a/b:",
            "a/b#",
            "<a/b>",
            "`a/b`,",
            "\"a/b\";",
            "a/b,",
            "`a/b`:12",
            "<a/b:12>",
            "a/b#2:",
            "(a/b)",
            "[a/b]",
            "**a/b**",
            "“a/b”",
            "«a/b»",
            "{\"path\":\"a/b\"}",
            "{\"path\": \"a/b\"}",
            "[\"a/b\"]",
            "a/b...",
            "a/b…",
            "[x](a/b)",
        ] {
            assert_eq!(bare_paths(path).first().map(|(bare, _)| *bare), Some("a/b"), "{path}");
        }
        for path in
            ["a/b", "a:b", "a@b", "", " ", "@", "12", "a#L", "a:L", "a:1-", "a#L1-x", "a#top", "a>b", "a,b"]
        {
            assert_eq!(bare_paths(path), [], "{path}");
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
            assert_eq!(bare_paths(path).first(), Some(&("a/b", Some((first, last)))), "{path}");
        }
        for path in [
            "s/a.py::f",
            "s/a.py:abc",
            "s/a.py, README.md",
            "s/a.py:1-",
            "s/a.py#L",
            "(s/a.py:1-)",
            "s/a.py:f:2",
        ] {
            assert!(bare_paths(path).contains(&("s/a.py", None)), "{path}");
        }
        assert!(bare_paths(&"a.b:".repeat(10_000)).len() <= MOST_ENDS + 1);
        for (path, expected) in [
            ("[x] :2:5", vec![("[x] :2", Some((5, 5))), ("[x] ", Some((2, 2)))]),
            ("(1)#L2-L3", vec![("(1)", Some((2, 3)))]),
            ("`a:2`", vec![]),
        ] {
            assert_eq!(before_lines(path).collect::<Vec<_>>(), expected, "{path}");
        }
        assert_eq!(readings("[x]:2").map(|(path, _)| path).collect::<Vec<_>>(), ["[x]", "x"]);
        assert_eq!(unquoted("\"src\"/new.py").as_deref(), Some("src/new.py"));
        assert_eq!(unquoted("src/it's.py"), None);
        for (name, is_mark) in [
            ("(src", true),
            ("“src", true),
            ("*", true),
            ("[slug]", false),
            ("(group)", false),
            ("@m", false),
        ] {
            assert_eq!(begins_with_mark(name), is_mark, "{name}");
        }
        for (path, meant) in [
            ("src/new.py:12", Some(Some("src/new.py"))),
            ("new.py:12-14", Some(Some("new.py"))),
            ("new.py:12:3", Some(Some("new.py"))),
            ("new.py#L2-L4", Some(Some("new.py"))),
            ("<path>", Some(None)),
            ("<path/to/file>", None),
            ("src/<name>.py", Some(None)),
            ("src/test_<file_name>.py", Some(None)),
            ("<new.py>", Some(Some("new.py"))),
            ("src%2Fn.py", Some(Some("src/n.py"))),
            ("a%20b%2fn.py", Some(Some("a b/n.py"))),
            (r"src%5Cn.py", Some(Some("src/n.py"))),
            ("src/Vec<T>.rs", None),
            ("none:12", None),
            ("log 1.5:30", None),
            ("a%20b.py", None),
            ("100%.txt", None),
        ] {
            assert_eq!(without_slip(path), meant.map(|meant| meant.map(str::to_owned)), "{path}");
        }
        assert_eq!(plain("/home/me/a"), ("home/me/a".into(), true));
        for (path, expected) in
            [("/a /b\n", Some("/a/b")), (" a b\t", Some("a b")), ("a b/c", None), (" ", None)]
        {
            assert_eq!(without_blanks(path).as_deref(), expected, "{path:?}");
        }
    }
}
