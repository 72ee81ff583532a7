//! Indexes the text of a file: on as many threads as pay, and only as long as the operation is wanted.

use std::sync::Arc;
use std::thread;

use super::Workspace;
use super::excerpt::not_text;
use super::read::{Cacheable, Effort};
use crate::engine::cache::CachedText;
use crate::engine::fs::view::FileView;
use crate::engine::text::lines::LineIndex;
use crate::engine::{Budget, Result};

/// Maximum number of threads that help to index one text. More would wait for the memory.
const MOST_HELPERS: usize = 7;

impl Workspace {
    /// Indexes a view of a whole file; caches the index if `keep` allows. `None` if the file has changed.
    pub(super) fn index(
        &self,
        view: &FileView,
        name: &str,
        keep: Cacheable,
        effort: Effort,
    ) -> Result<Option<Arc<LineIndex>>> {
        let bytes = view.bytes();
        let watch = |done: usize| effort.goes_on(done, bytes.len());
        let built = match bytes.len() < LineIndex::WORTH_THREADS {
            true => LineIndex::build_watched(bytes, 1, &watch),
            false => {
                let mut helpers = self.helpers().share();
                helpers.grow_as_far(MOST_HELPERS);
                LineIndex::build_watched(bytes, 1 + helpers.size(), &watch)
            }
        };
        let Some(built) = built else {
            effort.check()?;
            return Ok(None);
        };
        let built = built.map(Arc::new);
        if !view.unchanged() {
            return Ok(None);
        }
        if keep == Cacheable::Yes {
            let known = built.clone().map_or_else(CachedText::NotText, CachedText::Text);
            self.cache.put(view.file().stamp(), known);
        }
        built.map(Some).map_err(|why| not_text(why, name))
    }

    /// The threads that help to index long texts, for all requests together: as many as there are other processors.
    fn helpers(&self) -> &Budget {
        self.helpers.get_or_init(|| {
            Budget::new(thread::available_parallelism().map_or(0, |processors| processors.get() - 1))
        })
    }
}

impl Effort<'_> {
    /// Records that `done` of `total` bytes are read. Returns whether the result is still wanted.
    fn goes_on(self, done: usize, total: usize) -> bool {
        if let Effort::Full(control) = self {
            control.progress(done as u64, Some(total as u64));
        }
        self.check().is_ok()
    }

    fn check(self) -> Result<()> {
        match self {
            Effort::AtOnce(_) => Ok(()),
            Effort::Count(_, control) | Effort::Full(control) => control.check(),
        }
    }
}
