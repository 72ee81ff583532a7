//! The walks of one call of `glob`: which files they meet, which of those match, and what they leave out.
//!
//! Knows no arguments and no text of an answer but that of the balance.

use super::best::{Best, Place, state_of_file};
use crate::tools::arguments::Keyword;
use crate::tools::balance::{Balance, Reason, several};
use crate::tools::walking::{Start, shown};
use engine::Workspace;
use folder::{
    Control, EntryKind, Error, LateStats, LeftOut, Result, StatResult, Walk, WalkOptions, WalkStep,
};
use text::glob::Glob;

/// In which order files are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::tools) enum Sort {
    /// Newest first.
    Modified,
    /// By the bytes of their paths.
    Path,
    /// Largest first.
    Size,
}

impl Keyword for Sort {
    const WORDS: &'static [(&'static str, Sort)] =
        &[("modified", Sort::Modified), ("path", Sort::Path), ("size", Sort::Size)];
}

/// The walks of one call, and what they found.
pub(super) struct Search<'c> {
    pub(super) control: &'c Control,
    globs: Vec<Glob>,
    sort: Sort,
    /// The last file that was shown before.
    pub(super) after: Option<Place>,
    pub(super) best: Best<Place>,
    /// A number for all files that match, and their keys, also for those shown before.
    pub(super) state: u64,
    pub(super) balance: Balance,
    /// Files that the walks met.
    seen: u64,
    /// Files that match, also those shown before.
    matching: u64,
    /// Paths of files that match, and whose states are asked for together.
    late: LateStats<Vec<u8>>,
    /// Whether the state of a file could not be told.
    has_failed: bool,
    /// The time was up before the end.
    pub(super) stopped: bool,
    /// What the walks met last in the order of paths, behind the cursor.
    pub(super) met: Option<Place>,
}

impl<'c> Search<'c> {
    pub(super) fn new(
        control: &'c Control,
        globs: Vec<Glob>,
        sort: Sort,
        after: Option<Place>,
        best: Best<Place>,
    ) -> Search<'c> {
        let (balance, state, seen, matching) = (Balance::default(), 0, 0, 0);
        let (late, has_failed, stopped, met) = (LateStats::default(), false, false, None);
        Search {
            control,
            globs,
            sort,
            after,
            best,
            state,
            balance,
            seen,
            matching,
            late,
            has_failed,
            stopped,
            met,
        }
    }

    /// Searches in one folder. A folder that the pattern names need not exist.
    pub(super) fn run(&mut self, workspace: &Workspace, start: &Start, options: WalkOptions) -> Result<()> {
        if self.stopped {
            return Ok(());
        }
        match workspace.walk(&start.folder, options, self.control) {
            Ok(walk) => self.walk(walk, start),
            Err(Error::NotFound { .. } | Error::NotAFolder { .. }) => Ok(()),
            Err(
                Error::PermissionDenied { .. }
                | Error::RefusedLink { .. }
                | Error::IsAFolder { .. }
                | Error::OneFolderGone { .. },
            ) => {
                self.balance.add(Reason::UnreadableFolders, 1);
                Ok(())
            }
            // A served folder that is one of git.
            Err(Error::KeptByGit { .. }) if start.folder.as_str().is_empty() => {
                self.balance.add(Reason::Repositories, 1);
                Ok(())
            }
            Err(other) => Err(other),
        }
    }

    fn walk(&mut self, mut walk: Walk, start: &Start) -> Result<()> {
        let mut path = start.before.clone().into_bytes();
        // What the calls before have counted.
        let mut counted = LeftOut::default();
        // Whether an entry behind the cursor was met, and whether the last one was a folder.
        let (mut is_behind, mut is_folder) = (false, false);
        loop {
            let entry = match walk.next_step() {
                Ok(Some(WalkStep::Entry(entry))) => entry,
                Ok(Some(WalkStep::Leave(_))) => continue,
                Ok(None) => break,
                Err(Error::TimedOut) => {
                    self.stopped = true;
                    self.balance.add_unseen();
                    break;
                }
                Err(other) => return Err(other),
            };
            path.truncate(start.before.len());
            path.extend_from_slice(walk.path_from_start());
            if self.is_passed(&path, entry.kind) {
                counted = walk.left_out();
                if !switches::is_off("search-passed") {
                    walk.skip_folder();
                }
                continue;
            }
            is_folder = entry.kind == EntryKind::Folder;
            is_behind |= !(is_folder && self.holds_cursor(&path));
            match entry.kind {
                EntryKind::Folder => {}
                EntryKind::Special => self.balance.add(Reason::Special, 1),
                kind => self.meet(&walk, &path, kind == EntryKind::Link),
            }
        }
        self.take_late();
        if self.has_failed {
            walk.check_answers()?;
        }
        if is_behind {
            // Files beside a folder may come before what is in it.
            path.extend(is_folder.then_some(b'/'));
            self.met = Some(Place { key: 0, path });
        }
        self.balance.add_walk(&walk.left_out().combined(counted, usize::saturating_sub));
        Ok(())
    }

    /// Whether an entry, with all that is in it, was met by the calls before.
    fn is_passed(&self, path: &[u8], kind: EntryKind) -> bool {
        let Some(after) = self.after.as_ref().filter(|_| self.sort == Sort::Path) else { return false };
        if kind != EntryKind::Folder {
            return self.was_shown(0, path);
        }
        !self.holds_cursor(path) && path.iter().chain(b"/").lt(&after.path)
    }

    /// Whether the calls before ended in the folder at `path`.
    fn holds_cursor(&self, path: &[u8]) -> bool {
        let after = self.after.as_ref().and_then(|after| after.path.strip_prefix(path));
        after.is_some_and(|rest| rest.starts_with(b"/"))
    }

    /// Whether a file of this place was shown by the calls before.
    fn was_shown(&self, key: i128, path: &[u8]) -> bool {
        self.after.as_ref().is_some_and(|after| after.cmp_to(key, path).is_ge())
    }

    /// Meets a file, or a link that may lead to one.
    fn meet(&mut self, walk: &Walk, path: &[u8], is_link: bool) {
        let target = if is_link { walk.stat_of_target() } else { None };
        if is_link && !target.as_ref().is_some_and(|stat| EntryKind::of_mode(stat.st_mode) == EntryKind::File)
        {
            self.balance.add(Reason::Links, 1);
            return;
        }
        self.seen += 1;
        self.control.progress(self.seen, None);
        let below = shown(walk.path_from_start());
        if !self.globs.iter().any(|glob| glob.matches(&below)) {
            return;
        }
        if self.sort == Sort::Path {
            return self.take(0, path);
        }
        match target.map(|stat| Ok(Some(stat))).or_else(|| self.late.now(walk)) {
            Some(stat) => self.take_stat(path, stat),
            None if self.late.keep(walk, path.to_vec()) => self.take_late(),
            None => {}
        }
    }

    /// Takes the files whose states were not asked for yet.
    fn take_late(&mut self) {
        for (path, stat) in self.late.take() {
            self.take_stat(&path, stat);
        }
    }

    /// Takes a file that matches, unless it is gone.
    fn take_stat(&mut self, path: &[u8], stat: StatResult) {
        match stat {
            Ok(None) => {}
            Err(_) => {
                self.has_failed = true;
                if !switches::is_off("glob-gone") {
                    self.balance.add(Reason::Unreadable, 1);
                }
            }
            Ok(Some(stat)) if self.sort == Sort::Size => self.take(i128::from(stat.st_size), path),
            Ok(Some(stat)) => {
                let nanoseconds = i128::from(stat.st_mtime) * 1_000_000_000 + i128::from(stat.st_mtime_nsec);
                self.take(nanoseconds, path);
            }
        }
    }

    /// Takes a file that matches and has this key in the order.
    fn take(&mut self, key: i128, path: &[u8]) {
        self.matching += 1;
        self.state = self.state.wrapping_add(state_of_file(key, path));
        if !self.was_shown(key, path) {
            let place = || Place { key, path: path.to_vec() };
            self.best.offer(|last| last.cmp_to(key, path).is_lt(), place);
        }
    }

    /// Whether it came to nothing behind the cursor.
    pub(super) fn has_met_nothing(&self) -> bool {
        self.met.is_none() && self.best.total() == 0
    }

    /// What was seen and left out.
    pub(super) fn balance_line(&self) -> String {
        let behind = match (self.sort, &self.after) {
            (Sort::Path, Some(_)) => "behind the cursor ",
            _ => "",
        };
        let seen = format!("{behind}{} seen, {} match", several(self.seen, "file"), self.matching);
        self.balance.line(&match self.stopped {
            true => format!("{seen} before the time was up"),
            false => seen,
        })
    }
}
