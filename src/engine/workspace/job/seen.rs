//! Entries that a job deletes, as they were when the journal got their content. What another program has made of them since is only in
//! the entry itself, which must not go then.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::SystemTime;

use folder::fs::resolve::{ResolvedPath, file_type};
use folder::fs::version::FileStamp;
use folder::fs::view::OpenFile;
use sys::fs::{FileType, Stat};

/// What a step deletes, by the paths in it: the entry itself has an empty one.
pub(super) type SeenEntries = HashMap<Vec<u8>, Seen>;

/// See the module.
#[derive(Debug, Clone, Copy)]
pub(super) struct Seen {
    stamp: FileStamp,
    /// Kind and permissions.
    mode: u32,
    /// The hash of its content or target, if that is known.
    hash: Option<u64>,
    /// Whether a write since then is sure to have changed the stamp.
    is_sure: bool,
}

impl Seen {
    /// An entry with this status.
    pub(super) fn of(stat: &Stat) -> Seen {
        Seen { stamp: FileStamp::of(stat), mode: stat.st_mode, hash: None, is_sure: true }
    }

    /// A file whose content was just read.
    pub(super) fn read(file: &OpenFile, content: &[u8]) -> Seen {
        let is_sure = !file.stamp().is_racy(SystemTime::now());
        Seen { hash: Some(journal::hash(content)), is_sure, ..Seen::of(file.stat()) }
    }

    /// A link with this target.
    pub(super) fn link(stat: &Stat, target: &[u8]) -> Seen {
        Seen { hash: Some(journal::hash(target)), ..Seen::of(stat) }
    }

    /// Whether the entry at `place`, whose status is known, is the same, whatever name it has. `before`: its status before it was renamed,
    /// which changes its time of change.
    pub(super) fn is_at(&self, place: &ResolvedPath, before: Option<&Stat>) -> bool {
        let Some(now) = &place.stat else { return false };
        let (stamp, known) = (FileStamp::of(now), FileStamp::of(before.unwrap_or(now)));
        if now.st_mode != self.mode {
            return false;
        }
        if file_type(now) == FileType::Directory {
            // Names that the job hides in it change its times.
            return stamp.same_file(&known);
        }
        self.is_sure && known == self.stamp && stamp.same_content(&known) || self.has_content(place, &stamp)
    }

    /// Whether the file or link at `place` has the content, as far as that is known.
    fn has_content(&self, place: &ResolvedPath, now: &FileStamp) -> bool {
        let Some(hash) = self.hash else { return now.same_content(&self.stamp) };
        if now.len != self.stamp.len {
            return false;
        }
        match place.stat.as_ref().map(file_type) {
            Some(FileType::Symlink) => sys::fs::readlinkat(&place.dir, &place.name, Vec::new())
                .is_ok_and(|target| journal::hash(target.as_bytes()) == hash),
            _ => {
                let Ok(Some(file)) = place.open() else { return false };
                let file = Arc::new(file);
                let view = file.clone().view(0..file.len_bytes());
                view.is_ok_and(|view| journal::hash(view.bytes()) == hash)
            }
        }
    }
}
