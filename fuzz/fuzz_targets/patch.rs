//! Compares the hunks of a patch with a naive reading of lines.
//!
//! Must hold for any patch and any text:
//! - reading and placing end soon and do not panic;
//! - a placed hunk stands where its old lines are, and the result has the lines of its new side instead of them;
//! - no byte outside of the lines of hunks changes.
//!
//! Input: the text; after a NUL, the patch.

#![no_main]

use libfuzzer_sys::fuzz_target;
use text::Unstopped;
use text::lines::LineIndex;
use text::patch::{FilePatch, Hunk, HunkReason, LineKind, Placed, Unplaced, parse, place};

fuzz_target!(|data: &[u8]| {
    let Ok(input) = std::str::from_utf8(data) else { return };
    let (old, patch) = input.split_once('\0').unwrap_or(("a\nb\nc\nd\n", input));
    let Ok(index) = LineIndex::build(old.as_bytes()) else { return };
    for FilePatch { hunks, .. } in parse(patch).unwrap_or_default() {
        match place(&hunks, &index, old.as_bytes(), &Unstopped) {
            Ok(placed) => compare(&hunks, &index, old, &placed.expect("the index fits")),
            Err(Unplaced::Problems(problems)) => {
                assert!(!problems.is_empty());
                for problem in problems {
                    let lines = match problem.reason {
                        HunkReason::Ambiguous { lines, total } => {
                            assert!(lines.len() <= total && total > 1);
                            lines
                        }
                        HunkReason::Overlap { with } => {
                            vec![with].into_iter().filter(|with| hunks.len() <= *with).collect()
                        }
                        HunkReason::NotFound { difference, .. } => {
                            difference.map(|first| first.line).into_iter().collect()
                        }
                        HunkReason::NoPlace | HunkReason::PastEnd { .. } => Vec::new(),
                    };
                    assert!(
                        problem.hunk < hunks.len() && lines.iter().all(|line| *line <= index.len_lines())
                    );
                }
            }
            Err(Unplaced::Stopped(_)) => panic!("nobody stops it"),
        }
    }
});

/// The lines of a text, without its mark and their breaks.
fn lines(text: &str) -> Vec<&str> {
    let text = text.strip_prefix('\u{FEFF}').unwrap_or(text);
    let mut lines: Vec<&str> = text.split('\n').collect();
    let last = lines.len() - 1;
    for line in &mut lines[..last] {
        *line = line.strip_suffix('\r').unwrap_or(line);
    }
    let mut lines: Vec<&str> = lines.into_iter().flat_map(|line| line.split('\r')).collect();
    lines.pop_if(|last| last.is_empty());
    lines
}

fn compare(hunks: &[Hunk], index: &LineIndex, old: &str, placed: &Placed) {
    let mut bytes = Vec::new();
    placed.plan.write_to(old.as_bytes(), &mut bytes).expect("a vector takes all");
    let new = String::from_utf8(bytes).expect("text");
    let old_lines = lines(old);
    let mut is_own = vec![false; old_lines.len()];
    let mut order: Vec<(usize, usize, usize)> = Vec::new();
    for (nth, (hunk, &line)) in hunks.iter().zip(&placed.lines).enumerate() {
        let end = line + hunk.old_side().count();
        order.push((line, end, nth));
        is_own[line..end].fill(true);
        for (expected, found) in hunk.old_side().zip(&old_lines[line..end]) {
            assert_eq!(expected.trim_start_matches('\u{FEFF}'), found.trim_start_matches('\u{FEFF}'));
        }
    }
    let is_open = hunks.iter().any(|hunk| hunk.new_is_open);
    // Without the break at the end, another splice may make the same bytes.
    for splice in placed.plan.splices().take_while(|_| !is_open) {
        for at in splice.at {
            assert!(is_own[index.line_at(at, old.as_bytes())], "byte {at} of {old:?}");
        }
    }
    if !old.contains('\u{FEFF}')
        && !hunks.iter().flat_map(Hunk::new_side).any(|line| line.contains('\u{FEFF}'))
    {
        order.sort_unstable();
        let mut expected = result(&old_lines, hunks, &order);
        let mut found = lines(&new);
        if is_open {
            // An empty last line that gets no break is no line.
            for lines in [&mut expected, &mut found] {
                while lines.pop_if(|last| last.is_empty()).is_some() {}
            }
        }
        assert_eq!(found, expected, "of {old:?}");
    }
}

/// The lines after the changes of hunks that are placed in this order.
fn result<'t>(old: &[&'t str], hunks: &'t [Hunk], order: &[(usize, usize, usize)]) -> Vec<&'t str> {
    let mut is_removed = vec![false; old.len()];
    let mut added: Vec<Vec<&str>> = vec![Vec::new(); old.len() + 1];
    for &(line, _, nth) in order {
        // Lines are added above those that are removed next to them.
        let (mut at, mut first) = (line, line);
        for line in &hunks[nth].lines {
            match line.kind {
                LineKind::Context => {
                    at += 1;
                    first = at;
                }
                LineKind::Remove => {
                    is_removed[at] = true;
                    at += 1;
                }
                LineKind::Add => added[first].push(&line.text),
            }
        }
    }
    let kept = |at: usize| old.get(at).filter(|_| !is_removed[at]).copied();
    (0..=old.len()).flat_map(|at| added[at].iter().copied().chain(kept(at))).collect()
}
