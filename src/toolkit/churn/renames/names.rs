//! The last component of paths.

/// The last component of a path.
pub(super) fn last(path: &[u8]) -> &[u8] {
    let start = memchr::memrchr(b'/', path).map_or(0, |at| at + 1);
    &path[start..]
}

/// Whether two paths have the same last component.
pub(super) fn same_last(one: &[u8], other: &[u8]) -> bool {
    last(one) == last(other)
}
