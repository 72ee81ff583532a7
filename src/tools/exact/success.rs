//! The reply to a successful call (contract 5): what was done, and the diff.

use std::fmt::Write;

use super::data::{EditApplied, Preview};
use super::{Done, Members, OutputKinds, Reply};
use crate::tools::diff_text::push_diff;
use text::text_edit::{Snippet, TextEdits};

/// Maximum number of edits listed one by one in the text.
const TOLD: usize = 10;

pub(super) fn reply(name: &str, edits: &TextEdits, done: &Done, dry_run: bool, wanted: OutputKinds) -> Reply {
    let metadata = metadata(name, edits, done, dry_run);
    let data = if wanted.data { metadata.clone() } else { Members::default() };
    Reply { text: text(name, done, dry_run), data, metadata: Some(metadata), ..Reply::default() }
}

fn text(name: &str, done: &Done, dry_run: bool) -> String {
    let total: u64 = done.applied.iter().map(|edit| edit.replaced).sum();
    let mut text = match dry_run {
        true => format!("Dry run, nothing was changed: {name}\n"),
        false => format!("File edited successfully: {name}\n"),
    };
    // A write to a String cannot fail.
    let _ = writeln!(text, "Edits applied: {}", done.applied.len());
    let _ = writeln!(text, "Total replacements: {total}");
    let created = if dry_run { "File would be created" } else { "File created" };
    let _ = writeln!(text, "{created}: {}", done.created);
    if done.applied.len() <= TOLD {
        for (number, edit) in done.applied.iter().enumerate() {
            let line = edit.line + 1;
            let times = if edit.replaced == 1 { "" } else { "first " };
            let _ = writeln!(text, "Edit {}: {} replaced, {times}in line {line}", number + 1, edit.replaced);
        }
    }
    if !done.changed && !done.created {
        text.push_str("The text is the same as before.\n");
    }
    done.omission.iter().for_each(|note| text.push_str(note));
    text.truncate(text.trim_end_matches('\n').len());
    push_diff(&mut text, &done.diff);
    text
}

fn metadata(name: &str, edits: &TextEdits, done: &Done, dry_run: bool) -> Members {
    let applied = done.applied.iter().enumerate().map(|(edit_index, edit)| EditApplied {
        edit_index,
        occurrences_replaced: edit.replaced,
        line: edit.line + 1,
    });
    let previews =
        done.applied.iter().zip(edits.edits()).enumerate().flat_map(|(edit_index, (applied, edit))| {
            applied.passages.iter().map(move |passage| Preview {
                edit_index,
                line: passage.line + 1,
                before: passage.text.clone(),
                after: after(passage, &edit.new_text),
            })
        });
    let metadata = Members::default()
        .with("path", &name)
        .with("diff", &done.diff.text)
        .with("edits_applied", &applied.collect::<Vec<_>>())
        .with("total_replacements", &done.applied.iter().map(|edit| edit.replaced).sum::<u64>());
    if !dry_run {
        return metadata;
    }
    metadata
        .with("dry_run", &true)
        .with("would_modify", &(done.changed || done.created))
        .with("preview", &previews.collect::<Vec<_>>())
}

/// The lines of a passage with `new_text` in its place.
fn after(passage: &Snippet, new_text: &str) -> String {
    let Snippet { text, at, .. } = passage;
    format!("{}{new_text}{}", &text[..at.start], &text[at.end..])
}
