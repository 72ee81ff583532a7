//! A thread that flushes the record of a change while the caller flushes the folders: flushes at the same time cost hardly more than one.
//!
//! It ends when there was nothing to do for a while.

use std::fs::File;
use std::io;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// How long the thread waits for more.
const IDLE: Duration = Duration::from_secs(1);

/// A file to flush, and where the result goes.
type Order = (Arc<File>, SyncSender<io::Result<()>>);

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Flusher(Mutex<Option<SyncSender<Order>>>);

impl Flusher {
    /// Flushes `file` while `meanwhile` runs.
    pub(super) fn flush_beside<T>(
        &self,
        file: &Arc<File>,
        meanwhile: impl FnOnce() -> T,
    ) -> (io::Result<()>, T) {
        sys::fs::start_writeback(file);
        let flushed = self.order(file);
        let done = meanwhile();
        // Where there is no thread, or it has ended, the caller flushes.
        let flushed = flushed.and_then(|flushed| flushed.recv().ok()).unwrap_or_else(|| file.sync_data());
        (flushed, done)
    }

    /// `None`: no thread takes it.
    fn order(&self, file: &Arc<File>) -> Option<Receiver<io::Result<()>>> {
        let (sender, flushed) = sync_channel(1);
        let mut orders = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let order = match &*orders {
            None => (file.clone(), sender),
            Some(thread) => match thread.try_send((file.clone(), sender)) {
                Ok(()) => return Some(flushed),
                // It is busy, or has ended.
                Err(TrySendError::Full(order) | TrySendError::Disconnected(order)) => order,
            },
        };
        let (thread, received) = sync_channel::<Order>(1);
        thread.try_send(order).ok()?;
        std::thread::Builder::new().name("flush".into()).spawn(move || run(&received)).ok()?;
        *orders = Some(thread);
        Some(flushed)
    }
}

fn run(orders: &Receiver<Order>) {
    while let Ok((file, flushed)) = orders.recv_timeout(IDLE) {
        let done = file.sync_data();
        // With its lock, before the caller goes on.
        drop(file);
        let _ = flushed.send(done);
    }
}
