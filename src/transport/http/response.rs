//! Builds responses.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use hyper::header::{CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use hyper::{Response, StatusCode};

use super::body::{AnswerBody, Block, Broken};
use super::checks::SESSION_ID;
use crate::exec::Threads;
use crate::protocol::{Answer, BUSY_SECONDS};
use crate::transport::net::connection_limit::Working;

/// Marks a response that was made before the request was read to its end.
#[derive(Debug, Clone)]
pub(super) struct Unheard;

/// A body whose connection is at work until all of it was taken.
#[derive(Debug)]
pub(super) struct WorkingBody {
    pub(super) body: AnswerBody,
    pub(super) _working: Working,
}

impl Body for WorkingBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// For a message that gets no answer.
pub(super) fn accepted() -> Response<AnswerBody> {
    let mut response = Response::new(AnswerBody::Done);
    *response.status_mut() = StatusCode::ACCEPTED;
    response
}

/// The response for an answer that is pulled whole, so that nothing is sent if the file has changed.
pub(super) fn at_once(mut answer: Answer) -> io::Result<Response<AnswerBody>> {
    let (status, session) = (answer.status, answer.session.take());
    let bytes = answer.collect().ok_or_else(|| io::Error::other(Broken))?;
    let mut response = respond(status, AnswerBody::Whole(Some(bytes.into())));
    if let Some(id) = session.and_then(|id| HeaderValue::try_from(id).ok()) {
        response.headers_mut().insert(SESSION_ID, id);
    }
    Ok(response)
}

/// The response for an answer that starts with `block`; `threads` pull the rest.
pub(super) fn begin_with(block: Block, threads: &Threads) -> io::Result<Response<AnswerBody>> {
    let status = block.status();
    Ok(respond(status, block.into_body(threads).map_err(io::Error::other)?))
}

/// The response with this body, whose type is JSON.
pub(super) fn respond(status: u16, body: AnswerBody) -> Response<AnswerBody> {
    let mut response = Response::new(body);
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let json = HeaderValue::from_static("application/json; charset=utf-8");
    response.headers_mut().insert(CONTENT_TYPE, json);
    if status == 503 {
        response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(BUSY_SECONDS));
    }
    response
}
