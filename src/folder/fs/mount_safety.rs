//! Which file systems of the served trees may be written, known for a second for each device.
//!
//! A folder in a tree can be a mount of its own, so a change asks here with the device of the folder that it is in. Knows
//! no paths.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::file_system::{self, Safety};
use sys::fd::AsFd;

/// Maximum number of devices that are remembered.
const MOST: usize = 1024;

/// How long a device is taken for what it was: its number is given to the next mount when it is unmounted.
const TRUSTED: Duration = Duration::from_secs(1);

/// See the module.
#[derive(Debug, Default)]
pub struct MountSafety {
    /// `--unsafe-locks`: nothing is refused.
    allows_all: bool,
    known: Mutex<HashMap<u64, (Instant, Safety)>>,
}

impl MountSafety {
    /// `allows_all`: the operator has said that changes are safe everywhere (`--unsafe-locks`).
    pub fn new(allows_all: bool) -> MountSafety {
        MountSafety { allows_all, known: Mutex::default() }
    }

    /// Whether nothing is refused.
    pub fn allows_all(&self) -> bool {
        self.allows_all
    }

    /// Whether the folder `dir` on the device `device` may be written; if not, why. Asks the system about a device once a second.
    pub fn check(&self, dir: impl AsFd, device: u64) -> Result<(), String> {
        match self.of(dir, device) {
            Safety::Unsafe(why) if !switches::is_off("folder-unsafe-locks") && !self.allows_all => Err(why),
            _ => Ok(()),
        }
    }

    /// Whether a lock in the folder keeps out everybody who can change it.
    pub(crate) fn locks_hold(&self, dir: impl AsFd, device: u64) -> bool {
        !matches!(self.of(dir, device), Safety::Unsafe(_))
    }

    /// What the table says of the folder.
    pub fn of(&self, dir: impl AsFd, device: u64) -> Safety {
        let known = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((looked, safety)) = known().get(&device)
            && looked.elapsed() < TRUSTED
        {
            return safety.clone();
        }
        // Without the mutex, because this may wait for another machine.
        let safety = file_system::safety_of(dir);
        let mut known = known();
        if known.len() >= MOST {
            known.clear();
        }
        known.insert(device, (Instant::now(), safety.clone()));
        safety
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_unsafe_is_refused_unless_it_is_allowed() {
        let dir = sys::testing::open_folder(std::env::temp_dir());
        for allows_all in [false, true] {
            let mounts = MountSafety::new(allows_all);
            let know = |device, safety| mounts.known.lock().unwrap().insert(device, (Instant::now(), safety));
            know(7, Safety::Unsafe("it is".into()));
            know(8, Safety::Doubtful("perhaps".into()));
            assert_eq!(mounts.check(&dir, 7), if allows_all { Ok(()) } else { Err("it is".into()) });
            assert_eq!((mounts.check(&dir, 8), mounts.check(&dir, 9)), (Ok(()), Ok(())));
            assert!(!mounts.locks_hold(&dir, 7) && mounts.locks_hold(&dir, 8));
        }
    }

    #[test]
    fn after_a_second_a_device_may_be_another_file_system() {
        let dir = sys::testing::open_folder(std::env::temp_dir());
        let mounts = MountSafety::default();
        let looked = Instant::now().checked_sub(TRUSTED).unwrap();
        mounts.known.lock().unwrap().insert(7, (looked, Safety::Unsafe("it was".into())));
        assert_eq!(mounts.check(&dir, 7), Ok(()));
    }
}
