//! The format `summary`: text for a model.

use std::fmt::Write;

use serde_json::Value;

use super::shown::{Shown, author_text, tenth};
use crate::tools::limited::LimitedText;
use crate::tools::walking::TIME;
use crate::tools::{OutputKinds, Reply, timestamp};
use ::toolkit::churn::FileChurn;
use folder::Result;

/// The reply.
pub(super) fn reply(
    shown: &Shown,
    wanted: OutputKinds,
    next: impl Fn(usize) -> Option<(&'static str, Value)>,
) -> Result<Reply> {
    let notes = shown.notes().iter().map(|note| format!("[{note}]")).collect::<Vec<_>>().join("\n");
    let limit = shown.limit.map(|limit| limit.saturating_sub(notes.len().min(limit / 4)));
    let mut list = LimitedText::new(limit);
    list.text_mut().push_str(&head(shown));
    let mut count = 0;
    for file in shown.files() {
        if list.total() == 0 {
            list.text_mut().push_str("\n\nFiles, most changed lines first:\n");
        }
        count += usize::from(list.push_line(&file_line(shown, file)));
    }
    if shown.churn.late.is_some() {
        list.stop(TIME);
    }
    list.reply(
        wanted,
        "files",
        || Ok(next(count)),
        Some(&notes).filter(|notes| !notes.is_empty()).map(|notes| &**notes),
    )
}

fn head(shown: &Shown) -> String {
    let churn = shown.churn;
    let mut head = format!(
        "Churn of {} days, since {}, up to commit {}\nCommits: {} (merges: {}), authors: {}\nFiles: {}, lines: +{} -{}, hot spots: {}",
        shown.days,
        timestamp(churn.since),
        churn.head.get(..12).unwrap_or(&churn.head),
        churn.commits,
        churn.merges,
        churn.authors.len(),
        churn.files.len(),
        churn.added,
        churn.deleted,
        shown.spots.len(),
    );
    // A write to a String cannot fail.
    for (number, author) in shown.authors().iter().enumerate() {
        let title = if number == 0 { "\n\nAuthors, most commits first:\n" } else { "\n" };
        let _ = write!(head, "{title}{} {}", author.commits, author_text(author));
    }
    for (number, spot) in shown.spots().iter().enumerate() {
        let title = match number {
            0 => format!(
                "\n\nHot spots, changed lines x complexity, the highest is 100{}:\n",
                shown.other_spots()
            ),
            _ => "\n".into(),
        };
        let (score, complexity, lines) = (tenth(spot.score), tenth(spot.complexity), spot.file.lines());
        let path = shown.path_line(spot.file);
        let _ = write!(head, "{title}{score} {path} ({lines} lines, complexity {complexity})");
    }
    head
}

fn file_line(shown: &Shown, file: &FileChurn) -> String {
    let mut line = format!(
        "+{} -{} {} (commits: {}, authors: {}",
        file.added,
        file.deleted,
        shown.path_line(file),
        file.commits,
        file.authors.len()
    );
    for (number, what) in [(file.binary, "binary"), (file.too_large, "too large to count")] {
        if number > 0 {
            let _ = write!(line, "; {number} {what}");
        }
    }
    line.push_str(if file.exists { ")" } else { "; removed)" });
    line
}
