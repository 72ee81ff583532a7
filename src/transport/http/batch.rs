//! Carrying out a batch: its requests at once, but those for one file in their order.

use std::collections::HashMap;
use std::io;
use std::sync::Arc;
use std::time::Instant;

use hyper::Response;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use super::Server;
use super::body::{AnswerBody, Block};
use super::call::Working;
use super::response::{accepted, at_once, begin_with};
use crate::engine::Control;
use crate::protocol::{NO_ROOM, Pending, Step, code, http_refusal};
use crate::transport::batch::{Asked, Batch};

impl Server {
    /// Carries the requests of a batch out: those for one file in their order, others at once. One batch never takes
    /// all places.
    pub(super) async fn batch(
        self: Arc<Self>,
        steps: Vec<Step>,
        working: Working,
    ) -> io::Result<Response<AnswerBody>> {
        let Some((batch, asked)) = Batch::new(&self.shared, &self.room, steps) else {
            return at_once(http_refusal(false, 503, code::INTERNAL_ERROR, NO_ROOM));
        };
        let batch = Arc::new(batch);
        let places = Arc::new(Semaphore::new((self.shared.max_in_flight / 2).max(1)));
        let mut all = JoinSet::new();
        for calls in by_file(asked) {
            let (server, batch, working) = (self.clone(), batch.clone(), working.clone());
            let places = places.clone();
            all.spawn(async move {
                let (arrived, mut behind_late) = (Instant::now(), false);
                for (place, pending) in calls {
                    let _one = places.acquire().await;
                    let mut control = Control::new(server.shared.timeout);
                    if behind_late {
                        control = control.waiting_since(arrived);
                    }
                    if !pending.writes() {
                        control = control.without_waiting();
                    }
                    let control = Arc::new(control);
                    server.clone().batched(&batch, place, pending, control.clone(), working.clone()).await;
                    behind_late |= control.was_late();
                }
            });
        }
        while all.join_next().await.is_some() {}
        let _place = self.in_work.acquire().await;
        let block = self.workers.spawn(move || batch.take().map(Block::pull)).await;
        match block.map_err(io::Error::other)? {
            Some(block) => begin_with(block, &self.workers),
            None => Ok(accepted()),
        }
    }

    /// Carries one request of a batch out.
    async fn batched(
        self: Arc<Self>,
        batch: &Arc<Batch>,
        place: usize,
        pending: Pending,
        control: Arc<Control>,
        working: Working,
    ) {
        let (batch, pending) = (batch.clone(), Arc::new(pending));
        if !batch.has_room_for(&pending) {
            return batch.keep(place, &pending, pending.no_room());
        }
        let keep = {
            let (batch, pending) = (batch.clone(), pending.clone());
            move |answer| batch.keep(place, &pending, answer)
        };
        if self.work(pending.clone(), control, working, keep).await.is_none() {
            batch.keep(place, &pending, pending.panicked());
        }
    }
}

/// The calls of a batch, those for one file together and in their order.
fn by_file(asked: Vec<Asked>) -> Vec<Vec<(usize, Pending)>> {
    let mut places = HashMap::new();
    let mut groups: Vec<Vec<(usize, Pending)>> = Vec::new();
    for asked in asked {
        let Asked::Call(place, pending) = asked else { continue };
        let next = groups.len();
        let group = match pending.file() {
            Some(file) => *places.entry(file.to_owned()).or_insert(next),
            None => next,
        };
        if group == next {
            groups.push(Vec::new());
        }
        groups[group].push((place, pending));
    }
    groups
}
