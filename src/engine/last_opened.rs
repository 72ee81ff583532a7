//! The file of the last small read, which stays open for the next one while requests are answered that arrived together: to open and close
//! a file takes longer than all else that such a read asks of the system.
//!
//! Whoever asks has looked at the file by its name a moment ago, and gets it only in that very state. An open file keeps its inode, so the
//! number cannot be another file's meanwhile. Knows no names and no bytes.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use folder::fs::version::FileStamp;
use folder::fs::view::OpenFile;

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct LastOpened(Mutex<State>);

#[derive(Debug, Default)]
enum State {
    /// No file stays open.
    #[default]
    Off,
    On(Option<Arc<OpenFile>>),
}

impl LastOpened {
    /// From now on a file stays open.
    pub(crate) fn begin(&self) {
        let mut state = self.lock();
        if matches!(*state, State::Off) {
            *state = State::On(None);
        }
    }

    /// Closes the file; no other stays open.
    pub(crate) fn end(&self) {
        // Not under the lock: to be the last to close a deleted file may take time.
        let ended = std::mem::take(&mut *self.lock());
        drop(ended);
    }

    /// The file in this very state, if it is open.
    pub(crate) fn get(&self, stamp: &FileStamp) -> Option<Arc<OpenFile>> {
        match &*self.lock() {
            State::On(Some(file)) if file.stamp() == stamp => Some(file.clone()),
            _ => None,
        }
    }

    /// Keeps this file open, in place of the one before.
    pub(crate) fn put(&self, file: Arc<OpenFile>) {
        let mut state = self.lock();
        let before = match &mut *state {
            State::Off => None,
            State::On(kept) => kept.replace(file),
        };
        drop(state);
        drop(before);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Every critical section leaves the state whole.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opened() -> Arc<OpenFile> {
        let file = tempfile::tempfile().unwrap();
        let stat = sys::fs::fstat(&file).unwrap();
        Arc::new(OpenFile::new(file, stat))
    }

    #[test]
    fn the_last_file_stays_open_from_the_beginning_to_the_end_and_is_found_in_its_own_state_only() {
        let (files, first, second) = (LastOpened::default(), opened(), opened());
        files.put(first.clone());
        assert!(files.get(first.stamp()).is_none(), "not before the beginning");
        files.begin();
        files.put(first.clone());
        files.begin();
        assert!(files.get(first.stamp()).is_some_and(|file| Arc::ptr_eq(&file, &first)));
        let changed = FileStamp { ctime_ns: first.stamp().ctime_ns + 1, ..*first.stamp() };
        assert!(files.get(&changed).is_none());
        files.put(second.clone());
        assert_eq!((Arc::strong_count(&first), Arc::strong_count(&second)), (1, 2));
        files.end();
        assert!(files.get(second.stamp()).is_none() && Arc::strong_count(&second) == 1);
        files.put(second.clone());
        assert!(files.get(second.stamp()).is_none());
    }
}
