//! Counts what is in progress; tasks and threads can wait until there is less of it.

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

    /// One more.
    pub fn enter(&self) -> Counted {
        self.0.send_modify(|count| *count += 1);
        Counted(self.clone())
    }

    /// The number at this moment.
    pub fn count(&self) -> usize {
        *self.0.borrow()
    }

    /// Waits until there are fewer than `count`.
    pub async fn below(&self, count: usize) {
        // An error means that the sender is gone, and `self` holds it.
        let _ = self.0.subscribe().wait_for(|now| *now < count).await;
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.0.send_modify(|count| *count -= 1);
    }
}
