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
    /// The clients that wait, in the order of their turns.
    turns: VecDeque<ClientId>,
    /// What each of them waits for, in order.
    waiting: HashMap<ClientId, VecDeque<Waiter>>,
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
    count: usize,
}

impl Permits {
    pub(super) fn new(free: usize) -> Permits {
        let state = State { free, turns: VecDeque::new(), waiting: HashMap::new() };
        Permits(Arc::new(Mutex::new(state)))
    }

    /// Waits for `count` permits. `count` must not be more than there are at all.
    pub(super) async fn take(&self, client: ClientId, count: usize) -> Permit {
        let waits = {
            let mut state = lock(&self.0);
            if state.turns.is_empty() && state.free >= count {
                state.free -= count;
                return Permit { state: self.0.clone(), count };
            }
            let (sender, receiver) = oneshot::channel();
            let of_client = state.waiting.entry(client).or_default();
            of_client.push_back(Waiter { count, sender });
            if of_client.len() == 1 {
                state.turns.push_back(client);
            }
            receiver
        };
        match waits.await {
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

impl State {
    /// The waiter whose turn it is, if there are enough permits for it. It has them then.
    fn next(&mut self) -> Option<Waiter> {
        loop {
            let client = *self.turns.front()?;
            let of_client = self.waiting.entry(client).or_default();
            let gone = of_client.front().is_none_or(|waiter| waiter.sender.is_closed());
            if !gone && of_client.front().is_some_and(|waiter| waiter.count > self.free) {
                return None;
            }
            let waiter = of_client.pop_front();
            let is_last = of_client.is_empty();
            if is_last {
                self.waiting.remove(&client);
            }
            match (gone, is_last) {
                (true, false) => continue,
                (false, false) => self.turns.rotate_left(1),
                (_, true) => drop(self.turns.pop_front()),
            }
            if let (false, Some(waiter)) = (gone, waiter) {
                self.free -= waiter.count;
                return Some(waiter);
            }
        }
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        lock(&self.state).free += self.count;
        loop {
            // Not under the lock: this wakes the waiter, or drops its permit if it has gone meanwhile.
            let Some(Waiter { count, sender }) = lock(&self.state).next() else { return };
            let _ = sender.send(Permit { state: self.state.clone(), count });
        }
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
        assert!(lock(&permits.0).waiting.is_empty() && lock(&permits.0).turns.is_empty());
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
}
