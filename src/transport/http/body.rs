//! Sends an answer as an HTTP body: a short answer whole, a long one block by block as the client reads it, a late one
//! as the last of several events.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http_body::SizeHint;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Sleep, sleep};

use crate::exec::Threads;
use crate::protocol::{Answer, BLOCK, Pulled};
use crate::transport::net::block_pool::Frame;

/// Answers up to this many bytes need no frame.
const SHORT: usize = 16 * 1024;

/// What stands before and after an event's data.
pub(super) const EVENT_HEAD: &[u8] = b"event: message\ndata: ";
pub(super) const EVENT_TAIL: &[u8] = b"\n\n";

/// See the module.
#[derive(Debug)]
pub(super) enum AnswerBody {
    /// The whole answer; `None` when it has been read.
    Whole(Option<Bytes>),
    /// The rest is pulled on a thread, because reading a map may wait for the disk.
    Stream {
        next: oneshot::Receiver<Block>,
        threads: Threads,
        /// When the next block must be there: the file system may not answer.
        end: Option<Pin<Box<Sleep>>>,
        /// What follows the answer.
        tail: &'static [u8],
    },
    /// The events before the answer, and the answer as the last event; or the parts of an answer.
    Events { events: mpsc::Receiver<Event>, threads: Threads },
    /// Everything was sent.
    Done,
}

/// A part of a stream of events.
#[derive(Debug)]
pub(super) enum Event {
    /// Whole events.
    Frame(Bytes),
    /// The answer, which starts with this block. It becomes the last event.
    Answer(Block),
    /// The rest of an answer that began before, which starts with this block.
    Rest(Block),
    /// There is no rest: the answer is cut.
    Cut,
}

/// A pulled block, and the answer from which the next one is pulled.
#[derive(Debug)]
pub(super) struct Block {
    answer: Answer,
    bytes: Bytes,
    end: Pulled,
}

impl Block {
    /// Pulls the next block; may wait for the disk.
    pub(super) fn pull(mut answer: Answer) -> Block {
        let room = answer.room(BLOCK);
        let (bytes, end) = match if room <= SHORT { None } else { Frame::new() } {
            None => {
                let mut bytes = vec![0; room];
                let (len, end) = answer.pull(&mut bytes);
                bytes.truncate(len);
                (bytes.into(), end)
            }
            Some(mut frame) => {
                let (len, end) = answer.pull(frame.room());
                (frame.filled(len), end)
            }
        };
        Block { answer, bytes, end }
    }

    /// The same with these bytes before it.
    pub(super) fn behind(self, mut before: Vec<u8>) -> Block {
        if before.is_empty() {
            return self;
        }
        before.extend_from_slice(&self.bytes);
        Block { bytes: before.into(), ..self }
    }

    /// The HTTP status.
    pub(super) fn status(&self) -> u16 {
        self.answer.status
    }

    /// A body that starts with this block. An error if the answer must be cut before anything was sent.
    pub(super) fn into_body(self, threads: &Threads) -> Result<AnswerBody, Broken> {
        match self.end {
            Pulled::Done => Ok(AnswerBody::Whole(Some(self.bytes))),
            Pulled::More => Ok(self.into_stream(threads.clone(), b"")),
            Pulled::Cut => Err(Broken),
        }
    }

    /// A body that starts with this block and ends with `tail`.
    fn into_stream(self, threads: Threads, tail: &'static [u8]) -> AnswerBody {
        // The block becomes the first frame.
        let (first, next) = oneshot::channel();
        let _ = first.send(self);
        AnswerBody::Stream { next, threads, end: None, tail }
    }
}

/// The file has changed: the connection is cut (contract 8).
#[derive(Debug)]
pub(super) struct Broken;

impl std::fmt::Display for Broken {
    fn fmt(&self, out: &mut std::fmt::Formatter) -> std::fmt::Result {
        out.write_str("the file was changed while it was sent")
    }
}

impl std::error::Error for Broken {}

impl AnswerBody {
    /// The frame for the next event, if it has one. `None` if the call has no answer: the stream is cut.
    fn event(
        &mut self,
        event: Option<Event>,
        threads: Threads,
    ) -> Option<io::Result<http_body::Frame<Bytes>>> {
        match event {
            Some(Event::Frame(bytes)) => Some(Ok(http_body::Frame::data(bytes))),
            Some(Event::Answer(block)) => {
                *self = block.into_stream(threads, EVENT_TAIL);
                Some(Ok(http_body::Frame::data(Bytes::from_static(EVENT_HEAD))))
            }
            Some(Event::Rest(block)) => {
                *self = block.into_stream(threads, b"");
                None
            }
            Some(Event::Cut) | None => {
                *self = AnswerBody::Done;
                Some(Err(io::Error::other("the call has no answer")))
            }
        }
    }
}

impl http_body::Body for AnswerBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<http_body::Frame<Bytes>, io::Error>>> {
        let (block, threads, tail) = match &mut *self {
            AnswerBody::Whole(bytes) => {
                return Poll::Ready(bytes.take().map(|bytes| Ok(http_body::Frame::data(bytes))));
            }
            AnswerBody::Done => return Poll::Ready(None),
            AnswerBody::Stream { next, threads, end, tail } => {
                let block = match Pin::new(next).poll(context) {
                    Poll::Ready(block) => block.map_err(io::Error::other),
                    Poll::Pending => {
                        let end = end.get_or_insert_with(|| Box::pin(sleep(threads.timeout())));
                        ready!(end.as_mut().poll(context));
                        Err(io::Error::other("the file is not read in time"))
                    }
                };
                (block, threads.clone(), *tail)
            }
            AnswerBody::Events { events, threads } => {
                let (event, threads) = (ready!(events.poll_recv(context)), threads.clone());
                return match self.event(event, threads) {
                    Some(frame) => Poll::Ready(Some(frame)),
                    None => self.poll_frame(context),
                };
            }
        };
        // If pulling panics, the channel closes, and the stream ends with an error.
        let block = match block {
            Ok(block) if !switches::is_off("http-cut") && block.end == Pulled::Cut => {
                Err(io::Error::other(Broken))
            }
            other => other,
        };
        match block {
            Err(error) => {
                *self = AnswerBody::Done;
                // A change of the file has its own log entry from the executor.
                tracing::debug!("answer cut: {error}");
                Poll::Ready(Some(Err(error)))
            }
            Ok(Block { answer, bytes, end }) => {
                *self = match end {
                    Pulled::More => {
                        let next = threads.spawn(|| Block::pull(answer));
                        AnswerBody::Stream { next, threads, end: None, tail }
                    }
                    _ if switches::is_off("events-tail") || tail.is_empty() => AnswerBody::Done,
                    _ => AnswerBody::Whole(Some(Bytes::from_static(tail))),
                };
                Poll::Ready(Some(Ok(http_body::Frame::data(bytes))))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, AnswerBody::Whole(None) | AnswerBody::Done)
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            AnswerBody::Whole(bytes) => SizeHint::with_exact(bytes.as_ref().map_or(0, Bytes::len) as u64),
            AnswerBody::Stream { .. } | AnswerBody::Events { .. } => SizeHint::default(),
            AnswerBody::Done => SizeHint::with_exact(0),
        }
    }
}
