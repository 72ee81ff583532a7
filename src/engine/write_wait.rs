//! Waiting for the end of other programs' writes, one thread a file (SPEC 8: a fault harms only the requests that touch it).
//!
//! A thread that waits in the kernel for a write(2) cannot be called off, and a write may never end. So of all requests
//! for a file only one waits there; the others wait here for their turn, until their deadline. What a running write means
//! for what was read is said in `writers.rs`.

use std::collections::HashSet;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::file_system::FileSystem;
use super::view::OpenFile;
use super::writers::wait_for_running_write;
use super::{Control, Result};

/// How late one that waits for its turn notices that it was called off.
const LOOK: Duration = Duration::from_millis(50);

/// See the module.
#[derive(Debug, Default)]
pub(super) struct WriteWaits {
    /// Device and inode of the files for which somebody waits in the kernel.
    files: Mutex<HashSet<(u64, u64)>>,
    ended: Condvar,
}

/// One turn to wait in the kernel, ended on drop.
struct Turn<'w> {
    waits: &'w WriteWaits,
    file: (u64, u64),
}

impl WriteWaits {
    /// Waits until every write(2) has ended that is running on `file` now. An error if the time is up before it is this
    /// request's turn to wait, or the request is called off.
    pub(super) fn wait(&self, file: &OpenFile, system: FileSystem, control: &Control) -> Result<()> {
        let _turn = self.turn((file.stamp().dev, file.stamp().ino), control)?;
        wait_for_running_write(file.file(), system);
        Ok(())
    }

    fn turn(&self, file: (u64, u64), control: &Control) -> Result<Turn<'_>> {
        let mut files = self.lock();
        while !files.insert(file) {
            control.check()?;
            let left = control.deadline().saturating_duration_since(Instant::now());
            let waited = self.ended.wait_timeout(files, LOOK.min(left));
            files = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        Ok(Turn { waits: self, file })
    }

    fn lock(&self) -> MutexGuard<'_, HashSet<(u64, u64)>> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.waits.lock().remove(&self.file);
        self.waits.ended.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Error;

    #[test]
    fn of_those_that_wait_for_one_file_one_has_its_turn_and_the_others_end_when_their_time_is_up() {
        let waits = WriteWaits::default();
        let patient = Control::new(Duration::from_secs(60));
        let first = waits.turn((1, 1), &patient).unwrap();
        let late = Control::new(Duration::from_millis(1));
        assert!(matches!(waits.turn((1, 1), &late).err(), Some(Error::TimedOut)));
        let cancelled = Control::new(Duration::from_secs(60));
        cancelled.cancel();
        assert!(matches!(waits.turn((1, 1), &cancelled).err(), Some(Error::Cancelled)));
        assert!(waits.turn((1, 2), &late).is_ok(), "another file");
        std::thread::scope(|scope| {
            let next = scope.spawn(|| waits.turn((1, 1), &patient).is_ok());
            drop(first);
            assert!(next.join().unwrap());
        });
        assert!(waits.lock().is_empty());
    }
}
