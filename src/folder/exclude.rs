//! Paths that the operator excludes (`--exclude`, contract 12): for every tool and interface they do not exist. With the guard of folders
//! of git, this is all that clients may not see.
//!
//! Knows no file system: the caller says whether a path is a directory.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use super::path::is_ignorable;
use crate::fs::git_guard::GitGuard;
use sys::ffi::{OsStrExt, OsStringExt};
use sys::path::FOLDS_NAMES;
use text::gitignore::as_git_reads;
use text::normal_form::{composed, decomposed};

/// See the module. The patterns have the syntax of gitignore(5).
#[derive(Debug, Clone, Default)]
pub struct Excludes {
    patterns: Option<Arc<Patterns>>,
    git: GitGuard,
    /// A folder of the server itself.
    own: Option<Arc<Path>>,
}

#[derive(Debug)]
struct Patterns {
    exact: Gitignore,
    /// The folded patterns, for folded paths.
    folded: Gitignore,
    /// What exists is compared with these, too.
    folds: bool,
}

impl Excludes {
    /// From patterns; a later one decides over those before it. Each is valid, as in git; an error says that they are too long.
    pub fn new<'p>(patterns: impl IntoIterator<Item = &'p str>) -> Result<Excludes, String> {
        Excludes::for_system(patterns, FOLDS_NAMES)
    }

    /// For a system that folds names, or one that tells them apart.
    fn for_system<'p>(patterns: impl IntoIterator<Item = &'p str>, folds: bool) -> Result<Excludes, String> {
        let (mut exact, mut folded) = (GitignoreBuilder::new(""), GitignoreBuilder::new(""));
        for pattern in patterns.into_iter().filter_map(as_git_reads) {
            exact.add_line(None, &pattern).map_err(|error| error.to_string())?;
            // Folded, a range such as `[Ä-ß]` may be none.
            if folded.add_line(None, &folded_text(&pattern)).is_err() {
                let _ = folded.add_line(None, &pattern);
            }
        }
        let build = |builder: GitignoreBuilder| builder.build().map_err(|error| error.to_string());
        let (exact, folded) = (build(exact)?, build(folded)?);
        let patterns = (!exact.is_empty()).then(|| Arc::new(Patterns { exact, folded, folds }));
        Ok(Excludes { patterns, ..Excludes::default() })
    }

    /// The same, with the leave to read in folders of git, or without.
    pub fn allowing_git(self, allow_git: bool) -> Excludes {
        Excludes { git: GitGuard::new(allow_git), ..self }
    }

    /// The same without the folder of the server itself at this path below a served folder.
    pub fn without_own(self, own: &Path) -> Excludes {
        Excludes { own: Some(own.into()), ..self }
    }

    /// Whether `path` is that of a folder of the server itself, or below it.
    fn is_own(&self, path: &Path) -> bool {
        self.own.as_ref().is_some_and(|own| path.starts_with(own))
    }

    /// The guard of folders of git.
    pub fn git(&self) -> &GitGuard {
        &self.git
    }

    /// Whether nothing is excluded.
    pub fn is_empty(&self) -> bool {
        self.patterns.is_none() && self.own.is_none()
    }

    /// Whether `path`, below a served folder, or a directory that it is in, is excluded. The path has the names that folders list.
    pub fn hides(&self, path: &Path, is_directory: bool) -> bool {
        self.is_own(path)
            || self
                .patterns
                .as_ref()
                .is_some_and(|patterns| patterns.hide(path, is_directory, patterns.folds))
    }

    /// The same for a path that does not exist, or whose names may not be the listed ones: whether a file system that folds names could
    /// find by it what is excluded.
    pub fn may_hide(&self, path: &Path, is_directory: bool) -> bool {
        self.is_own(path)
            || self.patterns.as_ref().is_some_and(|patterns| patterns.hide(path, is_directory, true))
    }

    /// Whether a directory at `path` would be excluded by a pattern that writes its name out, as `secret/` does and `*/` does not.
    pub fn names_folder(&self, path: &Path) -> bool {
        let names = |patterns: &Gitignore, path: &Path| match patterns.matched(path, true) {
            Match::Ignore(glob) => !glob.original().contains(['*', '?', '[']),
            _ => false,
        };
        let of =
            |patterns: &Arc<Patterns>| names(&patterns.exact, path) || names(&patterns.folded, &folded(path));
        self.patterns.as_ref().is_some_and(of)
    }

    /// Whether `path` itself is excluded; for a walk, which has not entered an excluded directory.
    pub fn hides_entry(&self, path: &Path, is_directory: bool) -> bool {
        if self.is_own(path) {
            return true;
        }
        let Some(patterns) = &self.patterns else { return false };
        patterns.exact.matched(path, is_directory).is_ignore()
            || patterns.folds && patterns.folded.matched(folded(path), is_directory).is_ignore()
    }
}

impl Patterns {
    /// Whether they exclude `path`, or a directory that it is in; also folded, if `folds`.
    fn hide(&self, path: &Path, is_directory: bool, folds: bool) -> bool {
        hides(&self.exact, path, is_directory) || folds && hides(&self.folded, &folded(path), is_directory)
    }
}

/// Whether `patterns` exclude `path`, or a directory that it is in. A negated pattern takes back nothing that is in an excluded directory,
/// as in git, so each directory decides for itself. The served folder is not a name that a pattern matches.
fn hides(patterns: &Gitignore, path: &Path, is_directory: bool) -> bool {
    let named = path.ancestors().filter(|part| !part.as_os_str().is_empty());
    named.enumerate().any(|(above, part)| patterns.matched(part, above > 0 || is_directory).is_ignore())
}

/// A path as file systems compare it that do not tell names apart by case, by how letters are composed, by characters without a form, or by
/// dots and blanks at the end.
fn folded(path: &Path) -> PathBuf {
    let name = |name: &OsStr| match name.to_str() {
        Some(name) => OsString::from(folded_text(name).trim_end_matches(['.', ' '])),
        None => OsString::from_vec(name.as_bytes().to_ascii_lowercase()),
    };
    path.iter().map(name).collect()
}

/// Lower case, upper case and lower case again: some letters have one form in the one, and several in the other.
fn folded_text(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    let text = decomposed(text);
    let letters = text.chars().filter(|&c| !is_ignorable(c)).flat_map(char::to_lowercase);
    let letters = letters.flat_map(char::to_uppercase).flat_map(char::to_lowercase);
    composed(&letters.collect::<String>())
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
    fn nothing_in_an_excluded_folder_is_taken_back() {
        let excludes = Excludes::new(["secret/", "!*.md", "!/secret/open/", "out/*", "!out/kept/"]).unwrap();
        for path in ["secret/key.md", "secret/open/a", "a/secret/b/key.md", "out/a", "out/a.md"] {
            assert!(excludes.hides(Path::new(path), false), "{path}");
        }
        for path in ["key.md", "out/kept/a"] {
            assert!(!excludes.hides(Path::new(path), false), "{path}");
        }
    }

    #[test]
    fn a_pattern_for_folders_does_not_match_the_served_folder() {
        let excludes = Excludes::new(["*/"]).unwrap();
        assert!(!excludes.hides(Path::new("a"), false) && !excludes.hides(Path::new(""), true));
        assert!(excludes.hides(Path::new("a/b"), false) && excludes.hides(Path::new("a"), true));
    }

    #[test]
    fn a_new_path_must_not_be_one_that_a_file_system_takes_for_an_excluded_one() {
        let excludes = ["secret/", "*.Key", "/straße", "!open.key", "h\u{e9}", "[Z-a].x"];
        let on_linux = Excludes::for_system(excludes, false).unwrap();
        let elsewhere = Excludes::for_system(excludes, true).unwrap();
        for path in [
            "SECRET/a",
            "x/Secret/a",
            "se\u{200b}cret/a",
            "secret./a",
            "a.kEy",
            "a.\u{212a}ey",
            "STRASSE",
            "h\u{e9}",
            "he\u{301}",
            "HE\u{301}",
            "a.key. ",
        ] {
            let path = Path::new(path);
            assert!(on_linux.may_hide(path, false) && elsewhere.hides(path, false), "{path:?}");
            assert_eq!(on_linux.hides(path, false), path == Path::new("h\u{e9}"), "{path:?}");
        }
        for path in ["secret", "OPEN.KEY", "strase", "he", "x/straße", ""] {
            assert!(!on_linux.may_hide(Path::new(path), false), "{path}");
        }
        assert!(elsewhere.hides_entry(Path::new("x/SECRET"), true));
        assert!(!on_linux.hides_entry(Path::new("x/SECRET"), true));
        assert!(on_linux.may_hide(Path::new("Z.x"), false) && on_linux.may_hide(Path::new("z.x"), false));
        let ranges = Excludes::for_system(["[X-b]", "[[:upper:]]1"], true).unwrap();
        for name in ["X", "x", "b", "B", "_", "A1", "a1"] {
            assert!(ranges.hides(Path::new(name), false), "{name}");
        }
        assert!(!ranges.hides(Path::new("c"), false));
    }

    #[test]
    fn every_letter_is_compared_without_case() {
        let folded = |c: char| folded_text(&c.to_string());
        for c in '\u{80}'..=char::MAX {
            let upper: String = c.to_uppercase().collect();
            let lower: String = c.to_lowercase().collect();
            for other in [upper.to_lowercase(), lower.to_uppercase(), upper, lower] {
                // The one exception of the Unicode Standard: outside of Turkic languages, the dot of İ stays.
                assert_eq!(folded_text(&other), folded(c), "{c} {other}");
            }
        }
        assert_eq!((folded('\u{1e9e}'), folded('ß')), ("ss".into(), "ss".into()));
        let excludes = Excludes::for_system(["/stra\u{1e9e}e", "/gro\u{df}/"], false).unwrap();
        for path in ["straße", "STRASSE", "GRO\u{1e9e}"] {
            assert!(excludes.may_hide(Path::new(path), true), "{path}");
        }
    }

    #[test]
    fn a_path_of_bytes_that_are_no_text_is_hidden_by_its_folder() {
        let excludes = Excludes::for_system(["secret/"], false).unwrap();
        let bytes = Path::new(OsStr::from_bytes(b"SECRET/\xff"));
        assert!(excludes.may_hide(bytes, false) && !excludes.hides(bytes, false));
    }

    #[test]
    fn without_patterns_nothing_is_excluded_and_those_too_long_are_refused() {
        assert!(!Excludes::default().hides(Path::new("a"), false));
        assert!(!Excludes::new([""; 0]).unwrap().hides(Path::new("a"), false));
        assert!(Excludes::new(["a", &"?".repeat(400_000)]).is_err());
    }
}
