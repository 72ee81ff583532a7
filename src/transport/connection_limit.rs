//! Limits open connections, so that descriptors remain for files (SPEC 8, a stuck server).
//!
//! At the limit, a new connection takes the place of the one that has been idle longest. A connection with a request in
//! work is never closed for another. Knows no HTTP.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use http_body::{Body, Frame, SizeHint};
use rustix::process::{Resource, getrlimit, setrlimit};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};

/// Most connections, where there are enough descriptors.
const MAX_CONNECTIONS: usize = 2_000;

/// Stands for the number of a connection that is not idle.
const BUSY: u64 = 0;

/// See the module.
#[derive(Debug)]
pub(super) struct ConnectionLimit {
    free: Arc<Semaphore>,
    idle: Mutex<Idle>,
    /// A connection became idle.
    became_idle: Notify,
    /// A connection that was to be closed got a request first.
    stayed: Notify,
}

/// Connections without a request, in the order in which they became idle.
#[derive(Debug, Default)]
struct Idle {
    last: u64,
    by_age: BTreeMap<u64, Arc<Notify>>,
}

/// The right to one connection, released on drop.
#[derive(Debug)]
pub(super) struct ConnectionPermit {
    slot: Arc<Slot>,
    _permit: OwnedSemaphorePermit,
}

#[derive(Debug)]
struct Slot {
    limit: Arc<ConnectionLimit>,
    /// Its number among the idle ones, or [`BUSY`].
    number: AtomicU64,
    close: Arc<Notify>,
}

/// While it exists, the connection is not idle.
#[derive(Debug)]
pub(super) struct InUse(Arc<Slot>);

/// A response body: until it is sent, its connection is not idle.
#[derive(Debug)]
pub(super) struct PermitBody<B> {
    body: B,
    _in_use: InUse,
}

/// How many connections there may be. Half of the descriptors that the process may have are for files.
pub(super) fn max_connections() -> usize {
    let mut limit = getrlimit(Resource::Nofile);
    if limit.current != limit.maximum {
        limit.current = limit.maximum;
        // If the system refuses, there are fewer connections.
        let _ = setrlimit(Resource::Nofile, limit);
    }
    let have = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    usize::try_from(have / 2).unwrap_or(MAX_CONNECTIONS).clamp(1, MAX_CONNECTIONS)
}

impl ConnectionLimit {
    pub(super) fn new(most: usize) -> Arc<ConnectionLimit> {
        let free = Arc::new(Semaphore::new(most));
        let (idle, became_idle, stayed) = (Mutex::default(), Notify::new(), Notify::new());
        Arc::new(ConnectionLimit { free, idle, became_idle, stayed })
    }

    /// Waits for a permit; at the limit, closes the connection that has been idle longest. Nothing if the semaphore was
    /// closed.
    pub(super) async fn take(self: &Arc<ConnectionLimit>) -> Option<ConnectionPermit> {
        let mut permit = self.free.clone().try_acquire_owned().ok();
        while permit.is_none() {
            let oldest = self.lock().by_age.pop_first();
            let look_again = if let Some((_, close)) = oldest {
                close.notify_one();
                &self.stayed
            } else {
                &self.became_idle
            };
            tokio::select! {
                free = self.free.clone().acquire_owned() => permit = Some(free.ok()?),
                () = look_again.notified() => {}
            }
        }
        let slot = Slot { limit: self.clone(), number: AtomicU64::new(BUSY), close: Arc::default() };
        slot.set_idle();
        Some(ConnectionPermit { slot: Arc::new(slot), _permit: permit? })
    }

    fn lock(&self) -> MutexGuard<'_, Idle> {
        // Every critical section leaves the map whole.
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ConnectionPermit {
    /// Marks the connection as in use: until the guard is dropped, it is not closed for another.
    pub(super) fn begin_request(&self) -> InUse {
        self.slot.set_busy();
        InUse(self.slot.clone())
    }

    /// Returns true if a request arrived after the connection was asked to close; then the next idle one is asked instead.
    pub(super) fn stays(&self) -> bool {
        let busy = self.slot.number.load(Ordering::Relaxed) == BUSY;
        if busy {
            self.slot.limit.stayed.notify_one();
        }
        busy
    }

    /// Waits until the connection is asked to close. A request may arrive at the same moment.
    pub(super) async fn asked_to_close(&self) {
        self.slot.close.notified().await;
    }
}

impl Slot {
    fn set_idle(&self) {
        let mut idle = self.limit.lock();
        idle.last += 1;
        let number = idle.last;
        self.number.store(number, Ordering::Relaxed);
        idle.by_age.insert(number, self.close.clone());
        drop(idle);
        self.limit.became_idle.notify_one();
    }

    fn set_busy(&self) {
        self.limit.lock().by_age.remove(&self.number.swap(BUSY, Ordering::Relaxed));
    }
}

impl Drop for ConnectionPermit {
    fn drop(&mut self) {
        self.slot.set_busy();
    }
}

impl Drop for InUse {
    fn drop(&mut self) {
        self.0.set_idle();
    }
}

impl<B> PermitBody<B> {
    pub(super) fn new(body: B, in_use: InUse) -> PermitBody<B> {
        PermitBody { body, _in_use: in_use }
    }
}

impl<B: Body + Unpin> Body for PermitBody<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<B::Data>, B::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(test: impl Future<Output = ()>) {
        tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(test);
    }

    #[test]
    fn at_the_limit_the_connection_that_was_idle_longest_is_closed_and_never_one_in_use() {
        run(async {
            let limit = ConnectionLimit::new(3);
            let busy = limit.take().await.unwrap();
            let in_use = busy.begin_request();
            let mut old = Some(limit.take().await.unwrap());
            let young = limit.take().await.unwrap();
            let newcomer = tokio::select! {
                biased;
                () = busy.asked_to_close() => unreachable!("it is in use"),
                () = young.asked_to_close() => unreachable!("another was idle for longer"),
                () = async { old.as_ref().unwrap().asked_to_close().await; drop(old.take()); std::future::pending().await } => unreachable!(),
                permit = limit.take() => permit.unwrap(),
            };
            let (_one, _two) = (newcomer.begin_request(), young.begin_request());
            drop(in_use);
            tokio::select! {
                biased;
                () = busy.asked_to_close() => {}
                _ = limit.take() => unreachable!("none was closed"),
            }
            drop(busy);
            assert!(limit.take().await.is_some());
        });
    }

    #[test]
    fn a_connection_that_gets_a_request_when_it_is_asked_to_close_stays_and_the_next_is_asked() {
        run(async {
            let limit = ConnectionLimit::new(2);
            let (longest, next) = (limit.take().await.unwrap(), limit.take().await.unwrap());
            let taking = limit.take();
            tokio::pin!(taking);
            tokio::select! {
                biased;
                _ = &mut taking => unreachable!("none was closed"),
                () = longest.asked_to_close() => {}
            }
            let _in_use = longest.begin_request();
            assert!(longest.stays());
            tokio::select! {
                biased;
                _ = &mut taking => unreachable!("none was closed"),
                () = next.asked_to_close() => assert!(!next.stays()),
            }
            drop(next);
            assert!(taking.await.is_some());
        });
    }

    #[test]
    fn half_of_the_descriptors_are_for_files() {
        let have = getrlimit(Resource::Nofile).maximum.unwrap_or(u64::MAX);
        assert!(max_connections() as u64 <= have / 2 && max_connections() <= MAX_CONNECTIONS);
    }
}
