//! Indexes of files seen before, by file identity, valid by stamp; bounded in bytes.
//!
//! Knows nothing of how an index is made or a file opened. A stamp is only as good as the clock behind it: a file that
//! is written twice within one tick keeps its stamp, so an entry counts only if the file had rested for a while when it
//! was indexed (git calls the others racily clean), or if its stamp is one that we made unique ourselves.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use super::lines::LineIndex;
use super::view::FileStamp;

/// Longer than a tick of any kernel's coarse clock (10 ms at most).
const TICK_NS: i128 = 20_000_000;

/// Longer than a tick of file systems that keep whole or even seconds only.
const COARSE_TICK_NS: i128 = 2_000_000_000;

/// What is known of the lines of one state of a file.
#[derive(Debug, Clone)]
pub enum Known {
    /// It is text with this index.
    Text(Arc<LineIndex>),
    /// It is not text.
    NotText(super::lines::NotText),
}

/// See the module.
#[derive(Debug)]
pub struct IndexCache {
    entries: Mutex<Entries>,
    max_bytes: usize,
}

#[derive(Debug, Default)]
struct Entries {
    by_file: HashMap<(u64, u64), Entry>,
    bytes: usize,
    clock: u64,
}

#[derive(Debug)]
struct Entry {
    stamp: FileStamp,
    known: Known,
    used: u64,
}

impl IndexCache {
    /// Keeps about `max_bytes` of indexes.
    pub fn new(max_bytes: usize) -> IndexCache {
        IndexCache { entries: Mutex::default(), max_bytes }
    }

    /// What is known of the file in this state.
    pub fn get(&self, stamp: &FileStamp) -> Option<Known> {
        let mut entries = self.lock();
        entries.clock += 1;
        let clock = entries.clock;
        let entry = entries.by_file.get_mut(&(stamp.dev, stamp.ino))?;
        if entry.stamp != *stamp {
            return None;
        }
        entry.used = clock;
        Some(entry.known.clone())
    }

    /// Keeps what was found out about a file that was indexed now and had this stamp before and after.
    pub fn put(&self, stamp: &FileStamp, known: Known) {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_nanos() as i128);
        let tick = if stamp.ctime_ns % 1_000_000_000 == 0 { COARSE_TICK_NS } else { TICK_NS };
        if now - stamp.ctime_ns > tick {
            self.put_unique(stamp, known);
        }
    }

    /// As [`IndexCache::put`], for a stamp that no other writer can repeat.
    pub fn put_unique(&self, stamp: &FileStamp, known: Known) {
        let mut entries = self.lock();
        entries.clock += 1;
        let entry = Entry { stamp: *stamp, known, used: entries.clock };
        entries.bytes += entry.bytes();
        if let Some(old) = entries.by_file.insert((stamp.dev, stamp.ino), entry) {
            entries.bytes -= old.bytes();
        }
        if entries.bytes > self.max_bytes {
            entries.shrink(self.max_bytes / 4 * 3);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Entries> {
        // Every critical section leaves the map whole at every step, so a panic in one harms no other.
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Entries {
    /// Drops the least recently used entries until `bytes` are left.
    fn shrink(&mut self, bytes: usize) {
        let mut by_use: Vec<_> = self.by_file.iter().map(|(key, entry)| (entry.used, *key)).collect();
        by_use.sort_unstable();
        for (_, key) in by_use {
            if self.bytes <= bytes {
                break;
            }
            if let Some(old) = self.by_file.remove(&key) {
                self.bytes -= old.bytes();
            }
        }
    }
}

impl Entry {
    fn bytes(&self) -> usize {
        // The key, the entry and the map's own share, roughly.
        let own = 2 * (size_of::<Entry>() + size_of::<(u64, u64)>());
        match &self.known {
            Known::Text(index) => own + size_of::<LineIndex>() + index.heap_bytes(),
            Known::NotText(_) => own,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stamp(ino: u64, ctime_ns: i128) -> FileStamp {
        FileStamp { dev: 1, ino, len: 3, mtime_ns: ctime_ns, ctime_ns }
    }

    fn known(text: &str) -> Known {
        Known::Text(Arc::new(LineIndex::build(text.as_bytes()).unwrap()))
    }

    fn now() -> i128 {
        SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos() as i128
    }

    #[test]
    fn an_index_is_found_by_the_very_stamp_it_was_made_for() {
        let cache = IndexCache::new(1 << 20);
        cache.put(&stamp(7, 12_345), known("a\nb"));
        assert!(matches!(cache.get(&stamp(7, 12_345)), Some(Known::Text(index)) if index.len_lines() == 2));
        assert!(cache.get(&stamp(7, 12_346)).is_none());
        assert!(cache.get(&stamp(8, 12_345)).is_none());
    }

    #[test]
    fn a_file_written_a_moment_ago_is_not_trusted_unless_its_stamp_is_ours() {
        let cache = IndexCache::new(1 << 20);
        let young = stamp(7, now());
        cache.put(&young, known("a"));
        assert!(cache.get(&young).is_none());
        cache.put_unique(&young, known("a"));
        assert!(cache.get(&young).is_some());
        let whole_seconds = stamp(8, (now() / 1_000_000_000) * 1_000_000_000);
        cache.put(&whole_seconds, known("a"));
        assert!(cache.get(&whole_seconds).is_none());
    }

    #[test]
    fn past_its_bound_the_cache_forgets_what_was_not_used() {
        let cache = IndexCache::new(8 * 1024);
        cache.put(&stamp(0, 1), known("a"));
        for ino in 1..1000 {
            assert!(cache.get(&stamp(0, 1)).is_some(), "{ino}");
            cache.put(&stamp(ino, 1), known("a"));
            assert!(cache.lock().bytes <= 8 * 1024);
        }
        assert!(cache.get(&stamp(1, 1)).is_none() && cache.get(&stamp(999, 1)).is_some());
        let bytes = cache.lock().by_file.values().map(Entry::bytes).sum::<usize>();
        assert_eq!(bytes, cache.lock().bytes);
    }
}
