//! Finds entries by their paths. What is said of those that are missing stands in `missing.rs`.

use std::thread;

use super::Workspace;
use super::found::{Found, Freshness, Want};
use folder::fs::leftovers::put_back;
use folder::fs::resolve::{BETWEEN_LOOKS, LOOKS_AGAIN};
use folder::{Control, Error, FilePath, Result};

impl Workspace {
    /// Finds an existing file for a read.
    pub(super) fn find(&self, path: &FilePath, control: &Control) -> Result<Found> {
        self.find_entry(path, Want::File, control)
    }

    /// Finds an existing entry.
    pub(super) fn find_entry(&self, path: &FilePath, want: Want, control: &Control) -> Result<Found> {
        let mut found = self.find_recent(path, want)?;
        if self.has_put_back(&found, path) {
            found = self.find_recent(path, want)?;
        }
        if found.exists() {
            return Ok(found);
        }
        let similar = self.similar_names(&found, path);
        let is_listed = similar.iter().any(|near| near == path.as_str());
        if !switches::is_off("find-again") && is_listed && !self.folders.root_of(&found).is_local() {
            // See `resolve::entry`.
            for _ in 0..LOOKS_AGAIN {
                thread::sleep(BETWEEN_LOOKS);
                let again = self.find_recent(path, want)?;
                if again.exists() {
                    return Ok(again);
                }
            }
        }
        Err(self.not_found_among(similar, &found, path, control))
    }

    /// Finds an entry that may be new. A file where a folder of its path must be is an error that names the file.
    pub(super) fn find_place(&self, path: &FilePath, want: Want) -> Result<Found> {
        let found = self.folders.find(path, want, Freshness::Now);
        let found = found.map_err(|error| match (self.file_above(path), error) {
            (Some(name), Error::NotFound { .. }) => Error::NotAFolder { name, folder: None },
            (_, error) => error,
        })?;
        if !found.exists() && !found.excluded && !switches::is_off("foreign-new") {
            self.folders.check_new(path, &found)?;
        }
        Ok(found)
    }

    /// Whether the name of `path`, where nothing is, is one that may be created.
    pub fn may_be_created(&self, path: &FilePath) -> bool {
        self.refusal_to_create(path).is_none()
    }

    /// Why the name of `path`, where nothing is, must not be created.
    pub fn refusal_to_create(&self, path: &FilePath) -> Option<Error> {
        self.find_place(path, Want::File).err().filter(|error| matches!(error, Error::InvalidName { .. }))
    }

    /// Finds an entry that need not exist. A file where a folder must be is an error that names the folder above.
    pub(super) fn find_recent(&self, path: &FilePath, want: Want) -> Result<Found> {
        self.folders.find(path, want, Freshness::Recent).map_err(|error| self.with_folder_above(error, path))
    }

    /// The error for a missing entry, with the folder above it. A file above it is what may be meant.
    pub(super) fn with_folder_above(&self, error: Error, path: &FilePath) -> Error {
        match error {
            Error::NotFound(mut missing) if path.is_in_tree() => {
                if missing.similar.is_empty() {
                    missing.similar.extend(self.file_above(path));
                }
                missing.above = self.folder_above(path);
                Error::NotFound(missing)
            }
            error => error,
        }
    }

    /// Whether the missing `found` may be there now, because what a killed writer had set aside has its name again.
    pub(super) fn has_put_back(&self, found: &Found, path: &FilePath) -> bool {
        let may_be_aside = !found.exists() && found.place.missing.is_empty() && !self.options.read_only;
        may_be_aside && found.check_writable(path).is_ok() && put_back(&found.place.dir, &self.mounts)
    }
}
