//! What the kernel has of what this program uses where it can.

use crate::sys::Feature;

/// None of them exists here.
pub(crate) fn features() -> Vec<(Feature, bool)> {
    Vec::new()
}
