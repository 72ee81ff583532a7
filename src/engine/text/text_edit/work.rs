//! Counts the bytes that are looked at, so that tests can hold the cost of a call against that of another.

#[cfg(test)]
thread_local! {
    static DONE: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

/// Counts so many bytes that are looked at once. Costs nothing but in tests.
#[inline]
pub(super) fn count(bytes: usize) {
    #[cfg(test)]
    DONE.set(DONE.get() + bytes as u64);
    let _ = bytes;
}

#[cfg(test)]
mod tests;
