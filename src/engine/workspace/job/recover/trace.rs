//! How far a job of a dead server came, by the inodes of the files that take the new names, and by what is at its places.

use std::borrow::Cow;
use std::collections::HashSet;

use super::{Recovery, Unmoved};
use folder::fs::resolve::ResolvedPath;
use folder::fs::temporary;
use folder::fs::version::identity;
use journal::{FileChange, Place, Step};
use sys::fd::AsFd;
use sys::fs::{AtFlags, Dir, FileType, Mode, OFlags};

/// What tells whether a step was carried out.
#[derive(PartialEq, Eq)]
enum Trace {
    Done,
    NotDone,
    /// It was, if the one before it was.
    Perhaps,
}

impl<'r> Recovery<'r> {
    /// Whether it is a new content of one file, which is there.
    pub(super) fn is_done_by_one_rename(&self) -> bool {
        let [file] = &self.change.files[..] else { return false };
        let content = || self.content(&self.find(&file.at)?.place);
        self.change.steps.is_empty()
            && self.has(&file.at, file.id)
            && content().is_ok_and(|(_, hash)| hash == file.after)
    }

    /// The steps that were carried out: so many of the first ones.
    pub(super) fn steps_done(&self) -> usize {
        (0..self.change.steps.len()).rev().find(|number| self.is_done(*number)).map_or(0, |last| last + 1)
    }

    /// The folders that steps did not move.
    pub(super) fn unmoved_folders(&self) -> Vec<Unmoved<'r>> {
        let mut so_far = self.behind(0);
        let mut unmoved = Vec::new();
        for (number, step) in self.change.steps.iter().enumerate() {
            let Step::Moved { from, to, id } = step else { continue };
            so_far.steps = number;
            let stat = so_far.find(from).ok().and_then(|found| found.place.stat);
            let is_folder = stat.is_some_and(|stat| {
                stat.st_ino == id.1 && sys::fs::file_type(stat.st_mode) == FileType::Directory
            });
            if is_folder && !so_far.has(to, *id) {
                unmoved.push(Unmoved { number, from, to });
                so_far.unmoved = unmoved.iter().copied().collect();
            }
        }
        unmoved
    }

    /// Where the entry of a place is, as some folders above it may not have been moved.
    pub(super) fn unmoved_place<'p>(&self, place: &'p Place) -> Cow<'p, Place> {
        let mut now = Cow::Borrowed(place);
        for Unmoved { from, to, .. } in self.unmoved.iter().rev().filter(|one| one.number < self.steps) {
            let rest = now
                .path
                .strip_prefix(&to.path[..])
                .filter(|rest| now.root == to.root && rest.first() == Some(&b'/'));
            if let Some(rest) = rest {
                now = Cow::Owned(Place { root: from.root, path: [&from.path, rest].concat() });
            }
        }
        now
    }

    /// The files that were put in place, as far as the second names of those tell that were not: so many of the first ones.
    pub(super) fn files_done(&self) -> usize {
        let files = &self.change.files;
        files.iter().position(|file| self.is_old(file)).unwrap_or(files.len())
    }

    /// Whether the step of this number was carried out. Asked of the last ones first, as places are those right behind a step.
    fn is_done(&self, number: usize) -> bool {
        // What a step leaves no trace of counts where the one before it was carried out.
        let traces = self.change.steps[..=number].iter().enumerate().rev();
        let traces = traces.map(|(number, step)| self.behind(number).trace(step));
        for trace in traces {
            match trace {
                Trace::Done => return true,
                Trace::NotDone => return false,
                Trace::Perhaps => {}
            }
        }
        // Files have their new contents before all steps.
        self.change.files.last().is_none_or(|last| !self.is_old(last) && self.has(&last.from, last.id))
    }

    fn trace(&self, step: &Step) -> Trace {
        let is_there = |at| self.find(at).is_ok_and(|found| found.exists());
        let perhaps = |is_so| if is_so { Trace::Perhaps } else { Trace::NotDone };
        let surely = |is_so| if is_so { Trace::Done } else { Trace::NotDone };
        match step {
            Step::Folder { at } => perhaps(is_there(at)),
            Step::New { at, id, .. } => surely(self.has(at, *id)),
            Step::Link { at, target } => surely(self.target(at).is_some_and(|now| now == *target)),
            // A folder or link that the change has made itself.
            Step::Moved { from, to, id: (0, 0) } => perhaps(is_there(to) && !is_there(from)),
            Step::Moved { to, id, .. } => surely(self.has(to, *id)),
            Step::Deleted { at, hidden, .. } => match self.hidden(at, hidden) {
                Some(_) => Trace::Done,
                None => perhaps(!is_there(at)),
            },
        }
    }

    /// Whether the old file is at the place of a changed one, where no step is done.
    pub(super) fn is_old(&self, file: &FileChange) -> bool {
        let kept = self.hidden(&file.from, &file.hidden);
        let inode = |place: ResolvedPath| place.stat.map(|stat| stat.st_ino);
        kept.and_then(inode).is_some_and(|kept| self.has(&file.from, (0, kept)))
    }

    pub(super) fn target(&self, at: &journal::Place) -> Option<Vec<u8>> {
        let place = self.find(at).ok()?.place;
        sys::fs::readlinkat(&place.dir, &place.name, Vec::new()).ok().map(|target| target.into_bytes())
    }

    /// The inodes of the temporary files beside the files that it changes: what is one of them was not put in place.
    pub(super) fn inodes_beside(&self) -> HashSet<u64> {
        let (mut looked_at, mut inodes) = (HashSet::new(), HashSet::new());
        for found in self.change.files.iter().filter_map(|file| self.find(&file.from).ok()) {
            let dir = &found.place.dir;
            if !sys::fs::fstat(dir).is_ok_and(|stat| looked_at.insert(identity(&stat))) {
                continue;
            }
            // The handle may be opened with O_PATH.
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
            let opened = sys::fs::openat(dir, ".", flags, Mode::empty());
            let Ok(entries) = opened.and_then(|opened| Dir::read_from(opened.as_fd())) else { continue };
            let entries = entries.filter_map(|entry| entry.ok());
            for entry in entries.filter(|entry| temporary::is_temporary(entry.file_name().to_bytes())) {
                let stat = sys::fs::statat(dir, entry.file_name(), AtFlags::SYMLINK_NOFOLLOW);
                inodes.extend(stat.ok().map(|stat| stat.st_ino));
            }
        }
        inodes
    }
}
