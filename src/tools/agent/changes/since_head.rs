//! `changes` with `since: "HEAD"`: what differs from the last commit of a git repository (contract 20).

use std::collections::HashMap;
use std::fmt::Write;

use super::{Changes, WAY_ON, changes_from, unread};
use crate::tools::agent::changed::cut;
use crate::tools::balance::several;
use crate::tools::limited::content;
use crate::tools::{OutputKinds, Reply};
use ::toolkit::work_tree::{SinceHead, WorkTreeFile, since_head};
use engine::{ByOthers, ChangeLog, ChangeNumber, ChangedFile, Workspace};
use folder::{Control, FilePath, Result};

/// How many digits of a commit's name are shown.
const SHOWN_DIGITS: usize = 10;

impl Changes {
    pub(super) fn since_head(&self, workspace: &Workspace, control: &Control) -> Result<Reply> {
        let path = self.path.clone().unwrap_or_else(|| FilePath::known(0, ""));
        let SinceHead { head, date, files, uncompared, is_late } =
            since_head(workspace, &path, control).map_err(|fault| fault.into_error("since"))?;
        let mut known = self.by_journal(workspace, date, control)?;
        let has_journal = workspace.change_log().is_some();
        let files: Vec<ChangedFile> = files
            .into_iter()
            .map(|file| {
                let path = workspace.told(&file.place);
                let known = known.remove(&path);
                changed_file(workspace, path, file, known, has_journal)
            })
            .filter(|file| !self.by_me || !file.changes.is_empty())
            .collect();
        let head = head.get(..SHOWN_DIGITS).unwrap_or(&head);
        let mut text = match files.len() {
            0 => format!("Nothing differs from HEAD ({head})."),
            1 => format!("1 file differs from HEAD ({head})"),
            many => format!("{many} files differ from HEAD ({head})"),
        };
        // A write to a String cannot fail.
        if uncompared > 0 {
            let files = several(uncompared, "file");
            let _ = write!(
                text,
                "\n[{files} could not be compared: too large, unreadable, or written to all the while]"
            );
        }
        if is_late {
            text.push_str("\n[The time was up: some files were not compared, and deleted ones are not told; give a path below]");
        }
        let damaged = workspace.change_log().map(ChangeLog::damaged).unwrap_or_default();
        self.push_files(&mut text, &files, &damaged);
        cut(&mut text, self.limit, WAY_ON);
        Ok(content(text, OutputKinds { text: true, data: false }))
    }

    /// What the journal knows of each file since a time, in seconds since 1970: only this session's changes, if these are asked for.
    fn by_journal(
        &self,
        workspace: &Workspace,
        since: i64,
        control: &Control,
    ) -> Result<HashMap<String, ChangedFile>> {
        let Some(log) = workspace.change_log() else { return Ok(HashMap::new()) };
        let from = u64::try_from(since).unwrap_or(0) * 1_000;
        let changes = changes_from(log, 0, |change| change.time_ms >= from).map_err(unread)?;
        let mut files = workspace.changed_files(&changes, |_| true, false, self.path.as_ref(), control)?;
        if self.by_me {
            let is_own = |number: &ChangeNumber| {
                changes
                    .iter()
                    .any(|(known, change)| known == number && change.author.session == self.author.session)
            };
            files.iter_mut().for_each(|file| file.changes.retain(is_own));
        }
        Ok(files.into_iter().map(|file| (file.path.clone(), file)).collect())
    }
}

fn changed_file(
    workspace: &Workspace,
    path: String,
    file: WorkTreeFile,
    known: Option<ChangedFile>,
    has_journal: bool,
) -> ChangedFile {
    let WorkTreeFile { place, moved_from, is_new, is_deleted, contents } = file;
    let was = moved_from.map(|from| workspace.told(&(place.0, from)));
    let was = if is_new { None } else { was.or_else(|| Some(path.clone())) };
    let unknown = if has_journal { ByOthers::Changed } else { ByOthers::Nothing };
    let (changes, by_others) = known.map_or((Vec::new(), unknown), |known| (known.changes, known.by_others));
    ChangedFile {
        path,
        was,
        is_new,
        is_deleted,
        is_away: false,
        changes,
        by_others,
        contents,
        has_others: false,
        is_part: false,
    }
}
