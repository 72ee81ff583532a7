//! The way between two sequences of lines by Myers' algorithm in linear space: a search from both ends meets in the middle,
//! which splits the problem in two. Where the search gets long, it splits at a good place that is perhaps not the best.

use super::bounds::{FAR, LONG_RUN, PATIENT_STEPS, near_root};
use folder::{Control, Result};

/// Steps of a search between two looks at the time.
const BETWEEN_CHECKS: usize = 64;

/// A part of both sequences: lines `left.0..left.1` of the first, `right.0..right.1` of the second.
#[derive(Debug, Clone, Copy)]
struct Part {
    left: (isize, isize),
    right: (isize, isize),
    /// The search does not give up.
    exact: bool,
}

/// Where a part is split, and which halves must be searched exactly.
#[derive(Debug, Clone, Copy)]
struct Split {
    left: isize,
    right: isize,
    exact: (bool, bool),
}

/// The comparison of two sequences.
struct Search<'s> {
    left: &'s [u32],
    right: &'s [u32],
    /// The farthest place in `left` on each diagonal, from the beginning and from the end.
    forward: Vec<isize>,
    backward: Vec<isize>,
    /// The place of diagonal 0 in both.
    zero: isize,
    /// Steps after which a search gives up.
    most: usize,
    control: &'s Control,
}

/// The diagonals that a search has reached from one end.
#[derive(Debug, Clone, Copy)]
struct Band {
    start: isize,
    low: isize,
    high: isize,
}

/// How many lines of `left` and of `right` are not in the common sequence that is found.
pub(super) fn unmatched(left: &[u32], right: &[u32], control: &Control) -> Result<(usize, usize)> {
    let diagonals = left.len() + right.len() + 3;
    let mut search = Search {
        left,
        right,
        forward: vec![0; diagonals],
        backward: vec![0; diagonals],
        zero: right.len() as isize + 1,
        most: near_root(diagonals).max(PATIENT_STEPS),
        control,
    };
    let whole = Part { left: (0, left.len() as isize), right: (0, right.len() as isize), exact: false };
    let (mut removed, mut added) = (0, 0);
    // Not by recursion: parts may be nested as deep as there are lines.
    let mut parts = vec![whole];
    while let Some(part) = parts.pop() {
        let part = search.without_equal_ends(part);
        let (old, new) = (part.left.1 - part.left.0, part.right.1 - part.right.0);
        if old == 0 || new == 0 {
            (removed, added) = (removed + old as usize, added + new as usize);
            continue;
        }
        let Split { left, right, exact } = search.split(part)?;
        parts.push(Part { left: (left, part.left.1), right: (right, part.right.1), exact: exact.1 });
        parts.push(Part { left: (part.left.0, left), right: (part.right.0, right), exact: exact.0 });
    }
    Ok((removed, added))
}

impl Search<'_> {
    fn equal(&self, left: isize, right: isize) -> bool {
        self.left[left as usize] == self.right[right as usize]
    }

    fn without_equal_ends(&self, mut part: Part) -> Part {
        let has_both = |part: &Part| part.left.0 < part.left.1 && part.right.0 < part.right.1;
        while has_both(&part) && self.equal(part.left.0, part.right.0) {
            part.left.0 += 1;
            part.right.0 += 1;
        }
        while has_both(&part) && self.equal(part.left.1 - 1, part.right.1 - 1) {
            part.left.1 -= 1;
            part.right.1 -= 1;
        }
        part
    }

    fn reached(&mut self, diagonal: isize) -> &mut isize {
        &mut self.forward[(self.zero + diagonal) as usize]
    }

    fn reached_back(&mut self, diagonal: isize) -> &mut isize {
        &mut self.backward[(self.zero + diagonal) as usize]
    }

    /// Where the searches from both ends of `part` meet, or where one of them found a good place.
    fn split(&mut self, part: Part) -> Result<Split> {
        let (first, last) = (part.left.0 - part.right.0, part.left.1 - part.right.1);
        let mut ahead = Band { start: first, low: first, high: first };
        let mut back = Band { start: last, low: last, high: last };
        let meets_ahead = (first - last) % 2 != 0;
        *self.reached(first) = part.left.0;
        *self.reached_back(last) = part.left.1;
        for step in 1_usize.. {
            if step.is_multiple_of(BETWEEN_CHECKS) {
                self.control.check()?;
            }
            let (mut has_run, mut back_has_run) = (false, false);
            let met = self.go_ahead(part, &mut ahead, meets_ahead.then_some(back), &mut has_run);
            let met = met.or_else(|| {
                self.go_back(part, &mut back, (!meets_ahead).then_some(ahead), &mut back_has_run)
            });
            if let Some((left, right)) = met {
                return Ok(Split { left, right, exact: (true, true) });
            }
            if part.exact {
                continue;
            }
            if (has_run || back_has_run) && step > PATIENT_STEPS {
                if let Some((left, right)) = self.good_place_ahead(part, ahead, step) {
                    return Ok(Split { left, right, exact: (true, false) });
                }
                if let Some((left, right)) = self.good_place_back(part, back, step) {
                    return Ok(Split { left, right, exact: (false, true) });
                }
            }
            if step >= self.most {
                return Ok(self.farthest(part, ahead, back));
            }
        }
        Err(folder::Error::TimedOut)
    }

    /// Widens a band by one diagonal on each side. At the edge of the part it becomes narrower, so that its diagonals keep
    /// being every other one. `outside` is what the search must not choose.
    fn widen(band: &mut Band, part: Part, reached: &mut [isize], zero: isize, outside: isize) {
        if band.low > part.left.0 - part.right.1 {
            band.low -= 1;
            reached[(zero + band.low - 1) as usize] = outside;
        } else {
            band.low += 1;
        }
        if band.high < part.left.1 - part.right.0 {
            band.high += 1;
            reached[(zero + band.high + 1) as usize] = outside;
        } else {
            band.high -= 1;
        }
    }

    /// One step from the beginning. Returns the place where it meets `other`.
    fn go_ahead(
        &mut self,
        part: Part,
        band: &mut Band,
        other: Option<Band>,
        has_run: &mut bool,
    ) -> Option<(isize, isize)> {
        Self::widen(band, part, &mut self.forward, self.zero, -1);
        let mut diagonal = band.high;
        while diagonal >= band.low {
            let (below, above) = (*self.reached(diagonal - 1), *self.reached(diagonal + 1));
            let start = if below >= above { below + 1 } else { above };
            let mut at = start;
            while at < part.left.1 && at - diagonal < part.right.1 && self.equal(at, at - diagonal) {
                at += 1;
            }
            *has_run |= at - start > LONG_RUN as isize;
            *self.reached(diagonal) = at;
            if other.is_some_and(|other| other.low <= diagonal && diagonal <= other.high)
                && *self.reached_back(diagonal) <= at
            {
                return Some((at, at - diagonal));
            }
            diagonal -= 2;
        }
        None
    }

    /// One step from the end. Returns the place where it meets `other`.
    fn go_back(
        &mut self,
        part: Part,
        band: &mut Band,
        other: Option<Band>,
        has_run: &mut bool,
    ) -> Option<(isize, isize)> {
        Self::widen(band, part, &mut self.backward, self.zero, isize::MAX);
        let mut diagonal = band.high;
        while diagonal >= band.low {
            let (below, above) = (*self.reached_back(diagonal - 1), *self.reached_back(diagonal + 1));
            let start = if below < above { below } else { above - 1 };
            let mut at = start;
            while at > part.left.0 && at - diagonal > part.right.0 && self.equal(at - 1, at - diagonal - 1) {
                at -= 1;
            }
            *has_run |= start - at > LONG_RUN as isize;
            *self.reached_back(diagonal) = at;
            if other.is_some_and(|other| other.low <= diagonal && diagonal <= other.high)
                && at <= *self.reached(diagonal)
            {
                return Some((at, at - diagonal));
            }
            diagonal -= 2;
        }
        None
    }

    /// The farthest place from the beginning that lies behind a long run of equal lines, far for the steps it took.
    fn good_place_ahead(&mut self, part: Part, band: Band, step: usize) -> Option<(isize, isize)> {
        let (mut best, mut place) = ((FAR * step) as isize, None);
        let run = LONG_RUN as isize;
        for diagonal in (band.low..=band.high).rev().step_by(2) {
            let left = *self.reached(diagonal);
            let right = left - diagonal;
            let way = (left - part.left.0) + (right - part.right.0) - (diagonal - band.start).abs();
            let is_inside = part.left.0 + run <= left
                && left < part.left.1
                && part.right.0 + run <= right
                && right < part.right.1;
            if way > best && is_inside && (1..=run).all(|back| self.equal(left - back, right - back)) {
                (best, place) = (way, Some((left, right)));
            }
        }
        place
    }

    /// The same from the end: a place before a long run.
    fn good_place_back(&mut self, part: Part, band: Band, step: usize) -> Option<(isize, isize)> {
        let (mut best, mut place) = ((FAR * step) as isize, None);
        let run = LONG_RUN as isize;
        for diagonal in (band.low..=band.high).rev().step_by(2) {
            let left = *self.reached_back(diagonal);
            let right = left - diagonal;
            let way = (part.left.1 - left) + (part.right.1 - right) - (diagonal - band.start).abs();
            let is_inside = part.left.0 < left
                && left <= part.left.1 - run
                && part.right.0 < right
                && right <= part.right.1 - run;
            if way > best && is_inside && (0..run).all(|on| self.equal(left + on, right + on)) {
                (best, place) = (way, Some((left, right)));
            }
        }
        place
    }

    /// The place that is farthest from the end where its search began.
    fn farthest(&mut self, part: Part, ahead: Band, back: Band) -> Split {
        let (mut far, mut far_left) = (-1, -1);
        for diagonal in (ahead.low..=ahead.high).rev().step_by(2) {
            let mut left = (*self.reached(diagonal)).min(part.left.1);
            if left - diagonal > part.right.1 {
                left = part.right.1 + diagonal;
            }
            if 2 * left - diagonal > far {
                (far, far_left) = (2 * left - diagonal, left);
            }
        }
        let (mut near, mut near_left) = (isize::MAX, isize::MAX);
        for diagonal in (back.low..=back.high).rev().step_by(2) {
            let mut left = (*self.reached_back(diagonal)).max(part.left.0);
            if left - diagonal < part.right.0 {
                left = part.right.0 + diagonal;
            }
            if 2 * left - diagonal < near {
                (near, near_left) = (2 * left - diagonal, left);
            }
        }
        if part.left.1 + part.right.1 - near < far - (part.left.0 + part.right.0) {
            Split { left: far_left, right: far - far_left, exact: (true, false) }
        } else {
            Split { left: near_left, right: near - near_left, exact: (false, true) }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn unmatched_of(left: &[u32], right: &[u32]) -> (usize, usize) {
        unmatched(left, right, &Control::new(Duration::from_secs(60))).unwrap()
    }

    #[test]
    fn small_sequences_have_the_longest_common_sequence() {
        for (left, right, expected) in [
            (&[][..], &[][..], (0, 0)),
            (&[1], &[], (1, 0)),
            (&[1, 2, 3], &[1, 2, 3], (0, 0)),
            (&[1, 2, 3, 1, 2, 2, 1], &[3, 2, 1, 2, 1, 3], (3, 2)),
            (&[1, 2], &[3, 4, 5], (2, 3)),
            (&[1, 2, 3, 4], &[2, 3, 4, 1], (1, 1)),
        ] {
            assert_eq!(unmatched_of(left, right), expected, "{left:?} {right:?}");
            assert_eq!(unmatched_of(right, left), (expected.1, expected.0));
        }
    }

    #[test]
    fn a_search_that_gives_up_still_counts_each_line_once() {
        let noise = |mut seed: u64| {
            move || {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                (seed >> 33) as u32 % 50
            }
        };
        let left: Vec<u32> = std::iter::repeat_with(noise(1)).take(4_000).collect();
        let right: Vec<u32> = std::iter::repeat_with(noise(2)).take(3_000).collect();
        let (removed, added) = unmatched_of(&left, &right);
        assert_eq!(left.len() - removed, right.len() - added);
        assert!(removed < left.len() && added > 0);
    }

    #[test]
    fn a_search_ends_with_its_time() {
        let control = Control::new(Duration::from_secs(60));
        assert!(control.cancel());
        let left: Vec<u32> = (0..10_000).collect();
        let right: Vec<u32> = (0..10_000).rev().collect();
        assert!(unmatched(&left, &right, &control).is_err());
    }
}
