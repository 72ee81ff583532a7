//! Responses that are at hand.

use std::io;
use std::time::Duration;

use hyper::body::Incoming;
use hyper::header::{CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use hyper::{Request, Response, StatusCode};

use super::body::{AnswerBody, Block};
use crate::protocol::{Answer, code, http_refusal};

pub(super) fn over_rate(request: &Request<Incoming>, wait: Duration) -> io::Result<Response<AnswerBody>> {
    let rest = !matches!(request.uri().path(), "/" | "/mcp");
    let answer = http_refusal(rest, 429, code::RATE_LIMIT, "Rate limit exceeded; send more slowly");
    let mut response = at_once(answer)?;
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

/// An answer that takes no waiting.
pub(super) fn at_once(answer: Answer) -> io::Result<Response<AnswerBody>> {
    respond_with(Block::pull_all(answer))
}

pub(super) fn respond_with(block: Block) -> io::Result<Response<AnswerBody>> {
    let status = StatusCode::from_u16(block.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = Response::new(block.into_body().map_err(io::Error::other)?);
    *response.status_mut() = status;
    let json = HeaderValue::from_static("application/json; charset=utf-8");
    response.headers_mut().insert(CONTENT_TYPE, json);
    Ok(response)
}
