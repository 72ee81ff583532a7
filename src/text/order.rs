//! Sorts lists that are short, or seldom sorted.
//!
//! The sorts of the standard library are compiled anew for each type and each comparison, about 6 KB each time. This one sorts numbers
//! of places, which is compiled once, and then moves the elements. Lists that are long and sorted by each call use those of the library.

use std::cmp::Ordering;

/// Sorts `list` by `compare`. Stable: equal elements stay in their order.
pub fn sort_by<T>(list: &mut [T], mut compare: impl FnMut(&T, &T) -> Ordering) {
    let mut from = order(list.len(), &mut |one, other| compare(&list[one], &list[other]));
    // Each circle of places is moved in one go; a place that is done has itself as its source.
    for start in 0..from.len() {
        let mut to = start;
        while from[to] != start {
            let source = std::mem::replace(&mut from[to], to);
            list.swap(to, source);
            to = source;
        }
        from[to] = to;
    }
}

/// Sorts `list` by a key of each element. Stable.
pub fn sort_by_key<T, K: Ord>(list: &mut [T], mut key: impl FnMut(&T) -> K) {
    sort_by(list, |one, other| key(one).cmp(&key(other)));
}

/// The numbers below `len` in the order of `compare`.
fn order(len: usize, compare: &mut dyn FnMut(usize, usize) -> Ordering) -> Vec<usize> {
    let mut order: Vec<usize> = (0..len).collect();
    order.sort_by(|one, other| compare(*one, *other));
    order
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_list_is_sorted_as_the_standard_library_sorts_it(list in proptest::collection::vec(0u8..20, 0..80)) {
            let mut sorted: Vec<(u8, usize)> = list.into_iter().zip(0..).collect();
            let mut expected = sorted.clone();
            super::sort_by_key(&mut sorted, |(value, _)| *value);
            expected.sort_by_key(|(value, _)| *value);
            prop_assert_eq!(sorted, expected);
        }
    }
}
