//! Paths that the operator excludes (`--exclude`, contract 12). For every tool and interface they do not exist.
//!
//! Knows no file system: the caller says whether a path is a directory.

use std::path::Path;
use std::sync::Arc;

use ignore::gitignore::{Gitignore, GitignoreBuilder};

/// See the module. The patterns have the syntax of gitignore(5).
#[derive(Debug, Clone, Default)]
pub struct Excludes(Option<Arc<Gitignore>>);

impl Excludes {
    /// From patterns; a later one decides over those before it. An error names the pattern that is not valid.
    pub fn new<'p>(patterns: impl IntoIterator<Item = &'p str>) -> Result<Excludes, String> {
        let mut builder = GitignoreBuilder::new("");
        for pattern in patterns {
            builder.add_line(None, pattern).map_err(|error| format!("{pattern:?}: {error}"))?;
        }
        let patterns = builder.build().map_err(|error| error.to_string())?;
        Ok(Excludes((!patterns.is_empty()).then(|| Arc::new(patterns))))
    }

    /// Whether nothing is excluded.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// Whether `path`, below a served folder, or a directory that it is in, is excluded.
    pub fn hides(&self, path: &Path, is_directory: bool) -> bool {
        let Some(patterns) = &self.0 else { return false };
        !path.as_os_str().is_empty() && patterns.matched_path_or_any_parents(path, is_directory).is_ignore()
    }

    /// Whether `path` itself is excluded; for a walk, which has not entered an excluded directory.
    pub(crate) fn hides_entry(&self, path: &Path, is_directory: bool) -> bool {
        self.0.as_ref().is_some_and(|patterns| patterns.matched(path, is_directory).is_ignore())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_read_as_git_reads_them() {
        let excludes = Excludes::new(["*.key", "!public.key", "/build/", "secret/**"]).unwrap();
        for path in ["a.key", "x/y.key", "build/a", "build/a/b", "secret/a", "secret/a/b"] {
            assert!(excludes.hides(Path::new(path), false), "{path}");
        }
        for path in ["", "a", "public.key", "x/public.key", "x/build/a", "build", "secret"] {
            assert!(!excludes.hides(Path::new(path), false), "{path}");
        }
        assert!(excludes.hides(Path::new("build"), true) && excludes.hides_entry(Path::new("build"), true));
        assert!(!excludes.hides_entry(Path::new("build/a"), false), "its directory is not looked at");
    }

    #[test]
    fn without_patterns_nothing_is_excluded_and_a_wrong_one_is_named() {
        assert!(!Excludes::default().hides(Path::new("a"), false));
        assert!(!Excludes::new([""; 0]).unwrap().hides(Path::new("a"), false));
        assert!(Excludes::new(["a", "{b"]).unwrap_err().contains("{b"));
    }
}
