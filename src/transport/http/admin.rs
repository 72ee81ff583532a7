//! The admin port: a listener of its own for the pages of `transport::admin`, with either transport.
//!
//! It has few connections, and each of them one request and little time, so that it cannot harm the clients' port.

use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use super::admin_site::AdminSite;
use super::checks::{Allowed, Checks};
use super::listener::{Connections, Listener, Site};
use crate::exec::Executor;
use crate::transport::admin::{Draining, Pages};
use crate::transport::net::connection_limit::ConnectionLimit;
use engine::Workspace;

/// Most connections at once. A further one takes the place of the one that says nothing longest.
const CONNECTIONS: usize = 64;

/// Longest time for the head of a request.
const HEAD_TIMEOUT: Duration = Duration::from_secs(2);

/// The bound port.
#[derive(Debug)]
pub struct AdminPort {
    listener: TcpListener,
    address: SocketAddr,
    /// The clients' token. The figures need it, too, if other machines can reach the port.
    token: Option<Vec<u8>>,
    allowed: Allowed,
}

impl AdminPort {
    /// Binds the port; 0 lets the system choose. Requests wait until it serves.
    pub fn bind(host: IpAddr, port: u16, token: Option<Vec<u8>>, allowed: Allowed) -> io::Result<AdminPort> {
        let listener = TcpListener::bind((host, port))?;
        let address = listener.local_addr()?;
        Ok(AdminPort { listener, address, token, allowed })
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
        let (loopback, allowed) = (self.address.ip().is_loopback(), self.allowed);
        let checks = Checks { loopback, allowed, token: self.token, max_bytes: 0 };
        let pages = Pages { executor, workspace, draining, started: SystemTime::now() };
        let site = Site::Admin(Arc::new(AdminSite { pages, checks }));
        let listener = Listener::new(listener, site, ConnectionLimit::new(CONNECTIONS), HEAD_TIMEOUT);
        tokio::spawn(async move { listener.accept(&mut Connections::default()).await });
        Ok(())
    }
}
