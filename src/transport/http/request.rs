//! Reads an HTTP request: its checks, its body, its message.

use std::future::poll_fn;
use std::io;
use std::mem::take;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use http_body::Body as _;
use hyper::body::Incoming;
use hyper::header::{CONNECTION, HeaderValue, RETRY_AFTER};
use hyper::{Request, Response};
use tokio::time::{Instant, sleep, timeout_at};

use super::Server;
use super::body::AnswerBody;
use super::checks::{HttpRefusal, Target, accepts_events, mcp_headers};
use super::events::Reader;
use super::response::{Unheard, at_once};
use crate::exec::Received;
use crate::protocol::{Headers, OVER_RATE, Step, code};
use crate::transport::net::body_buffer::{BodyBuffer, SHORT};
use crate::transport::net::connection_limit::{Activity, Phase};
use crate::transport::net::rate_limit::RateLimit;
use crate::transport::net::wire::Client;
use text::budget::Share;

/// Longest time for a body, plus a second for every [`BODY_SECOND`] bytes received.
const BODY_TIMEOUT: Duration = Duration::from_secs(30);

/// Bytes per second that a sender must reach.
const BODY_SECOND: u64 = 64 * 1024;

/// Longest time without new bytes of a body.
const BODY_STALL: Duration = Duration::from_secs(10);

/// What a request counts at least, in bytes: its call takes about as much. A small request counts no more.
const LEAST: usize = 4 * 1024;

/// How often a body without room is tried again while others are closed for it, and the time between.
const ROOM_TRIES: usize = 100;
const ROOM_WAIT: Duration = Duration::from_millis(5);

/// A request's body, and its share of the limits for all bodies.
type ReceivedBody = (BodyBuffer, BodyShare);

/// The share of one body of the limits for all bodies. It lasts as long as the call.
#[derive(Debug)]
pub(super) struct BodyShare {
    /// Of the first [`LEAST`] bytes.
    small: Share,
    /// Of the bytes behind them, up to [`SHORT`].
    short: Share,
    /// Of the bytes behind them.
    long: Share,
}

impl BodyShare {
    /// Makes it the share of a body of `len` bytes. False if there is no room.
    fn resize(&mut self, len: usize) -> bool {
        self.small.resize(LEAST)
            && (self.short.resize(len.clamp(LEAST, SHORT) - LEAST) || switches::is_off("short-bodies"))
            && self.long.resize(len.saturating_sub(SHORT))
    }
}

impl Server {
    /// The response to one request, which counts for `limit`. An error cuts the connection, for example if
    /// `client` has disconnected.
    pub(super) async fn respond(
        self: &Arc<Self>,
        request: Request<Incoming>,
        limit: RateLimit,
        client: &Arc<Client>,
    ) -> io::Result<Response<AnswerBody>> {
        let (head, body) = request.into_parts();
        let rest = !matches!(head.uri.path(), "/" | "/mcp");
        let mut is_unread = !body.is_end_stream();
        let message = async {
            let mut over_rate =
                limit.take().map_err(over_rate).err().filter(|_| !switches::is_off("http-rate"));
            let checked = self.checks.check(&head, &self.shared.service);
            let target = checked.map_err(|refusal| over_rate.take().unwrap_or(refusal))?;
            // Over the rate, too, so that the connection can go on.
            let body = self.read(body, client.activity()).await?;
            is_unread = false;
            over_rate.map_or(Ok((target, body)), Err)
        };
        match message.await {
            Ok((target, (body, share))) => {
                client.activity().accept()?;
                self.executor.requests_arrived();
                let received = Received { at: Instant::now().into_std(), client: client.activity().client() };
                let step = self.parse(target, mcp_headers(&head.headers), limit, body).await;
                let wants_progress = matches!(&step, Step::Call(call) if call.wants_progress());
                let takes_events =
                    wants_progress && (switches::is_off("events-accepted") || accepts_events(&head.headers));
                let reader = Some(Reader { client, takes_events });
                tokio::select! {
                    biased;
                    response = self.carry_out(step, received, share, reader) => response,
                    () = client.gone() => Err(io::Error::other("the client has gone")),
                }
            }
            Err(HttpRefusal { status, code, message, header }) => {
                let refusal = self.shared.service.http_refusal(rest, status, code, &message);
                let mut response = at_once(self.executor.refuse(refusal))?;
                if !switches::is_off("http-linger-wired") && is_unread {
                    response.extensions_mut().insert(Unheard);
                    response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
                }
                if let Some((name, value)) = header {
                    response.headers_mut().insert(name, value);
                }
                Ok(response)
            }
        }
    }

    pub(super) fn body_share(&self) -> BodyShare {
        let (small, short) = (self.small_bodies.share(), self.short_bodies.share());
        BodyShare { small, short, long: self.bodies.share() }
    }

    /// Makes the share that of a body of `len` bytes. For a while without room, closes connections whose bodies arrive slowly.
    async fn make_room(&self, share: &mut BodyShare, len: usize) -> Result<(), HttpRefusal> {
        for _ in 0..ROOM_TRIES {
            if switches::is_off("http-bodies") || share.resize(len) {
                return Ok(());
            }
            if !self.limit.close_slow_body() {
                break;
            }
            sleep(ROOM_WAIT).await;
        }
        Err(busy())
    }

    /// Reads the body, unless it is too large or too slow.
    async fn read(&self, body: Incoming, activity: &Activity) -> Result<ReceivedBody, HttpRefusal> {
        let mut body = pin!(body);
        let mut share = self.body_share();
        self.make_room(&mut share, 0).await?;
        activity.enter(Phase::Body).map_err(|error| incomplete(503, &error.to_string()))?;
        let mut message = BodyBuffer::new(self.checks.max_bytes);
        let start = Instant::now();
        loop {
            let seconds = Duration::from_secs(message.len() as u64 / BODY_SECOND);
            let next = poll_fn(|context| body.as_mut().poll_frame(context));
            let stalled = Instant::now() + BODY_STALL;
            match timeout_at(stalled.min(start + BODY_TIMEOUT + seconds), next).await {
                Ok(None) => {
                    activity.enter(Phase::Work).map_err(|error| incomplete(503, &error.to_string()))?;
                    return Ok((message, share));
                }
                Ok(Some(Ok(frame))) => {
                    let Ok(data) = frame.into_data() else { continue };
                    let len = message.len() + data.len();
                    if !switches::is_off("http-length-chunked") && len > self.checks.max_bytes {
                        return Err(self.checks.too_large());
                    }
                    self.make_room(&mut share, len).await?;
                    message.push(&data);
                }
                Ok(Some(Err(error))) => return Err(incomplete(400, &format!("The body broke off: {error}"))),
                Err(_) => return Err(incomplete(408, "The body took too long")),
            }
        }
    }

    async fn parse(&self, target: Target, headers: Headers, limit: RateLimit, body: BodyBuffer) -> Step {
        let (service, executor) = (self.shared.service.clone(), self.executor.clone());
        let (short, rest) = (body.len() <= SHORT, target != Target::Mcp);
        let internal_error = {
            let service = service.clone();
            move || service.http_refusal(rest, 500, code::INTERNAL_ERROR, "Internal error")
        };
        let failed = internal_error.clone();
        let parse = move || {
            // The first message of a batch was counted as the request.
            let mut counted = true;
            let mut admit = || take(&mut counted) || limit.take().is_ok();
            let parse = || match &target {
                Target::Mcp => service.mcp_over_http(&headers, &mut admit, &body),
                Target::Rest(operation) => service.rest(operation, &body),
                Target::Tool(name) => service.posted(name, &body),
            };
            executor.parse(std::time::Instant::now(), parse, internal_error)
        };
        // A long body is parsed on a thread of the pool.
        let parsed = if short { Ok(parse()) } else { self.executor.threads().spawn(parse).await };
        parsed.unwrap_or_else(|_| Step::Answer(self.executor.refuse(failed())))
    }
}

fn over_rate(wait: Duration) -> HttpRefusal {
    let seconds = wait.as_secs_f64().ceil().max(1.0) as u64;
    let message = OVER_RATE.into();
    let header = Some((RETRY_AFTER, HeaderValue::from(seconds)));
    HttpRefusal { status: 429, code: code::RATE_LIMIT, message, header }
}

fn busy() -> HttpRefusal {
    let message = "The server holds as many request bodies as it can; try again".into();
    let header = Some((RETRY_AFTER, HeaderValue::from_static("1")));
    HttpRefusal { status: 503, code: code::INTERNAL_ERROR, message, header }
}

fn incomplete(status: u16, message: &str) -> HttpRefusal {
    HttpRefusal { status, code: code::INVALID_REQUEST, message: message.into(), header: None }
}
