//! A cache of line indexes, bounded in bytes. Keyed by a file's device and inode, and valid for one stamp.
//!
//! Knows nothing of how an index is built or a file is opened. The caller of [`IndexCache::put`] must be sure
//! that no other content of the file can have the same stamp (`version.rs`, `writers.rs`).

use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use indexmap::IndexMap;

use crate::engine::fs::version::FileStamp;
use crate::engine::text::lines::{InlineIndex, LineIndex, NotText};

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
pub struct IndexCache {
    entries: Mutex<Entries>,
    max_bytes: usize,
}

/// Device and inode.
type Key = (u64, u64);

#[derive(Debug)]
struct Entries {
    /// An index map, because eviction selects an entry by its position.
    by_file: IndexMap<Key, CacheEntry>,
    bytes: usize,
    /// An entry was added since the last [`IndexCache::compact`].
    added: bool,
    /// State of the random number generator; never 0.
    random: u64,
}

/// A file's stamp without its [`Key`], and its index. Small, because a folder may hold many files.
#[derive(Debug, Clone)]
struct CacheEntry {
    mtime_ns: i64,
    ctime_ns: i64,
    /// The low 32 bits of the length in bytes, and the bits above. Two fields take less space than one.
    len_low: u32,
    len_high: u16,
    /// The entry was read since eviction last passed it.
    used: bool,
    /// The index was added after the last [`IndexCache::compact`], so another thread may have allocated it.
    foreign: bool,
    kept: CachedValue,
}

#[derive(Debug, Clone)]
enum CachedValue {
    InlineIndex(InlineIndex),
    Index(Arc<LineIndex>),
    NotText(NotText),
}

impl IndexCache {
    /// A cache that holds at most about `max_bytes` bytes.
    pub fn new(max_bytes: usize) -> IndexCache {
        let random = RandomState::new().hash_one(max_bytes) | 1;
        IndexCache {
            entries: Mutex::new(Entries { by_file: IndexMap::new(), bytes: 0, added: false, random }),
            max_bytes,
        }
    }

    /// The cached result for the file in this state.
    pub fn get(&self, stamp: &FileStamp) -> Option<CachedText> {
        let mut entries = self.lock();
        let entry = entries.find(stamp)?;
        entry.used = true;
        Some(match &entry.kept {
            CachedValue::InlineIndex(brief) => CachedText::Text(Arc::new(brief.index(stamp.len as usize))),
            CachedValue::Index(index) => CachedText::Text(index.clone()),
            CachedValue::NotText(why) => CachedText::NotText(*why),
        })
    }

    /// The number of lines of the file in this state; the inner `None` means that it is not text. Does not
    /// count as a read for eviction, because a listing asks for every file.
    pub(crate) fn lines(&self, stamp: &FileStamp) -> Option<Option<usize>> {
        let mut entries = self.lock();
        Some(match &entries.find(stamp)?.kept {
            CachedValue::InlineIndex(brief) => Some(brief.len_lines(stamp.len as usize)),
            CachedValue::Index(index) => Some(index.len_lines()),
            CachedValue::NotText(_) => None,
        })
    }

    /// Removes the entry of a file, whatever its state.
    pub fn forget(&self, stamp: &FileStamp) {
        let mut entries = self.lock();
        entries.remove(key(stamp));
    }

    /// Stores the result for the file in this state. Stores nothing if the entry alone exceeds the limit.
    pub fn put(&self, stamp: &FileStamp, known: CachedText) {
        let mut entries = self.lock();
        entries.remove(key(stamp));
        // Files of 256 TB or more, or with times that do not fit into an `i64`, are not cached.
        let Some(entry) = CacheEntry::new(stamp, known) else { return };
        let bytes = entry.bytes();
        if bytes > self.max_bytes {
            return;
        }
        while entries.bytes + bytes > self.max_bytes {
            entries.evict_one();
        }
        entries.bytes += bytes;
        entries.added = true;
        entries.by_file.insert(key(stamp), entry);
    }

    /// Moves cached indexes to the calling thread's heap, so that pages of ended threads can be freed.
    pub fn compact(&self) {
        let mut entries = self.lock();
        if !std::mem::take(&mut entries.added) {
            return;
        }
        entries.by_file = entries.by_file.clone();
        for entry in entries.by_file.values_mut() {
            if std::mem::take(&mut entry.foreign)
                && let CachedValue::Index(index) = &mut entry.kept
            {
                *index = Arc::new(LineIndex::clone(index));
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Entries> {
        // Every critical section leaves the map consistent at every step, so a panic in one harms no other.
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Entries {
    fn find(&mut self, stamp: &FileStamp) -> Option<&mut CacheEntry> {
        self.by_file.get_mut(&key(stamp)).filter(|entry| entry.is_of(stamp))
    }

    fn remove(&mut self, key: Key) {
        if let Some(removed) = self.by_file.swap_remove(&key) {
            self.bytes -= removed.bytes();
        }
    }

    /// Removes the first entry, from a random one on, that was not read since eviction last passed it. LRU
    /// would find nothing for a client that reads more files than fit, in a circle.
    fn evict_one(&mut self) {
        let len = self.by_file.len();
        let mut at = self.random_number() % len;
        while let Some((_, entry)) = self.by_file.get_index_mut(at)
            && std::mem::take(&mut entry.used)
        {
            at = (at + 1) % len;
        }
        if let Some((_, removed)) = self.by_file.swap_remove_index(at) {
            self.bytes -= removed.bytes();
        }
    }

    /// A random number (xorshift).
    fn random_number(&mut self) -> usize {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.random as usize
    }
}

fn key(stamp: &FileStamp) -> Key {
    (stamp.dev, stamp.ino)
}

/// The low 32 bits of a length and the bits above. `None` for a file of 256 TB or more.
fn split(len: u64) -> Option<(u32, u16)> {
    Some((len as u32, (len >> 32).try_into().ok()?))
}

impl CacheEntry {
    /// Bytes of an entry without a separate index: entry, key and hash, in a vector that may be half empty,
    /// and the entry's slots in the hash table.
    const BYTES: usize =
        2 * (size_of::<CacheEntry>() + size_of::<Key>() + size_of::<u64>()) + 4 * size_of::<usize>();

    fn new(stamp: &FileStamp, known: CachedText) -> Option<CacheEntry> {
        let kept = match known {
            CachedText::Text(index) => match InlineIndex::of(&index) {
                // The inline form is restored with the length in the stamp, so both lengths must be equal.
                Some(brief) if index.len_bytes() as u64 == stamp.len => CachedValue::InlineIndex(brief),
                _ => CachedValue::Index(index),
            },
            CachedText::NotText(why) => CachedValue::NotText(why),
        };
        let (len_low, len_high) = split(stamp.len)?;
        Some(CacheEntry {
            mtime_ns: stamp.mtime_ns.try_into().ok()?,
            ctime_ns: stamp.ctime_ns.try_into().ok()?,
            len_low,
            len_high,
            used: false,
            foreign: matches!(kept, CachedValue::Index(_)),
            kept,
        })
    }

    fn is_of(&self, stamp: &FileStamp) -> bool {
        Some((self.len_low, self.len_high)) == split(stamp.len)
            && (i128::from(self.mtime_ns), i128::from(self.ctime_ns)) == (stamp.mtime_ns, stamp.ctime_ns)
    }

    fn bytes(&self) -> usize {
        // The `Arc` of an index adds two counters.
        let heap = match &self.kept {
            CachedValue::Index(index) => size_of::<LineIndex>() + 2 * size_of::<usize>() + index.heap_bytes(),
            CachedValue::InlineIndex(_) | CachedValue::NotText(_) => 0,
        };
        CacheEntry::BYTES + heap
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert_eq!(cache.lock().bytes, 0);
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
            assert_bound(&cache);
        }
        assert!(cache.lock().by_file.len() > 50);
    }

    #[test]
    fn of_more_files_than_fit_many_are_known_again_each_time_around() {
        let cache = IndexCache::new(100 * CacheEntry::BYTES);
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
            assert_bound(&cache);
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
        assert_bound(&cache);
        let (larger, others) =
            (FileStamp { len: 32 * large.len, ..stamp(1, 1) }, cache.lock().by_file.len() - 1);
        cache.put(&larger, known(&text.repeat(32)));
        assert!(cache.get(&large).is_none() && cache.get(&larger).is_none());
        assert_eq!(cache.lock().by_file.len(), others);
        assert_bound(&cache);
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
        assert_bound(&cache);
    }

    #[test]
    fn a_small_file_costs_little() {
        const { assert!(CacheEntry::BYTES <= 160) };
        assert_eq!(CacheEntry::new(&stamp(1, 1), known("a\nb")).unwrap().bytes(), CacheEntry::BYTES);
        let far = FileStamp { mtime_ns: i128::MAX, ..stamp(1, 1) };
        let cache = IndexCache::new(1 << 20);
        cache.put(&far, known("a\nb"));
        assert!(cache.get(&far).is_none());
    }

    /// Panics if the byte count is wrong or over the limit.
    fn assert_bound(cache: &IndexCache) {
        let entries = cache.lock();
        let bytes: usize = entries.by_file.values().map(CacheEntry::bytes).sum();
        assert_eq!(bytes, entries.bytes);
        assert!(bytes <= cache.max_bytes);
    }
}
