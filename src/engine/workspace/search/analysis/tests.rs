//! What is kept of files, and how an analysis ends early.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};

use super::*;
use crate::WorkspaceOptions;

#[derive(Debug)]
struct Length(usize);

impl Analysis for Length {
    fn heap_bytes(&self) -> usize {
        0
    }

    fn copied(&self) -> Arc<dyn Analysis> {
        Arc::new(Length(self.0))
    }

    fn is_certain(&self) -> bool {
        self.0 != UNCERTAIN
    }
}

/// The length of a text of which another analysis may say something else.
const UNCERTAIN: usize = 4_321;

/// Counts the texts that it is given.
struct Counting<'c>(&'c AtomicUsize);

impl FileAnalyser for Counting<'_> {
    fn makes(&self, _: &Path, known: &dyn Analysis) -> bool {
        (known as &dyn Any).is::<Length>()
    }

    fn analyse(&mut self, _: &Path, text: &[u8], _: &Control) -> Result<Arc<dyn Analysis>> {
        self.0.fetch_add(1, Ordering::Relaxed);
        Ok(Arc::new(Length(text.len())))
    }
}

/// The lengths of the files of a workspace, in order, and how many of them were read.
fn lengths(workspace: &Workspace) -> (Vec<usize>, usize) {
    let (count, control) = (AtomicUsize::new(0), Control::new(Duration::from_secs(60)));
    let options = AnalysisOptions {
        kind: AnalysisKind::Figures,
        path: None,
        wants: &|_, _, _| true,
        skip_ignored: true,
        skip_hidden: true,
        max_bytes: 1 << 20,
    };
    let new_analyser = || Box::new(Counting(&count)) as Box<dyn FileAnalyser>;
    let files = workspace.analyse_files(options, &new_analyser, &control).unwrap().files;
    let length = |file: &AnalysedFile| match &file.outcome {
        FileOutcome::Analysed(made) => {
            (made.as_ref() as &dyn Any).downcast_ref::<Length>().map(|length| length.0)
        }
        _ => None,
    };
    (files.iter().filter_map(length).collect(), count.load(Ordering::Relaxed))
}

#[test]
fn a_file_is_analysed_again_only_after_it_has_changed() {
    let dir = tempfile::tempdir().unwrap();
    for (name, len) in [("a", 1), ("b", 200_000), ("c", 3)] {
        std::fs::write(dir.path().join(name), "x".repeat(len)).unwrap();
    }
    let workspace = Workspace::open(&[dir.path().into()], WorkspaceOptions::default()).unwrap();
    let settle = |name: &str| {
        let stamp = || FileStamp::of(&sys::fs::stat(dir.path().join(name)).unwrap());
        while stamp().is_racy(SystemTime::now()) {}
    };
    settle("c");
    assert_eq!(lengths(&workspace), (vec![1, 200_000, 3], 3));
    let is_kept = lengths(&workspace) == (vec![1, 200_000, 3], 0);
    std::fs::write(dir.path().join("b"), "yy").unwrap();
    settle("b");
    let after = lengths(&workspace);
    assert_eq!(after.0, [1, 2, 3]);
    // On a file system that does not show writers, nothing is kept.
    assert!(!is_kept || after.1 == 1, "{after:?}");
    workspace.compact();
    assert!(!is_kept || lengths(&workspace) == (vec![1, 2, 3], 0), "moved");

    std::fs::write(dir.path().join("c"), "z".repeat(UNCERTAIN)).unwrap();
    settle("c");
    for _ in 0..2 {
        let (found, read) = lengths(&workspace);
        assert_eq!(found, [1, 2, UNCERTAIN]);
        assert!(!is_kept || read == 1, "an analysis that is not certain is not kept");
    }
}

#[test]
fn what_is_cancelled_ends_with_an_error() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("a"), "x").unwrap();
    let workspace = Workspace::open(&[dir.path().into()], WorkspaceOptions::default()).unwrap();
    let count = AtomicUsize::new(0);
    let control = Control::new(Duration::from_secs(60));
    control.cancel();
    let options = AnalysisOptions {
        kind: AnalysisKind::Figures,
        path: None,
        wants: &|_, _, _| true,
        skip_ignored: true,
        skip_hidden: true,
        max_bytes: 1 << 20,
    };
    let new_analyser = || Box::new(Counting(&count)) as Box<dyn FileAnalyser>;
    let ended = workspace.analyse_files(options, &new_analyser, &control);
    assert!(matches!(ended, Err(Error::Cancelled)) && count.load(Ordering::Relaxed) == 0);
}
