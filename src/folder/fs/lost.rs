//! Errors of a file system that does not answer at the moment: its client was killed, its mount died, its server is
//! started again. The same call may succeed soon. Knows no files.

use std::io;

use sys::fd::AsFd;
use sys::fs::{Mode, OFlags};
use sys::io::Errno;

/// Whether an error of a file system means that it does not answer. A local disk that reports an I/O error has a fault;
/// elsewhere this may be a connection.
pub fn is_lost(error: &io::Error, is_local: bool) -> bool {
    let is = |errno: Errno| error.raw_os_error() == Some(errno.raw_os_error());
    is(Errno::NOTCONN) || is(Errno::STALE) || (!is_local && OF_CONNECTIONS.into_iter().any(is))
}

/// Whether a change of a name may have been carried out, although it failed with this error: the file system may have lost its
/// answer. `if_repeated` is how it fails if it is carried out a second time: after ESTALE, the kernel repeats it.
pub fn may_be_done(error: &io::Error, is_local: bool, if_repeated: &[Errno]) -> bool {
    let is_repeated = if_repeated.iter().any(|errno| error.raw_os_error() == Some(errno.raw_os_error()));
    is_lost(error, is_local) || (is_repeated && !is_local)
}

/// Checks that the file system of `folder`, an open one, answers now.
///
/// # Errors
///
/// How it does not. Other errors are none here.
pub fn check_answers(folder: impl AsFd) -> Result<(), Errno> {
    // Not fstat(2): its answer may be in a cache.
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    match sys::fs::openat(folder, ".", flags, Mode::empty()) {
        Err(errno) if is_lost(&errno.into(), false) => Err(errno),
        _ => Ok(()),
    }
}

/// The error of a change that may have been carried out.
pub fn in_doubt(error: &io::Error) -> io::Error {
    let advice = "it is not known whether the change was made: look before you send the call again";
    io::Error::other(format!("{error} ({advice})"))
}

/// Errors that mean a connection only where there is one. A client that is killed in a call ends it with the second.
const OF_CONNECTIONS: [Errno; 8] = [
    Errno::IO,
    Errno::CONNABORTED,
    Errno::CONNRESET,
    Errno::TIMEDOUT,
    Errno::HOSTDOWN,
    Errno::HOSTUNREACH,
    Errno::SHUTDOWN,
    Errno::INTR,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_of_a_disk_is_no_lost_connection() {
        let (local, other) = (true, false);
        let lost = |errno: Errno, is_local| is_lost(&errno.into(), is_local);
        assert!(lost(Errno::NOTCONN, local) && lost(Errno::STALE, other) && lost(Errno::IO, other));
        assert!(lost(Errno::CONNABORTED, other) && lost(Errno::TIMEDOUT, other));
        assert!(
            !lost(Errno::IO, local)
                && !lost(Errno::TIMEDOUT, local)
                && !lost(Errno::NOENT, other)
                && !lost(Errno::NOSPC, other)
        );
        assert!(!is_lost(&io::Error::other("no system call"), other));
        let may_be_done = |errno: Errno, is_local| may_be_done(&errno.into(), is_local, &[Errno::NOENT]);
        assert!(may_be_done(Errno::NOTCONN, other) && may_be_done(Errno::NOENT, other));
        assert!(!may_be_done(Errno::NOENT, local) && !may_be_done(Errno::EXIST, other));
    }
}
