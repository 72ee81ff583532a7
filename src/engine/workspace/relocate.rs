//! Moves and copies entries (contract 13). Each is refused rather than replace or remove what was not named.
//!
//! Calls that concern two paths queue for them in the order of the paths, so that two of them never wait for each other.

use std::io;
use std::path::Path;

use super::change::ChangeOptions;
use super::found::{Found, Freshness, Want};
use super::job::Operation;
use super::write::Stopped;
use super::{ATTEMPTS, Workspace};
use folder::fs::atomic::{AtomicFile, Durability, ReplaceError, Replaces, flush_directory, open_to_flush};
use folder::fs::lock::LockTurn;
use folder::fs::lost::in_doubt;
use folder::fs::rename::{Renamed, rename_to_free};
use folder::fs::resolve::{ResolvedPath, file_type};
use folder::fs::version::{FileStamp, identity};
use folder::fs::view::OpenFile;
use folder::fs::{failpoint, remove};
use folder::{Control, Error, FilePath, Occupant, Result};
use sys::fd::{AsFd, OwnedFd};
use sys::fs::FileType;
use sys::io::Errno;

impl Workspace {
    /// Moves the entry at `source`, which may be a link, to `target`, which must not exist.
    pub fn move_entry(
        &self,
        source: &FilePath,
        target: &FilePath,
        options: &ChangeOptions,
        control: &Control,
    ) -> Result<()> {
        self.check_not_read_only(source)?;
        let from = self.find_to_take(source, Want::Link, control)?;
        let to = self.find_free(target, (&from, source))?;
        if is_same_or_within(&to, target, &from, source) {
            return Err(Error::InvalidArguments {
                at: "destination".into(),
                problem: "a folder cannot be moved into itself; give a path outside of it".into(),
            });
        }
        let to_place = (to.number, to.real_path(target).to_owned());
        self.check_leads_on((&from, source), &to_place, "destination", |place| Some(place.clone()))?;
        self.check_moves_nothing_excluded((&from, source), (&to, target), control)?;
        if self.recorded_for(control).is_some() {
            let (source, target) = (source.in_folder(from.number), target.in_folder(to.number));
            let operation = Operation::Move { path: source.clone(), to: target };
            return self.name_recorded(&source, operation, options, control).map(drop);
        }
        let _turns = self.take_two_turns((&from.place, source), (&to.place, target), control)?;
        let _lock = self.lock_entry(&from, source, options, control)?;
        self.check_still_there(source, &from)?;
        self.folders.check_still_leads_to(target, &to)?;
        let folders = self.open_folders(source, [&from.place, &to.place])?;
        control.begin_commit()?;
        match rename_to_free(&from.place, &to.place).inspect_err(|_| control.undo_commit()) {
            Ok(Renamed::Moved) => {}
            Ok(Renamed::SourceKept) => {
                flush(&folders)?;
                return Err(source_kept(source, target));
            }
            Ok(Renamed::Unknown(errno)) => {
                return Err(Error::WriteFailed { source: in_doubt(&errno.into()) });
            }
            Err(Errno::EXIST) => return Err(Error::exists(target.sent())),
            Err(Errno::XDEV) => {
                let problem =
                    "source and destination are on different file systems; use copy_file and delete_file";
                return Err(Error::InvalidArguments { at: "destination".into(), problem: problem.into() });
            }
            Err(errno) => return Err(Error::write_in_folder(source.sent(), in_use(errno))),
        }
        flush(&folders)
    }

    /// Copies the file at `source`, of any size, to `target`, which must not exist.
    pub fn copy_file(
        &self,
        source: &FilePath,
        target: &FilePath,
        options: &ChangeOptions,
        control: &Control,
    ) -> Result<()> {
        self.check_not_read_only(target)?;
        for _ in 0..ATTEMPTS {
            control.check()?;
            let from = self.find(source, control)?;
            let to = self.find_free(target, (&from, source))?;
            if self.recorded_for(control).is_some() {
                let (source, target) = (source.in_folder(from.number), target.in_folder(to.number));
                let operation = Operation::Copy { path: source.clone(), to: target };
                return self.name_recorded(&source, operation, options, control).map(drop);
            }
            let opened = self.open_place(&from.place, source.sent(), control)?;
            let Some(file) = opened else { continue };
            self.check_version(&file, source, options, control)?;
            // A write that is running already would not show in the file's times.
            if !switches::is_off("copy-waits") && self.before_version(&file, control)?.is_none() {
                continue;
            }
            let until = control.lock_deadline();
            let _turn = self.take_turn(None, &to.place, target.sent(), until, control)?;
            self.cleared.clear_once(&to.place.dir, &self.mounts);
            match self.write_copy((&file, source), (&to, target), control) {
                Ok(()) => return Ok(()),
                Err(stopped) if stopped.lost_its_folder() => {}
                Err(Stopped::Failed(ReplaceError::Exists)) => {
                    return Err(Error::exists(target.sent()));
                }
                Err(stopped) => {
                    control.check()?;
                    return Err(stopped.into_error(target.sent()));
                }
            }
        }
        Err(Error::Changed { name: source.sent().into() })
    }

    fn write_copy(
        &self,
        (file, source): (&OpenFile, &FilePath),
        (to, target): (&Found, &FilePath),
        control: &Control,
    ) -> Result<(), Stopped> {
        let mode = sys::fs::mode(file.stat().st_mode & 0o777).difference(self.umask);
        let mut new = AtomicFile::create(&to.place.dir).map_err(ReplaceError::from)?;
        // The caller tells why the operation was stopped.
        let check = |copied| {
            control.progress(copied, Some(file.len_bytes() as u64));
            control.check().map_err(|_| io::Error::other("stopped"))
        };
        let source_unchanged = || match file.is_unchanged() {
            Ok(true) => Ok(()),
            Ok(false) => Err(Stopped::Refused(Error::Changed { name: source.sent().into() })),
            Err(error) => Err(Stopped::Refused(Error::read(source.sent(), error))),
        };
        if let Err(error) = new.copy_from(file, check) {
            source_unchanged()?;
            return Err(ReplaceError::from(error).into());
        }
        let commit = || {
            source_unchanged()?;
            self.folders.check_still_leads_to(target, to).map_err(Stopped::Refused)?;
            control.begin_commit().map_err(Stopped::Refused)
        };
        let copied = new.commit(&to.place, &Replaces::Nothing(mode), self.options.durability, commit);
        copied.map(|_| ()).map_err(|stopped: Stopped| stopped.undo_commit(control))
    }

    /// Refuses to move a folder if that would uncover or create an excluded path.
    fn check_moves_nothing_excluded(
        &self,
        (from, source): (&Found, &FilePath),
        (to, target): (&Found, &FilePath),
        control: &Control,
    ) -> Result<()> {
        if self.folders.excludes().is_empty() || !from.is_directory() {
            return Ok(());
        }
        if self.folders.hides_new(target, to, true) {
            return Err(Error::Excluded { name: target.sent().into() });
        }
        self.check_uncovers_nothing((from, source), from.real_path(source), to.real_path(target), control)
    }

    /// Refuses to move a folder from the path `base` to `new_base` if something in it is excluded at one of them.
    pub(super) fn check_uncovers_nothing(
        &self,
        (folder, path): (&Found, &FilePath),
        base: &Path,
        new_base: &Path,
        control: &Control,
    ) -> Result<()> {
        let opened = folder.place.open_folder();
        let opened = opened.map_err(|refusal| super::found::refused(path.sent(), refusal))?;
        remove::check_nothing_excluded(opened.as_fd(), base, new_base, self.folders.excludes(), control)
            .map_err(|problem| refused(path, problem))
    }

    /// Finds an entry that may be moved away or deleted.
    pub(super) fn find_to_take(&self, path: &FilePath, want: Want, control: &Control) -> Result<Found> {
        let find = || {
            let found = self.folders.find(path, want, Freshness::Now);
            found.map_err(|error| self.with_folder_above(error, path))
        };
        let mut found = find()?;
        if self.has_put_back(&found, path) {
            found = find()?;
        }
        if !found.exists() {
            return Err(self.not_found(&found, path, control));
        }
        self.check_taken(&found, path)?;
        Ok(found)
    }

    /// Checks that the entry `found` may be moved away or deleted.
    pub(super) fn check_taken(&self, found: &Found, path: &FilePath) -> Result<()> {
        if found.place.name == "." {
            return Err(Error::ServedFolder { name: path.sent().into() });
        }
        // What is taken away must not let the same path lead to another file.
        let paths =
            if switches::is_off("take-ambiguous") { Vec::new() } else { self.folders.all_at(path, found) };
        match paths.is_empty() {
            true => Ok(()),
            false => Err(Error::Ambiguous { name: path.sent().into(), paths }),
        }
    }

    /// Finds the place for the entry `from` at `source`, whose parents exist and which is free. A relative path is one in the served folder
    /// of the source.
    fn find_free(&self, path: &FilePath, (from, source): (&Found, &FilePath)) -> Result<Found> {
        let mut found = self.find_place(path, Want::Link)?;
        if !found.exists() && path.folder().is_none() && !switches::is_off("beside-source") {
            let beside = self.find_place(&path.in_folder(from.number), Want::Link);
            found = beside.map_err(|error| self.with_folder_elsewhere(error, path, from.number))?;
        }
        found.check_not_excluded(path)?;
        if found.exists() {
            let occupant = self.occupant((&found, path), (from, source));
            return Err(Error::Exists { name: path.sent().into(), occupant: Box::new(occupant) });
        }
        if path.names_folder() && !from.is_directory() {
            return Err(self.no_folder(path, source));
        }
        if !found.place.missing.is_empty() {
            return Err(self.no_parent(&found, path));
        }
        Ok(found)
    }

    /// What stands at `path`, where the entry `from` at `source` was to go.
    fn occupant(&self, (found, path): (&Found, &FilePath), (from, source): (&Found, &FilePath)) -> Occupant {
        let is_same_folder = found.number == from.number;
        if is_same_folder && found.real_path(path) == from.real_path(source) {
            return Occupant::Source;
        }
        if let Some(elsewhere) = self.elsewhere_than(path, from.number, found.number, found.is_directory()) {
            return elsewhere;
        }
        match Path::new(source.sent()).file_name() {
            Some(name) if found.is_directory() => {
                let inside = found.real_path(path).join(name);
                let is_there = is_same_folder && inside == from.real_path(source);
                let name = name.display().to_string();
                let is_free = || {
                    let below = path.join(&name);
                    let found = self.find_place(&below, Want::Link);
                    found.is_ok_and(|found| !found.exists() && found.check_not_excluded(&below).is_ok())
                };
                let inside = (!is_there).then(|| self::inside(path, &name));
                Occupant::Folder { is_free: inside.is_some() && is_free(), inside }
            }
            _ => Occupant::File { at: self.path_in(found.number, path) },
        }
    }

    /// What the served folder `there` has at the relative path of a destination, which is beside its source in the folder `source`.
    /// `None`: it is in the same one, or the path is absolute.
    pub(super) fn elsewhere_than(
        &self,
        path: &FilePath,
        source: usize,
        there: usize,
        is_folder: bool,
    ) -> Option<Occupant> {
        if source == there || path.folder().is_some() {
            return None;
        }
        let [there, beside] = [there, source].map(|number| self.folders.absolute(number, path.as_str()));
        Some(Occupant::Elsewhere { there, beside, is_folder })
    }

    /// Queues for both paths, in the order of their keys.
    fn take_two_turns(
        &self,
        one: (&ResolvedPath, &FilePath),
        other: (&ResolvedPath, &FilePath),
        control: &Control,
    ) -> Result<[Option<LockTurn<'_>>; 2]> {
        let key = |place: &ResolvedPath| {
            sys::fs::fstat(&place.dir).map(|dir| (dir.st_dev, dir.st_ino, place.name.clone()))
        };
        let (first, second) = if key(one.0).ok() <= key(other.0).ok() { (one, other) } else { (other, one) };
        let turn = |(place, path): (&ResolvedPath, &FilePath)| {
            self.take_turn(None, place, path.sent(), control.lock_deadline(), control)
        };
        let held = turn(first)?;
        if key(first.0).ok() == key(second.0).ok() {
            return Ok([Some(held), None]);
        }
        Ok([Some(held), Some(turn(second)?)])
    }

    /// Locks a regular file of any size against edits of other processes, and checks its version.
    pub(super) fn lock_entry(
        &self,
        found: &Found,
        path: &FilePath,
        options: &ChangeOptions,
        control: &Control,
    ) -> Result<Option<folder::fs::lock::PathLock>> {
        if found.place.stat.as_ref().map(file_type) != Some(FileType::RegularFile) {
            // Only a file has a version, so this is not what the client has read.
            return match options.expected {
                Some(expected) => {
                    Err(Error::OtherVersion { name: path.sent().into(), expected, actual: None })
                }
                None => Ok(None),
            };
        }
        let until = control.lock_deadline();
        let any_size = !switches::is_off("move-any-size");
        let Some((lock, file)) = self.lock_file(found, path, any_size, until, control)? else {
            return Err(Error::Changed { name: path.sent().into() });
        };
        self.check_version(&file, path, options, control)?;
        Ok(Some(lock))
    }

    /// Checks that `path` still leads to the entry that was found.
    pub(super) fn check_still_there(&self, path: &FilePath, found: &Found) -> Result<()> {
        let now = found.place.restat().map_err(|errno| Error::read(path.sent(), errno))?;
        let same = match (&now, &found.place.stat) {
            // The times of a folder change with its entries.
            (Some(now), Some(then)) if found.is_directory() => identity(now) == identity(then),
            (Some(now), Some(then)) => FileStamp::of(now) == FileStamp::of(then),
            _ => false,
        };
        if !same {
            return Err(Error::Changed { name: path.sent().into() });
        }
        self.folders.check_still_leads_to(path, found)
    }

    /// Opens the folders of these places for [`flush`]. Before the change, so that after it only the flush can fail. None if
    /// nothing is flushed.
    pub(super) fn open_folders<'p>(
        &self,
        path: &FilePath,
        places: impl IntoIterator<Item = &'p ResolvedPath>,
    ) -> Result<Vec<OwnedFd>> {
        if self.options.durability == Durability::None {
            return Ok(Vec::new());
        }
        let opened = places.into_iter().map(open_to_flush).collect::<io::Result<_>>();
        opened.map_err(|error| Error::write_in_folder(path.sent(), error))
    }
}

/// Flushes folders in which something was changed, so that the change survives a loss of power.
pub(super) fn flush<'f>(folders: impl IntoIterator<Item = &'f OwnedFd>) -> Result<()> {
    failpoint::taken()
        .and_then(|()| folders.into_iter().try_for_each(flush_directory))
        .map_err(|source| Error::WriteFailed { source })
}

/// The system's error for an entry that cannot get another name or none: with the usual reason, if the system says only that it is busy.
pub(super) fn in_use(errno: Errno) -> io::Error {
    let source = io::Error::from(errno);
    match errno {
        Errno::BUSY => io::Error::other(format!(
            "{source}: it is a mount point, or another program holds it in place; it can be moved or deleted once it is unmounted"
        )),
        _ => source,
    }
}

/// The error for a move during which another program changed an end of it.
fn source_kept(source: &FilePath, target: &FilePath) -> Error {
    let (from, to) = (source.sent(), target.sent());
    let problem = format!(
        "it was moved to '{to}', but another program has put something else at one of the paths meanwhile, so '{from}' \
         was not removed"
    );
    Error::WriteFailed { source: io::Error::other(problem) }
}

/// The path that an entry of this name would have in `folder`, as a client writes it.
pub(super) fn inside(folder: &FilePath, name: &str) -> String {
    match folder.sent().trim_end_matches('/') {
        "" | "." => name.to_owned(),
        folder => format!("{folder}/{name}"),
    }
}

/// The error for a tree that must not be removed or moved.
pub(super) fn refused(path: &FilePath, problem: remove::Refused) -> Error {
    match problem {
        remove::Refused::Git => Error::GitFolder { name: path.sent().into() },
        remove::Refused::Protected => Error::HoldsKept { name: path.sent().into() },
        remove::Refused::Failed(errno) => Error::WriteFailed { source: in_use(errno) },
        remove::Refused::Unread(errno) => Error::ReadFailed { source: errno.into() },
        remove::Refused::Stopped(error) => error,
    }
}

/// Whether the place `to` is the entry `from`, or inside it.
fn is_same_or_within(to: &Found, target: &FilePath, from: &Found, source: &FilePath) -> bool {
    let (to_path, from_path): (&Path, &Path) = (to.real_path(target), from.real_path(source));
    to.number == from.number && to_path.starts_with(from_path)
}
