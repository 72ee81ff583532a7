//! Creates several new files, all of them or none (contract 16).
//!
//! All contents are written to temporary files first, so that what usually fails does so before any file is in place. Then
//! each is renamed to its path, which never replaces a file. If one cannot be, those before it are removed again. A crash
//! between the renames can leave some of them.

use std::io::{self, Write};
use std::mem;

use super::Workspace;
use super::found::{Found, Want};
use super::write::Stopped;
use folder::fs::atomic::{AtomicFile, ReplaceError, Replaces};
use folder::fs::parents::Parents;
use folder::fs::resolve::ResolvedPath;
use folder::fs::version::identity;
use folder::{Control, Error, FilePath, Result};
use sys::fs::{AtFlags, Mode};
use sys::io::Errno;

/// A file to create.
#[derive(Debug)]
pub struct NewFile<'c> {
    /// Its path.
    pub path: FilePath,
    /// Its whole content.
    pub content: &'c [u8],
}

/// A file whose content is in a temporary file.
struct Staged<'f> {
    path: &'f FilePath,
    found: Found,
    new: AtomicFile,
}

/// Device and inode of a file.
type FileId = (u64, u64);

/// What was made so far. Dropping it removes that again.
#[derive(Default)]
struct Made {
    parents: Vec<Parents>,
    /// Files in place.
    files: Vec<(ResolvedPath, FileId)>,
}

impl Workspace {
    /// Creates these files, all of them or none, and their missing folders. A file that exists is an error.
    pub fn create_files(&self, files: &[NewFile], control: &Control) -> Result<()> {
        for file in files {
            self.check_not_read_only(&file.path)?;
            let (size, max) = (file.content.len() as u64, self.options.max_bytes);
            if size > max {
                return Err(Error::TooLarge { size, max, is_result: true });
            }
            self.find_new(&file.path)?;
        }
        let mut made = Made::default();
        let mut staged = Vec::new();
        for file in files {
            control.check()?;
            staged.push(self.stage(file, &mut made)?);
        }
        control.begin_commit()?;
        let mut rest = staged.into_iter();
        while let Some(staged) = rest.next() {
            let path = staged.path;
            if let Err(stopped) = self.put_in_place(staged, &mut made) {
                // Temporary files of the rest lie in the folders that are removed.
                drop(rest);
                if !made.undo() {
                    let left = "some of the files were made and could not be removed again: look before you send the call again";
                    return Err(Error::WriteFailed { source: io::Error::other(left) });
                }
                control.undo_commit();
                return Err(match stopped {
                    Stopped::Failed(ReplaceError::Exists) => Error::exists(path.sent()),
                    stopped => stopped.into_error(path.sent()),
                });
            }
        }
        made.keep();
        Ok(())
    }

    /// Finds the place for a file that must not exist. Its folders may be missing.
    fn find_new(&self, path: &FilePath) -> Result<Found> {
        let found = self.find_place(path, Want::Link)?;
        found.check_writable(path)?;
        if found.exists() {
            return Err(Error::exists(path.sent()));
        }
        Ok(found)
    }

    /// Creates the missing folders of a file, and writes its content to a temporary file there.
    fn stage<'f>(&self, file: &'f NewFile, made: &mut Made) -> Result<Staged<'f>> {
        let name = file.path.sent();
        let mut found = self.find_new(&file.path)?;
        self.check_locks(&found.place, name)?;
        if !found.place.missing.is_empty() {
            let parents = Parents::create(&found.place, self.new_folder_mode(), self.options.durability)
                .map_err(|error| Error::write_in_folder(name, error))?;
            made.parents.push(parents);
            found = self.find_new(&file.path)?;
            if !found.place.missing.is_empty() {
                return Err(Error::Changed { name: name.into() });
            }
            self.check_locks(&found.place, name)?;
        }
        self.cleared.clear_once(&found.place.dir, &self.mounts);
        let write = || {
            let mut new = AtomicFile::create(&found.place.dir)?;
            new.write_all(file.content)?;
            Ok(new)
        };
        let new = write().map_err(|error: io::Error| Error::write_in_folder(name, error))?;
        Ok(Staged { path: &file.path, found, new })
    }

    fn put_in_place(&self, staged: Staged, made: &mut Made) -> Result<(), Stopped> {
        let Staged { path, found, new } = staged;
        let id = new.id().map_err(ReplaceError::from)?;
        let mode = Mode::from_raw_mode(0o666).difference(self.umask);
        let still_there = || {
            // Files that were put in place before this one count, too.
            found.check_writable(path).map_err(Stopped::Refused)?;
            self.folders.check_still_leads_to(path, &found).map_err(Stopped::Refused)
        };
        let done = new.commit(&found.place, &Replaces::Nothing(mode), self.options.durability, still_there);
        if matches!(done, Ok(_) | Err(Stopped::Failed(ReplaceError::InPlace(_)))) {
            made.files.push((found.place, id));
        }
        done.map(|_| ())
    }
}

impl Made {
    /// Leaves everything in place.
    fn keep(mut self) {
        mem::take(&mut self.files);
        mem::take(&mut self.parents);
    }

    /// Removes everything. Returns whether all files are gone.
    fn undo(mut self) -> bool {
        self.remove()
    }

    fn remove(&mut self) -> bool {
        let mut are_gone = true;
        for (place, id) in self.files.drain(..).rev() {
            are_gone &= match place.restat() {
                // Another program may have put its own file there.
                Ok(now) if now.is_none_or(|now| identity(&now) != id) => true,
                Ok(_) => {
                    let removed = sys::fs::unlinkat(&place.dir, &place.name, AtFlags::empty());
                    matches!(removed, Ok(()) | Err(Errno::NOENT))
                }
                Err(_) => false,
            };
        }
        self.parents.drain(..).rev().for_each(Parents::remove);
        are_gone
    }
}

impl Drop for Made {
    fn drop(&mut self) {
        self.remove();
    }
}
