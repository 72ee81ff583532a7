//! What the engine has counted since the start of the process: use of its caches, and waits for locks. Knows no format.

use super::Workspace;
use crate::CacheCounts;
use folder::WaitCounts;

/// See the module.
#[derive(Debug, Clone, Copy)]
pub struct WorkspaceCounts {
    /// Each cache by its name.
    pub caches: [(&'static str, CacheCounts); 3],
    /// Waits for other calls of this process that change the same file.
    pub turns: WaitCounts,
    /// Waits for other processes that hold the lock of a file.
    pub locks: WaitCounts,
}

impl Workspace {
    /// The counts so far.
    pub fn counts(&self) -> WorkspaceCounts {
        let (turns, locks) = self.locks.waits();
        let caches = [
            ("index", self.cache.counts()),
            ("filter", self.filters.counts()),
            ("analysis", self.analyses.counts()),
        ];
        WorkspaceCounts { caches, turns, locks }
    }
}
