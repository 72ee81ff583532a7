//! A write(2) that stops in the middle, for as long as a test likes.
//!
//! The source of the write is memory whose second part is not there yet: the kernel waits for it in the middle of the
//! system call (userfaultfd(2)), as it does for a slow disk when the source is a mapped file.
#![allow(unsafe_code)] // System calls that rustix does not have.

use std::fs::File;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::thread::JoinHandle;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};

/// A write of a whole file in place that has begun and has not ended. Dropped, it ends first.
pub(crate) struct HeldWrite {
    faults: OwnedFd,
    source: usize,
    len: usize,
    /// What is written behind the place where the write is held.
    rest: Vec<u8>,
    writer: Option<JoinHandle<()>>,
}

/// The ioctl(2) calls of include/uapi/linux/userfaultfd.h, with their arguments.
mod uffd {
    pub(super) const API: libc::c_ulong = 0xc018_aa3f;
    pub(super) const REGISTER: libc::c_ulong = 0xc020_aa00;
    pub(super) const COPY: libc::c_ulong = 0xc028_aa03;

    #[repr(C)]
    pub(super) struct Api {
        pub(super) api: u64,
        pub(super) features: u64,
        pub(super) ioctls: u64,
    }

    #[repr(C)]
    pub(super) struct Register {
        pub(super) start: u64,
        pub(super) len: u64,
        pub(super) mode: u64,
        pub(super) ioctls: u64,
    }

    #[repr(C)]
    pub(super) struct Copy {
        pub(super) dst: u64,
        pub(super) src: u64,
        pub(super) len: u64,
        pub(super) mode: u64,
        pub(super) copied: i64,
    }
}

impl HeldWrite {
    /// Begins to write `bytes` (whole pages) to the start of the open `file`, and holds the write half way. Nothing, and
    /// a message, where this machine does not allow that.
    pub(crate) fn begin(file: File, bytes: &[u8]) -> Option<HeldWrite> {
        let half = bytes.len() / 2;
        assert_eq!(half % 4096, 0, "whole pages");
        // SAFETY: takes only flags, and the descriptor that it returns has no other owner.
        let faults = unsafe {
            let fd = libc::syscall(libc::SYS_userfaultfd, libc::O_CLOEXEC | libc::O_NONBLOCK);
            if fd < 0 {
                println!("skipped: no userfaultfd(2): {}", std::io::Error::last_os_error());
                return None;
            }
            OwnedFd::from_raw_fd(fd as i32)
        };
        // SAFETY: a fresh anonymous map; it lives until the write has ended.
        let source = unsafe {
            let access = ProtFlags::READ | ProtFlags::WRITE;
            mmap_anonymous(std::ptr::null_mut(), bytes.len(), access, MapFlags::PRIVATE).expect("memory")
        };
        // SAFETY: the first half of the map is ours to fill.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), source.cast(), half) };
        let source = source as usize;
        let mut api = uffd::Api { api: 0xaa, features: 0, ioctls: 0 };
        let (start, len) = ((source + half) as u64, (bytes.len() - half) as u64);
        let mut register = uffd::Register { start, len, mode: 1, ioctls: 0 };
        // SAFETY: the arguments are those that the two calls ask for, and live as long.
        unsafe {
            assert_eq!(libc::ioctl(faults.as_raw_fd(), uffd::API, &raw mut api), 0);
            assert_eq!(libc::ioctl(faults.as_raw_fd(), uffd::REGISTER, &raw mut register), 0);
        }
        let len = bytes.len();
        let writer = std::thread::spawn(move || {
            // SAFETY: the map is readable, and stays until this thread has ended.
            let written = unsafe { libc::pwrite(file.as_raw_fd(), source as *const libc::c_void, len, 0) };
            assert_eq!(written, len as isize, "{}", std::io::Error::last_os_error());
        });
        let held = HeldWrite { faults, source, len, rest: bytes[half..].to_vec(), writer: Some(writer) };
        held.until_it_waits();
        Some(held)
    }

    /// Waits until the kernel asks for the second half.
    fn until_it_waits(&self) {
        let patience = Timespec { tv_sec: super::PATIENCE.as_secs() as i64, tv_nsec: 0 };
        let mut faults = [PollFd::new(&self.faults, PollFlags::IN)];
        assert_eq!(poll(&mut faults, Some(&patience)), Ok(1), "the write does not stop half way");
    }

    /// Lets the write go on, and waits for its end.
    pub(crate) fn finish(self) {
        drop(self);
    }
}

impl Drop for HeldWrite {
    fn drop(&mut self) {
        let Some(writer) = self.writer.take() else { return };
        let dst = (self.source + self.len - self.rest.len()) as u64;
        let (src, len) = (self.rest.as_ptr() as u64, self.rest.len() as u64);
        let mut copy = uffd::Copy { dst, src, len, mode: 0, copied: 0 };
        // SAFETY: the second half of the map is missing and waits for these bytes, which live during the call.
        let copied = unsafe { libc::ioctl(self.faults.as_raw_fd(), uffd::COPY, &raw mut copy) };
        let ended = writer.join();
        // SAFETY: the map is not used any more.
        unsafe { munmap(self.source as *mut _, self.len).expect("a map") };
        assert!(copied == 0 && ended.is_ok() || std::thread::panicking());
    }
}

/// The whole of `file`, shared with it, to be written to.
pub(crate) fn map_mut(file: &File) -> memmap2::MmapMut {
    // SAFETY: the test does not change the file's length while it is mapped.
    unsafe { memmap2::MmapMut::map_mut(file).expect("a map") }
}
