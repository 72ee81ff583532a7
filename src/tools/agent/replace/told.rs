//! The answers of `replace`.

use std::fmt::Write;
use std::sync::Arc;

use serde_json::json;

use super::listed::List;
use super::planned::{File, PlannedFile, Request};
use crate::tools::agent::changed::{self, Told};
use crate::tools::balance::several;
use crate::tools::limited::content;
use crate::tools::search::grep::{Fruitless, balance, hints};
use crate::tools::{AnswerLimit, ErrorText, Guide, OutputKinds, Reply};
use engine::{JobDone, Searched};
use folder::Error;

/// The most files that an error tells one by one.
const TOLD_FILES: usize = 20;

/// How many places are replaced, in how many files; and how many there are.
pub(super) struct Found {
    pub(super) places: u64,
    pub(super) files: u64,
    pub(super) of_all: u64,
    /// No call can go on with a plan.
    pub(super) is_last_call: bool,
}

/// What is said at the end of each answer: what was searched and left out, and a slip that shows only in the result.
pub(super) fn notes(request: &Request, searched: &Searched) -> Vec<String> {
    let mut notes = Vec::new();
    let text = request.replacement.as_bytes();
    let is_slip = |pair: &&[u8]| pair[0] == b'\\' && pair[1].is_ascii_digit();
    if let Some(slip) = text.windows(2).find(is_slip).filter(|_| !request.scope.how.fixed) {
        let group = char::from(slip[1]);
        notes.push(format!("[\\{group} in replacement is text; a group is ${group}]"));
    }
    notes.push(balance(searched, None, [false; 2], true));
    notes
}

/// The reply if nothing matches.
pub(super) fn nothing(
    run: Fruitless,
    expected: Option<u64>,
    searched: &Searched,
    mut notes: Vec<String>,
) -> Reply {
    notes.extend(hints(run, searched));
    let expected = expected.filter(|expected| *expected > 0);
    let failure = expected.map(|expected| Arc::new(not_as_expected(expected, 0, [].into_iter())));
    let text = match &failure {
        None => "Nothing changed: nothing matches.".to_owned(),
        Some(_) => format!(
            "Nothing was changed: {} expected, but nothing matches.",
            several(expected.unwrap_or(0), "place")
        ),
    };
    let reply = content(format!("{text}\n{}", notes.join("\n")), OutputKinds { text: true, data: false });
    Reply { failure, is_nothing: true, ..reply }
}

/// The error for another number of places than was expected.
pub(super) fn not_as_expected<'f>(
    expected: u64,
    actual: u64,
    counts: impl Iterator<Item = (&'f File, u64)>,
) -> Error {
    let counts: Vec<(&File, u64)> = counts.filter(|(_, count)| *count > 0).collect();
    let verb = if actual == 1 { "is" } else { "are" };
    let mut problem =
        format!("there {verb} {}, not {expected}; nothing was changed", several(actual, "place"));
    for (number, (file, count)) in counts.iter().take(TOLD_FILES).enumerate() {
        let separator = if number == 0 { ": " } else { ", " };
        // A write to a String cannot fail.
        let _ = write!(problem, "{separator}{} {count}", file.shown);
    }
    if counts.len() > TOLD_FILES {
        let _ = write!(problem, " and {}", more(counts.len()));
    }
    Error::InvalidArguments { at: "expected".into(), problem }
}

fn more(files: usize) -> String {
    let left = (files - TOLD_FILES) as u64;
    if left == 1 { "1 more file".into() } else { format!("{left} more files") }
}

/// The reply if some files cannot be changed, by their numbers. `planned`: the files of a plan, whose places are told.
pub(super) fn refused(
    files: &[File],
    errors: Vec<(usize, Error)>,
    planned: Option<&[&PlannedFile]>,
    guide: Guide,
) -> Reply {
    let instead = match planned {
        None => "Leave them out by path or glob",
        Some(_) => "Leave their places out of only",
    };
    let mut text = format!(
        "Nothing was changed: {} of {} cannot be changed. {instead}, or mend the reason.",
        errors.len(),
        several(files.len() as u64, "file")
    );
    let (total, mut first) = (errors.len(), None);
    for (number, error) in errors.into_iter().take(TOLD_FILES) {
        let error = in_own_names(error);
        let told = ErrorText::of(&error, guide, 0).text();
        let shown = files.get(number).map_or("", |file| &file.shown);
        let places = planned.and_then(|planned| planned.get(number)).map_or(String::new(), |file| {
            format!(" (places {}-{})", file.first, file.first + file.count - 1)
        });
        let _ = write!(text, "\n{shown}{places}: {}", told.trim_start_matches("Error: "));
        first = first.or(Some(Arc::new(error)));
    }
    if total > TOLD_FILES {
        let _ = write!(text, "\n[{} cannot be changed]", more(total));
    }
    Reply { text, failure: first, ..Reply::default() }
}

/// An error of the plan of a text, in the arguments of this tool.
fn in_own_names(error: Error) -> Error {
    match error {
        Error::InvalidArguments { at, problem } => {
            let at = match &*at {
                "old_text" => "pattern".into(),
                "new_text" => "replacement".into(),
                _ => at,
            };
            Error::InvalidArguments { at, problem }
        }
        error => error,
    }
}

/// The reply for a job that was done, or for a dry run with its list and the name of its plan.
pub(super) fn done(
    job: JobDone<Told>,
    found: Found,
    list: Option<(List, Option<String>)>,
    notes: Vec<String>,
    limit: AnswerLimit,
) -> Reply {
    let Some((list, plan)) = list else {
        let summary = match job.told[..] {
            [] => format!("Nothing changed: {} already as the replacement.", are(found.places)),
            _ => changed::summary(&job.told, false),
        };
        return changed::told(summary, job, limit, &notes);
    };
    if job.told.is_empty() {
        let text = format!("Nothing would change: {} already as the replacement.", are(found.places));
        return content(format!("{text}\n{}", notes.join("\n")), OutputKinds { text: true, data: false });
    }
    let files = several(found.files, "file");
    let mut text = format!("Would change {} in {files}", several(found.places, "place"));
    match &plan {
        Some(plan) => {
            let call = json!({ "plan": plan });
            let _ = write!(text, " (do it by replace {call}, or some of it with \"only\": \"1-4,7\")");
        }
        None if found.is_last_call => {}
        None => text.push_str(" [the places are too many for a plan]"),
    }
    let _ = write!(text, "\n{}", list.text.trim_end_matches('\n'));
    if let Some(first) = list.not_shown {
        let _ = write!(text, "\n[Places {first}-{} are not shown", found.of_all);
        let call = plan.map(|plan| json!({ "plan": plan, "only": format!("{first}-"), "dry_run": true }));
        let _ = call.map(|call| write!(text, "; see them: replace {call}"));
        text.push(']');
    }
    notes.iter().for_each(|note| _ = write!(text, "\n{note}"));
    content(text, OutputKinds { text: true, data: false })
}

fn are(places: u64) -> String {
    format!("{} {}", several(places, "place"), if places == 1 { "is" } else { "are" })
}
