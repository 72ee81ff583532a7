//! Which lines a diff compares. A line that the other text does not have has certainly changed; a frequent line among
//! such lines counts as changed, too, because to match it would tear apart what belongs together.

use super::bounds::{FREQUENT_SHARE, MOST_FREQUENT, NEIGHBOURS, near_root};
use super::lines::Side;

/// How often the other text has a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Match {
    Never,
    Seldom,
    Often,
}

/// The lines of `side` that are compared with those of `other`. The rest has changed.
pub(super) fn relevant(side: &Side, other: &Side) -> Vec<u32> {
    let often = near_root(side.total).min(MOST_FREQUENT);
    let class = |&line: &u32| match other.occurrences[line as usize] as usize {
        0 => Match::Never,
        times if times >= often => Match::Often,
        _ => Match::Seldom,
    };
    let classes: Vec<Match> = side.lines.iter().map(class).collect();
    let is_relevant = |at: usize| match classes[at] {
        Match::Never => false,
        Match::Seldom => true,
        Match::Often => !is_between_changes(&classes, at),
    };
    let lines = side.lines.iter().enumerate();
    lines.filter(|(at, _)| is_relevant(*at)).map(|(_, &line)| line).collect()
}

/// Whether the frequent line `at` stands between lines that have no match, most of them not frequent.
fn is_between_changes(classes: &[Match], at: usize) -> bool {
    let before = around(classes[at.saturating_sub(NEIGHBOURS)..at].iter().rev());
    let behind = around(classes[at + 1..].iter().take(NEIGHBOURS));
    let (unmatched, frequent) = (before.0 + behind.0, before.1 + behind.1 + 2);
    before.0 > 0 && behind.0 > 0 && frequent * FREQUENT_SHARE < frequent + unmatched
}

/// The numbers of lines without a match and of frequent lines, up to the first other line.
fn around<'c>(classes: impl Iterator<Item = &'c Match>) -> (usize, usize) {
    let (mut unmatched, mut frequent) = (0, 0);
    for class in classes {
        match class {
            Match::Never => unmatched += 1,
            Match::Often => frequent += 1,
            Match::Seldom => break,
        }
    }
    (unmatched, frequent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frequent_line_between_many_changed_ones_is_left_out() {
        use Match::{Never, Often, Seldom};
        let mut classes = vec![Never; 10];
        classes[5] = Often;
        assert!(is_between_changes(&classes, 5));
        classes[0] = Often;
        assert!(!is_between_changes(&classes, 0), "nothing is before it");
        classes[4] = Seldom;
        assert!(!is_between_changes(&classes, 5), "a match is before it");
        let classes = [Never, Often, Often, Often, Never];
        assert!(!is_between_changes(&classes, 2), "too many are frequent");
    }

    #[test]
    fn lines_without_a_match_are_left_out() {
        let side = Side { lines: vec![0, 1, 2], total: 3, occurrences: vec![1, 1, 1, 0] };
        let other = Side { lines: vec![1, 3], total: 2, occurrences: vec![0, 1, 0, 1] };
        assert_eq!(relevant(&side, &other), [1]);
        assert_eq!(relevant(&other, &side), [1]);
    }
}
