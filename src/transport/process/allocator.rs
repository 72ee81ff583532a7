//! The allocator (mimalloc): returns free pages to the system when the server is idle (SPEC 9), and ends a start for which
//! there is too little memory with one line of text.
//!
//! A thread that ends leaves its heap to other threads. Only a collection on the main thread frees such heaps at once.
#![allow(unsafe_code, reason = "allocators are another language's")]

use std::alloc::{GlobalAlloc, Layout};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use mimalloc::MiMalloc;

/// Whether the server is still starting. During the start, running out of memory ends the process with a message.
static STARTING: AtomicBool = AtomicBool::new(true);

/// Whether a thread is ending the process during the start.
static ENDING: AtomicBool = AtomicBool::new(false);

/// The message; it needs no allocation.
const NO_MEMORY: &[u8] =
    b"file-editor: cannot start: there is too little memory; see its limits (ulimit -v, the control group)\n";

/// See the module.
#[derive(Debug)]
pub struct Allocator;

// SAFETY: all calls are passed to mimalloc unchanged, and so are its results.
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
        wait_unless_first();
        let _ = rustix::io::write(rustix::stdio::stderr(), NO_MEMORY);
        // SAFETY: the call ends the process without running anything else of it.
        unsafe { libc::_exit(1) }
    }
}

/// Whether [`started`] has not been called yet.
pub fn is_starting() -> bool {
    STARTING.load(Ordering::Relaxed)
}

/// Returns in the first thread that calls it, and never in others: so one message is written before the process ends.
pub fn wait_unless_first() {
    while ENDING.swap(true, Ordering::Relaxed) {
        std::thread::sleep(Duration::from_secs(1));
    }
}

/// To be called when the server is ready.
pub fn started() {
    STARTING.store(false, Ordering::Relaxed);
}

/// Limits the C library to one arena; it makes one for each thread otherwise. To be called once, before threads start.
pub(in crate::transport) fn limit_arenas() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: there is no other thread yet, and the call only sets an option of the C library's allocator.
    unsafe {
        libc::mallopt(libc::M_ARENA_MAX, 1);
    }
}

/// Returns free pages to the system; on the main thread also those of threads that have ended.
pub(in crate::transport) fn collect() {
    // SAFETY: mimalloc allows the call at any time on any thread; it frees nothing that is in use.
    unsafe { libmimalloc_sys::mi_collect(true) }
}
