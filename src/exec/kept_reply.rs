//! What a call has replied, kept to be replied again to a call with the same idempotency key (contract 6.1).
//!
//! A call that failed and changed nothing is not kept, so that it can be sent again. Knows no keys.

use std::sync::Arc;

use crate::engine::{Error, Result};
use crate::protocol::{Answer, PendingCall, StreamObserver};
use crate::tools::Reply;

/// See the module.
#[derive(Debug)]
pub(super) enum KeptReply {
    /// A reply without an excerpt, which would keep a file open.
    Replied(Box<Reply>),
    /// A failure. Also why a call with a key is refused.
    Failed(Error),
    /// A panic after the commit had begun.
    Panicked,
}

impl KeptReply {
    /// Whether this result of a call is kept. `committed`: the call may have changed something.
    pub(super) fn keeps(result: &Result<Reply>, committed: bool) -> bool {
        match result {
            Ok(reply) => reply.excerpt.is_none() && (committed || reply.failure.is_none()),
            Err(_) => committed,
        }
    }

    /// Keeps a result, without its excerpt.
    pub(super) fn new(result: Result<Reply>) -> KeptReply {
        match result {
            Ok(reply) => KeptReply::Replied(Box::new(Reply { excerpt: None, ..reply })),
            Err(error) => KeptReply::Failed(error),
        }
    }

    /// The bytes that it holds.
    pub(super) fn bytes(&self) -> usize {
        match self {
            KeptReply::Replied(reply) => reply.len_bytes(),
            KeptReply::Failed(_) | KeptReply::Panicked => 0,
        }
    }

    /// The answer to `call`, in the form of its own request.
    pub(super) fn answer(&self, call: &PendingCall, observer: Arc<dyn StreamObserver>) -> Answer {
        match self {
            KeptReply::Replied(reply) => call.answer(Ok(reply.without_excerpt()), observer),
            KeptReply::Failed(error) => call.failed(error),
            KeptReply::Panicked => call.panicked(),
        }
    }
}
