//! What is known of the served folders without a look: for walks, for the operator, and for the log.

use std::sync::atomic::Ordering;

use super::Workspace;
use folder::{FileCounts, LiveCounts, LiveFolders, LiveNews};

impl Workspace {
    /// What walks know of folders. `None` under `--live=off`.
    pub(super) fn live(&self) -> Option<&LiveFolders> {
        let live = self.live.as_ref()?;
        while let Some(news) = live.news() {
            match news {
                LiveNews::TooFewWatches => tracing::warn!(
                    "the system lets this user watch no more folders (sysctl fs.inotify.max_user_watches, max_user_instances): \
                     walks look at those beyond that each time"
                ),
                LiveNews::EventsLost => tracing::info!(
                    "more changed in the served folders between two calls than the system keeps events of (sysctl \
                     fs.inotify.max_queued_events): all of them are looked at again"
                ),
            }
        }
        Some(live)
    }

    /// How much is known without a look. `None` under `--live=off`.
    pub fn live_counts(&self) -> Option<LiveCounts> {
        self.live.as_ref().map(LiveFolders::counts)
    }

    /// Tells the operator once, when the first files were looked at, how many need no further look, and why the others do.
    pub(super) fn tell_known(&self) {
        let Some(live) = &self.live else { return };
        let FileCounts { believed, unknown, open, several_names, no_lease } = live.counts().files;
        let is_settled = believed + open + several_names + no_lease > 0;
        if is_settled && !self.has_told_known.swap(true, Ordering::Relaxed) {
            tracing::info!(
                believed,
                open_for_writing = open,
                several_names,
                no_lease,
                not_yet = unknown,
                "files that need no look until a program opens them, and those that do"
            );
        }
    }
}
