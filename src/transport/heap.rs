//! What allocators keep: a server at rest gives it back (SPEC 9, back to idle).
//!
//! A thread that ends leaves its share of the heap to whoever needs it next. Only the main thread can take it all back at
//! once; and pages that are free there go back to the system then.
#![allow(unsafe_code, reason = "allocators are another language's")]

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
