//! Reads: from a name and a line range to the bytes of an open file.

use std::ops::Range;
use std::sync::Arc;
use std::time::SystemTime;

use super::excerpt::{Excerpt, loaded, not_text, unchanged};
use super::found::{Freshness, Want};
use super::ranges::{LineRange, Selection};
use super::{ATTEMPTS, Workspace};
use crate::cache::CachedText;
use folder::fs::file_system::{self, FileSystem, WriteBarrier};
use folder::fs::root::Folder;
use folder::fs::version::FileStamp;
use folder::fs::view::{FileView, MAP_CUTOFF, OpenFile};
use folder::fs::writers::{self, Writers};
use folder::{Control, Error, FilePath, FileVersion, Result};
use text::encoding::Encoding;
use text::lines::{BOM, LineIndex};

/// What a read may wait for.
#[derive(Clone, Copy)]
pub(super) enum Effort<'c> {
    /// For nothing: reads small parts from memory. With the file system, because to ask for it may block.
    AtOnce(FileSystem),
    /// For the disk, but not for another program's write: one that never ends must not block a listing. Only
    /// lines are counted. With the file system, which is the same for thousands of files; the progress is the caller's.
    Count(FileSystem, &'c Control),
    /// For the disk, and for the end of another program's write if the operation allows that.
    Full(&'c Control),
}

/// Whether the bytes that are read next belong to the file's stamp permanently.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Cacheable {
    /// Yes: every later write changes the stamp.
    Yes,
    /// Not certain: another program may be writing, or may write within the same clock tick.
    No,
}

impl Workspace {
    /// The lines `range` of the file at `path`.
    pub fn read(&self, path: &FilePath, range: LineRange, control: &Control) -> Result<Excerpt> {
        range.check()?;
        self.try_to_read(path, Selection::Lines(range), control)
    }

    /// The last `count` lines of the file at `path`; all lines if there are not so many.
    pub fn read_last(&self, path: &FilePath, count: u64, control: &Control) -> Result<Excerpt> {
        self.try_to_read(path, Selection::Last(count), control)
    }

    /// All bytes of the file at `path`, with the byte order mark and the final line break.
    pub fn read_raw(&self, path: &FilePath, control: &Control) -> Result<Excerpt> {
        self.try_to_read(path, Selection::Bytes, control)
    }

    /// All bytes of the file at `path`, which need not be text, and the file's version.
    pub fn read_bytes(&self, path: &FilePath, control: &Control) -> Result<(Excerpt, FileVersion)> {
        for _ in 0..ATTEMPTS {
            control.check()?;
            let found = self.find(path, control)?;
            let Some(file) = self.open_whole(&found.place, path.sent(), control)? else { continue };
            let Some(version) = self.version(&file, path.sent(), control)? else { continue };
            let Some((view, _)) = self.any_bytes(file, path.sent())? else { continue };
            let excerpt = Excerpt::of_any_bytes(view);
            if !excerpt.settled || unchanged(&excerpt.view, path.sent())? {
                return Ok((excerpt, version));
            }
        }
        Err(Error::Changed { name: path.sent().into() })
    }

    fn try_to_read(&self, path: &FilePath, part: Selection, control: &Control) -> Result<Excerpt> {
        let name = path.sent();
        for _ in 0..ATTEMPTS {
            control.check()?;
            let found = self.find(path, control)?;
            let Some(file) = self.open_whole(&found.place, name, control)? else { continue };
            if let Some(excerpt) = self.excerpt(file, name, part, Effort::Full(control))? {
                return Ok(excerpt);
            }
        }
        Err(Error::Changed { name: name.into() })
    }

    /// All bytes of an open file without the byte order mark. `None` if the file changes meanwhile.
    pub(super) fn raw_part(
        &self,
        file: &Arc<OpenFile>,
        name: &str,
        control: &Control,
    ) -> Result<Option<Excerpt>> {
        let excerpt = self.excerpt(file.clone(), name, Selection::Bytes, Effort::Full(control))?;
        Ok(excerpt.map(|mut excerpt| {
            if excerpt.bytes().starts_with(BOM) {
                excerpt.bytes.start += BOM.len();
            }
            excerpt
        }))
    }

    /// The wanted lines of an open file. `None` if the file changes meanwhile.
    pub(super) fn lines_part(
        &self,
        file: &Arc<OpenFile>,
        name: &str,
        lines: Selection,
        control: &Control,
    ) -> Result<Option<Excerpt>> {
        self.excerpt(file.clone(), name, lines, Effort::Full(control))
    }

    /// Like [`Workspace::read`], but only if it needs no waiting: for a small part that is in memory.
    pub fn read_at_once(&self, path: &FilePath, range: LineRange) -> Option<Result<Excerpt>> {
        if let Err(error) = range.check() {
            return Some(Err(error));
        }
        self.try_at_once(path, Selection::Lines(range))
    }

    /// Like [`Workspace::read_last`], under the same condition.
    pub fn read_last_at_once(&self, path: &FilePath, count: u64) -> Option<Result<Excerpt>> {
        self.try_at_once(path, Selection::Last(count))
    }

    fn try_at_once(&self, path: &FilePath, part: Selection) -> Option<Result<Excerpt>> {
        if !self.folders.are_read_at_once() {
            return None;
        }
        let found = self.folders.find(path, Want::File, Freshness::Recent).ok()?;
        let stamp = FileStamp::of(found.place.stat.as_ref()?);
        // A file that says that it is empty may not be.
        if stamp.len > self.options.max_bytes || stamp.len == 0 {
            return None;
        }
        let system = found.folder.file_system(stamp.dev)?;
        if let Some(open) = self.last_opened.get(&stamp) {
            return self.excerpt(open, path.sent(), part, Effort::AtOnce(system)).transpose();
        }
        let file = Arc::new(found.place.open_as_found()?);
        let excerpt = self.excerpt(file.clone(), path.sent(), part, Effort::AtOnce(system)).transpose()?;
        if excerpt.is_ok() {
            self.last_opened.put(file);
        }
        Some(excerpt)
    }

    /// Reads a part of an open file. `None` if the file changed meanwhile, or if it needs more than `effort`.
    fn excerpt(
        &self,
        file: Arc<OpenFile>,
        name: &str,
        part: Selection,
        effort: Effort,
    ) -> Result<Option<Excerpt>> {
        let Some((view, index)) = self.view_of(file, name, part, effort)? else { return Ok(None) };
        let total = index.len_lines();
        let lines = part.within(total)?;
        let bytes = match part {
            Selection::Bytes => Some(0..index.len_bytes()),
            Selection::Lines(_) | Selection::Last(_) | Selection::Span(..) => {
                index.byte_range(&lines, view.bytes(), view.offset())
            }
        };
        // A copy is what the client gets, so it must be valid now.
        let settled = view.is_copy();
        let unchanged = || match effort {
            // The file was assumed to be unchanged since it was found, so the whole stamp must be equal.
            Effort::AtOnce(_) => Ok(switches::is_off("read-as-found") || view.file().is_as_found()),
            Effort::Count(..) | Effort::Full(_) => unchanged(&view, name),
        };
        if !switches::is_off("read-settled") && settled && !unchanged()? {
            return Ok(None);
        }
        let start = view.offset();
        let within = |at: usize| at.checked_sub(start).filter(|at| *at <= view.bytes().len());
        let bytes = bytes.and_then(|bytes| Some(within(bytes.start)?..within(bytes.end)?));
        Ok(bytes.map(|bytes| Excerpt { view, bytes, lines, total, settled, encoding: Encoding::Utf8 }))
    }

    /// The bytes that contain a part of a file, and the file's index, from the cache or built now.
    fn view_of(
        &self,
        file: Arc<OpenFile>,
        name: &str,
        part: Selection,
        effort: Effort,
    ) -> Result<Option<(FileView, Arc<LineIndex>)>> {
        let whole = 0..file.len_bytes();
        match self.cache.get(file.stamp()) {
            Some(CachedText::NotText(why)) => Err(not_text(why, name)),
            // An index of another length belongs to other bytes, even if the stamp is equal.
            Some(CachedText::Text(index))
                if switches::is_off("read-index-length") || index.len_bytes() == file.len_bytes() =>
            {
                let window = match part {
                    Selection::Bytes => whole,
                    part => index.window(&part.within(index.len_lines())?),
                };
                Ok(load(file, window, name, effort)?.map(|view| (view, index)))
            }
            _ => {
                let Some(keep) = self.before_reading(&file, effort)? else { return Ok(None) };
                let Some(view) = load(file, whole, name, effort)? else { return Ok(None) };
                Ok(self.index(&view, name, keep, effort)?.map(|index| (view, index)))
            }
        }
    }

    /// All bytes of an open file, and its index. Returns `None` if the file changed meanwhile.
    pub(super) fn whole(
        &self,
        file: Arc<OpenFile>,
        name: &str,
        control: &Control,
    ) -> Result<Option<(FileView, Arc<LineIndex>)>> {
        self.view_of(file, name, Selection::Bytes, Effort::Full(control))
    }

    /// The number of lines of an open file that was found in `folder`. The file is closed afterwards. Returns
    /// `None` if it changed meanwhile; errors as for any read.
    pub(super) fn lines_of(
        &self,
        file: Arc<OpenFile>,
        folder: &Folder,
        control: &Control,
    ) -> Result<Option<usize>> {
        let system = folder.file_system(file.stamp().dev).unwrap_or_else(|| file_system::of(file.file()));
        let counted = self.view_of(file, "", Selection::Bytes, Effort::Count(system, control))?;
        Ok(counted.map(|(_, index)| index.len_lines()))
    }

    /// Checks, before a file is read, whether other programs use it, to decide if its index may be cached.
    /// Waits for the end of a running write if `effort` allows that. Returns `None` if the file has changed
    /// since it was opened, or if the check needs more than `effort`.
    pub(super) fn before_reading(&self, file: &OpenFile, effort: Effort) -> Result<Option<Cacheable>> {
        let system = match effort {
            Effort::AtOnce(system) | Effort::Count(system, _) => system,
            Effort::Full(_) => self.folders.file_system_of(file),
        };
        // A small file is copied and closed at once. The close ends the lease, which saves a system call.
        let until_closed = matches!(effort, Effort::Count(..)) && file.len_bytes() <= MAP_CUTOFF;
        let writers =
            if system.shows_writers { writers::of(file.file(), until_closed) } else { Writers::Unknown };
        let every_write_shows = match (writers, effort) {
            (Writers::None, _) => true,
            (Writers::Some, _) if switches::is_off("believe-lease") => true,
            (_, Effort::AtOnce(_)) => return Ok(None),
            (_, Effort::Count(..)) => false,
            (_, Effort::Full(_)) if system.write_barrier == WriteBarrier::None => false,
            (_, Effort::Full(control)) if !control.may_wait_for_write() => return Ok(None),
            (_, Effort::Full(control)) => {
                if !switches::is_off("believe-barrier") {
                    self.write_waits.wait(file, system, control)?;
                }
                if !file.is_as_found() {
                    return Ok(None);
                }
                switches::is_off("believe-dirty") || writers::every_write_would_show(file.file(), system)
            }
        };
        let is_racy = !switches::is_off("racy-cache") && file.stamp().is_racy(SystemTime::now());
        let keep = every_write_shows && !is_racy;
        Ok(Some(if keep { Cacheable::Yes } else { Cacheable::No }))
    }

    /// Checks, before a file is read, whether its stamp identifies what it holds.
    pub(super) fn before_version(&self, file: &OpenFile, control: &Control) -> Result<Option<Cacheable>> {
        self.before_reading(file, Effort::Full(control))
    }
}

/// The bytes of `window`. `None` if the file is shorter now, or if `effort` does not allow the read.
fn load(file: Arc<OpenFile>, window: Range<usize>, name: &str, effort: Effort) -> Result<Option<FileView>> {
    match effort {
        Effort::AtOnce(_) if window.len() > MAP_CUTOFF => Ok(None),
        Effort::AtOnce(_) => Ok(file.view_if_cached(window)),
        Effort::Count(..) | Effort::Full(_) => loaded(file.view(window), name),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::time::Duration;

    use super::*;
    use crate::WorkspaceOptions;
    use folder::fs::atomic::Durability;
    use folder::fs::resolve::ResolvedPath;

    fn open(dir: &Path) -> Workspace {
        let options = WorkspaceOptions { durability: Durability::None, ..WorkspaceOptions::default() };
        Workspace::open(&[dir.into()], options).unwrap()
    }

    fn control() -> Control {
        Control::new(Duration::from_secs(60))
    }

    /// Adds an index to the cache for the file `a`. Returns its resolved path and the open file.
    fn known(workspace: &Workspace, text: &str) -> (ResolvedPath, Arc<OpenFile>) {
        let place = workspace.find(&workspace.parse_path("a").unwrap(), &control()).unwrap().place;
        let file = workspace.open_place(&place, "a", &control()).unwrap().unwrap();
        let index = LineIndex::build(text.as_bytes()).unwrap();
        workspace.cache.put(file.stamp(), CachedText::Text(Arc::new(index)));
        (place, file)
    }

    fn whole(workspace: &Workspace, file: Arc<OpenFile>, effort: Effort) -> Option<Excerpt> {
        workspace.excerpt(file, "a", Selection::Lines(LineRange::default()), effort).unwrap()
    }

    #[test]
    fn a_file_that_is_swapped_between_the_look_and_the_opening_is_not_read_at_once() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a");
        // The other file has the same length and more lines.
        std::fs::write(&path, "1234\n").unwrap();
        std::fs::write(dir.path().join("b"), "1\n\n\n\n").unwrap();
        let workspace = open(dir.path());
        let (place, file) = known(&workspace, "1234\n");
        let system = file_system::of(file.file());
        if whole(&workspace, file, Effort::AtOnce(system)).is_none() {
            // This file system does not report which bytes are in memory.
            return;
        }
        std::fs::rename(dir.path().join("b"), &path).unwrap();
        let swapped = Arc::new(place.open_as_found().unwrap());
        assert!(whole(&workspace, swapped, Effort::AtOnce(system)).is_none());
    }

    #[test]
    fn a_copy_that_was_verified_stays_valid_whatever_its_size_when_the_file_changes_and_a_map_does_not() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a");
        let text = "x".repeat(MAP_CUTOFF + 1);
        std::fs::write(&path, &text).unwrap();
        let workspace = open(dir.path());
        let (_, file) = known(&workspace, &text);
        let read = whole(&workspace, file.clone(), Effort::Full(&control())).unwrap();
        let copy = Excerpt::of_any_bytes(FileView::made(text.into_bytes(), file));
        std::fs::write(&path, "y").unwrap();
        // Where the system maps no files, a large part is a copy, too.
        assert_eq!(read.unchanged(), read.view.is_copy());
        assert!(copy.unchanged());
    }

    #[test]
    fn a_file_that_changed_since_it_was_opened_is_neither_told_nor_remembered() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a");
        std::fs::write(&path, "1234\n").unwrap();
        let workspace = open(dir.path());
        let (_, file) = known(&workspace, "1234\n");
        let view = file.clone().view(0..file.len_bytes()).unwrap();
        // In place, with the same length and another time.
        std::fs::write(&path, "1\n\n\n\n").unwrap();
        let writer = std::fs::File::options().write(true).open(&path).unwrap();
        writer.set_modified(SystemTime::UNIX_EPOCH).unwrap();
        assert!(whole(&workspace, file, Effort::Full(&control())).is_none());
        assert!(workspace.index(&view, "a", Cacheable::Yes, Effort::Full(&control())).unwrap().is_none());
    }
}
