//! What the kernel has of what this program uses where it can.

use std::fs::File;
use std::io;
use std::path::Path;

use rustix::fs::{AtFlags, CWD, OFlags, StatxFlags};
use rustix::process::{PidfdFlags, getpid, pidfd_open};

use super::fs::{cached_pages, memory_file, open_beneath, take_lease};
use crate::Feature;

/// All features, and whether this kernel lets this process use them.
pub fn features() -> Vec<(Feature, bool)> {
    let memory = memory_file("feature");
    let with_memory = |works: fn(&File) -> bool| memory.as_ref().is_ok_and(works);
    let folder = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    vec![
        (Feature::OpenBeneath, open_beneath(CWD, Path::new("."), folder).is_ok()),
        (Feature::Statx, rustix::fs::statx(CWD, ".", AtFlags::empty(), StatxFlags::BASIC_STATS).is_ok()),
        (Feature::CacheState, with_memory(|file| cached_pages(file).is_some())),
        // This file is open for writing, so a lease cannot be granted; but it can be asked for.
        (
            Feature::Leases,
            with_memory(|file| match take_lease(file) {
                Ok(()) => true,
                Err(error) => error.kind() == io::ErrorKind::WouldBlock,
            }),
        ),
        (Feature::MemoryFiles, memory.is_ok()),
        (Feature::ProcessHandles, pidfd_open(getpid(), PidfdFlags::empty()).is_ok()),
    ]
}
