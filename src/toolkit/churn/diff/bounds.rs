//! The bounds of the algorithm. They decide which of several diffs is found, so they are those of git.

/// A power of two near the square root of `number`, at least 1.
pub(super) fn near_root(number: usize) -> usize {
    let digits = (usize::BITS - number.leading_zeros()).div_ceil(2);
    1 << digits
}

/// A line that the other file has this often, or as often as the root of its own file's lines, is a frequent one.
pub(super) const MOST_FREQUENT: usize = 1_024;

/// How far around a frequent line its neighbours are looked at.
pub(super) const NEIGHBOURS: usize = 100;

/// A frequent line is left out if, of the lines around it, less than one in so many is frequent.
pub(super) const FREQUENT_SHARE: usize = 4;

/// Steps of a search before it looks for a good place to split, and the least number before it gives up.
pub(super) const PATIENT_STEPS: usize = 256;

/// So many equal lines in a row are a good place to split.
pub(super) const LONG_RUN: usize = 20;

/// A place is good if it is so many times farther than the steps that led to it.
pub(super) const FAR: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_root_is_a_power_of_two() {
        for (number, root) in
            [(0, 1), (1, 2), (3, 2), (4, 4), (15, 4), (16, 8), (63, 8), (64, 16), (1 << 20, 2048)]
        {
            assert_eq!(near_root(number), root, "{number}");
        }
    }
}
