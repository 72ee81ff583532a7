//! The checks of one folder: access, file system, and what it keeps of what the server needs.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::Path;
use std::time::Duration;

use super::finding::{Finding, Level};
use super::tried;
use crate::WorkspaceOptions;
use folder::fs::atomic::Durability;
use folder::fs::file_system::{self, Safety};
use folder::fs::probe::{LocksHold, Probe};
use folder::fs::repository::{self, HeadCounts};
use folder::fs::writers::{self, Writers};
use folder::fs::{liveness, temporary};
use sys::fd::OwnedFd;
use sys::fs::{Access, AtFlags, Dir, FileType, Mode, Mount, OFlags};
use sys::io::Errno;
use sys::watch::Watches;

/// A longer flush is told as slow.
const SLOW_FLUSH: Duration = Duration::from_millis(100);

/// Checks the folder at `path`. Writes in it, unless the options say read-only, and leaves nothing there. The error is why it
/// cannot be opened.
pub fn check_folder(path: &Path, options: &WorkspaceOptions) -> Result<Vec<Finding>, Finding> {
    if !liveness::answers(path) {
        let silent = "its file system does not answer; look at the mount, and at its server";
        return Err(Finding::failed("folder", silent));
    }
    let dir = open(path)?;
    let mount = sys::fs::mount_of(&dir);
    let mut findings = vec![access(&dir, options.read_only)];
    findings.extend(git(path, &dir, options));
    let is_writable = findings[0].level != Level::Failed && !options.read_only;
    findings.extend(mount.iter().map(|mount| file_system(mount, options)));
    findings.extend(inner(path, options));
    findings.push(watches(&dir, options.live));
    findings.push(leftovers(&dir));
    if is_writable {
        let (probe, mount) = (Probe::new(&dir), mount.as_ref());
        findings.extend(tried::files(&probe));
        findings.push(tried::locks(tried::again(LocksHold::keep_out, || probe.locks(path)), mount));
        findings.push(tried::times(probe.time_unit_ns(), mount));
        findings.push(flush(probe.flush_time(), probe.flushes_folder(), options.durability));
    }
    Ok(findings)
}

fn open(path: &Path) -> Result<OwnedFd, Finding> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    sys::fs::open(path, flags, Mode::empty()).map_err(|errno| {
        let error = io::Error::from(errno);
        Finding::failed(
            "folder",
            format!("cannot be opened: {error}; give a folder that exists and is readable"),
        )
    })
}

fn access(dir: &OwnedFd, read_only: bool) -> Finding {
    let may = |access| sys::fs::accessat(dir, ".", access, AtFlags::EACCESS).is_ok();
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

/// What is served of a folder of git, and of one that is in such a folder.
fn git(path: &Path, dir: &OwnedFd, options: &WorkspaceOptions) -> Option<Finding> {
    let is_within = path.canonicalize().is_ok_and(|path| repository::is_within(&path));
    if !is_within && !repository::is_of_git(dir, HeadCounts::AsItIs) {
        return None;
    }
    let text = match options.allow_git {
        true => "is one of git: clients read all of it (--allow-git) and write nothing there",
        false => {
            "is one of git: clients read its HEAD alone and write nothing there; serve the work tree, or give --allow-git to have all of it read"
        }
    };
    Some(Finding::warning("folder", text))
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

/// The mounts inside the folder that are not as they should be.
fn inner(path: &Path, options: &WorkspaceOptions) -> Vec<Finding> {
    let found = sys::fs::mounts_below(path).into_iter().map(|(at, mount)| {
        let found = file_system(&mount, options);
        Finding { text: format!("{} is {}", at.display(), found.text), ..found }
    });
    found.filter(|found| found.level != Level::Ok).collect()
}

/// Whether folders and files that have not changed need no look.
fn watches(dir: &OwnedFd, is_wanted: bool) -> Finding {
    let what = "watches";
    let each = "each list and each search looks at every folder";
    if !is_wanted {
        return Finding::ok(what, format!("none (--live=off): {each}"));
    }
    if !file_system::of(dir).tells_changes {
        return Finding::ok(what, format!("none, as this file system does not tell all changes: {each}"));
    }
    match Watches::new() {
        Ok(_) => Finding::ok(what, known(dir)),
        Err(Errno::MFILE | Errno::NFILE) => Finding::warning(
            what,
            format!("this user has too many queues of events (sysctl fs.inotify.max_user_instances): {each}"),
        ),
        Err(errno) => Finding::ok(what, format!("none, as this system has none ({errno}): {each}")),
    }
}

/// What is not looked at again where changes are told.
fn known(dir: &OwnedFd) -> &'static str {
    if !file_system::of(dir).shows_writers {
        return "folders that have not changed are not looked at again; files are, as this file system does not show who may write to them";
    }
    match first_file(dir).map(|file| writers::of(&file, true)) {
        Some(Writers::Unknown) => {
            "folders that have not changed are not looked at again; files are, as this user may take no lease on another's \
             (run it as their owner, or with CAP_LEASE)"
        }
        _ => "folders and files that have not changed are not looked at again",
    }
}

/// A file in the folder.
fn first_file(dir: &OwnedFd) -> Option<File> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let entries = Dir::read_from(dir).ok()?.flatten();
    let mut files = entries.filter(|entry| entry.file_type() == FileType::RegularFile);
    let opened =
        files.find_map(|entry| sys::fs::openat(dir, entry.file_name(), flags, Mode::empty()).ok())?;
    Some(File::from(opened))
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

fn flush(tried: io::Result<Duration>, flushes_folder: bool, durability: Durability) -> Finding {
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
        Err(error)
            if !switches::is_off("doctor-full")
                && matches!(error.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded) =>
        {
            Finding::failed(what, format!("there is no space: {error}; edits would fail, so make some"))
        }
        Err(error) if durability == Durability::None => {
            Finding::warning(what, format!("fails ({error}), but is not asked for (--sync=none)"))
        }
        Err(error) => Finding::failed(what, format!("fails: {error}; give --sync=none")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mount(kind: &str) -> Mount {
        Mount { kind: kind.into(), source: "source".into(), options: "rw".into() }
    }

    #[test]
    fn a_folder_that_is_not_there_is_one_failure() {
        let dir = tempfile::tempdir().unwrap();
        let failed = check_folder(&dir.path().join("missing"), &WorkspaceOptions::default()).unwrap_err();
        assert_eq!((failed.level, failed.what), (Level::Failed, "folder"));
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
    fn a_flush_is_graded_by_what_is_asked_for() {
        assert_eq!(flush(Ok(SLOW_FLUSH * 2), true, Durability::Full).level, Level::Warning);
        assert_eq!(flush(Ok(SLOW_FLUSH * 2), true, Durability::None).level, Level::Ok);
        let unflushed = flush(Ok(Duration::ZERO), false, Durability::Full);
        assert!(unflushed.level == Level::Warning && unflushed.text.contains("folders are not flushed"));
        let broken = || Err(std::io::Error::other("no flush"));
        assert_eq!(flush(broken(), true, Durability::Full).level, Level::Failed);
        assert_eq!(flush(broken(), true, Durability::None).level, Level::Warning);
    }

    #[test]
    fn a_full_disk_is_told_as_such_and_not_as_a_flush_that_could_be_left_out() {
        let kinds = [ErrorKind::StorageFull, ErrorKind::QuotaExceeded];
        for (kind, durability) in kinds.into_iter().zip([Durability::Full, Durability::None]) {
            let Finding { level, text, .. } = flush(Err(kind.into()), true, durability);
            assert!(
                level == Level::Failed && text.contains("no space") && !text.contains("--sync"),
                "{text}"
            );
        }
    }
}
