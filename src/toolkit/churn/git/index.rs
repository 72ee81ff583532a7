//! The index of a pack: where in the pack each object begins. Versions 1 and 2.

use super::id::{HashKind, ObjectId};

/// The first bytes of an index of version 2.
const MAGIC: [u8; 8] = [0xff, b't', b'O', b'c', 0, 0, 0, 2];

/// The numbers of objects up to each first byte of a name.
const FANOUT: usize = 256 * 4;

/// The shape of an index; its bytes are given to each call.
#[derive(Debug, Clone, Copy)]
pub struct PackIndex {
    kind: HashKind,
    /// Where the numbers of objects begin.
    fanout: usize,
    /// Objects in the pack.
    count: usize,
    is_first_version: bool,
}

impl PackIndex {
    /// Reads the shape of the index `bytes`. `None` if it is damaged.
    pub fn read(bytes: &[u8], kind: HashKind) -> Option<PackIndex> {
        let is_first_version = !bytes.starts_with(&MAGIC[..4]);
        if !is_first_version && !bytes.starts_with(&MAGIC) {
            return None;
        }
        let fanout = if is_first_version { 0 } else { MAGIC.len() };
        let count = number(bytes, fanout + FANOUT - 4)? as usize;
        let index = PackIndex { kind, fanout, count, is_first_version };
        let (row, trailer) = (kind.len_bytes() + if is_first_version { 4 } else { 8 }, 2 * kind.len_bytes());
        let least = count.checked_mul(row)?.checked_add(fanout + FANOUT + trailer)?;
        (bytes.len() >= least).then_some(index)
    }

    /// Objects in the pack.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Where the object `id` begins in the pack. `Ok(None)` if it is not in it; an error if the index is damaged.
    pub fn find(&self, bytes: &[u8], id: &ObjectId) -> Result<Option<u64>, &'static str> {
        const DAMAGED: &str = "it is damaged";
        let first = usize::from(id.bytes()[0]);
        let up_to = |first: usize| number(bytes, self.fanout + 4 * first).map(|number| number as usize);
        let mut low = if first == 0 { 0 } else { up_to(first - 1).ok_or(DAMAGED)? };
        let mut high = up_to(first).ok_or(DAMAGED)?;
        if low > high || high > self.count {
            return Err(DAMAGED);
        }
        while low < high {
            let middle = low + (high - low) / 2;
            match self.name(bytes, middle).ok_or(DAMAGED)?.cmp(id.bytes()) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
                std::cmp::Ordering::Equal => return self.offset(bytes, middle).ok_or(DAMAGED).map(Some),
            }
        }
        Ok(None)
    }

    fn name<'b>(&self, bytes: &'b [u8], at: usize) -> Option<&'b [u8]> {
        let len = self.kind.len_bytes();
        let start = self.fanout + FANOUT + if self.is_first_version { at * (len + 4) + 4 } else { at * len };
        bytes.get(start..start + len)
    }

    fn offset(&self, bytes: &[u8], at: usize) -> Option<u64> {
        let (len, table) = (self.kind.len_bytes(), self.fanout + FANOUT);
        if self.is_first_version {
            return number(bytes, table + at * (len + 4)).map(u64::from);
        }
        // Behind the names are checksums, then offsets, then offsets of 8 bytes.
        let offsets = table + self.count * (len + 4);
        let offset = number(bytes, offsets + at * 4)?;
        if offset & 1 << 31 == 0 {
            return Some(u64::from(offset));
        }
        let long = offsets + self.count * 4 + (offset & !(1 << 31)) as usize * 8;
        Some(u64::from(number(bytes, long)?) << 32 | u64::from(number(bytes, long + 4)?))
    }
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().map(|number| u32::from_be_bytes(*number))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(first: u8, last: u8) -> ObjectId {
        let mut bytes = [0; 20];
        (bytes[0], bytes[19]) = (first, last);
        ObjectId::read(&bytes, HashKind::Sha1).unwrap()
    }

    /// An index of these objects, sorted by name.
    fn index(objects: &[(ObjectId, u64)], is_first_version: bool) -> Vec<u8> {
        let mut bytes = if is_first_version { Vec::new() } else { MAGIC.to_vec() };
        for first in 0..=255 {
            let up_to = objects.iter().filter(|(id, _)| id.bytes()[0] <= first).count() as u32;
            bytes.extend(up_to.to_be_bytes());
        }
        let mut long = Vec::new();
        if is_first_version {
            objects
                .iter()
                .for_each(|(id, at)| bytes.extend([&(*at as u32).to_be_bytes(), id.bytes()].concat()));
        } else {
            objects.iter().for_each(|(id, _)| bytes.extend(id.bytes()));
            bytes.extend(vec![0; objects.len() * 4]);
            for &(_, at) in objects {
                let short = if at < 1 << 31 { at as u32 } else { (1 << 31) | (long.len() as u32 / 8) };
                if at >= 1 << 31 {
                    long.extend(at.to_be_bytes());
                }
                bytes.extend(short.to_be_bytes());
            }
        }
        bytes.extend(long);
        bytes.extend([0; 40]);
        bytes
    }

    #[test]
    fn each_object_is_found_in_both_versions_and_no_other() {
        let objects = [(id(0, 1), 12), (id(0, 2), 40), (id(7, 0), 1 << 20), (id(255, 9), 90)];
        for is_first in [true, false] {
            let bytes = index(&objects, is_first);
            let index = PackIndex::read(&bytes, HashKind::Sha1).unwrap();
            for (id, at) in objects {
                assert_eq!(index.find(&bytes, &id), Ok(Some(at)));
            }
            for other in [id(0, 0), id(0, 3), id(1, 1), id(255, 10)] {
                assert_eq!(index.find(&bytes, &other), Ok(None));
            }
        }
    }

    #[test]
    fn offsets_beyond_2_gib_stand_in_a_table_of_their_own() {
        let objects = [(id(1, 1), 5), (id(2, 1), 3 << 40), (id(3, 1), 1 << 31)];
        let bytes = index(&objects, false);
        let index = PackIndex::read(&bytes, HashKind::Sha1).unwrap();
        for (id, at) in objects {
            assert_eq!(index.find(&bytes, &id), Ok(Some(at)));
        }
    }

    #[test]
    fn an_index_that_lies_is_damaged_and_never_read_outside_its_bytes() {
        let objects = [(id(1, 1), 5), (id(2, 1), 3 << 40)];
        let whole = index(&objects, false);
        for cut in 0..whole.len() {
            if let Some(index) = PackIndex::read(&whole[..cut], HashKind::Sha1) {
                let _ = index.find(&whole[..cut], &objects[1].0);
            }
        }
        let mut more = whole.clone();
        more[8 + 1020..8 + 1024].copy_from_slice(&u32::MAX.to_be_bytes());
        assert!(PackIndex::read(&more, HashKind::Sha1).is_none());
        let mut falling = whole.clone();
        falling[8 + 4..8 + 8].copy_from_slice(&9u32.to_be_bytes());
        let index = PackIndex::read(&falling, HashKind::Sha1).unwrap();
        assert!(index.find(&falling, &objects[0].0).is_err() && index.find(&falling, &objects[1].0).is_err());
        assert!(PackIndex::read(b"\xfftOc\0\0\0\x03", HashKind::Sha1).is_none());
    }
}
