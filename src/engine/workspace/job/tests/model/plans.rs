//! What a job of the model does to files, as operations of the engine.

use super::super::*;
use text::Unstopped;
use text::patch::{FilePatch, parse, place};

/// What a job is to do to a file.
pub(super) enum Plan {
    /// Splices of the bytes.
    Splices(Vec<Splice<'static>>),
    Patch(String),
    Content(String),
    Move(String),
    Copy(String),
    Delete,
}

/// A patch that replaces these ranges of lines, with one line around.
pub(super) fn patch(path: &str, old: &[String], ranges: &[(usize, usize, Vec<String>)]) -> String {
    let mut patch = format!("--- a/{path}\n+++ b/{path}\n");
    for (start, len, new) in ranges {
        let (from, end) = (start.saturating_sub(1), (start + len + 1).min(old.len()));
        let kept = (start - from) + (end - start - len);
        let first = |count: usize| if count == 0 { from } else { from + 1 };
        let (before, after) = (kept + len, kept + new.len());
        patch += &format!("@@ -{},{before} +{},{after} @@\n", first(before), first(after));
        let side = |sign: char, lines: &[String]| {
            lines.iter().map(|line| format!("{sign}{line}\n")).collect::<String>()
        };
        patch += &side(' ', &old[from..*start]);
        patch += &side('-', &old[*start..start + len]);
        patch += &side('+', new);
        patch += &side(' ', &old[start + len..end]);
    }
    patch
}

pub(super) fn parsed(plan: &Plan) -> Vec<FilePatch> {
    match plan {
        Plan::Patch(patch) => parse(patch).unwrap_or_else(|error| panic!("{error:?}: {patch}")),
        _ => Vec::new(),
    }
}

pub(super) fn operation<'o>(
    workspace: &Workspace,
    path: &str,
    plan: &'o Plan,
    patch: Vec<FilePatch>,
) -> Operation<'o> {
    let parse = |path: &str| workspace.parse_path(path).unwrap();
    let path = parse(path);
    let write = |create, plan: TextPlan<'o>| {
        let options = ChangeOptions { create, ..ChangeOptions::default() };
        Operation::Write { path: path.clone(), options, plan }
    };
    match plan {
        Plan::Splices(splices) => {
            let copy = |splice: &Splice<'static>| Splice { at: splice.at.clone(), text: splice.text.clone() };
            write(false, Box::new(move |_, old| Ok(EditPlan::new(splices.iter().map(copy).collect(), old))))
        }
        Plan::Patch(text) => {
            let plan = move |index: &LineIndex, old: &[u8]| {
                let placed = place(&patch[0].hunks, index, old, &Unstopped);
                let placed = placed
                    .unwrap_or_else(|_| panic!("no place for {text} in {}", String::from_utf8_lossy(old)));
                let mut new = Vec::new();
                placed.unwrap().plan.write_to(old, &mut new).unwrap();
                Ok(EditPlan::new(vec![Splice { at: 0..old.len(), text: Cow::Owned(new) }], old))
            };
            write(false, Box::new(plan))
        }
        Plan::Content(content) => {
            let text = || Cow::Borrowed(content.as_bytes());
            write(
                true,
                Box::new(move |_, old| Ok(EditPlan::new(vec![Splice { at: 0..0, text: text() }], old))),
            )
        }
        Plan::Move(to) => Operation::Move { path, to: parse(to) },
        Plan::Copy(to) => Operation::Copy { path, to: parse(to) },
        Plan::Delete => Operation::Delete { path, only: Deletion::Recursive },
    }
}
