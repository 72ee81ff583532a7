//! One folder whose files are read by their names, for work that knows a format of files and no paths of clients.
//!
//! Nothing outside the folder is reached through its handle, by no link either. Knows no text and no encodings.

use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;

use super::found::{Want, refused};
use super::{ATTEMPTS, Workspace};
use folder::fs::lease;
use folder::fs::resolve::{LastLink, ResolvedPath, file_type};
use folder::fs::view::OpenFile;
use folder::{Control, EntryKind, Error, FilePath, Result};
use sys::fd::OwnedFd;
use sys::ffi::OsStringExt;
use sys::fs::{Dir, FileType};
use text::budget::Share;

/// See the module.
#[derive(Debug, Clone)]
pub struct FolderHandle {
    dir: Arc<OwnedFd>,
}

impl Workspace {
    /// The folder at `path`. Links on the way to it are followed if they stay inside the served folder.
    pub fn folder_handle(&self, path: &FilePath, control: &Control) -> Result<FolderHandle> {
        let found = self.find_entry(path, Want::Entry, control)?;
        if !found.is_directory() {
            return Err(Error::not_a_folder(path.sent()));
        }
        let dir = found.place.open_folder().map_err(|refusal| refused(path.sent(), refusal))?;
        Ok(FolderHandle { dir: Arc::new(dir) })
    }

    /// Whether `--exclude` hides the file with the path `below` the folder at `folder`. The file need not exist.
    pub fn hides(&self, folder: &FilePath, below: &Path) -> bool {
        self.folders.excludes().hides(&Path::new(folder.as_str()).join(below), false)
    }

    /// At most `most` threads beside the calling one, as far as other work has left any. They return on drop.
    pub fn helper_threads(&self, most: usize) -> Share {
        let mut share = self.helpers().share();
        share.grow_as_far(most);
        share
    }
}

impl FolderHandle {
    /// What is at `path` below the folder; a link is not followed. `None` if nothing is.
    pub fn kind(&self, path: &Path) -> Result<Option<EntryKind>> {
        let place = self.find(path, LastLink::Keep)?;
        Ok(place.stat.map(|stat| EntryKind::of_mode(stat.st_mode)))
    }

    /// Opens the regular file at `path` below the folder. `None` if there is none.
    pub fn open_file(&self, path: &Path, control: &Control) -> Result<Option<Arc<OpenFile>>> {
        let name = path.to_string_lossy();
        for _ in 0..ATTEMPTS {
            control.check()?;
            let place = self.find(path, LastLink::Follow)?;
            match place.stat.as_ref().map(file_type) {
                None => return Ok(None),
                Some(FileType::RegularFile) => {}
                Some(_) => return Err(Error::PermissionDenied { name: name.into() }),
            }
            let opened = lease::wait_out(control, || place.open())?;
            if let Some(file) = opened.map_err(|refusal| refused(&name, refusal))? {
                return Ok(Some(Arc::new(file)));
            }
        }
        Err(Error::Changed { name: name.into() })
    }

    /// The folder at `path` below this one. `None` if there is none.
    pub fn folder(&self, path: &Path) -> Result<Option<FolderHandle>> {
        let place = self.find(path, LastLink::Follow)?;
        if place.stat.is_none() {
            return Ok(None);
        }
        let dir = place.open_folder().map_err(|refusal| refused(&path.to_string_lossy(), refusal))?;
        Ok(Some(FolderHandle { dir: Arc::new(dir) }))
    }

    /// The names in the folder, in no order, at most `most` of them.
    pub fn names(&self, most: usize) -> Result<Vec<OsString>> {
        let failed = |errno| Error::ListingFailed { source: std::io::Error::from(errno) };
        let mut names = Vec::new();
        for entry in Dir::read_from(&self.dir).map_err(failed)? {
            let name = entry.map_err(failed)?.file_name().to_bytes().to_vec();
            if name != b"." && name != b".." {
                names.push(OsString::from_vec(name));
            }
            if names.len() == most {
                break;
            }
        }
        Ok(names)
    }

    fn find(&self, path: &Path, last: LastLink) -> Result<ResolvedPath> {
        ResolvedPath::find_entry(&self.dir, path, last)
            .map_err(|refusal| refused(&path.to_string_lossy(), refusal))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;
    use sys::testing::symlink;

    use super::*;
    use crate::WorkspaceOptions;
    use folder::NamePolicy;

    #[test]
    fn files_are_read_below_the_folder_and_nothing_beside_it() {
        let dir = tempfile::tempdir().unwrap();
        let top = dir.path();
        std::fs::create_dir_all(top.join("a/b")).unwrap();
        std::fs::write(top.join("a/b/file"), "inside").unwrap();
        std::fs::write(top.join("beside"), "outside").unwrap();
        symlink("b/file", top.join("a/link")).unwrap();
        symlink("../beside", top.join("a/out")).unwrap();
        symlink("b", top.join("a/folder")).unwrap();
        let options = WorkspaceOptions { names: NamePolicy::Paths, ..WorkspaceOptions::default() };
        let workspace = Workspace::open(&[top.to_path_buf()], options).unwrap();
        let control = Control::new(Duration::from_secs(60));
        let path = |text| workspace.parse_path(text).unwrap();
        let handle = workspace.folder_handle(&path("a"), &control).unwrap();
        let read = |path: &str| {
            let file = handle.open_file(Path::new(path), &control)?;
            Ok::<_, Error>(file.map(|file| file.view(0..100).unwrap().bytes().to_vec()))
        };
        for there in ["b/file", "link", "folder/file"] {
            assert_eq!(read(there).unwrap().as_deref(), Some(&b"inside"[..]), "{there}");
        }
        for missing in ["file", "b/other", "c/file"] {
            assert_eq!(read(missing).unwrap(), None, "{missing}");
        }
        for refused in ["out", "../beside"] {
            assert!(matches!(read(refused), Err(Error::RefusedLink { .. })), "{refused}");
        }
        let folder = read("b");
        assert!(
            matches!(folder, Err(Error::IsAFolder { .. } | Error::PermissionDenied { .. })),
            "{folder:?}"
        );
        assert_eq!(handle.kind(Path::new("out")).unwrap(), Some(EntryKind::Link));
        assert_eq!(handle.kind(Path::new("b")).unwrap(), Some(EntryKind::Folder));
        assert_eq!(handle.kind(Path::new("c")).unwrap(), None);
        assert_eq!(handle.folder(Path::new("b")).unwrap().unwrap().names(9).unwrap(), ["file"]);
        assert!(handle.folder(Path::new("c")).unwrap().is_none());
        assert_eq!(handle.names(2).unwrap().len(), 2);
        assert!(matches!(workspace.folder_handle(&path("beside"), &control), Err(Error::NotAFolder { .. })));
    }
}
