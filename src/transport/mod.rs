//! Moves bytes over stdio and HTTP. Never matches on engine errors; the protocol writes the answers.

mod admin;
pub mod http;
pub mod net;
pub mod process;
pub mod stdio;

use std::io;
use std::sync::Arc;
use std::time::Duration;

use crate::exec::{Limits, Space};
use crate::protocol::Service;
use engine::Workspace;

/// What both transports serve, and their limits (contract 2).
#[derive(Debug, Clone)]
pub struct Shared {
    /// The protocols.
    pub service: Service,
    /// The folder.
    pub workspace: Arc<Workspace>,
    /// Largest request, in bytes.
    pub max_bytes: usize,
    /// Longest time of a call up to the first byte of its answer.
    pub timeout: Duration,
    /// `--max-in-flight`. Stdio: calls in progress. HTTP: calls that run at once in the whole server.
    pub max_in_flight: usize,
    /// The rate of requests that a connection may send.
    pub rate_limit: Option<net::rate_limit::Rate>,
}

impl Shared {
    fn limits(&self) -> Limits {
        let Shared { timeout, max_in_flight, max_bytes, .. } = *self;
        let search_memory = Space::here().search_memory(SEARCH_MEMORY);
        Limits { timeout, max_in_flight, max_bytes, search_memory }
    }
}

/// Memory for searches and analyses together, in MB (contract 8).
const SEARCH_MEMORY: usize = 400;

/// Whether the process may have the address space that it needs. The error follows "cannot start".
pub fn check_address_space() -> Result<(), String> {
    Space::here().check()
}

/// How many of `wanted` calls may run at once in this process.
pub fn calls_at_once(wanted: usize) -> usize {
    Space::here().calls(wanted)
}

/// Descriptors that a start needs.
const DESCRIPTORS: usize = 7;

/// An error if there are too few descriptors. Called before the runtime is built, which panics without them.
pub fn check_descriptors() -> io::Result<()> {
    let stderr = sys::stdio::stderr();
    (0..DESCRIPTORS).map(|_| stderr.try_clone_to_owned()).collect::<io::Result<Vec<_>>>().map(drop)
}
