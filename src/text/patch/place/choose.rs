//! Chooses the place of each hunk.

use super::headers::Headers;
use super::occurrences::{Occurrences, Places};
use super::sides::Sides;
use super::{HunkReason, REPORTED};
use crate::lines::LineIndex;
use crate::{Stop, Stopped};

/// The line of a hunk, or why it has none.
type Found = Result<usize, HunkReason>;

/// Chooses places. What needs a pass over the text is found when it is needed first.
pub(super) struct Chooser<'h, 'o> {
    sides: &'h [Sides<'h>],
    index: &'o LineIndex,
    old: &'o [u8],
    stop: &'o dyn Stop,
    occurrences: Option<Occurrences<'h>>,
    headers: Option<Headers<'h>>,
    /// By how many lines the last hunk was found below its number.
    moved: i64,
}

impl<'h, 'o> Chooser<'h, 'o> {
    pub(super) fn new(
        sides: &'h [Sides<'h>],
        index: &'o LineIndex,
        old: &'o [u8],
        stop: &'o dyn Stop,
    ) -> Chooser<'h, 'o> {
        Chooser { sides, index, old, stop, occurrences: None, headers: None, moved: 0 }
    }

    /// The place of each hunk. Those with numbers are looked for in the order of the file.
    pub(super) fn choose(mut self) -> Result<Vec<Found>, Stopped> {
        let mut found: Vec<Found> = self.sides.iter().map(|_| Err(HunkReason::NoPlace)).collect();
        let mut order: Vec<usize> = (0..self.sides.len()).collect();
        crate::order::sort_by_key(&mut order, |&hunk| {
            (self.sides[hunk].hunk.old_start.is_none(), self.sides[hunk].hunk.old_start, hunk)
        });
        for hunk in order {
            self.stop.check()?;
            let sides = self.sides;
            found[hunk] = self.one(&sides[hunk])?;
            let start = sides[hunk].hunk.old_start.filter(|_| !sides[hunk].old.is_empty());
            if let (Ok(line), Some(start)) = (&found[hunk], start) {
                let [line, start] = [*line, start].map(i64::try_from);
                self.moved = line.ok().zip(start.ok()).map_or(0, |(line, start)| line - start);
            }
        }
        Ok(found)
    }

    fn one(&mut self, side: &Sides<'h>) -> Result<Found, Stopped> {
        let expected = side.hunk.old_start.and_then(|start| {
            let moved = i64::try_from(start).ok()?.checked_add(self.moved)?;
            usize::try_from(moved.max(0)).ok()
        });
        if side.old.is_empty() {
            return Ok(self.of_added(side, expected));
        }
        let fits = |line: &usize| side.fit(*line, self.index, self.old);
        let belongs_to_end = side.hunk.is_at_end || side.hunk.old_is_open || side.hunk.new_is_open;
        let end =
            self.index.len_lines().checked_sub(side.old.len()).filter(|end| belongs_to_end && fits(end));
        match (expected.filter(fits), end) {
            (Some(line), Some(end)) if line != end => {
                let lines = vec![line.min(end), line.max(end)];
                return Ok(Err(HunkReason::Ambiguous { lines, total: 2 }));
            }
            (Some(line), _) | (None, Some(line)) => return Ok(Ok(line)),
            (None, None) => {}
        }
        let occurrences = match self.occurrences.take() {
            Some(found) => found,
            None => Occurrences::find(self.sides, self.index, self.old, self.stop)?,
        };
        let found = match occurrences.of(side) {
            Some(places) => self.of_places(side, places, expected),
            None => Ok(Err(HunkReason::NotFound { difference: None, diagnosis: None })),
        };
        self.occurrences = Some(occurrences);
        found
    }

    /// Where a hunk adds lines that has no others.
    fn of_added(&self, side: &Sides, expected: Option<usize>) -> Found {
        let total = self.index.len_lines();
        match expected {
            _ if total == 0 || side.hunk.is_at_end => Ok(total),
            Some(line) if line <= total => Ok(line),
            Some(line) => Err(HunkReason::PastEnd { line, total }),
            None => Err(HunkReason::NoPlace),
        }
    }

    fn of_places(
        &mut self,
        side: &Sides<'h>,
        places: &Places,
        expected: Option<usize>,
    ) -> Result<Found, Stopped> {
        let (lines, is_complete) = (&places.lines[..], places.lines.len() == places.total);
        let (Some(&first), Some(&last)) = (lines.first(), lines.last()) else {
            return Ok(Err(HunkReason::NotFound { difference: None, diagnosis: None }));
        };
        if places.total == 1 {
            return Ok(Ok(first));
        }
        let near = match expected.filter(|_| is_complete) {
            Some(expected) => nearest(lines, expected).unwrap_or((last, None)),
            None => (first, Some(last)),
        };
        let left = match near {
            (only, None) => return Ok(Ok(only)),
            (one, Some(other)) if expected.is_some() && is_complete => &[one, other][..],
            _ => lines,
        };
        if is_complete && !side.hunk.headers.is_empty() {
            let headers = match self.headers.take() {
                Some(headers) => headers,
                None => Headers::find(self.sides, self.index, self.old, self.stop)?,
            };
            let only = headers.only(side, left);
            self.headers = Some(headers);
            if let Some(only) = only {
                return Ok(Ok(only));
            }
        }
        let lines = lines.iter().take(REPORTED).copied().collect();
        Ok(Err(HunkReason::Ambiguous { lines, total: places.total }))
    }
}

/// The line that is nearest to `expected`, and another one that is as near.
fn nearest(lines: &[usize], expected: usize) -> Option<(usize, Option<usize>)> {
    let at = lines.partition_point(|&line| line < expected);
    let below = lines.get(at).copied();
    let above = at.checked_sub(1).and_then(|at| lines.get(at)).copied();
    Some(match (above, below) {
        (Some(above), Some(below)) => match (expected - above).cmp(&(below - expected)) {
            std::cmp::Ordering::Less => (above, None),
            std::cmp::Ordering::Equal => (above, Some(below)),
            std::cmp::Ordering::Greater => (below, None),
        },
        (above, below) => (above.or(below)?, None),
    })
}
