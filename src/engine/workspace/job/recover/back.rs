//! Takes back what a job has done, as the journal has it: the last step first, contents behind all steps.

use std::collections::HashSet;
use std::io::{self, Write};
use std::sync::Arc;

use super::{Left, Recovery};
use crate::workspace::job::take_back::{is_of_theirs, put, rename_back, theirs};
use folder::fs::atomic::{AtomicFile, Replaces};
use folder::fs::resolve::ResolvedPath;
use folder::fs::version::FileStamp;
use folder::fs::view::OpenFile;
use journal::{EntryId, FileChange, KeptEntry, Place, Rest, Step};
use sys::fs::{AtFlags, Dir};
use text::shown::shown_line;

impl<'r> Recovery<'r> {
    /// Takes everything back that can be. `is_all_done`: nothing is asked whether it was carried out. `beside`: [`Self::inodes_beside`].
    pub(super) fn take_back(&self, is_all_done: bool, beside: &HashSet<u64>) -> Left<'r> {
        let (files, steps) = (&self.change.files[..], &self.change.steps[..]);
        let steps_done = if is_all_done { steps.len() } else { self.steps_done() };
        let files_done = if is_all_done || steps_done > 0 { files.len() } else { self.files_done() };
        let (mut rest, mut another_attempt) = (Rest::of(self.change), false);
        for (number, step) in steps[..steps_done].iter().enumerate().rev() {
            let behind = self.behind(number);
            match behind.take_back_step(step, &rest) {
                Ok(()) => rest.drop_step(number),
                Err(error) => {
                    let is_hidden = matches!(step, Step::Deleted { at, hidden, .. } if behind.hidden(&rest.made(at), hidden).is_some());
                    another_attempt |= self.tell(step.place(), &error, is_hidden);
                    rest.keep_step(number);
                }
            }
        }
        for (number, file) in files.iter().enumerate().rev() {
            let Err(error) = self.take_back_content(file, &rest) else { continue };
            if number >= files_done || !is_all_done && beside.contains(&file.id.1) {
                // Another program has changed it, and the job has not come to it.
                continue;
            }
            let is_hidden = self.hidden(&rest.made(&file.from), &file.hidden).is_some();
            another_attempt |= self.tell(&file.from, &error, is_hidden);
            rest.keep_file(number);
        }
        Left { rest, another_attempt }
    }

    /// Logs what is not taken back. Returns whether another attempt may succeed, or what it hides is nowhere else.
    fn tell(&self, place: &Place, error: &io::Error, is_hidden: bool) -> bool {
        let path = shown_line(&place.path);
        tracing::warn!("--journal: {path}: an unfinished change is not taken back: {error}");
        !is_of_theirs(error) || is_hidden && !self.change.not_undoable.is_empty()
    }

    fn take_back_step(&self, step: &Step, rest: &Rest) -> io::Result<()> {
        let is_needed = || rest.needs(step.place());
        match step {
            Step::Folder { at } => match self.there(&rest.now(at))? {
                _ if is_needed() => Err(theirs()),
                Some(place) if is_empty(&place) => unlink(&place, AtFlags::REMOVEDIR),
                // What others have put into it stays, and that is no conflict.
                _ => Ok(()),
            },
            Step::New { after, id, .. } => {
                self.unmake(step, rest, |place| Ok(is_entry(place, *id) && self.content(place)?.1 == *after))
            }
            Step::Link { at, target } => {
                let now = rest.now(at);
                self.unmake(step, rest, |_| Ok(self.target(&now).is_some_and(|now| now == *target)))
            }
            Step::Moved { from, to, id } => {
                let (from, to) = (rest.made(from), rest.now(to));
                match (self.there(&to)?, self.free(&from)?) {
                    (Some(now), to) if *id == (0, 0) || is_entry(&now, *id) => rename_back(&now, &to),
                    (_, place) if *id != (0, 0) && is_entry(&place, *id) => Ok(()),
                    _ => Err(theirs()),
                }
            }
            Step::Deleted { at, entries, hidden, id } => {
                let at = rest.made(at);
                let place = self.free(&at)?;
                match (self.hidden(&at, hidden), &entries[..]) {
                    (Some(hidden), _) => rename_back(&hidden, &place),
                    (None, _) if *id != (0, 0) && is_entry(&place, *id) => Ok(()),
                    // Another server has taken it for the temporary file of a dead one.
                    (None, [(_, KeptEntry::File { mode, content })]) => make(&place, *mode, content),
                    (None, _) => Err(theirs()),
                }
            }
        }
    }

    /// Removes what a step has made, if it `is_ours` still. One that is gone is not in the way.
    fn unmake(
        &self,
        step: &Step,
        rest: &Rest,
        is_ours: impl Fn(&ResolvedPath) -> io::Result<bool>,
    ) -> io::Result<()> {
        match self.there(&rest.now(step.place()))? {
            _ if rest.needs(step.place()) => Err(theirs()),
            None => Ok(()),
            Some(place) if is_ours(&place)? => unlink(&place, AtFlags::empty()),
            Some(_) => Err(theirs()),
        }
    }

    /// Puts the old content of a file in place again, if the new one is there, or what another program has made of it.
    fn take_back_content(&self, file: &FileChange, rest: &Rest) -> io::Result<()> {
        let now = rest.now(&file.from);
        // Before the temporary files are written, only the places are known.
        let is_written = file.id != EntryId::default();
        let Some(place) = self.there(&now)?.filter(|_| is_written && !self.is_old(file)) else {
            return Ok(());
        };
        let (open, hash) = self.content(&place)?;
        if hash == file.before {
            return Ok(());
        }
        let is_same = place.restat()?.is_some_and(|stat| FileStamp::of(&stat).same_content(open.stamp()));
        let hidden =
            || self.hidden(&now, &file.hidden).or_else(|| self.hidden(&rest.made(&file.from), &file.hidden));
        if let Some(hidden) = Some(()).filter(|()| hash == file.after && is_same).and_then(|()| hidden()) {
            return Ok(sys::fs::renameat(&hidden.dir, &hidden.name, &place.dir, &place.name)?);
        }
        if file.hunks.is_empty() {
            // Its old content is not in the journal.
            return Err(theirs());
        }
        let view = open.clone().view(0..open.len_bytes())?;
        let plan = journal::undo_plan(file, view.bytes(), &[]).map_err(|_| theirs())?;
        let mut old = AtomicFile::create(&place.dir)?;
        plan.write_to(view.bytes(), &mut old)?;
        put(old, &place, &Replaces::File(&open))
    }

    /// The entry at a place, if there is one.
    fn there(&self, place: &Place) -> io::Result<Option<ResolvedPath>> {
        match self.find(place) {
            Ok(found) if found.exists() => Ok(Some(found.place)),
            Ok(_) => Ok(None),
            // A folder of it is no folder any more.
            Err(error) if is_of_theirs(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// A place in a folder that is there, for an entry.
    fn free(&self, place: &Place) -> io::Result<ResolvedPath> {
        let place = self.find(place)?.place;
        if place.missing.is_empty() { Ok(place) } else { Err(theirs()) }
    }

    /// The file at a place, and the hash of its content.
    pub(super) fn content(&self, place: &ResolvedPath) -> io::Result<(Arc<OpenFile>, u64)> {
        let file = Arc::new(place.open().ok().flatten().ok_or_else(theirs)?);
        let view = file.clone().view(0..file.len_bytes())?;
        let hash = journal::hash(view.bytes());
        Ok((file, hash))
    }
}

/// Whether an entry has this inode. Devices can have other numbers after a start of the machine.
fn is_entry(place: &ResolvedPath, (_, inode): EntryId) -> bool {
    place.stat.as_ref().is_some_and(|stat| stat.st_ino == inode)
}

fn unlink(place: &ResolvedPath, flags: AtFlags) -> io::Result<()> {
    Ok(sys::fs::unlinkat(&place.dir, &place.name, flags)?)
}

/// Makes a file.
fn make(place: &ResolvedPath, mode: u32, content: &[u8]) -> io::Result<()> {
    let mut file = AtomicFile::create(&place.dir)?;
    file.write_all(content)?;
    put(file, place, &Replaces::Nothing(sys::fs::mode(mode)))
}

fn is_empty(place: &ResolvedPath) -> bool {
    let Ok(folder) = place.open_folder() else { return false };
    let Ok(entries) = Dir::read_from(&folder) else { return false };
    let is_other = |entry: sys::io::Result<sys::fs::DirEntry>| {
        entry.is_ok_and(|entry| !matches!(entry.file_name().to_bytes(), b"." | b".."))
    };
    !entries.into_iter().any(is_other)
}
