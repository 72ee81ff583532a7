//! Finds which added files are removed ones under a new name, as `git diff -M` does.
//!
//! Three passes, each over what the one before has left: equal files, similar files with the same name in another folder,
//! and all pairs, from the most similar on.

mod equal;
mod names;
mod pairs;
mod similar;
mod similarity;

use std::collections::HashMap;

use super::change::Change;
use super::fault::Result;
use super::git::objects::Objects;
use pairs::Pairs;

/// Joins removed and added files that are renames. The order of the other changes stays.
pub fn join_renames(objects: &mut Objects, changes: Vec<Change>) -> Result<Vec<Change>> {
    let mut pairs = Pairs::new(&changes);
    if !pairs.is_done() {
        equal::find(&mut pairs);
        similar::find(objects, &mut pairs)?;
    }
    let found = pairs.into_found();
    if found.is_empty() { Ok(changes) } else { Ok(joined(changes, &found)) }
}

/// The changes with each pair as one. `found` has the place of a removed file for the place of an added one.
fn joined(mut changes: Vec<Change>, found: &HashMap<usize, usize>) -> Vec<Change> {
    let mut is_joined = vec![false; changes.len()];
    for (&added, &removed) in found {
        let old = changes[removed].old.take();
        let path = changes[removed].path.clone();
        changes[added].old = old;
        changes[added].renamed_from = Some(path);
        is_joined[removed] = true;
    }
    let kept = changes.into_iter().zip(is_joined).filter(|(_, is_joined)| !is_joined);
    kept.map(|(change, _)| change).collect()
}
