//! Writes the new content of a file to a temporary file, and renames it over the old one.
//!
//! Long stretches that do not change are copied inside the kernel. The index of the result is built meanwhile.

use std::io::{self, BufWriter, Write};
use std::ops::Range;
use std::sync::Arc;

use super::Workspace;
use super::excerpt::unchanged;
use super::found::Found;
use crate::cache::CachedText;
use folder::fs::atomic::{AtomicFile, ReplaceError, Replaces};
use folder::fs::file_system;
use folder::fs::view::FileView;
use folder::{ContentHash, Control, Error, FilePath, FileVersion};
use sys::fd::OwnedFd;
use text::lines::IndexBuilder;
use text::splice::{EditPlan, Piece};

/// Bytes written between two looks at whether the change was stopped. Shorter stretches are not worth a copy
/// inside the kernel.
const STEP: usize = 1 << 20;

/// Files shorter than this are written from memory: their bytes are read for the index anyway, and writing them at once
/// is a tenth faster.
const COPIED_IN_KERNEL: usize = 32 << 20;

/// What a change writes.
pub(super) struct NewContent<'c> {
    pub(super) edit: &'c EditPlan<'c>,
    /// All bytes to which the edit applies. `None`: there are none.
    pub(super) old: Option<&'c FileView>,
    /// Whether the result tells the version.
    pub(super) versioned: bool,
    /// Whether the result may be bytes that are no text in UTF-8. Then its index would be wrong.
    pub(super) makes_any_bytes: bool,
    /// Whether the limit of its size is one of what it adds.
    pub(super) any_size: bool,
    /// Whether it has no limit: it was there before.
    pub(super) restores: bool,
}

impl NewContent<'_> {
    /// The version of the new content.
    fn version(&self) -> FileVersion {
        let mut hash = ContentHash::default();
        // A write to a hash cannot fail.
        let _ = self.edit.write_to(self.old.map_or(b"", |old| old.bytes()), &mut hash);
        hash.version()
    }
}

/// Why nothing was written.
pub(super) enum Stopped {
    Refused(Error),
    Failed(ReplaceError),
}

impl From<ReplaceError> for Stopped {
    fn from(failure: ReplaceError) -> Stopped {
        Stopped::Failed(failure)
    }
}

impl Stopped {
    /// Whether the folder was removed meanwhile.
    pub(super) fn lost_its_folder(&self) -> bool {
        matches!(self, Stopped::Failed(ReplaceError::Io(source)) if source.kind() == io::ErrorKind::NotFound)
    }

    /// Takes the commit back unless the change is in place.
    pub(super) fn undo_commit(self, control: &Control) -> Stopped {
        if !matches!(self, Stopped::Failed(ReplaceError::InPlace(_))) {
            control.undo_commit();
        }
        self
    }

    pub(super) fn into_error(self, name: &str) -> Error {
        match self {
            Stopped::Refused(error) => error,
            Stopped::Failed(ReplaceError::Io(source) | ReplaceError::InPlace(source)) => {
                Error::write_in_folder(name, source)
            }
            Stopped::Failed(ReplaceError::Changed | ReplaceError::Exists) => {
                Error::Changed { name: name.into() }
            }
        }
    }
}

impl Workspace {
    /// Writes the result of an edit to a temporary file and renames it over the old file.
    pub(super) fn write(
        &self,
        found: &Found,
        path: &FilePath,
        content: NewContent,
        replaces: &Replaces,
        control: &Control,
    ) -> Result<Option<FileVersion>, Stopped> {
        let place = &found.place;
        let shows_writers = file_system::of(&place.dir).shows_writers;
        let dir = if switches::is_off("edit-device") { found.folder.handle() } else { &place.dir };
        let Indexing { out: new, index, content: hash } =
            self.compose(dir, path, &content, shows_writers, control)?;
        let size = new.len_bytes();
        let commit = || {
            if !switches::is_off("folder-commit") {
                self.folders.check_still_leads_to(path, found).map_err(Stopped::Refused)?;
            }
            match switches::is_off("edit-commit") {
                true => Ok(()),
                false => control.begin_commit().map_err(Stopped::Refused),
            }
        };
        let stamp = new.commit(place, replaces, self.options.durability, commit);
        let stamp = stamp.map_err(|stopped: Stopped| stopped.undo_commit(control))?;
        tracing::trace!(file = path.sent(), bytes = size, "written");
        let stamp = stamp.filter(|_| shows_writers);
        if let Some(stamp) = stamp.as_ref().filter(|_| !content.makes_any_bytes) {
            self.cache.put(stamp, CachedText::Text(Arc::new(index.finish())));
        }
        Ok(content.versioned.then(|| match (stamp, hash) {
            (Some(stamp), _) => FileVersion::of_stamp(&stamp),
            (None, Some(hash)) => hash.version(),
            // Another program has written to the file since: what was written here is composed once more.
            (None, None) => content.version(),
        }))
    }
}

impl Workspace {
    /// Writes new content to a temporary file in `dir`. `shows_writers`: of the file system.
    pub(super) fn compose(
        &self,
        dir: &Arc<OwnedFd>,
        path: &FilePath,
        content: &NewContent,
        shows_writers: bool,
        control: &Control,
    ) -> Result<Indexing, Stopped> {
        let old_len = content.old.map_or(0, |old| old.bytes().len());
        let size = match content.restores {
            true => content.edit.len_after(old_len) as u64,
            false => self.check_size(content.edit, old_len, content.any_size).map_err(Stopped::Refused)?,
        };
        if !switches::is_off("edit-late") {
            control.check().map_err(Stopped::Refused)?;
        }
        // The temporary file is in the file's own folder, because a rename between folders may cross a mount.
        self.cleared.clear_once(dir, &self.mounts);
        let new = AtomicFile::create(dir).map_err(ReplaceError::from)?;
        let out = Indexing {
            out: new,
            index: IndexBuilder::of_len(size as usize),
            // Elsewhere, the stamp is the version.
            content: (content.versioned && !shows_writers).then(ContentHash::default),
        };
        let mut writing = Writing { out: BufWriter::with_capacity(64 * 1024, out), unchecked: 0, control };
        writing.write(content, old_len)?;
        // Zeros in the place of old bytes that the system failed to read must not become the file's.
        if let Some(old) = content.old
            && !switches::is_off("map-error-written")
            && old.has_hole()
            && !unchanged(old, path.sent()).map_err(Stopped::Refused)?
        {
            return Err(Stopped::Refused(Error::Changed { name: path.sent().into() }));
        }
        Ok(writing.out.into_inner().map_err(|error| ReplaceError::from(error.into_error()))?)
    }
}

/// The way of new content into its temporary file.
struct Writing<'c> {
    out: BufWriter<Indexing>,
    /// Bytes written since the last look at whether the change was stopped.
    unchecked: usize,
    control: &'c Control,
}

impl Writing<'_> {
    fn write(&mut self, content: &NewContent, old_len: usize) -> Result<(), Stopped> {
        // Reading the old bytes was the first part of the work.
        let total = (old_len + content.edit.len_after(old_len)) as u64;
        for piece in content.edit.pieces(old_len) {
            match (piece, content.old) {
                (Piece::Kept(range), Some(old)) => {
                    let end = range.end;
                    for start in range.step_by(STEP) {
                        let step = start..end.min(start + STEP);
                        self.look(step.len(), old_len as u64, total)?;
                        self.keep(old, step).map_err(ReplaceError::from)?;
                    }
                }
                (Piece::Kept(_), None) => {}
                (Piece::New(text), _) => self.out.write_all(&text).map_err(ReplaceError::from)?,
            }
        }
        Ok(())
    }

    /// Stops if the change was stopped, now and then, and tells how far it is.
    fn look(&mut self, len: usize, read: u64, total: u64) -> Result<(), Stopped> {
        self.unchecked += len;
        if self.unchecked < STEP {
            return Ok(());
        }
        self.unchecked = 0;
        self.control.progress(read + self.out.get_ref().out.len_bytes(), Some(total));
        self.control.check().map_err(Stopped::Refused)
    }

    /// Appends these bytes of the old file.
    fn keep(&mut self, old: &FileView, range: Range<usize>) -> io::Result<()> {
        let bytes = &old.bytes()[range.clone()];
        if switches::is_off("edit-in-kernel") || bytes.len() < STEP || old.bytes().len() < COPIED_IN_KERNEL {
            return self.out.write_all(bytes);
        }
        self.out.flush()?;
        let Indexing { out, .. } = self.out.get_mut();
        let copied = out.copy_range_from(old.file(), range)?;
        self.out.get_mut().note(&bytes[..copied]);
        // What the kernel cannot copy.
        self.out.write_all(&bytes[copied..])
    }
}

/// A writer that indexes the bytes it writes.
pub(super) struct Indexing {
    pub(super) out: AtomicFile,
    index: IndexBuilder,
    /// For the version of the new content.
    content: Option<ContentHash>,
}

impl Indexing {
    fn note(&mut self, bytes: &[u8]) {
        self.index.push(bytes);
        if let Some(content) = &mut self.content {
            content.push(bytes);
        }
    }
}

impl Write for Indexing {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(&bytes[..bytes.len().min(STEP)])?;
        self.note(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
