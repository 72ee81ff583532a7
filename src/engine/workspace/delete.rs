//! Deletes entries (contract 13): a folder that is not empty only if that is asked for, and none with something in it that
//! must stay.

use std::io;
use std::time::Duration;

use super::Workspace;
use super::change::ChangeOptions;
use super::found::{Found, Want};
use super::job::{Deletion, Operation};
use super::relocate::{flush, in_use, refused};
use folder::fs::lost::{in_doubt, may_be_done};
use folder::fs::{file_system, remove};
use folder::{Control, Error, FilePath, Result};
use sys::fd::AsFd;
use sys::fs::AtFlags;
use sys::io::Errno;

/// How long it is looked whether everything in a folder may be removed, only to say so.
const LONGEST_LOOK: Duration = Duration::from_millis(250);

impl Workspace {
    /// Deletes the file, link or folder at `path`; a folder that is not empty only if `recursive` is set. Returns the
    /// number of entries removed.
    pub fn delete(
        &self,
        path: &FilePath,
        recursive: bool,
        options: &ChangeOptions,
        control: &Control,
    ) -> Result<u64> {
        self.check_not_read_only(path)?;
        let found = self.find_to_take(path, Want::Link, control)?;
        if self.recorded_for(control).is_some() {
            let path = path.in_folder(found.number);
            let only = if recursive { Deletion::Recursive } else { Deletion::Entry };
            let operation = Operation::Delete { path: path.clone(), only };
            return self.name_recorded(&path, operation, options, control);
        }
        let until = control.lock_deadline();
        let _turn = self.take_turn(None, &found.place, path.sent(), until, control)?;
        let _lock = self.lock_entry(&found, path, options, control)?;
        self.check_still_there(path, &found)?;
        let place = &found.place;
        let folders = self.open_folders(path, [place])?;
        control.begin_commit()?;
        let (mut removed, mut done) = (0, remove_entry(&found));
        // That the folder can be removed at all is known before anything in it is: the system tells other reasons first.
        if recursive && done.is_err_and(is_not_empty) {
            control.undo_commit();
            removed = self.delete_tree(&found, path, control)?;
            done = remove_entry(&found);
        }
        if let Err(errno) = done {
            if may_be_done(&errno.into(), file_system::is_local(&place.dir), &[Errno::NOENT]) {
                return Err(Error::WriteFailed { source: in_doubt(&errno.into()) });
            }
            if removed == 0 {
                control.undo_commit();
            }
            return Err(match errno {
                errno if is_not_empty(errno) => {
                    let all_may_go = removed == 0 && self.all_may_go(&found, path, control)?;
                    Error::NotEmpty { name: path.sent().into(), removed, all_may_go }
                }
                errno if removed > 0 => deleted_in_part(path, &remove::Refused::Failed(errno), removed),
                errno => Error::write(path.sent(), in_use(errno)),
            });
        }
        flush(&folders).map(|()| removed + 1)
    }

    /// Whether everything in the folder `found` may be removed, if that is soon known. An error: something in it must stay.
    fn all_may_go(&self, found: &Found, path: &FilePath, control: &Control) -> Result<bool> {
        let folder =
            found.place.open_folder().map_err(|refusal| super::found::refused(path.sent(), refusal))?;
        let excludes = self.folders.excludes();
        let guard = remove::Guard::new(folder.as_fd(), found.real_path(path), excludes, &self.mounts);
        match guard.and_then(|guard| guard.check_tree(&control.briefly(LONGEST_LOOK))) {
            Err(remove::Refused::Stopped(_)) => Ok(false),
            Err(problem) if !switches::is_off("delete-advice") => Err(refused(path, problem)),
            _ => Ok(true),
        }
    }

    /// Removes everything in the folder `found`, after a check that nothing in it is protected.
    fn delete_tree(&self, found: &Found, path: &FilePath, control: &Control) -> Result<u64> {
        let folder =
            found.place.open_folder().map_err(|refusal| super::found::refused(path.sent(), refusal))?;
        let (real, excludes) = (found.real_path(path), self.folders.excludes());
        let guard = remove::Guard::new(folder.as_fd(), real, excludes, &self.mounts)
            .map_err(|problem| refused(path, problem))?;
        guard.check_tree(control).map_err(|problem| refused(path, problem))?;
        // From the first removal on, the delete cannot be stopped.
        control.begin_commit()?;
        let mut removed = 0;
        match guard.remove_tree(&mut removed, control) {
            Ok(()) => Ok(removed),
            Err(remove::Refused::Failed(errno))
                if removed == 0 && may_be_done(&errno.into(), file_system::is_local(&folder), &[]) =>
            {
                Err(Error::WriteFailed { source: in_doubt(&errno.into()) })
            }
            Err(problem) if removed == 0 => {
                control.undo_commit();
                Err(refused(path, problem))
            }
            Err(problem) => Err(deleted_in_part(path, &problem, removed)),
        }
    }
}

/// Removes the entry itself: a folder must be empty.
fn remove_entry(found: &Found) -> Result<(), Errno> {
    let kind = if found.is_directory() { AtFlags::REMOVEDIR } else { AtFlags::empty() };
    sys::fs::unlinkat(&found.place.dir, &found.place.name, kind)
}

/// Of the removal of a folder: whether it failed because something is in it.
fn is_not_empty(errno: Errno) -> bool {
    matches!(errno, Errno::NOTEMPTY | Errno::EXIST)
}

/// The error for a folder that was deleted in part.
fn deleted_in_part(path: &FilePath, problem: &remove::Refused, removed: u64) -> Error {
    let reason = match problem {
        remove::Refused::Failed(errno) | remove::Refused::Unread(errno) => in_use(*errno).to_string(),
        remove::Refused::Git => "a .git has come into it meanwhile".into(),
        remove::Refused::Protected => "something that must stay has come into it meanwhile".into(),
        remove::Refused::Stopped(_) => "it was stopped".into(),
    };
    let name = path.sent();
    let problem = format!("{reason} ({removed} entries in '{name}' were deleted before)");
    Error::WriteFailed { source: io::Error::other(problem) }
}
