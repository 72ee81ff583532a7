//! Counts the bytes and the connections of clients since the start of the process. Knows no requests.

use std::sync::atomic::{AtomicU64, Ordering};

/// The counts of this process.
pub(in crate::transport) static TRAFFIC: Traffic = Traffic {
    read: AtomicU64::new(0),
    sent: AtomicU64::new(0),
    accepted: AtomicU64::new(0),
    closed: AtomicU64::new(0),
};

/// See the module.
#[derive(Debug)]
pub(in crate::transport) struct Traffic {
    read: AtomicU64,
    sent: AtomicU64,
    accepted: AtomicU64,
    closed: AtomicU64,
}

/// The counts at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::transport) struct TrafficCounts {
    /// Bytes read from clients.
    pub(in crate::transport) read: u64,
    /// Bytes sent to clients.
    pub(in crate::transport) sent: u64,
    /// Connections since the start.
    pub(in crate::transport) accepted: u64,
    /// Connections now.
    pub(in crate::transport) open: u64,
}

/// A connection that counts as open until this is dropped.
#[derive(Debug)]
pub(in crate::transport) struct CountedConnection(&'static Traffic);

impl Traffic {
    pub(in crate::transport) fn read(&self, bytes: usize) {
        self.read.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    pub(in crate::transport) fn sent(&self, bytes: usize) {
        self.sent.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    /// Counts a connection.
    pub(in crate::transport) fn connection(&'static self) -> CountedConnection {
        self.accepted.fetch_add(1, Ordering::Relaxed);
        CountedConnection(self)
    }

    pub(in crate::transport) fn counts(&self) -> TrafficCounts {
        // Closed first: so there are never more than were accepted.
        let closed = self.closed.load(Ordering::Acquire);
        let accepted = self.accepted.load(Ordering::Relaxed);
        let (read, sent) = (self.read.load(Ordering::Relaxed), self.sent.load(Ordering::Relaxed));
        TrafficCounts { read, sent, accepted, open: accepted - closed }
    }
}

impl Drop for CountedConnection {
    fn drop(&mut self) {
        self.0.closed.fetch_add(1, Ordering::Release);
    }
}
