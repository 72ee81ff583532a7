//! A cache of filters, bounded in bytes.
//!
//! Knows nothing of how a filter is made or a file is opened. `stamp_cache.rs` holds what is kept to its bound.

use std::sync::Arc;

use crate::stamp_cache::{CacheCounts, Kept, StampCache};
use folder::fs::version::FileStamp;
use search::FileFilter;

/// See the module.
#[derive(Debug)]
pub(crate) struct FilterCache {
    filters: StampCache<Arc<FileFilter>>,
    max_bytes: usize,
}

impl FilterCache {
    /// A cache that holds at most about `max_bytes` bytes; 0: nothing.
    pub(crate) fn new(max_bytes: usize) -> FilterCache {
        FilterCache { filters: StampCache::new(max_bytes), max_bytes }
    }

    /// Whether it keeps anything, so that it is worth while to make filters.
    pub(crate) fn is_on(&self) -> bool {
        self.max_bytes > 0
    }

    /// The filter of the file in this state.
    pub(crate) fn get(&self, stamp: &FileStamp) -> Option<Arc<FileFilter>> {
        self.filters.get(stamp, Arc::clone)
    }

    /// Whether there is a filter of the file in this state.
    pub(crate) fn has(&self, stamp: &FileStamp) -> bool {
        self.filters.peek(stamp, |_| ()).is_some()
    }

    /// Keeps the filter of the file in this state, unless it excludes nothing or is of a file of another length.
    pub(crate) fn put(&self, stamp: &FileStamp, filter: Arc<FileFilter>) {
        if !filter.is_empty() && filter.len_bytes() == stamp.len {
            self.filters.put(stamp, filter);
        }
    }

    /// How often a filter was asked for.
    pub(crate) fn counts(&self) -> CacheCounts {
        self.filters.counts()
    }

    /// Moves cached filters to the calling thread's heap, so that pages of ended threads can be freed.
    pub(crate) fn compact(&self) {
        self.filters.compact();
    }
}

impl Kept for Arc<FileFilter> {
    fn heap_bytes(&self) -> usize {
        // The `Arc` adds two counters.
        self.bytes() + 2 * size_of::<usize>()
    }

    fn move_here(&mut self) {
        *self = Arc::new(FileFilter::clone(self));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stamp(ino: u64, len: usize) -> FileStamp {
        FileStamp { dev: 1, ino, len: len as u64, mtime_ns: 1, ctime_ns: 1 }
    }

    fn filter(len: usize) -> Arc<FileFilter> {
        Arc::new(FileFilter::build("some words of a text\n".repeat(len).get(..len).unwrap().as_bytes()))
    }

    #[test]
    fn a_filter_is_found_by_the_very_stamp_it_was_made_for() {
        let cache = FilterCache::new(1 << 20);
        cache.put(&stamp(1, 5000), filter(5000));
        assert!(cache.get(&stamp(1, 5000)).is_some_and(|kept| kept == filter(5000)));
        assert!(cache.get(&stamp(1, 5001)).is_none() && cache.get(&stamp(2, 5000)).is_none());
        assert!(cache.get(&FileStamp { ctime_ns: 2, ..stamp(1, 5000) }).is_none());
    }

    #[test]
    fn what_is_of_no_use_is_not_kept() {
        let cache = FilterCache::new(1 << 20);
        cache.put(&stamp(1, 100), filter(100));
        cache.put(&stamp(2, 5000), filter(5001));
        assert_eq!(cache.filters.checked(), (0, 0));
        let off = FilterCache::new(0);
        off.put(&stamp(1, 5000), filter(5000));
        assert!(!off.is_on() && off.get(&stamp(1, 5000)).is_none());
    }

    #[test]
    fn the_cache_keeps_to_its_bound_and_compacting_keeps_what_others_hold() {
        let cache = FilterCache::new(8 * 1024);
        for ino in 0..100 {
            cache.put(&stamp(ino, 5000), filter(5000));
            cache.filters.checked();
        }
        let kept: Vec<_> = (0..100).filter_map(|ino| cache.get(&stamp(ino, 5000))).collect();
        assert!(kept.len() > 10);
        cache.compact();
        let again: Vec<_> = (0..100).filter_map(|ino| cache.get(&stamp(ino, 5000))).collect();
        assert_eq!(kept, again);
        assert!(kept.iter().zip(&again).all(|(one, other)| !Arc::ptr_eq(one, other)));
    }
}
