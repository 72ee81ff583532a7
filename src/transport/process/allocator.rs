//! The allocator (mimalloc). Returns free pages to the system when the server is idle (contract 9). If memory
//! runs out during the start, ends the process with a message of one line.
//!
//! A thread that ends leaves its heap to other threads. Only a collection on the main thread frees such heaps
//! at once.
#![allow(unsafe_code, reason = "allocators are another language's")]

use std::alloc::{GlobalAlloc, Layout};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use mimalloc::MiMalloc;

/// Whether the server is still starting. During the start, running out of memory ends the process with a
/// message.
static STARTING: AtomicBool = AtomicBool::new(true);

/// Whether a thread is ending the process during the start.
static ENDING: AtomicBool = AtomicBool::new(false);

/// The message; writing it needs no allocation.
const NO_MEMORY: &[u8] =
    b"file-editor: cannot start: there is too little memory; see its limits (ulimit -v, the control group)\n";

/// See the module.
#[derive(Debug)]
pub struct Allocator;

// SAFETY: all calls and their results are passed to and from mimalloc unchanged.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the contract of `GlobalAlloc`.
        checked(unsafe { MiMalloc.alloc(layout) })
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the contract of `GlobalAlloc`.
        checked(unsafe { MiMalloc.alloc_zeroed(layout) })
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller keeps the contract of `GlobalAlloc`.
        checked(unsafe { MiMalloc.realloc(at, layout, size) })
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract of `GlobalAlloc`.
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
        sys::stdio::write_error(NO_MEMORY);
        sys::process::exit_at_once(1)
    }
}

/// Whether [`started`] has not been called yet.
pub fn is_starting() -> bool {
    STARTING.load(Ordering::Relaxed)
}

/// Returns in the first thread that calls it; never returns in others. So only one message is written before
/// the process ends.
pub fn wait_unless_first() {
    while ENDING.swap(true, Ordering::Relaxed) {
        std::thread::sleep(Duration::from_secs(1));
    }
}

/// Call it when the server is ready.
pub fn started() {
    STARTING.store(false, Ordering::Relaxed);
}

/// Settles what becomes of the heap of a thread that ends. Call it once, before threads start.
pub(in crate::transport) fn prepare() {
    sys::memory::limit_arenas();
    sys::memory::at_thread_end(leave_heap);
}

/// Leaves the heap of this thread to other threads. Without it a thread that ends would take its memory along.
fn leave_heap() {
    // SAFETY: the thread ends, and every later call for memory of it would only make it another heap.
    unsafe { libmimalloc_sys::mi_thread_done() }
}

/// Returns free pages to the system; on the main thread, also those of threads that have ended.
pub(in crate::transport) fn collect() {
    // SAFETY: mimalloc allows the call at any time on any thread, and frees only memory that is not in use.
    unsafe { libmimalloc_sys::mi_collect(true) }
}
