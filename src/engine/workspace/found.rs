//! What a path is looked up as, what it leads to, and why it has no place in a served folder (contract 12).
//!
//! Knows nothing of how folders are searched, and of none beside the one that was.

use std::io;
use std::path::{Path, PathBuf};

use folder::fs::git_guard;
use folder::fs::resolve::{ResolveError, ResolvedPath};
use folder::fs::root::Folder;
use folder::{Error, FilePath, Result, is_in_git};
use sys::io::Errno;

/// What a path leads to.
#[derive(Debug)]
pub(super) struct Found {
    /// The number of the served folder.
    pub(super) number: usize,
    /// The served folder at the time of the lookup.
    pub(super) folder: Folder,
    /// The entry, or the place for one.
    pub(super) place: ResolvedPath,
    /// What the path was looked up as.
    pub(super) want: Want,
    /// The path that it was found by, if that is another spelling of the client's.
    pub(super) spelling: Option<PathBuf>,
    /// The path is excluded, so its entry does not exist for clients.
    pub(super) excluded: bool,
    /// Of a missing entry: another served folder that may have had it is gone.
    pub(super) beside_gone: Option<Error>,
}

/// What a path may lead to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Want {
    /// A regular file, perhaps behind links.
    File,
    /// An entry of any kind, perhaps behind links.
    Entry,
    /// An entry of any kind; a link is an entry itself.
    Link,
}

/// How recently the path of a served folder must have been checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Freshness {
    /// Within the last second: for reads.
    Recent,
    /// Now: for edits.
    Now,
}

/// Why a path has no place in one served folder.
#[derive(Debug)]
pub(super) enum Obstacle {
    /// Nothing can be there: a file is where a folder must be. Another folder may have it.
    Absent(Error),
    /// What is there is not known. Another folder may have it; if none has, this is the error.
    Unknown(Error),
    /// The served folder itself is not there. Another one may have the path; if none has, this is the error.
    Gone(Error),
    /// What is there must not be used.
    Refused(Error),
}

impl Obstacle {
    /// The error of a look in this folder alone.
    pub(super) fn into_error(self) -> Error {
        match self {
            Obstacle::Absent(error)
            | Obstacle::Unknown(error)
            | Obstacle::Gone(error)
            | Obstacle::Refused(error) => error,
        }
    }

    /// The obstacle that the resolution of a path met.
    pub(super) fn of(name: &str, refusal: ResolveError) -> Obstacle {
        let kind: fn(Error) -> Obstacle = match refusal {
            ResolveError::System(Errno::NOTDIR | Errno::NAMETOOLONG)
                if !switches::is_off("folders-obstacle") =>
            {
                Obstacle::Absent
            }
            ResolveError::System(Errno::ACCESS | Errno::PERM) => Obstacle::Unknown,
            _ => Obstacle::Refused,
        };
        kind(refused(name, refusal))
    }

    /// The error of a served folder that cannot be used. One of this machine was removed or moved. One on a network may be back soon: a
    /// file of the same name in the next folder is another file.
    pub(super) fn of_root(error: Error, is_local: bool) -> Obstacle {
        match error {
            Error::FolderGone | Error::FolderSwitched if is_local => Obstacle::Gone(error),
            error if switches::is_off("dead-root") => Obstacle::Unknown(error),
            error => Obstacle::Refused(error),
        }
    }
}

impl Found {
    /// Whether the entry exists.
    pub(super) fn exists(&self) -> bool {
        self.place.stat.is_some()
    }

    /// Of an entry that could not be made, because its name exists: whether it exists in another case only, which is another
    /// name for a look-up.
    pub(super) fn exists_in_another_case(&self) -> bool {
        sys::fs::exists_in_another_case(&self.place.dir, &self.place.name)
    }

    /// Whether the entry is a directory.
    pub(super) fn is_directory(&self) -> bool {
        self.place.is_directory()
    }

    /// Whether a folder was looked for, too.
    pub(super) fn may_be_folder(&self) -> bool {
        self.want != Want::File
    }

    /// The path below the served folder, after links.
    pub(super) fn real_path<'p>(&'p self, path: &'p FilePath) -> &'p Path {
        self.place.real.as_deref().unwrap_or(Path::new(path.as_str()))
    }

    /// Refuses to write what no flag allows: folders of git and excluded paths.
    pub(super) fn check_writable(&self, path: &FilePath) -> Result<()> {
        self.check_not_git(path)?;
        self.check_not_excluded(path)
    }

    /// Refuses to write in a folder of git, whatever is there. Of an excluded path only the names count.
    pub(super) fn check_not_git(&self, path: &FilePath) -> Result<()> {
        let forbids = match self.excluded {
            true => Ok(is_in_git(self.real_path(path))),
            false => git_guard::forbids_change(self.folder.handle(), self.real_path(path), &self.place),
        };
        match self.folder.is_in_git() || forbids.map_err(|refusal| refused(path.sent(), refusal))? {
            true => Err(Error::GitFolder { name: path.sent().into() }),
            false => Ok(()),
        }
    }

    /// Refuses to write to an excluded path.
    pub(super) fn check_not_excluded(&self, path: &FilePath) -> Result<()> {
        if self.excluded { Err(Error::Excluded { name: path.sent().into() }) } else { Ok(()) }
    }
}

/// The error for a path that cannot be resolved.
pub(super) fn refused(name: &str, refusal: ResolveError) -> Error {
    match refusal {
        ResolveError::Forbidden => Error::RefusedLink { name: name.into() },
        ResolveError::Special => Error::PermissionDenied { name: name.into() },
        ResolveError::Folder => Error::IsAFolder { name: name.into() },
        ResolveError::Moved => Error::Changed { name: name.into() },
        // Another program has a lease on it.
        ResolveError::System(Errno::AGAIN) => Error::Locked { name: name.into() },
        ResolveError::System(errno) => Error::read(name, io::Error::from(errno)),
    }
}
