//! Folders as clients see them: walks, and what one entry is (contract 12, 13).

use std::io;
use std::path::{Path, PathBuf};

use super::found::{Found, Freshness, Want, refused};
use super::{ATTEMPTS, Workspace};
use folder::fs::parents::Parents;
use folder::fs::resolve::ResolvedPath;
use folder::{Control, EntryKind, Error, FilePath, Result, Walk, WalkOptions};
use sys::fs::{EntryFacts, Mode};
use sys::path::{IGNORES_CASE, usual};

/// What the system tells of one entry, links followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EntryInfo {
    /// What it is.
    pub kind: EntryKind,
    /// Size in bytes.
    pub size: u64,
    /// When it was created, in (rounded) milliseconds since 1970; `None` if the file system does not say.
    pub created_ms: Option<i64>,
    /// When its content was last changed, in milliseconds since 1970.
    pub modified_ms: i64,
    /// When it was last read, in milliseconds since 1970.
    pub accessed_ms: i64,
    /// Its type and permissions, as in stat(2).
    pub mode: u32,
}

impl Workspace {
    /// A walk through the folder at `path`.
    pub fn walk<'w>(
        &'w self,
        path: &FilePath,
        options: WalkOptions,
        control: &'w Control,
    ) -> Result<Walk<'w>> {
        let found = self.find_entry(path, Want::Entry, control)?;
        if !found.is_directory() {
            return Err(Error::not_a_folder(path.sent()));
        }
        let folder = found.place.open_folder().map_err(|refusal| refused(path.sent(), refusal))?;
        let real = found.real_path(path);
        let options = WalkOptions { cross_mounts: self.options.cross_mounts, ..options };
        let (root, excludes) = (found.folder.handle(), self.folders.excludes());
        let walk = Walk::new(root, folder, real, options, excludes, self.live(), control)?;
        Ok(self.clearing(walk))
    }

    /// The walk, which removes the temporary files of dead processes unless nothing may be written.
    pub(super) fn clearing<'w>(&'w self, walk: Walk<'w>) -> Walk<'w> {
        if self.options.read_only { walk } else { walk.clear_leftovers(&self.mounts) }
    }

    /// What is at `path`. If nothing is, the error names near paths.
    pub fn info_or_near(&self, path: &FilePath, control: &Control) -> Result<EntryInfo> {
        match self.info(path) {
            Err(Error::NotFound { .. }) => {
                self.find_entry(path, Want::Entry, control)?;
                self.info(path)
            }
            info => info,
        }
    }

    /// What is at `path`.
    pub fn info(&self, path: &FilePath) -> Result<EntryInfo> {
        let found = self.folders.find(path, Want::Entry, Freshness::Recent)?;
        if !found.exists() {
            return Err(self.nothing_at(path));
        }
        let facts = sys::fs::entry_facts(&found.place.dir, &found.place.name)
            .map_err(|errno| Error::read(path.sent(), errno))?;
        Ok(entry_info(facts))
    }

    /// The numbers of the served folders that have a relative `path`, in order: the first is the one that it leads to. Of the others,
    /// those of this machine. `takes_links`: a link at its end is an entry itself.
    pub fn folders_with(&self, path: &FilePath, takes_links: bool) -> Vec<usize> {
        self.folders.holders(path, if takes_links { Want::Link } else { Want::Entry })
    }

    /// The paths of the folders that are gone, while others are served.
    pub fn gone_folders(&self) -> Vec<String> {
        self.folders.gone().into_iter().map(|number| self.folders.absolute(number, "")).collect()
    }

    /// The absolute path of what `path` leads to, links followed. Of a missing entry, the path that it would have.
    pub fn absolute(&self, path: &FilePath) -> Result<PathBuf> {
        // To join an empty path would add a slash.
        let joined = |root: &Path, real: &Path| {
            usual(&if real.as_os_str().is_empty() { root.into() } else { root.join(real) })
        };
        match (self.find_recent(path, Want::Entry), path.folder()) {
            (Err(Error::OneFolderGone { .. } | Error::KeptByGit { .. }), Some(number)) => {
                Ok(joined(self.folders.roots()[number].path(), Path::new(path.as_str())))
            }
            (found, _) => {
                let found = found?;
                Ok(joined(self.folders.root_of(&found).path(), found.real_path(path)))
            }
        }
    }

    /// The same below the mount of the file system, so that it does not depend on where that is mounted.
    pub fn path_in_mount(&self, path: &FilePath) -> Result<PathBuf> {
        match self.find_recent(path, Want::Entry) {
            Err(Error::OneFolderGone { .. } | Error::KeptByGit { .. }) => {
                let root = &self.folders.roots()[path.folder().unwrap_or(0)];
                Ok(root.path_in_mount().join(path.as_str()))
            }
            found => {
                let found = found?;
                Ok(self.folders.root_of(&found).path_in_mount().join(found.real_path(path)))
            }
        }
    }

    /// Creates the folder at `path` and its missing parents. Does nothing if it exists.
    pub fn create_folder(&self, path: &FilePath, control: &Control) -> Result<()> {
        self.check_not_read_only(path)?;
        for _ in 0..ATTEMPTS {
            let found = self.find_place(path, Want::Entry)?;
            if found.is_directory() {
                return Ok(());
            }
            if found.exists() {
                return Err(Error::exists(path.sent()));
            }
            found.check_not_excluded(path)?;
            if self.folders.hides_new(path, &found, true) {
                return Err(Error::Excluded { name: path.sent().into() });
            }
            if self.recorded_for(control).is_some() {
                match self.create_folder_recorded(&path.in_folder(found.number), control) {
                    // Others have made it meanwhile.
                    Err(Error::Exists { .. }) => continue,
                    done => return done,
                }
            }
            let Found { place, .. } = &found;
            let missing = place.missing.iter().cloned().chain([place.name.clone()]).collect();
            let place = ResolvedPath { missing, ..place.clone() };
            if !switches::is_off("create-folder-locks") {
                self.check_locks(&place.dir, path.sent())?;
            }
            control.begin_commit()?;
            let created = Parents::create(&place, self.new_folder_mode(), self.options.durability);
            match created.inspect_err(|_| control.undo_commit()) {
                Ok(_) => return Ok(()),
                // Another program removed the folder that it was to be in.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(Error::write(path.sent(), error)),
            }
        }
        let name = path.sent();
        // A folder of that name in another case can be neither found nor made.
        Err(if IGNORES_CASE { Error::exists(name) } else { Error::Changed { name: name.into() } })
    }

    /// The mode of new directories.
    pub(super) fn new_folder_mode(&self) -> Mode {
        Mode::from_raw_mode(0o777).difference(self.umask)
    }
}

fn entry_info(facts: EntryFacts) -> EntryInfo {
    let EntryFacts { mode, size, created_ms, modified_ms, accessed_ms } = facts;
    EntryInfo { kind: EntryKind::of_mode(mode), size, created_ms, modified_ms, accessed_ms, mode }
}
