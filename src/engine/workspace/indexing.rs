//! Indexes the text of a file: on as many threads as pay, and only as long as the operation is wanted.

use std::sync::Arc;

use super::Workspace;
use super::excerpt::{not_text, unchanged};
use super::read::{Cacheable, Effort};
use crate::cache::CachedText;
use folder::Result;
use folder::fs::view::FileView;
use sys::process::processors;
use text::budget::Budget;
use text::lines::LineIndex;

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
        if !switches::is_off("read-indexed-true") && !unchanged(view, name)? {
            return Ok(None);
        }
        if keep == Cacheable::Yes {
            let known = built.clone().map_or_else(CachedText::NotText, CachedText::Text);
            self.cache.put(view.file().stamp(), known);
        }
        built.map(Some).map_err(|why| not_text(why, name))
    }

    /// The threads that help to index long texts, for all requests together: as many as there are other processors.
    pub(super) fn helpers(&self) -> &Budget {
        self.helpers.get_or_init(|| Budget::new(processors() - 1))
    }
}

impl Effort<'_> {
    /// Records that `done` of `total` bytes are read. Returns whether the result is still wanted.
    fn goes_on(self, done: usize, total: usize) -> bool {
        if let Effort::Full(control) = self {
            control.file_progress(done, total);
        }
        switches::is_off("index-called-off") || self.check().is_ok()
    }

    fn check(self) -> Result<()> {
        match self {
            Effort::AtOnce(_) => Ok(()),
            Effort::Count(_, control) | Effort::Full(control) => control.check(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::WorkspaceOptions;
    use folder::fs::view::OpenFile;
    use folder::{Control, Error, Progress};

    fn control() -> Control {
        Control::new(Duration::from_secs(60))
    }

    /// A workspace with a file of more than one part, and the open file.
    fn large(dir: &std::path::Path) -> (Workspace, Arc<OpenFile>) {
        std::fs::write(dir.join("a"), "line\n".repeat(LineIndex::WORTH_THREADS / 4)).unwrap();
        let options = WorkspaceOptions { max_bytes: 100 << 20, ..WorkspaceOptions::default() };
        let workspace = Workspace::open(&[dir.into()], options).unwrap();
        let found = workspace.find(&workspace.parse_path("a").unwrap(), &control()).unwrap();
        let file = workspace.open_place(&found.place, "a", &control()).unwrap().unwrap();
        (workspace, file)
    }

    #[test]
    fn a_cancelled_operation_gets_no_index_and_keeps_none() {
        let dir = tempfile::tempdir().unwrap();
        let (workspace, file) = large(dir.path());
        let view = file.clone().view(0..file.len_bytes()).unwrap();
        let cancelled = control();
        assert!(cancelled.cancel());
        let index = workspace.index(&view, "a", Cacheable::Yes, Effort::Full(&cancelled));
        assert!(matches!(index, Err(Error::Cancelled)));
        assert!(workspace.cache.get(file.stamp()).is_none());
        let left = workspace.helpers().share().grow(processors() - 1);
        assert!(left, "its threads are free again");
    }

    #[test]
    fn an_operation_is_told_how_many_bytes_are_read_unless_it_counts_files() {
        let dir = tempfile::tempdir().unwrap();
        let (workspace, file) = large(dir.path());
        let view = file.clone().view(0..file.len_bytes()).unwrap();
        let len = file.len_bytes() as u64;
        let (one, several) = (control(), control());
        several.progress(1, Some(3));
        for (control, expected) in [(&one, (len, len)), (&several, (1, 3))] {
            let index = workspace.index(&view, "a", Cacheable::No, Effort::Full(control)).unwrap().unwrap();
            assert_eq!(index.len_lines(), file.len_bytes() / 5);
            let (done, total) = expected;
            let told = control.progressed();
            assert_eq!(told.total, Some(total));
            // The threads tell their steps in any order.
            assert!(told.done <= done && done - told.done < 1 << 20, "{told:?}");
            assert!(told != Progress::default());
        }
    }
}
