//! Globs as `minimatch` 10.2 reads them with `{dot: true}`, for all tools; `glob` and `grep` read their slashes and `!` as
//! gitignore does, see [`RootedGlob`] (contract 13 and 25).
//!
//! A pattern goes through these steps:
//!
//! - a leading `#` makes it match nothing, each leading `!` negates it (here);
//! - [`braces`] are expanded into alternatives;
//! - each alternative is split at its slashes ([`sequence`]);
//! - each component becomes a [`part`]: literal, one of a few usual forms, [`wild`], or an [`automaton`], which is made
//!   from what the reference would make a regular expression of ([`tree`], [`class`], [`source`]).
//!
//! Where the reference answers oddly, this answers alike. It differs knowingly where the reference throws (then its
//! `search_files` finds nothing) or cuts an expansion short: see [`GlobError`], and a component with a named class
//! like `[:alpha:]` in which `-`, `#`, `,`, `!` or a space is literal, which works here.
//!
//! A path matches, too, if it does as lists show it, with control characters and bytes that are not UTF-8 as `\xNN`, and composed
//! as the pattern is (NFC): no client sees a difference. In a pattern of ASCII without `\x`, which has one spelling, a wildcard stands
//! for characters as they are stored.
//!
//! No pattern and path take long: an automaton reads a component once. What the patterns of a call may take is bounded by
//! its [`budget`].

mod automaton;
mod braces;
mod budget;
mod class;
mod error;
mod group;
mod part;
mod range;
mod rooted;
mod sequence;
mod source;
#[cfg(test)]
mod tests;
mod tree;
mod wild;

pub use budget::GlobBudget;
pub use error::GlobError;
pub use rooted::{RootedGlob, is_literal, with_literal_brackets};

use sequence::{Sequence, components};

use crate::normal_form::composed;
use crate::shown::{has_escape, in_lower_hex, in_one_line, is_escape, shown_line};

/// Longest pattern, in UTF-16 units; a longer one matches nothing.
const MAX_PATTERN: usize = 1 << 16;

/// Components of a path that are split without an allocation.
const USUAL_DEPTH: usize = 24;

/// A pattern for paths.
#[derive(Debug, Default)]
pub struct Glob {
    alternatives: Vec<Sequence>,
    negated: bool,
    /// Matches the empty path only.
    empty: bool,
    /// The alternatives for a path in its [`spellings`](Glob::spellings); empty if it matches no more paths there.
    spelled: Vec<Sequence>,
}

impl Glob {
    /// Reads the only pattern of a call. Every text is one, as far as it is not too much work.
    pub fn parse(pattern: &str) -> Result<Glob, GlobError> {
        Glob::within(pattern, &mut GlobBudget::default())
    }

    /// Reads a pattern of a call that has this budget.
    pub fn within(pattern: &str, budget: &mut GlobBudget) -> Result<Glob, GlobError> {
        if pattern.is_empty() || pattern.starts_with('#') || is_too_long(pattern) {
            return Ok(Glob { empty: pattern.is_empty(), ..Glob::default() });
        }
        let positive = pattern.trim_start_matches('!');
        let negated = (pattern.len() - positive.len()) % 2 == 1;
        Ok(Glob { negated, ..Glob::as_it_stands(positive, budget)? })
    }

    /// Reads a pattern at whose start `!` and `#` mean nothing.
    fn as_it_stands(pattern: &str, budget: &mut GlobBudget) -> Result<Glob, GlobError> {
        let mut glob = Glob::default();
        if !is_too_long(pattern) {
            for text in braces::expand(pattern, budget)? {
                glob.alternatives.push(Sequence::parse(&text, budget)?);
            }
            let sent = in_lower_hex(pattern);
            if !pattern.is_ascii() || has_escape(&sent) {
                let composed = composed(&in_one_line(&sent));
                for text in braces::expand(&with_literal_escapes(&composed), budget)? {
                    glob.spelled.push(Sequence::parse(&text, budget)?);
                }
                // What a part of the pattern leaves out is left out in each spelling.
                if ["!(", "[!", "[^"].iter().any(|negation| pattern.contains(negation)) {
                    glob.alternatives.clear();
                }
            }
        }
        Ok(glob)
    }

    /// Whether it matches `path`, whose components are parted by `/`.
    pub fn matches(&self, path: &str) -> bool {
        if self.alternatives.is_empty() && self.spelled.is_empty() {
            return self.negated || self.empty && path.is_empty();
        }
        let is_matched = any_matches(&self.alternatives, path)
            || self.spellings(path).any(|spelling| any_matches(&self.spelled, &spelling));
        is_matched != self.negated
    }

    /// Whether it may match a path below `folder`. `false` is certain.
    pub fn may_match_below(&self, folder: &str) -> bool {
        let may = |alternatives: &[Sequence], folder: &str| {
            let split = Split::new(folder);
            alternatives.iter().any(|alternative| alternative.may_match_below(split.components()))
        };
        self.negated
            || may(&self.alternatives, folder)
            || self.spellings(folder).any(|spelling| may(&self.spelled, &spelling))
    }

    /// A path as lists show it, in the form NFC. What stands in it as `\xNN` is a byte that is no UTF-8, or the name.
    fn spellings(&self, path: &str) -> impl Iterator<Item = String> {
        let first = (!self.spelled.is_empty()).then(|| composed(&in_one_line(path)));
        let second = (first.is_some() && has_escape(path)).then(|| composed(&shown_line(path.as_bytes())));
        first.into_iter().chain(second)
    }
}

fn any_matches(alternatives: &[Sequence], path: &str) -> bool {
    let mut split = None;
    alternatives.iter().any(|alternative| {
        alternative.matches_whole(path).unwrap_or_else(|| {
            alternative.matches(split.get_or_insert_with(|| Split::new(path)).components())
        })
    })
}

/// A pattern in which `\xNN`, as lists show a character or byte, stands for itself.
fn with_literal_escapes(pattern: &str) -> String {
    let (mut text, mut rest) = (String::with_capacity(pattern.len() + 4), pattern);
    while let Some((before, behind)) = rest.split_once('\\') {
        text.extend([before, "\\"]);
        let is_shown = is_escape(&rest[before.len()..]);
        let taken = if is_shown { 0 } else { behind.chars().next().map_or(0, char::len_utf8) };
        text.push_str(if is_shown { "\\" } else { &behind[..taken] });
        rest = &behind[taken..];
    }
    text + rest
}

/// A path as components.
struct Split<'p> {
    few: [&'p str; USUAL_DEPTH],
    /// All of them, if they are more than a few.
    many: Vec<&'p str>,
    count: usize,
}

impl<'p> Split<'p> {
    fn new(path: &'p str) -> Split<'p> {
        let mut split = Split { few: [""; USUAL_DEPTH], many: Vec::new(), count: 0 };
        for component in components(path) {
            match split.few.get_mut(split.count) {
                Some(place) => *place = component,
                None => {
                    if split.many.is_empty() {
                        split.many.extend(split.few);
                    }
                    split.many.push(component);
                }
            }
            split.count += 1;
        }
        split
    }

    fn components(&self) -> &[&'p str] {
        if self.many.is_empty() { &self.few[..self.count] } else { &self.many }
    }
}

fn is_too_long(pattern: &str) -> bool {
    pattern.len() > MAX_PATTERN && pattern.encode_utf16().count() > MAX_PATTERN
}

/// A pattern for what `directory_tree` leaves out: one without `*` also matches at any depth, and what is below.
#[derive(Debug)]
pub struct TreeExclude(Vec<Glob>);

impl TreeExclude {
    /// Reads a pattern of a call that has this budget.
    pub fn within(pattern: &str, budget: &mut GlobBudget) -> Result<TreeExclude, GlobError> {
        let mut globs = vec![Glob::within(pattern, budget)?];
        if !pattern.contains('*') {
            globs.push(Glob::within(&format!("**/{pattern}"), budget)?);
            globs.push(Glob::within(&format!("**/{pattern}/**"), budget)?);
        }
        Ok(TreeExclude(globs))
    }

    /// Whether `path`, relative to the root of the tree, is left out.
    pub fn matches(&self, path: &str) -> bool {
        self.0.iter().any(|glob| glob.matches(path))
    }
}
