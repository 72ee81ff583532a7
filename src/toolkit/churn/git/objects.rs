//! Reads objects by their names, for one thread: inflates them and applies deltas.
//!
//! Every size is checked before memory is taken, and every chain of deltas has an end, so that a made-up repository costs
//! an error that names the object.

use std::sync::Arc;

use super::cache::{Cache, Object, Place};
use super::commit::Commit;
use super::delta;
use super::id::ObjectId;
use super::inflate::Inflater;
use super::pack::{Form, Head, Kind, head};
use super::store::{SharedStore, Store};
use super::windows::Windows;
use crate::churn::fault::{Fault, Result};
use folder::Control;

/// The largest object that is read, in bytes.
pub const MAX_OBJECT: usize = 16 << 20;

/// The longest chain of deltas. Git makes chains of at most 4,095.
const MAX_CHAIN: usize = 5_000;

/// The longest head of an object outside a pack: a word, a number and a NUL.
const LOOSE_HEAD: usize = 32;

/// The longest head of an entry of a pack: its size, and the name of its base.
const LONGEST_HEAD: usize = 64;

/// Enough of a delta's stream for the sizes at its beginning.
const DELTA_START: usize = 4 << 10;

/// See the module.
pub struct Objects<'c> {
    store: SharedStore,
    inflater: Inflater,
    cache: Cache,
    windows: Windows,
    control: &'c Control,
}

/// Where an object is.
enum Found {
    Packed(usize, u64),
    Loose(folder::fs::view::FileView),
}

impl<'c> Objects<'c> {
    /// Reads from `store`.
    pub fn new(store: SharedStore, control: &'c Control) -> Objects<'c> {
        Objects {
            store,
            inflater: Inflater::default(),
            cache: Cache::default(),
            windows: Windows::default(),
            control,
        }
    }

    /// The objects.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// The objects, for use beside a mutable borrow.
    pub fn shared_store(&self) -> SharedStore {
        self.store.clone()
    }

    /// The control of the operation.
    pub fn control(&self) -> &'c Control {
        self.control
    }

    /// The object `id`, which must be of this kind.
    pub fn read(&mut self, id: &ObjectId, kind: Kind) -> Result<Arc<[u8]>> {
        let (found, bytes) = match self.find(id)? {
            Found::Packed(pack, offset) => self.packed(id, pack, offset)?,
            Found::Loose(view) => self.loose(id, view.bytes())?,
        };
        if found == kind {
            Ok(bytes)
        } else {
            Err(Fault::damaged(id, "it is of another kind than it must be"))
        }
    }

    /// The tree of the commit `id`.
    pub fn tree_of(&mut self, id: &ObjectId) -> Result<ObjectId> {
        let bytes = self.read(id, Kind::Commit)?;
        let tree = Commit::read(&bytes, self.store.kind).map(|commit| commit.tree);
        tree.ok_or_else(|| Fault::damaged(id, "it is no commit that can be read"))
    }

    /// The size of the object `id`, in bytes. Costs little.
    pub fn size(&mut self, id: &ObjectId) -> Result<u64> {
        match self.find(id)? {
            Found::Packed(pack, offset) => self.packed_size(id, (pack, offset)),
            Found::Loose(view) => self.loose_head(id, view.bytes()).map(|(_, size, _)| size),
        }
    }

    fn find(&mut self, id: &ObjectId) -> Result<Found> {
        if let Some((pack, offset)) = self.store.find(id)? {
            return Ok(Found::Packed(pack, offset));
        }
        let loose = self.store.loose(id, self.control)?;
        loose.map(Found::Loose).ok_or_else(|| self.store.missing(id))
    }

    /// Kind and size of an object outside packs, and the length of its head.
    fn loose_head(&mut self, id: &ObjectId, file: &[u8]) -> Result<(Kind, u64, usize)> {
        let mut start = [0; LOOSE_HEAD];
        let len = self.inflater.beginning(file, &mut start).map_err(|why| Fault::damaged(id, why))?;
        let parse = || {
            let end = start[..len].iter().position(|&byte| byte == 0)?;
            let space = start[..end].iter().position(|&byte| byte == b' ')?;
            let size = std::str::from_utf8(&start[space + 1..end]).ok()?.parse().ok()?;
            Some((Kind::by_word(&start[..space])?, size, end + 1))
        };
        parse().ok_or_else(|| Fault::damaged(id, "its head is damaged"))
    }

    fn loose(&mut self, id: &ObjectId, file: &[u8]) -> Result<Object> {
        let (kind, size, head) = self.loose_head(id, file)?;
        let size = checked_size(id, size)?;
        let bytes = self.inflater.whole(file, head + size).map_err(|why| Fault::damaged(id, why))?;
        Ok((kind, Arc::from(&bytes[head..])))
    }

    fn head(&mut self, id: &ObjectId, pack: usize, offset: u64) -> Result<Head> {
        let (view, at) = self.windows.at(&self.store, (pack, offset), LONGEST_HEAD, self.control)?;
        let bytes = view.bytes().get(at..).unwrap_or_default();
        head(bytes, offset, self.store.kind)
            .ok_or_else(|| Fault::damaged(id, "its head in the pack is damaged"))
    }

    fn packed_size(&mut self, id: &ObjectId, (pack, offset): Place) -> Result<u64> {
        if let Some((_, bytes)) = self.cache.get((pack, offset)) {
            return Ok(bytes.len() as u64);
        }
        let head = self.head(id, pack, offset)?;
        if matches!(head.form, Form::Whole(_)) {
            return Ok(head.size);
        }
        let (view, at) = self.windows.at(&self.store, (pack, head.data), DELTA_START, self.control)?;
        let bytes = view.bytes().get(at..).unwrap_or_default();
        let mut start = [0; 20];
        let len = self.inflater.beginning(bytes, &mut start).map_err(|why| Fault::damaged(id, why))?;
        let sizes = delta::sizes(&start[..len]);
        sizes.map(|(_, size, _)| size).ok_or_else(|| Fault::damaged(id, "its delta is cut short"))
    }

    fn packed(&mut self, id: &ObjectId, pack: usize, offset: u64) -> Result<Object> {
        let mut chain = Vec::new();
        let mut at = offset;
        let mut object = loop {
            if let Some(object) = self.cache.get((pack, at)) {
                break object.clone();
            }
            let head = self.head(id, pack, at)?;
            let base = match head.form {
                Form::Whole(kind) => {
                    let object = (kind, Arc::from(self.inflated(id, pack, &head)?));
                    self.cache.put((pack, at), &object);
                    break object;
                }
                Form::DeltaAt(base) => base,
                Form::DeltaOf(base) => {
                    let found = self.store.find_in(pack, &base)?;
                    found.ok_or_else(|| Fault::damaged(id, "the base of its delta is not in its pack"))?
                }
            };
            chain.push((at, head));
            if chain.len() > MAX_CHAIN {
                return Err(Fault::damaged(id, "its chain of deltas is too long, or a circle"));
            }
            at = base;
        };
        while let Some((at, head)) = chain.pop() {
            self.control.check()?;
            let delta = self.inflated(id, pack, &head)?;
            if delta::sizes(&delta).is_some_and(|(_, size, _)| size > MAX_OBJECT as u64) {
                return Err(Fault::TooLarge { what: id.to_string() });
            }
            let bytes = delta::apply(&object.1, &delta, MAX_OBJECT).map_err(|why| Fault::damaged(id, why))?;
            object = (object.0, Arc::from(bytes));
            self.cache.put((pack, at), &object);
        }
        Ok(object)
    }

    fn inflated(&mut self, id: &ObjectId, pack: usize, head: &Head) -> Result<Vec<u8>> {
        let size = checked_size(id, head.size)?;
        // What does not get smaller grows by some bytes for each 16 KiB.
        let most = size + size / 1_000 + 64;
        let (view, at) = self.windows.at(&self.store, (pack, head.data), most, self.control)?;
        let bytes = view.bytes().get(at..).unwrap_or_default();
        self.inflater.whole(bytes, size).map_err(|why| Fault::damaged(id, why))
    }
}

fn checked_size(id: &ObjectId, size: u64) -> Result<usize> {
    let is_small = size <= MAX_OBJECT as u64;
    if is_small { Ok(size as usize) } else { Err(Fault::TooLarge { what: id.to_string() }) }
}
