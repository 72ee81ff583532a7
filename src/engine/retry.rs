//! Tries again what failed for a moment on a shared file system: a stale handle, a mount that is being mounted again.
//!
//! Only for work that has changed nothing when it fails. Knows nothing of what it tries.

use std::thread;
use std::time::{Duration, Instant};

use crate::engine::{Control, Error, Result};
use crate::sys::io::Errno;

/// How long the first wait is. Each further one is twice as long, up to [`LONGEST_WAIT`].
const FIRST_WAIT: Duration = Duration::from_millis(5);

const LONGEST_WAIT: Duration = Duration::from_millis(200);

/// How long it tries again, if the operation has so much time. A dead mount would hold a thread all the while.
const LONGEST: Duration = Duration::from_secs(2);

/// How often it tries again after an I/O error, which a local disk has for good.
const AFTER_IO_ERROR: u32 = 3;

/// Does `work`, and does it again while it fails for a moment and the operation has time.
pub(crate) fn until_settled<T>(control: &Control, mut work: impl FnMut() -> Result<T>) -> Result<T> {
    let until = control.deadline().min(Instant::now() + LONGEST);
    let (mut wait, mut tried) = (FIRST_WAIT, 0);
    loop {
        let error = match work() {
            Err(error) if passes(&error, tried) => error,
            done => return done,
        };
        // In the time that is left, the work must be possible, too. What has left already cannot be taken back.
        if control.check().is_err() || control.early().is_begun() || until <= Instant::now() + wait * 2 {
            return Err(error);
        }
        tracing::debug!(?error, "tried again");
        thread::sleep(wait);
        (wait, tried) = (LONGEST_WAIT.min(wait * 2), tried + 1);
    }
}

/// Whether a failure may be over at the next try.
fn passes(error: &Error, tried: u32) -> bool {
    let (Error::ReadFailed { source } | Error::WriteFailed { source } | Error::ListingFailed { source }) =
        error
    else {
        return false;
    };
    match Errno::from_io_error(source) {
        Some(Errno::STALE | Errno::NOTCONN | Errno::INTR) => true,
        Some(Errno::IO) => tried < AFTER_IO_ERROR,
        _ => false,
    }
}

/// Whether a system call that failed like this may have been carried out all the same: by another machine, whose answer was
/// lost.
pub(crate) fn may_be_done(errno: Errno) -> bool {
    matches!(errno, Errno::STALE | Errno::NOTCONN | Errno::INTR | Errno::IO | Errno::TIMEDOUT)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failed(errno: Errno) -> Error {
        Error::ReadFailed { source: errno.into() }
    }

    fn tries(errno: Errno, failing: usize, timeout: Duration) -> (Result<()>, usize) {
        let mut tries = 0;
        let done = until_settled(&Control::new(timeout), || {
            tries += 1;
            if tries <= failing { Err(failed(errno)) } else { Ok(()) }
        });
        (done, tries)
    }

    #[test]
    fn a_stale_handle_is_looked_up_again_until_it_works() {
        let (done, tries) = tries(Errno::STALE, 3, Duration::from_secs(60));
        assert!(done.is_ok());
        assert_eq!(tries, 4);
    }

    #[test]
    fn an_error_that_stays_is_told_within_the_time_of_the_operation() {
        let (done, tried) = tries(Errno::NOTCONN, usize::MAX, Duration::from_millis(100));
        assert!(matches!(done, Err(Error::ReadFailed { .. })));
        assert!(tried > 1);
        let (done, tried) = tries(Errno::IO, usize::MAX, Duration::from_secs(60));
        assert!(done.is_err());
        assert_eq!(tried, 1 + AFTER_IO_ERROR as usize);
    }

    #[test]
    fn other_errors_and_cancelled_operations_are_not_tried_again() {
        let (done, tried) = tries(Errno::NOSPC, usize::MAX, Duration::from_secs(60));
        assert_eq!((done.is_err(), tried), (true, 1));
        let control = Control::new(Duration::from_secs(60));
        let mut tried = 0;
        let done: Result<()> = until_settled(&control, || {
            tried += 1;
            control.cancel();
            Err(failed(Errno::STALE))
        });
        assert_eq!((done.is_err(), tried), (true, 1));
    }
}
