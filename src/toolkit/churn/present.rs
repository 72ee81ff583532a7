//! Which paths a tree has.

use std::cmp::Ordering;

use super::fault::Result;
use super::git::id::ObjectId;
use super::git::objects::Objects;
use super::git::pack::Kind;
use super::git::tree::{Entry, entries};
use text::order;

/// A path that is looked for, and its place in the answer.
type Wanted<'p> = (&'p [u8], usize);

/// Whether the tree has a file at each of these paths.
pub fn present(objects: &mut Objects, tree: &ObjectId, paths: &[&[u8]]) -> Result<Vec<bool>> {
    let mut wanted: Vec<Wanted> = paths.iter().copied().zip(0..).collect();
    order::sort_by(&mut wanted, Ord::cmp);
    let mut found = vec![false; paths.len()];
    // The trees to look into, with the rest of the paths that lead into each.
    let mut trees = vec![(*tree, wanted)];
    while let Some((tree, wanted)) = trees.pop() {
        objects.control().check()?;
        let bytes = objects.read(&tree, Kind::Tree)?;
        let mut last: Option<Entry> = None;
        for entry in entries(&bytes, objects.store().kind).map_while(std::result::Result::ok) {
            // In a made-up tree, a name may stand a million times.
            if last.is_some_and(|last| last.order(&entry) != Ordering::Less) {
                break;
            }
            last = Some(entry);
            let begin = wanted.partition_point(|(path, _)| *path < entry.name);
            let below =
                wanted[begin..].iter().map_while(|(path, at)| Some((path.strip_prefix(entry.name)?, *at)));
            if !entry.mode.is_folder() {
                below.take_while(|(rest, _)| rest.is_empty()).for_each(|(_, at)| found[at] = true);
                continue;
            }
            let below: Vec<Wanted> =
                below.filter_map(|(rest, at)| Some((rest.strip_prefix(b"/")?, at))).collect();
            if !below.is_empty() {
                trees.push((entry.id, below));
            }
        }
    }
    Ok(found)
}
