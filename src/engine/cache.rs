//! A cache of line indexes, bounded in bytes.
//!
//! Knows nothing of how an index is built or a file is opened. `stamp_cache.rs` holds what is kept to its bound.

use std::sync::Arc;

use crate::stamp_cache::{CacheCounts, Kept, StampCache};
use folder::fs::version::FileStamp;
use text::lines::{InlineIndex, LineIndex, NotText};

/// The result of indexing one state of a file.
#[derive(Debug, Clone)]
pub enum CachedText {
    /// The file is text and has this index.
    Text(Arc<LineIndex>),
    /// The file is not text.
    NotText(NotText),
}

/// See the module.
#[derive(Debug)]
pub struct IndexCache(StampCache<CachedValue>);

#[derive(Debug, Clone)]
enum CachedValue {
    InlineIndex(InlineIndex),
    Index(Arc<LineIndex>),
    NotText(NotText),
}

impl IndexCache {
    /// A cache that holds at most about `max_bytes` bytes.
    pub fn new(max_bytes: usize) -> IndexCache {
        IndexCache(StampCache::new(max_bytes))
    }

    /// The cached result for the file in this state.
    pub fn get(&self, stamp: &FileStamp) -> Option<CachedText> {
        self.0.get(stamp, |kept| match kept {
            CachedValue::InlineIndex(brief) => CachedText::Text(Arc::new(brief.index(stamp.len as usize))),
            CachedValue::Index(index) => CachedText::Text(index.clone()),
            CachedValue::NotText(why) => CachedText::NotText(*why),
        })
    }

    /// The number of lines of the file in this state; the inner `None` means that it is not text. Does not
    /// count as a read for eviction, because a listing asks for every file.
    pub(crate) fn lines(&self, stamp: &FileStamp) -> Option<Option<usize>> {
        self.0.peek(stamp, |kept| match kept {
            CachedValue::InlineIndex(brief) => Some(brief.len_lines(stamp.len as usize)),
            CachedValue::Index(index) => Some(index.len_lines()),
            CachedValue::NotText(_) => None,
        })
    }

    /// How often an index was asked for. Listings do not count.
    pub(crate) fn counts(&self) -> CacheCounts {
        self.0.counts()
    }

    /// Removes the entry of a file, whatever its state.
    pub fn forget(&self, stamp: &FileStamp) {
        self.0.forget(stamp);
    }

    /// Stores the result for the file in this state. Stores nothing if the entry alone exceeds the limit.
    pub fn put(&self, stamp: &FileStamp, known: CachedText) {
        self.0.put(stamp, CachedValue::new(stamp, known));
    }

    /// Moves cached indexes to the calling thread's heap, so that pages of ended threads can be freed.
    pub fn compact(&self) {
        self.0.compact();
    }
}

impl CachedValue {
    fn new(stamp: &FileStamp, known: CachedText) -> CachedValue {
        match known {
            CachedText::Text(index) => match InlineIndex::of(&index) {
                // The inline form is restored with the length in the stamp, so both lengths must be equal.
                Some(brief) if index.len_bytes() as u64 == stamp.len => CachedValue::InlineIndex(brief),
                _ => CachedValue::Index(index),
            },
            CachedText::NotText(why) => CachedValue::NotText(why),
        }
    }
}

impl Kept for CachedValue {
    fn heap_bytes(&self) -> usize {
        // The `Arc` of an index adds two counters.
        match self {
            CachedValue::Index(index) => size_of::<LineIndex>() + 2 * size_of::<usize>() + index.heap_bytes(),
            CachedValue::InlineIndex(_) | CachedValue::NotText(_) => 0,
        }
    }

    fn move_here(&mut self) {
        if let CachedValue::Index(index) = self {
            *index = Arc::new(LineIndex::clone(index));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENTRY_BYTES: usize = StampCache::<CachedValue>::ENTRY_BYTES;

    fn stamp(ino: u64, ctime_ns: i128) -> FileStamp {
        FileStamp { dev: 1, ino, len: 3, mtime_ns: ctime_ns, ctime_ns }
    }

    fn known(text: &str) -> CachedText {
        CachedText::Text(Arc::new(LineIndex::build(text.as_bytes()).unwrap()))
    }

    #[test]
    fn an_index_is_found_by_the_very_stamp_it_was_made_for() {
        let cache = IndexCache::new(1 << 20);
        cache.put(&stamp(7, 12_345), known("a\nb"));
        assert!(
            matches!(cache.get(&stamp(7, 12_345)), Some(CachedText::Text(index)) if index.len_lines() == 2)
        );
        assert!(cache.get(&stamp(7, 12_346)).is_none());
        assert!(cache.get(&stamp(8, 12_345)).is_none());
        assert!(cache.lines(&stamp(7, 12_345)).is_some(), "which does not count");
        assert_eq!(cache.counts(), CacheCounts { hits: 1, misses: 2 });
        let known_as = stamp(7, 12_345);
        for other in [
            FileStamp { mtime_ns: 12_346, ..known_as },
            FileStamp { ctime_ns: 12_346, ..known_as },
            FileStamp { len: 4, ..known_as },
            FileStamp { dev: 2, ..known_as },
        ] {
            assert!(cache.get(&other).is_none(), "{other:?}");
        }
        cache.forget(&stamp(8, 12_345));
        assert!(cache.get(&stamp(7, 12_345)).is_some());
        cache.forget(&stamp(7, 12_346));
        assert!(cache.get(&stamp(7, 12_345)).is_none(), "in whatever state");
        assert_eq!(cache.0.checked(), (0, 0));
    }

    #[test]
    fn past_its_bound_the_cache_keeps_what_is_read_time_and_again() {
        let cache = IndexCache::new(8 * 1024);
        cache.put(&stamp(0, 1), known("a\r\n"));
        for ino in 1..1000 {
            assert!(cache.get(&stamp(0, 1)).is_some(), "{ino}");
            cache.put(&stamp(ino, 1), known("a\r\n"));
            // `lines` does not count as a read. If all entries counted as read, any of them could be evicted.
            assert_eq!(cache.lines(&stamp(ino, 1)), Some(Some(1)), "{ino}");
            cache.0.checked();
        }
        assert!(cache.0.checked().0 > 50);
    }

    #[test]
    fn of_more_files_than_fit_many_are_known_again_each_time_around() {
        let cache = IndexCache::new(100 * ENTRY_BYTES);
        let mut known_again = 0;
        for _ in 0..20 {
            for ino in 0..150 {
                match cache.lines(&stamp(ino, 1)) {
                    Some(lines) => {
                        assert_eq!(lines, Some(1));
                        known_again += 1;
                    }
                    None => cache.put(&stamp(ino, 1), known("a\r\n")),
                }
            }
            cache.0.checked();
        }
        // LRU would find none of them again.
        assert!(known_again > 300, "{known_again}");
    }

    #[test]
    fn large_indexes_count_with_their_heap_and_one_past_the_bound_is_not_kept() {
        let cache = IndexCache::new(2 * 1024);
        let text = "a".repeat(200 * 1024);
        let large = FileStamp { len: text.len() as u64, ..stamp(1, 1) };
        for ino in 2..100 {
            cache.put(&stamp(ino, 1), known("a\nb"));
        }
        cache.put(&large, known(&text));
        assert!(
            matches!(cache.get(&large), Some(CachedText::Text(index)) if index.len_bytes() == text.len())
        );
        cache.0.checked();
        let (larger, others) = (FileStamp { len: 32 * large.len, ..stamp(1, 1) }, cache.0.checked().0 - 1);
        cache.put(&larger, known(&text.repeat(32)));
        assert!(cache.get(&large).is_none() && cache.get(&larger).is_none());
        assert_eq!(cache.0.checked().0, others);
    }

    #[test]
    fn compacting_keeps_what_was_cached_and_what_others_hold() {
        let cache = IndexCache::new(1 << 20);
        let large = FileStamp { len: 200 * 1024, ..stamp(1, 1) };
        cache.put(&large, known(&"a\n".repeat(100 * 1024)));
        cache.put(&stamp(2, 1), known("a\nb"));
        cache.put(&stamp(3, 1), CachedText::NotText(NotText::Nul));
        let Some(CachedText::Text(held)) = cache.get(&large) else { panic!("not kept") };
        cache.compact();
        assert!(
            matches!(cache.get(&large), Some(CachedText::Text(copy)) if copy == held && !Arc::ptr_eq(&copy, &held))
        );
        assert!(matches!(cache.get(&stamp(2, 1)), Some(CachedText::Text(index)) if index.len_lines() == 2));
        assert!(matches!(cache.get(&stamp(3, 1)), Some(CachedText::NotText(NotText::Nul))));
        cache.0.checked();
    }

    #[test]
    fn a_small_file_costs_little() {
        const { assert!(ENTRY_BYTES <= 160) };
        let cache = IndexCache::new(1 << 20);
        cache.put(&stamp(1, 1), known("a\nb"));
        assert_eq!(cache.0.checked(), (1, ENTRY_BYTES));
        let far = FileStamp { mtime_ns: i128::MAX, ..stamp(1, 1) };
        cache.put(&far, known("a\nb"));
        assert!(cache.get(&far).is_none());
    }
}
