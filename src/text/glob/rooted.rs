//! How `glob` and `grep` read a pattern (SPEC 25, one dialect): minimatch's glob with gitignore's `!` and slashes.
//!
//! - A leading `!` negates; `!(` begins a group, as it does elsewhere.
//! - A pattern without a slash, or with one at its end only, matches at any depth; any other begins at the folder.
//! - A slash at the end stands for all that is below such folders.
//!
//! Knows no list of patterns and no file system.

use super::{Glob, GlobBudget, GlobError};

/// A pattern that was read so. Its glob is compiled later, because that may take a while.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RootedGlob {
    /// Whether the paths are meant that the glob does not match.
    pub is_negated: bool,
    /// The glob of whole paths below the folder. `!` and `#` at its start stand for themselves.
    pub text: String,
}

impl RootedGlob {
    /// Reads a pattern; any text is one.
    pub fn new(pattern: &str) -> RootedGlob {
        let mut marks = pattern.len() - pattern.trim_start_matches('!').len();
        if pattern[marks..].starts_with('(') {
            marks = marks.saturating_sub(1);
        }
        let is_negated = marks % 2 == 1;
        let pattern = &pattern[marks..];
        let mut components: Vec<&str> =
            pattern.split('/').filter(|component| !matches!(*component, "" | ".")).collect();
        let is_folder = components.is_empty() || pattern.ends_with('/');
        let is_anywhere = !pattern.trim_end_matches('/').contains('/') && !components.is_empty();
        if is_anywhere && components != ["**"] {
            components.insert(0, "**");
        }
        if is_folder && components != ["**"] {
            components.push("**");
        }
        RootedGlob { is_negated, text: components.join("/") }
    }

    /// The glob, negated if the pattern is.
    pub fn glob(&self, budget: &mut GlobBudget) -> Result<Glob, GlobError> {
        Ok(Glob { negated: self.is_negated, ..Glob::as_it_stands(&self.text, budget)? })
    }

    /// The folders, if the pattern stands for all that is below some.
    pub fn folders(&self) -> Option<RootedGlob> {
        let text = self.text.strip_suffix("/**")?;
        Some(RootedGlob { text: text.into(), ..*self })
    }

    /// The folder that the components before the first wildcard name, and the glob below it. A negated pattern names none.
    pub fn divided(&self) -> (&str, &str) {
        let mut end = 0;
        for (slash, _) in self.text.match_indices('/').filter(|_| !self.is_negated) {
            let start = if end == 0 { 0 } else { end + 1 };
            if !is_literal(&self.text[start..slash]) {
                break;
            }
            end = slash;
        }
        let glob = &self.text[end..];
        (&self.text[..end], glob.strip_prefix('/').filter(|_| end > 0).unwrap_or(glob))
    }
}

/// Whether a pattern stands for itself only.
pub fn is_literal(pattern: &str) -> bool {
    !pattern.contains(['*', '?', '[', '{', '(', '\\'])
}

/// The pattern with its brackets as they stand in names, such as `app/[slug]`; `None` if it has none.
pub fn with_literal_brackets(pattern: &str) -> Option<String> {
    let (mut text, mut is_escaped) = (String::with_capacity(pattern.len() + 8), false);
    for char in pattern.chars() {
        if matches!(char, '[' | ']') && !is_escaped {
            text.push('\\');
        }
        is_escaped = char == '\\' && !is_escaped;
        text.push(char);
    }
    (text.len() > pattern.len()).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The table of docs/search.md, and what is beside it.
    #[test]
    fn a_pattern_has_the_slashes_of_gitignore_and_the_globs_of_minimatch() {
        for (pattern, found, others) in [
            ("*.rs", &["a.rs", "x/y/a.rs", ".rs"][..], &["a.rs/x", "a.rss"][..]),
            ("./*.rs", &["a.rs"], &["x/a.rs"]),
            ("/*.rs", &["a.rs"], &["x/a.rs"]),
            ("src/*.rs", &["src/a.rs"], &["x/src/a.rs", "src/x/a.rs"]),
            ("src/**/*.rs", &["src/a.rs", "src/x/y/a.rs"], &["a.rs"]),
            ("src/", &["src/a", "x/src/y/a"], &["src", "asrc/a"]),
            ("./src/", &["src/a", "src/y/a"], &["x/src/a"]),
            ("a/src/", &["a/src/b"], &["x/a/src/b"]),
            ("src", &["src", "x/src"], &["src/a"]),
            ("**", &["a", "a/b"], &[]),
            ("@(a|b).rs", &["a.rs", "x/b.rs"], &["c.rs", "ab.rs"]),
            ("+(ab).rs", &["abab.rs"], &[".rs"]),
            ("!(a).rs", &["b.rs", "x/c.rs"], &["a.rs", "x/a.rs"]),
            ("!(a)/*.rs", &["b/x.rs"], &["a/x.rs", "b/c/x.rs"]),
            ("*.{ts,tsx}", &["a.ts", "x/a.tsx"], &["a.t"]),
            ("{src,docs}/*.md", &["src/a.md", "docs/b.md"], &["a.md", "x/src/a.md"]),
            ("f{1..3}", &["f1", "x/f3"], &["f4"]),
            ("[!a-c]x", &["dx", "y/zx"], &["ax", "x"]),
            ("[[:digit:]]", &["1", "a/2"], &["a"]),
            ("\\[x\\]", &["[x]", "a/[x]"], &["x"]),
            ("#x", &["#x", "a/#x"], &["x"]),
            ("#a/*", &["#a/b"], &["a/b"]),
            ("./!x", &["!x"], &["x", "a/!x"]),
        ] {
            let rooted = RootedGlob::new(pattern);
            let glob = rooted.glob(&mut GlobBudget::default()).unwrap();
            assert!(!rooted.is_negated, "{pattern}");
            found.iter().for_each(|path| assert!(glob.matches(path), "{pattern} {path}"));
            others.iter().for_each(|path| assert!(!glob.matches(path), "{pattern} {path}"));
        }
        for (pattern, is_negated, text) in [
            ("!*.md", true, "**/*.md"),
            ("!!src/*.md", false, "src/*.md"),
            ("!!(a)", true, "**/!(a)"),
            ("!", true, "**"),
        ] {
            assert_eq!(RootedGlob::new(pattern), RootedGlob { is_negated, text: text.into() }, "{pattern}");
        }
    }

    #[test]
    fn a_pattern_is_divided_at_its_first_wildcard() {
        for (pattern, parts) in [
            ("a/b/*.rs", ("a/b", "*.rs")),
            ("a/b", ("a", "b")),
            ("*/b", ("", "*/b")),
            ("a", ("", "**/a")),
            ("/a", ("", "a")),
            ("a/{b,c}/d", ("a", "{b,c}/d")),
            ("!a/b", ("", "a/b")),
        ] {
            assert_eq!(RootedGlob::new(pattern).divided(), parts, "{pattern}");
        }
    }

    #[test]
    fn brackets_can_be_read_as_they_stand() {
        assert_eq!(with_literal_brackets("a/[s]/\\[x]/*").as_deref(), Some("a/\\[s\\]/\\[x\\]/*"));
        assert_eq!((with_literal_brackets("a*"), with_literal_brackets("\\[a\\]")), (None, None));
    }
}
