//! What a call has replied, kept to be replied again to a call with the same idempotency key (contract 6.1).
//!
//! A call that failed and changed nothing is not kept, so that it can be sent again. Knows no keys.

use std::sync::{Arc, OnceLock};

use crate::protocol::{Answer, PendingCall, StreamObserver};
use crate::tools::Reply;
use folder::{Error, Result};

/// See the module.
#[derive(Debug)]
pub(super) enum KeptReply {
    /// A reply without an excerpt, which would keep a file open.
    Replied(Box<Reply>),
    /// A failure. Also why a call with a key is refused.
    Failed(Error),
    /// A panic after the commit had begun.
    Panicked,
    /// A reply that is not kept any more, and whether it was a success.
    Forgotten(bool),
    /// The time of the call was up while it committed. What it replied, once it has ended; `None` if it changed nothing.
    Unknown(OnceLock<Option<Box<KeptReply>>>),
}

impl KeptReply {
    /// Whether this result of a call is kept. `committed`: the call may have changed something.
    pub(super) fn keeps(result: &Result<Reply>, committed: bool) -> bool {
        match result {
            Ok(reply) => reply.excerpt.is_none() && (committed || reply.failure.is_none()),
            Err(_) => switches::is_off("repeated-failed") || committed,
        }
    }

    /// Keeps a result, without its excerpt.
    pub(super) fn new(result: Result<Reply>) -> KeptReply {
        match result {
            Ok(reply) => KeptReply::Replied(Box::new(Reply { excerpt: None, ..reply })),
            Err(error) => KeptReply::Failed(error),
        }
    }

    /// What is left of it when its text takes too much memory. `None` if it has no text.
    pub(super) fn without_text(&self) -> Option<KeptReply> {
        match self {
            KeptReply::Replied(reply) => Some(KeptReply::Forgotten(reply.failure.is_none())),
            _ => None,
        }
    }

    /// The bytes that its text holds.
    pub(super) fn bytes(&self) -> usize {
        match self {
            KeptReply::Replied(reply) => size_of::<Reply>() + reply.len_bytes(),
            _ => 0,
        }
    }

    /// The answer to `call`, in the form of its own request.
    pub(super) fn answer(&self, call: &PendingCall, observer: Arc<dyn StreamObserver>) -> Answer {
        match self {
            KeptReply::Replied(reply) => call.answer(Ok(reply.without_excerpt()), observer),
            KeptReply::Failed(error) => call.failed(error),
            KeptReply::Panicked => call.panicked(0),
            KeptReply::Forgotten(succeeded) => call.failed(&forgotten(*succeeded)),
            KeptReply::Unknown(outcome) => match outcome.get() {
                Some(Some(reply)) => reply.answer(call, observer),
                // Between two looks at the outcome, the call has ended: the next one with the key runs.
                Some(None) | None => call.failed(&Error::OutcomeUnknown),
            },
        }
    }

    /// Whether the call changed nothing, so that it can be sent again.
    pub(super) fn is_void(&self) -> bool {
        matches!(self, KeptReply::Unknown(outcome) if outcome.get().is_some_and(Option::is_none))
    }

    /// Records what a call replied whose outcome was unknown, without its text, which nobody has counted. `None`: it changed
    /// nothing.
    pub(super) fn settle(&self, reply: Option<KeptReply>) {
        if let KeptReply::Unknown(outcome) = self {
            let reply = reply.map(|reply| Box::new(reply.without_text().unwrap_or(reply)));
            // It ends once.
            let _ = outcome.set(reply);
        }
    }
}

/// The error for a call whose reply is not known any more.
fn forgotten(succeeded: bool) -> Error {
    let outcome = if succeeded { "with success" } else { "but failed" };
    Error::InvalidArguments {
        at: "idempotency_key".into(),
        problem: format!(
            "the call with this key was carried out before, {outcome}; its answer is not kept any more. Read what it \
             changed instead of sending it again"
        ),
    }
}
