//! MCP Streamable HTTP and REST (contract 6.3), on hyper's HTTP/1.1.
//!
//! Answers requests that need no waiting directly; the executor runs all others. Hyper handles one request of
//! a connection at a time, so `--max-in-flight` limits all connections together.

pub mod admin;
mod admin_site;
mod body;
mod carry_out;
mod checks;
mod early;
mod events;
mod listener;
mod request;
mod response;

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::runtime;
use tokio::task::JoinSet;

use self::admin::AdminPort;
pub use self::checks::Allowed;
use self::checks::Checks;
use self::listener::{Connections, Listener, Site};
use super::admin::Draining;
use super::net::block_pool;
use super::net::connection_limit::{ConnectionLimit, max_connections};
use super::process::{allocator, shutdown, stats::ProcessStats};
use super::{Shared, check_descriptors};
use crate::exec::{self, Executor};
use sys::io::Errno;
use sys::process::processors;
use text::budget::Budget;

/// Longest time between two requests of a connection, and for the head of one.
const HEAD_TIMEOUT: Duration = Duration::from_secs(60);

/// Limit of all request bodies together, in bodies of the largest size; beyond it, requests are refused. The
/// first `body_buffer::SHORT` bytes of each body do not count, so large bodies block only each other.
const BODIES_HELD: usize = 8;

/// Limit of the first `body_buffer::SHORT` bytes of all bodies together, without the first `request::LEAST`.
const SHORT_BODIES_HELD: usize = 48 << 20;

/// Limit of the first `request::LEAST` bytes of all bodies together, so that no other body takes the room of small requests.
/// Only reached by calls that wait although their clients have disconnected.
const SMALL_BODIES_HELD: usize = 16 << 20;

/// How long a thread of the idle runtime waits for the other threads.
const MOMENT: Duration = Duration::from_millis(5);

/// How long the start waits for all threads of the runtime.
const START: Duration = Duration::from_secs(10);

/// The address to listen on, and who may use it.
#[derive(Debug)]
pub struct HttpOptions {
    /// Address to bind.
    pub host: IpAddr,
    /// Port to bind; 0 lets the system choose.
    pub port: u16,
    /// Token that every request must carry.
    pub token: Option<Vec<u8>>,
    /// Hosts and origins that are not foreign.
    pub allowed: Allowed,
}

#[derive(Debug)]
struct Server {
    shared: Shared,
    checks: Checks,
    executor: Arc<Executor>,
    bodies: Budget,
    short_bodies: Budget,
    small_bodies: Budget,
    limit: Arc<ConnectionLimit>,
    draining: Draining,
}

impl Server {
    /// Call it within a runtime.
    fn new(shared: Shared, options: &HttpOptions) -> io::Result<Server> {
        let checks = Checks {
            loopback: options.host.is_loopback(),
            token: options.token.clone(),
            allowed: options.allowed.clone(),
            max_bytes: shared.max_bytes,
        };
        let bodies = Budget::new(BODIES_HELD * shared.max_bytes);
        let runtime = runtime::Handle::current();
        let executor = Executor::new(shared.limits(), shared.workspace.clone(), runtime)?;
        let (short_bodies, small_bodies) = (Budget::new(SHORT_BODIES_HELD), Budget::new(SMALL_BODIES_HELD));
        let most = if switches::is_off("http-connections") { usize::MAX } else { max_connections() };
        let limit = ConnectionLimit::new(most);
        let draining = Draining::default();
        Ok(Server { checks, executor, bodies, short_bodies, small_bodies, limit, shared, draining })
    }
}

/// Serves until a signal. Calls `bind_admin` for the admin port, and `ready` with the address of each port. `failed` tells why
/// the server cannot start.
pub fn serve<E>(
    shared: Shared,
    options: HttpOptions,
    bind_admin: impl FnOnce() -> Result<Option<AdminPort>, E>,
    ready: impl FnOnce(SocketAddr, Option<SocketAddr>),
    failed: impl Fn(io::Error) -> E,
) -> Result<(), E> {
    allocator::prepare();
    check_descriptors().map_err(&failed)?;
    let threads = processors().min(4);
    let mut runtime = runtime::Builder::new_multi_thread();
    let runtime = exec::configure(runtime.worker_threads(threads), shared.max_in_flight);
    let runtime = runtime.build().map_err(&failed)?;
    let served = runtime.block_on(async {
        // Before a port is bound: who can reach it may end the server.
        let signals = shutdown::Signals::listen().map_err(&failed)?;
        let admin = bind_admin()?;
        serve_with(shared, &options, threads, signals, admin, ready).await.map_err(&failed)
    });
    // Does not wait for a thread that hangs in a system call.
    runtime.shutdown_background();
    served
}

/// The same on a runtime with this number of threads.
async fn serve_with(
    shared: Shared,
    options: &HttpOptions,
    threads: usize,
    signals: shutdown::Signals,
    admin: Option<AdminPort>,
    ready: impl FnOnce(SocketAddr, Option<SocketAddr>),
) -> io::Result<()> {
    let listener = TcpListener::bind((options.host, options.port)).await?;
    let workspace = shared.workspace.clone();
    let server = Arc::new(Server::new(shared, options)?);
    let mut stats = ProcessStats::start()?;
    let address = listener.local_addr()?;
    // Checks that each thread runs and has its own heap.
    if !give_back_on_all(threads, START).await {
        return Err(Errno::AGAIN.into());
    }
    // Who runs servers behind a proxy sees there when to send requests elsewhere.
    let drain = if admin.is_some() { shutdown::DRAIN } else { Duration::ZERO };
    let admin_address = admin.as_ref().map(AdminPort::address);
    if let Some(admin) = admin {
        admin.serve(server.executor.clone(), workspace.clone(), server.draining.clone())?;
    }
    ready(address, admin_address);
    let when_idle = async || {
        workspace.compact();
        workspace.keep_known();
        server.executor.forget_old_replies();
        server.shared.service.forget_old_handles();
        block_pool::give_back();
        give_back_on_all(threads, MOMENT).await;
    };
    let site = Site::Clients(server.clone());
    let listener = Listener::new(listener, site, server.limit.clone(), HEAD_TIMEOUT);
    let serving = serve_until(signals.next(), &server, listener, drain);
    stats.beside(serving, when_idle).await;
    stats.stopped();
    Ok(())
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

/// Accepts connections until the signal, and for the time `drain` after it. Then waits for requests in progress; the
/// whole stop takes up to `GRACE`.
async fn serve_until(
    signal: impl Future<Output = &'static str>,
    server: &Server,
    listener: Listener,
    drain: Duration,
) {
    let mut connections = Connections::default();
    let signal = tokio::select! {
        biased;
        signal = signal => signal,
        never = listener.accept(&mut connections) => match never {},
    };
    // From now on, each answer asks its client to open no more requests on the connection. Before the log says so: who reads it may
    // look at /healthz at once.
    server.draining.begin();
    tracing::info!(signal, "stopping");
    if !drain.is_zero() {
        let _ = tokio::time::timeout(drain, listener.accept(&mut connections)).await;
    }
    listener.close(&mut connections);
    connections.stop();
    server.executor.end_commands(shutdown::COMMANDS_LEFT.saturating_sub(drain));
    let finished = async {
        connections.all_closed().await;
        if !switches::is_off("http-end") {
            server.executor.in_progress().below(1).await;
            server.executor.on_threads().below(1).await;
        }
    };
    if tokio::time::timeout(shutdown::GRACE.saturating_sub(drain), finished).await.is_err() {
        tracing::warn!("stopped with requests still in work");
    }
}
