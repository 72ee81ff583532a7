//! The pattern of `glob`: which folder it names before its first wildcard, and the glob of the paths below that folder.
//!
//! A pattern without `/` matches at any depth, so that `*.rs` finds all files of its kind. Knows no file system.

use std::borrow::Cow;

use crate::engine::{Error, FilePath, Glob, GlobError, Result};
use crate::sys::path::{is_absolute, root, with_slashes};
use crate::tools::{ParseOptions, wrong_pattern};

/// See the module.
#[derive(Debug)]
pub(super) struct Pattern {
    /// The folder that the pattern names; empty for the one in which the search begins.
    pub(super) folder: FilePath,
    /// Whether the pattern is an absolute path.
    pub(super) is_absolute: bool,
    /// The glob of the paths below the folder.
    glob: String,
    /// Whether the glob names a component that begins with a dot.
    pub(super) names_hidden: bool,
}

/// Where a pattern is divided.
#[derive(Debug, PartialEq, Eq)]
struct Parts {
    folder: String,
    glob: String,
}

impl Pattern {
    pub(super) fn parse(text: &str, options: ParseOptions) -> Result<Pattern> {
        if text.is_empty() {
            let problem = "it is empty; expected a glob of paths, such as **/*.rs";
            return Err(Error::InvalidArguments { at: "pattern".into(), problem: problem.into() });
        }
        let Parts { folder, glob } = divide(&absolute_with_slashes(text));
        let names_hidden = glob.split('/').any(|component| component.starts_with('.'))
            || ["{.", ",.", "(.", "|."].into_iter().any(|start| glob.contains(start));
        let is_absolute = is_absolute(&folder);
        Ok(Pattern { folder: options.path(&folder)?, is_absolute, glob, names_hidden })
    }

    /// The glob of the paths below the folder. Read when the call runs, because it may take a while.
    pub(super) fn glob(&self) -> Result<Glob> {
        Glob::parse(&self.glob).map_err(|error| wrong_pattern("pattern", &error))
    }

    /// The glob of these paths in lower case.
    pub(super) fn glob_of_lower_case(&self) -> Result<Glob, GlobError> {
        Glob::parse(&self.glob.to_lowercase())
    }

    /// Whether upper and lower case make a difference.
    pub(super) fn has_case(&self) -> bool {
        self.glob.chars().any(char::is_alphabetic)
    }

    /// The path below the folder, if the pattern names only one.
    pub(super) fn literal(&self) -> Option<&str> {
        let glob = self.glob.strip_prefix("**/").unwrap_or(&self.glob);
        (is_literal(glob) && !glob.starts_with('!')).then_some(glob)
    }
}

/// Whether a component stands for itself only.
fn is_literal(component: &str) -> bool {
    !component.contains(['*', '?', '[', '{', '(', '\\'])
}

/// A pattern that is an absolute path, with `/` between its components. In others, a backslash takes the next character as it is.
fn absolute_with_slashes(text: &str) -> Cow<'_, str> {
    let path = with_slashes(text);
    if is_absolute(&path) { path } else { text.into() }
}

fn divide(text: &str) -> Parts {
    // A negated pattern says nothing about folders.
    let negations = text.len() - text.trim_start_matches('!').len();
    let (negated, text) = text.split_at(negations);
    let (root, has_slash) = (root(text), text.contains('/'));
    let mut components: Vec<&str> = text.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
    if components.is_empty() || text.ends_with('/') {
        components.push("**");
    }
    let literal = components.iter().take_while(|component| is_literal(component)).count();
    let mut named = literal.min(components.len() - 1);
    // At the start of a glob, these characters have another meaning.
    while named > 0 && components[named].starts_with(['!', '#']) {
        named -= 1;
    }
    if !negated.is_empty() {
        named = 0;
    }
    let (folder, rest) = components.split_at(named);
    let rest = rest.join("/");
    let glob = match (has_slash || rest == "**", rest.starts_with('#')) {
        (false, _) => format!("{negated}**/{rest}"),
        (true, true) => format!("{negated}\\{rest}"),
        (true, false) => format!("{negated}{rest}"),
    };
    Parts { folder: format!("{root}{}", folder.join("/")), glob }
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
            ("src/", "src", "**"),
            ("src/**", "src", "**"),
            ("./src//a/./b/*.{ts,tsx}", "src/a/b", "*.{ts,tsx}"),
            ("src/main.rs", "src", "main.rs"),
            ("{a/b,c}/d/*.rs", "", "{a/b,c}/d/*.rs"),
            ("a/@types/x", "a/@types", "x"),
            ("/srv/a/**/*.rs", "/srv/a", "**/*.rs"),
            ("/srv/a/", "/srv/a", "**"),
            ("/*.rs", "/", "*.rs"),
            ("../x/*", "../x", "*"),
            ("!*.md", "", "!**/*.md"),
            ("!!src/*.md", "", "!!src/*.md"),
            ("src/!x/*.md", "src/!x", "*.md"),
            ("src/!x", "", "src/!x"),
            ("a/b/!(x)", "a", "b/!(x)"),
            ("#x", "", "**/#x"),
            ("#x/*", "#x", "*"),
            ("#*/x", "", "\\#*/x"),
        ] {
            assert_eq!(divide(text), Parts { folder: folder.into(), glob: glob.into() }, "{text}");
        }
    }
}
