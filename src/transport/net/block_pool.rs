//! Reusable memory maps for the blocks of long answers.
//!
//! A frame is filled on one thread and freed on another. An allocator would keep memory for each thread that
//! ever filled one. Knows no answer.

use std::sync::{Mutex, PoisonError};

use bytes::Bytes;
use memmap2::MmapMut;

use crate::protocol::BLOCK;

/// Free frames that are kept; the memory of all others returns to the system.
const KEPT: usize = 8;

static SPARE: Mutex<Vec<MmapMut>> = Mutex::new(Vec::new());

/// See the module.
#[derive(Debug)]
pub(in crate::transport) struct Frame {
    /// `Some` until the drop.
    map: Option<MmapMut>,
    len: usize,
}

impl Frame {
    /// A frame to fill; `None` if the system has no memory for it.
    pub(in crate::transport) fn new() -> Option<Frame> {
        let spare = SPARE.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let map = spare.or_else(|| MmapMut::map_anon(BLOCK).ok())?;
        Some(Frame { map: Some(map), len: 0 })
    }

    /// The whole frame, to be filled from the front.
    pub(in crate::transport) fn room(&mut self) -> &mut [u8] {
        self.map.as_deref_mut().unwrap_or_default()
    }

    /// The first `len` bytes, which were filled. The frame is free again when the last reference is dropped.
    pub(in crate::transport) fn filled(mut self, len: usize) -> Bytes {
        self.len = len;
        Bytes::from_owner(self)
    }
}

/// Returns the memory of free frames to the system.
pub(in crate::transport) fn give_back() {
    SPARE.lock().unwrap_or_else(PoisonError::into_inner).clear();
}

impl AsRef<[u8]> for Frame {
    fn as_ref(&self) -> &[u8] {
        &self.map.as_deref().unwrap_or_default()[..self.len]
    }
}

impl Drop for Frame {
    fn drop(&mut self) {
        let mut spare = SPARE.lock().unwrap_or_else(PoisonError::into_inner);
        if spare.len() < KEPT {
            spare.extend(self.map.take());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_hold_what_was_put_in_and_are_used_again_but_few_are_kept() {
        let frames: Vec<_> = (0..3 * KEPT)
            .map(|nth| {
                let mut frame = Frame::new().unwrap();
                assert_eq!(frame.room().len(), BLOCK);
                frame.room()[..3].fill(nth as u8);
                frame.filled(3)
            })
            .collect();
        for (nth, frame) in frames.iter().enumerate() {
            assert_eq!(frame[..], [nth as u8; 3]);
        }
        drop(frames);
        assert!(SPARE.lock().unwrap().len() <= KEPT);
    }
}
