//! The steps of a write, as places where a test can stop the world.
//!
//! Outside unit tests [`taken`] is nothing. In them a thread may arrange to crash at its n-th step: from then on every
//! step fails and nothing is cleaned up any more, as if the process had died there. Or it lets another program act
//! after that step.

/// Passes a step; in tests, crashes there if it was arranged.
#[cfg(not(test))]
#[inline(always)]
pub(super) fn taken() -> std::io::Result<()> {
    Ok(())
}

/// Whether the process is as good as dead, so that destructors must do nothing.
#[cfg(not(test))]
#[inline(always)]
pub(super) fn crashed() -> bool {
    false
}

#[cfg(test)]
pub(super) use hook::{crash_at, crashed, meddle_at, taken};

#[cfg(test)]
mod hook {
    use std::cell::{Cell, RefCell};
    use std::io;

    type Act = Box<dyn FnOnce()>;

    thread_local! {
        /// Steps left until the crash; nothing if none is arranged.
        static LEFT: Cell<Option<usize>> = const { Cell::new(None) };

        /// Steps left until another program acts, and what it does.
        static MEDDLER: RefCell<Option<(usize, Act)>> = const { RefCell::new(None) };
    }

    pub(crate) fn taken() -> io::Result<()> {
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

    pub(crate) fn crashed() -> bool {
        LEFT.get() == Some(0)
    }

    /// Runs `work`; right after its `step`-th step (1-based), `act` happens. True if it got that far.
    pub(crate) fn meddle_at(step: usize, act: impl FnOnce() + 'static, work: impl FnOnce()) -> bool {
        MEDDLER.set(Some((step, Box::new(act))));
        work();
        MEDDLER.take().is_none()
    }

    /// Runs `work` and stops it dead right after its `step`-th step (1-based). True if it got that far.
    pub(crate) fn crash_at(step: usize, work: impl FnOnce()) -> bool {
        LEFT.set(Some(step));
        work();
        LEFT.replace(None) == Some(0)
    }
}
