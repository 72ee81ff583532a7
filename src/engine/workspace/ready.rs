//! What is checked of a folder before the server changes files in it (contract 8). Knows no files.

use std::path::Path;

use super::OpenError;
use crate::doctor::{Finding, Level, tried};
use folder::fs::file_system::{self, Safety};
use folder::fs::mount_safety::MountSafety;
use folder::fs::probe::{LocksHold, Probe};
use folder::fs::root::{Folder, InnerMount, Root};
use sys::fs::{Access, AtFlags};

/// Checks that the folder of `root` can be written. Returns what is doubtful about its file system, and about those that are mounted inside it; each in one line.
pub(super) fn ready_to_write(
    root: &Root,
    folder: &Folder,
    mounts: &MountSafety,
) -> Result<Vec<String>, OpenError> {
    let path = root.path();
    let safety = mounts.of(folder, folder.device());
    mounts.check(folder, folder.device()).map_err(|why| OpenError::UnsafeLocks(path.into(), why))?;
    let access = Access::WRITE_OK | Access::EXEC_OK;
    if !switches::is_off("folder-writable") {
        sys::fs::accessat(folder, ".", access, AtFlags::EACCESS)
            .map_err(|_| OpenError::NotWritable(path.into()))?;
    }
    let mut doubts = Vec::from_iter(why(safety));
    if !root.is_local() {
        doubts.extend(try_out(path, folder, mounts)?);
    }
    if !switches::is_off("start-inner-mounts") {
        doubts.extend(inner(root, mounts));
    }
    Ok(doubts)
}

fn why(safety: Safety) -> Option<String> {
    match safety {
        Safety::Safe => None,
        Safety::Doubtful(why) | Safety::Unsafe(why) => Some(why),
    }
}

/// What a file system that is not one of this machine's disks was found not to keep.
fn try_out(path: &Path, folder: &Folder, mounts: &MountSafety) -> Result<Vec<String>, OpenError> {
    let probe = Probe::new(folder.handle());
    let locks = tried::again(LocksHold::keep_out, || probe.locks(path));
    let keep_out = !locks.as_ref().is_ok_and(|locks| !locks.keep_out());
    let locks = tried::locks(locks, None);
    if !switches::is_off("start-tries-locks") && !keep_out && !mounts.allows_all() {
        return Err(OpenError::UnsafeLocks(path.into(), format!("locks {}", locks.text)));
    }
    let found = tried::files(&probe).into_iter().chain([locks]);
    let failed = found.filter(|found| found.level == Level::Failed);
    Ok(failed.map(|Finding { what, text, .. }| format!("{}: {what}: {text}", path.display())).collect())
}

/// What is doubtful about the file systems that are mounted inside the folder.
fn inner(root: &Root, mounts: &MountSafety) -> Vec<String> {
    let doubt = |InnerMount { path, mount, .. }: &InnerMount| {
        let safety = file_system::safety(mount);
        let is_refused = matches!(safety, Safety::Unsafe(_)) && !mounts.allows_all();
        let end = if is_refused { "; no file there is changed" } else { "" };
        why(safety).map(|why| format!("{}: {why}{end}", path.display()))
    };
    root.inner().iter().filter_map(doubt).collect()
}
