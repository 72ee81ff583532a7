//! The allocator: what it keeps a server at rest gives back (SPEC 9, back to idle), and a start without memory ends in a
//! clear line.
//!
//! A thread that ends leaves its share of the heap to whoever needs it next. Only the main thread can take it all back at
//! once; and pages that are free there go back to the system then.
#![allow(unsafe_code, reason = "allocators are another language's")]

use std::alloc::{GlobalAlloc, Layout};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use mimalloc::MiMalloc;

/// Whether the server is still starting: then it ends where it cannot go on, and says why in one line.
static STARTING: AtomicBool = AtomicBool::new(true);

/// Whether a thread has begun to end a start.
static ENDING: AtomicBool = AtomicBool::new(false);

/// Said where memory runs out at start; nothing can be made to say more.
const NO_MEMORY: &[u8] =
    b"file-editor: cannot start: there is too little memory; see its limits (ulimit -v, the control group)\n";

/// See the module.
#[derive(Debug)]
pub struct Allocator;

// SAFETY: all calls go to an allocator, as they are, and its results come back as they are.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller promised.
        checked(unsafe { MiMalloc.alloc(layout) })
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller promised.
        checked(unsafe { MiMalloc.alloc_zeroed(layout) })
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as the caller promised.
        checked(unsafe { MiMalloc.realloc(at, layout, size) })
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: as the caller promised.
        unsafe { MiMalloc.dealloc(at, layout) }
    }
}

#[inline]
fn checked(at: *mut u8) -> *mut u8 {
    if at.is_null() {
        no_memory();
    }
    at
}

#[cold]
fn no_memory() {
    if is_starting() {
        only_one_ends();
        let _ = rustix::io::write(rustix::stdio::stderr(), NO_MEMORY);
        // SAFETY: the call ends the process without running anything else of it.
        unsafe { libc::_exit(1) }
    }
}

/// Whether [`started`] is still to come.
pub fn is_starting() -> bool {
    STARTING.load(Ordering::Relaxed)
}

/// For a thread that ends the start: only the first of them returns, so that there is one line. The others wait for the
/// end of the process.
pub fn only_one_ends() {
    while ENDING.swap(true, Ordering::Relaxed) {
        std::thread::sleep(Duration::from_secs(1));
    }
}

/// The server is ready.
pub fn started() {
    STARTING.store(false, Ordering::Relaxed);
}

/// Once, before there are threads: the C library, which takes a little for each thread, takes it all from one place.
pub(super) fn one_for_all() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: there is no other thread, and the call changes nothing but where memory is taken from.
    unsafe {
        libc::mallopt(libc::M_ARENA_MAX, 1);
    }
}

/// Gives back what is free. On the main thread that is also what threads that have ended left.
pub(super) fn give_back() {
    // SAFETY: the call may be made at any time, on any thread, also where another allocator is at work: it frees nothing
    // that is in use.
    unsafe { libmimalloc_sys::mi_collect(true) }
}
