//! Paths of clients, in the forms that the system has for them: with a drive, with a server, and both behind `\\?\`.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use super::names::is_usable_name;

/// The beginnings that switch off most of what the system does with paths.
const VERBATIM: &str = "//?/";
const VERBATIM_UNC: &str = "//?/UNC/";

/// Longer paths need such a beginning, in bytes.
const LONG: usize = 248;

/// The path with `/` between its components, without a beginning that says to take it as it is.
pub fn with_slashes(path: &str) -> Cow<'_, str> {
    if !path.contains('\\') && !path.starts_with(VERBATIM) {
        return Cow::Borrowed(path);
    }
    let path = path.replace('\\', "/");
    let is_unc = path.get(..VERBATIM_UNC.len()).is_some_and(|start| start.eq_ignore_ascii_case(VERBATIM_UNC));
    if is_unc {
        return Cow::Owned(format!("//{}", &path[VERBATIM_UNC.len()..]));
    }
    match path.strip_prefix(VERBATIM) {
        Some(rest) if has_drive(rest) => Cow::Owned(rest.into()),
        _ => Cow::Owned(path),
    }
}

/// Whether a path with slashes begins with a drive and the root of its files.
fn has_drive(path: &str) -> bool {
    matches!(path.as_bytes(), [letter, b':', b'/', ..] if letter.is_ascii_alphabetic())
}

/// Whether a path with slashes is absolute. One without a drive counts as such, and is in no folder.
pub fn is_absolute(path: &str) -> bool {
    path.starts_with('/') || has_drive(path)
}

/// The rest of the absolute path `path` below `folder`; both have slashes. The case of ASCII letters in the folder does not
/// count.
pub fn below<'t>(path: &'t str, folder: &str) -> Option<&'t str> {
    let (start, rest) = path.split_at_checked(folder.len())?;
    start.eq_ignore_ascii_case(folder).then_some(rest)
}

/// The root of an absolute path with slashes: what stands before its first component.
pub fn root(path: &str) -> &str {
    &path[..path.len() - path.trim_start_matches('/').len()]
}

/// A path in the one form in which absolute paths are told: `C:\a\b`, `\\server\share\a`, and behind `\\?\` where the
/// system needs that for the length. A relative path stays.
pub fn told(path: &str) -> Cow<'_, str> {
    let slashed = with_slashes(path);
    if !is_absolute(&slashed) {
        return Cow::Borrowed(path);
    }
    let told = slashed.replace('/', "\\");
    Cow::Owned(match told.strip_prefix(r"\\") {
        _ if told.len() < LONG => told,
        None if has_drive(&slashed) => format!(r"\\?\{told}"),
        Some(from_server) if !from_server.starts_with(['?', '.']) => format!(r"\\?\UNC\{from_server}"),
        _ => told,
    })
}

/// A canonical path as users write it: the system tells it behind `\\?\`. A path that would mean something else without that
/// stays.
pub fn usual(path: &Path) -> PathBuf {
    let Some(text) = path.to_str() else { return path.into() };
    let usual = told(text);
    let means_the_same =
        usual.split('\\').skip(1).all(|part| matches!(part, "" | "?") || is_usable_name(part.as_bytes()));
    if means_the_same { usual.into_owned().into() } else { path.into() }
}

/// What stands behind `file://` for an absolute path, not yet encoded: a drive as it stays, and the rest. A server is the host.
pub fn in_uri(path: &Path) -> (String, Cow<'_, [u8]>) {
    let path = path.to_string_lossy();
    let path = with_slashes(&path);
    let (start, rest) = match path.strip_prefix("//") {
        Some(from_server) => ("".into(), from_server),
        None if has_drive(&path) => (format!("/{}", &path[..2]), &path[2..]),
        None => ("".into(), &*path),
    };
    (start, Cow::Owned(rest.as_bytes().to_vec()))
}

/// The path below `folder` of a URI, whose decoded text behind `file://` this is. Some programs write a server behind two more
/// slashes, instead of as the host.
pub fn below_in_uri(decoded: &[u8], folder: &Path) -> Option<String> {
    let decoded = with_slashes(std::str::from_utf8(decoded).ok()?);
    let path = match decoded.strip_prefix('/') {
        Some(path) if has_drive(path) => path.to_owned(),
        Some(path) if path.starts_with('/') => decoded.into_owned(),
        Some(_) => return None,
        None => format!("//{decoded}"),
    };
    let folder = folder.to_string_lossy();
    let rest = below(&path, with_slashes(&folder).trim_end_matches('/'))?;
    rest.strip_prefix('/').map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_of_a_path_becomes_one_with_slashes() {
        for (path, expected) in [
            (r"a\b/c", "a/b/c"),
            (r"C:\a\b", "C:/a/b"),
            (r"\\?\C:\a", "C:/a"),
            ("//?/C:/a", "C:/a"),
            (r"\\?\UNC\server\share\a", "//server/share/a"),
            (r"\\server\share", "//server/share"),
            (r"\\?\Volume{1}\a", "//?/Volume{1}/a"),
            (r"\\.\C:\a", "//./C:/a"),
        ] {
            assert_eq!(with_slashes(path), expected, "{path}");
        }
        assert!(["C:/a", "/a", "//server/share", "//./x"].iter().all(|path| is_absolute(path)));
        assert!(!["C:a", "a/b", "C:", "1:/a"].iter().any(|path| is_absolute(path)));
        assert_eq!(below("c:/Work/a", "C:/work"), Some("/a"));
        assert_eq!((below("C:/wor", "C:/work"), below("D:/work/a", "C:/work")), (None, None));
    }

    #[test]
    fn a_path_in_a_uri_begins_with_its_drive_or_server() {
        let in_uri = |path: &str| {
            let (start, rest) = super::in_uri(Path::new(path));
            (start, String::from_utf8(rest.into_owned()).unwrap())
        };
        assert_eq!(in_uri(r"\\?\C:\a b\c"), ("/C:".into(), "/a b/c".into()));
        assert_eq!(in_uri(r"\\server\share\a"), (String::new(), "server/share/a".into()));
    }

    #[test]
    fn a_uri_leads_below_the_folder_on_its_drive_or_server_and_nowhere_else() {
        let below = |text: &str, folder: &str| below_in_uri(text.as_bytes(), Path::new(folder));
        for text in ["/C:/work/a/b", "/c:/WORK/a/b", r"/C:\work\a/b", r"/C:/work\a\b"] {
            assert_eq!(below(text, r"C:\work").as_deref(), Some("a/b"), "{text}");
        }
        assert_eq!(below("/C:/a", r"C:\").as_deref(), Some("a"));
        for text in ["server/share/a", "//server/share/a", "SERVER/Share/a"] {
            assert_eq!(below(text, r"\\server\share").as_deref(), Some("a"), "{text}");
        }
        for text in
            ["/C:/work", "/C:/work2/a", "/D:/work/a", "C:/work/a", "/work/a", "server/C:/work/a", "", "/"]
        {
            assert_eq!(below(text, r"C:\work"), None, "{text}");
        }
    }

    #[test]
    fn canonical_paths_are_told_as_users_write_them() {
        let told = |path: &str| usual(Path::new(path)).display().to_string();
        assert_eq!(told(r"\\?\C:\work"), r"C:\work");
        assert_eq!(told(r"\\?\UNC\server\share\a"), r"\\server\share\a");
        assert_eq!(told(r"\\?\C:\work\nul"), r"\\?\C:\work\nul");
    }

    #[test]
    fn absolute_paths_are_told_in_one_form_and_relative_ones_stay() {
        let long = "x".repeat(LONG);
        for (path, expected) in [
            ("C:/a/b", r"C:\a\b"),
            (r"C:\a/b", r"C:\a\b"),
            (r"\\?\C:\a/b", r"C:\a\b"),
            ("//server/share/a", r"\\server\share\a"),
            ("//?/UNC/server/share/a", r"\\server\share\a"),
            ("a/b", "a/b"),
            (&format!("C:/{long}"), &format!(r"\\?\C:\{long}")),
            (&format!(r"\\?\C:\{long}"), &format!(r"\\?\C:\{long}")),
            (&format!("//server/share/{long}"), &format!(r"\\?\UNC\server\share\{long}")),
        ] {
            assert_eq!(super::told(path), expected, "{path}");
            assert_eq!(super::told(expected), expected, "told again");
        }
        assert_eq!(["C:/a", "/a", "//server/a", "a"].map(root), ["", "/", "//", ""]);
    }
}
