//! Setup for the unit tests of this layer.

use std::sync::Arc;
use std::time::Duration;

use tempfile::TempDir;
use tokio::runtime::{Builder, Runtime};

use super::{Executor, Limits, configure};
use crate::protocol::Service;
use engine::Workspace;

/// A folder, its service and workspace, and a runtime.
pub(super) struct Setup {
    pub(super) folder: TempDir,
    pub(super) service: Service,
    pub(super) workspace: Arc<Workspace>,
    pub(super) limits: Limits,
    pub(super) runtime: Runtime,
}

impl Setup {
    pub(super) fn new() -> Setup {
        let (folder, service, workspace) = crate::testing::served();
        let limits = Limits {
            timeout: Duration::from_secs(10),
            max_in_flight: 4,
            max_bytes: 1 << 20,
            search_memory: 400,
        };
        let runtime = configure(Builder::new_multi_thread().worker_threads(1), 4).build().unwrap();
        Setup { folder, service, workspace, limits, runtime }
    }

    pub(super) fn executor(&self) -> Arc<Executor> {
        Executor::new(self.limits, self.workspace.clone(), self.runtime.handle().clone()).unwrap()
    }
}
