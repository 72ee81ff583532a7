//! Keeps a truncated map from killing the process.
//!
//! Touching a mapped page behind the end of its file raises SIGBUS, and another program may truncate any file at any
//! time. Each map registers its range here; the handler lays zero pages over the hole and marks the map as faulted, so
//! that the access ends in an error instead of the process. Faults outside our ranges go on to whoever handled them
//! before. Knows no files, only addresses.
#![allow(unsafe_code)] // A signal handler and the system calls in it.

use std::sync::Once;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};

/// Maps that can be guarded at once. Past that a file is read into the heap instead.
const SLOTS: usize = 4096;

/// `start` values that are no address.
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

/// The handler that was there before ours; boxed once, never freed.
static PREVIOUS: AtomicPtr<libc::sigaction> = AtomicPtr::new(std::ptr::null_mut());
static INSTALL: Once = Once::new();

/// A registered range of mapped memory; dropping it takes the range out of the table, so it must go before the map.
#[derive(Debug)]
pub(crate) struct Guard {
    slot: usize,
}

impl Guard {
    /// Registers `len` bytes from `start`. Nothing if the table is full.
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

    /// Whether an access found a hole: what was read from there is zeros, not the file.
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
    let previous = Box::into_raw(Box::new(empty_action()));
    let mut action = empty_action();
    action.sa_sigaction = handler as usize;
    action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_NODEFER;
    // SAFETY: `action` is fully set up and `previous` points to a live sigaction for the call to fill. The handler
    // uses only atomics and async-signal-safe system calls. `previous` is published before any guard exists, because
    // `Once` finishes before `Guard::new` goes on.
    unsafe { libc::sigaction(libc::SIGBUS, &raw const action, previous) };
    PREVIOUS.store(previous, Ordering::Release);
}

fn empty_action() -> libc::sigaction {
    // SAFETY: all zeros is a valid sigaction: the default handler, no flags, an empty mask.
    unsafe { std::mem::zeroed() }
}

extern "C" fn on_fault(_: libc::c_int, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
    // SAFETY: the kernel passes a valid siginfo to a handler with SA_SIGINFO, and SIGBUS fills `si_addr`.
    let address = unsafe { (*info).si_addr() } as usize;
    if !cover_hole(address) {
        // Not ours: put the former handler back and return, so that the same access raises the signal again, there.
        let previous = PREVIOUS.load(Ordering::Acquire);
        // SAFETY: sigaction is async-signal-safe, and `previous` is a sigaction that lives for ever.
        unsafe { libc::sigaction(libc::SIGBUS, previous, std::ptr::null_mut()) };
    }
}

/// Lays zero pages from the page of `address` to the end of the map that holds it. False if no map of ours does.
fn cover_hole(address: usize) -> bool {
    let end_if_it_holds = |slot: &'static Slot| {
        let start = slot.start.load(Ordering::Acquire);
        let len = slot.len.load(Ordering::Acquire);
        // A slot that others give back and take meanwhile has the start of one map and the length of another.
        let settled = start > CLAIMED && slot.start.load(Ordering::Acquire) == start;
        (settled && (start..start + len).contains(&address)).then_some((slot, start + len))
    };
    let Some((slot, end)) = TABLE.iter().find_map(end_if_it_holds) else { return false };
    slot.faulted.store(true, Ordering::Release);
    // SAFETY: sysconf is async-signal-safe.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as usize;
    let from = address & !(page - 1);
    // SAFETY: the pages [from, end) belong to one live map of ours: the faulting thread is reading it, so its guard
    // and its map are alive. Replacing them with private zero pages keeps every address in it readable. errno is saved
    // for the code that was interrupted.
    unsafe {
        let errno = *libc::__errno_location();
        let flags = libc::MAP_FIXED | libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        let covered = libc::mmap(from as *mut libc::c_void, end - from, libc::PROT_READ, flags, -1, 0);
        *libc::__errno_location() = errno;
        covered != libc::MAP_FAILED
    }
}
