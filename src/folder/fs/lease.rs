//! Waits until another program releases its lease on a file (fcntl(2), F_SETLEASE).
//!
//! A file server holds a lease for a client that may have unsaved changes. A non-blocking open then fails
//! with EAGAIN, and asks the holder to release it. No event reports the release. A blocking open cannot be
//! interrupted, and would block on a FIFO that has replaced the file. So the open is repeated.

use std::thread;
use std::time::{Duration, Instant};

use super::resolve::ResolveError;
use crate::{Control, Result};
use sys::io::Errno;

/// The pause between the first two attempts. It doubles each time, up to the longest pause.
const FIRST_PAUSE: Duration = Duration::from_millis(1);

/// Also the longest time until a wait notices that it was stopped.
const LONGEST_PAUSE: Duration = Duration::from_millis(25);

/// Repeats `open` while a lease blocks it, until the deadline. Returns an error if the operation is stopped.
pub fn wait_out<T>(
    control: &Control,
    open: impl Fn() -> Result<T, ResolveError>,
) -> Result<Result<T, ResolveError>> {
    let first = open();
    if switches::is_off("lease-wait") || !is_leased(&first) || !control.may_wait_for_lease() {
        return Ok(first);
    }
    control.wait_for_lock(|| {
        let mut pause = FIRST_PAUSE;
        loop {
            control.check_called_off()?;
            let left = control.wait_deadline().saturating_duration_since(Instant::now());
            thread::sleep(pause.min(left));
            let opened = open();
            if !is_leased(&opened) || left.is_zero() {
                return Ok(opened);
            }
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    })
}

fn is_leased<T>(opened: &Result<T, ResolveError>) -> bool {
    matches!(opened, Err(ResolveError::System(Errno::AGAIN)))
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::{Error, Late};

    const LEASED: ResolveError = ResolveError::System(Errno::AGAIN);

    #[test]
    fn an_open_is_repeated_until_the_lease_ends() {
        let control = Control::new(Duration::from_secs(60));
        for tries in 1..6 {
            let left = Cell::new(tries);
            let open = || match left.replace(left.get() - 1) {
                1 => Ok("open"),
                _ => Err(LEASED),
            };
            assert_eq!(wait_out(&control, open).unwrap(), Ok("open"));
            assert_eq!(left.get(), 0);
        }
        let other = || Err::<(), _>(ResolveError::System(Errno::IO));
        assert_eq!(wait_out(&control, other).unwrap(), other());
    }

    #[test]
    fn the_deadline_ends_the_wait_and_who_calls_it_off_does() {
        let late = Control::new(Duration::from_millis(20));
        assert_eq!(wait_out(&late, || Err::<(), _>(LEASED)).unwrap(), Err(LEASED));
        assert!(matches!(late.check(), Err(Error::TimedOut)));
        let cancelled = Control::new(Duration::from_secs(60));
        let open = || {
            cancelled.cancel();
            Err::<(), _>(LEASED)
        };
        assert!(matches!(wait_out(&cancelled, open), Err(Error::Cancelled)));
    }

    #[test]
    fn who_may_not_wait_tries_once_and_is_known_to_have_broken_off() {
        let control = Control::new(Duration::from_secs(60)).without_waiting();
        assert_eq!(wait_out(&control, || Ok::<_, ResolveError>(1)).unwrap(), Ok(1));
        assert_eq!(control.broke_off(), None);
        let tries = Cell::new(0);
        let open = || {
            tries.set(tries.get() + 1);
            if tries.get() < 3 { Err(LEASED) } else { Ok(()) }
        };
        assert_eq!(wait_out(&control, open).unwrap(), Err(LEASED));
        assert_eq!((control.broke_off(), tries.get()), (Some(Late::LockedOut), 1));
        control.allow_waiting();
        assert_eq!(control.broke_off(), None);
        assert_eq!(wait_out(&control, open).unwrap(), Ok(()));
    }
}
