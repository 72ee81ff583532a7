//! Linux. The other systems give their types the form that they have here.

pub(super) mod acl;
pub(super) mod faults;
pub(super) mod features;
pub(super) mod fs;
pub(super) mod map;
pub(super) mod memory;
pub(super) mod mounts;
pub(super) mod open_map;
pub(super) mod process;
pub(super) mod watch;
