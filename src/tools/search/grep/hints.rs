//! What to try if nothing was found: each hint is a number that a further search has found.

use std::time::{Duration, Instant};

use super::{Grep, several};
use crate::engine::{
    Control, EncodingChoice, Pattern, PatternOptions, SearchOptions, SearchStop, Searched, Workspace,
};

/// The time for all hints, at least; after a long search, a tenth of its time.
const LEAST: Duration = Duration::from_millis(30);

/// Lines for the end of an answer without a match.
pub(super) fn hints(
    grep: &Grep,
    workspace: &Workspace,
    searched: &Searched,
    took: Duration,
    operation: &Control,
) -> Vec<String> {
    let left = operation.deadline().saturating_duration_since(Instant::now()) / 2;
    let control = Control::new(LEAST.max(took / 10).min(left));
    let search = Search { grep, workspace, operation, control: &control };
    let mut hints = Vec::new();
    if searched.counts.files == 0 && searched.counts.not_wanted > 0 {
        hints.push(
            "[No file is named by glob, type and exclude; without them, all files are searched]".into(),
        );
    }
    if searched.counts.not_text > 0 && grep.encoding == EncodingChoice::default() {
        hints.push("[Files that are not UTF-8 are searched with \"encoding\": \"auto\"]".into());
    }
    let as_is = Attempt { how: grep.how, all_files: false };
    let is_letter = |char: char| char.is_alphabetic();
    if !grep.how.ignore_case && grep.pattern.contains(is_letter) {
        let attempt = Attempt { how: PatternOptions { ignore_case: true, ..grep.how }, ..as_is };
        hints.extend(attempt.hint(search, "\"-i\": true"));
    }
    if !grep.how.fixed && regex_syntax::escape(&grep.pattern) != grep.pattern {
        let attempt = Attempt { how: PatternOptions { fixed: true, ..grep.how }, ..as_is };
        hints.extend(attempt.hint(search, "\"fixed_strings\": true"));
    }
    if searched.left_out.ignored + searched.left_out.hidden > 0 {
        let attempt = Attempt { all_files: true, ..as_is };
        hints.extend(attempt.hint(search, "\"include_ignored\": true, \"include_hidden\": true"));
    }
    hints
}

/// What every further search needs.
#[derive(Clone, Copy)]
struct Search<'s> {
    grep: &'s Grep,
    workspace: &'s Workspace,
    /// The call, which may be cancelled.
    operation: &'s Control,
    /// The time for hints.
    control: &'s Control,
}

/// Another search that may find something.
#[derive(Clone, Copy)]
struct Attempt {
    how: PatternOptions,
    all_files: bool,
}

impl Attempt {
    /// The hint to pass `arguments`, if the search finds something in time.
    fn hint(self, search: Search, arguments: &str) -> Option<String> {
        let Search { grep, workspace, operation, control } = search;
        let pattern = Pattern::new(&grep.pattern, self.how).ok()?;
        let options = SearchOptions {
            path: grep.path.as_ref(),
            only: None,
            wants: &|path, from_start, is_folder| grep.wanted.wants(path, from_start, is_folder),
            skip_ignored: !(grep.include_ignored || self.all_files),
            skip_hidden: !(grep.include_hidden || self.all_files),
            encoding: grep.encoding,
            after: None,
            keep: 0,
        };
        let found = workspace.search(&pattern, options, &mut |_| operation.check().is_ok(), control).ok()?;
        if found.counts.hits == 0 {
            return None;
        }
        let at_least = if found.stop == Some(SearchStop::Time) { "at least " } else { "" };
        let (hits, files) =
            (several(found.counts.hits, "matching line"), several(found.counts.found, "file"));
        Some(format!("[With {arguments}: {at_least}{hits} in {files}]"))
    }
}
