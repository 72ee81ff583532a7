//! A cache of what was found out about files, bounded in bytes. Keyed by a file's device and inode, and valid for one
//! stamp.
//!
//! Knows nothing of what it keeps, nor how a file is opened. The caller of [`StampCache::put`] must be sure that no
//! other content of the file can have the same stamp (`version.rs`, `writers.rs`).

use std::hash::{BuildHasher, RandomState};
use std::sync::{Mutex, MutexGuard, PoisonError};

use indexmap::IndexMap;

use folder::fs::version::FileStamp;

/// What a [`StampCache`] keeps of a file.
pub(crate) trait Kept: Clone {
    /// Bytes that it takes on the heap.
    fn heap_bytes(&self) -> usize;

    /// Moves its bytes on the heap to the calling thread's heap.
    fn move_here(&mut self);
}

/// See the module.
#[derive(Debug)]
pub(crate) struct StampCache<V> {
    entries: Mutex<Entries<V>>,
    max_bytes: usize,
}

/// Device and inode.
type Key = (u64, u64);

#[derive(Debug)]
struct Entries<V> {
    /// An index map, because eviction selects an entry by its position.
    by_file: IndexMap<Key, Entry<V>>,
    bytes: usize,
    /// An entry was added since the last [`StampCache::compact`].
    added: bool,
    /// State of the random number generator; never 0.
    random: u64,
    counts: CacheCounts,
}

/// How often a cache was asked since the start of the process.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CacheCounts {
    /// The file was known in its present state.
    pub hits: u64,
    /// It was not.
    pub misses: u64,
}

/// A file's stamp without its [`Key`], and what is kept. Small, because a folder may hold many files.
#[derive(Debug, Clone)]
struct Entry<V> {
    mtime_ns: i64,
    ctime_ns: i64,
    /// The low 32 bits of the length in bytes, and the bits above. Two fields take less space than one.
    len_low: u32,
    len_high: u16,
    /// The entry was read since eviction last passed it.
    used: bool,
    /// The entry was added after the last [`StampCache::compact`], so another thread may have allocated its heap.
    foreign: bool,
    kept: V,
}

impl<V: Kept> StampCache<V> {
    /// Bytes of an entry whose value has no bytes on the heap: entry, key and hash, in a vector that may be half
    /// empty, and the entry's slots in the hash table.
    pub(crate) const ENTRY_BYTES: usize =
        2 * (size_of::<Entry<V>>() + size_of::<Key>() + size_of::<u64>()) + 4 * size_of::<usize>();

    /// A cache that holds at most about `max_bytes` bytes.
    pub(crate) fn new(max_bytes: usize) -> StampCache<V> {
        let random = RandomState::new().hash_one(max_bytes) | 1;
        StampCache {
            entries: Mutex::new(Entries {
                by_file: IndexMap::new(),
                bytes: 0,
                added: false,
                random,
                counts: CacheCounts::default(),
            }),
            max_bytes,
        }
    }

    /// What `read` makes of the value for the file in this state.
    pub(crate) fn get<R>(&self, stamp: &FileStamp, read: impl FnOnce(&V) -> R) -> Option<R> {
        let mut entries = self.lock();
        let Some(entry) = entries.find(stamp) else {
            entries.counts.misses += 1;
            return None;
        };
        entry.used = true;
        let read = read(&entry.kept);
        entries.counts.hits += 1;
        Some(read)
    }

    /// The same, but does not count as a read for eviction, nor in [`StampCache::counts`].
    pub(crate) fn peek<R>(&self, stamp: &FileStamp, read: impl FnOnce(&V) -> R) -> Option<R> {
        Some(read(&self.lock().find(stamp)?.kept))
    }

    /// How often it was asked for a value.
    pub(crate) fn counts(&self) -> CacheCounts {
        self.lock().counts
    }

    /// Removes the entry of a file, whatever its state.
    pub(crate) fn forget(&self, stamp: &FileStamp) {
        let mut entries = self.lock();
        entries.remove(key(stamp));
    }

    /// Stores the value for the file in this state. Stores nothing if the entry alone exceeds the limit.
    pub(crate) fn put(&self, stamp: &FileStamp, kept: V) {
        let mut entries = self.lock();
        entries.remove(key(stamp));
        // Files of 256 TB or more, or with times that do not fit into an `i64`, are not cached.
        let Some(entry) = Entry::new(stamp, kept) else { return };
        let bytes = entry.bytes();
        if bytes > self.max_bytes {
            return;
        }
        while !switches::is_off("cache-bound") && entries.bytes + bytes > self.max_bytes {
            entries.evict_one();
        }
        entries.bytes += bytes;
        entries.added = true;
        entries.by_file.insert(key(stamp), entry);
    }

    /// Moves cached values to the calling thread's heap, so that pages of ended threads can be freed.
    pub(crate) fn compact(&self) {
        let mut entries = self.lock();
        if !std::mem::take(&mut entries.added) {
            return;
        }
        entries.by_file = entries.by_file.clone();
        for entry in entries.by_file.values_mut() {
            if std::mem::take(&mut entry.foreign) {
                entry.kept.move_here();
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Entries<V>> {
        // Every critical section leaves the map consistent at every step, so a panic in one harms no other.
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
impl<V: Kept> StampCache<V> {
    /// The number of entries and their bytes. Panics if the byte count is wrong or over the limit.
    pub(crate) fn checked(&self) -> (usize, usize) {
        let entries = self.lock();
        let bytes: usize = entries.by_file.values().map(Entry::bytes).sum();
        assert_eq!(bytes, entries.bytes);
        assert!(bytes <= self.max_bytes);
        (entries.by_file.len(), bytes)
    }
}

impl<V: Kept> Entries<V> {
    fn find(&mut self, stamp: &FileStamp) -> Option<&mut Entry<V>> {
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

impl<V: Kept> Entry<V> {
    fn new(stamp: &FileStamp, kept: V) -> Option<Entry<V>> {
        let (len_low, len_high) = split(stamp.len)?;
        Some(Entry {
            mtime_ns: stamp.mtime_ns.try_into().ok()?,
            ctime_ns: stamp.ctime_ns.try_into().ok()?,
            len_low,
            len_high,
            used: false,
            foreign: kept.heap_bytes() > 0,
            kept,
        })
    }

    fn is_of(&self, stamp: &FileStamp) -> bool {
        Some((self.len_low, self.len_high)) == split(stamp.len)
            && i128::from(self.mtime_ns) == stamp.mtime_ns
            && (switches::is_off("cache-stamp") || i128::from(self.ctime_ns) == stamp.ctime_ns)
    }

    fn bytes(&self) -> usize {
        StampCache::<V>::ENTRY_BYTES + self.kept.heap_bytes()
    }
}
