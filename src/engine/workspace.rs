//! The folder: list, read, edit. The only file that joins the engine's parts.

use std::ffi::OsStr;
use std::io::{self, BufWriter, Write};
use std::ops::Range;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use rustix::fs::{Access, Mode, OFlags};

use super::atomic::{self, AtomicFile, Durability, Failure, Replaces};
use super::cache::{IndexCache, Known};
use super::line_edit::{self, LineEdits};
use super::lines::{BLOCK_SHIFT, IndexBuilder, LineIndex, NotText};
use super::lock::{Locked, Locks, PathKey, Turn};
use super::name::{FileName, NamePolicy};
use super::place::{Place, Refusal};
use super::splice::EditPlan;
use super::view::{FileStamp, FileView, MAP_CUTOFF, OpenFile};
use super::{Control, Error, Result, list};

/// How often a read or an edit starts over on a file that others keep changing.
const ATTEMPTS: usize = 8;

/// Memory for indexes of files seen before.
const CACHE_BYTES: usize = 16 << 20;

/// What a workspace may do (SPEC 2).
#[derive(Debug, Clone)]
pub struct WorkspaceOptions {
    /// Which names are admitted.
    pub names: NamePolicy,
    /// Largest file, in bytes.
    pub max_bytes: u64,
    /// Whether nothing on the disk may change.
    pub read_only: bool,
    /// When an edit counts as done.
    pub durability: Durability,
}

/// Why a folder cannot be served.
#[derive(Debug)]
pub enum OpenError {
    /// It does not exist, is no directory, or cannot be opened.
    Unusable(io::Error),
    /// It cannot be written to.
    NotWritable,
}

/// One served folder.
#[derive(Debug)]
pub struct Workspace {
    path: PathBuf,
    root: Mutex<Arc<OwnedFd>>,
    options: WorkspaceOptions,
    new_file_mode: Mode,
    cache: IndexCache,
    locks: Locks,
}

/// The lines asked for, 0-based, both ends inclusive, either end open.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LineRange {
    /// First line.
    pub start: Option<u64>,
    /// Last line; past the end means the last line.
    pub end: Option<u64>,
}

impl LineRange {
    /// Whether the whole file is meant.
    pub fn is_whole(&self) -> bool {
        self.start.is_none() && self.end.is_none()
    }

    fn check(&self) -> Result<()> {
        match (self.start, self.end) {
            (Some(start), Some(end)) if start > end => Err(Error::InvalidRange { start, end }),
            _ => Ok(()),
        }
    }

    /// The lines meant in a file of `total` lines.
    fn within(&self, total: usize) -> Result<Range<usize>> {
        let end = self.end.map_or(total, |end| (end.saturating_add(1)).min(total as u64) as usize);
        match self.start {
            None => Ok(0..end),
            Some(start) if start >= total as u64 => Err(Error::StartPastEnd { start, total }),
            Some(start) => Ok(start as usize..end),
        }
    }
}

/// What a read returns: nothing is copied if it is large.
#[derive(Debug)]
pub struct Excerpt {
    view: FileView,
    bytes: Range<usize>,
    /// The lines returned, 0-based, end exclusive.
    pub lines: Range<usize>,
    /// Lines in the file.
    pub total: usize,
}

impl Excerpt {
    /// The lines as they stand in the file, without the last one's break. They may change while they are read.
    pub fn bytes(&self) -> &[u8] {
        &self.view.bytes()[self.bytes.clone()]
    }

    /// Whether all that was read so far is what the file held when it was opened.
    pub fn unchanged(&self) -> bool {
        self.view.unchanged()
    }
}

/// What an edit did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Edited {
    /// Lines inserted, deleted and appended, and for a replaced line those that it became.
    pub lines_modified: usize,
    /// Lines of the file now.
    pub total_lines: usize,
    /// Whether there was no such file before.
    pub created: bool,
}

/// What of a file is read.
#[derive(Clone, Copy)]
enum Part {
    Lines(LineRange),
    Bytes,
}

/// How far a read may go to get at bytes.
#[derive(Clone, Copy, PartialEq)]
enum Effort {
    /// Only what is in memory and small.
    AtOnce,
    /// Whatever it takes.
    Full,
}

impl Workspace {
    /// Opens the folder at `path` and removes what dead processes left in it.
    pub fn open(path: &Path, options: WorkspaceOptions) -> Result<Workspace, OpenError> {
        let path = path.canonicalize().map_err(OpenError::Unusable)?;
        let root = open_folder(&path).map_err(OpenError::Unusable)?;
        if !options.read_only {
            let access = Access::WRITE_OK | Access::EXEC_OK;
            rustix::fs::accessat(&root, ".", access, rustix::fs::AtFlags::EACCESS)
                .map_err(|_| OpenError::NotWritable)?;
            // A leftover that cannot be removed harms nobody: it is hidden and has no name.
            let _ = atomic::remove_leftovers(&root);
        }
        let umask = rustix::process::umask(Mode::empty());
        rustix::process::umask(umask);
        Ok(Workspace {
            path,
            root: Mutex::new(Arc::new(root)),
            options,
            new_file_mode: Mode::from_raw_mode(0o666).difference(umask),
            cache: IndexCache::new(CACHE_BYTES),
            locks: Locks::default(),
        })
    }

    /// The folder's canonical path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether `folder` is a path of the folder.
    pub fn is_at(&self, folder: &Path) -> bool {
        folder == self.path || folder.canonicalize().is_ok_and(|folder| folder == self.path)
    }

    /// What the workspace may do.
    pub fn options(&self) -> &WorkspaceOptions {
        &self.options
    }

    /// Admits a name under the workspace's policy.
    pub fn parse_name(&self, name: &str) -> Result<FileName> {
        FileName::parse(name, self.options.names)
    }

    /// All files of the folder (SPEC 4, `list_files`); `with_access` asks the system what may be read and written.
    pub fn list(&self, with_access: bool, control: &Control) -> Result<list::Listing> {
        self.list_some(list::Wish { after: None, limit: usize::MAX, with_access }, control)
    }

    /// At most `limit` files, those behind the name `after` in byte order.
    pub fn list_page(&self, after: Option<&str>, limit: usize, control: &Control) -> Result<list::Listing> {
        self.list_some(list::Wish { after, limit, with_access: false }, control)
    }

    fn list_some(&self, wish: list::Wish, control: &Control) -> Result<list::Listing> {
        list::list(&self.root()?, &self.path, self.options.names, wish, |place| {
            self.count_lines(place, control)
        })
    }

    /// The lines `range` of the file `name`.
    pub fn read(&self, name: &FileName, range: LineRange, control: &Control) -> Result<Excerpt> {
        range.check()?;
        self.try_to_read(name.as_str(), Part::Lines(range), control)
    }

    /// All bytes of the file `name`, byte order mark and final break included.
    pub fn read_as_it_is(&self, name: &FileName, control: &Control) -> Result<Excerpt> {
        self.try_to_read(name.as_str(), Part::Bytes, control)
    }

    fn try_to_read(&self, name: &str, part: Part, control: &Control) -> Result<Excerpt> {
        for _ in 0..ATTEMPTS {
            control.check()?;
            let place = self.find(name)?;
            let Some(file) = self.open_place(&place, name)? else { continue };
            if let Some(excerpt) = self.excerpt(file, name, part, Effort::Full)? {
                return Ok(excerpt);
            }
        }
        Err(Error::Changed { name: name.into() })
    }

    /// As [`Workspace::read`], if that takes no waiting: small, and in memory already. Nothing if not.
    pub fn read_at_once(&self, name: &FileName, range: LineRange) -> Option<Result<Excerpt>> {
        if let Err(error) = range.check() {
            return Some(Err(error));
        }
        let root = self.root().ok()?;
        let place = Place::find(&root, OsStr::new(name.as_str())).ok()?;
        place.stat?;
        let file = self.open_place(&place, name.as_str()).ok()??;
        self.excerpt(file, name.as_str(), Part::Lines(range), Effort::AtOnce).transpose()
    }

    /// Changes lines of the file `name`, which is created if it is missing and `create` is set (SPEC 4, `edit_file`).
    pub fn edit_lines(
        &self,
        name: &FileName,
        edits: &LineEdits,
        create: bool,
        control: &Control,
    ) -> Result<Edited> {
        self.change(name, create, control, |index, old| {
            let Some(planned) = line_edit::plan(index, old, edits)? else { return Ok(None) };
            Ok(Some((planned.plan, (planned.lines_modified, planned.total_lines))))
        })
        .map(|((lines_modified, total_lines), created)| Edited {
            lines_modified,
            total_lines,
            created,
        })
    }

    /// Carries out one change of one file, whole or not at all (SPEC 8): lock, view, plan, write, rename.
    ///
    /// `plan` gets the index and the bytes of the file as it is (empty if it is to be created) and may refuse; it
    /// returns nothing if the bytes are not those that were indexed. Returns what it reports, and whether the file is
    /// new.
    pub fn change<'p, T>(
        &self,
        name: &FileName,
        create: bool,
        control: &Control,
        mut plan: impl FnMut(&LineIndex, &[u8]) -> Result<Option<(EditPlan<'p>, T)>>,
    ) -> Result<(T, bool)> {
        let name = name.as_str();
        if self.options.read_only {
            return Err(Error::PermissionDenied { name: name.into() });
        }
        let until = control.lock_deadline();
        let mut turn = None;
        let mut changed = 0;
        while changed < ATTEMPTS {
            let place = self.find_or_missing(name)?;
            turn = Some(self.take_turn(turn, &place, name, until, control)?);
            let outcome = match place.restat() {
                Ok(None) if create => self.change_missing(&place, name, control, &mut plan),
                Ok(None) => return Err(self.not_found(name)),
                Ok(Some(_)) => self.change_existing(&place, name, until, control, &mut plan),
                Err(errno) => return Err(Error::read(name, errno)),
            };
            match outcome? {
                Attempt::Done(done) => return Ok(done),
                Attempt::Replaced => control.check()?,
                Attempt::Changed => changed += 1,
            }
        }
        Err(Error::Changed { name: name.into() })
    }

    /// As [`Workspace::change`], but only plans: the same refusals and the same report, and nothing on the disk changes.
    pub fn rehearse<'p, T>(
        &self,
        name: &FileName,
        create: bool,
        control: &Control,
        mut plan: impl FnMut(&LineIndex, &[u8]) -> Result<Option<(EditPlan<'p>, T)>>,
    ) -> Result<(T, bool)> {
        let name = name.as_str();
        for _ in 0..ATTEMPTS {
            control.check()?;
            let place = self.find_or_missing(name)?;
            if place.stat.is_none() && create {
                let index = IndexBuilder::new(BLOCK_SHIFT).finish();
                let Some((edit, report)) = plan(&index, b"")? else { continue };
                self.check_size(&edit, 0)?;
                return Ok((report, true));
            }
            if place.stat.is_none() {
                return Err(self.not_found(name));
            }
            let Some(file) = self.open_place(&place, name)? else { continue };
            if !place.allows(Access::WRITE_OK) {
                return Err(Error::PermissionDenied { name: name.into() });
            }
            let Some((view, index)) = self.whole(file, name)? else { continue };
            let planned = plan(&index, view.bytes());
            // What was read, a refusal too, holds only if the bytes were true.
            if view.unchanged() {
                let Some((edit, report)) = planned? else { continue };
                self.check_size(&edit, view.bytes().len())?;
                return Ok((report, false));
            }
        }
        Err(Error::Changed { name: name.into() })
    }

    /// Whether what an edit makes of `len` bytes is within the limit. Returns how many bytes that are.
    fn check_size(&self, edit: &EditPlan, len: usize) -> Result<u64> {
        let (size, max) = (edit.len_after(len) as u64, self.options.max_bytes);
        let too_large = size > max && !edit.changes_nothing();
        if too_large { Err(Error::TooLarge { size, max }) } else { Ok(size) }
    }

    fn change_missing<'p, T>(
        &self,
        place: &Place,
        name: &str,
        control: &Control,
        plan: &mut impl FnMut(&LineIndex, &[u8]) -> Result<Option<(EditPlan<'p>, T)>>,
    ) -> Result<Attempt<T>> {
        let index = IndexBuilder::new(BLOCK_SHIFT).finish();
        let Some((edit, report)) = plan(&index, b"")? else { return Ok(Attempt::Changed) };
        let written = self.write(place, name, &edit, b"", &Replaces::Nothing(self.new_file_mode), control);
        match written {
            Ok(()) => Ok(Attempt::Done((report, true))),
            Err(Stopped::Failed(Failure::Exists)) => Ok(Attempt::Replaced),
            Err(stopped) => Err(stopped.into_error(name)),
        }
    }

    fn change_existing<'p, T>(
        &self,
        place: &Place,
        name: &str,
        until: Instant,
        control: &Control,
        plan: &mut impl FnMut(&LineIndex, &[u8]) -> Result<Option<(EditPlan<'p>, T)>>,
    ) -> Result<Attempt<T>> {
        let Some(first) = self.open_place(place, name)? else { return Ok(Attempt::Replaced) };
        if !place.allows(Access::WRITE_OK) {
            return Err(Error::PermissionDenied { name: name.into() });
        }
        let id = (first.stamp().dev, first.stamp().ino);
        let locked = self.locks.lock(first.file(), id, until, control)?;
        let _lock = match locked.map_err(|error| Error::write(name, error))? {
            Locked::Held(lock) => lock,
            Locked::StartOver => return Ok(Attempt::Replaced),
            Locked::TooLate => return Err(Error::Locked { name: name.into() }),
        };
        // Whoever had the lock before may have replaced the file: then ours is the lock of a file without a name.
        let Some(file) = self.open_place(place, name)? else { return Ok(Attempt::Replaced) };
        if !file.stamp().same_file(first.stamp()) {
            return Ok(Attempt::Replaced);
        }
        let Some((view, index)) = self.whole(file, name)? else { return Ok(Attempt::Changed) };
        let planned = plan(&index, view.bytes());
        // A refusal, or that there is nothing to do, was read from these bytes: it holds only if they were true.
        if planned.as_ref().map_or(true, |plan| plan.as_ref().is_none_or(|(edit, _)| edit.changes_nothing()))
            && !view.unchanged()
        {
            return Ok(Attempt::Changed);
        }
        let Some((edit, report)) = planned? else { return Ok(Attempt::Changed) };
        if edit.changes_nothing() {
            return Ok(Attempt::Done((report, false)));
        }
        let written = self.write(place, name, &edit, view.bytes(), &Replaces::File(view.file()), control);
        match written {
            Ok(()) => Ok(Attempt::Done((report, false))),
            Err(Stopped::Failed(_)) if !view.unchanged() => Err(Error::Changed { name: name.into() }),
            Err(stopped) => Err(stopped.into_error(name)),
        }
    }

    /// Writes the result of `edit` beside the old file and puts it in its place.
    fn write(
        &self,
        place: &Place,
        name: &str,
        edit: &EditPlan,
        old: &[u8],
        replaces: &Replaces,
        control: &Control,
    ) -> Result<(), Stopped> {
        let size = self.check_size(edit, old.len()).map_err(Stopped::Refused)?;
        control.check().map_err(Stopped::Refused)?;
        let root = self.root().map_err(Stopped::Refused)?;
        let dir = if same_device(&root, &place.dir) { &root } else { &place.dir };
        let new = AtomicFile::create(dir).map_err(Failure::from)?;
        let mut out =
            BufWriter::with_capacity(64 * 1024, Indexing { out: new, index: IndexBuilder::new(BLOCK_SHIFT) });
        edit.write_to(old, &mut out).map_err(Failure::from)?;
        let Indexing { out: new, index } =
            out.into_inner().map_err(|error| Failure::from(error.into_error()))?;
        let commit = || control.begin_commit().map_err(Stopped::Refused);
        let stamp = new.commit(place, replaces, self.options.durability, commit)?;
        if let Some(stamp) = stamp {
            self.cache.put_unique(&stamp, Known::Text(Arc::new(index.finish())));
        }
        tracing::trace!(file = name, bytes = size, "written");
        Ok(())
    }

    /// The folder's handle. A folder that was removed and made again is opened anew.
    fn root(&self) -> Result<Arc<OwnedFd>> {
        let mut root = self.root.lock().unwrap_or_else(PoisonError::into_inner);
        let gone = rustix::fs::fstat(&*root).map_or(true, |stat| stat.st_nlink == 0);
        if gone {
            *root = Arc::new(open_folder(&self.path).map_err(|_| Error::FolderGone)?);
        }
        Ok(root.clone())
    }

    /// The place of an existing file.
    fn find(&self, name: &str) -> Result<Place> {
        let place = self.find_or_missing(name)?;
        if place.stat.is_none() { Err(self.not_found(name)) } else { Ok(place) }
    }

    fn find_or_missing(&self, name: &str) -> Result<Place> {
        Place::find(&self.root()?, OsStr::new(name)).map_err(|refusal| refused(name, refusal))
    }

    fn not_found(&self, name: &str) -> Error {
        let similar =
            self.root().map(|root| list::similar_names(&root, name, self.options.names)).unwrap_or_default();
        Error::NotFound { name: name.into(), similar }
    }

    /// Opens the file if it is within the limit. Nothing if it is no longer what was found.
    fn open_place(&self, place: &Place, name: &str) -> Result<Option<OpenFile>> {
        let Some(file) = place.open().map_err(|refusal| refused(name, refusal))? else { return Ok(None) };
        let (size, max) = (file.stamp().len, self.options.max_bytes);
        if size > max { Err(Error::TooLarge { size, max }) } else { Ok(Some(file)) }
    }

    fn take_turn<'w>(
        &'w self,
        held: Option<Turn<'w>>,
        place: &Place,
        name: &str,
        until: Instant,
        control: &Control,
    ) -> Result<Turn<'w>> {
        let dir = rustix::fs::fstat(&place.dir).map_err(|errno| Error::read(name, errno))?;
        let key: PathKey = (dir.st_dev, dir.st_ino, place.name.clone());
        if let Some(turn) = held.filter(|turn| *turn.key() == key) {
            return Ok(turn);
        }
        match self.locks.turn(key, until, control)? {
            Some(turn) => Ok(turn),
            None => Err(Error::Locked { name: name.into() }),
        }
    }

    /// A part of an open file. Nothing if the file changed under us, or if it takes more than `effort`.
    fn excerpt(&self, file: OpenFile, name: &str, part: Part, effort: Effort) -> Result<Option<Excerpt>> {
        let Some((view, index)) = self.view_of(file, name, part, effort)? else { return Ok(None) };
        let total = index.len_lines();
        let (lines, bytes) = match part {
            Part::Bytes => (0..total, Some(0..index.len_bytes())),
            Part::Lines(range) => {
                let lines = range.within(total)?;
                let bytes = index.byte_range(&lines, view.bytes(), view.offset());
                (lines, bytes)
            }
        };
        // A copy is final: what it holds now is what goes out, so it must be true now.
        if view.bytes().len() <= MAP_CUTOFF && !view.unchanged() {
            return Ok(None);
        }
        let start = view.offset();
        let within = |at: usize| at.checked_sub(start).filter(|at| *at <= view.bytes().len());
        let bytes = bytes.and_then(|bytes| Some(within(bytes.start)?..within(bytes.end)?));
        Ok(bytes.map(|bytes| Excerpt { view, bytes, lines, total }))
    }

    /// The stretch of a file that holds a part of it, and the file's index, from the cache or made now.
    fn view_of(
        &self,
        file: OpenFile,
        name: &str,
        part: Part,
        effort: Effort,
    ) -> Result<Option<(FileView, Arc<LineIndex>)>> {
        let whole = 0..file.len_bytes();
        match self.cache.get(file.stamp()) {
            Some(Known::NotText(why)) => Err(not_text(why, name)),
            // An index of another length is of other bytes, whatever the stamp says.
            Some(Known::Text(index)) if index.len_bytes() == file.len_bytes() => {
                let window = match part {
                    Part::Bytes => whole,
                    Part::Lines(range) => index.window(&range.within(index.len_lines())?),
                };
                Ok(load(file, window, name, effort)?.map(|view| (view, index)))
            }
            _ => {
                let Some(view) = load(file, whole, name, effort)? else { return Ok(None) };
                Ok(self.index(&view, name)?.map(|index| (view, index)))
            }
        }
    }

    /// The whole of an open file and its index. Nothing if the file changed under us.
    fn whole(&self, file: OpenFile, name: &str) -> Result<Option<(FileView, Arc<LineIndex>)>> {
        self.view_of(file, name, Part::Bytes, Effort::Full)
    }

    /// Indexes a view of a whole file and remembers it. Nothing if the file changed meanwhile.
    fn index(&self, view: &FileView, name: &str) -> Result<Option<Arc<LineIndex>>> {
        let built = LineIndex::build(view.bytes());
        if !view.unchanged() {
            return Ok(None);
        }
        let stamp: &FileStamp = view.file().stamp();
        match built {
            Ok(index) => {
                let index = Arc::new(index);
                self.cache.put(stamp, Known::Text(index.clone()));
                Ok(Some(index))
            }
            Err(why) => {
                self.cache.put(stamp, Known::NotText(why));
                Err(not_text(why, name))
            }
        }
    }

    /// The lines of a listed file; nothing if it is too large, not text or not readable. What is known is told even
    /// when the time is up.
    fn count_lines(&self, place: &Place, control: &Control) -> Result<Option<usize>> {
        let Some(stamp) = place.stat.as_ref().map(FileStamp::of) else { return Ok(None) };
        if stamp.len > self.options.max_bytes {
            return Ok(None);
        }
        match self.cache.get(&stamp) {
            Some(Known::Text(index)) => return Ok(Some(index.len_lines())),
            Some(Known::NotText(_)) => return Ok(None),
            None => control.check()?,
        }
        let Ok(Some(file)) = self.open_place(place, "") else { return Ok(None) };
        let whole = self.whole(file, "").ok().flatten();
        Ok(whole.map(|(_, index)| index.len_lines()))
    }
}

/// How one try at a change ended.
enum Attempt<T> {
    Done((T, bool)),
    /// Another of our kind was first: start over on what is there now.
    Replaced,
    /// A program that does not lock wrote to the file while we read it.
    Changed,
}

/// Why nothing was written.
enum Stopped {
    Refused(Error),
    Failed(Failure),
}

impl From<Failure> for Stopped {
    fn from(failure: Failure) -> Stopped {
        Stopped::Failed(failure)
    }
}

impl Stopped {
    fn into_error(self, name: &str) -> Error {
        match self {
            Stopped::Refused(error) => error,
            Stopped::Failed(Failure::Io(source)) if source.kind() == io::ErrorKind::NotFound => {
                Error::WriteFailed { source }
            }
            Stopped::Failed(Failure::Io(source)) => Error::write(name, source),
            Stopped::Failed(Failure::Changed | Failure::Exists) => Error::Changed { name: name.into() },
        }
    }
}

/// A writer that indexes what goes through it.
struct Indexing {
    out: AtomicFile,
    index: IndexBuilder,
}

impl Write for Indexing {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(&bytes[..bytes.len().min(1 << 20)])?;
        self.index.push(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

fn open_folder(path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(rustix::fs::open(path, flags, Mode::empty())?)
}

fn same_device(one: &OwnedFd, other: &OwnedFd) -> bool {
    let device = |fd| rustix::fs::fstat(fd).map(|stat| stat.st_dev);
    matches!((device(one), device(other)), (Ok(one), Ok(other)) if one == other)
}

fn refused(name: &str, refusal: Refusal) -> Error {
    match refusal {
        Refusal::Forbidden => Error::PermissionDenied { name: name.into() },
        Refusal::System(errno) => Error::read(name, errno),
    }
}

fn not_text(why: NotText, name: &str) -> Error {
    match why {
        NotText::Nul => Error::NotText { name: name.into() },
        NotText::InvalidUtf8 => Error::InvalidUtf8,
    }
}

/// The bytes of `window`. Nothing if the file has become shorter, or if they are not at hand and should be.
fn load(file: OpenFile, window: Range<usize>, name: &str, effort: Effort) -> Result<Option<FileView>> {
    match effort {
        Effort::AtOnce if window.len() > MAP_CUTOFF => Ok(None),
        Effort::AtOnce => Ok(file.view_at_once(window)),
        Effort::Full => match file.view(window) {
            Ok(view) => Ok(Some(view)),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(None),
            Err(error) => Err(Error::read(name, error)),
        },
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::time::Duration;

    use super::super::step;
    use super::super::{LineEdit, Operation};
    use super::*;

    fn open(dir: &Path) -> Workspace {
        let options = WorkspaceOptions {
            names: NamePolicy::Portable,
            max_bytes: 10 << 20,
            read_only: false,
            durability: Durability::Full,
        };
        Workspace::open(dir, options).unwrap()
    }

    fn control() -> Control {
        Control::new(Duration::from_secs(60))
    }

    fn replace_line(line: u64, content: &str) -> LineEdits {
        let operation = Operation::Replace { content: content.into(), expect: None };
        LineEdits { edits: vec![LineEdit { line, operation }], append: None }
    }

    fn append(text: &str) -> LineEdits {
        LineEdits { edits: Vec::new(), append: Some(text.into()) }
    }

    fn names(dir: &Path) -> Vec<String> {
        let mut names: Vec<_> = std::fs::read_dir(dir)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    /// Crashes an edit of `a` after each of its steps, and looks at what is left each time.
    fn crash_everywhere(old: Option<&str>, edits: &LineEdits, new: &str) -> usize {
        for step in 1.. {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("a");
            if let Some(old) = old {
                std::fs::write(&path, old).unwrap();
                std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
            }
            let workspace = open(dir.path());
            let name = workspace.parse_name("a").unwrap();
            let crashed = step::crash_at(step, || {
                let _ = workspace.edit_lines(&name, edits, true, &control());
            });
            drop(workspace);
            let found = std::fs::read_to_string(&path).ok();
            assert!(found.as_deref() == old || found.as_deref() == Some(new), "step {step}: {found:?}");
            let restarted = open(dir.path());
            let expected: &[&str] = if found.is_some() { &["a"] } else { &[] };
            assert_eq!(names(dir.path()), expected, "step {step}: no leftovers after the next start");
            assert_eq!(std::fs::read_to_string(&path).ok(), found);
            restarted.edit_lines(&name, &append("works"), true, &control()).unwrap();
            if !crashed {
                assert_eq!(found.as_deref(), Some(new));
                return step - 1;
            }
        }
        unreachable!("a write has an end")
    }

    #[test]
    fn a_crash_after_any_step_of_an_edit_leaves_the_old_file_or_the_new_one() {
        let steps = crash_everywhere(Some("one\ntwo\n"), &replace_line(1, "TWO"), "one\nTWO\n");
        assert!(steps >= 7, "create, write, mode, time, flush, rename, flush of the folder: {steps}");
    }

    #[test]
    fn a_crash_after_any_step_of_a_large_edit_leaves_the_old_file_or_the_new_one() {
        let old = "0123456789abcdef\n".repeat(200_000);
        let new = format!("{old}end\n");
        let steps = crash_everywhere(Some(&old), &append("end"), &new);
        assert!(steps >= 9, "{steps}");
    }

    #[test]
    fn a_crash_after_any_step_of_a_creation_leaves_no_file_or_the_new_one() {
        let steps = crash_everywhere(None, &append("one"), "one\n");
        assert!(steps >= 7, "{steps}");
    }

    #[test]
    fn a_program_that_writes_without_a_lock_at_any_step_is_never_hidden_by_the_index_of_the_edit() {
        for at in 1.. {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("a");
            std::fs::write(&path, "1\n2\n3\n4\n").unwrap();
            let workspace = open(dir.path());
            let name = workspace.parse_name("a").unwrap();
            let victim = path.clone();
            // As long as the edited file, but with fewer lines.
            let meddle = move || std::fs::write(victim, "XXX\nYY\n").unwrap();
            let happened = step::meddle_at(at, meddle, || {
                let _ = workspace.edit_lines(&name, &replace_line(1, ""), false, &control());
            });
            if !happened {
                return assert!(at >= 7, "{at}");
            }
            let disk = std::fs::read_to_string(&path).unwrap();
            let read = workspace.read(&name, LineRange::default(), &control()).unwrap();
            assert_eq!(read.total, disk.lines().count(), "step {at}: {disk:?}");
            assert_eq!(read.bytes(), disk.trim_end_matches('\n').as_bytes(), "step {at}");
        }
    }

    #[test]
    fn an_edit_through_a_link_replaces_what_the_link_points_at() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("sub")).unwrap();
        std::fs::write(dir.path().join("sub/b.txt"), "old\n").unwrap();
        symlink("sub/b.txt", dir.path().join("a")).unwrap();
        let workspace = open(dir.path());
        let name = workspace.parse_name("a").unwrap();
        workspace.edit_lines(&name, &replace_line(0, "new"), false, &control()).unwrap();
        assert_eq!(std::fs::read(dir.path().join("sub/b.txt")).unwrap(), b"new\n");
        assert!(dir.path().join("a").is_symlink());
        assert_eq!(
            (names(dir.path()), names(&dir.path().join("sub"))),
            (vec!["a".into(), "sub".into()], vec!["b.txt".into()])
        );
    }

    #[test]
    fn an_edit_that_was_called_off_changes_nothing() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("a"), "old\n").unwrap();
        let workspace = open(dir.path());
        let name = workspace.parse_name("a").unwrap();
        let cancelled = control();
        assert!(cancelled.cancel());
        for control in [cancelled, Control::new(Duration::ZERO)] {
            let refused = workspace.edit_lines(&name, &append("x"), false, &control).unwrap_err();
            assert!(matches!(refused, Error::Cancelled | Error::TimedOut), "{refused:?}");
        }
        assert_eq!(std::fs::read(dir.path().join("a")).unwrap(), b"old\n");
        assert_eq!(names(dir.path()), ["a"]);
    }

    #[test]
    fn a_folder_that_was_removed_and_made_again_is_served_again() {
        let parent = tempfile::tempdir().unwrap();
        let dir = parent.path().join("folder");
        std::fs::create_dir(&dir).unwrap();
        let workspace = open(&dir);
        let name = workspace.parse_name("a").unwrap();
        std::fs::remove_dir(&dir).unwrap();
        assert!(matches!(workspace.list(false, &control()), Err(Error::FolderGone)));
        assert!(matches!(
            workspace.edit_lines(&name, &append("x"), true, &control()),
            Err(Error::FolderGone)
        ));
        std::fs::create_dir(&dir).unwrap();
        workspace.edit_lines(&name, &append("x"), true, &control()).unwrap();
        assert_eq!(std::fs::read(dir.join("a")).unwrap(), b"x\n");
    }

    #[test]
    fn a_read_after_an_edit_finds_the_index_that_the_edit_made() {
        let dir = tempfile::tempdir().unwrap();
        let workspace = open(dir.path());
        let name = workspace.parse_name("a").unwrap();
        let text = "line\n".repeat(50_000);
        workspace.edit_lines(&name, &append(&text), true, &control()).unwrap();
        let range = LineRange { start: Some(49_999), end: None };
        let excerpt = workspace.read_at_once(&name, range).expect("large, but its index is known").unwrap();
        assert_eq!((excerpt.bytes(), excerpt.total), (&b"line"[..], 50_000));
        std::fs::write(dir.path().join("a"), text.replace("line", "LINE")).unwrap();
        assert!(workspace.read_at_once(&name, range).is_none());
        let excerpt = workspace.read(&name, range, &control()).unwrap();
        assert_eq!(excerpt.bytes(), b"LINE");
    }
}
