//! MCP Streamable HTTP and REST (contract 6.3), on hyper's HTTP/1.1.
//!
//! Answers requests that need no waiting directly; the executor runs all others. Hyper handles one request of
//! a connection at a time, so `--max-in-flight` limits all connections together.

mod body;
mod carry_out;
mod checks;
mod early;
mod events;
mod request;
mod response;

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime;
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;

use self::checks::Checks;
use self::response::Unheard;
use super::net::block_pool;
use super::net::connection_limit::max_connections;
use super::net::rate_limit::RateLimit;
use super::net::wire::Wire;
use super::net::write_timeout::WriteTimeout;
use super::process::{allocator, shutdown, stats::ProcessStats};
use super::{Shared, check_descriptors};
use crate::engine::Budget;
use crate::exec::{self, Executor};
use crate::protocol::BLOCK;
use crate::sys::io::Errno;

/// Longest time between two requests of a connection, and for the head of one.
const HEAD_TIMEOUT: Duration = Duration::from_secs(60);

/// Longest time in which a client reads nothing of its answer.
const TAKE_TIMEOUT: Duration = Duration::from_secs(30);

/// Limit of all request bodies together, in bodies of the largest size; beyond it, requests are refused. The
/// first `body_buffer::SHORT` bytes of each body do not count, so large bodies block only each other.
const BODIES_HELD: usize = 8;

/// Limit of the first `body_buffer::SHORT` bytes of all bodies together. Only reached by calls that wait although
/// their clients have disconnected.
const SHORT_BODIES_HELD: usize = 64 << 20;

/// Bytes that hyper buffers per connection, for reading and for writing. A little less than a block, so that
/// only one block of an answer waits to be written.
const BUFFER: usize = BLOCK - 1024;

/// How long a thread of the idle runtime waits for the other threads.
const MOMENT: Duration = Duration::from_millis(5);

/// How long the start waits for all threads of the runtime.
const START: Duration = Duration::from_secs(10);

/// The address to listen on, and the clients' token.
#[derive(Debug)]
pub struct HttpOptions {
    /// Address to bind.
    pub host: IpAddr,
    /// Port to bind; 0 lets the system choose.
    pub port: u16,
    /// Token that every request must carry.
    pub token: Option<Vec<u8>>,
}

struct Server {
    shared: Shared,
    checks: Checks,
    executor: Arc<Executor>,
    bodies: Budget,
    short_bodies: Budget,
}

impl Server {
    /// Call it within a runtime.
    fn new(shared: Shared, options: &HttpOptions) -> io::Result<Server> {
        let checks = Checks {
            loopback: options.host.is_loopback(),
            token: options.token.clone(),
            max_bytes: shared.max_bytes,
        };
        let bodies = Budget::new(BODIES_HELD * shared.max_bytes);
        let runtime = runtime::Handle::current();
        let executor = Executor::new(shared.limits(), shared.workspace.clone(), runtime)?;
        let short_bodies = Budget::new(SHORT_BODIES_HELD);
        Ok(Server { checks, executor, bodies, short_bodies, shared })
    }
}

/// Serves until a signal. Calls `ready` with the address.
pub fn serve(shared: Shared, options: HttpOptions, ready: impl FnOnce(SocketAddr)) -> io::Result<()> {
    allocator::prepare();
    check_descriptors()?;
    let threads = thread::available_parallelism().map_or(1, usize::from).min(4);
    let mut runtime = runtime::Builder::new_multi_thread();
    let runtime = exec::configure(runtime.worker_threads(threads), shared.max_in_flight).build()?;
    let served = runtime.block_on(async {
        let listener = TcpListener::bind((options.host, options.port)).await?;
        let workspace = shared.workspace.clone();
        let server = Arc::new(Server::new(shared, &options)?);
        let (signals, mut stats) = (shutdown::Signals::catch()?, ProcessStats::start()?);
        let address = listener.local_addr()?;
        // Checks that each thread runs and has its own heap.
        if !give_back_on_all(threads, START).await {
            return Err(Errno::AGAIN.into());
        }
        ready(address);
        let when_idle = async || {
            workspace.compact();
            server.executor.forget_old_replies();
            block_pool::give_back();
            give_back_on_all(threads, MOMENT).await;
        };
        let serving = accept(&server, &listener, signals.next());
        stats.beside(serving, when_idle).await;
        stats.stopped();
        Ok(())
    });
    // Does not wait for a thread that hangs in a system call.
    runtime.shutdown_background();
    served
}

/// Makes each of the runtime's `threads` return free memory of its own heap. Each task waits until all tasks
/// have started, so every thread runs one; after `patience`, a task stops waiting. Returns whether all tasks
/// started in time.
async fn give_back_on_all(threads: usize, patience: Duration) -> bool {
    let come = Arc::new((Mutex::new(0), Condvar::new()));
    let mut tasks = JoinSet::new();
    for _ in 0..threads {
        let come = come.clone();
        tasks.spawn(async move {
            allocator::collect();
            let mut count = come.0.lock().unwrap_or_else(PoisonError::into_inner);
            *count += 1;
            come.1.notify_all();
            let waited = come.1.wait_timeout_while(count, patience, |count| *count < threads);
            !waited.unwrap_or_else(PoisonError::into_inner).1.timed_out()
        });
    }
    tasks.join_all().await.into_iter().all(|in_time| in_time)
}

/// Accepts connections until the signal, then waits up to `GRACE` for requests in progress.
async fn accept(server: &Arc<Server>, listener: &TcpListener, signal: impl Future<Output = &'static str>) {
    let (stop, stopping) = watch::channel(false);
    let mut connections = JoinSet::new();
    let limit = Arc::new(Semaphore::new(max_connections()));
    let mut signal = pin!(signal);
    loop {
        let next = async {
            let permit = limit.clone().acquire_owned().await;
            (listener.accept().await, permit)
        };
        tokio::select! {
            biased;
            signal = &mut signal => {
                tracing::info!(signal, "stopping");
                break;
            }
            next = next => match next {
                (Ok((stream, _)), permit) => {
                    let connection = connection(server.clone(), stream, stopping.clone());
                    connections.spawn(async move {
                        let _permit = permit;
                        connection.await;
                    });
                }
                // No descriptors are left, or the client has disconnected: the next connection may succeed.
                (Err(error), _) => {
                    tracing::warn!("cannot accept a connection: {error}");
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
            },
            Some(_) = connections.join_next(), if !connections.is_empty() => {}
        }
    }
    let _ = stop.send(true);
    server.executor.end_commands();
    let finished = async {
        while connections.join_next().await.is_some() {}
        server.executor.in_progress().below(1).await;
        server.executor.on_threads().below(1).await;
    };
    if tokio::time::timeout(shutdown::GRACE, finished).await.is_err() {
        tracing::warn!("stopped with requests still in work");
    }
}

async fn connection(server: Arc<Server>, stream: TcpStream, mut stopping: watch::Receiver<bool>) {
    let _ = stream.set_nodelay(true);
    let unread = Arc::new(AtomicBool::new(false));
    let limit = RateLimit::new(server.shared.rate_limit);
    let (wire, client) = Wire::new(stream);
    let service = service_fn(|request| {
        let (server, client, unread) = (&server, &client, &unread);
        let limit = limit.clone();
        async move {
            let response = server.respond(request, limit, client).await?;
            unread.store(response.extensions().get::<Unheard>().is_some(), Ordering::Relaxed);
            Ok::<_, io::Error>(response)
        }
    });
    let mut http = hyper::server::conn::http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEAD_TIMEOUT).max_buf_size(BUFFER);
    // A client that ends only its sending may still wait for its answer; `Client::gone` tells the difference.
    http.half_close(true);
    let stream = TokioIo::new(WriteTimeout::new(wire, TAKE_TIMEOUT, unread.clone()));
    let mut served = pin!(http.serve_connection(stream, service));
    let result = tokio::select! {
        result = &mut served => result,
        () = async { drop(stopping.wait_for(|stopping| *stopping).await) } => {
            served.as_mut().graceful_shutdown();
            served.await
        }
    };
    if let Err(error) = result {
        tracing::debug!("connection ended: {error}");
    }
}
