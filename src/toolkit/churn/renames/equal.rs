//! Renames without a change: added files whose content a removed file had.

use std::collections::{HashMap, VecDeque};

use super::names::same_last;
use super::pairs::Pairs;
use crate::churn::git::id::ObjectId;

/// So many removed files with the same content are looked at for one with the same name.
const MOST_LOOKED_AT: usize = 101;

/// Finds them. Of several removed files, the first with the same name in another folder counts, else the first.
pub(super) fn find(pairs: &mut Pairs) {
    let mut by_content: HashMap<ObjectId, VecDeque<usize>> = HashMap::new();
    for (number, file) in pairs.removed.iter().enumerate() {
        by_content.entry(file.version.id).or_default().push_back(number);
    }
    for added in 0..pairs.added.len() {
        let file = &pairs.added[added];
        let Some(numbers) = by_content.get_mut(&file.version.id) else { continue };
        let has_kind = |number: &usize| {
            let (old, new) = (pairs.removed[*number].version.mode, file.version.mode);
            old == new || old.is_regular() && new.is_regular()
        };
        let candidates = || numbers.iter().copied().filter(has_kind).take(MOST_LOOKED_AT);
        let same_name = candidates().find(|&number| same_last(pairs.removed[number].path, file.path));
        let Some(removed) = same_name.or_else(|| candidates().next()) else { continue };
        if let Some(at) = numbers.iter().position(|&number| number == removed) {
            numbers.remove(at);
        }
        pairs.join(removed, added);
    }
}
