//! A seat for each connection, so many and no more, because files need descriptors, too (SPEC 8, a stuck server).
//!
//! Where all seats are taken, a newcomer gets that of whoever has waited longest for a next request; those whose
//! request is in work keep theirs. Knows no HTTP.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use http_body::{Body, Frame, SizeHint};
use rustix::process::{Resource, getrlimit, setrlimit};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};

/// Seats where descriptors are no matter.
const MOST: usize = 2_000;

/// The number of nobody who waits.
const AT_WORK: u64 = 0;

/// See the module.
#[derive(Debug)]
pub(super) struct Seats {
    free: Arc<Semaphore>,
    waiting: Mutex<Waiting>,
    one_more_waits: Notify,
    /// One whose seat was wanted keeps it.
    one_stays: Notify,
}

/// Those between two requests, in the order in which they began to wait.
#[derive(Debug, Default)]
struct Waiting {
    next: u64,
    by_age: BTreeMap<u64, Arc<Notify>>,
}

/// The seat of one connection, given back on drop.
#[derive(Debug)]
pub(super) struct Seat {
    place: Arc<Place>,
    _permit: OwnedSemaphorePermit,
}

#[derive(Debug)]
struct Place {
    seats: Arc<Seats>,
    /// Among those that wait, or [`AT_WORK`].
    number: AtomicU64,
    leave: Arc<Notify>,
}

/// While it exists, the connection keeps its seat.
#[derive(Debug)]
pub(super) struct AtWork(Arc<Place>);

/// A body that keeps its connection's seat until it is sent.
#[derive(Debug)]
pub(super) struct Seated<B> {
    body: B,
    _work: AtWork,
}

/// How many connections there may be: half of the descriptors that the system lets us have are for files.
pub(super) fn most() -> usize {
    let mut limit = getrlimit(Resource::Nofile);
    if limit.current != limit.maximum {
        limit.current = limit.maximum;
        // If the system does not raise it, there are fewer.
        let _ = setrlimit(Resource::Nofile, limit);
    }
    let have = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    usize::try_from(have / 2).unwrap_or(MOST).clamp(1, MOST)
}

impl Seats {
    pub(super) fn new(most: usize) -> Arc<Seats> {
        let free = Arc::new(Semaphore::new(most));
        let (waiting, one_more_waits, one_stays) = (Mutex::default(), Notify::new(), Notify::new());
        Arc::new(Seats { free, waiting, one_more_waits, one_stays })
    }

    /// A seat, if need be that of another. Nothing if there will never be one again.
    pub(super) async fn take(self: &Arc<Seats>) -> Option<Seat> {
        let mut permit = self.free.clone().try_acquire_owned().ok();
        while permit.is_none() {
            let longest = self.lock().by_age.pop_first();
            let look_again = if let Some((_, leave)) = longest {
                leave.notify_one();
                &self.one_stays
            } else {
                &self.one_more_waits
            };
            tokio::select! {
                free = self.free.clone().acquire_owned() => permit = Some(free.ok()?),
                () = look_again.notified() => {}
            }
        }
        let place = Place { seats: self.clone(), number: AtomicU64::new(AT_WORK), leave: Arc::default() };
        place.wait();
        Some(Seat { place: Arc::new(place), _permit: permit? })
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        // Every critical section leaves the map whole.
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Seat {
    /// A request has come: until the guard is dropped, nobody else gets the seat.
    pub(super) fn work(&self) -> AtWork {
        self.place.stop_waiting();
        AtWork(self.place.clone())
    }

    /// For one whose seat is wanted: whether it keeps it, as a request has come meanwhile. Then another must leave.
    pub(super) fn stays(&self) -> bool {
        let at_work = self.place.number.load(Ordering::Relaxed) == AT_WORK;
        if at_work {
            self.place.seats.one_stays.notify_one();
        }
        at_work
    }

    /// Waits until the seat is wanted by another. A request may come in the same moment.
    pub(super) async fn wanted(&self) {
        self.place.leave.notified().await;
    }
}

impl Place {
    fn wait(&self) {
        let mut waiting = self.seats.lock();
        waiting.next += 1;
        let number = waiting.next;
        self.number.store(number, Ordering::Relaxed);
        waiting.by_age.insert(number, self.leave.clone());
        drop(waiting);
        self.seats.one_more_waits.notify_one();
    }

    fn stop_waiting(&self) {
        self.seats.lock().by_age.remove(&self.number.swap(AT_WORK, Ordering::Relaxed));
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.place.stop_waiting();
    }
}

impl Drop for AtWork {
    fn drop(&mut self) {
        self.0.wait();
    }
}

impl<B> Seated<B> {
    pub(super) fn new(body: B, work: AtWork) -> Seated<B> {
        Seated { body, _work: work }
    }
}

impl<B: Body + Unpin> Body for Seated<B> {
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
    fn a_newcomer_gets_the_seat_of_whoever_has_waited_longest_and_never_that_of_one_at_work() {
        run(async {
            let seats = Seats::new(3);
            let busy = seats.take().await.unwrap();
            let work = busy.work();
            let mut old = Some(seats.take().await.unwrap());
            let young = seats.take().await.unwrap();
            let newcomer = tokio::select! {
                biased;
                () = busy.wanted() => unreachable!("it is at work"),
                () = young.wanted() => unreachable!("another has waited longer"),
                () = async { old.as_ref().unwrap().wanted().await; drop(old.take()); std::future::pending().await } => unreachable!(),
                seat = seats.take() => seat.unwrap(),
            };
            let (_one, _two) = (newcomer.work(), young.work());
            drop(work);
            tokio::select! {
                biased;
                () = busy.wanted() => {}
                _ = seats.take() => unreachable!("nobody has left"),
            }
            drop(busy);
            assert!(seats.take().await.is_some());
        });
    }

    #[test]
    fn who_begins_to_work_in_the_moment_when_its_seat_is_wanted_stays_and_the_next_one_leaves() {
        run(async {
            let seats = Seats::new(2);
            let (longest, next) = (seats.take().await.unwrap(), seats.take().await.unwrap());
            let taking = seats.take();
            tokio::pin!(taking);
            tokio::select! {
                biased;
                _ = &mut taking => unreachable!("nobody has left"),
                () = longest.wanted() => {}
            }
            let _work = longest.work();
            assert!(longest.stays());
            tokio::select! {
                biased;
                _ = &mut taking => unreachable!("nobody has left"),
                () = next.wanted() => assert!(!next.stays()),
            }
            drop(next);
            assert!(taking.await.is_some());
        });
    }

    #[test]
    fn half_of_the_descriptors_are_for_files() {
        let have = getrlimit(Resource::Nofile).maximum.unwrap_or(u64::MAX);
        assert!(most() as u64 <= have / 2 && most() <= MOST);
    }
}
