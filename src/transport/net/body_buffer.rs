//! The bytes of one incoming request: on the heap while it is short, then in an anonymous map. A dropped map
//! returns its memory to the system, on any thread; an allocator may keep it. Knows no protocol.

use std::ops::Deref;

use memmap2::MmapMut;

/// Most bytes that are kept on the heap.
pub(in crate::transport) const SHORT: usize = 64 * 1024;

/// See the module.
#[derive(Debug)]
pub(in crate::transport) struct BodyBuffer {
    short: Vec<u8>,
    /// Address space for the largest request. The system gives memory only to pages that were written.
    long: Option<MmapMut>,
    /// Bytes of `long` that were written.
    len: usize,
    max: usize,
}

impl BodyBuffer {
    /// An empty buffer for at most `max` bytes.
    pub(in crate::transport) fn new(max: usize) -> BodyBuffer {
        BodyBuffer { short: Vec::new(), long: None, len: 0, max }
    }

    /// Appends bytes. The caller must not exceed the limit of [`BodyBuffer::new`].
    pub(in crate::transport) fn push(&mut self, bytes: &[u8]) {
        debug_assert!(self.len() + bytes.len() <= self.max, "a request over its limit");
        if self.long.is_none() && self.short.len() + bytes.len() > SHORT {
            // If the system has no address space for a map, the bytes stay on the heap.
            self.long = MmapMut::map_anon(self.max).ok().map(|mut map| {
                // With transparent huge pages, the first byte would take 2 MB.
                sys::memory::no_huge_pages(&map);
                let short = std::mem::take(&mut self.short);
                map[..short.len()].copy_from_slice(&short);
                self.len = short.len();
                map
            });
        }
        match &mut self.long {
            None => self.short.extend_from_slice(bytes),
            Some(map) => {
                map[self.len..self.len + bytes.len()].copy_from_slice(bytes);
                self.len += bytes.len();
            }
        }
    }

    /// Empties the buffer and frees the map.
    pub(in crate::transport) fn clear(&mut self) {
        self.short.clear();
        self.long = None;
        self.len = 0;
    }
}

impl Deref for BodyBuffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match &self.long {
            None => &self.short,
            Some(map) => &map[..self.len],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_what_was_added_to_it_whatever_its_length_and_its_pieces() {
        let text: Vec<u8> = (0..3 * SHORT).map(|at| at as u8).collect();
        for piece in [1000, SHORT - 1, SHORT, SHORT + 1, text.len()] {
            let mut message = BodyBuffer::new(text.len());
            for round in 0..2 {
                let mut added = 0;
                for bytes in text.chunks(piece) {
                    message.push(bytes);
                    added += bytes.len();
                    assert!(message[..] == text[..added], "{piece} at {added}, round {round}");
                    assert_eq!(message.long.is_some(), added > SHORT);
                }
                message.clear();
                assert!(message.is_empty() && message.long.is_none());
            }
        }
    }

    #[test]
    fn without_address_space_a_message_stays_on_the_heap() {
        let mut message = BodyBuffer::new(usize::MAX / 4);
        message.push(&[1; 2 * SHORT]);
        message.push(&[2]);
        assert!(message.long.is_none());
        assert_eq!((message.len(), message[2 * SHORT]), (2 * SHORT + 1, 2));
    }
}
