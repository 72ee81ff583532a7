//! macOS, where types differ from those of Linux: here they get the same form. Nothing of this folder has run on a Mac yet.

pub(super) mod features;
pub(super) mod fs;
pub(super) mod memory;
pub(super) mod mounts;
pub(super) mod process;
pub(super) mod rights;
