//! The analyses that are kept, by the states of files.

use std::sync::Arc;

use super::Analysis;
use crate::stamp_cache::{CacheCounts, Kept, StampCache};

/// Memory limit of what is kept of files, in bytes.
const CACHE_BYTES: usize = 16 << 20;

/// What is known of files.
#[derive(Debug)]
pub(in crate::workspace) struct Analyses(pub(super) StampCache<Arc<dyn Analysis>>);

impl Default for Analyses {
    fn default() -> Analyses {
        Analyses(StampCache::new(CACHE_BYTES))
    }
}

impl Analyses {
    /// How often an analysis was asked for.
    pub(in crate::workspace) fn counts(&self) -> CacheCounts {
        self.0.counts()
    }

    /// Moves what is kept to the calling thread's heap, so that pages of ended threads can be freed.
    pub(in crate::workspace) fn compact(&self) {
        self.0.compact();
    }
}

impl Kept for Arc<dyn Analysis> {
    fn heap_bytes(&self) -> usize {
        // The `Arc` adds two counters.
        size_of_val(&**self) + Analysis::heap_bytes(&**self) + 2 * size_of::<usize>()
    }

    fn move_here(&mut self) {
        *self = self.copied();
    }
}
