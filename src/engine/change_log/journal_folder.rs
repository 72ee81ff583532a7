//! A folder of the journal, which is opened when it is needed, and again where another one, or none, is at its path since: it may be
//! removed while the server runs. What only reads takes one that cannot be written, and makes none.

use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use folder::fs::private::PrivateFolder;

use super::held;

/// See the module.
#[derive(Debug)]
pub(super) struct JournalFolder {
    pub(super) path: PathBuf,
    opened: Mutex<Option<Opened>>,
}

#[derive(Debug, Clone)]
struct Opened {
    folder: Arc<PrivateFolder>,
    /// Whether it was found that it can be written.
    is_writable: bool,
}

impl JournalFolder {
    pub(super) fn new(path: PathBuf) -> JournalFolder {
        JournalFolder { path, opened: Mutex::default() }
    }

    /// The folder that is at the path now. `None`: there is none.
    pub(super) fn look(&self) -> io::Result<Option<Arc<PrivateFolder>>> {
        let mut opened = held(&self.opened);
        if !opened.as_ref().is_some_and(|opened| opened.folder.is_at(&self.path)) {
            let found = PrivateFolder::open_to_read(&self.path)?.map(Arc::new);
            *opened = found.map(|folder| Opened { folder, is_writable: false });
        }
        Ok(opened.as_ref().map(|opened| opened.folder.clone()))
    }

    /// The folder that was found last. Spares the look where many files are read.
    pub(super) fn known(&self) -> io::Result<Option<Arc<PrivateFolder>>> {
        let known = held(&self.opened).as_ref().map(|opened| opened.folder.clone());
        known.map_or_else(|| self.look(), |known| Ok(Some(known)))
    }

    /// The folder that is at the path now, to write to. Makes it if it is missing.
    pub(super) fn make(&self) -> io::Result<Arc<PrivateFolder>> {
        let mut opened = held(&self.opened);
        match &*opened {
            Some(Opened { folder, is_writable: true }) if folder.is_at(&self.path) => Ok(folder.clone()),
            _ => {
                let folder = Arc::new(PrivateFolder::open(&self.path, std::iter::empty())?);
                *opened = Some(Opened { folder: folder.clone(), is_writable: true });
                Ok(folder)
            }
        }
    }
}
