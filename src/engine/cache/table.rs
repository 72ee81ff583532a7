//! A table of files: each found, added and dropped in constant time, and any of them by its number, so that one can be
//! picked at random.
//!
//! The entries lie dense in one vector, without a heap block each; `slots` (open addressing, linear probing, no
//! tombstones) finds them. The library's map knows no way to an arbitrary entry that does not walk over the empty
//! buckets, and doubles all at once, which a bound in bytes takes badly.

use std::hash::{BuildHasher, RandomState};

/// Device and inode.
pub(super) type Key = (u64, u64);

/// What has a key.
pub(super) trait Keyed {
    /// The key.
    fn key(&self) -> Key;
}

/// See the module.
#[derive(Debug)]
pub(super) struct Table<E> {
    /// Invariant: at most half as much again as is used, and [`SPARE`].
    entries: Vec<E>,
    /// Invariant: a power of two, at least twice the entries. 0, or one more than an entry's number; a run of others
    /// than 0 leads from the slot that an entry's key hashes to, to the entry's slot.
    slots: Vec<u32>,
    hasher: RandomState,
}

/// Room that is not worth giving back.
const SPARE: usize = 16;

impl<E: Keyed> Table<E> {
    /// Holds nothing, and takes no heap.
    pub(super) fn new() -> Table<E> {
        Table { entries: Vec::new(), slots: vec![0], hasher: RandomState::new() }
    }

    /// The most bytes that one entry accounts for.
    pub(super) const fn entry_bytes() -> usize {
        size_of::<E>() / 2 * 3 + 4 * size_of::<u32>()
    }

    /// How many entries there are.
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// An entry.
    pub(super) fn entry(&mut self, nth: usize) -> &mut E {
        &mut self.entries[nth]
    }

    /// The number of the entry with this key.
    pub(super) fn find(&self, key: Key) -> Option<usize> {
        let mut slot = self.home(key);
        loop {
            let nth = (self.slots[slot] as usize).checked_sub(1)?;
            if self.entries[nth].key() == key {
                return Some(nth);
            }
            slot = self.behind(slot);
        }
    }

    /// Adds an entry whose key is not there.
    pub(super) fn push(&mut self, entry: E) {
        debug_assert!(self.find(entry.key()).is_none());
        if self.entries.len() == self.entries.capacity() {
            self.entries.reserve_exact(self.entries.len() / 4 + SPARE / 2);
        }
        self.entries.push(entry);
        match 2 * self.entries.len() <= self.slots.len() {
            true => self.settle(self.entries.len() - 1),
            false => self.find_anew(),
        }
    }

    /// Takes an entry out; the last one gets its number.
    pub(super) fn remove(&mut self, nth: usize) -> E {
        let slot = self.slot_of(nth);
        self.close_up(slot);
        let last = self.entries.len() - 1;
        if nth < last {
            let slot = self.slot_of(last);
            self.slots[slot] = nth as u32 + 1;
        }
        let removed = self.entries.swap_remove(nth);
        if self.entries.capacity() > self.entries.len() / 2 * 3 + SPARE {
            self.entries.shrink_to(self.entries.len() / 4 * 5);
            if self.slots.len() > 4 * self.entries.len().max(1) {
                self.find_anew();
            }
        }
        removed
    }

    /// Moves all of it into memory of this thread.
    pub(super) fn gather(&mut self) {
        let mut entries = Vec::with_capacity(self.entries.capacity());
        entries.append(&mut self.entries);
        self.entries = entries;
        self.slots = self.slots.clone();
    }

    /// Empties a slot, and moves what comes behind it up where its run would break otherwise.
    fn close_up(&mut self, mut hole: usize) {
        let mask = self.slots.len() - 1;
        let mut slot = hole;
        loop {
            slot = self.behind(slot);
            let Some(nth) = (self.slots[slot] as usize).checked_sub(1) else { break };
            let home = self.home(self.entries[nth].key());
            if slot.wrapping_sub(home) & mask >= slot.wrapping_sub(hole) & mask {
                self.slots[hole] = self.slots[slot];
                hole = slot;
            }
        }
        self.slots[hole] = 0;
    }

    /// Puts all entries into as many slots as they need.
    fn find_anew(&mut self) {
        self.slots = vec![0; (2 * self.entries.len()).next_power_of_two()];
        (0..self.entries.len()).for_each(|nth| self.settle(nth));
    }

    /// Gives an entry that has none a slot.
    fn settle(&mut self, nth: usize) {
        let mut slot = self.home(self.entries[nth].key());
        while self.slots[slot] > 0 {
            slot = self.behind(slot);
        }
        self.slots[slot] = nth as u32 + 1;
    }

    fn slot_of(&self, nth: usize) -> usize {
        let mut slot = self.home(self.entries[nth].key());
        while self.slots[slot] as usize != nth + 1 {
            slot = self.behind(slot);
        }
        slot
    }

    fn home(&self, key: Key) -> usize {
        self.hasher.hash_one(key) as usize & (self.slots.len() - 1)
    }

    fn behind(&self, slot: usize) -> usize {
        (slot + 1) & (self.slots.len() - 1)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;

    impl Keyed for (Key, u32) {
        fn key(&self) -> Key {
            self.0
        }
    }

    fn assert_holds(table: &mut Table<(Key, u32)>, model: &HashMap<Key, u32>) {
        assert_eq!(table.len(), model.len());
        for (key, value) in model {
            let nth = table.find(*key).expect("an entry");
            assert_eq!(*table.entry(nth), (*key, *value));
        }
        assert_eq!(table.slots.iter().filter(|slot| **slot > 0).count(), table.len());
        let bytes = table.entries.capacity() * size_of::<(Key, u32)>();
        assert!(bytes <= (table.len() / 2 * 3 + SPARE) * size_of::<(Key, u32)>());
    }

    proptest! {
        #[test]
        fn it_holds_what_a_map_holds(steps in prop::collection::vec((0..3u8, 0..40u64), 0..300)) {
            let (mut table, mut model) = (Table::<(Key, u32)>::new(), HashMap::new());
            for (value, (what, ino)) in (0..).zip(steps) {
                let key = (1, ino);
                prop_assert_eq!(table.find(key).is_some(), model.contains_key(&key));
                match (table.find(key), what) {
                    (Some(nth), 0) => {
                        prop_assert_eq!(Some(table.remove(nth).1), model.remove(&key));
                    }
                    (Some(nth), _) => {
                        table.entry(nth).1 = value;
                        model.insert(key, value);
                    }
                    (None, _) => {
                        table.push((key, value));
                        model.insert(key, value);
                    }
                }
                assert_holds(&mut table, &model);
            }
            table.gather();
            assert_holds(&mut table, &model);
        }
    }
}
