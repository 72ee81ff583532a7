//! Permits that clients take in turns: who waits with many calls does not hold up a client with one. Knows no calls.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

/// A number for those whose calls wait for each other: a connection, or another machine.
pub type ClientId = u64;

/// A number of permits.
#[derive(Debug)]
pub(super) struct Permits(Arc<Mutex<State>>);

#[derive(Debug)]
struct State {
    free: usize,
    /// All permits, free or not.
    all: usize,
    /// The most that one client holds.
    of_one: usize,
    /// The clients that wait, in the order of their turns.
    turns: VecDeque<ClientId>,
    /// Those that wait or hold permits.
    clients: HashMap<ClientId, Client>,
}

#[derive(Debug, Default)]
struct Client {
    held: usize,
    /// What it waits for, in order.
    waiting: VecDeque<Waiter>,
}

#[derive(Debug)]
struct Waiter {
    count: usize,
    sender: oneshot::Sender<Permit>,
}

/// Some permits that were taken. They return on drop.
#[derive(Debug)]
pub(super) struct Permit {
    state: Arc<Mutex<State>>,
    client: ClientId,
    count: usize,
}

/// The wait of a call. Those behind it no longer wait for it after its drop.
struct Wait<'p> {
    state: &'p Arc<Mutex<State>>,
    receiver: oneshot::Receiver<Permit>,
}

impl Permits {
    /// So many permits. One client may hold all.
    pub(super) fn new(all: usize) -> Permits {
        Permits::with_share(all, all)
    }

    /// So many permits for calls that run long. One client holds at most two thirds, or what one call takes.
    pub(super) fn shared(all: usize) -> Permits {
        let of_one = if switches::is_off("client-share") { all } else { all - all / 3 };
        Permits::with_share(all, of_one)
    }

    fn with_share(all: usize, of_one: usize) -> Permits {
        let (turns, clients) = (VecDeque::new(), HashMap::new());
        Permits(Arc::new(Mutex::new(State { free: all, all, of_one, turns, clients })))
    }

    /// Takes `count` permits, or all, if there are not so many. `None`: it would have to wait for them.
    pub(super) fn take_now(&self, client: ClientId, count: usize) -> Option<Permit> {
        let mut state = lock(&self.0);
        let count = count.min(state.all);
        let has_them = state.turns.is_empty() && state.may_have(client, count) && state.free >= count;
        has_them.then(|| {
            state.give(client, count);
            Permit { state: self.0.clone(), client, count }
        })
    }

    /// Waits for `count` permits; for all, if there are not so many.
    pub(super) async fn take(&self, client: ClientId, count: usize) -> Permit {
        if let Some(permit) = self.take_now(client, count) {
            return permit;
        }
        let mut wait = {
            let mut state = lock(&self.0);
            let count = count.min(state.all);
            let (sender, receiver) = oneshot::channel();
            let waiting = &mut state.clients.entry(client).or_default().waiting;
            waiting.push_back(Waiter { count, sender });
            if waiting.len() == 1 {
                state.turns.push_back(client);
            }
            Wait { state: &self.0, receiver }
        };
        // Those before it may wait for permits of their own clients only.
        hand_on(&self.0);
        match (&mut wait.receiver).await {
            Ok(permit) => permit,
            // The sender lives in the state, and the state as long as `self`.
            Err(_) => std::future::pending().await,
        }
    }

    #[cfg(test)]
    pub(super) fn free(&self) -> usize {
        lock(&self.0).free
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    // The state is valid after every critical section.
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Gives the free permits to those whose turn it is.
fn hand_on(state: &Arc<Mutex<State>>) {
    loop {
        // Not under the lock: this wakes the waiter, or drops its permit if it has gone meanwhile.
        let Some((client, Waiter { count, sender })) = lock(state).next() else { return };
        let _ = sender.send(Permit { state: state.clone(), client, count });
    }
}

impl State {
    /// Whether the client's share allows it so many permits more.
    fn may_have(&self, client: ClientId, count: usize) -> bool {
        let held = self.clients.get(&client).map_or(0, |client| client.held);
        held == 0 || held + count <= self.of_one
    }

    fn give(&mut self, client: ClientId, count: usize) {
        self.free -= count;
        self.clients.entry(client).or_default().held += count;
    }

    fn take_back(&mut self, client: ClientId, count: usize) {
        self.free += count;
        if let Some(of_client) = self.clients.get_mut(&client) {
            of_client.held -= count;
        }
        self.forget_idle(client);
    }

    /// Forgets a client that neither waits nor holds permits.
    fn forget_idle(&mut self, client: ClientId) {
        if self.clients.get(&client).is_some_and(|client| client.held == 0 && client.waiting.is_empty()) {
            self.clients.remove(&client);
        }
    }

    /// The waiter whose turn it is, if there are enough permits for it. It has them then. Clients that hold their share are
    /// passed over.
    fn next(&mut self) -> Option<(ClientId, Waiter)> {
        let mut turn = 0;
        while let Some(client) = self.turns.get(turn).copied() {
            let waiting = &mut self.clients.entry(client).or_default().waiting;
            while waiting.front().is_some_and(|waiter| waiter.sender.is_closed()) {
                waiting.pop_front();
            }
            let Some(count) = waiting.front().map(|waiter| waiter.count) else {
                self.turns.remove(turn);
                self.forget_idle(client);
                continue;
            };
            if !self.may_have(client, count) {
                turn += 1;
                continue;
            }
            if count > self.free {
                return None;
            }
            self.give(client, count);
            self.turns.remove(turn);
            let waiting = &mut self.clients.entry(client).or_default().waiting;
            let waiter = waiting.pop_front();
            if !waiting.is_empty() {
                match switches::is_off("fair-turns") {
                    true => self.turns.push_front(client),
                    false => self.turns.push_back(client),
                }
            }
            return waiter.map(|waiter| (client, waiter));
        }
        None
    }
}

impl Drop for Wait<'_> {
    fn drop(&mut self) {
        if !switches::is_off("turn-left") {
            self.receiver.close();
        }
        // After its end there is nothing to hand on, and this is cheap.
        hand_on(self.state);
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        lock(&self.state).take_back(self.client, self.count);
        hand_on(&self.state);
    }
}

#[cfg(test)]
mod tests {
    use std::pin::Pin;
    use std::task::{Context, Poll, Waker};

    use super::*;

    type Waiting<'p> = Pin<Box<dyn Future<Output = Permit> + 'p>>;

    fn poll(waiting: &mut Waiting) -> Option<Permit> {
        match waiting.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(permit) => Some(permit),
            Poll::Pending => None,
        }
    }

    /// Takes one permit for each of these clients, in this order. Returns the order in which they get them.
    fn order(permits: &Permits, clients: &[ClientId]) -> Vec<ClientId> {
        let mut held = poll(&mut (Box::pin(permits.take(0, 1)) as Waiting));
        assert!(held.is_some());
        let mut waiting: Vec<(ClientId, Waiting)> =
            clients.iter().map(|client| (*client, Box::pin(permits.take(*client, 1)) as Waiting)).collect();
        assert!(waiting.iter_mut().all(|(_, one)| poll(one).is_none()));
        let mut order = Vec::new();
        while !waiting.is_empty() {
            drop(held.take());
            let place = waiting.iter_mut().position(|(_, one)| {
                held = poll(one);
                held.is_some()
            });
            order.push(waiting.remove(place.expect("one has its turn")).0);
        }
        order
    }

    #[test]
    fn a_client_with_one_call_waits_for_one_of_another_client_and_not_for_all() {
        let permits = Permits::new(1);
        assert_eq!(order(&permits, &[1, 1, 1, 1, 2, 3, 3]), [1, 2, 3, 1, 3, 1, 1]);
        assert_eq!(permits.free(), 1);
        assert!(lock(&permits.0).clients.is_empty() && lock(&permits.0).turns.is_empty());
    }

    #[test]
    fn who_needs_many_permits_gets_them_before_those_that_came_later() {
        let permits = Permits::new(3);
        let first = poll(&mut (Box::pin(permits.take(1, 2)) as Waiting));
        let mut many: Waiting = Box::pin(permits.take(2, 3));
        let mut few: Waiting = Box::pin(permits.take(3, 1));
        assert!(first.is_some() && poll(&mut many).is_none() && poll(&mut few).is_none());
        drop(first);
        let has_many = poll(&mut many);
        assert!(has_many.is_some() && poll(&mut few).is_none());
        drop(has_many);
        assert!(poll(&mut few).is_some());
    }

    #[test]
    fn permits_of_those_that_went_away_are_given_to_the_next() {
        let permits = Permits::new(1);
        let held = poll(&mut (Box::pin(permits.take(1, 1)) as Waiting));
        let mut waiting: Vec<Waiting> =
            (0..4).map(|client| Box::pin(permits.take(client % 2, 1)) as Waiting).collect();
        assert!(waiting.iter_mut().all(|one| poll(one).is_none()));
        // One goes before it has a permit, and one that has it before it is told.
        drop(waiting.remove(2));
        drop(held);
        drop(waiting.remove(0));
        drop(poll(&mut waiting[0]).expect("the next"));
        assert!(poll(&mut waiting[1]).is_some());
        drop(waiting);
        assert_eq!(permits.free(), 1);
    }

    #[test]
    fn those_behind_one_that_went_away_do_not_wait_for_it() {
        let permits = Permits::new(3);
        let held = poll(&mut (Box::pin(permits.take(1, 2)) as Waiting));
        let mut many: Waiting = Box::pin(permits.take(2, 3));
        let mut few: Waiting = Box::pin(permits.take(2, 1));
        assert!(held.is_some() && poll(&mut many).is_none() && poll(&mut few).is_none());
        drop(many);
        assert!(poll(&mut few).is_some());
    }

    #[test]
    fn a_client_with_its_share_waits_for_its_own_calls_and_holds_up_no_other() {
        let permits = Permits::shared(9);
        let mut own: Vec<Waiting> = (0..5).map(|_| Box::pin(permits.take(1, 2)) as Waiting).collect();
        let mut held: Vec<Permit> = own.iter_mut().filter_map(poll).collect();
        assert_eq!(held.len(), 3, "two thirds");
        let mut other: Waiting = Box::pin(permits.take(2, 3));
        let others = poll(&mut other);
        assert!(others.is_some() && own[3..].iter_mut().all(|one| poll(one).is_none()));
        held.pop();
        held.extend(own[3..].iter_mut().filter_map(poll));
        assert_eq!(held.len(), 3);
        let mut large: Waiting = Box::pin(permits.take(3, 100));
        assert!(poll(&mut large).is_none());
        drop((own, other, others, held));
        assert!(poll(&mut large).is_some(), "one call may take more than a share");
        drop(large);
        assert!(permits.free() == 9 && lock(&permits.0).clients.is_empty());
    }
}
