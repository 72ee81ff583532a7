//! The analyses that are kept, by the states of files.

use std::sync::Arc;

use super::{Analysis, AnalysisKind};
use crate::stamp_cache::{CacheCounts, Kept, StampCache};

/// Memory limit of the figures that are kept of files, in bytes.
const CACHE_BYTES: usize = 16 << 20;

/// The same for outlines, which are larger.
const OUTLINE_BYTES: usize = 32 << 20;

/// What is known of files.
#[derive(Debug)]
pub(in crate::workspace) struct Analyses {
    figures: StampCache<Arc<dyn Analysis>>,
    outlines: StampCache<Arc<dyn Analysis>>,
}

impl Default for Analyses {
    fn default() -> Analyses {
        Analyses { figures: StampCache::new(CACHE_BYTES), outlines: StampCache::new(OUTLINE_BYTES) }
    }
}

impl Analyses {
    /// Those of one kind.
    pub(super) fn of(&self, kind: AnalysisKind) -> &StampCache<Arc<dyn Analysis>> {
        match kind {
            AnalysisKind::Figures => &self.figures,
            AnalysisKind::Outlines => &self.outlines,
        }
    }

    /// How often an analysis was asked for.
    pub(in crate::workspace) fn counts(&self) -> CacheCounts {
        let (figures, outlines) = (self.figures.counts(), self.outlines.counts());
        CacheCounts { hits: figures.hits + outlines.hits, misses: figures.misses + outlines.misses }
    }

    /// Moves what is kept to the calling thread's heap, so that pages of ended threads can be freed.
    pub(in crate::workspace) fn compact(&self) {
        self.figures.compact();
        self.outlines.compact();
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
