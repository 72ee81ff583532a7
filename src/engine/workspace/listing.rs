//! Lists the files of the folder, or of its whole tree where names are paths (contract 4, 12).

use std::sync::Arc;

use super::Workspace;
use super::found::refused;
use crate::list::names::Names;
use crate::list::{self, DirEntry, ListOptions, ListedFolder, Listing};
use folder::fs::lease;
use folder::fs::root::Folder;
use folder::fs::version::FileStamp;
use folder::{
    Control, EntryKind, Error, MAX_PATH, NamePolicy, Result, Walk, WalkEntry, WalkOptions, WalkOrder,
    WalkStep, admits,
};
use sys::fs::{Mode, OFlags};

/// Shares of the time that a list leaves for an answer with a part: the names, and then the counting.
const NAMES_LEAVE: u32 = COUNTING_LEAVES + 1;
const COUNTING_LEAVES: u32 = 1;

impl Workspace {
    /// All files (contract 4, `list_files`). `with_access` also asks for read and write permission.
    pub fn list(&self, with_access: bool, control: &Control) -> Result<Listing> {
        self.list_some(ListOptions { with_access, ..ListOptions::default() }, control)
    }

    /// At most `limit` files, starting after the name `after` in byte order.
    ///
    /// # Errors
    ///
    /// [`Error::TimedOut`] if the time is up: a page cannot say that it is a part.
    pub fn list_page(&self, after: Option<&str>, limit: usize, control: &Control) -> Result<Listing> {
        let page = self.list_some(ListOptions { after, limit, ..ListOptions::default() }, control)?;
        if page.late.is_some() { Err(Error::TimedOut) } else { Ok(page) }
    }

    /// The files that `options` want, in byte order of their names. A tree whose walk takes too long is listed in part.
    pub fn list_some(&self, options: ListOptions, control: &Control) -> Result<Listing> {
        let wait = |seen: &DirEntry| {
            let opened = lease::wait_out(control, || seen.place().open())?;
            opened.map(drop).map_err(|refusal| refused("", refusal))
        };
        let list = |folder: Folder| {
            let count = |seen: &DirEntry| {
                control.leaving_time(COUNTING_LEAVES, || self.count_lines(&folder, seen, control))
            };
            let excludes = self.folders.excludes();
            let listed = ListedFolder { root: folder.handle(), directory: self.path(), excludes };
            list_enough(options.limit, |at_least| {
                let is_kept = folder.is_in_git() && !excludes.git().allows_reads();
                let names = control.leaving_time(NAMES_LEAVE, || match self.options.names {
                    _ if is_kept => Ok(Names::of_git()),
                    NamePolicy::Paths => self.names_in_tree(listed, options, at_least, control),
                    policy => list::names::names_in(listed, policy, options, control),
                })?;
                let is_part = names.is_part;
                let listing = list::list(listed, names, options, count, wait, control)?;
                let goes_on = is_part && listing.late.is_none();
                Ok((listing, goes_on))
            })
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

    /// The paths of the files in the tree of `folder` that `options` want: at least `at_least`, if there are so many. Hidden
    /// files, and those in hidden folders, are left out.
    fn names_in_tree(
        &self,
        folder: ListedFolder,
        options: ListOptions,
        at_least: usize,
        control: &Control,
    ) -> Result<Names> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let gone = |errno| list::out_of_means(errno).unwrap_or(Error::FolderGone);
        let opened = sys::fs::openat(folder.root, ".", flags, Mode::empty()).map_err(gone)?;
        let walk_options = WalkOptions {
            order: WalkOrder::Path,
            cross_mounts: self.options.cross_mounts,
            ..WalkOptions::default()
        };
        let (excludes, live) = (folder.excludes, self.live());
        let walk = Walk::new(folder.root, opened, "".as_ref(), walk_options, excludes, live, control)?;
        let mut walk = if switches::is_off("walk-of-list-clears") { walk } else { self.clearing(walk) };
        let mut names = names_of_walk(&mut walk, options, at_least, control)?;
        names.left_out = walk.left_out();
        names.table.sort();
        Ok(names)
    }

    /// The number of lines of a listed file; `None` if it is too large, not text or not readable. A cached
    /// number is returned even when the time is up. Returns [`Error::Locked`] if another program has a lease
    /// on the file, and [`Error::Changed`] if the file has changed since it was found.
    pub(super) fn count_lines(
        &self,
        folder: &Folder,
        seen: &list::DirEntry,
        control: &Control,
    ) -> Result<Option<usize>> {
        let stamp = FileStamp::of(&seen.stat);
        if stamp.len > self.options.max_bytes {
            return Ok(None);
        }
        if let Some(lines) = self.cache.lines(&stamp) {
            return Ok(lines);
        }
        if !switches::is_off("list-counted") {
            control.check()?;
        }
        let changed = || Error::Changed { name: String::new() };
        let Some(file) = seen.open_as_found() else {
            return match seen.place().open().map_err(|refusal| refused("", refusal)) {
                Err(Error::Locked { name }) => Err(Error::Locked { name }),
                Err(_) => Ok(None),
                Ok(_) => Err(changed()),
            };
        };
        if file.hides_its_size().unwrap_or(true) {
            return Ok(None);
        }
        let file = Arc::new(file);
        match self.lines_of(file.clone(), folder, control) {
            Ok(Some(lines)) => Ok(Some(lines)),
            Err(error @ (Error::Cancelled | Error::TimedOut | Error::NoReadMemory)) => Err(error),
            Err(_) if file.is_as_found() => Ok(None),
            Ok(None) | Err(_) => Err(changed()),
        }
    }
}

/// The paths of a walk that `options` want: at least `at_least`, if there are so many; or those until the time is up.
fn names_of_walk(walk: &mut Walk, options: ListOptions, at_least: usize, control: &Control) -> Result<Names> {
    let (mut names, mut files) = (Names { is_part: true, ..Names::default() }, 0);
    let mut met = options.after.unwrap_or_default().to_owned();
    while files < at_least {
        let entry = match walk.next_step() {
            Ok(Some(WalkStep::Entry(entry))) => entry,
            Ok(Some(WalkStep::Leave(_))) => continue,
            Ok(None) => {
                names.is_part = false;
                break;
            }
            Err(Error::TimedOut) if !switches::is_off("list-tree-late") => {
                names.late = Some(met);
                break;
            }
            Err(other) => return Err(other),
        };
        names.walked += 1;
        control.progress(names.walked, None);
        if is_left_out(walk, entry, options.after) {
            walk.skip_folder();
            continue;
        }
        keep_if_later(&mut met, walk.path(), entry.kind);
        if !matches!(entry.kind, EntryKind::File | EntryKind::Link) {
            continue;
        }
        match admitted(walk.path()) {
            Some(path) if options.wants(path) => {
                names.table.push(path);
                files += usize::from(entry.kind == EntryKind::File);
            }
            Some(_) => {}
            None => names.unlisted += usize::from(leads_to_file(walk, entry)),
        }
    }
    Ok(names)
}

/// Makes `met` the path of an entry if it comes later. What is in a folder comes after its name and a slash.
fn keep_if_later(met: &mut String, path: &[u8], kind: EntryKind) {
    let Ok(path) = std::str::from_utf8(path) else { return };
    let slash = if kind == EntryKind::Folder { "/" } else { "" };
    if path.bytes().chain(slash.bytes()).gt(met.bytes()) {
        met.clear();
        met.extend([path, slash]);
    }
}

/// Lists `limit` files, and finds out whether there are more. `list` lists of at least so many names; it returns whether
/// they are only a part of all. If files of a part are gone by then, all names are taken.
fn list_enough(limit: usize, mut list: impl FnMut(usize) -> Result<(Listing, bool)>) -> Result<Listing> {
    match list(limit.saturating_add(1))? {
        (listing, true) if !switches::is_off("page-of-tree") && !listing.more => Ok(list(usize::MAX)?.0),
        (listing, _) => Ok(listing),
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
    let is_file = |stat: sys::fs::Stat| EntryKind::of_mode(stat.st_mode) == EntryKind::File;
    entry.kind == EntryKind::File || walk.stat_of_target().is_some_and(is_file)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::time::Duration;

    use super::*;
    use crate::WorkspaceOptions;
    use folder::fs::atomic::Durability;

    fn workspace(names: NamePolicy) -> (tempfile::TempDir, Workspace) {
        let dir = tempfile::tempdir().unwrap();
        let options = WorkspaceOptions { names, durability: Durability::None, ..WorkspaceOptions::default() };
        let workspace = Workspace::open(&[dir.path().into()], options).unwrap();
        (dir, workspace)
    }

    #[test]
    fn a_page_of_a_tree_does_not_end_the_list_because_files_vanish_meanwhile() {
        let (dir, workspace) = workspace(NamePolicy::Paths);
        (0..6).for_each(|n| std::fs::write(dir.path().join(format!("f{n}")), "").unwrap());
        let control = Control::new(Duration::from_secs(60));
        let folder = workspace.folders.first().folder().unwrap();
        let excludes = workspace.folders.excludes();
        let listed = ListedFolder { root: folder.handle(), directory: dir.path(), excludes };
        let options = ListOptions { limit: 2, ..ListOptions::default() };
        let rounds = Cell::new(0);
        let listing = list_enough(options.limit, |at_least| {
            let names = workspace.names_in_tree(listed, options, at_least, &control)?;
            if rounds.replace(rounds.get() + 1) == 0 {
                assert!(names.is_part);
                std::fs::remove_file(dir.path().join("f1")).unwrap();
            }
            let is_part = names.is_part;
            let listing = list::list(listed, names, options, |_| Ok(None), |_| Ok(()), &control)?;
            Ok((listing, is_part))
        });
        let listing = listing.unwrap();
        let names: Vec<&str> = listing.files.iter().map(|file| listing.name(file)).collect();
        assert_eq!((names, listing.more, rounds.get()), (vec!["f0", "f2"], true, 2));
    }

    #[test]
    fn the_progress_of_a_listed_tree_counts_on_from_its_walk() {
        let (dir, workspace) = workspace(NamePolicy::Paths);
        std::fs::create_dir(dir.path().join("a")).unwrap();
        ["a/b", "c"].iter().for_each(|name| std::fs::write(dir.path().join(name), "").unwrap());
        let control = Control::new(Duration::from_secs(60));
        workspace.list(false, &control).unwrap();
        // Three entries were walked, then one of two files was counted when the last was begun.
        let progress = control.progressed();
        assert_eq!((progress.done, progress.total), (4, Some(5)));
    }
}
