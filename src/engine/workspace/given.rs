//! Which of the folders on the command line are served. Opens none of them.

use std::io;
use std::path::{Path, PathBuf};

use folder::fs::liveness;

/// The numbers of those folders that a start with all of them serves, as far as they are there already.
pub fn outermost(paths: &[PathBuf]) -> impl Iterator<Item = usize> {
    let usual = |path: &PathBuf| path.canonicalize().or_else(|_| std::path::absolute(path));
    let paths: Vec<PathBuf> = paths.iter().map(|path| usual(path).unwrap_or_else(|_| path.clone())).collect();
    distinct(&paths).collect::<Vec<_>>().into_iter()
}

/// The numbers of those paths that are neither within another one nor equal to an earlier one.
pub(super) fn distinct(paths: &[PathBuf]) -> impl Iterator<Item = usize> {
    let is_within = |number: usize, (other_number, other): (usize, &PathBuf)| {
        paths[number].starts_with(other) && (paths[number] != *other || other_number < number)
    };
    (0..paths.len()).filter(move |number| !paths.iter().enumerate().any(|other| is_within(*number, other)))
}

/// Those of the given folders that are there, and those that are not. If none is there, all are to be opened: the error names the first.
/// One whose file system does not answer counts as there.
pub fn without_missing(paths: &[PathBuf]) -> (Vec<PathBuf>, Vec<PathBuf>) {
    parted(paths, liveness::answers)
}

/// The same for folders of which `answers` says whether their file system answers.
pub(super) fn parted(paths: &[PathBuf], answers: impl Fn(&Path) -> bool) -> (Vec<PathBuf>, Vec<PathBuf>) {
    if paths.len() == 1 {
        return (paths.to_vec(), Vec::new());
    }
    let is_there = |path: &&PathBuf| {
        if !answers(path) {
            return true;
        }
        let missing = [io::ErrorKind::NotFound, io::ErrorKind::NotADirectory];
        match path.metadata() {
            Ok(metadata) => metadata.is_dir(),
            Err(error) => !missing.contains(&error.kind()),
        }
    };
    let (there, missing): (Vec<&PathBuf>, Vec<&PathBuf>) = paths.iter().partition(is_there);
    match there.is_empty() {
        true => (paths.to_vec(), Vec::new()),
        false => (there.into_iter().cloned().collect(), missing.into_iter().cloned().collect()),
    }
}
