//! Moving bytes: stdio and HTTP. Never matches on engine errors; what an answer says is the protocol's.

pub mod http;
mod http_body;
mod http_checks;
pub mod limits;
mod output;
mod patience;
pub mod shutdown;
pub mod stdio;
mod work;

use std::sync::Arc;
use std::time::Duration;

use crate::engine::Workspace;
use crate::protocol::Service;

/// What both transports serve, and within which limits (SPEC 2).
#[derive(Debug, Clone)]
pub struct Shared {
    /// The protocols.
    pub service: Service,
    /// The folder.
    pub workspace: Arc<Workspace>,
    /// Largest request, in bytes.
    pub max_bytes: usize,
    /// Longest time up to the first byte of an answer.
    pub timeout: Duration,
    /// Requests in work at once.
    pub max_in_flight: usize,
    /// Requests a connection may send.
    pub rate_limit: Option<limits::Rate>,
}
