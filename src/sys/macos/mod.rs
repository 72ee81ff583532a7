//! macOS, where types differ from those of Linux: here they get the same form. Nothing of this folder has run on a Mac yet.

pub(super) mod fs;
pub(super) mod memory;
pub(super) mod process;
