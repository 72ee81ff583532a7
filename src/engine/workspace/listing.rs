//! Lists the files of the folder, or of its whole tree where names are paths (contract 4, 12).

use rustix::fs::{Mode, OFlags};

use super::Workspace;
use super::folders::refused;
use crate::engine::fs::lease;
use crate::engine::fs::root::Folder;
use crate::engine::list::{self, DirEntry, ListOptions, ListedFolder, Listing, Names};
use crate::engine::path::{MAX_PATH, NamePolicy, admits};
use crate::engine::walk::{EntryKind, Walk, WalkEntry, WalkOptions, WalkOrder, WalkStep};
use crate::engine::{Control, Error, Result};

impl Workspace {
    /// All files (contract 4, `list_files`). `with_access` also asks for read and write permission.
    pub fn list(&self, with_access: bool, control: &Control) -> Result<Listing> {
        self.list_some(ListOptions { with_access, ..ListOptions::default() }, control)
    }

    /// At most `limit` files, starting after the name `after` in byte order.
    pub fn list_page(&self, after: Option<&str>, limit: usize, control: &Control) -> Result<Listing> {
        self.list_some(ListOptions { after, limit, ..ListOptions::default() }, control)
    }

    /// The files that `options` want, in byte order of their names.
    pub fn list_some(&self, options: ListOptions, control: &Control) -> Result<Listing> {
        let wait = |seen: &DirEntry| {
            let opened = lease::wait_out(control, || seen.place().open())?;
            opened.map(drop).map_err(|refusal| refused("", refusal))
        };
        let list = |folder: Folder| {
            let count = |seen: &DirEntry| self.count_lines(&folder, seen, control);
            let excludes = self.folders.excludes();
            let listed = ListedFolder { root: folder.handle(), directory: self.path(), excludes };
            let names = match self.options.names {
                NamePolicy::Paths => self.names_in_tree(listed, options, control)?,
                policy => list::names_in(listed, policy, options)?,
            };
            list::list(listed, names, options, count, wait, control)
        };
        let root = self.folders.first();
        let folder = root.folder()?;
        match list(folder.clone()) {
            Ok(listing) if listing.files.is_empty() => match root.other_than(&folder)? {
                Some(other) => list(other),
                None => Ok(listing),
            },
            Err(Error::FolderGone | Error::ListingFailed { .. }) => list(root.reopen()?),
            listing => listing,
        }
    }

    /// The paths of the files in the tree of `folder` that `options` want: at least as many as they want, if there are
    /// so many, and one more. Hidden files, and those in hidden folders, are left out.
    fn names_in_tree(&self, folder: ListedFolder, options: ListOptions, control: &Control) -> Result<Names> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let gone = |errno| list::out_of_means(errno).unwrap_or(Error::FolderGone);
        let opened = rustix::fs::openat(folder.root, ".", flags, Mode::empty()).map_err(gone)?;
        let walk_options = WalkOptions {
            order: WalkOrder::Path,
            cross_mounts: self.options.cross_mounts,
            ..WalkOptions::default()
        };
        let mut walk = Walk::new(folder.root, opened, "".as_ref(), walk_options, folder.excludes, control)?;
        let (mut names, mut files) = (Names::default(), 0);
        while files <= options.limit {
            let Some(step) = walk.next_step()? else { break };
            let WalkStep::Entry(entry) = step else { continue };
            if is_left_out(&walk, entry, options.after) {
                walk.skip_folder();
                continue;
            }
            if !matches!(entry.kind, EntryKind::File | EntryKind::Link) {
                continue;
            }
            match admitted(walk.path()) {
                Some(path) if options.wants(path) => {
                    names.table.push(path);
                    files += usize::from(entry.kind == EntryKind::File);
                }
                Some(_) => {}
                None => names.unlisted += usize::from(leads_to_file(&walk, entry)),
            }
        }
        names.left_out = walk.left_out();
        names.table.sort();
        Ok(names)
    }
}

/// Whether the current entry is hidden, or a folder whose paths all come before `after`.
fn is_left_out(walk: &Walk, entry: WalkEntry, after: Option<&str>) -> bool {
    let is_passed = |after: &str| {
        let in_folder = [walk.path(), b"/"].concat();
        !after.as_bytes().starts_with(&in_folder) && in_folder.as_slice() < after.as_bytes()
    };
    walk.name().starts_with(b".") || entry.kind == EntryKind::Folder && after.is_some_and(is_passed)
}

/// The path as text, if a client can name it.
fn admitted(path: &[u8]) -> Option<&str> {
    let path = std::str::from_utf8(path).ok().filter(|path| path.len() <= MAX_PATH)?;
    path.split('/').all(|component| admits(component, NamePolicy::Paths)).then_some(path)
}

/// Whether the current entry is a regular file, or a link to one.
fn leads_to_file(walk: &Walk, entry: WalkEntry) -> bool {
    let is_file = |stat: rustix::fs::Stat| EntryKind::of_mode(stat.st_mode) == EntryKind::File;
    entry.kind == EntryKind::File || walk.stat_of_target().is_some_and(is_file)
}
