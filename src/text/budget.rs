//! A limit on the memory, or another countable resource, that all requests hold together.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A number of bytes, or of other units, that all requests share.
#[derive(Debug)]
pub struct Budget {
    left: Arc<AtomicUsize>,
    total: usize,
}

/// The part of a [`Budget`] that one request has taken. It returns to the budget on drop.
#[derive(Debug)]
pub struct Share {
    left: Arc<AtomicUsize>,
    taken: usize,
}

impl Budget {
    /// A budget of `bytes` bytes, all of them free.
    pub fn new(bytes: usize) -> Budget {
        Budget { left: Arc::new(AtomicUsize::new(bytes)), total: bytes }
    }

    /// Its bytes, free or not.
    pub fn total(&self) -> usize {
        self.total
    }

    /// An empty share of this budget.
    pub fn share(&self) -> Share {
        Share { left: self.left.clone(), taken: 0 }
    }
}

impl Share {
    /// The size of this share.
    pub fn size(&self) -> usize {
        self.taken
    }

    /// Takes `bytes` more bytes. Returns false, and takes nothing, if the budget has fewer left.
    pub fn grow(&mut self, bytes: usize) -> bool {
        let order = Ordering::Relaxed;
        let taken = self.left.fetch_update(order, order, |left| left.checked_sub(bytes)).is_ok();
        if taken {
            self.taken += bytes;
        }
        taken
    }

    /// Returns `bytes` bytes to the budget, but at most the size of this share.
    pub fn shrink(&mut self, bytes: usize) {
        let bytes = bytes.min(self.taken);
        self.taken -= bytes;
        self.left.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Grows or shrinks this share to `bytes` bytes. Returns false, and changes nothing, if too few are left.
    pub fn resize(&mut self, bytes: usize) -> bool {
        match bytes.checked_sub(self.taken) {
            Some(more) => self.grow(more),
            None => {
                self.shrink(self.taken - bytes);
                true
            }
        }
    }

    /// Takes `bytes` more bytes, or all that are left if they are fewer.
    pub fn grow_as_far(&mut self, bytes: usize) {
        let order = Ordering::Relaxed;
        let less = |left: usize| Some(left.saturating_sub(bytes));
        let before = self.left.fetch_update(order, order, less).unwrap_or(0);
        self.taken += bytes.min(before);
    }

    /// Moves the whole share into the returned one. This share is then empty.
    pub fn take(&mut self) -> Share {
        Share { left: self.left.clone(), taken: std::mem::take(&mut self.taken) }
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        if !switches::is_off("http-bodies-back") {
            self.left.fetch_add(self.taken, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_is_shared_and_given_back() {
        let budget = Budget::new(10);
        let (mut one, mut other) = (budget.share(), budget.share());
        assert!(one.grow(6) && other.grow(4) && !one.grow(1));
        drop(other);
        assert!(one.grow(4) && !one.grow(1));
    }

    #[test]
    fn a_share_can_become_smaller() {
        let budget = Budget::new(10);
        let (mut one, mut other) = (budget.share(), budget.share());
        assert!(one.resize(8) && !other.resize(3) && !one.resize(11));
        assert!(one.resize(7) && other.resize(3) && !other.resize(4));
        drop((one, other));
        assert!(budget.share().grow(10));
    }
}
