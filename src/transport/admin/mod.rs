//! The pages of `--admin-port` (contract 6.3): whether the server takes requests, and its figures.
//!
//! Pure but for the counts that it reads: a method and a path give a page. Knows no sockets and no HTTP library.

mod exposition;
mod figures;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::SystemTime;

use crate::exec::Executor;
use engine::Workspace;

/// Whether the server is about to stop.
#[derive(Debug, Clone, Default)]
pub(in crate::transport) struct Draining(Arc<AtomicBool>);

/// See the module.
#[derive(Debug)]
pub(in crate::transport) struct Pages {
    pub(in crate::transport) executor: Arc<Executor>,
    pub(in crate::transport) workspace: Arc<Workspace>,
    pub(in crate::transport) draining: Draining,
    pub(in crate::transport) started: SystemTime,
}

/// The answer to a request.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::transport) struct Page {
    pub(in crate::transport) status: u16,
    pub(in crate::transport) content_type: &'static str,
    pub(in crate::transport) text: String,
}

/// The paths.
const HEALTH: &str = "/healthz";
const METRICS: &str = "/metrics";

impl Draining {
    /// From now on, clients are asked to go elsewhere.
    pub(in crate::transport) fn begin(&self) {
        self.0.store(true, Ordering::Release);
    }

    pub(in crate::transport) fn has_begun(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}

impl Page {
    /// A text of one line.
    pub(in crate::transport) fn line(status: u16, line: &str) -> Page {
        Page { status, content_type: "text/plain; charset=utf-8", text: format!("{line}\n") }
    }
}

impl Pages {
    /// Whether the path's page is for the operator alone.
    pub(in crate::transport) fn is_private(path: &str) -> bool {
        path != HEALTH
    }

    /// The page at `path`. 405 means that the method must be GET.
    pub(in crate::transport) fn page(&self, is_get: bool, path: &str) -> Page {
        match path {
            HEALTH | METRICS if !is_get => Page::line(405, "Method not allowed; use GET"),
            HEALTH if self.draining.has_begun() => Page::line(503, "draining"),
            HEALTH if self.workspace.unreachable_folders() > 0 => {
                Page::line(503, "a served folder is not there, or its file system does not answer")
            }
            HEALTH if self.executor.is_stuck() => {
                Page::line(503, "too many calls wait for files that do not answer")
            }
            HEALTH => Page::line(200, "ok"),
            METRICS => Page {
                status: 200,
                content_type: "text/plain; version=0.0.4; charset=utf-8",
                text: figures::text(self),
            },
            _ => Page::line(404, "Not found; there are /healthz and /metrics"),
        }
    }
}
