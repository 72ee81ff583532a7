//! Renames with a change: added files of which at least half is in a removed file.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use super::names::{last, same_last};
use super::pairs::{Candidate, Pairs};
use super::similarity::{MAX_SCORE, Pieces, similarity, sizes_allow};
use crate::churn::fault::{Fault, Result};
use crate::churn::git::id::ObjectId;
use crate::churn::git::objects::Objects;
use crate::churn::git::pack::Kind;
use text::order;

/// The least similarity of a rename: 50 %.
const LEAST: u64 = MAX_SCORE / 2;

/// The least similarity of a file that keeps its name in another folder, before all pairs are compared.
const LEAST_WITH_NAME: u64 = MAX_SCORE / 4 * 3;

/// All pairs are compared if there are at most as many as of so many removed and so many added files.
const MOST_FILES: usize = 1_000;

/// Removed files that are remembered for an added one.
const BEST: usize = 4;

/// Memory for pieces of files that are kept, in bytes.
const MAX_KEPT: usize = 32 << 20;

/// Finds them.
pub(super) fn find(objects: &mut Objects, pairs: &mut Pairs) -> Result<()> {
    let mut files = Files { objects, sizes: HashMap::new(), pieces: HashMap::new(), kept: 0 };
    if pairs.is_done() {
        return Ok(());
    }
    find_with_names(&mut files, pairs)?;
    find_all(&mut files, pairs)
}

/// The numbers of the files that are in no pair.
fn unpaired(list: &[Candidate]) -> Vec<usize> {
    (0..list.len()).filter(|&number| !list[number].is_paired).collect()
}

/// The number of the only file with each name; `None` where there are several.
fn only_ones<'n>(names: impl Iterator<Item = (usize, &'n [u8])>) -> HashMap<&'n [u8], Option<usize>> {
    let mut only = HashMap::new();
    for (number, name) in names {
        match only.entry(name) {
            Entry::Vacant(place) => drop(place.insert(Some(number))),
            Entry::Occupied(mut place) => drop(place.insert(None)),
        }
    }
    only
}

fn find_with_names(files: &mut Files, pairs: &mut Pairs) -> Result<()> {
    let (removed, added) = (unpaired(&pairs.removed), unpaired(&pairs.added));
    let old = only_ones(removed.iter().map(|&number| (number, last(pairs.removed[number].path))));
    let new = only_ones(added.iter().map(|&number| (number, last(pairs.added[number].path))));
    for &removed in &removed {
        let name = last(pairs.removed[removed].path);
        let (Some(Some(_)), Some(Some(added))) = (old.get(name), new.get(name)) else { continue };
        if files.score(pairs, removed, *added, LEAST_WITH_NAME)? >= LEAST_WITH_NAME {
            pairs.join(removed, *added);
        }
    }
    Ok(())
}

/// A removed file for an added one.
#[derive(Debug, Clone, Copy)]
struct Pair {
    score: u64,
    same_name: bool,
    removed: usize,
    added: usize,
}

impl Pair {
    /// Whether it is better than `other`.
    fn key(&self) -> (u64, bool) {
        (self.score, self.same_name)
    }
}

fn find_all(files: &mut Files, pairs: &mut Pairs) -> Result<()> {
    let (removed, added) = (unpaired(&pairs.removed), unpaired(&pairs.added));
    if removed.len() * added.len() > MOST_FILES * MOST_FILES {
        return Ok(());
    }
    let mut best: Vec<Pair> = Vec::new();
    for &added in &added {
        let mut of_file: Vec<Pair> = Vec::new();
        for &removed in &removed {
            let score = files.score(pairs, removed, added, LEAST)?;
            let same_name = same_last(pairs.removed[removed].path, pairs.added[added].path);
            keep_best(&mut of_file, Pair { score, same_name, removed, added });
        }
        best.append(&mut of_file);
    }
    // A stable sort: of equal pairs, the first in the order of the added files counts.
    order::sort_by_key(&mut best, |pair| std::cmp::Reverse(pair.key()));
    for Pair { removed, added, .. } in best.into_iter().take_while(|pair| pair.score >= LEAST) {
        if !pairs.removed[removed].is_paired && !pairs.added[added].is_paired {
            pairs.join(removed, added);
        }
    }
    Ok(())
}

/// Puts a pair in the place of the worst of the best, if it is better.
fn keep_best(best: &mut Vec<Pair>, pair: Pair) {
    if best.len() < BEST {
        best.push(pair);
        return;
    }
    // The first of the worst.
    let worst = best.iter_mut().reduce(|worst, other| if other.key() < worst.key() { other } else { worst });
    if let Some(worst) = worst.filter(|worst| worst.key() < pair.key()) {
        *worst = pair;
    }
}

/// What is known of the contents of files.
struct Files<'o, 'c> {
    objects: &'o mut Objects<'c>,
    sizes: HashMap<ObjectId, u64>,
    pieces: HashMap<ObjectId, Pieces>,
    /// Bytes of the pieces.
    kept: usize,
}

impl Files<'_, '_> {
    /// The similarity of two files; 0 if it is below `least` by their sizes alone, or if one is no regular file.
    fn score(&mut self, pairs: &Pairs, removed: usize, added: usize, least: u64) -> Result<u64> {
        self.objects.control().check()?;
        let (old, new) = (pairs.removed[removed].version, pairs.added[added].version);
        if !old.mode.is_regular() || !new.mode.is_regular() {
            return Ok(0);
        }
        let (old_size, new_size) = (self.size(&old.id)?, self.size(&new.id)?);
        if !sizes_allow(old_size, new_size, least) {
            return Ok(0);
        }
        let store = self.objects.shared_store();
        let _alone = store.alone_if_large(old_size.max(new_size));
        let Some(old) = self.take(&old.id)?.map(|pieces| (old.id, pieces)) else { return Ok(0) };
        // Equal files would have the same pieces, which are taken out of the table here.
        let score = match self.take(&new.id)? {
            Some(new_pieces) => {
                let score = similarity((&old.1, old_size), (&new_pieces, new_size));
                self.keep(new.id, new_pieces);
                score
            }
            None => 0,
        };
        self.keep(old.0, old.1);
        Ok(score)
    }

    fn size(&mut self, id: &ObjectId) -> Result<u64> {
        if let Some(&size) = self.sizes.get(id) {
            return Ok(size);
        }
        let size = self.objects.size(id)?;
        self.sizes.insert(*id, size);
        Ok(size)
    }

    /// The pieces of a file, without those that are kept. `None` if it is too large.
    fn take(&mut self, id: &ObjectId) -> Result<Option<Pieces>> {
        if let Some(pieces) = self.pieces.remove(id) {
            self.kept -= pieces.len_bytes();
            return Ok(Some(pieces));
        }
        match self.objects.read(id, Kind::Blob) {
            Ok(file) => Ok(Some(Pieces::of(&file))),
            Err(Fault::TooLarge { .. }) => Ok(None),
            Err(fault) => Err(fault),
        }
    }

    fn keep(&mut self, id: ObjectId, pieces: Pieces) {
        if self.kept + pieces.len_bytes() <= MAX_KEPT {
            self.kept += pieces.len_bytes();
            if let Some(before) = self.pieces.insert(id, pieces) {
                self.kept -= before.len_bytes();
            }
        }
    }
}
