//! One alternative of a pattern against a whole path, component by component.

use super::part::Part;
use super::wild::is_dots;
use super::{GlobBudget, GlobError};

/// Sections between `**` beyond this many match nothing, as in the reference.
const MAX_SECTIONS: usize = 200;

#[derive(Debug)]
pub(super) struct Sequence {
    parts: Vec<Part>,
    /// The first and the last `**`.
    globstars: Option<(usize, usize)>,
}

impl Sequence {
    /// Reads an alternative, which has no braces any more.
    pub(super) fn parse(text: &str, budget: &mut GlobBudget) -> Result<Sequence, GlobError> {
        let mut texts: Vec<&str> = Vec::new();
        for text in components(text) {
            match (text, texts.last()) {
                ("**", Some(&"**")) => {}
                ("..", Some(before)) if !matches!(*before, "" | "." | ".." | "**") => drop(texts.pop()),
                _ => texts.push(text),
            }
        }
        if texts.is_empty() {
            texts.push("");
        }
        budget.hold::<Sequence>(1)?;
        budget.hold::<Part>(texts.len())?;
        let parts = texts.iter().map(|text| Part::parse(text, budget)).collect::<Result<Vec<_>, _>>()?;
        let first = parts.iter().position(Part::is_globstar);
        let last = parts.iter().rposition(Part::is_globstar);
        Ok(Sequence { parts, globstars: first.zip(last) })
    }

    /// Whether it matches `path`, and without splitting it; none: split it.
    pub(super) fn matches_whole(&self, path: &str) -> Option<bool> {
        let part = match &self.parts[..] {
            [Part::Literal(text)] if !path.contains('/') => return Some(path == &**text),
            [Part::Globstar, part] => part,
            _ => return None,
        };
        let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
        if name.is_empty() {
            return None;
        }
        Some(part.matches(name) && !folders.split('/').any(is_dots))
    }

    /// Whether it may match a path below `folder`.
    pub(super) fn may_match_below(&self, folder: &[&str]) -> bool {
        let first = self.globstars.map_or(self.parts.len(), |(first, _)| first);
        let reaches = self.globstars.is_some() || folder.len() < first;
        reaches && self.parts[..first].iter().zip(folder).all(|(part, component)| part.matches(component))
    }

    pub(super) fn matches(&self, path: &[&str]) -> bool {
        let Some((first, last)) = self.globstars else { return run(path, &self.parts) };
        let (head, tail) = (&self.parts[..first], &self.parts[last + 1..]);
        let Some((before, path)) = path.split_at_checked(head.len()) else { return false };
        if !run(before, head) {
            return false;
        }
        let Some(taken) = tail_length(path, tail) else { return false };
        let end = path.len() - taken;
        if first == last {
            return !path[..end].iter().any(|component| is_dots(component)) && (taken > 0 || end > 0);
        }
        let sections: Vec<&[Part]> = self.parts[first + 1..last].split(Part::is_globstar).collect();
        Search::new(path, sections, end, taken > 0).from(0, 0) == Found::Yes
    }
}

/// Whether components match parts one by one. A path may end in `/` though the pattern does not.
fn run(path: &[&str], parts: &[Part]) -> bool {
    let same = path.len() == parts.len() || path.len() == parts.len() + 1 && path.last() == Some(&"");
    same && parts.iter().zip(path).all(|(part, component)| part.matches(component))
}

/// How many components at the end of `path` match `tail`.
fn tail_length(path: &[&str], tail: &[Part]) -> Option<usize> {
    let start = path.len().checked_sub(tail.len())?;
    if run(&path[start..], tail) {
        return Some(tail.len());
    }
    let start = start.checked_sub(1).filter(|_| path.last() == Some(&""))?;
    run(&path[start..], tail).then_some(tail.len() + 1)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Found {
    Yes,
    No,
    /// No, and other places for the sections before do not help.
    Never,
}

/// Finds places for the sections between `**`, in order.
struct Search<'p> {
    path: &'p [&'p str],
    /// Each section, and the last component that it may begin at.
    sections: Vec<(&'p [Part], Option<usize>)>,
    has_tail: bool,
    /// Where the search from a section and component failed already.
    failed: Vec<bool>,
}

impl<'p> Search<'p> {
    fn new(path: &'p [&'p str], sections: Vec<&'p [Part]>, end: usize, has_tail: bool) -> Search<'p> {
        // The reference takes these bounds from the wrong end: the parts before the section that has the same number
        // counted from the last.
        let mut before: Vec<usize> = vec![0];
        for section in &sections {
            before.push(before.last().map_or(0, |sum| sum + section.len()));
        }
        let count = sections.len();
        let bound = |(at, section): (usize, &'p [Part])| {
            (section, end.checked_sub(before[count - 1 - at] + section.len()))
        };
        let sections: Vec<_> = sections.into_iter().enumerate().map(bound).collect();
        let failed = vec![false; (count + 1) * (path.len() + 1)];
        Search { path, sections, has_tail, failed }
    }

    /// Looks for the sections from `section` on, in the components from `start` on.
    fn from(&mut self, section: usize, start: usize) -> Found {
        let Some(&(parts, last)) = self.sections.get(section) else {
            let rest = self.path.get(start..).unwrap_or_default();
            let good =
                !rest.iter().any(|component| is_dots(component)) && (self.has_tail || !rest.is_empty());
            return if good { Found::Yes } else { Found::No };
        };
        let key = section * (self.path.len() + 1) + start;
        if std::mem::replace(&mut self.failed[key], true) {
            return Found::No;
        }
        let Some(last) = last else { return Found::Never };
        for at in start..=last {
            let end = at + parts.len();
            if section < MAX_SECTIONS && self.path.get(at..end).is_some_and(|path| run(path, parts)) {
                match self.from(section + 1, end) {
                    Found::No => {}
                    found => return found,
                }
            }
            if self.path.get(at).is_some_and(|component| is_dots(component)) {
                return Found::No;
            }
        }
        Found::Never
    }
}

/// The components of a path or pattern. Slashes in a row count as one; one at an end has nothing on its other side.
pub(super) fn components(text: &str) -> impl Iterator<Item = &str> {
    let mut all = text.split('/').enumerate().peekable();
    std::iter::from_fn(move || {
        loop {
            let (at, component) = all.next()?;
            // Nothing at the start or the end stays.
            if !component.is_empty() || at == 0 || all.peek().is_none() {
                return Some(component);
            }
        }
    })
}
