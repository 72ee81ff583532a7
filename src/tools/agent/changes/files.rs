//! The lines of files in an answer to `changes`: what has become of each, and by whom.

use std::fmt::Write;

use super::Changes;
use crate::tools::agent::changed::diff_of;
use crate::tools::agent::tree::quoted;
use engine::{ByOthers, ChangeNumber, ChangedFile, others_behind};

/// The most files that are told one by one without diffs.
const TOLD_FILES: usize = 10;

/// How many groups of files before one are looked at for its own.
const KINDS: usize = 8;

impl Changes {
    /// The lines of all files: many without diffs are told in one line a folder.
    pub(super) fn push_files(&self, text: &mut String, files: &[ChangedFile], damaged: &[ChangeNumber]) {
        if self.with_diff || files.len() <= TOLD_FILES {
            files.iter().for_each(|file| self.push_file(text, file, damaged));
            return;
        }
        let key = |file: &ChangedFile| (folder_of(&file.path).to_owned(), told_of(file, damaged));
        let mut groups: Vec<((String, String), Vec<&str>)> = Vec::new();
        for file in files {
            let name = &file.path[folder_of(&file.path).len()..];
            match groups.iter_mut().rev().take(KINDS).find(|(known, _)| *known == key(file)) {
                Some((_, names)) => names.push(name),
                None => groups.push((key(file), vec![name])),
            }
        }
        for ((folder, what), names) in groups {
            let names: Vec<_> = names.into_iter().map(quoted).collect();
            // A write to a String cannot fail.
            let folder = if folder.is_empty() { "./" } else { &folder };
            let what = if what.is_empty() { String::new() } else { format!(" ({})", what.trim_start()) };
            let _ = write!(text, "\n{folder}: {}{what}", names.join(" "));
        }
    }

    fn push_file(&self, text: &mut String, file: &ChangedFile, damaged: &[ChangeNumber]) {
        // A write to a String cannot fail.
        let _ = write!(text, "\n{}:{}", file.path, told_of(file, damaged));
        let Some((old, new)) = file.contents.as_ref().filter(|_| self.with_diff) else { return };
        if file.has_others {
            text.push_str(" [others changed the same lines: the diff has theirs, too]");
        }
        let _ = write!(text, "\n{}", diff_of(&file.path, old, new, self.context).trim_end_matches('\n'));
    }
}

/// What has become of a file, and by whom. `damaged`: the changes of which nothing is known.
fn told_of(file: &ChangedFile, damaged: &[ChangeNumber]) -> String {
    let is_deleted = file.is_deleted && file.by_others != ByOthers::Deleted;
    let new = if file.is_new { " new" } else { "" };
    let gone = if file.is_away { "moved to where this server serves nothing" } else { "deleted" };
    let what = match (file.was.as_ref().filter(|was| **was != file.path), is_deleted) {
        (Some(was), true) => format!(" moved from {was}, {gone}"),
        (None, true) => format!(" {gone}"),
        (Some(was), false) if file.is_new => format!("{new}, moved from {was}"),
        (Some(was), false) => format!(" moved from {was}"),
        (None, false) => new.into(),
    };
    let numbers: Vec<String> = file.changes.iter().map(|number| format!("c{number}")).collect();
    let own = if numbers.is_empty() { String::new() } else { format!(" by {}", numbers.join(", ")) };
    let others = match file.by_others {
        ByOthers::Nothing => return what + &own,
        ByOthers::Changed => "",
        ByOthers::Deleted => "deleted ",
        ByOthers::MadeAgain => "there again ",
    };
    let by = others_behind(damaged, file.changes.last().copied().unwrap_or(ChangeNumber::MAX));
    let is_one = own.is_empty() && (what.is_empty() || file.by_others == ByOthers::Changed);
    let comma = if is_one { "" } else { "," };
    format!("{what}{own}{comma} {others}by {by}")
}

/// The folder in a path, with its slash.
fn folder_of(path: &str) -> &str {
    &path[..path.rfind('/').map_or(0, |slash| slash + 1)]
}
