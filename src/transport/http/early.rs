//! The answer to a call that begins before the call has ended (contract 14): its head and parts of its text as frames of the
//! body, then the rest.
//!
//! The answer to a call that is soon over keeps the ordinary form. Knows nothing of what a call does.

use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use hyper::Response;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep_until};

use super::body::{AnswerBody, Block, Event};
use super::events::{CancelOnDrop, last_block};
use super::response::respond;
use crate::exec::{Ended, Task, Threads};
use crate::transport::net::wire::Client;
use text::escape::escape_str;

/// The answer to a shorter call leaves whole.
const SHORT: Duration = Duration::from_millis(5);

/// Frames that wait until the body is polled. What comes then waits until there is room.
const WAITING: usize = 4;

/// The parts of an answer that may come before its call has ended.
pub(super) struct EarlyFrames {
    task: Arc<Task>,
    frames: mpsc::Receiver<Event>,
    sender: mpsc::Sender<Event>,
    begun: oneshot::Receiver<()>,
    /// Until then, the answer waits for its end.
    until: Instant,
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
        let until = Instant::now() + SHORT;
        Some(EarlyFrames { task: task.clone(), frames, sender, begun, until })
    }

    /// Waits until there is a frame, and the call is not a short one.
    pub(super) async fn begun(&mut self) {
        if (&mut self.begun).await.is_err() {
            std::future::pending().await
        }
        sleep_until(self.until).await;
    }

    /// The bytes of all frames, for a call that has ended.
    pub(super) fn joined(mut self) -> Vec<u8> {
        let mut bytes = Vec::new();
        while let Ok(Event::Frame(frame)) = self.frames.try_recv() {
            bytes.extend_from_slice(&frame);
        }
        bytes
    }

    /// The response that sends the frames, and then the rest of the answer when `call` has ended.
    pub(super) fn respond(
        self,
        call: JoinHandle<Ended<Block>>,
        cancel: CancelOnDrop,
        client: Arc<Client>,
        threads: Threads,
    ) -> Response<AnswerBody> {
        tokio::spawn(feed(self.task, call, cancel, client, self.sender));
        respond(200, AnswerBody::Events { events: self.frames, threads })
    }
}

/// Sends the rest of the answer. Ends early, and so cuts the answer, if the client has gone or the call has no answer.
async fn feed(
    task: Arc<Task>,
    mut call: JoinHandle<Ended<Block>>,
    cancel: CancelOnDrop,
    client: Arc<Client>,
    events: mpsc::Sender<Event>,
) {
    let mut end_of_input = pin!(client.end_of_input());
    let mut ended_sending = false;
    loop {
        tokio::select! {
            biased;
            ended = &mut call => {
                let rest = ended.ok().and_then(last_block).map_or(Event::Cut, Event::Rest);
                let _ = events.send(rest).await;
                return;
            }
            () = &mut end_of_input, if !ended_sending => {
                // If the client has closed the connection, it resets it when the next byte arrives.
                ended_sending = true;
                if !switches::is_off("early-nudge") {
                    task.control.early().nudge();
                }
            }
            () = client.reset() => break,
            () = events.closed() => break,
        }
    }
    drop(cancel);
}
