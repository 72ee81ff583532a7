//! Objects of packs that were read lately: bases of deltas, and trees. Bounded in bytes; the oldest leave first.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use super::pack::Kind;

/// Memory of one cache, in bytes.
const MAX_BYTES: usize = 16 << 20;

/// Larger objects are not kept, so that one of them does not displace all others.
const MAX_OBJECT: usize = 2 << 20;

/// An object and what it is.
pub type Object = (Kind, Arc<[u8]>);

/// The number of a pack, and where in it the object begins.
pub type Place = (usize, u64);

/// See the module.
#[derive(Debug, Default)]
pub struct Cache {
    objects: HashMap<Place, Object>,
    order: VecDeque<Place>,
    bytes: usize,
}

impl Cache {
    /// The object at `place`, if it is kept.
    pub fn get(&self, place: Place) -> Option<&Object> {
        self.objects.get(&place)
    }

    /// Keeps an object.
    pub fn put(&mut self, place: Place, object: &Object) {
        let size = object.1.len();
        if size > MAX_OBJECT || self.objects.contains_key(&place) {
            return;
        }
        self.bytes += size;
        while self.bytes > MAX_BYTES
            && let Some(oldest) = self.order.pop_front()
        {
            self.bytes -= self.objects.remove(&oldest).map_or(0, |(_, bytes)| bytes.len());
        }
        self.objects.insert(place, object.clone());
        self.order.push_back(place);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_objects_leave_when_the_memory_is_used_up() {
        let mut cache = Cache::default();
        let object = |size: usize| (Kind::Blob, Arc::from(vec![0; size]));
        let held = |cache: &Cache| cache.objects.values().map(|(_, bytes)| bytes.len()).sum::<usize>();
        for at in 0..100 {
            cache.put((0, at), &object(1 << 20));
            cache.put((0, at), &object(1 << 20));
            assert!(cache.get((0, at)).is_some() && held(&cache) == cache.bytes && cache.bytes <= MAX_BYTES);
        }
        assert!(cache.get((0, 0)).is_none() && cache.get((0, 90)).is_some() && cache.get((1, 99)).is_none());
        cache.put((2, 0), &object(MAX_OBJECT + 1));
        assert!(cache.get((2, 0)).is_none());
    }
}
