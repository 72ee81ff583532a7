//! Limits open connections, so that descriptors remain for files (contract 8, a stuck server). At the limit, a further
//! connection takes the place of the one that has shown the least.
//!
//! A connection without an accepted request is a newcomer. Newcomers may hold a quarter of the places; beyond that, the one
//! that waits longest is closed. Otherwise the connection is closed that has been idle longest, then one whose client does
//! not read its answer, and last, one whose call is in work for long. Of these, first those of the peer with the most
//! connections. Knows no requests.

use std::collections::HashMap;
use std::io;
use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use tokio::sync::Notify;
use tokio::time::timeout;

use crate::exec::ClientId;
use sys::process::raise_open_file_limit;

/// Most connections if there are enough descriptors.
const MAX_CONNECTIONS: usize = 2_000;

/// A connection has one in so many descriptors: of the others, it takes one while the file of its answer is open, and the rest is for
/// all else.
const DESCRIPTORS: u64 = 3;

/// One in so many places is for newcomers.
const NEWCOMERS: usize = 4;

/// How long a newcomer has for its first request before it may be closed for another one.
const FIRST_REQUEST: Duration = Duration::from_millis(100);

/// How long a write must stand still before its connection may be closed for another one.
const STALL: Duration = Duration::from_millis(500);

/// How long a call must be in work before its connection may be closed for another one.
const LONG_WORK: Duration = Duration::from_secs(1);

/// How long a body may arrive before its connection may be closed for another body.
const SLOW_BODY: Duration = Duration::from_secs(2);

/// How often the limit looks for a connection to close while there is none.
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// The most connections for the descriptors that the process may have.
pub(in crate::transport) fn max_connections() -> usize {
    usize::try_from(raise_open_file_limit() / DESCRIPTORS)
        .unwrap_or(MAX_CONNECTIONS)
        .clamp(1, MAX_CONNECTIONS)
}

/// See the module.
#[derive(Debug)]
pub(in crate::transport) struct ConnectionLimit {
    most: usize,
    open: Mutex<Open>,
    /// A connection has ended.
    ended: Notify,
}

#[derive(Debug, Default)]
struct Open {
    next: u64,
    connections: HashMap<u64, Arc<Activity>>,
    peers: HashMap<IpAddr, Weak<Peer>>,
}

/// A machine with connections.
#[derive(Debug)]
struct Peer {
    number: u64,
    connections: AtomicUsize,
}

/// A place of a connection. It is free again on drop.
#[derive(Debug)]
pub(in crate::transport) struct Place {
    limit: Arc<ConnectionLimit>,
    number: u64,
    activity: Arc<Activity>,
}

/// What a connection does now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::transport) enum Phase {
    /// It waits for a request, or for the rest of its head.
    Head,
    /// It waits for the rest of a body.
    Body,
    /// Its call is in work, or its answer is made.
    Work,
}

/// What a connection has done and does now. Cheap to change, because each request changes it.
#[derive(Debug)]
pub(in crate::transport) struct Activity {
    /// A [`State`].
    state: AtomicU64,
    /// When the write last began to stand still. Apart from the state, whose time goes on while a client reads little by little.
    stalled_since: AtomicU64,
    peer: Arc<Peer>,
    client: ClientId,
    close: Notify,
}

/// The call of a connection is in work until this is dropped.
#[derive(Debug)]
pub(in crate::transport) struct Working(Arc<Activity>);

/// The state of a connection at one moment.
#[derive(Debug, Clone, Copy)]
struct State {
    phase: Phase,
    /// A request of it has passed all checks.
    accepted: bool,
    /// A request of it was worked on, even if it was refused.
    asked: bool,
    /// A write makes no progress.
    stalled: bool,
    /// It is to be closed.
    closing: bool,
    /// When the phase began, in milliseconds since the first use of this module.
    since: u64,
    /// When the stall began. Not a part of the bits.
    stalled_since: u64,
}

impl State {
    fn of(bits: u64) -> State {
        let phase = match bits & 3 {
            0 => Phase::Head,
            1 => Phase::Body,
            _ => Phase::Work,
        };
        let flag = |place: u32| bits & (1 << place) != 0;
        State {
            phase,
            accepted: flag(2),
            stalled: flag(3),
            closing: flag(4),
            asked: flag(5),
            since: bits >> 8,
            stalled_since: 0,
        }
    }

    fn bits(self) -> u64 {
        let flags = [(2, self.accepted), (3, self.stalled), (4, self.closing), (5, self.asked)];
        let flags = flags.iter().fold(0, |bits, (place, flag)| bits | (u64::from(*flag) << place));
        self.phase as u64 | flags | (self.since << 8)
    }

    fn lasts(self) -> Duration {
        Duration::from_millis(now().saturating_sub(self.since))
    }

    fn is_newcomer(self) -> bool {
        !self.accepted && self.phase != Phase::Work
    }

    /// Whether a write has stood still for long.
    fn stands_still(self) -> bool {
        self.stalled && Duration::from_millis(now().saturating_sub(self.stalled_since)) >= STALL
    }

    /// Whether it may be closed for another connection.
    fn may_close(self) -> bool {
        let phase_allows = match self.phase {
            Phase::Work => self.lasts() >= LONG_WORK && !(switches::is_off("trickle") && self.stalled),
            Phase::Head if !self.accepted && (switches::is_off("crowd-refused") || !self.asked) => {
                self.lasts() >= FIRST_REQUEST
            }
            Phase::Head | Phase::Body => !self.stalled,
        };
        !self.closing && (phase_allows || self.stands_still())
    }
}

fn now() -> u64 {
    static FIRST: LazyLock<Instant> = LazyLock::new(Instant::now);
    FIRST.elapsed().as_millis() as u64
}

impl ConnectionLimit {
    /// A limit of `most` connections.
    pub(in crate::transport) fn new(most: usize) -> Arc<ConnectionLimit> {
        Arc::new(ConnectionLimit { most, open: Mutex::default(), ended: Notify::new() })
    }

    /// A place for a connection of `peer`. Closes another connection if there is none.
    pub(in crate::transport) async fn place(self: &Arc<ConnectionLimit>, peer: IpAddr) -> Place {
        loop {
            if let Some(place) = self.free_place(peer) {
                return place;
            }
            self.close_one();
            let _ = timeout(LOOK_AGAIN, self.ended.notified()).await;
        }
    }

    /// A place that is free.
    pub(in crate::transport) fn free_place(self: &Arc<ConnectionLimit>, peer: IpAddr) -> Option<Place> {
        let mut open = self.lock();
        if open.connections.len() >= self.most {
            return None;
        }
        let number = open.number();
        let machine = open.peer(peer);
        // The programs of this machine are told apart by their connections.
        let client = if peer.is_loopback() { number } else { machine.number };
        let activity = Arc::new(Activity::new(machine, client));
        open.connections.insert(number, activity.clone());
        Some(Place { limit: self.clone(), number, activity })
    }

    /// Closes the connection whose body arrives longest, if one arrives slowly. Returns whether there is one.
    pub(in crate::transport) fn close_slow_body(&self) -> bool {
        let slow = |state: State| state.phase == Phase::Body && !state.closing && state.lasts() >= SLOW_BODY;
        self.lock().close_first(|state| slow(state).then_some(0))
    }

    /// Closes the connection that comes first, unless one is being closed.
    pub(in crate::transport) fn close_one(&self) {
        let open = self.lock();
        let states = || open.connections.values().map(|activity| activity.state());
        if states().any(|state| state.closing) {
            return;
        }
        let newcomers = states().filter(|state| state.is_newcomer()).count();
        let crowded = !switches::is_off("crowd-newcomers") && newcomers > self.most / NEWCOMERS;
        // Where newcomers crowd, no other gives way, even if none of them may be closed yet.
        open.close_first(|state| match state {
            state if !state.may_close() => None,
            state if state.is_newcomer() => Some(if crowded { 0 } else { 5 }),
            _ if crowded => None,
            state if state.stands_still() => Some(2),
            State { phase: Phase::Work, .. } => Some(4),
            _ => Some(1),
        });
    }

    fn lock(&self) -> MutexGuard<'_, Open> {
        // The maps are valid after every critical section.
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Open {
    /// A number for a connection or a peer.
    fn number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    /// The peer at an address. A network of IPv6 is one peer, because one machine may have all its addresses.
    fn peer(&mut self, peer: IpAddr) -> Arc<Peer> {
        let peer = match peer {
            IpAddr::V6(ip) if ip.to_ipv4_mapped().is_none() => {
                IpAddr::V6((u128::from(ip) & !u128::from(u64::MAX)).into())
            }
            peer => peer.to_canonical(),
        };
        if self.peers.len() > 2 * self.connections.len() + 16 {
            self.peers.retain(|_, known| known.strong_count() > 0);
        }
        let known = self.peers.get(&peer).and_then(Weak::upgrade);
        known.unwrap_or_else(|| {
            let new = Arc::new(Peer { number: self.number(), connections: AtomicUsize::new(0) });
            self.peers.insert(peer, Arc::downgrade(&new));
            new
        })
    }

    /// Closes the connection with the lowest rank; of several, one of the peer with the most, and of those the oldest state.
    /// Returns whether there is one.
    fn close_first(&self, rank: impl Fn(State) -> Option<u8>) -> bool {
        let first = self.connections.values().filter_map(|activity| {
            let state = activity.state();
            let of_peer = activity.peer.connections.load(Ordering::Relaxed);
            Some(((rank(state)?, usize::MAX - of_peer, state.since), state, activity))
        });
        first.min_by_key(|(key, ..)| *key).is_some_and(|(_, seen, activity)| activity.close(seen))
    }
}

impl Activity {
    fn new(peer: Arc<Peer>, client: ClientId) -> Activity {
        peer.connections.fetch_add(1, Ordering::Relaxed);
        let new = State { since: now(), ..State::of(0) };
        let (state, stalled_since) = (AtomicU64::new(new.bits()), AtomicU64::new(0));
        Activity { state, stalled_since, peer, client, close: Notify::new() }
    }

    fn state(&self) -> State {
        let state = State::of(self.state.load(Ordering::Acquire));
        State { stalled_since: self.stalled_since.load(Ordering::Relaxed), ..state }
    }

    /// Changes the state of a connection that is not to be closed.
    fn change(&self, change: impl Fn(State) -> State) -> io::Result<()> {
        let change = |bits| {
            let state = State::of(bits);
            (!state.closing).then(|| change(state).bits())
        };
        let changed = self.state.fetch_update(Ordering::AcqRel, Ordering::Acquire, change);
        changed.map(drop).map_err(|_| io::Error::other("closed, because other connections came"))
    }

    /// Whose calls its calls take turns with.
    pub(in crate::transport) fn client(&self) -> ClientId {
        self.client
    }

    /// Begins a phase. An error if the connection is to be closed.
    pub(in crate::transport) fn enter(&self, phase: Phase) -> io::Result<()> {
        self.change(|state| State { phase, stalled: false, since: now(), ..state })
    }

    /// Begins the work on a request. A connection that was to be closed because it had none stays, unless all before were refused.
    pub(in crate::transport) fn work(self: &Arc<Activity>) -> Working {
        let begin = |bits| {
            let state = State::of(bits);
            let closing = state.closing && state.asked && !state.accepted;
            let work =
                State { phase: Phase::Work, stalled: false, asked: true, closing, since: now(), ..state };
            Some(work.bits())
        };
        let _ = self.state.fetch_update(Ordering::AcqRel, Ordering::Acquire, begin);
        Working(self.clone())
    }

    /// A request has passed all checks.
    pub(in crate::transport) fn accept(&self) -> io::Result<()> {
        self.change(|state| State { accepted: true, ..state })
    }

    /// Whether a write has made progress.
    pub(in crate::transport) fn wrote(&self, progress: bool) {
        if self.state().stalled == progress {
            if !progress {
                self.stalled_since.store(now(), Ordering::Relaxed);
            }
            let _ = self.change(|state| State { stalled: !progress, ..state });
        }
    }

    /// Waits until the connection is to be closed.
    pub(in crate::transport) async fn closed(&self) {
        loop {
            self.close.notified().await;
            // Its request may have come meanwhile.
            if self.state().closing {
                return;
            }
        }
    }

    /// Closes the connection if its state is still `seen`.
    fn close(&self, seen: State) -> bool {
        let closing = State { closing: true, ..seen }.bits();
        let done = self.state.compare_exchange(seen.bits(), closing, Ordering::AcqRel, Ordering::Acquire);
        if done.is_ok() {
            self.close.notify_one();
        }
        done.is_ok()
    }
}

impl Drop for Activity {
    fn drop(&mut self) {
        self.peer.connections.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Drop for Working {
    fn drop(&mut self) {
        let _ = self.0.enter(Phase::Head);
    }
}

impl Place {
    /// What its connection does.
    pub(in crate::transport) fn activity(&self) -> &Arc<Activity> {
        &self.activity
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.limit.lock().connections.remove(&self.number);
        self.limit.ended.notify_one();
    }
}

#[cfg(test)]
mod tests;
