//! MCP Streamable HTTP, and REST beside it (SPEC 6.3), on hyper's HTTP/1.1.
//!
//! What takes no waiting is answered in place, all else on blocking threads, of which as many may be busy as requests
//! may be in work; hyper handles one request of a connection at a time, so that bound is the server's.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use http_body::Body as _;
use hyper::body::Incoming;
use hyper::header::{CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{RwLock, Semaphore, watch};
use tokio::task::{JoinSet, spawn_blocking};
use tokio::time::timeout_at;

use super::http_body::{AnswerBody, Block};
use super::http_checks::{Checks, Refused, Target, mcp_headers};
use super::limits::{Budget, Share, TokenBucket};
use super::monitor::Monitor;
use super::patience::Patient;
use super::seats::{Seat, Seated, Seats};
use super::turns::Turns;
use super::work::{run_batch, run_to_answer};
use super::{Shared, seats, shutdown};
use crate::engine::{Control, Error};
use crate::protocol::{Answer, Headers, Pending, Step, code, http_refusal};

/// Longest time between two requests of a connection, and for the head of one.
const HEAD_TIMEOUT: Duration = Duration::from_secs(60);

/// Longest time for a body, beside a second for every [`BODY_SECOND`] bytes.
const BODY_TIMEOUT: Duration = Duration::from_secs(30);

/// Longest time in which a client takes nothing of its answer.
const TAKE_TIMEOUT: Duration = Duration::from_secs(30);

/// Bytes of request bodies held at once, in the largest ones: past that the server is busy. Small bodies do not count,
/// so that those who send large ones are in each other's way only.
const BODIES_HELD: usize = 8;

/// A sender slower than this many bytes a second is not waited for.
const BODY_SECOND: u64 = 64 * 1024;

/// Longest time in which nothing comes of a body.
const BODY_STALL: Duration = Duration::from_secs(10);

/// Bytes of a request's head, and of what is read and written ahead, held for a connection.
const BUFFER: usize = 64 * 1024;

/// Larger bodies are taken apart on a blocking thread.
const PARSE_IN_PLACE: usize = 64 * 1024;

/// Where and for whom to listen.
#[derive(Debug)]
pub struct HttpOptions {
    /// Address to bind.
    pub host: IpAddr,
    /// Port to bind; 0 lets the system pick.
    pub port: u16,
    /// Token that every request must carry.
    pub token: Option<Vec<u8>>,
}

/// A request's body, and its share of what may be held.
type Body<'s> = (Vec<u8>, Share<'s>);

struct Server {
    shared: Shared,
    checks: Checks,
    in_work: Semaphore,
    turns: Turns,
    /// Read by all work, also that which waits and that whose client has gone: who may write knows that there is none.
    working: RwLock<()>,
    bodies: Budget,
}

/// Serves until a signal. `ready` is told the address.
pub fn serve(shared: Shared, options: HttpOptions, ready: impl FnOnce(SocketAddr)) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(std::thread::available_parallelism().map_or(1, usize::from).min(4))
        .thread_keep_alive(Duration::from_secs(2))
        .max_blocking_threads(shared.max_in_flight + 64)
        .enable_all()
        .build()?;
    let served = runtime.block_on(async {
        let listener = TcpListener::bind((options.host, options.port)).await?;
        let checks = Checks {
            loopback: options.host.is_loopback(),
            token: options.token,
            max_bytes: shared.max_bytes,
        };
        let in_work = Semaphore::new(shared.max_in_flight);
        let bodies = Budget::new(BODIES_HELD * shared.max_bytes);
        let (turns, working) = (Turns::default(), RwLock::default());
        let server = Arc::new(Server { shared, checks, in_work, turns, working, bodies });
        let (signals, monitor) = (shutdown::Signals::catch()?, Monitor::start()?);
        ready(listener.local_addr()?);
        accept(&server, &listener, signals.next()).await;
        monitor.stopped();
        Ok(())
    });
    // A thread that hangs in the system must not hold us up.
    runtime.shutdown_background();
    served
}

/// Accepts connections until the signal, then lets those in work finish.
async fn accept(server: &Arc<Server>, listener: &TcpListener, signal: impl Future<Output = &'static str>) {
    let (stop, stopping) = watch::channel(false);
    let mut connections = JoinSet::new();
    let seats = Seats::new(seats::most());
    let mut signal = pin!(signal);
    loop {
        tokio::select! {
            biased;
            signal = &mut signal => {
                tracing::info!(signal, "stopping");
                break;
            }
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    let seat = tokio::select! {
                        biased;
                        _ = &mut signal => break,
                        seat = seats.take() => seat,
                    };
                    if let Some(seat) = seat {
                        connections.spawn(connection(server.clone(), stream, seat, stopping.clone()));
                    }
                }
                // Out of descriptors, or the client is gone already: others may still get through.
                Err(error) => {
                    tracing::warn!("cannot accept a connection: {error}");
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
            },
            Some(_) = connections.join_next(), if !connections.is_empty() => {}
        }
    }
    let _ = stop.send(true);
    let finished = async {
        while connections.join_next().await.is_some() {}
        drop(server.working.write().await);
    };
    if tokio::time::timeout(shutdown::GRACE, finished).await.is_err() {
        tracing::warn!("stopped with requests still in work");
    }
}

async fn connection(server: Arc<Server>, stream: TcpStream, seat: Seat, mut stopping: watch::Receiver<bool>) {
    let _ = stream.set_nodelay(true);
    let bucket = Mutex::new(server.shared.rate_limit.map(TokenBucket::new));
    let service = service_fn(|request| {
        let limited = bucket.lock().unwrap_or_else(PoisonError::into_inner).as_mut().map(TokenBucket::take);
        let (server, work) = (&server, seat.work());
        async move {
            let response = match limited {
                Some(Err(wait)) => over_rate(&request, wait)?,
                _ => server.respond(request).await?,
            };
            Ok::<_, io::Error>(response.map(|body| Seated::new(body, work)))
        }
    });
    let mut http = hyper::server::conn::http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEAD_TIMEOUT).max_buf_size(BUFFER);
    let stream = TokioIo::new(Patient::new(stream, TAKE_TIMEOUT));
    let mut served = pin!(http.serve_connection(stream, service));
    let result = tokio::select! {
        result = &mut served => result,
        () = seat.wanted() => return tracing::debug!("connection ended: another needs its place"),
        () = async { drop(stopping.wait_for(|stopping| *stopping).await) } => {
            served.as_mut().graceful_shutdown();
            served.await
        }
    };
    if let Err(error) = result {
        tracing::debug!("connection ended: {error}");
    }
}

fn over_rate(request: &Request<Incoming>, wait: Duration) -> io::Result<Response<AnswerBody>> {
    let rest = !matches!(request.uri().path(), "/" | "/mcp");
    let answer = http_refusal(rest, 429, code::RATE_LIMIT, "Rate limit exceeded; send more slowly");
    let mut response = at_once(answer)?;
    let seconds = wait.as_secs_f64().ceil().max(1.0) as u64;
    response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
    Ok(response)
}

impl Server {
    /// The response to one request; an error cuts the connection.
    async fn respond(self: &Arc<Self>, request: Request<Incoming>) -> io::Result<Response<AnswerBody>> {
        let (head, body) = request.into_parts();
        let rest = !matches!(head.uri.path(), "/" | "/mcp");
        let message = async {
            let target = self.checks.check(&head, &self.shared.service)?;
            Ok::<_, Refused>((target, self.read(body).await?))
        };
        match message.await {
            Ok((target, (body, _share))) => {
                let step = self.understand(target, mcp_headers(&head.headers), body).await;
                self.carry_out(step).await
            }
            Err(Refused { status, code, message, header }) => {
                let mut response = at_once(http_refusal(rest, status, code, &message))?;
                if let Some((name, value)) = header {
                    response.headers_mut().insert(name, HeaderValue::from_static(value));
                }
                Ok(response)
            }
        }
    }

    /// The body, if it is not too large and comes fast enough.
    async fn read(&self, body: Incoming) -> Result<Body<'_>, Refused> {
        let mut body = pin!(body);
        let mut share = self.bodies.share();
        let expected = body.size_hint().exact().unwrap_or(0).min(self.checks.max_bytes as u64);
        let mut bytes = Vec::with_capacity((expected as usize).min(PARSE_IN_PLACE));
        let start = tokio::time::Instant::now();
        loop {
            let seconds = Duration::from_secs(bytes.len() as u64 / BODY_SECOND);
            let next = std::future::poll_fn(|context| body.as_mut().poll_frame(context));
            let stalled = tokio::time::Instant::now() + BODY_STALL;
            match timeout_at(stalled.min(start + BODY_TIMEOUT + seconds), next).await {
                Ok(None) => return Ok((bytes, share)),
                Ok(Some(Ok(frame))) => {
                    let Ok(data) = frame.into_data() else { continue };
                    if bytes.len() + data.len() > self.checks.max_bytes {
                        return Err(self.checks.too_large());
                    }
                    let counted = |len: usize| len.saturating_sub(PARSE_IN_PLACE);
                    if !share.grow(counted(bytes.len() + data.len()) - counted(bytes.len())) {
                        return Err(busy());
                    }
                    bytes.extend_from_slice(&data);
                }
                Ok(Some(Err(error))) => return Err(incomplete(400, &format!("The body broke off: {error}"))),
                Err(_) => return Err(incomplete(408, "The body took too long")),
            }
        }
    }

    async fn understand(&self, target: Target, headers: Headers, body: Vec<u8>) -> Step {
        let service = self.shared.service.clone();
        let in_place = body.len() <= PARSE_IN_PLACE;
        let rest = matches!(target, Target::Rest(_));
        let parse = move || {
            let understood = catch_unwind(AssertUnwindSafe(|| match &target {
                Target::Mcp => service.mcp_over_http(&headers, &body),
                Target::Rest(operation) => service.rest(operation, &body),
            }));
            understood.ok()
        };
        let understood = if in_place { parse() } else { spawn_blocking(parse).await.ok().flatten() };
        understood
            .unwrap_or_else(|| Step::Answer(http_refusal(rest, 500, code::INTERNAL_ERROR, "Internal error")))
    }

    async fn carry_out(self: &Arc<Self>, step: Step) -> io::Result<Response<AnswerBody>> {
        match step {
            Step::Answer(answer) => at_once(answer),
            Step::Call(pending) => self.call(pending).await,
            Step::Batch(steps) => tokio::spawn(self.clone().batch(steps)).await.map_err(io::Error::other)?,
            // A cancellation over HTTP names requests of nobody knows whom.
            Step::Silent | Step::Cancel(_) => Ok(accepted()),
        }
    }

    async fn call(self: &Arc<Self>, pending: Pending) -> io::Result<Response<AnswerBody>> {
        let workspace = &self.shared.workspace;
        match catch_unwind(AssertUnwindSafe(|| {
            pending.run_at_once(workspace).map(|result| pending.answer(result))
        })) {
            Ok(Some(answer)) => return at_once(answer),
            Ok(None) => {}
            Err(_) => return at_once(pending.panicked()),
        }
        let (pending, control) = (Arc::new(pending), Arc::new(Control::new(self.shared.timeout)));
        let _hung_up = CancelOnDrop(pending.ends_with_its_client().then(|| control.clone()));
        // A task of its own: a client that hangs up takes only the waiting for the answer with it.
        match tokio::spawn(self.clone().work(pending.clone(), control)).await {
            Ok(Some(block)) => respond_with(block),
            _ => at_once(pending.panicked()),
        }
    }

    /// Carries a call out in its turn. Nothing if it ran into a fault of ours, or was called off.
    async fn work(self: Arc<Self>, pending: Arc<Pending>, control: Arc<Control>) -> Option<Block> {
        let _working = self.working.read().await;
        let timed_out = || Block::pull_all(pending.answer(Err(Error::TimedOut)));
        let _turn = match pending.file().filter(|_| pending.writes()) {
            None => None,
            Some(file) => match timeout_at(control.lock_deadline().into(), self.turns.turn(file)).await {
                Ok(turn) => Some(turn),
                Err(_) => return Some(Block::pull_all(pending.locked())),
            },
        };
        let Ok(_place) = timeout_at(control.deadline().into(), self.in_work.acquire()).await else {
            return Some(timed_out());
        };
        let work = {
            let (pending, control) = (pending.clone(), control.clone());
            let workspace = self.shared.workspace.clone();
            move || run_to_answer(&pending, &workspace, &control).map(Block::pull)
        };
        let mut work = spawn_blocking(work);
        let block = match timeout_at(control.overdue().into(), &mut work).await {
            Err(_) if control.expire() => return Some(timed_out()),
            // It is writing already: its answer will come.
            Err(_) => work.await,
            Ok(block) => block,
        };
        block.ok().flatten()
    }

    /// A batch is carried out in its order, as one piece of work.
    async fn batch(self: Arc<Self>, steps: Vec<Step>) -> io::Result<Response<AnswerBody>> {
        let _working = self.working.read().await;
        let _place = self.in_work.acquire().await;
        let (workspace, timeout) = (self.shared.workspace.clone(), self.shared.timeout);
        let block = spawn_blocking(move || run_batch(steps, workspace, timeout).map(Block::pull)).await;
        match block.map_err(io::Error::other)? {
            Some(block) => respond_with(block),
            None => Ok(accepted()),
        }
    }
}

/// Calls a request off when its response is no longer waited for, which is how hyper says that the client is gone.
/// Once there is an answer that does nothing.
struct CancelOnDrop(Option<Arc<Control>>);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        if let Some(control) = &self.0 {
            control.cancel();
        }
    }
}

/// To what wants no answer.
fn accepted() -> Response<AnswerBody> {
    let mut response = Response::new(AnswerBody::Done);
    *response.status_mut() = StatusCode::ACCEPTED;
    response
}

fn busy() -> Refused {
    let message = "The server holds as many request bodies as it can; try again".into();
    let header = Some((RETRY_AFTER, "1"));
    Refused { status: 503, code: code::INTERNAL_ERROR, message, header }
}

fn incomplete(status: u16, message: &str) -> Refused {
    Refused { status, code: code::INVALID_REQUEST, message: message.into(), header: None }
}

/// An answer that takes no waiting.
fn at_once(answer: Answer) -> io::Result<Response<AnswerBody>> {
    respond_with(Block::pull_all(answer))
}

fn respond_with(block: Block) -> io::Result<Response<AnswerBody>> {
    let status = StatusCode::from_u16(block.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = Response::new(block.into_body().map_err(io::Error::other)?);
    *response.status_mut() = status;
    let json = HeaderValue::from_static("application/json; charset=utf-8");
    response.headers_mut().insert(CONTENT_TYPE, json);
    Ok(response)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::panicking;
    use crate::transport::testing;

    #[test]
    fn a_panic_is_an_answer_and_gives_its_place_back() {
        let (_folder, shared) = testing::shared();
        let places = shared.max_in_flight;
        let checks = Checks { loopback: true, token: None, max_bytes: shared.max_bytes };
        let (in_work, bodies) = (Semaphore::new(places), Budget::new(1));
        let server = Arc::new(Server {
            shared,
            checks,
            in_work,
            turns: Turns::default(),
            working: RwLock::default(),
            bodies,
        });
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        for at_once in [true, false] {
            let answer = |pending| runtime.block_on(server.call(pending)).unwrap();
            assert_eq!(answer(panicking::tool("1", at_once)).status(), StatusCode::OK);
            assert_eq!(answer(panicking::rest(at_once)).status(), StatusCode::INTERNAL_SERVER_ERROR);
        }
        assert_eq!(server.in_work.available_permits(), places);
    }
}
