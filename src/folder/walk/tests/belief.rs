//! What the kernel tells of files, and what is believed of them for that (contract 21): after anything by which a program may write to a
//! file, it is not believed.
#![allow(unsafe_code)] // A map, as a program has it that writes to a file without a system call.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, SystemTime};

use memmap2::MmapMut;

use super::super::*;
use crate::fs::resolve::open_as_found;
use crate::live::Belief;
use sys::testing::{PermissionsExt, open_folder};

/// A served folder with two folders and a file in each, and room beside it.
struct Served {
    top: tempfile::TempDir,
    live: LiveFolders,
}

impl Served {
    /// `None`, and a message, where nothing can be believed.
    #[allow(clippy::print_stdout)]
    fn new() -> Option<Served> {
        let served = Served { top: tempfile::tempdir().unwrap(), live: LiveFolders::default() };
        for folder in ["served/a", "served/b", "outside"] {
            fs::create_dir_all(served.top.path().join(folder)).unwrap();
        }
        fs::write(served.file(), "text of a file\n").unwrap();
        fs::write(served.path("b/other"), "other\n").unwrap();
        served.settle();
        served.believe();
        let is_possible = served.live.counts().files.believed == 2;
        if !is_possible {
            println!("SKIPPED: no file is believed here: {:?}", served.live.counts());
        }
        is_possible.then_some(served)
    }

    fn path(&self, below: &str) -> PathBuf {
        self.top.path().join("served").join(below)
    }

    fn file(&self) -> PathBuf {
        self.path("a/file")
    }

    fn outside(&self) -> PathBuf {
        self.top.path().join("outside/file")
    }

    /// Waits until the stamps of all files can be trusted.
    fn settle(&self) {
        for file in [self.file(), self.path("b/other")] {
            while let Ok(stat) = sys::fs::stat(&file)
                && crate::fs::version::FileStamp::of(&stat).is_racy(SystemTime::now())
            {
                thread::sleep(Duration::from_millis(5));
            }
        }
    }

    fn walk(&self, below: &str, mut meet: impl FnMut(&Walk)) {
        let (control, none) = (Control::new(Duration::from_secs(60)), Excludes::default());
        let root = Arc::new(open_folder(self.path("")));
        let (folder, options) = (open_folder(self.path(below)), WalkOptions::default());
        let mut walk =
            Walk::new(&root, folder, Path::new(below), options, &none, Some(&self.live), &control).unwrap();
        while let Some(step) = walk.next_step().unwrap() {
            if matches!(step, WalkStep::Entry(WalkEntry { kind: EntryKind::File, .. })) {
                meet(&walk);
            }
        }
    }

    /// Looks at each file that is not known, as a warm-up does.
    fn believe(&self) {
        self.believe_in("");
    }

    /// The same in one folder.
    fn believe_in(&self, below: &str) {
        self.live.check(|| true);
        let mut looks = Vec::new();
        self.walk(below, |walk| {
            let (Some(place), Ok(Some(stat))) = (walk.place(), walk.stat()) else { return };
            let folder = walk.folder().unwrap();
            let opened =
                open_as_found(folder.handle().unwrap(), OsStr::from_bytes(walk.name()), stat).unwrap();
            looks.push((place, opened));
        });
        believe(&self.live, looks);
        // It may have come to folders that were not watched.
        self.live.check(|| true);
    }

    /// What is believed of a file by a walk that begins in its folder.
    fn belief(&self, path: &str) -> Option<Belief> {
        let (folder, _) = path.rsplit_once('/').unwrap();
        let mut belief = None;
        self.walk(folder, |walk| {
            if walk.path() == path.as_bytes() {
                belief = walk.belief();
            }
        });
        belief
    }

    fn is_believed(&self, path: &str) -> bool {
        matches!(self.belief(path), Some(Belief::Stamp(_)))
    }

    fn writer(&self, path: &Path) -> File {
        File::options().read(true).write(true).open(path).unwrap()
    }

    fn map(&self, path: &Path) -> MmapMut {
        // SAFETY: nobody changes the length of the file while it is mapped.
        unsafe { MmapMut::map_mut(&self.writer(path)).unwrap() }
    }
}

/// What a program does with the file `a/file`.
type Deed = fn(&Served);

/// What may be believed of other files after a deed, and of the file once it was looked at.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Left {
    /// All of it.
    All,
    /// Others stay believed, but the file has another name from now on.
    Name,
    /// Any file may have been written.
    Nothing,
    /// Any file, and the file has another name from now on.
    NothingButName,
}

/// Writes `a/file` by another name, which it leaves there.
fn write_by_link(served: &Served, link: &str) -> PathBuf {
    let link = served.path(link);
    fs::hard_link(served.file(), &link).unwrap();
    served.writer(&link).write_all(b"T").unwrap();
    link
}

const DEEDS: [(&str, Left, Deed); 17] = [
    ("writes in place", Left::All, |served| served.writer(&served.file()).write_all(b"T").unwrap()),
    ("writes and sets the time back", Left::All, |served| {
        let (mut file, time) =
            (served.writer(&served.file()), served.file().metadata().unwrap().modified().unwrap());
        file.write_all(b"T").unwrap();
        file.set_modified(time).unwrap();
    }),
    ("appends", Left::All, |served| {
        File::options().append(true).open(served.file()).unwrap().write_all(b"more").unwrap();
    }),
    ("only reads", Left::All, |served| drop(File::open(served.file()).unwrap())),
    ("cuts", Left::All, |served| served.writer(&served.file()).set_len(3).unwrap()),
    ("stores through a map", Left::All, |served| served.map(&served.file())[0] = b'T'),
    ("replaces by a rename", Left::All, |served| {
        fs::write(served.path("b/new"), "TEXT of a file\n").unwrap();
        fs::rename(served.path("b/new"), served.file()).unwrap();
    }),
    ("removes and makes again", Left::All, |served| {
        fs::remove_file(served.file()).unwrap();
        fs::write(served.file(), "TEXT of a file\n").unwrap();
    }),
    ("changes the mode", Left::All, |served| {
        fs::set_permissions(served.file(), PermissionsExt::from_mode(0o600)).unwrap();
    }),
    ("writes by another name", Left::Name, |served| drop(write_by_link(served, "b/link"))),
    ("writes by another name that is gone", Left::Nothing, |served| {
        fs::remove_file(write_by_link(served, "b/link")).unwrap();
    }),
    ("writes by another name that is moved out", Left::NothingButName, |served| {
        fs::rename(write_by_link(served, "b/link"), served.outside()).unwrap();
    }),
    ("writes by another name that is renamed", Left::Name, |served| {
        fs::rename(write_by_link(served, "b/link"), served.path("b/again")).unwrap();
    }),
    ("writes by another name that is replaced", Left::Nothing, |served| {
        let link = write_by_link(served, "b/link");
        fs::write(served.outside(), "").unwrap();
        fs::rename(served.outside(), link).unwrap();
    }),
    ("writes by another name that is renamed and gone", Left::Nothing, |served| {
        let link = write_by_link(served, "b/link");
        fs::rename(link, served.path("b/x")).unwrap();
        fs::remove_file(served.path("b/x")).unwrap();
    }),
    ("writes by another name in a new folder", Left::NothingButName, |served| {
        fs::create_dir(served.path("new")).unwrap();
        write_by_link(served, "new/link");
    }),
    ("writes by another name in a new folder that is gone", Left::Nothing, |served| {
        fs::create_dir(served.path("new")).unwrap();
        write_by_link(served, "new/link");
        fs::remove_dir_all(served.path("new")).unwrap();
    }),
];

#[test]
fn after_whatever_a_program_does_with_a_file_it_is_not_believed_and_others_are() {
    for (what, left, deed) in DEEDS {
        let Some(served) = Served::new() else { return };
        assert!(served.is_believed("a/file"), "{what}");
        deed(&served);
        assert!(!served.is_believed("a/file"), "{what}");
        let others_stay = matches!(left, Left::All | Left::Name);
        assert_eq!(served.is_believed("b/other"), others_stay, "{what}");
        // The next look tells what there is now, once there is no new folder.
        served.settle();
        served.believe();
        served.believe();
        assert!(served.is_believed("b/other"), "{what}");
        let belief = served.belief("a/file");
        match left {
            Left::All | Left::Nothing => {
                assert!(matches!(belief, Some(Belief::Stamp(_))), "{what}: {belief:?}")
            }
            Left::Name | Left::NothingButName => assert_eq!(belief, Some(Belief::Refused), "{what}"),
        }
    }
}

#[test]
fn after_a_suspicion_of_all_files_a_look_at_their_times_tells_which_were_written() {
    let Some(served) = Served::new() else { return };
    // Nobody is told of this: no folder outside is watched.
    fs::hard_link(served.file(), served.outside()).unwrap();
    served.writer(&served.outside()).write_all(b"T").unwrap();
    fs::remove_file(served.outside()).unwrap();
    fs::write(served.path("b/passing"), "").unwrap();
    fs::remove_file(served.path("b/passing")).unwrap();
    assert!(!served.is_believed("a/file") && !served.is_believed("b/other"));
    assert!(served.live.wants_check());
    served.live.check(|| true);
    assert_eq!(served.belief("a/file"), Some(Belief::Unknown));
    assert!(served.is_believed("b/other") && !served.live.wants_check());
}

#[test]
fn a_name_in_a_folder_that_has_just_gone_may_be_one_of_any_file() {
    let Some(served) = Served::new() else { return };
    let away = served.top.path().join("outside/b");
    fs::rename(served.path("b"), &away).unwrap();
    fs::hard_link(served.file(), away.join("link")).unwrap();
    served.writer(&away.join("link")).write_all(b"T").unwrap();
    fs::remove_file(away.join("link")).unwrap();
    assert!(!served.is_believed("a/file"));
}

#[test]
fn a_folder_that_is_watched_only_now_may_hold_names_of_any_file() {
    let Some(served) = Served::new() else { return };
    let deep = served.path("b/new");
    fs::create_dir(&deep).unwrap();
    served.believe_in("a");
    assert!(served.is_believed("a/file"));
    fs::hard_link(served.file(), deep.join("link")).unwrap();
    served.writer(&deep.join("link")).write_all(b"T").unwrap();
    served.walk("b", |_| {});
    assert!(!served.is_believed("a/file"));
}

#[test]
fn a_file_that_a_program_can_write_to_unseen_is_refused_until_it_cannot() {
    let Some(served) = Served::new() else { return };
    let file = served.file();
    for what in ["descriptor", "map"] {
        let (descriptor, map) = match what {
            "descriptor" => (Some(served.writer(&file)), None),
            _ => (None, Some(served.map(&file))),
        };
        assert!(!served.is_believed("a/file"), "{what}");
        served.believe();
        assert_eq!(served.belief("a/file"), Some(Belief::Refused), "{what}");
        assert!(served.is_believed("b/other"));
        drop((descriptor, map));
        assert_eq!(served.belief("a/file"), Some(Belief::Unknown), "its end is told: {what}");
        served.believe();
        assert!(served.is_believed("a/file"), "{what}");
    }
    fs::hard_link(&file, served.outside()).unwrap();
    fs::write(&file, "text of a file, with two names\n").unwrap();
    served.settle();
    served.believe();
    assert_eq!(served.belief("a/file"), Some(Belief::Refused), "it has another name outside");
}

#[test]
fn a_file_that_has_just_changed_is_not_believed() {
    let Some(served) = Served::new() else { return };
    let young = |nth: u64| {
        fs::write(served.file(), nth.to_string()).unwrap();
        served.believe();
        let stat = sys::fs::stat(served.file()).unwrap();
        let is_racy = crate::fs::version::FileStamp::of(&stat).is_racy(SystemTime::now());
        is_racy.then(|| served.belief("a/file"))
    };
    // A machine that is busy may take longer than a file is young.
    let belief = (0..1_000).find_map(young).unwrap();
    assert_eq!(belief, Some(Belief::Unknown));
}

#[test]
fn other_names_that_come_and_go_leave_what_is_known_of_the_rest() {
    let Some(served) = Served::new() else { return };
    for nth in 0..20 {
        fs::write(served.path(&format!("a/{nth}")), "").unwrap();
        fs::rename(served.path(&format!("a/{nth}")), served.path(&format!("a/{nth}.txt"))).unwrap();
        assert!(served.is_believed("a/file") && served.is_believed("b/other"), "{nth}");
    }
    // More than can be looked at.
    for nth in 0..2_000 {
        fs::write(served.path(&format!("b/{nth}")), "").unwrap();
    }
    assert!(!served.is_believed("a/file"));
}

#[test]
fn after_more_events_of_files_than_the_queue_holds_no_file_is_believed() {
    let Some(served) = Served::new() else { return };
    let most = fs::read_to_string("/proc/sys/fs/inotify/max_queued_events").unwrap();
    let most: usize = most.trim().parse().unwrap();
    // By turns, because the system joins events that are the same.
    for _ in 0..most.min(100_000) {
        drop(File::open(served.path("b/other")).unwrap());
        drop(fs::set_permissions(served.path("b/other"), PermissionsExt::from_mode(0o644)));
    }
    served.writer(&served.file()).write_all(b"T").unwrap();
    assert!(!served.is_believed("a/file"));
    assert_eq!(served.live.counts().known, 3, "the names are known as before");
}
