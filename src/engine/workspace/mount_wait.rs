//! Waits for a file system that does not answer at the moment: a client of a shared file system that is started again, a
//! mount that is made again. Knows no operation: the caller repeats its own, which has changed nothing.

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::Workspace;
use super::found::{Freshness, Want};
use folder::fs::lost::is_lost;
use folder::fs::root::Root;
use folder::{Control, Error};

/// Time between two attempts.
const PAUSE: Duration = Duration::from_millis(50);

/// Longest time of all attempts of an operation.
const LONGEST: Duration = Duration::from_secs(2);

/// How often an operation is repeated that did not find what is there.
const MISSES: u32 = 3;

/// Operations that wait at once. More fail at once, because each keeps a thread from others.
const WAITING: usize = 64;

/// The waits of one operation.
#[derive(Debug)]
pub struct MountWait<'w> {
    workspace: &'w Workspace,
    arrived: Instant,
    /// When it began to wait.
    since: Option<Instant>,
    /// How often it did not find what is there.
    misses: u32,
}

/// The waits of all operations.
#[derive(Debug, Default)]
pub(super) struct MountWaits {
    /// How many operations wait.
    waiting: AtomicUsize,
    /// When one last waited in vain. Those that arrived before do not wait then: of calls that stand one behind the other, each would.
    in_vain: Mutex<Option<Instant>>,
}

impl MountWaits {
    fn in_vain(&self) -> MutexGuard<'_, Option<Instant>> {
        self.in_vain.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether an operation that arrived then may begin to wait.
    fn admits_one(&self, arrived: Instant) -> bool {
        if !switches::is_off("mount-wait-in-vain") && self.in_vain().is_some_and(|ended| arrived < ended) {
            return false;
        }
        let admits =
            self.waiting.fetch_add(1, Ordering::Relaxed) < WAITING || switches::is_off("mount-waits");
        if !admits {
            self.waiting.fetch_sub(1, Ordering::Relaxed);
        }
        admits
    }
}

impl Workspace {
    /// For one operation, which arrived then.
    pub fn mount_wait(&self, arrived: Instant) -> MountWait<'_> {
        MountWait { workspace: self, arrived, since: None, misses: 0 }
    }

    /// Whether the error may be gone soon.
    fn is_of_lost_mount(&self, error: &Error) -> bool {
        let roots = self.folders.roots();
        let lost = |source: &io::Error| roots.iter().any(|root| is_lost(source, is_local_alone(root)));
        match error {
            Error::FolderGone => roots.iter().any(|root| root.is_lost()),
            Error::ReadFailed { source }
            | Error::WriteFailed { source }
            | Error::ListingFailed { source, .. } => lost(source),
            _ => false,
        }
    }

    /// Whether the error says that there is no such file, although there is. Some file systems in user space do not find a name, or
    /// an open file, in the moment in which another machine puts another file in its place.
    fn is_there(&self, error: &Error) -> bool {
        let Error::NotFound(missing) = error else { return false };
        if self.folders.roots().iter().all(is_local_alone) {
            return false;
        }
        let found = self
            .parse_path(&missing.name)
            .and_then(|path| self.folders.find(&path, Want::File, Freshness::Now));
        found.is_ok_and(|found| found.exists())
    }
}

/// Whether the folder, and all that is mounted in it, are on file systems of this machine.
fn is_local_alone(root: &Root) -> bool {
    root.is_local() && root.inner().is_empty()
}

impl MountWait<'_> {
    /// Whether an operation that failed with `error` is to be tried again. Waits a moment before.
    pub fn again(&mut self, error: &Error, control: &Control) -> bool {
        // What may have changed something, or was answered in part, is not repeated.
        if control.is_committing() || control.early().has_begun() {
            return false;
        }
        if self.misses < MISSES && self.workspace.is_there(error) {
            self.misses += 1;
            return control.check().is_ok();
        }
        if !self.workspace.is_of_lost_mount(error) {
            return false;
        }
        let (now, waits) = (Instant::now(), &self.workspace.mount_waits);
        let since = match self.since {
            Some(since) => since,
            None if waits.admits_one(self.arrived) => *self.since.insert(now),
            None => return false,
        };
        if now + PAUSE >= control.wait_deadline() || now.duration_since(since) > LONGEST {
            *waits.in_vain() = Some(now);
            return false;
        }
        thread::sleep(PAUSE);
        control.check().is_ok()
    }
}

impl Drop for MountWait<'_> {
    fn drop(&mut self) {
        if self.since.is_some() {
            self.workspace.mount_waits.waiting.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::WorkspaceOptions;
    use sys::io::Errno;

    #[test]
    fn after_a_wait_in_vain_no_operation_begins_one_that_was_there_already() {
        let (waits, arrived) = (MountWaits::default(), Instant::now());
        assert!(waits.admits_one(arrived));
        *waits.in_vain() = Some(arrived + LONGEST);
        assert!(!waits.admits_one(arrived) && !waits.admits_one(arrived + LONGEST / 2));
        assert!(waits.admits_one(arrived + LONGEST));
        let admitted = (0..2 * WAITING).filter(|_| waits.admits_one(arrived + LONGEST)).count();
        assert_eq!(admitted, WAITING - 2);
    }

    #[test]
    fn sixty_four_operations_wait_for_a_lost_mount_and_further_ones_fail_until_one_ends() {
        let dir = tempfile::tempdir().unwrap();
        let workspace = Workspace::open(&[dir.path().into()], WorkspaceOptions::default()).unwrap();
        let control = Control::new(Duration::from_secs(60));
        let again = |wait: &mut MountWait<'_>| {
            wait.again(&Error::ReadFailed { source: Errno::NOTCONN.into() }, &control)
        };
        let mut waits: Vec<_> = (0..64).map(|_| workspace.mount_wait(Instant::now())).collect();
        // Together, because each pauses.
        let waited = thread::scope(|scope| {
            let started: Vec<_> = waits.iter_mut().map(|wait| scope.spawn(|| again(wait))).collect();
            started.into_iter().filter_map(|wait| wait.join().ok()).filter(|again| *again).count()
        });
        assert_eq!(waited, 64);
        assert!(!again(&mut workspace.mount_wait(Instant::now())));
        waits.pop();
        assert!(again(&mut workspace.mount_wait(Instant::now())));
    }
}
