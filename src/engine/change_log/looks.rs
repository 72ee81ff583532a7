//! When the changes that are being made have to be looked at, so that what a dead writer left half done is repaired before the next call
//! reads or changes anything (contract 20), and calls in between cost two stats.
//!
//! A writer makes a file in their folder before it changes anything, which changes the time of the folder. A writer that lives may die
//! without changing it, so what it makes is looked at again by each call until it is done.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use folder::fs::private::PrivateFolder;

/// A folder changed within that time may change again without another time: some file systems count in seconds.
const COARSE: Duration = Duration::from_secs(2);

/// When what could not be repaired is tried again.
const PUT_OFF: Duration = Duration::from_secs(5);

/// What the last look has found.
#[derive(Debug, Default)]
pub(super) struct Looks(Mutex<Look>);

#[derive(Debug, Default)]
pub(super) struct Look {
    /// When the folder was changed last. `None`: it was not looked at, or that is not known.
    changed: Option<SystemTime>,
    /// When the next look is due, even if the folder is as it was.
    next: Option<Instant>,
    /// Changes of dead writers that this server cannot repair.
    of_others: HashSet<OsString>,
    /// Those of the look before.
    known_of_others: HashSet<OsString>,
}

impl Looks {
    /// Whether it is time for a look at the folder.
    pub(super) fn is_due(&self, folder: &PrivateFolder) -> bool {
        let last = self.last();
        last.changed.is_none()
            || folder.changed().ok() != last.changed
            || last.next.is_some_and(|next| next <= Instant::now())
    }

    /// To be called before the folder is read.
    pub(super) fn begin(&self, folder: &PrivateFolder) -> Look {
        let changed = folder.changed().ok();
        let is_long_ago = |changed: SystemTime| changed.elapsed().is_ok_and(|age| age > COARSE);
        let next = (!changed.is_some_and(is_long_ago)).then(Instant::now);
        let known_of_others = self.last().of_others.clone();
        Look { changed, next, known_of_others, of_others: HashSet::new() }
    }

    pub(super) fn end(&self, look: Look) {
        *self.last() = look;
    }

    /// Notes that something was left as it was.
    pub(super) fn put_off(&self) {
        self.last().next = Instant::now().checked_add(PUT_OFF);
    }

    fn last(&self) -> MutexGuard<'_, Look> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Look {
    /// Whether the change was found to be of others before.
    pub(super) fn is_of_others(&mut self, name: &OsStr) -> bool {
        let known = self.known_of_others.take(name);
        let is_known = known.is_some();
        self.of_others.extend(known);
        is_known
    }

    pub(super) fn note_of_others(&mut self, name: OsString) {
        self.of_others.insert(name);
    }

    /// Notes a change whose writer lives.
    pub(super) fn note_living(&mut self) {
        self.next = Some(Instant::now());
    }
}
