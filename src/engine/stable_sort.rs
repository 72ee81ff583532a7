//! A stable sort for lists of which no call sorts many. `slice::sort_by` makes 5 to 8 KB of code for each type and each order;
//! this has one sort of numbers for all of them, and moves each item once.

use std::cmp::Ordering;

/// Sorts `items` as `slice::sort_by` does.
pub fn stable_sort_by<T>(items: &mut Vec<T>, compare: impl Fn(&T, &T) -> Ordering) {
    let order = order(items.len(), &|one, other| compare(&items[one], &items[other]));
    let mut unsorted: Vec<Option<T>> = items.drain(..).map(Some).collect();
    items.extend(order.into_iter().filter_map(|at| unsorted[at].take()));
}

/// Sorts `items` as `slice::sort_by_key` does.
pub fn stable_sort_by_key<T, K: Ord>(items: &mut Vec<T>, key: impl Fn(&T) -> K) {
    stable_sort_by(items, |one, other| key(one).cmp(&key(other)));
}

/// The numbers below `count` in order.
fn order(count: usize, compare: &dyn Fn(usize, usize) -> Ordering) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by(|&one, &other| compare(one, other));
    order
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn sorts_as_the_standard_library(numbers: Vec<u8>) {
            // Equal keys with other values show whether the sort is stable.
            let mut sorted: Vec<(u8, usize)> = numbers.into_iter().map(|number| number % 16).zip(0..).collect();
            let (mut by, mut expected) = (sorted.clone(), sorted.clone());
            expected.sort_by_key(|(key, _)| *key);
            stable_sort_by_key(&mut sorted, |(key, _)| *key);
            prop_assert_eq!(&sorted, &expected);
            expected.sort_by_key(|(key, _)| std::cmp::Reverse(*key));
            stable_sort_by(&mut by, |one, other| other.0.cmp(&one.0));
            prop_assert_eq!(by, expected);
        }
    }
}
