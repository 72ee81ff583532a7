//! Responses that are at hand.

use std::io;
use std::time::Duration;

use http_body::Body as _;
use hyper::body::Incoming;
use hyper::header::{CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use hyper::{Request, Response, StatusCode};

use super::body::{AnswerBody, Block, Broken};
use crate::protocol::{Answer, code, http_refusal};
use crate::transport::workers::Workers;

/// Marks a response that did not wait for the end of the request.
#[derive(Debug, Clone)]
pub(super) struct Unheard;

/// Marks the response to a request of which there is more to come.
pub(super) fn before_its_end(mut response: Response<AnswerBody>) -> Response<AnswerBody> {
    response.extensions_mut().insert(Unheard);
    response
}

pub(super) fn over_rate(request: &Request<Incoming>, wait: Duration) -> io::Result<Response<AnswerBody>> {
    let rest = !matches!(request.uri().path(), "/" | "/mcp");
    let answer = http_refusal(rest, 429, code::RATE_LIMIT, "Rate limit exceeded; send more slowly");
    let mut response = at_once(answer)?;
    if !request.body().is_end_stream() {
        response = before_its_end(response);
    }
    let seconds = wait.as_secs_f64().ceil().max(1.0) as u64;
    response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
    Ok(response)
}

/// To what wants no answer.
pub(super) fn accepted() -> Response<AnswerBody> {
    let mut response = Response::new(AnswerBody::Done);
    *response.status_mut() = StatusCode::ACCEPTED;
    response
}

/// An answer that takes no waiting: pulled in one, so that nothing of it is sent if it turned out not to be true.
pub(super) fn at_once(answer: Answer) -> io::Result<Response<AnswerBody>> {
    let (status, bytes) = (answer.status, answer.collect());
    let bytes = bytes.ok_or_else(|| io::Error::other(Broken))?;
    Ok(respond(status, AnswerBody::Whole(Some(bytes.into()))))
}

/// An answer that begins with `block`; the rest of it is pulled by `workers`.
pub(super) fn begin_with(block: Block, workers: &Workers) -> io::Result<Response<AnswerBody>> {
    let status = block.status();
    Ok(respond(status, block.into_body(workers).map_err(io::Error::other)?))
}

fn respond(status: u16, body: AnswerBody) -> Response<AnswerBody> {
    let mut response = Response::new(body);
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let json = HeaderValue::from_static("application/json; charset=utf-8");
    response.headers_mut().insert(CONTENT_TYPE, json);
    response
}
