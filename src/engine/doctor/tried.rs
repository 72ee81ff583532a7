//! Grades what a [`Probe`] has tried out in a folder: what the server's promises need of its file system (contract 8).

use std::fmt::Display;
use std::io;

use super::finding::Finding;
use folder::fs::file_system::{self, LockScope};
use folder::fs::probe::{LocksHold, NewNames, Probe};
use sys::fs::Mount;

/// Tries out what new files and edits need, except for locks.
pub(crate) fn files(probe: &Probe) -> [Finding; 4] {
    [
        yes_or_no(
            "exclusive creation",
            again(|yes| *yes, || probe.creates_once()),
            "two that create one file do not both count on it",
            "a file that exists was created again: new files can be lost",
        ),
        yes_or_no(
            "read after write",
            again(|yes| *yes, || probe.reads_what_was_written()),
            "what was written is read at once",
            "what was written is not read at once: mount it without a cache of reads",
        ),
        yes_or_no(
            "rename",
            again(|yes| *yes, || probe.replaces_open_files()),
            "replaces a file that is open, and its reader keeps the old one",
            "whoever has a file open does not keep it when it is replaced: reads can fail while files are edited",
        ),
        new_names(again(|names| *names != NewNames::None, || probe.new_names())),
    ]
}

fn could_not(what: &'static str, error: impl Display) -> Finding {
    Finding::failed(what, format!("could not be tried: {error}; edits would fail in the same way"))
}

fn yes_or_no(what: &'static str, tried: io::Result<bool>, yes: &str, no: &str) -> Finding {
    match tried {
        Ok(true) => Finding::ok(what, yes),
        Ok(false) => Finding::failed(what, no),
        Err(error) => could_not(what, error),
    }
}

fn new_names(tried: io::Result<NewNames>) -> Finding {
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

/// How often something is tried at most.
const TRIES: usize = 3;

/// Tries something until it is as it should be: another server that starts or edits here may take a file of the probe for one that a
/// dead process left.
pub(crate) fn again<T>(is_good: impl Fn(&T) -> bool, try_out: impl Fn() -> io::Result<T>) -> io::Result<T> {
    let good = (1..TRIES).find_map(|_| try_out().ok().filter(&is_good));
    good.map_or_else(try_out, Ok)
}

/// Whether locks keep each other out. `mount` is what the folder is on.
pub(crate) fn locks(tried: io::Result<LocksHold>, mount: Option<&Mount>) -> Finding {
    let what = "locks";
    let scope = match mount.map(file_system::locks_of) {
        None | Some(LockScope::Machine) => "",
        Some(LockScope::Shared) => "; by its type, on other machines, too",
        Some(LockScope::Unshared) => "; by its type, not on other machines",
        Some(LockScope::Unknown) => "; whether on other machines, too, is not known",
    };
    match tried {
        Ok(hold) if hold.keep_out() => {
            let how = if hold.for_reading { "" } else { "; only of files that are open for writing" };
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

/// How exact the times of files are.
pub(super) fn times(tried: io::Result<Option<u32>>, mount: Option<&Mount>) -> Finding {
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

#[cfg(test)]
mod tests {
    use super::super::Level;
    use super::*;

    #[test]
    fn what_another_server_spoils_is_tried_again_and_what_stays_so_is_told() {
        let tries = std::cell::Cell::new(0);
        let good_at = |nth: usize| {
            tries.set(0);
            again(
                |is_good| *is_good,
                || {
                    tries.set(tries.get() + 1);
                    if tries.get() == 1 { Err(io::Error::other("gone")) } else { Ok(tries.get() >= nth) }
                },
            )
        };
        assert_eq!((good_at(2).unwrap(), tries.get()), (true, 2));
        assert_eq!((good_at(TRIES).unwrap(), tries.get()), (true, TRIES));
        assert_eq!((good_at(TRIES + 1).unwrap(), tries.get()), (false, TRIES));
    }

    #[test]
    fn what_was_tried_is_graded() {
        let hold =
            |descriptors, processes, for_reading| Ok(LocksHold { descriptors, processes, for_reading });
        let mount = |kind: &str| Mount { kind: kind.into(), source: "source".into(), options: "rw".into() };
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
        assert_eq!(yes_or_no("x", Ok(false), "yes", "no"), Finding::failed("x", "no"));
        let broken = Err(std::io::Error::other("no reads"));
        assert_eq!(yes_or_no("x", broken, "yes", "no").level, Level::Failed);
    }
}
