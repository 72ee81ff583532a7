//! Which paths are those of folders of git, which clients read and write in no served folder.
//!
//! Asks the guard of such folders, and knows none of its rules.

use std::path::Path;

use super::{Folders, is_dead};
use crate::workspace::found::{Found, Freshness, refused};
use folder::fs::git_guard::is_below_git;
use folder::fs::repository::HEAD;
use folder::fs::root::Root;
use folder::{FilePath, Result, is_in_git};

impl Folders {
    /// Whether a path is one of git's by its names, for a read or for a write.
    pub(super) fn is_gits_by_name(&self, path: &FilePath, freshness: Freshness) -> bool {
        match freshness {
            Freshness::Recent => self.excludes.git().keeps_name(Path::new(path.as_str())),
            Freshness::Now => is_in_git(Path::new(path.as_str())),
        }
    }

    /// Whether git keeps `found` to itself, by its names or by what is in a folder that it is in.
    pub(super) fn keeps(&self, path: &FilePath, found: &Found) -> Result<bool> {
        let guard = self.excludes.git();
        if guard.allows_reads() || found.excluded || switches::is_off("git-by-content") {
            return Ok(guard.keeps_name(found.real_path(path)));
        }
        let (folder, real) = (&found.folder, found.real_path(path));
        if folder.is_in_git() {
            return Ok(real != Path::new(HEAD) || found.is_directory());
        }
        match guard.keeps((folder.handle(), folder.id()), real, found.is_directory()) {
            // The file system behind the handle is gone. If it is there again, the read with this handle is repeated.
            Err(refusal) if is_dead(&refusal) => self.root_of(found).reopen().map(|_| false),
            kept => kept.map_err(|refusal| refused(path.sent(), refusal)),
        }
    }

    /// Whether a path whose look-up fails leads into a folder of git of one of the served folders.
    pub(super) fn leads_into_git(&self, path: &FilePath, freshness: Freshness) -> bool {
        let leads = |root: &Root| {
            let Ok(folder) = root.folder() else { return false };
            let guard = self.excludes.git();
            match freshness {
                Freshness::Recent => {
                    let (root, text) = ((folder.handle(), folder.id()), Path::new(path.as_str()));
                    guard.keeps(root, text, false).unwrap_or(false)
                }
                Freshness::Now => is_below_git(folder.handle(), Path::new(path.as_str())),
            }
        };
        self.roots_of(path).any(|(_, root)| leads(root))
    }
}
