//! A lease on a file (fcntl(2), F_SETLEASE), as a file server takes one for its client.
#![allow(unsafe_code)] // rustix has no call for leases.

use std::fs::File;
use std::io::{Error, ErrorKind};
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Instant;

use super::{PATIENCE, until};

/// A lease for reading and writing: another process that opens the file waits until the lease ends.
pub(crate) struct Lease {
    file: File,
}

impl Lease {
    /// Takes the lease as soon as no other process has the file open: a child that another test starts at this moment may
    /// still have the descriptor with which the file was written. Nothing where the file system knows no leases, which is said.
    pub(crate) fn take(path: &Path) -> Option<Lease> {
        let file = File::options().read(true).write(true).open(path).expect("the file");
        let deadline = Instant::now() + PATIENCE;
        loop {
            match fcntl(&file, libc::F_SETLEASE, libc::F_WRLCK) {
                Ok(()) => break,
                Err(error) if error.kind() == ErrorKind::WouldBlock && Instant::now() < deadline => {
                    std::thread::yield_now();
                }
                Err(error)
                    if matches!(error.kind(), ErrorKind::InvalidInput | ErrorKind::PermissionDenied) =>
                {
                    println!("SKIPPED: no leases at {}: {error}", path.display());
                    return None;
                }
                Err(error) => panic!("{}: {error}", path.display()),
            }
        }
        // The signal that reports a waiting process would end the tests; `until_a_process_waits` polls instead.
        fcntl(&file, libc::F_SETOWN, 0).expect("no owner");
        Some(Lease { file })
    }

    /// The file, for what its holder still has to write.
    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    /// Returns when a process waits for the lease.
    pub(crate) fn until_a_process_waits(&self) {
        let inode = format!(":{} ", self.file.metadata().expect("a file").ino());
        let breaking =
            |line: &str| line.contains("LEASE") && line.contains("BREAKING") && line.contains(&inode);
        until("a process waits for the lease", || {
            std::fs::read_to_string("/proc/locks").expect("/proc").lines().any(breaking)
        });
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        // Closing might not do: a child that another test just starts may still have the descriptor.
        let _ = fcntl(&self.file, libc::F_SETLEASE, libc::F_UNLCK);
    }
}

fn fcntl(file: &File, command: i32, argument: i32) -> Result<(), Error> {
    // SAFETY: the descriptor is open for as long as `file` lives, and these commands take an int.
    match unsafe { libc::fcntl(file.as_raw_fd(), command, argument) } {
        -1 => Err(Error::last_os_error()),
        _ => Ok(()),
    }
}
