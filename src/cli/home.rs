//! `~` at the start of a path of the command line. A shell has replaced it; the settings of a client are not read by one.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::builder::{OsStringValueParser, TypedValueParser};

/// The parser of options that are paths.
pub(super) fn path() -> impl TypedValueParser<Value = PathBuf> {
    OsStringValueParser::new().map(expanded)
}

/// The path, below the user's home folder if it begins with `~`. A folder that has this name goes first.
pub(super) fn expanded(path: OsString) -> PathBuf {
    let path = PathBuf::from(path);
    if Path::new("~").is_dir() { path } else { below_home(&path, folder()).unwrap_or(path) }
}

/// The user's home folder.
pub(super) fn folder() -> Option<PathBuf> {
    let home = ["HOME", "USERPROFILE"].iter().find_map(std::env::var_os).map(PathBuf::from);
    home.filter(|home| home.is_absolute())
}

/// The folder for what programs keep of the user's work.
pub(super) fn state() -> Option<PathBuf> {
    let given = std::env::var_os("XDG_STATE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    given.or_else(|| folder().map(|home| home.join(sys::path::STATE_FOLDER)))
}

fn below_home(path: &Path, home: Option<PathBuf>) -> Option<PathBuf> {
    let below = path.strip_prefix("~").ok()?;
    // An empty path would add a slash.
    home.map(|home| if below.as_os_str().is_empty() { home } else { home.join(below) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_first_component_that_is_a_tilde_is_the_home_folder() {
        let expanded = |path: &str| below_home(Path::new(path), Some("/home/me".into()));
        for (path, expected) in [("~", "/home/me"), ("~/", "/home/me"), ("~/a/b", "/home/me/a/b")] {
            assert_eq!(expanded(path).as_deref(), Some(Path::new(expected)), "{path}");
        }
        for path in ["~you/a", "a/~", "/~", "", "./~/a"] {
            assert_eq!(expanded(path), None, "{path}");
        }
        assert_eq!(below_home(Path::new("~/a"), None), None);
    }
}
