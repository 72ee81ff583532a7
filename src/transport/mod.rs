//! Moving bytes: stdio and HTTP. Never matches on engine errors; what an answer says is the protocol's.

pub mod allocator;
mod batch;
mod body_buffer;
mod connection_limit;
mod deadlines;
pub mod http;
pub mod limits;
mod memory;
pub mod process_stats;
pub mod shutdown;
pub mod stdio;
mod stdout_writer;
mod turns;
mod work;
mod workers;
mod write_timeout;

use std::io;
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

/// Descriptors that a start needs.
const DESCRIPTORS: usize = 7;

/// An error if there are too few descriptors. To be asked before the runtime is built, which panics without them.
fn check_descriptors() -> io::Result<()> {
    let stderr = rustix::stdio::stderr();
    (0..DESCRIPTORS).map(|_| stderr.try_clone_to_owned()).collect::<io::Result<Vec<_>>>().map(drop)
}

#[cfg(test)]
mod testing {
    use super::*;
    use crate::engine::{Durability, NamePolicy, WorkspaceOptions};
    use crate::protocol::ServiceOptions;

    /// An empty folder, served with the defaults.
    pub(super) fn shared() -> (tempfile::TempDir, Shared) {
        let folder = tempfile::tempdir().unwrap();
        let names = NamePolicy::Portable;
        let options =
            WorkspaceOptions { names, max_bytes: 1 << 20, read_only: false, durability: Durability::None };
        let tools = crate::tools::TOOLS.to_vec();
        let root = folder.path().into();
        let service =
            ServiceOptions { tools, read_only: false, structured: false, names, folder: root, timeout: 10 };
        let shared = Shared {
            service: Service::new(service),
            workspace: Arc::new(Workspace::open(folder.path(), options).unwrap()),
            max_bytes: 1 << 20,
            timeout: Duration::from_secs(10),
            max_in_flight: 4,
            rate_limit: None,
        };
        (folder, shared)
    }
}
