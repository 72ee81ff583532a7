//! `changes` with `since: "HEAD"`: what differs from the last commit of a git repository (contract 20).

use std::collections::{BTreeSet, HashMap, HashSet};
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
        let known = self.by_journal(workspace, date, control)?;
        let mut files: Vec<ChangedFile> =
            files.into_iter().map(|file| changed_file(workspace, file, known.as_ref())).collect();
        if let Some(known) = &known {
            join_moved(&mut files, known);
        }
        files.retain(|file| !self.by_me || !file.changes.is_empty());
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

    /// What the journal knows since a time, in seconds since 1970: only this session's changes, if these are asked for.
    fn by_journal(&self, workspace: &Workspace, since: i64, control: &Control) -> Result<Option<Known>> {
        let Some(log) = workspace.change_log() else { return Ok(None) };
        let from = u64::try_from(since).unwrap_or(0) * 1_000;
        let changes = changes_from(log, 0, |change| change.time_ms >= from).map_err(unread)?;
        let mut files = workspace.changed_files(&changes, &|_| true, false, self.path.as_ref(), control)?;
        if self.by_me {
            let is_own = |number: &ChangeNumber| {
                changes
                    .iter()
                    .any(|(known, change)| known == number && change.author.session == self.author.session)
            };
            files.iter_mut().for_each(|file| file.changes.retain(is_own));
        }
        Ok(Some(Known::of(files)))
    }
}

/// What the journal knows of files and folders.
struct Known {
    /// By where each is, or was when it went.
    by_path: HashMap<String, ChangedFile>,
    /// Where each is that was moved, by where it was.
    moved: HashMap<String, String>,
}

impl Known {
    fn of(files: Vec<ChangedFile>) -> Known {
        let moved = files.iter().filter(|file| is_moved(file));
        let moved = moved.filter_map(|file| Some((file.was.clone()?, file.path.clone()))).collect();
        Known { by_path: files.into_iter().map(|file| (file.path.clone(), file)).collect(), moved }
    }

    /// Where a file was before it was moved, itself or with a folder above it, and the changes that did so, or changed it.
    fn origin(&self, path: &str) -> Option<(String, Vec<ChangeNumber>)> {
        let moved = |end: usize| {
            let known = self.by_path.get(&path[..end]).filter(|known| is_moved(known))?;
            Some((format!("{}{}", known.was.as_ref()?, &path[end..]), &known.changes))
        };
        let mut moves = ends_of(path).filter_map(moved);
        let (was, changes) = moves.next()?;
        let with_it = moves.filter(|(from, _)| *from == was).flat_map(|(_, changes)| changes);
        let changes: BTreeSet<ChangeNumber> = changes.iter().chain(with_it).copied().collect();
        Some((was, changes.into_iter().collect()))
    }

    /// What the journal knows of a file that is not at its path any more: it was moved, itself or with a folder above it.
    fn behind(&self, path: &str) -> Option<&ChangedFile> {
        let now = ends_of(path).find_map(|end| self.moved.get(&path[..end]))?;
        self.by_path.get(now)
    }
}

fn is_moved(file: &ChangedFile) -> bool {
    !file.is_new && file.was.as_ref().is_some_and(|was| *was != file.path)
}

/// Where a path ends, and where each folder above it does.
fn ends_of(path: &str) -> impl Iterator<Item = usize> {
    std::iter::once(path.len()).chain(path.rmatch_indices('/').map(|(slash, _)| slash))
}

/// `known`: `None` if there is no journal.
fn changed_file(workspace: &Workspace, file: WorkTreeFile, known: Option<&Known>) -> ChangedFile {
    let path = workspace.told(&file.place);
    let WorkTreeFile { place, moved_from, is_new, is_deleted, contents } = file;
    let was = moved_from.map(|from| workspace.told(&(place.0, from)));
    let is_same = was.is_some();
    let was = if is_new { None } else { was.or_else(|| Some(path.clone())) };
    let own = known.and_then(|known| known.by_path.get(&path));
    let (changes, by_others) = match (own, known) {
        (Some(own), _) => (own.changes.clone(), own.by_others),
        (None, None) => (Vec::new(), ByOthers::Nothing),
        (None, Some(known)) if is_deleted => {
            let behind = known.behind(&path).map(|behind| (behind.changes.clone(), ByOthers::Nothing));
            behind.unwrap_or((Vec::new(), ByOthers::Changed))
        }
        (None, Some(known)) => match known.origin(&path) {
            // With a folder; what else it is, the journal does not know.
            Some((from, changes)) if is_new || was.as_ref() == Some(&from) => {
                let others = if is_same { ByOthers::Nothing } else { ByOthers::Changed };
                (changes, others)
            }
            _ => (Vec::new(), ByOthers::Changed),
        },
    };
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

/// Tells a file as moved that git has as a deleted one and a new one, if the journal knows that they are one.
fn join_moved(files: &mut Vec<ChangedFile>, known: &Known) {
    let deleted = files.iter().enumerate().filter(|(_, file)| file.is_deleted);
    let deleted: HashMap<String, usize> = deleted.map(|(at, file)| (file.path.clone(), at)).collect();
    let mut joined = HashSet::new();
    for at in 0..files.len() {
        let file = &files[at];
        let origin = if file.is_new { known.origin(&file.path) } else { None };
        let Some((was, changes)) = origin else { continue };
        let Some(from) = deleted.get(&was).copied().filter(|from| joined.insert(*from)) else { continue };
        let old = files[from].contents.take().map(|(old, _)| old);
        let file = &mut files[at];
        let now = file.contents.take().map(|(_, now)| now);
        file.contents = old.zip(now).filter(|(old, now)| old != now);
        (file.was, file.is_new, file.changes) = (Some(was), false, changes);
    }
    let mut at = 0..;
    files.retain(|_| at.next().is_none_or(|at| !joined.contains(&at)));
}
