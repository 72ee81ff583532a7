//! What to try if nothing was found: each hint is a number that a further search has found.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Map, json};

use super::scope::Scope;
use super::searched::hit;
use super::wanted_files::{Chosen, Globs, WantedFiles};
use crate::tools::balance::several;
use crate::tools::near_globs::near_globs;
use crate::tools::near_patterns::{NearPattern, written};
use crate::tools::walking::path_line_in;
use engine::{FoundFile, SearchOptions, SearchStop, Searched, Workspace};
use folder::Control;
use search::Pattern;
use text::encoding::EncodingChoice;
use text::glob::{is_literal, with_literal_brackets};

/// The time for all hints, at least; after a long search, a tenth of its time.
const LEAST: Duration = Duration::from_millis(30);

/// Most hints of further searches.
const MOST: usize = 4;

/// A search that found nothing.
#[derive(Clone, Copy)]
pub(in crate::tools) struct Fruitless<'r> {
    pub(in crate::tools) scope: &'r Scope,
    pub(in crate::tools) workspace: &'r Workspace,
    pub(in crate::tools) wants: &'r WantedFiles,
    /// Of the call.
    pub(in crate::tools) control: &'r Control,
    pub(in crate::tools) started: Instant,
}

/// Lines for the end of an answer without a match.
pub(in crate::tools) fn hints(run: Fruitless, searched: &Searched) -> Vec<String> {
    let Fruitless { scope, control, started, .. } = run;
    let control = control.briefly(LEAST.max(started.elapsed() / 10));
    let mut hints = Vec::new();
    let counts = &searched.counts;
    let is_unnamed = counts.files == 0 && counts.not_wanted + counts.not_wanted_folders > 0;
    if is_unnamed {
        hints.push(
            "[No file is named by glob, type and exclude; without them, all files are searched]".into(),
        );
    }
    let is_given = ![EncodingChoice::Auto, EncodingChoice::default()].contains(&scope.encoding);
    if counts.not_text > 0 && is_given {
        let name = scope.encoding.name();
        hints.push(format!("[Files that are not valid {name} are searched without \"encoding\"]"));
    }
    let attempts = attempts(run, searched, is_unnamed);
    let search = Search { run, control: &control, finds_files: is_unnamed };
    hints.extend(attempts.iter().filter_map(|attempt| attempt.hint(search)).take(MOST));
    hints.extend(wider(search, searched));
    hints
}

/// Other patterns, and other globs of files.
fn attempts(run: Fruitless, searched: &Searched, is_unnamed: bool) -> Vec<Attempt> {
    let scope = run.scope;
    let as_is = Attempt::new(run);
    let mut attempts = Vec::new();
    let brackets = scope.chosen.with_globs(with_literal_brackets);
    let below = |glob: &str| (is_literal(glob) && !glob.ends_with('/')).then(|| format!("{glob}/"));
    let mut others: Vec<Chosen> = brackets.into_iter().collect();
    if is_unnamed {
        others.extend(scope.chosen.with_globs(below));
        let slips =
            (0..MOST).filter_map(|nth| scope.chosen.with_globs(|glob| near_globs(glob).into_iter().nth(nth)));
        others.extend(slips);
    }
    for chosen in others {
        let condition = format!("With {}", globs_written(&chosen.globs));
        attempts.push(Attempt { chosen: Some(chosen), condition, ..as_is.clone() });
    }
    if is_unnamed && let Some(chosen) = scope.chosen.ignoring_case() {
        let condition = "If upper and lower case of glob are the same".into();
        attempts.push(Attempt { chosen: Some(chosen), condition, ..as_is.clone() });
    }
    if searched.counts.files > 0 {
        attempts.extend(NearPattern::all(&scope.pattern, scope.how).into_iter().map(|near| {
            let condition = format!("With {}", near.arguments(&scope.pattern, scope.how));
            Attempt { near, condition, ..as_is.clone() }
        }));
    }
    attempts
}

fn globs_written(globs: &Globs) -> String {
    let value = match &globs.0[..] {
        [one] => json!(one),
        several => json!(several),
    };
    format!("\"glob\": {value}")
}

/// What is in the files that were left out: the ignored, the hidden, or only in those that are both.
fn wider(search: Search, searched: &Searched) -> Vec<String> {
    let (ignored, hidden) = (searched.left_out.ignored > 0, searched.left_out.hidden > 0);
    let hint = |ignored: bool, hidden: bool| {
        let mut arguments = Map::new();
        for (name, value) in [("include_ignored", ignored), ("include_hidden", hidden)] {
            if value {
                arguments.insert(name.into(), json!(true));
            }
        }
        let condition = format!("With {}", written(&arguments));
        Attempt { ignored, hidden, condition, ..Attempt::new(search.run) }.hint(search)
    };
    let single = [(ignored, false), (false, hidden)];
    let single = single.into_iter().filter(|(ignored, hidden)| *ignored || *hidden);
    let mut lines: Vec<String> = single.filter_map(|(ignored, hidden)| hint(ignored, hidden)).collect();
    if lines.is_empty() && ignored && hidden {
        lines.extend(hint(true, true));
    }
    lines
}

/// What every further search needs.
#[derive(Clone, Copy)]
struct Search<'s> {
    run: Fruitless<'s>,
    /// The time for hints.
    control: &'s Control,
    /// Whether it counts that files are searched at all.
    finds_files: bool,
}

/// Another search that may find something.
#[derive(Debug, Clone)]
struct Attempt {
    near: NearPattern,
    /// `None`: those of the call.
    chosen: Option<Chosen>,
    ignored: bool,
    hidden: bool,
    /// What differs from the call, in words or as arguments.
    condition: String,
}

impl Attempt {
    fn new(run: Fruitless) -> Attempt {
        let near = NearPattern { pattern: run.scope.pattern.clone(), how: run.scope.how };
        Attempt { near, chosen: None, ignored: false, hidden: false, condition: String::new() }
    }

    /// The hint with the condition, if the search finds something in time.
    fn hint(&self, search: Search) -> Option<String> {
        let Fruitless { scope, workspace, wants, control: operation, .. } = search.run;
        let pattern = Pattern::new(&self.near.pattern, self.near.how).ok()?;
        let chosen = match &self.chosen {
            Some(chosen) => Some(chosen.files().ok()?),
            None => None,
        };
        let wants = chosen.as_ref().unwrap_or(wants);
        let wants =
            |path: &Path, from_start: &Path, is_folder: bool| wants.wants(path, from_start, is_folder);
        let options = SearchOptions {
            skip_ignored: !(scope.include_ignored || self.ignored),
            skip_hidden: !(scope.include_hidden || self.hidden),
            ..scope.options(&wants)
        };
        let mut first = None;
        let mut receiver = |file: FoundFile| {
            let folders = workspace.folder_paths().folders();
            first.get_or_insert_with(|| path_line_in(folders, file.folder, &file.path));
            operation.check().is_ok()
        };
        let found = workspace.search(&pattern, options, &mut receiver, search.control).ok()?;
        let at_least = if found.stop == Some(SearchStop::Time) { "at least " } else { "" };
        let Searched { counts, .. } = found;
        let condition = &self.condition;
        match first {
            Some(first) => Some(format!(
                "[{condition}: {at_least}{} in {}, such as {first}]",
                several(counts.hits, hit(self.near.how)),
                several(counts.found, "file")
            )),
            None if search.finds_files && self.chosen.is_some() && counts.files > 0 => Some(format!(
                "[{condition}: {at_least}{} searched, without a match]",
                several(counts.files, "file")
            )),
            None => None,
        }
    }
}
