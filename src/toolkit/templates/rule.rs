//! What the texts of parameters must be.
//!
//! Knows no parameter.

use std::sync::Arc;

use regex_automata::meta::Regex;

use super::project_name;

/// What a text must be.
#[derive(Debug, Clone)]
pub enum Rule {
    /// Anything.
    Any,
    /// One line, without control characters.
    OneLine,
    /// A name for a project of this toolchain.
    ProjectName(&'static str),
    /// What matches this.
    Pattern(WholePattern),
}

impl Rule {
    pub(super) fn allows(&self, text: &str) -> bool {
        match self {
            Rule::Any => true,
            Rule::OneLine => !text.contains(|c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}')),
            Rule::ProjectName(_) => project_name::is_well_formed(text),
            Rule::Pattern(pattern) => pattern.matches(text),
        }
    }
}

/// A pattern that a whole text must match.
#[derive(Debug, Clone)]
pub struct WholePattern {
    regex: Arc<Regex>,
    pub(super) source: Box<str>,
}

impl WholePattern {
    /// Compiles a pattern. The error says what is wrong with it.
    pub fn new(source: &str) -> Result<WholePattern, String> {
        let config = Regex::config().nfa_size_limit(Some(1 << 20)).hybrid_cache_capacity(256 << 10);
        let build = |pattern: &str| {
            let built = Regex::builder().configure(config.clone()).build(pattern);
            built.map_err(|error| match error.syntax_error() {
                Some(error) => error.to_string().lines().last().unwrap_or_default().to_owned(),
                None => "it is too large".into(),
            })
        };
        // By itself first: brackets must not close the group around it.
        build(source)?;
        let regex = build(&format!("^(?:{source})$"))?;
        Ok(WholePattern { regex: Arc::new(regex), source: source.into() })
    }

    fn matches(&self, text: &str) -> bool {
        self.regex.is_match(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_matches_the_whole_text_or_is_refused() {
        let pattern = WholePattern::new("a|b+").unwrap();
        assert!(pattern.matches("bb") && !pattern.matches("abb") && !pattern.matches("xa"));
        // Brackets that would close the group, and a comment that would hide its end.
        assert!(WholePattern::new("a)|(?:b").is_err());
        assert!(WholePattern::new("(?x)a # all").is_err());
    }
}
