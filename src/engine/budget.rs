//! How many bytes, or how many of something else, all requests may hold together.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Bytes, or something else, that all requests may hold together.
#[derive(Debug)]
pub struct Budget {
    left: Arc<AtomicUsize>,
}

/// One request's part of a [`Budget`], given back on drop.
#[derive(Debug)]
pub struct Share {
    left: Arc<AtomicUsize>,
    taken: usize,
}

impl Budget {
    /// All of it.
    pub fn new(bytes: usize) -> Budget {
        Budget { left: Arc::new(AtomicUsize::new(bytes)) }
    }

    /// A share of nothing yet.
    pub fn share(&self) -> Share {
        Share { left: self.left.clone(), taken: 0 }
    }
}

impl Share {
    /// Takes so many bytes more; false if they are not there.
    pub fn grow(&mut self, bytes: usize) -> bool {
        let order = Ordering::Relaxed;
        let taken = self.left.fetch_update(order, order, |left| left.checked_sub(bytes)).is_ok();
        if taken {
            self.taken += bytes;
        }
        taken
    }

    /// Gives back so many of the bytes that it took.
    pub fn shrink(&mut self, bytes: usize) {
        let bytes = bytes.min(self.taken);
        self.taken -= bytes;
        self.left.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Makes it a share of so many bytes, more or fewer than before; false if they are not there.
    pub fn resize(&mut self, bytes: usize) -> bool {
        match bytes.checked_sub(self.taken) {
            Some(more) => self.grow(more),
            None => {
                self.shrink(self.taken - bytes);
                true
            }
        }
    }

    /// Takes so many bytes more, or all that are left.
    pub fn grow_as_far(&mut self, bytes: usize) {
        let order = Ordering::Relaxed;
        let less = |left: usize| Some(left.saturating_sub(bytes));
        let before = self.left.fetch_update(order, order, less).unwrap_or(0);
        self.taken += bytes.min(before);
    }

    /// All that was taken; what is left here is a share of nothing.
    pub fn take(&mut self) -> Share {
        Share { left: self.left.clone(), taken: std::mem::take(&mut self.taken) }
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.left.fetch_add(self.taken, Ordering::Relaxed);
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
