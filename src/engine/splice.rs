//! An edit as data: which stretches of the old bytes give way to which new ones.
//!
//! Pure; knows neither lines nor files. Whoever makes a plan decides what to change; the plan only guarantees that it
//! can be carried out in one forward pass.

use std::borrow::Cow;
use std::io::{self, Write};
use std::ops::Range;

/// One replaced stretch: the old bytes `at` give way to `text`. An empty range inserts, an empty text deletes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Splice<'t> {
    /// Bytes of the old text.
    pub at: Range<usize>,
    /// What stands there instead.
    pub text: Cow<'t, [u8]>,
}

/// All changes of one call. Invariant: sorted, disjoint, not touching, within the old text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EditPlan<'t> {
    splices: Vec<Splice<'t>>,
}

impl<'t> EditPlan<'t> {
    /// Takes `splices` of a text of `len` bytes in order; touching ones become one, and those that would leave the
    /// text as it is are dropped. Nothing if they overlap, are out of order, or reach past the end.
    pub fn new(splices: Vec<Splice<'t>>, old: &[u8]) -> Option<EditPlan<'t>> {
        let mut plan: Vec<Splice<'t>> = Vec::with_capacity(splices.len());
        for splice in splices {
            if splice.at.start > splice.at.end || splice.at.end > old.len() {
                return None;
            }
            match plan.last_mut() {
                Some(last) if last.at.end > splice.at.start => return None,
                Some(last) if last.at.end == splice.at.start => {
                    last.at.end = splice.at.end;
                    last.text.to_mut().extend_from_slice(&splice.text);
                }
                _ => plan.push(splice),
            }
        }
        plan.retain(|splice| old[splice.at.clone()] != *splice.text);
        let plan = EditPlan { splices: plan };
        // Splices that do something each may still undo one another.
        Some(if plan.composes(old) { EditPlan::default() } else { plan })
    }

    /// Whether the result is the old text after all. Looks no further than the first difference.
    fn composes(&self, old: &[u8]) -> bool {
        if self.len_after(old.len()) != old.len() {
            return false;
        }
        let mut at = self.splices.first().map_or(0, |first| first.at.start);
        let mut is_next = |part: &[u8]| {
            at += part.len();
            old.get(at - part.len()..at) == Some(part)
        };
        self.splices.iter().enumerate().all(|(number, splice)| {
            let kept_to = self.splices.get(number + 1).map_or(old.len(), |next| next.at.start);
            is_next(&splice.text) && is_next(&old[splice.at.end..kept_to])
        })
    }

    /// The changes, in order.
    pub fn splices(&self) -> &[Splice<'t>] {
        &self.splices
    }

    /// Whether the result is the old text.
    pub fn changes_nothing(&self) -> bool {
        self.splices.is_empty()
    }

    /// Bytes of the result, for an old text of `len` bytes.
    pub fn len_after(&self, len: usize) -> usize {
        self.splices.iter().fold(len, |len, splice| len - splice.at.len() + splice.text.len())
    }

    /// Writes the result in one forward pass.
    pub fn write_to(&self, old: &[u8], out: &mut impl Write) -> io::Result<()> {
        let mut done = 0;
        for splice in &self.splices {
            out.write_all(&old[done..splice.at.start])?;
            out.write_all(&splice.text)?;
            done = splice.at.end;
        }
        out.write_all(&old[done..])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn splice(at: Range<usize>, text: &str) -> Splice<'_> {
        Splice { at, text: Cow::Borrowed(text.as_bytes()) }
    }

    fn apply(old: &str, splices: Vec<Splice>) -> Option<String> {
        let plan = EditPlan::new(splices, old.as_bytes())?;
        let mut out = Vec::new();
        plan.write_to(old.as_bytes(), &mut out).unwrap();
        assert_eq!(out.len(), plan.len_after(old.len()));
        assert_eq!(plan.changes_nothing(), out == old.as_bytes());
        Some(String::from_utf8(out).unwrap())
    }

    #[test]
    fn splices_insert_replace_and_delete_in_one_pass() {
        let splices = vec![splice(0..0, "<"), splice(1..3, "XYZ"), splice(4..5, ""), splice(6..6, ">")];
        assert_eq!(apply("abcdef", splices).as_deref(), Some("<aXYZdf>"));
    }

    #[test]
    fn touching_splices_become_one() {
        let plan = EditPlan::new(vec![splice(1..1, "x"), splice(1..2, "y"), splice(2..2, "z")], b"abc");
        assert_eq!(plan.unwrap().splices(), [splice(1..2, "xyz")]);
    }

    #[test]
    fn overlapping_unsorted_or_too_long_splices_are_no_plan() {
        assert_eq!(apply("abc", vec![splice(0..2, ""), splice(1..3, "")]), None);
        assert_eq!(apply("abc", vec![splice(2..3, ""), splice(0..1, "")]), None);
        assert_eq!(apply("abc", vec![splice(2..4, "")]), None);
    }

    #[test]
    fn splices_that_undo_one_another_change_nothing() {
        // Found by fuzzing: `a\na`, the first line deleted and the same appended.
        assert_eq!(apply("a\na", vec![splice(0..2, ""), splice(3..3, "\na")]).as_deref(), Some("a\na"));
        assert_eq!(apply("abab", vec![splice(0..2, ""), splice(4..4, "ab")]).as_deref(), Some("abab"));
        assert_eq!(apply("abab", vec![splice(0..2, ""), splice(4..4, "ac")]).as_deref(), Some("abac"));
    }

    #[test]
    fn a_splice_by_the_same_text_changes_nothing() {
        assert_eq!(apply("abc", vec![splice(1..2, "b")]).as_deref(), Some("abc"));
    }
}
