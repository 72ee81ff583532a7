//! Keeps the process alive when a mapped file is truncated.
//!
//! An access to a mapped page behind the end of its file raises SIGBUS, and another program may truncate any
//! file at any time. Each map registers its address range here. The signal handler maps zero pages over the
//! missing ones and marks the range as faulted, so that the operation fails instead of the process. A fault
//! outside all ranges goes to the handler that was installed before. Knows no files, only addresses.
#![allow(unsafe_code)] // A signal handler and its system calls.

use std::sync::Once;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};

/// Maximum number of guarded maps. Beyond it, files are read into the heap instead.
const SLOTS: usize = 4096;

/// Values of `start` that are not addresses.
const FREE: usize = 0;
const CLAIMED: usize = 1;

struct Slot {
    start: AtomicUsize,
    len: AtomicUsize,
    faulted: AtomicBool,
}

static TABLE: [Slot; SLOTS] = [const {
    Slot { start: AtomicUsize::new(FREE), len: AtomicUsize::new(0), faulted: AtomicBool::new(false) }
}; SLOTS];

/// The handler that was installed before ours; boxed once, never freed.
static PREVIOUS: AtomicPtr<libc::sigaction> = AtomicPtr::new(std::ptr::null_mut());
static INSTALL: Once = Once::new();

/// A registered range of mapped memory. Drop it before the map: that removes the range from the table.
#[derive(Debug)]
pub(crate) struct Guard {
    slot: usize,
}

impl Guard {
    /// Registers `len` bytes from `start`. Returns `None` if the table is full.
    pub(crate) fn new(start: *const u8, len: usize) -> Option<Guard> {
        INSTALL.call_once(install);
        let slot = TABLE.iter().position(|slot| {
            slot.start.compare_exchange(FREE, CLAIMED, Ordering::AcqRel, Ordering::Relaxed).is_ok()
        })?;
        TABLE[slot].faulted.store(false, Ordering::Relaxed);
        TABLE[slot].len.store(len, Ordering::Relaxed);
        TABLE[slot].start.store(start as usize, Ordering::Release);
        Some(Guard { slot })
    }

    /// Whether an access hit a missing page. The bytes read there are zeros, not the file's.
    pub(crate) fn faulted(&self) -> bool {
        TABLE[self.slot].faulted.load(Ordering::Acquire)
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        TABLE[self.slot].start.store(FREE, Ordering::Release);
    }
}

fn install() {
    let handler: extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void) = on_fault;
    let mut action = empty_action();
    action.sa_sigaction = handler as usize;
    action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_NODEFER;
    let previous = Box::into_raw(Box::new(empty_action()));
    // SAFETY: `action` is complete, and `previous` points to a live sigaction that the call fills. The
    // handler uses only atomics and async-signal-safe system calls. `previous` is published before any guard
    // exists, because `Guard::new` continues only after `Once` has finished.
    unsafe { libc::sigaction(libc::SIGBUS, &raw const action, previous) };
    PREVIOUS.store(previous, Ordering::Release);
}

fn empty_action() -> libc::sigaction {
    // SAFETY: all zeros is a valid sigaction: the default handler, no flags, an empty mask.
    unsafe { std::mem::zeroed() }
}

extern "C" fn on_fault(_: libc::c_int, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
    // SAFETY: the kernel passes a valid siginfo to a handler with SA_SIGINFO, and a fault fills `si_addr`.
    let address = unsafe { (*info).si_addr() } as usize;
    if switches::is_off("view-guard") || !cover_hole(address) {
        // Not our range: restore the previous handler, which then gets the signal of the same access.
        // SAFETY: sigaction is async-signal-safe, and the previous handler is never freed.
        unsafe { libc::sigaction(libc::SIGBUS, PREVIOUS.load(Ordering::Acquire), std::ptr::null_mut()) };
    }
}

/// Maps zero pages from the page of `address` to the end of its registered range. False if there is none.
fn cover_hole(address: usize) -> bool {
    let end_if_it_holds = |slot: &'static Slot| {
        let start = slot.start.load(Ordering::Acquire);
        let len = slot.len.load(Ordering::Acquire);
        // If another thread frees and reuses the slot meanwhile, `start` and `len` may be of different maps.
        let settled = start > CLAIMED && slot.start.load(Ordering::Acquire) == start;
        (settled && (start..start + len).contains(&address)).then_some((slot, start + len))
    };
    let Some((slot, end)) = TABLE.iter().find_map(end_if_it_holds) else { return false };
    slot.faulted.store(true, Ordering::Release);
    // SAFETY: sysconf is async-signal-safe.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as usize;
    let from = address & !(page - 1);
    // SAFETY: the pages [from, end) belong to one live map of ours: the faulting thread reads from it, so its
    // guard and the map are alive. Private zero pages keep every address in it readable. errno is restored
    // for the interrupted code.
    unsafe {
        let errno = *libc::__errno_location();
        let flags = libc::MAP_FIXED | libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        let covered = libc::mmap(from as *mut libc::c_void, end - from, libc::PROT_READ, flags, -1, 0);
        *libc::__errno_location() = errno;
        covered != libc::MAP_FAILED
    }
}
