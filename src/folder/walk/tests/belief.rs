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
        let is_possible = served.live.counts().believed == 2;
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
        let mut looks = Vec::new();
        self.walk("", |walk| {
            let (Some(place), Ok(Some(stat))) = (walk.place(), walk.stat()) else { return };
            let folder = walk.folder().unwrap();
            let opened =
                open_as_found(folder.handle().unwrap(), OsStr::from_bytes(walk.name()), stat).unwrap();
            looks.push((place, opened));
        });
        believe(&self.live, looks);
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

const DEEDS: [(&str, Deed); 13] = [
    ("writes in place", |served| served.writer(&served.file()).write_all(b"T").unwrap()),
    ("writes and sets the time back", |served| {
        let (mut file, time) =
            (served.writer(&served.file()), served.file().metadata().unwrap().modified().unwrap());
        file.write_all(b"T").unwrap();
        file.set_modified(time).unwrap();
    }),
    ("appends", |served| {
        File::options().append(true).open(served.file()).unwrap().write_all(b"more").unwrap();
    }),
    ("only reads", |served| drop(File::open(served.file()).unwrap())),
    ("cuts", |served| served.writer(&served.file()).set_len(3).unwrap()),
    ("stores through a map", |served| served.map(&served.file())[0] = b'T'),
    ("replaces by a rename", |served| {
        fs::write(served.path("b/new"), "TEXT of a file\n").unwrap();
        fs::rename(served.path("b/new"), served.file()).unwrap();
    }),
    ("removes and makes again", |served| {
        fs::remove_file(served.file()).unwrap();
        fs::write(served.file(), "TEXT of a file\n").unwrap();
    }),
    ("changes the mode", |served| {
        fs::set_permissions(served.file(), PermissionsExt::from_mode(0o600)).unwrap();
    }),
    ("writes by another name", |served| {
        fs::hard_link(served.file(), served.path("b/link")).unwrap();
        served.writer(&served.path("b/link")).write_all(b"T").unwrap();
    }),
    ("writes by another name that is gone", |served| {
        fs::hard_link(served.file(), served.path("b/link")).unwrap();
        served.writer(&served.path("b/link")).write_all(b"T").unwrap();
        fs::remove_file(served.path("b/link")).unwrap();
    }),
    ("writes by another name that is moved out", |served| {
        fs::hard_link(served.file(), served.path("b/link")).unwrap();
        served.writer(&served.path("b/link")).write_all(b"T").unwrap();
        fs::rename(served.path("b/link"), served.outside()).unwrap();
    }),
    ("writes by another name that is renamed", |served| {
        fs::hard_link(served.file(), served.path("b/link")).unwrap();
        served.writer(&served.path("b/link")).write_all(b"T").unwrap();
        fs::rename(served.path("b/link"), served.path("b/again")).unwrap();
    }),
];

#[test]
fn after_whatever_a_program_does_with_a_file_it_is_not_believed_and_others_are() {
    for (what, deed) in DEEDS {
        let Some(served) = Served::new() else { return };
        assert!(served.is_believed("a/file"), "{what}");
        deed(&served);
        assert!(!served.is_believed("a/file"), "{what}");
        // By a name that is gone, any file may have been written.
        assert_eq!(
            served.is_believed("b/other"),
            !what.contains(" gone") && !what.contains(" out"),
            "{what}"
        );
        // The next look tells what there is now.
        served.settle();
        served.believe();
        let has_links = what.contains("another name") && !what.contains(" gone");
        let expected = if has_links { Some(Belief::Refused) } else { served.belief("b/other") };
        let belief = served.belief("a/file");
        assert_eq!(
            matches!(belief, Some(Belief::Stamp(_))),
            matches!(expected, Some(Belief::Stamp(_))),
            "{what}: {belief:?}"
        );
    }
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
