//! OS locks that the test holds as another program, and the waits of a server for them.
//!
//! On Windows the server locks one byte, which wine does with fcntl(2): so the test locks the whole file in that way. Nothing
//! shows there who waits: a test goes on after a time that is long enough for the server to come to the lock.
#![allow(unsafe_code)] // A system call that rustix does not have.

use std::fs::File;
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::time::Duration;

use super::{Folder, ON_WINDOWS, until, until_or};

/// How long the server on Windows has to come to a lock.
const TO_THE_LOCK: Duration = Duration::from_millis(500);

/// An OS lock on a file of the folder, held by this process until it is dropped.
pub(crate) fn lock(folder: &Folder, name: &str) -> File {
    let file = File::options().read(true).write(true).open(folder.path().join(name)).expect("the file");
    if *ON_WINDOWS {
        lock_for_wine(&file);
    } else {
        fs4::FileExt::lock(&file).expect("the lock");
    }
    file
}

fn lock_for_wine(file: &File) {
    let whole = libc::flock {
        l_type: libc::F_WRLCK as libc::c_short,
        l_whence: libc::SEEK_SET as libc::c_short,
        l_start: 0,
        l_len: 0,
        l_pid: 0,
    };
    // SAFETY: the struct lives during the call.
    let done = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_OFD_SETLKW, &raw const whole) };
    assert_eq!(done, 0, "{}", std::io::Error::last_os_error());
}

/// New files of these names, each with the line `a`, and the locks on them.
pub(crate) fn locked(folder: &Folder, names: &[&str]) -> Vec<File> {
    let lock = |name: &&str| {
        folder.write(name, "a\n");
        lock(folder, name)
    };
    names.iter().map(lock).collect()
}

/// The waits of a process in the system's list of locks.
fn waits(pid: u32) -> Vec<String> {
    let locks = std::fs::read_to_string("/proc/locks").expect("/proc");
    let waits = |line: &&str| line.contains("-> FLOCK") && line.contains(&format!(" {pid} "));
    locks.lines().filter(waits).map(str::to_owned).collect()
}

/// How many locks the process waits for at one moment.
///
/// The system gives the list in pieces. Between two of them a wait can end and another begin: then both are listed, or one of them
/// twice. So only those count that are in two lists, one read after the other: between these, they were there together.
pub(crate) fn locks_waited_for(pid: u32) -> usize {
    let file = |line: &String| line.split_whitespace().nth(6).expect("device and inode").to_owned();
    let files = || waits(pid).iter().map(file).collect::<Vec<_>>();
    let (first, mut second) = (files(), files());
    let is_in_both = |file: &&String| {
        let place = second.iter().position(|other| other == *file);
        place.map(|place| second.swap_remove(place)).is_some()
    };
    first.iter().filter(is_in_both).count()
}

/// Returns when the process waits for a lock.
#[track_caller]
pub(crate) fn until_a_lock_is_waited_for(pid: u32) {
    if *ON_WINDOWS {
        return std::thread::sleep(TO_THE_LOCK);
    }
    until("the process waits for a lock", || !waits(pid).is_empty());
}

/// Returns when the process waits for so many locks.
#[track_caller]
pub(crate) fn until_locks_are_waited_for(pid: u32, count: usize) {
    if *ON_WINDOWS {
        return std::thread::sleep(TO_THE_LOCK);
    }
    until_or(
        || format!("{} of {count} locks are waited for", locks_waited_for(pid)),
        || locks_waited_for(pid) == count,
    );
}

/// Returns when the process waits for the lock of this file.
#[track_caller]
pub(crate) fn until_the_lock_is_waited_for(pid: u32, locked: &File) {
    if *ON_WINDOWS {
        return std::thread::sleep(TO_THE_LOCK);
    }
    let inode = format!(":{}", locked.metadata().expect("the file").ino());
    let of_file = |line: &String| line.split(' ').any(|field| field.ends_with(&inode));
    until("the process waits for the lock of the file", || waits(pid).iter().any(of_file));
}
