//! Accepts connections, and serves them with hyper: those of clients, and those of the admin port.

use std::convert::Infallible;
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use hyper::body::Incoming;
use hyper::header::{CONNECTION, HeaderValue};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::Server;
use super::admin_site::AdminSite;
use super::body::AnswerBody;
use super::response::{Unheard, WorkingBody};
use crate::protocol::BLOCK;
use crate::transport::net::connection_limit::{ConnectionLimit, Place};
use crate::transport::net::rate_limit::RateLimit;
use crate::transport::net::traffic::{TRAFFIC, Traffic};
use crate::transport::net::wire::{Client, Wire};
use crate::transport::net::write_timeout::WriteTimeout;
use sys::io::Errno;
use sys::net::limit_unsent;

/// Longest time in which a client reads nothing of its answer.
const TAKE_TIMEOUT: Duration = Duration::from_secs(30);

/// Bytes that hyper buffers per connection, for reading and for writing. A little less than a block, so that
/// only one block of an answer waits to be written.
const BUFFER: usize = BLOCK - 1024;

/// Bytes of an answer that the system keeps for a connection beside what it has sent.
const UNSENT: u32 = 4 * BLOCK as u32;

/// How long a connection without a request stays open when the server stops: a request that was sent before its client
/// could see the end is answered.
const LAST_REQUEST: Duration = Duration::from_millis(50);

/// What a listener serves.
#[derive(Debug, Clone)]
pub(super) enum Site {
    /// The protocols.
    Clients(Arc<Server>),
    /// The pages of the admin port.
    Admin(Arc<AdminSite>),
}

/// See the module.
#[derive(Debug)]
pub(super) struct Listener {
    listener: TcpListener,
    site: Site,
    limit: Arc<ConnectionLimit>,
    head_timeout: Duration,
}

/// The open connections of a listener.
#[derive(Debug)]
pub(super) struct Connections {
    open: JoinSet<()>,
    stop: watch::Sender<bool>,
}

impl Default for Connections {
    fn default() -> Connections {
        Connections { open: JoinSet::new(), stop: watch::Sender::new(false) }
    }
}

impl Connections {
    /// Closes those without a request soon, the others after their answer.
    pub(super) fn stop(&self) {
        self.stop.send_replace(true);
    }

    pub(super) async fn all_closed(&mut self) {
        while self.open.join_next().await.is_some() {}
    }
}

impl Listener {
    /// For as many connections as `limit` has places. `head_timeout`: the longest time between two requests of a connection, and for
    /// the head of one.
    pub(super) fn new(
        listener: TcpListener,
        site: Site,
        limit: Arc<ConnectionLimit>,
        head_timeout: Duration,
    ) -> Listener {
        Listener { listener, site, limit, head_timeout }
    }

    /// Accepts connections until it is dropped.
    pub(super) async fn accept(&self, connections: &mut Connections) -> Infallible {
        let mut next = pin!(self.next());
        loop {
            tokio::select! {
                biased;
                (stream, place) = &mut next => {
                    next.set(self.next());
                    spawn(&self.site, stream, self.head_timeout, place, connections);
                }
                Some(_) = connections.open.join_next(), if !connections.open.is_empty() => {}
            }
        }
    }

    /// The next connection, and its place.
    async fn next(&self) -> (TcpStream, Place) {
        loop {
            match self.listener.accept().await {
                Ok((stream, peer)) => return (stream, self.limit.place(peer.ip()).await),
                // No descriptors are left, or the client has disconnected: the next connection may succeed.
                Err(error) => {
                    tracing::warn!("cannot accept a connection: {error}");
                    if is_short_of_room(&error) {
                        // Its answer may hold descriptors, too.
                        self.limit.close_one();
                    }
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
            }
        }
    }

    /// Accepts the connections that the system has established already, and no more. If they were left, the system would
    /// reset them, perhaps with a request on the way.
    pub(super) fn close(self, connections: &mut Connections) {
        let Listener { listener, site, limit, head_timeout } = self;
        let Ok(listener) = listener.into_std() else { return };
        while let Ok((stream, peer)) = listener.accept() {
            let Some(place) = limit.free_place(peer.ip()) else { return };
            let stream = stream.set_nonblocking(true).and_then(|()| TcpStream::from_std(stream));
            let Ok(stream) = stream else { continue };
            spawn(&site, stream, head_timeout, place, connections);
        }
    }
}

/// Whether the end of another connection helps.
fn is_short_of_room(error: &io::Error) -> bool {
    let short = [Errno::MFILE, Errno::NFILE, Errno::NOMEM, Errno::NOBUFS];
    Errno::from_io_error(error).map_or(switches::is_off("accept-closes"), |errno| short.contains(&errno))
}

fn spawn(
    site: &Site,
    stream: TcpStream,
    head_timeout: Duration,
    place: Place,
    connections: &mut Connections,
) {
    let stop = connections.stop.subscribe();
    connections.open.spawn(connection(site.clone(), stream, head_timeout, place, stop));
}

impl Site {
    async fn respond(
        &self,
        request: Request<Incoming>,
        limit: RateLimit,
        client: &Arc<Client>,
    ) -> io::Result<Response<AnswerBody>> {
        match self {
            Site::Clients(server) => {
                let mut response = server.respond(request, limit, client).await?;
                if !switches::is_off("drain-close") && server.draining.has_begun() {
                    response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
                }
                Ok(response)
            }
            Site::Admin(site) => {
                let mut response = site.respond(request);
                if !switches::is_off("admin-closes") {
                    response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
                }
                Ok(response)
            }
        }
    }

    /// The requests that a connection may send.
    fn rate_limit(&self) -> RateLimit {
        match self {
            Site::Clients(server) => RateLimit::new(server.shared.rate_limit),
            Site::Admin(_) => RateLimit::new(None),
        }
    }

    /// What counts its connections and their bytes. The operator's are none of clients.
    fn traffic(&self) -> Option<&'static Traffic> {
        match self {
            Site::Clients(_) => Some(&TRAFFIC),
            Site::Admin(_) => switches::is_off("admin-traffic").then_some(&TRAFFIC),
        }
    }
}

async fn connection(
    site: Site,
    stream: TcpStream,
    head_timeout: Duration,
    place: Place,
    mut stopping: watch::Receiver<bool>,
) {
    let _ = stream.set_nodelay(true);
    limit_unsent(&stream, UNSENT);
    let traffic = site.traffic();
    let _open = traffic.map(Traffic::connection);
    let unread = Arc::new(AtomicBool::new(false));
    let limit = site.rate_limit();
    let activity = place.activity();
    let (wire, client) = Wire::new(stream, traffic, activity.clone());
    let service = service_fn(|request| {
        let (site, client, unread) = (&site, &client, &unread);
        let limit = limit.clone();
        async move {
            let working = activity.work();
            let response = site.respond(request, limit, client).await?;
            unread.store(response.extensions().get::<Unheard>().is_some(), Ordering::Relaxed);
            Ok::<_, io::Error>(response.map(|body| WorkingBody { body, _working: working }))
        }
    });
    let mut http = hyper::server::conn::http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(head_timeout).max_buf_size(BUFFER);
    // A client that ends only its sending may still wait for its answer; `Client::gone` tells the difference.
    http.half_close(!switches::is_off("half-close"));
    let stream = TokioIo::new(WriteTimeout::new(wire, TAKE_TIMEOUT, unread.clone()));
    let mut served = pin!(http.serve_connection(stream, service));
    let stop = async {
        drop(stopping.wait_for(|stopping| *stopping).await);
        tokio::time::sleep(LAST_REQUEST).await;
    };
    let result = tokio::select! {
        biased;
        result = &mut served => result,
        // The connection is dropped.
        () = activity.closed() => return tracing::debug!("connection closed for another one"),
        () = stop => {
            served.as_mut().graceful_shutdown();
            served.await
        }
    };
    if let Err(error) = result {
        tracing::debug!("connection ended: {error}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_where_descriptors_or_memory_are_short_another_connection_is_closed() {
        assert!(is_short_of_room(&Errno::MFILE.into()) && is_short_of_room(&Errno::NOBUFS.into()));
        for kind in [io::ErrorKind::ConnectionAborted, io::ErrorKind::ConnectionReset] {
            assert!(!is_short_of_room(&kind.into()));
        }
        assert!(!is_short_of_room(&Errno::PERM.into()));
    }
}
