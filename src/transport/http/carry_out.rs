//! Runs a parsed request and makes its response.

use std::io;
use std::sync::Arc;

use hyper::Response;

use super::Server;
use super::body::{AnswerBody, Block};
use super::early::EarlyFrames;
use super::events::{self, CancelOnDrop, Reader, Running};
use super::request::BodyShare;
use super::response::{accepted, at_once, begin_with};
use crate::exec::{BatchError, Ended, Pipeline, ProgressWatch, Received};
use crate::protocol::{NO_ROOM, PendingCall, Step, code};

/// Cancels the calls of a batch when it is dropped, because the client has disconnected. Does nothing after they were answered.
struct CancelAllOnDrop(Arc<Pipeline>);

impl Drop for CancelAllOnDrop {
    fn drop(&mut self) {
        self.0.cancel_with_client();
    }
}

impl Server {
    /// `share` belongs to the request's body. It is kept until the work ends, even if the client disconnects.
    pub(super) async fn carry_out(
        self: &Arc<Self>,
        step: Step,
        received: Received,
        share: BodyShare,
        reader: Option<Reader<'_>>,
    ) -> io::Result<Response<AnswerBody>> {
        match step {
            Step::Answer(answer) => at_once(answer),
            Step::Call(call) => self.call(call, received, share, reader).await,
            Step::Batch(steps) => self.batch(steps, received, share).await,
            // A cancellation over HTTP does nothing: its id may belong to another client's request.
            Step::Silent | Step::Ignored(_) | Step::Cancel(_) => Ok(accepted()),
        }
    }

    pub(super) async fn call(
        self: &Arc<Self>,
        call: PendingCall,
        received: Received,
        share: BodyShare,
        reader: Option<Reader<'_>>,
    ) -> io::Result<Response<AnswerBody>> {
        let task = self.executor.task(call, received);
        if let Some(answer) = self.executor.run_now(&task) {
            return at_once(answer);
        }
        let watch = reader.filter(|reader| reader.takes_events).and_then(|_| ProgressWatch::start(&task));
        let early = reader.filter(|_| watch.is_none()).and_then(|_| EarlyFrames::of(&task));
        // Hyper drops this future when the client disconnects.
        let cancel = CancelOnDrop(task.call.ends_with_its_client().then(|| task.clone()));
        let (executor, admitted, share) = (self.executor.clone(), self.executor.admit(task), Arc::new(share));
        // Runs as its own task, so that a client that disconnects ends only the wait for the answer.
        let mut call = tokio::spawn(async move {
            let first_block = move |answer| {
                let _share = &share;
                Block::pull(answer)
            };
            executor.run(&admitted.task, first_block).await
        });
        let threads = self.executor.threads();
        let mut before = Vec::new();
        let ended = match (reader, watch, early) {
            (Some(reader), Some(mut watch), _) => tokio::select! {
                biased;
                ended = &mut call => ended,
                first = watch.tick() => {
                    let running = Running { call, watch, cancel };
                    return Ok(events::begin(running, first, reader.client.clone(), threads.clone()));
                }
            },
            (Some(reader), None, Some(mut early)) => tokio::select! {
                biased;
                ended = &mut call => {
                    // The answer is the rest of what was handed on.
                    if !switches::is_off("early-joined") {
                        before = early.joined();
                    }
                    ended
                }
                () = early.begun() => {
                    return Ok(early.respond(call, cancel, reader.client.clone(), threads.clone()));
                }
            },
            _ => (&mut call).await,
        };
        match ended.map_err(io::Error::other)? {
            Ended::Answered(block) => begin_with(block.behind(before), self.executor.threads()),
            Ended::Late(answer) => begin_with(Block::pull(answer).behind(before), self.executor.threads()),
            Ended::Cancelled => Err(io::Error::other("the request was cancelled")),
        }
    }

    async fn batch(
        self: &Arc<Self>,
        mut steps: Vec<Step>,
        received: Received,
        share: BodyShare,
    ) -> io::Result<Response<AnswerBody>> {
        let first_block = move |answer| {
            let _share = &share;
            Block::pull(answer)
        };
        // Leaves room for requests of other clients.
        // Like a single one, a cancellation in a batch over HTTP has no effect.
        if !switches::is_off("http-batch-cancel") {
            steps.retain(|step| !matches!(step, Step::Cancel(_)));
        }
        let most = (self.shared.max_in_flight / 2).max(1);
        let calls = CancelAllOnDrop(Arc::default());
        let pipeline = calls.0.clone();
        let batch = self.executor.clone().run_batch(steps, received, pipeline, most, None, first_block);
        match tokio::spawn(batch).await.map_err(io::Error::other)? {
            Ok(Some(block)) => begin_with(block, self.executor.threads()),
            Ok(None) => Ok(accepted()),
            Err(BatchError::Panicked) => Err(io::Error::other("a panic while the answers were written")),
            Err(BatchError::NoRoom) => {
                let refusal = self.shared.service.http_refusal(false, 503, code::INTERNAL_ERROR, NO_ROOM);
                at_once(self.executor.refuse(refusal))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;
    use std::time::Instant;

    use hyper::StatusCode;

    use super::super::{Allowed, HttpOptions};
    use super::*;
    use crate::protocol::test_calls;
    use crate::testing;

    #[test]
    fn a_panic_is_an_answer() {
        let (_folder, shared) = testing::shared();
        let options = HttpOptions {
            host: Ipv4Addr::LOCALHOST.into(),
            port: 0,
            token: None,
            allowed: Allowed::default(),
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let server = runtime.block_on(async { Arc::new(Server::new(shared, &options).unwrap()) });
        for at_once in [true, false] {
            let answer = |call| {
                runtime.block_on(server.call(call, Instant::now().into(), server.body_share(), None)).unwrap()
            };
            assert_eq!(answer(test_calls::tool("1", at_once)).status(), StatusCode::OK);
            for call in [test_calls::rest(at_once), test_calls::posted(at_once)] {
                assert_eq!(answer(call).status(), StatusCode::INTERNAL_SERVER_ERROR);
            }
        }
        assert_eq!(server.executor.in_progress().count(), 0);
    }
}
