//! Setup for the unit tests of several layers.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use tempfile::TempDir;

use crate::protocol::{Service, ServiceOptions};
use crate::tools::sets;
use crate::transport::Shared;
use engine::{Workspace, WorkspaceOptions};
use folder::NamePolicy;
use folder::fs::atomic::Durability;

/// An empty folder, served with the default options.
pub(crate) fn served() -> (TempDir, Service, Arc<Workspace>) {
    let folder = tempfile::tempdir().unwrap();
    let names = NamePolicy::Portable;
    let options = WorkspaceOptions {
        max_bytes: 1 << 20,
        max_request: 1 << 20,
        durability: Durability::None,
        ..WorkspaceOptions::default()
    };
    let workspace = Workspace::open(&[folder.path().into()], options).unwrap();
    let service = ServiceOptions {
        tools: sets::offer(&sets::choose("lines,exact").unwrap(), None),
        read_only: false,
        structured: false,
        names,
        folders: workspace.folder_paths().clone(),
        answer_limit: None,
        answer_tokens: 0,
        records: false,
        timeout: 10,
        clock: SystemTime::now,
    };
    (folder, Service::new(service), Arc::new(workspace))
}

/// The same, with limits.
pub(crate) fn shared() -> (TempDir, Shared) {
    let (folder, service, workspace) = served();
    let timeout = Duration::from_secs(10);
    let shared =
        Shared { service, workspace, max_bytes: 1 << 20, timeout, max_in_flight: 4, rate_limit: None };
    (folder, shared)
}
