//! A patch as edits of a job: its files become edits, and what does not fit is told in words.

use std::fmt::Write;

use super::one_edit::Kind;
use crate::tools::ParseOptions;
use folder::{Error, FilePath, Result};
use text::patch::{
    FileChange, FilePatch, FirstDifference, HunkProblem, HunkReason, Unplaced, may_create, parse,
};

/// One edit of a patch.
pub(super) struct PatchEdit {
    pub(super) path: FilePath,
    /// The path is that of the edit before, with which it is one part of the patch.
    pub(super) is_inherited: bool,
    /// The path that is meant if nothing is at the first.
    pub(super) other: Option<FilePath>,
    pub(super) kind: Kind,
}

/// The edits that a patch makes.
pub(super) fn edits(patch: &str, options: ParseOptions) -> Result<Vec<PatchEdit>> {
    let refuse = |line: Option<usize>, problem: String| {
        let at = line.map_or("patch".into(), |line| format!("patch, line {}", line + 1));
        Error::InvalidArguments { at, problem }
    };
    let files = parse(patch).map_err(|problem| refuse(problem.line, problem.problem))?;
    let (mut edits, mut copies) = (Vec::new(), Vec::new());
    for file in files {
        let line = file.line;
        let path = |path: &Option<String>| match path {
            Some(path) => options.path(path),
            None => Err(refuse(
                Some(line),
                "it names no path for the file; expected `--- a/path` and `+++ b/path` before its hunks"
                    .into(),
            )),
        };
        let other = file.other_path.as_deref().and_then(|other| options.path(other).ok());
        let text = |path, other, file: FilePatch| {
            let is_whole = file.change == FileChange::Delete;
            let kind = Kind::Patch { hunks: file.hunks, is_whole };
            PatchEdit { path, is_inherited: false, other, kind }
        };
        let alone = |path, kind| PatchEdit { path, is_inherited: false, other: None, kind };
        match file.change {
            FileChange::Add => {
                let kind = made(&file);
                edits.push(alone(path(&file.new_path)?, kind));
            }
            // What it may make is not meant for a file at another reading of the path.
            FileChange::Update if may_create(&file.hunks) => {
                edits.push(text(path(&file.new_path)?, None, file));
            }
            FileChange::Update => edits.push(text(path(&file.old_path)?, other, file)),
            FileChange::Delete => {
                let old = path(&file.old_path)?;
                let is_inherited = !file.hunks.is_empty();
                if is_inherited {
                    edits.push(text(old.clone(), other.clone(), file));
                }
                let kind = Kind::Delete { recursive: false };
                edits.push(PatchEdit { path: old, is_inherited, other, kind });
            }
            FileChange::Rename | FileChange::Copy => {
                let (old, new) = (path(&file.old_path)?, path(&file.new_path)?);
                let is_copy = file.change == FileChange::Copy;
                match is_copy {
                    true => copies.push(alone(old, Kind::Copy(new.clone()))),
                    false => edits.push(alone(old, Kind::Move(new.clone()))),
                }
                if !file.hunks.is_empty() {
                    edits.push(PatchEdit { is_inherited: !is_copy, ..text(new, None, file) });
                }
            }
        }
    }
    // A copy is one of the file before the patch, also where the patch changes that.
    copies.extend(edits);
    Ok(copies)
}

/// What makes the file of a patch; an empty one may be there.
fn made(file: &FilePatch) -> Kind {
    Kind::Content { text: file.content(), create_only: false, only_empty: true }
}

/// The error for hunks that have no place.
pub(super) fn unplaced(unplaced: Unplaced) -> text::Error {
    match unplaced {
        Unplaced::Stopped(stopped) => text::Error::Stopped(stopped),
        Unplaced::Problems(problems) => {
            let told: Vec<String> = problems.iter().map(told).collect();
            text::Error::InvalidArguments { at: "patch".into(), problem: told.join("\n") }
        }
    }
}

fn told(HunkProblem { hunk, reason }: &HunkProblem) -> String {
    let mut text = format!("hunk {} of this file: ", hunk + 1);
    // A write to a String cannot fail.
    let _ = match reason {
        HunkReason::NotFound { difference, diagnosis } => {
            text.push_str("its lines are not in the file");
            if let Some(FirstDifference { expected, line, found, .. }) = difference {
                let found = found.as_ref().map_or("ends".into(), |found| format!("has {found:?}"));
                let _ = write!(
                    text,
                    "; where it fits best, line {} should be {expected:?}, but the file {found}",
                    line + 1
                );
            }
            let similar = diagnosis.iter().flat_map(|diagnosis| &diagnosis.similar).next();
            if let Some(similar) = similar {
                let first = similar.passage.line + 1;
                let _ =
                    write!(text, "\nLike it are lines {first}-{}:", first + similar.passage.further_lines);
                for line in similar.passage.text.split('\n').take(20) {
                    let _ = write!(text, "\n    |{line}");
                }
            }
            Ok(())
        }
        HunkReason::Ambiguous { lines, total } => {
            let lines: Vec<String> = lines.iter().map(|line| (line + 1).to_string()).collect();
            write!(
                text,
                "its lines are in {total} places, at the lines {}; give more lines around the change",
                lines.join(", ")
            )
        }
        HunkReason::NoPlace => {
            text.push_str("it only adds lines and does not say where; give the lines around them");
            Ok(())
        }
        HunkReason::PastEnd { line, total } => {
            write!(text, "it begins at line {}, but the file has {total} lines", line + 1)
        }
        HunkReason::Overlap { with } => {
            write!(text, "it changes lines that hunk {} changes, too; make one hunk of both", with + 1)
        }
    };
    text
}
