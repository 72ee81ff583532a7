//! The answer to a call that begins before the call has ended (contract 14): its head and parts of its text as frames of the
//! body, then the rest.
//!
//! A call that is over before it has anything to send keeps the ordinary form of an answer. Knows nothing of what a call does.

use std::sync::{Arc, Mutex, PoisonError};

use hyper::Response;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

use super::body::{AnswerBody, Block, Event};
use super::events::{CancelOnDrop, last_block};
use super::response::respond;
use crate::exec::{Ended, Task, Threads};
use crate::protocol::escape_str;
use crate::transport::net::wire::Client;

/// Frames that wait until the body is polled. What comes then waits until there is room.
const WAITING: usize = 4;

/// The parts of an answer that may come before its call has ended.
pub(super) struct EarlyFrames {
    frames: mpsc::Receiver<Event>,
    sender: mpsc::Sender<Event>,
    begun: oneshot::Receiver<()>,
}

impl EarlyFrames {
    /// Takes what the call hands on; `None` if its answer cannot begin early.
    pub(super) fn of(task: &Arc<Task>) -> Option<EarlyFrames> {
        let head = task.call.early_head()?;
        let (sender, frames) = mpsc::channel(WAITING);
        let (begins, begun) = oneshot::channel();
        let (first, to_body) = (Mutex::new(Some((head, begins))), sender.clone());
        task.control.early().send_to(move |text| {
            let Ok(permit) = to_body.try_reserve() else { return false };
            let first = first.lock().unwrap_or_else(PoisonError::into_inner).take();
            let (mut frame, begins) =
                first.map_or_else(Default::default, |(head, begins)| (head, Some(begins)));
            escape_str(text, &mut frame);
            permit.send(Event::Frame(frame.into()));
            if let Some(begins) = begins {
                let _ = begins.send(());
            }
            true
        });
        Some(EarlyFrames { frames, sender, begun })
    }

    /// Waits until the first frame is there.
    pub(super) async fn begun(&mut self) {
        if (&mut self.begun).await.is_err() {
            std::future::pending().await
        }
    }

    /// The response that sends the frames, and then the rest of the answer when `call` has ended.
    pub(super) fn respond(
        self,
        call: JoinHandle<Ended<Block>>,
        cancel: CancelOnDrop,
        client: Arc<Client>,
        threads: Threads,
    ) -> Response<AnswerBody> {
        tokio::spawn(feed(call, cancel, client, self.sender));
        respond(200, AnswerBody::Events { events: self.frames, threads })
    }
}

/// Sends the rest of the answer. Ends early, and so cuts the answer, if the client has gone or the call has no answer.
async fn feed(
    mut call: JoinHandle<Ended<Block>>,
    cancel: CancelOnDrop,
    client: Arc<Client>,
    events: mpsc::Sender<Event>,
) {
    tokio::select! {
        biased;
        ended = &mut call => {
            let rest = ended.ok().and_then(last_block).map_or(Event::Cut, Event::Rest);
            let _ = events.send(rest).await;
        }
        () = client.reset() => drop(cancel),
        () = events.closed() => drop(cancel),
    }
}
