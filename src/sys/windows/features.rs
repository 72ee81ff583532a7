//! What the kernel has of what this program uses where it can.

use crate::Feature;

/// None of them exists here.
pub fn features() -> Vec<(Feature, bool)> {
    Vec::new()
}
