//! One component of a pattern.

use super::automaton::{Automaton, State};
use super::source::{self, Component};
use super::wild::{Wild, is_dots};
use super::{GlobBudget, GlobError};

#[derive(Debug)]
pub(super) enum Part {
    Literal(Box<str>),
    /// `**`.
    Globstar,
    /// `*`.
    Star,
    /// `*.rs`.
    Suffix(Box<str>),
    /// `??.rs`: so many UTF-16 units, of which the last are these.
    Units(usize, Box<str>),
    /// `*.*`.
    HasDot,
    /// `.*`.
    Hidden,
    Wild(Wild),
    Magic(Automaton),
    Never,
}

impl Part {
    /// Reads a component.
    pub(super) fn parse(text: &str, budget: &mut GlobBudget) -> Result<Part, GlobError> {
        if text == "**" {
            return Ok(Part::Globstar);
        }
        // As much as any part without an automaton holds: its characters, and its ends as text.
        budget.hold::<char>(2 * text.len())?;
        if let Some(part) = Part::usual(text) {
            return Ok(part);
        }
        if let Some(wild) = Wild::parse(text) {
            return Ok(Part::Wild(wild));
        }
        let glob: Vec<u16> = text.encode_utf16().collect();
        Ok(match source::read(&glob)? {
            Component::Literal(text) => {
                String::from_utf16(&text).map_or(Part::Never, |text| Part::Literal(text.into()))
            }
            Component::Magic(expression) => {
                let automaton = Automaton::new(expression);
                budget.hold::<State>(automaton.len())?;
                Part::Magic(automaton)
            }
        })
    }

    /// The forms that the reference compares without a regular expression. They take backslashes to the letter.
    fn usual(text: &str) -> Option<Part> {
        let plain = |rest: &str| !rest.contains(['+', '@', '!', '?', '*', '[', '(']);
        let after_stars = text.trim_start_matches('*');
        let after_marks = text.trim_start_matches('?');
        if after_stars.len() < text.len() {
            if after_stars.is_empty() {
                return Some(Part::Star);
            }
            if plain(after_stars) {
                return Some(Part::Suffix(after_stars.into()));
            }
        }
        if after_marks.len() < text.len() && plain(after_marks) {
            return Some(Part::Units(text.encode_utf16().count(), after_marks.into()));
        }
        let stars = |rest: &str| !rest.is_empty() && rest.bytes().all(|b| b == b'*');
        match after_stars.strip_prefix('.') {
            Some(rest) if stars(rest) && after_stars.len() < text.len() => Some(Part::HasDot),
            Some(rest) if stars(rest) => Some(Part::Hidden),
            _ => None,
        }
    }

    pub(super) fn is_globstar(&self) -> bool {
        matches!(self, Part::Globstar)
    }

    pub(super) fn matches(&self, component: &str) -> bool {
        match self {
            Part::Literal(text) => component == &**text,
            Part::Star => !component.is_empty() && !is_dots(component),
            Part::Suffix(suffix) => component.ends_with(&**suffix),
            Part::Units(count, suffix) => {
                component.ends_with(&**suffix)
                    && !is_dots(component)
                    && component.encode_utf16().count() == *count
            }
            Part::HasDot => component.contains('.') && !is_dots(component),
            Part::Hidden => component.starts_with('.') && !is_dots(component),
            Part::Wild(wild) => wild.matches(component),
            Part::Magic(automaton) => automaton.matches(component),
            Part::Globstar | Part::Never => false,
        }
    }
}
