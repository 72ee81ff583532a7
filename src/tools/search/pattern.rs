//! The pattern of `glob`: which folder it names before its first wildcard, and the glob of the paths below that folder.
//!
//! A pattern without `/` matches at any depth, so that `*.rs` finds all files of its kind. Knows no file system.

use std::borrow::Cow;

use crate::tools::{ParseOptions, wrong_pattern};
use folder::{Error, FilePath, Result};
use sys::path::{is_absolute, root, with_slashes};
use text::glob::{Glob, GlobBudget, GlobError, RootedGlob, is_literal, with_literal_brackets};

/// See the module.
#[derive(Debug)]
pub(super) struct Pattern {
    /// As it was sent.
    sent: String,
    /// The folder that the pattern names; empty for the one in which the search begins.
    pub(super) folder: FilePath,
    /// Whether the pattern is an absolute path.
    pub(super) is_absolute: bool,
    /// The glob of the paths below the folder.
    below: RootedGlob,
    /// Whether the glob names a component that begins with a dot.
    pub(super) names_hidden: bool,
}

impl Pattern {
    pub(super) fn parse(text: &str, options: ParseOptions) -> Result<Pattern> {
        if text.is_empty() {
            let problem = "it is empty; expected a glob of paths, such as **/*.rs";
            return Err(Error::InvalidArguments { at: "pattern".into(), problem: problem.into() });
        }
        let (folder, below) = divide(&absolute_with_slashes(text));
        let glob = &below.text;
        let names_hidden = names_hidden(glob);
        let is_absolute = is_absolute(&folder);
        Ok(Pattern { sent: text.into(), folder: options.path(&folder)?, is_absolute, below, names_hidden })
    }

    /// The glob of the paths below the folder. Read when the call runs, because it may take a while.
    pub(super) fn glob(&self) -> Result<Glob> {
        self.with(str::to_owned).map_err(|error| wrong_pattern("pattern", &error))
    }

    /// The glob of the paths below the folder, of which `change` makes another.
    fn with(&self, change: impl Fn(&str) -> String) -> Result<Glob, GlobError> {
        let RootedGlob { is_negated, text } = &self.below;
        RootedGlob { is_negated: *is_negated, text: change(text) }.glob(&mut GlobBudget::default())
    }

    /// The globs of the paths below the folder. `with_folders`: also of what is in a folder that the pattern names without wildcards.
    pub(super) fn globs(&self, with_folders: bool) -> Result<Vec<Glob>> {
        let mut globs = vec![self.glob()?];
        if with_folders && self.literal().is_some() {
            let in_folder = self.with(|text| format!("{text}/**"));
            globs.push(in_folder.map_err(|error| wrong_pattern("pattern", &error))?);
        }
        Ok(globs)
    }

    /// The glob of these paths in lower case.
    pub(super) fn glob_of_lower_case(&self) -> Result<Glob, GlobError> {
        self.with(str::to_lowercase)
    }

    /// The glob of the paths below the folder, as text.
    pub(super) fn rooted(&self) -> String {
        let RootedGlob { text, .. } = &self.below;
        match self.folder.as_str() {
            "" => text.clone(),
            folder => format!("{folder}/{text}"),
        }
    }

    /// Other patterns that may be meant, with their globs below the same folder: brackets as they stand in names, and all that
    /// is in folders of this name.
    pub(super) fn near(&self) -> impl Iterator<Item = (String, Glob)> {
        let brackets = with_literal_brackets(&self.sent)
            .zip(self.with(|text| with_literal_brackets(text).unwrap_or_default()).ok());
        let name = self.literal().filter(|_| self.below.text.starts_with("**/"));
        let folders =
            name.map(|name| format!("**/{name}/**")).zip(self.with(|text| format!("{text}/**")).ok());
        brackets.into_iter().chain(folders)
    }

    /// Whether upper and lower case make a difference.
    pub(super) fn has_case(&self) -> bool {
        self.below.text.chars().any(char::is_alphabetic)
    }

    /// The path below the folder, if the pattern names only one.
    pub(super) fn literal(&self) -> Option<&str> {
        let RootedGlob { is_negated, text } = &self.below;
        let glob = text.strip_prefix("**/").unwrap_or(text);
        (is_literal(glob) && !is_negated).then_some(glob)
    }
}

/// Whether a glob names a component that begins with a dot.
pub(super) fn names_hidden(glob: &str) -> bool {
    glob.trim_start_matches("./").split('/').any(|component| component.starts_with('.'))
        || ["{.", ",.", "(.", "|."].into_iter().any(|start| glob.contains(start))
}

/// A pattern that is an absolute path, with `/` between its components. In others, a backslash takes the next character as it is.
fn absolute_with_slashes(text: &str) -> Cow<'_, str> {
    let path = with_slashes(text);
    if is_absolute(&path) { path } else { text.into() }
}

/// The folder that a pattern names, and the rest.
fn divide(text: &str) -> (String, RootedGlob) {
    let whole = RootedGlob::new(text);
    let (folder, glob) = whole.divided();
    // A negated pattern says nothing about folders.
    let root = root(text.trim_start_matches('!'));
    (format!("{root}{folder}"), RootedGlob { text: glob.into(), ..whole })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_is_divided_at_its_first_wildcard() {
        for (text, folder, glob) in [
            ("*.rs", "", "**/*.rs"),
            ("main.rs", "", "**/main.rs"),
            ("./*.rs", "", "*.rs"),
            ("**/*.rs", "", "**/*.rs"),
            ("**", "", "**"),
            (".", "", "**"),
            ("src/", "", "**/src/**"),
            ("./src/", "src", "**"),
            ("src/**", "src", "**"),
            ("./src//a/./b/*.{ts,tsx}", "src/a/b", "*.{ts,tsx}"),
            ("src/main.rs", "src", "main.rs"),
            ("{a/b,c}/d/*.rs", "", "{a/b,c}/d/*.rs"),
            ("a/@types/x", "a/@types", "x"),
            ("/srv/a/**/*.rs", "/srv/a", "**/*.rs"),
            ("/srv/a/", "/srv/a", "**"),
            ("/*.rs", "/", "*.rs"),
            ("../x/*", "../x", "*"),
            ("src/!x/*.md", "src/!x", "*.md"),
            ("src/!x", "src", "!x"),
            ("a/b/!(x)", "a/b", "!(x)"),
            ("#x", "", "**/#x"),
            ("#x/*", "#x", "*"),
            ("#*/x", "", "#*/x"),
        ] {
            let below = RootedGlob { is_negated: false, text: glob.into() };
            assert_eq!(divide(text), (folder.into(), below), "{text}");
        }
        let negated = RootedGlob { is_negated: true, text: "**/*.md".into() };
        assert_eq!(divide("!*.md"), (String::new(), negated));
        let twice = RootedGlob { is_negated: false, text: "*.md".into() };
        assert_eq!(divide("!!src/*.md"), ("src".into(), twice));
    }
}
