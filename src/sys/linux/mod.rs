//! Linux. The other systems give their types the form that they have here.

pub(super) mod fs;
pub(super) mod memory;
pub(super) mod process;
