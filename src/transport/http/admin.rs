//! The admin port: a listener of its own for the pages of [`admin`](crate::transport::admin), with either transport.
//!
//! It has few connections, and each of them little time, so that it cannot harm the clients' port.

use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use http_body::Body;
use hyper::body::Incoming;
use hyper::header::{ALLOW, CONTENT_TYPE, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};

use super::body::AnswerBody;
use super::checks::{Checks, HttpRefusal};
use super::listener::{Connections, Listener, Site};
use super::response::Unheard;
use crate::engine::Workspace;
use crate::exec::Executor;
use crate::transport::admin::{Draining, Page, Pages};

/// Most connections at once. More wait.
const CONNECTIONS: usize = 16;

/// Longest time between two requests of a connection, and for the head of one.
const HEAD_TIMEOUT: Duration = Duration::from_secs(5);

/// The bound port.
#[derive(Debug)]
pub struct AdminPort {
    listener: TcpListener,
    address: SocketAddr,
    /// The clients' token. The figures need it, too, if other machines can reach the port.
    token: Option<Vec<u8>>,
}

/// What the port serves.
#[derive(Debug)]
pub(super) struct AdminSite {
    pages: Pages,
    checks: Checks,
}

impl AdminPort {
    /// Binds the port; 0 lets the system choose. Requests wait until [`AdminPort::serve`].
    pub fn bind(host: IpAddr, port: u16, token: Option<Vec<u8>>) -> io::Result<AdminPort> {
        let listener = TcpListener::bind((host, port))?;
        let address = listener.local_addr()?;
        Ok(AdminPort { listener, address, token })
    }

    /// The address that it is bound to.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves in the background until the runtime ends. Call it within a runtime.
    pub(in crate::transport) fn serve(
        self,
        executor: Arc<Executor>,
        workspace: Arc<Workspace>,
        draining: Draining,
    ) -> io::Result<()> {
        self.listener.set_nonblocking(true)?;
        let listener = tokio::net::TcpListener::from_std(self.listener)?;
        let checks = Checks { loopback: self.address.ip().is_loopback(), token: self.token, max_bytes: 0 };
        let pages = Pages { executor, workspace, draining, started: SystemTime::now() };
        let site = Site::Admin(Arc::new(AdminSite { pages, checks }));
        let listener = Listener::new(listener, site, CONNECTIONS, HEAD_TIMEOUT);
        tokio::spawn(async move { listener.accept(&mut Connections::default()).await });
        Ok(())
    }
}

impl AdminSite {
    pub(super) fn respond(&self, request: Request<Incoming>) -> Response<AnswerBody> {
        let (head, body) = request.into_parts();
        let path = head.uri.path();
        let page = match self.checks.check_operator(&head, Pages::is_private(path)) {
            Ok(()) => (self.pages.page(head.method == Method::GET, path), None),
            Err(HttpRefusal { status, message, header, .. }) => (Page::line(status, &message), header),
        };
        let (Page { status, content_type, text }, header) = page;
        let mut response = Response::new(AnswerBody::Whole(Some(text.into())));
        *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
        if status == 405 {
            response.headers_mut().insert(ALLOW, HeaderValue::from_static("GET"));
        }
        if let Some((name, value)) = header {
            response.headers_mut().insert(name, value);
        }
        if !body.is_end_stream() {
            response.extensions_mut().insert(Unheard);
        }
        response
    }
}
