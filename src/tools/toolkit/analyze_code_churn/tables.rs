//! The formats `markdown` and `csv`: a row for each file.

use serde_json::Value;

use super::shown::{Shown, author_text, tenth};
use crate::tools::limited::LimitedText;
use crate::tools::walking::TIME;
use crate::tools::{OutputKinds, Reply, timestamp};
use ::toolkit::churn::FileChurn;
use folder::Result;

/// The columns of the format `csv`.
const COLUMNS: &str =
    "path,commits,authors,added,deleted,binary,too_large,last_commit,exists,complexity,hot_spot";

/// Authors of one file that are named.
const MOST_AUTHORS: usize = 10;

/// The rows of a table, and the call that goes on.
fn rows(
    of: &Shown,
    head: &str,
    row: impl Fn(&FileChurn) -> String,
    note: Option<&str>,
    wanted: OutputKinds,
    next: impl Fn(usize) -> Option<(&'static str, Value)>,
) -> Result<Reply> {
    let limit = of.limit.map(|limit| limit.saturating_sub(note.map_or(0, str::len).min(limit / 4)));
    let mut list = LimitedText::new(limit);
    list.text_mut().push_str(head);
    let mut count = 0;
    for file in of.files() {
        if list.total() == 0 {
            list.text_mut().push('\n');
        }
        count += usize::from(list.push_line(&row(file)));
    }
    if of.churn.late.is_some() {
        list.stop(TIME);
    }
    list.reply(wanted, "files", || Ok(next(count)), note)
}

/// The reply in the format `csv` of RFC 4180, with `\n` at the end of lines. Nothing but rows, unless it is cut.
pub(super) fn csv(
    of: &Shown,
    wanted: OutputKinds,
    next: impl Fn(usize) -> Option<(&'static str, Value)>,
) -> Result<Reply> {
    let reply = rows(of, COLUMNS, |file| csv_row(of, file), None, wanted, next)?;
    // Behind the rows in an item of its own.
    let notes = of.notes().join("\n");
    Ok(Reply { note: (!notes.is_empty()).then_some(notes), ..reply })
}

fn csv_row(of: &Shown, file: &FileChurn) -> String {
    let optional = |number: Option<f64>| number.map(|number| tenth(number).to_string()).unwrap_or_default();
    let FileChurn { commits, added, deleted, binary, too_large, .. } = file;
    [
        csv_field(&of.path(file)),
        commits.to_string(),
        csv_field(&authors(file)),
        added.to_string(),
        deleted.to_string(),
        binary.to_string(),
        too_large.to_string(),
        timestamp(file.last),
        file.exists.to_string(),
        optional(of.complexity(file)),
        optional(of.score(file)),
    ]
    .join(",")
}

/// The authors of a file with their commits, separated by `; `.
fn authors(file: &FileChurn) -> String {
    let named = file
        .authors
        .iter()
        .take(MOST_AUTHORS)
        .map(|author| format!("{} {}", author_text(author), author.commits));
    let more = file.authors.len().saturating_sub(MOST_AUTHORS);
    let more = (more > 0).then(|| format!("{more} more"));
    named.chain(more).collect::<Vec<_>>().join("; ")
}

/// A field of RFC 4180: in quotes if it holds a comma, a quote or a line break; quotes in it are doubled.
fn csv_field(text: &str) -> String {
    match text.contains([',', '"', '\r', '\n']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.into(),
    }
}

/// The reply in the format `markdown`.
pub(super) fn markdown(
    of: &Shown,
    wanted: OutputKinds,
    next: impl Fn(usize) -> Option<(&'static str, Value)>,
) -> Result<Reply> {
    let churn = of.churn;
    let mut head = format!(
        "# Code churn\n\n{} days, since {}: commits: {} (merges: {}), authors: {}, files: {}, lines: +{} -{}, hot spots: {}.",
        of.days,
        timestamp(churn.since),
        churn.commits,
        churn.merges,
        churn.authors.len(),
        churn.files.len(),
        churn.added,
        churn.deleted,
        of.spots.len(),
    );
    if !of.spots().is_empty() {
        head.push_str(&format!(
            "\n\n## Hot spots{}\n\n| File | Score | Lines | Complexity |\n| --- | ---: | ---: | ---: |",
            of.other_spots()
        ));
    }
    for spot in of.spots() {
        let (path, lines) = (cell(&of.path_line(spot.file)), spot.file.lines());
        head.push_str(&format!(
            "\n| {path} | {} | {lines} | {} |",
            tenth(spot.score),
            tenth(spot.complexity)
        ));
    }
    head.push_str(
        "\n\n## Files\n\n| File | Commits | Authors | Added | Deleted |\n| --- | ---: | ---: | ---: | ---: |",
    );
    let row = |file: &FileChurn| {
        let removed = if file.exists { "" } else { " (removed)" };
        let FileChurn { commits, authors, added, deleted, .. } = file;
        let path = cell(&of.path_line(file));
        format!("| {path}{removed} | {commits} | {} | {added} | {deleted} |", authors.len())
    };
    let notes = of.notes().iter().map(|note| format!("\n{note}.")).collect::<Vec<_>>().join("\n");
    rows(of, &head, row, Some(&*notes).filter(|notes| !notes.is_empty()), wanted, next)
}

/// A path of one line for a cell of a table, with the characters of the markup escaped.
fn cell(path: &str) -> String {
    let mut cell = String::new();
    for character in path.chars() {
        if matches!(character, '|' | '\\' | '`' | '*' | '_' | '<' | '>' | '[' | ']') {
            cell.push('\\');
        }
        cell.push(character);
    }
    cell
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_with_commas_quotes_and_breaks_are_quoted() {
        for (text, field) in [
            ("a b", "a b"),
            ("a,b", "\"a,b\""),
            ("a\"b", "\"a\"\"b\""),
            ("a\nb", "\"a\nb\""),
            ("\r", "\"\r\""),
        ] {
            assert_eq!(csv_field(text), field, "{text:?}");
        }
    }

    #[test]
    fn cells_stay_in_their_column_and_line() {
        assert_eq!(cell(r"a|b\x0a*c*"), r"a\|b\\x0a\*c\*");
    }
}
