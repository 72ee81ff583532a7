//! The answer to a call that takes long, as a stream of server-sent events: notifications of progress, then the
//! answer as the last event (contract 6.3).
//!
//! A task feeds the response's body. It watches the client, because nothing else notices a disconnect while the
//! body waits. Knows nothing of what a call does.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use hyper::Response;
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderName, HeaderValue};
use tokio::sync::mpsc::{self, Sender};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep_until};

use super::body::{AnswerBody, Block, EVENT_HEAD, EVENT_TAIL, Event};
use crate::exec::{Ended, Notification, ProgressWatch, Task, Threads};
use crate::transport::net::wire::Client;

/// Events that wait until the body is polled. Notifications beyond are left out.
const WAITING: usize = 4;

/// A comment keeps a quiet connection open.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// An empty comment.
const COMMENT: &[u8] = b":\n\n";

/// The client that waits for an answer.
#[derive(Clone, Copy)]
pub(super) struct Reader<'c> {
    pub(super) client: &'c Arc<Client>,
    /// It wants to know the progress, and accepts a stream of events.
    pub(super) takes_events: bool,
}

/// Cancels a call when it is dropped. Does nothing after the call was answered.
pub(super) struct CancelOnDrop(pub(super) Option<Arc<Task>>);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        if let Some(task) = &self.0 {
            task.control.cancel();
        }
    }
}

/// A call that runs as a task of its own.
pub(super) struct Running {
    pub(super) call: JoinHandle<Ended<Block>>,
    pub(super) watch: ProgressWatch,
    /// Dropped if the client disconnects.
    pub(super) cancel: CancelOnDrop,
}

/// The response that sends the rest of a call as events; `first` is its first notification.
pub(super) fn begin(
    running: Running,
    first: Option<Notification>,
    client: Arc<Client>,
    threads: Threads,
) -> Response<AnswerBody> {
    let (sender, events) = mpsc::channel(WAITING);
    notify(&sender, first);
    tokio::spawn(feed(running, client, sender));
    let mut response = Response::new(AnswerBody::Events { events, threads });
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    // Tells a proxy not to collect the events.
    headers.insert(HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));
    response
}

/// Sends the events of a call up to its answer. Ends early, and so cuts the stream, if the client has gone or the
/// call has no answer.
async fn feed(mut running: Running, client: Arc<Client>, events: Sender<Event>) {
    let mut end_of_input = pin!(client.end_of_input());
    let (mut ended_sending, mut quiet_until) = (false, Instant::now() + KEEP_ALIVE);
    loop {
        let active = tokio::select! {
            biased;
            ended = &mut running.call => {
                if let Ok(Some(block)) = ended.map(last_block) {
                    let _ = events.send(Event::Answer(block)).await;
                }
                return;
            }
            notification = running.watch.tick() => notify(&events, notification),
            () = &mut end_of_input, if !ended_sending => {
                // If the client has closed the connection, it resets it when the comment arrives.
                ended_sending = true;
                comment(&events)
            }
            () = sleep_until(quiet_until) => comment(&events),
            () = client.reset() => break,
            () = events.closed() => break,
        };
        if active {
            quiet_until = Instant::now() + KEEP_ALIVE;
        }
    }
    drop(running.cancel);
}

/// The first block of the answer; `None` if there is no answer.
pub(super) fn last_block(ended: Ended<Block>) -> Option<Block> {
    match ended {
        Ended::Answered(block) => Some(block),
        Ended::Late(answer) => Some(Block::pull(answer)),
        Ended::Cancelled => None,
    }
}

/// Sends a notification, if there is one and the client reads. Returns whether it did.
fn notify(events: &Sender<Event>, notification: Option<Notification>) -> bool {
    let message = notification.and_then(Notification::if_unanswered).and_then(|message| message.collect());
    message.is_some_and(|message| {
        let event = Bytes::from([EVENT_HEAD, &message, EVENT_TAIL].concat());
        events.try_send(Event::Frame(event)).is_ok()
    })
}

/// Sends a comment. If there is no room for it, the client does not read, and gets none.
fn comment(events: &Sender<Event>) -> bool {
    let _ = events.try_send(Event::Frame(Bytes::from_static(COMMENT)));
    true
}
