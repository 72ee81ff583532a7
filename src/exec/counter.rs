//! Counts calls; tasks and threads can wait until there are fewer.

use std::sync::Arc;

use tokio::sync::watch;

/// See the module.
#[derive(Debug, Clone)]
pub struct Counter(Arc<watch::Sender<usize>>);

/// Counts as one until it is dropped.
#[derive(Debug)]
pub struct Counted(Counter);

impl Counter {
    pub(super) fn new() -> Counter {
        Counter(Arc::new(watch::Sender::new(0)))
    }

    /// Adds one.
    pub fn enter(&self) -> Counted {
        self.0.send_modify(|count| *count += 1);
        Counted(self.clone())
    }

    /// The current number.
    pub fn count(&self) -> usize {
        *self.0.borrow()
    }

    /// Waits until there are fewer than `count`.
    pub async fn below(&self, count: usize) {
        // Cannot fail: `self` holds the sender.
        let _ = self.0.subscribe().wait_for(|now| *now < count).await;
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.0.send_modify(|count| *count -= 1);
    }
}
