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
pub(crate) fn with_slashes(path: &str) -> Cow<'_, str> {
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
pub(crate) fn is_absolute(path: &str) -> bool {
    path.starts_with('/') || has_drive(path)
}

/// The rest of the absolute path `path` below `folder`; both have slashes. The case of ASCII letters in the folder does not
/// count.
pub(crate) fn below<'t>(path: &'t str, folder: &str) -> Option<&'t str> {
    let (start, rest) = path.split_at_checked(folder.len())?;
    start.eq_ignore_ascii_case(folder).then_some(rest)
}

/// A canonical path as users write it: the system tells it behind `\\?\`. A path that would mean something else without that
/// stays.
pub(crate) fn usual(path: &Path) -> PathBuf {
    let Some(text) = path.to_str().filter(|text| text.len() < LONG) else { return path.into() };
    let usual = with_slashes(text).replace('/', "\\");
    let means_the_same =
        usual.split('\\').skip(1).all(|part| part.is_empty() || is_usable_name(part.as_bytes()));
    if means_the_same { usual.into() } else { path.into() }
}

/// What stands behind `file://` for an absolute path, not yet encoded: a drive is a component, and a server the host.
pub(crate) fn in_uri(path: &Path) -> Cow<'_, [u8]> {
    let path = path.to_string_lossy();
    let path = with_slashes(&path);
    let text = match path.strip_prefix("//") {
        Some(from_server) => from_server.to_owned(),
        None if has_drive(&path) => format!("/{path}"),
        None => path.into_owned(),
    };
    Cow::Owned(text.into_bytes())
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
        let in_uri = |path: &str| String::from_utf8(super::in_uri(Path::new(path)).into_owned()).unwrap();
        assert_eq!(in_uri(r"\\?\C:\a b\c"), "/C:/a b/c");
        assert_eq!(in_uri(r"\\server\share\a"), "server/share/a");
    }

    #[test]
    fn canonical_paths_are_told_as_users_write_them() {
        let told = |path: &str| usual(Path::new(path)).display().to_string();
        assert_eq!(told(r"\\?\C:\work"), r"C:\work");
        assert_eq!(told(r"\\?\UNC\server\share\a"), r"\\server\share\a");
        assert_eq!(told(r"\\?\C:\work\nul"), r"\\?\C:\work\nul");
    }
}
