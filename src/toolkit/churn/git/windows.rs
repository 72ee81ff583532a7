//! Parts of packs that one thread has mapped. So a pack of gigabytes takes no more memory than a small one.

use std::collections::VecDeque;
use std::sync::Arc;

use super::cache::Place;
use super::store::Store;
use crate::churn::fault::Result;
use folder::fs::view::FileView;
use folder::{Control, Error};

/// Windows begin at multiples of this many bytes, and are twice as long: most objects are whole in one.
const STEP: usize = 2 << 20;

/// Windows that are kept.
const KEPT: usize = 4;

/// See the module.
#[derive(Debug, Default)]
pub struct Windows {
    /// The pack, the number of the window, and its bytes; the one used last is in front.
    kept: VecDeque<(usize, usize, Arc<FileView>)>,
}

impl Windows {
    /// A part of a pack with the `most` bytes from `place` on, as far as the pack has them, and where in it they begin.
    pub fn at(
        &mut self,
        store: &Store,
        (pack, offset): Place,
        most: usize,
        control: &Control,
    ) -> Result<(Arc<FileView>, usize)> {
        let file = store.pack(pack, control)?;
        let view = |start: usize, len: usize| {
            let end = start.saturating_add(len);
            file.clone().view(start..end).map_err(|source| Error::ReadFailed { source }).map(Arc::new)
        };
        let offset = usize::try_from(offset).unwrap_or(usize::MAX).min(file.len_bytes());
        if most > STEP {
            return Ok((view(offset, most)?, 0));
        }
        let number = offset / STEP;
        let at = self.kept.iter().position(|(of, kept, _)| (*of, *kept) == (pack, number));
        let window = match at.and_then(|at| self.kept.remove(at)) {
            Some(window) => window,
            None => (pack, number, view(number * STEP, 2 * STEP)?),
        };
        let bytes = window.2.clone();
        self.kept.push_front(window);
        self.kept.truncate(KEPT);
        Ok((bytes, offset - number * STEP))
    }
}
