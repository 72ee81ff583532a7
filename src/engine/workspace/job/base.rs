//! The file to whose bytes a plan applies, in the state in which it was planned.
//!
//! A job of many files has it open only while it reads it: there are fewer descriptors than files.

use std::sync::Arc;

use crate::workspace::found::refused;
use folder::fs::resolve::ResolvedPath;
use folder::fs::version::FileStamp;
use folder::fs::view::OpenFile;
use folder::{Error, Result};
use sys::fs::Stat;

/// See the module.
#[derive(Debug, Clone)]
pub(super) struct Base {
    place: ResolvedPath,
    stamp: FileStamp,
    stat: Stat,
    open: Option<Arc<OpenFile>>,
}

impl Base {
    /// The open file that is at `place`.
    pub(super) fn new(place: &ResolvedPath, file: Arc<OpenFile>) -> Base {
        Base { place: place.clone(), stamp: *file.stamp(), stat: *file.stat(), open: Some(file) }
    }

    /// Its state.
    pub(super) fn stamp(&self) -> &FileStamp {
        &self.stamp
    }

    /// Its status.
    pub(super) fn stat(&self) -> &Stat {
        &self.stat
    }

    /// Its size in bytes.
    pub(super) fn len_bytes(&self) -> usize {
        self.stamp.len as usize
    }

    /// Gives its descriptor back, until it is opened again.
    pub(super) fn close(&mut self) {
        self.open = None;
    }

    /// The file. [`Error::Changed`] if another one is there, or another state of it.
    pub(super) fn open(&self, name: &str) -> Result<Arc<OpenFile>> {
        if let Some(open) = &self.open {
            return Ok(open.clone());
        }
        let opened = self.place.open().map_err(|refusal| refused(name, refusal))?;
        let opened =
            opened.map(OpenFile::of_its_length).transpose().map_err(|error| Error::read(name, error))?;
        let same = opened.filter(|file| *file.stamp() == self.stamp);
        same.map(Arc::new).ok_or_else(|| Error::Changed { name: name.into() })
    }
}
