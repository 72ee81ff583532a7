//! Keeps files open without a descriptor for each: a map of a file holds what a descriptor refers to, and with it its lock.
//!
//! The map is never read. It ends the lock when it is dropped, as the last close would.

use std::fs::File;
use std::sync::OnceLock;

use memmap2::{MmapOptions, MmapRaw};
use rustix::fs::{MemfdFlags, Mode, OFlags, memfd_create, open};

use crate::fs::try_lock_exclusive;

/// See the module.
#[derive(Debug)]
pub struct OpenMap(#[allow(dead_code)] MmapRaw);

impl OpenMap {
    /// Whether this system keeps locks so.
    pub fn is_kept() -> bool {
        keeps_locks()
    }

    /// Takes the place of the descriptor `file`, which must be open for reading. The descriptor comes back if this system does not
    /// keep locks so, or has no room for more maps.
    pub fn of(file: File) -> Result<OpenMap, File> {
        if !keeps_locks() {
            return Err(file);
        }
        // One byte stands for a page, also where the file is shorter.
        MmapOptions::new().len(1).map_raw_read_only(&file).map(OpenMap).map_err(|_| file)
    }
}

/// Whether a lock outlives the descriptor by which it was taken, while a map of the file is there. Tried once, with a file in memory.
fn keeps_locks() -> bool {
    static KEEPS: OnceLock<bool> = OnceLock::new();
    *KEEPS.get_or_init(|| tried().unwrap_or(false))
}

fn tried() -> Option<bool> {
    use std::os::fd::AsRawFd;
    let file = File::from(memfd_create("lock", MemfdFlags::CLOEXEC).ok()?);
    let path = format!("/proc/self/fd/{}", file.as_raw_fd());
    let other = File::from(open(path, OFlags::RDWR | OFlags::CLOEXEC, Mode::empty()).ok()?);
    if !try_lock_exclusive(&file).ok()? {
        return None;
    }
    let map = MmapOptions::new().len(1).map_raw_read_only(&file).ok()?;
    drop(file);
    let is_kept = !try_lock_exclusive(&other).ok()?;
    drop(map);
    Some(is_kept && try_lock_exclusive(&other).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_lasts_as_long_as_the_map_of_its_file_also_of_an_empty_one() {
        for content in ["", "text"] {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("file");
            std::fs::write(&path, content).unwrap();
            let [file, other] = [(); 2].map(|()| File::open(&path).unwrap());
            assert!(try_lock_exclusive(&file).unwrap());
            let map = OpenMap::of(file).expect("a map");
            assert!(!try_lock_exclusive(&other).unwrap());
            std::fs::rename(&path, dir.path().join("elsewhere")).unwrap();
            assert!(!try_lock_exclusive(&other).unwrap());
            drop(map);
            assert!(try_lock_exclusive(&other).unwrap());
        }
    }
}
