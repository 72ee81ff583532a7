//! Locks files for edits: in the process by a queue, between processes by an OS lock (contract 8).
//!
//! The only module that takes OS locks, with its helper threads. The kernel releases them when the process dies. A blocking wait
//! cannot be interrupted, and polling starves if another process locks again at once. So one helper thread
//! per file blocks in the kernel. A request leaves it at its deadline; the next request for the file uses it
//! again.

use std::collections::{HashMap, VecDeque};
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use self::helper::{Helper, Helpers};
use crate::wait_counter::{WaitCounter, WaitCounts};
use crate::{Control, Result};
use sys::map::OpenMap;

mod helper;

/// A directory's device and inode, and a name in it.
pub type PathKey = (u64, u64, OsString);

/// How often a waiting thread checks whether its request was stopped.
const LOOK: Duration = Duration::from_millis(25);

/// All queues and helper threads of one process.
#[derive(Debug, Default)]
pub struct Locks {
    turns: Mutex<HashMap<PathKey, VecDeque<Waiter>>>,
    helpers: Arc<Mutex<Helpers>>,
    /// Waits in `turns`.
    turn_waits: WaitCounter,
    /// Waits for the OS lock of another process.
    lock_waits: WaitCounter,
}

#[derive(Debug)]
struct Waiter {
    number: u64,
    thread: Thread,
}

/// The right to change one path, inside this process. Dropping it wakes the next in the queue.
#[derive(Debug)]
#[must_use = "the turn ends when it is dropped"]
pub struct LockTurn<'l> {
    locks: &'l Locks,
    key: PathKey,
    number: u64,
}

/// The result of a request for an OS lock.
#[derive(Debug)]
pub enum Locked {
    /// The lock is ours.
    Held(PathLock),
    /// Another request that waited at the same helper has it. Open the file again and repeat: this request's
    /// descriptor may share its lock with that one.
    StartOver,
    /// The time was up.
    TooLate,
}

/// The OS lock of one file. Dropping it unlocks.
#[derive(Debug)]
#[must_use = "the lock is released when it is dropped"]
pub struct PathLock(Option<LockedFile>);

/// A file that is locked for as long as this lives.
#[derive(Debug)]
pub enum LockedFile {
    /// By its descriptor.
    Open(File),
    /// Without one.
    Mapped(OpenMap),
    /// Not any more: more locks than a process can have would be needed.
    Released,
}

impl LockedFile {
    /// The same lock without a descriptor, where the system can do that.
    #[must_use]
    pub fn without_descriptor(self) -> LockedFile {
        match self {
            LockedFile::Open(file) => OpenMap::of(file).map_or_else(LockedFile::Open, LockedFile::Mapped),
            other => other,
        }
    }
}

impl PathLock {
    fn of(file: File) -> PathLock {
        PathLock(Some(LockedFile::Open(file)))
    }

    /// The same lock without a descriptor, where the system can do that.
    pub fn without_descriptor(mut self) -> PathLock {
        PathLock(self.0.take().map(LockedFile::without_descriptor))
    }
}

impl Locks {
    /// Waits in the queue of `key`. `None` if `until` comes first, an error if the request is stopped.
    pub fn turn(&self, key: PathKey, until: Instant, control: &Control) -> Result<Option<LockTurn<'_>>> {
        let number = {
            let mut turns = held(&self.turns);
            let queue = turns.entry(key.clone()).or_default();
            let number = queue.back().map_or(0, |last| last.number + 1);
            queue.push_back(Waiter { number, thread: thread::current() });
            number
        };
        // From here on, dropping `turn` removes the queue entry on every return.
        let turn = LockTurn { locks: self, key, number };
        if switches::is_off("turn-one") || turn.is_first() {
            return Ok(Some(turn));
        }
        let _waits = self.turn_waits.begin();
        loop {
            if turn.is_first() {
                return Ok(Some(turn));
            }
            if !switches::is_off("turn-called-off") {
                control.check_called_off()?;
            }
            let now = Instant::now();
            if !switches::is_off("turn-time") && now >= until {
                return Ok(None);
            }
            thread::park_timeout(LOOK.min(until - now));
        }
    }

    /// Locks `file`, whose device and inode are `id`; waits until `until` at most.
    pub fn lock(
        &self,
        file: &File,
        id: (u64, u64),
        until: Instant,
        control: &Control,
    ) -> Result<io::Result<Locked>> {
        let helper = file.try_clone().and_then(|own| {
            match switches::is_off("lock-between-processes") || try_lock(&own)? {
                true => Ok(Err(PathLock::of(own))),
                false => Helper::join(&self.helpers, own, id).map(Ok),
            }
        });
        match helper {
            Ok(Err(lock)) => Ok(Ok(Locked::Held(lock))),
            Ok(Ok(helper)) => {
                let _waits = self.lock_waits.begin();
                helper.wait(until, control)
            }
            Err(error) => Ok(Err(error)),
        }
    }

    /// The waits behind other calls of this process, and those for other processes.
    pub fn waits(&self) -> (WaitCounts, WaitCounts) {
        (self.turn_waits.counts(), self.lock_waits.counts())
    }
}

/// Takes the OS lock of `file` if it is free. Also marks temporary files whose writer is alive.
pub(crate) fn try_lock(file: &File) -> io::Result<bool> {
    sys::fs::try_lock_exclusive(file)
}

impl LockTurn<'_> {
    /// What it locks.
    pub fn key(&self) -> &PathKey {
        &self.key
    }

    fn is_first(&self) -> bool {
        let turns = held(&self.locks.turns);
        let next = turns.get(&self.key).and_then(|queue| match switches::is_off("turn-order") {
            true => queue.back(),
            false => queue.front(),
        });
        next.is_some_and(|next| next.number == self.number)
    }
}

impl Drop for LockTurn<'_> {
    fn drop(&mut self) {
        let mut turns = held(&self.locks.turns);
        let Some(queue) = turns.get_mut(&self.key) else { return };
        if !switches::is_off("turn-given-up") {
            queue.retain(|waiter| waiter.number != self.number);
        }
        match queue.front() {
            Some(next) => next.thread.unpark(),
            None => drop(turns.remove(&self.key)),
        }
    }
}

impl Drop for PathLock {
    fn drop(&mut self) {
        // A close would unlock, but a clone of the descriptor may live a moment longer.
        if let Some(LockedFile::Open(file)) = &self.0
            && !switches::is_off("lock-unlock")
        {
            let _ = sys::fs::unlock(file);
        }
    }
}

fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Every critical section here leaves its data consistent at every step, so a panic in one harms no other.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::mpsc;
    use sys::testing::MetadataExt;

    use super::*;

    impl Locked {
        fn is_held(&self) -> bool {
            matches!(self, Locked::Held(_))
        }

        fn is_too_late(&self) -> bool {
            matches!(self, Locked::TooLate)
        }
    }

    fn control() -> Control {
        Control::new(Duration::from_secs(60))
    }

    fn soon(millis: u64) -> Instant {
        Instant::now() + Duration::from_millis(millis)
    }

    fn key(name: &str) -> PathKey {
        (1, 2, name.into())
    }

    /// A new file, and its device and inode.
    fn file() -> (tempfile::NamedTempFile, (u64, u64)) {
        let file = tempfile::NamedTempFile::new().unwrap();
        let meta = file.as_file().metadata().unwrap();
        (file, (meta.dev(), meta.ino()))
    }

    #[test]
    fn turns_at_one_path_come_in_the_order_of_asking_and_other_paths_do_not_wait() {
        let locks = Locks::default();
        let control = control();
        let first = locks.turn(key("a"), soon(10_000), &control).unwrap().unwrap();
        let (said, heard) = mpsc::channel();
        thread::scope(|scope| {
            for number in 0..10 {
                let before = held(&locks.turns)[&key("a")].len();
                let (said, locks, control) = (said.clone(), &locks, &control);
                scope.spawn(move || {
                    let _turn = locks.turn(key("a"), soon(10_000), control).unwrap().unwrap();
                    said.send(number).unwrap();
                });
                while held(&locks.turns)[&key("a")].len() == before {
                    thread::yield_now();
                }
            }
            let _other = locks.turn(key("b"), soon(10_000), &control).unwrap().unwrap();
            assert!(heard.try_recv().is_err());
            drop(first);
            assert_eq!(heard.iter().take(10).collect::<Vec<_>>(), (0..10).collect::<Vec<_>>());
        });
        assert!(held(&locks.turns).is_empty());
        assert_eq!((locks.waits().0.waits, locks.waits().1.waits), (10, 0));
    }

    #[test]
    fn a_turn_not_had_in_time_is_given_up_and_the_queue_goes_on() {
        let locks = Locks::default();
        let first = locks.turn(key("a"), soon(10_000), &control()).unwrap().unwrap();
        thread::scope(|scope| {
            let late = scope.spawn(|| locks.turn(key("a"), soon(20), &control()).unwrap().is_none());
            assert!(late.join().unwrap());
        });
        drop(first);
        assert!(locks.turn(key("a"), soon(0), &control()).unwrap().is_some());
    }

    #[test]
    fn a_lock_held_by_a_stranger_ends_the_wait_at_the_deadline_with_one_thread_however_many_ask() {
        let locks = Locks::default();
        let (file, id) = file();
        let stranger = file.reopen().unwrap();
        assert!(try_lock(&stranger).unwrap());
        for _ in 0..5 {
            let own = file.reopen().unwrap();
            assert!(locks.lock(&own, id, soon(20), &control()).unwrap().unwrap().is_too_late());
            assert_eq!(held(&locks.helpers).len(), 1);
        }
        thread::scope(|scope| {
            let own = file.reopen().unwrap();
            let waiting = scope.spawn({
                let locks = &locks;
                move || locks.lock(&own, id, soon(10_000), &control()).unwrap().unwrap().is_held()
            });
            while held(&locks.helpers).get(&id).is_some_and(|helper| held(&helper.state).waiters == 0) {
                thread::yield_now();
            }
            sys::fs::unlock(&stranger).unwrap();
            assert!(waiting.join().unwrap(), "the waiter takes over the thread that waits already");
        });
        assert_eq!((locks.waits().0.waits, locks.waits().1.waits), (0, 6));
        assert!(try_lock(&stranger).unwrap(), "the lock was released by drop");
    }

    #[test]
    fn an_abandoned_wait_releases_the_lock_that_it_gets_at_last() {
        let locks = Locks::default();
        let (file, id) = file();
        let stranger = file.reopen().unwrap();
        assert!(try_lock(&stranger).unwrap());
        assert!(
            locks.lock(&file.reopen().unwrap(), id, soon(10), &control()).unwrap().unwrap().is_too_late()
        );
        sys::fs::unlock(&stranger).unwrap();
        let again = locks.lock(&file.reopen().unwrap(), id, soon(10_000), &control()).unwrap().unwrap();
        assert!(again.is_held());
    }

    #[test]
    fn whoever_comes_after_an_abandoned_wait_waits_anew() {
        let locks = Locks::default();
        let (file, id) = file();
        let stranger = file.reopen().unwrap();
        for _ in 0..3 {
            assert!(try_lock(&stranger).unwrap());
            let own = file.reopen().unwrap();
            assert!(locks.lock(&own, id, soon(10), &control()).unwrap().unwrap().is_too_late());
            sys::fs::unlock(&stranger).unwrap();
            // The abandoned helper has got the lock and released it.
            while !held(&locks.helpers).is_empty() {
                thread::yield_now();
            }
            assert!(locks.lock(&own, id, soon(10_000), &control()).unwrap().unwrap().is_held());
        }
    }

    #[test]
    fn a_lock_is_released_though_its_descriptor_is_shared() {
        let locks = Locks::default();
        let (file, id) = file();
        let shared = file.reopen().unwrap();
        let lock = locks.lock(&shared, id, soon(10_000), &control()).unwrap().unwrap();
        let stranger = file.reopen().unwrap();
        assert!(lock.is_held() && !try_lock(&stranger).unwrap());
        drop(lock);
        assert!(try_lock(&stranger).unwrap());
        drop(shared);
    }

    #[test]
    fn waiters_of_one_file_under_several_names_have_the_lock_one_after_another() {
        let locks = Locks::default();
        let (file, id) = file();
        let stranger = file.reopen().unwrap();
        assert!(try_lock(&stranger).unwrap());
        let holders = AtomicUsize::new(0);
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    loop {
                        let own = file.reopen().unwrap();
                        match locks.lock(&own, id, soon(10_000), &control()).unwrap().unwrap() {
                            Locked::StartOver => continue,
                            Locked::TooLate => panic!("the lock is free in time"),
                            Locked::Held(_lock) => {
                                assert_eq!(holders.fetch_add(1, Ordering::SeqCst), 0, "held twice");
                                // Gives another thread that wrongly has the lock time to run.
                                (0..100).for_each(|_| thread::yield_now());
                                holders.fetch_sub(1, Ordering::SeqCst);
                                break;
                            }
                        }
                    }
                });
            }
            while held(&locks.helpers).get(&id).is_none_or(|helper| held(&helper.state).waiters < 4) {
                thread::yield_now();
            }
            sys::fs::unlock(&stranger).unwrap();
        });
    }
}
