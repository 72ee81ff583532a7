//! The checks of one folder: access, file system, and what it keeps of what the server needs.

use std::fmt::Display;
use std::path::Path;
use std::time::Duration;

use super::Finding;
use crate::engine::fs::file_system::{self, LockScope, Safety};
use crate::engine::fs::probe::{LocksHold, NewNames, Probe};
use crate::engine::fs::{liveness, temporary};
use crate::engine::{Durability, WorkspaceOptions};
use crate::sys::fd::OwnedFd;
use crate::sys::fs::{Access, AtFlags, Dir, Mode, Mount, OFlags};

/// A longer flush is told as slow.
const SLOW_FLUSH: Duration = Duration::from_millis(100);

/// Checks the folder at `path`. Writes in it, unless the options say read-only, and leaves nothing there.
pub fn check_folder(path: &Path, options: &WorkspaceOptions) -> Vec<Finding> {
    if !liveness::answers(path) {
        return vec![Finding::failed(
            "folder",
            "its file system does not answer; look at the mount, and at its server",
        )];
    }
    let dir = match open(path) {
        Ok(dir) => dir,
        Err(failed) => return vec![failed],
    };
    let mount = crate::sys::fs::mount_of(&dir);
    let mut findings = vec![access(&dir, options.read_only)];
    let is_writable = findings[0].level != super::Level::Failed && !options.read_only;
    findings.extend(mount.iter().map(|mount| file_system(mount, options)));
    findings.push(leftovers(&dir));
    if is_writable {
        findings.extend(probed(&dir, path, mount.as_ref(), options.durability));
    }
    findings
}

fn open(path: &Path) -> Result<OwnedFd, Finding> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    crate::sys::fs::open(path, flags, Mode::empty()).map_err(|errno| {
        let error = std::io::Error::from(errno);
        Finding::failed(
            "folder",
            format!("cannot be opened: {error}; give a folder that exists and is readable"),
        )
    })
}

fn access(dir: &OwnedFd, read_only: bool) -> Finding {
    let may = |access| crate::sys::fs::accessat(dir, ".", access, AtFlags::EACCESS).is_ok();
    match (may(Access::READ_OK | Access::EXEC_OK), may(Access::WRITE_OK)) {
        (false, _) => {
            Finding::failed("folder", "is not readable; give this user the right to list and enter it")
        }
        (true, false) if !read_only => Finding::failed(
            "folder",
            "is not writable; give this user the right, or serve it with --read-only",
        ),
        (true, false) => Finding::ok("folder", "exists and is readable"),
        (true, true) => Finding::ok("folder", "exists, is readable and writable"),
    }
}

fn file_system(mount: &Mount, options: &WorkspaceOptions) -> Finding {
    let Mount { kind, source, options: of_mount } = mount;
    let name = format!("{kind}, {source}, mounted {of_mount}");
    // Locks and caches of clients count only for changes.
    match file_system::safety(mount) {
        _ if options.read_only => Finding::ok("file system", name),
        Safety::Safe => Finding::ok("file system", name),
        Safety::Doubtful(why) => Finding::warning("file system", format!("{name}: {why}")),
        Safety::Unsafe(why) if options.unsafe_locks => {
            Finding::warning("file system", format!("{name}: {why}"))
        }
        Safety::Unsafe(why) => Finding::failed(
            "file system",
            format!(
                "{name}: {why}; serve it with --read-only, or with --unsafe-locks if only this machine writes there"
            ),
        ),
    }
}

/// Counts the temporary files that are in the folder. Those of dead processes go at the next start.
fn leftovers(dir: &OwnedFd) -> Finding {
    let count = Dir::read_from(dir).map(|entries| {
        entries.flatten().filter(|entry| temporary::is_temporary(entry.file_name().to_bytes())).count()
    });
    match count {
        Ok(0) => Finding::ok("leftovers", "no temporary files of edits"),
        Ok(count) => Finding::warning(
            "leftovers",
            format!(
                "{count} temporary files (.file-editor-tmp-*) of edits that run now or were cut off; a start without \
                 --read-only removes the latter"
            ),
        ),
        Err(errno) => Finding::failed("leftovers", format!("the folder cannot be listed: {errno}")),
    }
}

fn probed(dir: &OwnedFd, path: &Path, mount: Option<&Mount>, durability: Durability) -> Vec<Finding> {
    let probe = Probe::new(dir);
    vec![
        yes_or_no(
            "exclusive creation",
            probe.creates_once(),
            "two that create one file do not both count on it",
            "a file that exists was created again: new files can be lost",
        ),
        yes_or_no(
            "read after write",
            probe.reads_what_was_written(),
            "what was written is read at once",
            "what was written is not read at once: mount it without a cache of reads",
        ),
        yes_or_no(
            "rename",
            probe.replaces_open_files(),
            "replaces a file that is open, and its reader keeps the old one",
            "whoever has a file open does not keep it when it is replaced: reads can fail while files are edited",
        ),
        new_names(probe.new_names()),
        locks(probe.locks(path), mount),
        times(probe.time_unit_ns(), mount),
        flush(probe.flush_time(), probe.flushes_folder(), durability),
    ]
}

fn could_not(what: &'static str, error: impl Display) -> Finding {
    Finding::failed(what, format!("could not be tried: {error}; edits would fail in the same way"))
}

fn yes_or_no(what: &'static str, tried: std::io::Result<bool>, yes: &str, no: &str) -> Finding {
    match tried {
        Ok(true) => Finding::ok(what, yes),
        Ok(false) => Finding::failed(what, no),
        Err(error) => could_not(what, error),
    }
}

fn new_names(tried: std::io::Result<NewNames>) -> Finding {
    let what = "no-replace rename";
    match tried {
        Ok(NewNames::Rename) => Finding::ok(what, "a new file never replaces another"),
        Ok(NewNames::Link) => Finding::ok(
            what,
            "is not known to the file system; new files are linked, which never replaces either",
        ),
        Ok(NewNames::Claim) => Finding::warning(
            what,
            "is not known to the file system, and it has no hard links: for a moment a new file is empty, and stays so if the \
             server is killed then",
        ),
        Ok(NewNames::None) => Finding::failed(
            what,
            "the file system has neither a rename nor a hard link that refuses to replace: new files may replace others",
        ),
        Err(error) => could_not(what, error),
    }
}

fn locks(tried: std::io::Result<LocksHold>, mount: Option<&Mount>) -> Finding {
    let what = "locks";
    let scope = match mount.map(file_system::locks_of) {
        None | Some(LockScope::Machine) => "",
        Some(LockScope::Shared) => "; by its type, on other machines, too",
        Some(LockScope::Unshared) => "; by its type, not on other machines",
        Some(LockScope::Unknown) => "; whether on other machines, too, is not known",
    };
    match tried {
        Ok(LocksHold { descriptors: true, processes: true, for_reading }) => {
            let how = if for_reading { "" } else { "; only of files that are open for writing" };
            Finding::ok(what, format!("hold between descriptors and between processes{how}{scope}"))
        }
        Ok(LocksHold { descriptors, processes, .. }) => {
            let between = match (descriptors, processes) {
                (false, false) => "descriptors and between processes",
                (false, true) => "descriptors of one process",
                _ => "processes",
            };
            Finding::failed(
                what,
                format!("do not hold between {between}: edits at the same time can be lost"),
            )
        }
        Err(error) => could_not(what, error),
    }
}

fn times(tried: std::io::Result<Option<u32>>, mount: Option<&Mount>) -> Finding {
    let what = "times";
    match tried {
        Ok(Some(unit)) if unit >= 1_000_000_000 => Finding::warning(
            what,
            format!(
                "files have whole seconds ({} s): a change by another program in the same second, of the same length and in \
                 place, cannot be seen",
                unit / 1_000_000_000
            ),
        ),
        Ok(Some(unit)) => Finding::ok(what, format!("in units of {unit} ns")),
        // A client may answer from its own cache.
        Ok(None) => {
            let by_type = mount.map_or(1, |mount| file_system::row_of(mount).time_unit_ns);
            Finding::warning(
                what,
                format!("a time that was set is not kept; by its type, units of {by_type} ns"),
            )
        }
        Err(error) => could_not(what, error),
    }
}

fn flush(tried: std::io::Result<Duration>, flushes_folder: bool, durability: Durability) -> Finding {
    let what = "flush";
    let milliseconds = |time: Duration| format!("{:.1} ms", time.as_secs_f64() * 1_000.0);
    match tried {
        Ok(time) if !flushes_folder && durability == Durability::Full => Finding::warning(
            what,
            format!(
                "{} for a file; folders are not flushed, as the file system or the rights of this user do not allow it: a loss \
                 of power can undo an edit that was answered",
                milliseconds(time)
            ),
        ),
        Ok(time) if time > SLOW_FLUSH && durability == Durability::Full => Finding::warning(
            what,
            format!(
                "{} for a file and its name, in each edit; --sync=none waits for none",
                milliseconds(time)
            ),
        ),
        Ok(time) => Finding::ok(what, format!("{} for a file and its name", milliseconds(time))),
        Err(error) if durability == Durability::None => {
            Finding::warning(what, format!("fails ({error}), but is not asked for (--sync=none)"))
        }
        Err(error) => Finding::failed(what, format!("fails: {error}; give --sync=none")),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Level;
    use super::*;

    fn mount(kind: &str) -> Mount {
        Mount { kind: kind.into(), source: "source".into(), options: "rw".into() }
    }

    #[test]
    fn a_folder_that_is_not_there_is_one_failure() {
        let dir = tempfile::tempdir().unwrap();
        let found = check_folder(&dir.path().join("missing"), &WorkspaceOptions::default());
        assert_eq!((found.len(), found[0].level, found[0].what), (1, Level::Failed, "folder"));
    }

    #[test]
    fn a_file_system_without_locks_of_others_fails_unless_that_is_allowed_or_nothing_is_written() {
        let level = |unsafe_locks, read_only| {
            let options = WorkspaceOptions { unsafe_locks, read_only, ..WorkspaceOptions::default() };
            file_system(&mount("fuse.sshfs"), &options).level
        };
        assert_eq!(
            [level(false, false), level(true, false), level(false, true)],
            [Level::Failed, Level::Warning, Level::Ok]
        );
        assert_eq!(file_system(&mount("fuse.x"), &WorkspaceOptions::default()).level, Level::Warning);
        assert_eq!(file_system(&mount("xfs"), &WorkspaceOptions::default()).level, Level::Ok);
    }

    #[test]
    fn what_was_tried_is_graded() {
        let hold =
            |descriptors, processes, for_reading| Ok(LocksHold { descriptors, processes, for_reading });
        let of_type = |kind, tried| locks(tried, Some(&mount(kind)));
        assert_eq!(of_type("xfs", hold(true, true, true)).level, Level::Ok);
        let ceph = of_type("ceph", hold(true, true, false));
        assert!(ceph.level == Level::Ok && ceph.text.contains("open for writing; by its type"), "{ceph:?}");
        for (tried, part) in [
            (hold(true, false, true), "between processes"),
            (hold(false, true, true), "between descriptors of one"),
            (hold(false, false, true), "descriptors and between"),
            (Err(std::io::Error::other("no locks here")), "no locks here"),
        ] {
            let found = of_type("xfs", tried);
            assert!(found.level == Level::Failed && found.text.contains(part), "{found:?}");
        }
        assert_eq!(times(Ok(Some(100)), None).level, Level::Ok);
        assert_eq!(times(Ok(Some(2_000_000_000)), None).level, Level::Warning);
        assert_eq!(times(Ok(None), None).level, Level::Warning);
        assert_eq!(new_names(Ok(NewNames::Link)).level, Level::Ok);
        assert_eq!(new_names(Ok(NewNames::Claim)).level, Level::Warning);
        assert_eq!(new_names(Ok(NewNames::None)).level, Level::Failed);
        assert_eq!(flush(Ok(SLOW_FLUSH * 2), true, Durability::Full).level, Level::Warning);
        assert_eq!(flush(Ok(SLOW_FLUSH * 2), true, Durability::None).level, Level::Ok);
        let unflushed = flush(Ok(Duration::ZERO), false, Durability::Full);
        assert!(unflushed.level == Level::Warning && unflushed.text.contains("folders are not flushed"));
        let broken = || Err(std::io::Error::other("no flush"));
        assert_eq!(flush(broken(), true, Durability::Full).level, Level::Failed);
        assert_eq!(flush(broken(), true, Durability::None).level, Level::Warning);
        assert_eq!(yes_or_no("x", Ok(false), "yes", "no"), Finding::failed("x", "no"));
        let broken = Err(std::io::Error::other("no reads"));
        assert_eq!(yes_or_no("x", broken, "yes", "no").level, Level::Failed);
    }
}
