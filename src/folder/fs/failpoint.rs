//! Failpoints: the steps of a write, at which a test can stop or observe it.
//!
//! Outside unit tests (here, and with the feature `testing` those of other crates) [`taken`] does nothing, and the flushes are the system's. In a unit test, a thread can
//! arrange a crash at its n-th step: every later step fails and no cleanup runs, as if the process had died.
//! A thread can also run code of another program after that step, or watch all steps and flushes.

/// Marks a step. In unit tests, fails if a crash is arranged here.
#[cfg(not(any(test, feature = "testing")))]
#[inline(always)]
pub fn taken() -> std::io::Result<()> {
    Ok(())
}

/// Whether a crash has happened, so that destructors must do nothing.
#[cfg(not(any(test, feature = "testing")))]
#[inline(always)]
pub fn crashed() -> bool {
    false
}

#[cfg(not(any(test, feature = "testing")))]
pub use sys::fs::{fdatasync, fsync};

#[cfg(any(test, feature = "testing"))]
pub use hook::{Event, crash_at, crashed, fdatasync, fsync, meddle_at, taken, watch};

#[cfg(any(test, feature = "testing"))]
mod hook {
    use std::cell::{Cell, RefCell};
    use std::io;

    use sys::fd::AsFd;

    type Act = Box<dyn FnOnce()>;
    type Watcher = Box<dyn FnMut(Event)>;

    /// What a watcher receives, right after it happened. Files and folders are identified by inode.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Event {
        /// A step was taken.
        Step,
        /// A file was flushed.
        FileFlushed(u64),
        /// A folder was flushed.
        FolderFlushed(u64),
    }

    thread_local! {
        /// Steps left until the crash; `None` if no crash is arranged.
        static LEFT: Cell<Option<usize>> = const { Cell::new(None) };

        /// Steps left until the code of another program runs, and that code.
        static MEDDLER: RefCell<Option<(usize, Act)>> = const { RefCell::new(None) };

        static WATCHER: RefCell<Option<Watcher>> = const { RefCell::new(None) };
    }

    /// Marks a step. Fails if a crash is arranged here.
    pub fn taken() -> io::Result<()> {
        tell(Event::Step);
        let meddler = MEDDLER.take();
        match meddler {
            Some((1, act)) => act(),
            Some((left, act)) => MEDDLER.set(Some((left - 1, act))),
            None => {}
        }
        match LEFT.get() {
            None => Ok(()),
            Some(0) => Err(io::Error::other("crashed")),
            Some(left) => {
                LEFT.set(Some(left - 1));
                if left == 1 { Err(io::Error::other("crashed")) } else { Ok(()) }
            }
        }
    }

    /// Flushes a file, and tells the watcher.
    pub fn fdatasync(file: impl AsFd) -> sys::io::Result<()> {
        sys::fs::fdatasync(&file)?;
        tell_of(file, Event::FileFlushed);
        Ok(())
    }

    /// Flushes a folder, and tells the watcher.
    pub fn fsync(folder: impl AsFd) -> sys::io::Result<()> {
        sys::fs::fsync(&folder)?;
        tell_of(folder, Event::FolderFlushed);
        Ok(())
    }

    fn tell_of(flushed: impl AsFd, event: fn(u64) -> Event) {
        // A look that fails, as tests arrange it, is none of the program's own.
        if let Ok(stat) = sys::fs::fstat(&flushed) {
            tell(event(stat.st_ino));
        }
    }

    fn tell(event: Event) {
        WATCHER.with_borrow_mut(|watcher| watcher.as_mut().map(|watcher| watcher(event)));
    }

    /// Runs `work` and calls `watcher` after each of its steps and flushes.
    pub fn watch(watcher: impl FnMut(Event) + 'static, work: impl FnOnce()) {
        WATCHER.set(Some(Box::new(watcher)));
        work();
        WATCHER.set(None);
    }

    /// Whether a crash has happened, so that destructors must do nothing.
    pub fn crashed() -> bool {
        LEFT.get() == Some(0)
    }

    /// Runs `work`, and `act` right after its `step`-th step (1-based). Returns whether it was reached.
    pub fn meddle_at(step: usize, act: impl FnOnce() + 'static, work: impl FnOnce()) -> bool {
        MEDDLER.set(Some((step, Box::new(act))));
        work();
        MEDDLER.take().is_none()
    }

    /// Runs `work` and crashes right after its `step`-th step (1-based). Returns whether it was reached.
    pub fn crash_at(step: usize, work: impl FnOnce()) -> bool {
        LEFT.set(Some(step));
        work();
        LEFT.replace(None) == Some(0)
    }
}
