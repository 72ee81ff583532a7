//! Edits at random, written as patches by a simple generator, and read again.

use proptest::prelude::*;

use super::*;

/// A text before and after an edit, line by line.
#[derive(Debug, Clone, Default)]
pub(super) struct Script {
    /// For each line, on which sides it is.
    pub(super) lines: Vec<(LineKind, String)>,
    /// The last line of each side has no break.
    pub(super) is_open: [bool; 2],
}

/// What the generator leaves out or writes otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Numbered,
    Unnumbered,
    Envelope,
}

impl Script {
    /// A side is open only if it has lines, and a last line that stays is open on both sides or on none.
    pub(super) fn mended(mut self) -> Script {
        let is_on = |side: usize, kind: LineKind| kind != [LineKind::Add, LineKind::Remove][side];
        for side in 0..2 {
            let last = self.lines.iter().rfind(|(kind, _)| is_on(side, *kind));
            // An empty last line without a break would be no line.
            self.is_open[side] &= last.is_some_and(|(_, text)| !text.is_empty());
        }
        if self.lines.last().is_some_and(|(kind, _)| *kind == LineKind::Context) {
            self.is_open[1] = self.is_open[0];
        } else if let Some(nth) = (0..self.lines.len()).rfind(|&nth| self.lines[nth].0 == LineKind::Context) {
            // A line that stays gets a break if others come to stand behind it.
            let behind = &self.lines[nth + 1..];
            for (side, kind) in [LineKind::Remove, LineKind::Add].into_iter().enumerate() {
                if behind.iter().all(|(other, _)| *other != kind) {
                    self.is_open[side] = false;
                }
            }
        }
        self
    }

    /// One side as a text.
    pub(super) fn side(&self, side: usize) -> String {
        let kind = [LineKind::Add, LineKind::Remove][side];
        let lines: Vec<&str> =
            self.lines.iter().filter(|line| line.0 != kind).map(|line| line.1.as_str()).collect();
        let end = if lines.is_empty() || self.is_open[side] { "" } else { "\n" };
        lines.join("\n") + end
    }

    /// The lines of the script that each hunk has.
    pub(super) fn hunks(&self, context: usize) -> Vec<std::ops::Range<usize>> {
        let mut hunks: Vec<std::ops::Range<usize>> = Vec::new();
        for at in (0..self.lines.len()).filter(|&at| self.lines[at].0 != LineKind::Context) {
            let (from, to) = (at.saturating_sub(context), (at + 1 + context).min(self.lines.len()));
            match hunks.last_mut().filter(|last| from <= last.end) {
                Some(last) => last.end = to,
                None => hunks.push(from..to),
            }
        }
        hunks
    }

    /// The patch with this many lines of context.
    pub(super) fn patch(&self, context: usize, form: Form) -> String {
        let mut patch = match form {
            Form::Envelope => "*** Begin Patch\n*** Update File: f\n".to_owned(),
            _ => "--- a/f\n+++ b/f\n".to_owned(),
        };
        let count = |range: std::ops::Range<usize>, not: LineKind| {
            self.lines[range].iter().filter(|line| line.0 != not).count()
        };
        let last = |not: LineKind| self.lines.iter().rposition(|line| line.0 != not);
        for hunk in self.hunks(context) {
            let side = |not: LineKind| {
                let (before, len) = (count(0..hunk.start, not), count(hunk.clone(), not));
                format!("{},{len}", before + usize::from(len > 0))
            };
            match form {
                Form::Numbered => {
                    let (old, new) = (side(LineKind::Add), side(LineKind::Remove));
                    patch += &format!("@@ -{old} +{new} @@\n");
                }
                _ => patch += "@@\n",
            }
            for at in hunk {
                let (kind, text) = &self.lines[at];
                let mark = match kind {
                    LineKind::Context => ' ',
                    LineKind::Remove => '-',
                    LineKind::Add => '+',
                };
                patch += &format!("{mark}{text}\n");
                let is_open = |side: usize, not: LineKind| self.is_open[side] && last(not) == Some(at);
                if is_open(0, LineKind::Add) || is_open(1, LineKind::Remove) {
                    patch += "\\ No newline at end of file\n";
                }
            }
        }
        if form == Form::Envelope {
            patch += "*** End Patch\n";
        }
        patch
    }

    /// The same edit of a text that has further lines, one before each of these lines of the script.
    pub(super) fn with_lines(&self, before: &[usize]) -> Script {
        let mut script = Script { lines: Vec::new(), is_open: self.is_open };
        for at in 0..=self.lines.len() {
            let fresh = before.iter().filter(|&&before| before == at);
            script.lines.extend(fresh.map(|at| (LineKind::Context, format!("further {at}"))));
            script.lines.extend(self.lines.get(at).cloned());
        }
        script
    }

    fn changes(&self) -> bool {
        self.lines.iter().any(|line| line.0 != LineKind::Context)
    }
}

fn kinds() -> impl Strategy<Value = LineKind> {
    prop_oneof![4 => Just(LineKind::Context), 1 => Just(LineKind::Remove), 1 => Just(LineKind::Add)]
}

/// Few different lines, so that hunks fit in many places.
fn repeated() -> impl Strategy<Value = Script> {
    let line = (kinds(), prop_oneof![Just("a"), Just("b"), Just(""), Just("- a"), Just("  }"), Just("++ b")]);
    let lines = prop::collection::vec(line.prop_map(|(kind, text)| (kind, text.to_owned())), 0..24);
    (lines, any::<[bool; 2]>()).prop_map(|(lines, is_open)| Script { lines, is_open }.mended())
}

/// Each line differs from all others.
fn distinct() -> impl Strategy<Value = Script> {
    let lines = prop::collection::vec(kinds(), 1..40);
    lines.prop_map(|kinds| {
        let line = |(at, kind)| (kind, format!("line {at}"));
        Script { lines: kinds.into_iter().enumerate().map(line).collect(), is_open: [false; 2] }
    })
}

proptest! {
    #[test]
    fn a_diff_with_right_numbers_makes_the_edited_text(script in repeated(), context in 0usize..4) {
        prop_assume!(script.changes());
        let (old, new) = (script.side(0), script.side(1));
        let patch = script.patch(context, Form::Numbered);
        prop_assert_eq!(applied(&old, &patch), Ok(new), "{:?} {}", old, patch);
    }

    #[test]
    fn breaks_of_other_kinds_stay(script in repeated(), context in 0usize..4) {
        prop_assume!(script.changes());
        let [old, new] = [0, 1].map(|side| script.side(side).replace('\n', "\r\n"));
        prop_assume!(!old.is_empty());
        let patch = script.patch(context, Form::Numbered);
        // A text without any break has no kind of break.
        let expected = if old.contains('\n') { new } else { script.side(1) };
        prop_assert_eq!(applied(&old, &patch), Ok(expected), "{:?} {}", old, patch);
    }

    #[test]
    fn further_lines_elsewhere_move_the_hunks(
        script in distinct(),
        context in 1usize..4,
        further in prop::collection::vec(0usize..41, 0..30),
        form in prop_oneof![Just(Form::Numbered), Just(Form::Unnumbered), Just(Form::Envelope)],
    ) {
        prop_assume!(script.changes());
        let hunks = script.hunks(context);
        let has_context = |hunk: &std::ops::Range<usize>| {
            script.lines[hunk.clone()].iter().any(|line| line.0 != LineKind::Add)
        };
        prop_assume!(hunks.iter().all(has_context));
        let is_inside = |at: &usize| hunks.iter().any(|hunk| hunk.start < *at && *at < hunk.end);
        // Behind the last line, lines that are added at the end and further ones have no order.
        let is_at_edge = |at: &usize| hunks.iter().any(|hunk| {
            hunk.start == *at && script.lines[*at].0 == LineKind::Add
                || hunk.end == *at && script.lines[*at - 1].0 == LineKind::Add
        });
        let further: Vec<usize> = further
            .into_iter()
            .filter(|at| *at <= script.lines.len() && !is_inside(at) && !is_at_edge(at))
            .collect();
        let moved = script.with_lines(&further);
        let patch = script.patch(context, form);
        prop_assert_eq!(applied(&moved.side(0), &patch), Ok(moved.side(1)), "{:?} {}", moved.side(0), patch);
    }

    #[test]
    fn without_numbers_the_edited_text_or_an_ambiguous_hunk(script in repeated(), context in 0usize..4) {
        prop_assume!(script.changes());
        let old = script.side(0);
        match applied(&old, &script.patch(context, Form::Unnumbered)) {
            Ok(new) => prop_assert_eq!(new, script.side(1)),
            Err(problems) => for problem in problems {
                let is_unclear = matches!(problem.reason, HunkReason::Ambiguous { .. } | HunkReason::NoPlace);
                prop_assert!(is_unclear, "{:?}", problem);
            }
        }
    }

    #[test]
    fn any_text_is_a_patch_or_refused(
        patch in "(@@ ?|-|\\+| |--- |\\+\\+\\+ |a/f|/dev/null|\n|\n|\r|\\\\|\"|[0-9]|,|x|\\*\\*\\* (Begin Patch|Add File: |End of File|End Patch)|diff --git ){0,60}",
        old in "[x\n\r]{0,20}",
    ) {
        for file in parse(&patch).unwrap_or_default() {
            _ = applied_by(&file.hunks, &old);
            _ = file.content();
        }
    }

    #[test]
    fn a_patch_that_is_cut_off_is_no_panic(script in repeated(), context in 0usize..4, at in 0usize..400, form in prop_oneof![Just(Form::Numbered), Just(Form::Envelope)]) {
        let patch = script.patch(context, form);
        for file in parse(&patch[..at.min(patch.len())]).unwrap_or_default() {
            _ = applied_by(&file.hunks, &script.side(0));
        }
    }

    #[test]
    fn any_bytes_are_no_panic(patch in any::<String>(), bytes in any::<Vec<u8>>()) {
        _ = parse(&patch);
        _ = parse(&format!("--- a\n+++ a\n{patch}"));
        _ = parse(&format!("*** Update File: a\n{patch}"));
        _ = parse(&String::from_utf8_lossy(&bytes));
    }
}
