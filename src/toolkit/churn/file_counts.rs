//! The changes of one commit with their numbers of lines: what `git log --numstat -M` shows of it.

use std::sync::Arc;

use super::change::{Change, Version};
use super::diff::{self, LineCounts};
use super::fault::{Fault, Result};
use super::git::id::ObjectId;
use super::git::objects::{MAX_OBJECT, Objects};
use super::git::pack::Kind;
use super::renames::join_renames;
use super::tree_changes::{TreeChanges, tree_changes};

/// A changed file and its lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileCounts {
    /// Its path after the commit; of a removed file, before it.
    pub path: Box<[u8]>,
    /// Its path before, if the commit renamed it.
    pub renamed_from: Option<Box<[u8]>>,
    /// Whether the commit made it; a renamed file was there before.
    pub is_new: bool,
    /// Its lines.
    pub lines: Lines,
}

/// The lines of a changed file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lines {
    /// So many.
    Counted(LineCounts),
    /// It is binary, so it has none.
    Binary,
    /// It is too large to be compared.
    TooLarge,
}

/// What one commit changed.
#[derive(Debug)]
pub enum CommitCounts {
    /// Its files.
    Files(Vec<FileCounts>),
    /// More files than are analysed.
    TooMany,
}

/// The changes from the tree `old`, if there is one, to `new`.
pub fn commit_counts(objects: &mut Objects, old: Option<&ObjectId>, new: &ObjectId) -> Result<CommitCounts> {
    let TreeChanges::All(changes) = tree_changes(objects, old, new)? else {
        return Ok(CommitCounts::TooMany);
    };
    let changes = join_renames(objects, changes)?;
    let mut files = Vec::with_capacity(changes.len());
    for change in changes {
        let lines = lines(objects, &change)?;
        let Change { path, renamed_from, old, .. } = change;
        files.push(FileCounts { path, renamed_from, is_new: old.is_none(), lines });
    }
    Ok(CommitCounts::Files(files))
}

fn lines(objects: &mut Objects, change: &Change) -> Result<Lines> {
    let (old, new) = (change.old.as_ref(), change.new.as_ref());
    if old.map(|version| &version.id) == new.map(|version| &version.id) {
        return Ok(if is_binary(objects, new)? {
            Lines::Binary
        } else {
            Lines::Counted(LineCounts::default())
        });
    }
    let (old_size, new_size) = (size(objects, old)?, size(objects, new)?);
    let most = old_size.max(new_size);
    if most > MAX_OBJECT as u64 {
        return Ok(Lines::TooLarge);
    }
    let store = objects.shared_store();
    let _alone = store.alone_if_large(most);
    let (Some(old), Some(new)) = (content(objects, old)?, content(objects, new)?) else {
        return Ok(Lines::TooLarge);
    };
    if diff::is_binary(&old) || diff::is_binary(&new) {
        return Ok(Lines::Binary);
    }
    let counts = diff::count(&old, &new, objects.control())?;
    Ok(counts.map_or(Lines::TooLarge, Lines::Counted))
}

/// Whether a file that a commit renamed, or whose mode it changed, is binary.
fn is_binary(objects: &mut Objects, version: Option<&Version>) -> Result<bool> {
    let content = content(objects, version)?;
    Ok(content.is_some_and(|content| diff::is_binary(&content)))
}

/// The size of a version in bytes; 0 without one.
fn size(objects: &mut Objects, version: Option<&Version>) -> Result<u64> {
    match version {
        Some(version) if !version.mode.is_submodule() => objects.size(&version.id),
        _ => Ok(0),
    }
}

/// The content of a version; without one, nothing. `None` if it is too large.
fn content(objects: &mut Objects, version: Option<&Version>) -> Result<Option<Arc<[u8]>>> {
    let Some(version) = version else { return Ok(Some(Arc::from([]))) };
    if version.mode.is_submodule() {
        // As git shows the commit of a submodule.
        let text = format!("Subproject commit {}\n", version.id);
        return Ok(Some(Arc::from(text.into_bytes())));
    }
    match objects.read(&version.id, Kind::Blob) {
        Ok(content) => Ok(Some(content)),
        Err(Fault::TooLarge { .. }) => Ok(None),
        Err(fault) => Err(fault),
    }
}
