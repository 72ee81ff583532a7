//! Walks that know folders without a look meet what walks meet that look (contract 21).

use std::fs::{self, Permissions};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, UNIX_EPOCH};

use super::super::*;
use sys::testing::{PermissionsExt, open_folder, symlink};

/// What a walk met: paths, kinds, sizes and levels, and what it left out.
type Met = (Vec<(String, EntryKind, usize, Option<i64>)>, LeftOut);

fn walked(dir: &Path, below: &str, live: Option<&LiveFolders>, options: &WalkOptions) -> Met {
    let control = Control::new(Duration::from_secs(60));
    let excludes = Excludes::new(["excluded", "*.out"]).unwrap();
    let root = Arc::new(open_folder(dir));
    let folder = open_folder(dir.join(below));
    let mut walk =
        Walk::new(&root, folder, Path::new(below), options.clone(), &excludes, live, &control).unwrap();
    let mut met = Vec::new();
    while let Some(step) = walk.next_step().unwrap() {
        let WalkStep::Entry(entry) = step else { continue };
        let size = walk.stat().unwrap().filter(|_| entry.kind == EntryKind::File).map(|stat| stat.st_size);
        met.push((String::from_utf8_lossy(walk.path()).into_owned(), entry.kind, entry.level, size));
    }
    (met, walk.left_out())
}

/// All ways to walk that tools have.
fn ways() -> Vec<WalkOptions> {
    let usual = WalkOptions::default();
    vec![
        usual.clone(),
        WalkOptions { order: WalkOrder::Path, ..usual.clone() },
        WalkOptions { skip_ignored: true, skip_hidden: true, ..usual.clone() },
        WalkOptions { depth: 2, cross_mounts: true, ..usual },
    ]
}

/// Whether folders can be watched here. Else there is nothing to test.
#[allow(clippy::print_stdout)]
fn can_watch(live: &LiveFolders, dir: &Path) -> bool {
    walked(dir, "", Some(live), &WalkOptions::default());
    let counts = live.counts();
    if counts.watched == 0 {
        println!("SKIPPED: no folder can be watched here: {counts:?}");
    }
    counts.watched > 0
}

struct Random(u64);

impl Random {
    #[allow(clippy::print_stdout)]
    fn new() -> Random {
        let seed = UNIX_EPOCH.elapsed().unwrap().as_nanos() as u64 | 1;
        println!("random seed: {seed}");
        Random(seed)
    }

    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % end
    }

    /// One of few paths, so that changes meet each other.
    fn path(&mut self, dir: &Path) -> PathBuf {
        let names =
            ["a", "b", "c", ".hid", "excluded", "x.out", ".gitignore", ".ignore", "HEAD", "refs", "objects"];
        (0..1 + self.below(4)).fold(dir.to_owned(), |path, level| {
            path.join(names[self.below(if level == 0 { 3 } else { names.len() })])
        })
    }
}

/// Changes the tree in one of the ways that programs have. What is not possible is not done.
fn change(dir: &Path, random: &mut Random) {
    let (path, other) = (random.path(dir), random.path(dir));
    let text = ["", "a\n", "!b\n*.x\n", "c/\n", "ref: refs/heads/main\n"][random.below(5)];
    let _ = match random.below(14) {
        0..=2 => fs::create_dir_all(&path),
        3..=5 => fs::write(&path, text),
        6 => fs::remove_file(&path),
        7 => fs::remove_dir_all(&path),
        8 | 9 => fs::rename(&path, &other),
        10 => fs::hard_link(&path, &other),
        11 => symlink(&path, &other),
        12 => fs::rename(&path, dir.with_extension("outside")).and_then(|()| match random.below(2) {
            0 => fs::rename(dir.with_extension("outside"), &other),
            _ => fs::create_dir_all(dir.with_extension("outside").join("b/c")),
        }),
        _ => fs::create_dir_all(path.join("a/b/c")).and_then(|()| fs::write(path.join("a/b/c/x"), text)),
    };
    if random.below(8) == 0 {
        let outside = dir.with_extension("outside");
        let _ = fs::remove_dir_all(&outside).or_else(|_| fs::remove_file(&outside));
    }
}

#[test]
fn after_any_change_by_others_a_walk_that_knows_folders_meets_what_one_meets_that_looks() {
    let top = tempfile::tempdir().unwrap();
    let dir = top.path().join("served");
    fs::create_dir_all(dir.join("a/b")).unwrap();
    let (live, mut random) = (LiveFolders::default(), Random::new());
    if !can_watch(&live, &dir) {
        return;
    }
    let rounds = std::env::var("LIVE_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(3_000);
    for round in 0..rounds {
        (0..random.below(4)).for_each(|_| change(&dir, &mut random));
        let ways = ways();
        let way = &ways[random.below(ways.len())];
        let below = ["", "a", "a/b"][random.below(3)];
        if !dir.join(below).symlink_metadata().is_ok_and(|found| found.is_dir()) {
            continue;
        }
        assert_eq!(
            walked(&dir, below, Some(&live), way),
            walked(&dir, below, None, way),
            "round {round}, below {below:?}: {way:?}"
        );
    }
    assert!(live.counts().known > 0, "{:?}", live.counts());
}

#[test]
fn changes_during_a_walk_are_met_by_the_next_one() {
    let top = tempfile::tempdir().unwrap();
    let dir = top.path().join("served");
    fs::create_dir(&dir).unwrap();
    let live = LiveFolders::default();
    if !can_watch(&live, &dir) {
        return;
    }
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        for seed in [3, 5, 7] {
            let (dir, live, is_over) = (&dir, &live, &is_over);
            scope.spawn(move || {
                let mut random = Random(seed);
                while !is_over.load(Ordering::Relaxed) {
                    change(dir, &mut random);
                    if seed == 7 {
                        walked(dir, "", Some(live), &WalkOptions::default());
                    }
                }
            });
        }
        for nth in 0..1_500 {
            // What was made before a walk is met by it, whatever others do at the same time and to folders on its way.
            let kept = dir.join("kept").join(format!("{}", nth % 7));
            fs::create_dir_all(&kept).unwrap();
            let new = kept.join(nth.to_string());
            fs::write(&new, "").unwrap();
            let met = walked(&dir, "", Some(&live), &WalkOptions::default()).0;
            let path = format!("kept/{}/{nth}", nth % 7);
            assert!(met.iter().any(|(met, ..)| *met == path), "{path}");
            fs::remove_file(&new).unwrap();
            let met = walked(&dir, "kept", Some(&live), &WalkOptions::default()).0;
            assert!(met.iter().all(|(met, ..)| *met != path), "{path} is gone");
        }
        is_over.store(true, Ordering::Relaxed);
    });
    let way = WalkOptions::default();
    assert_eq!(walked(&dir, "", Some(&live), &way), walked(&dir, "", None, &way));
}

#[test]
fn a_known_tree_is_walked_without_a_look_at_its_folders() {
    let dir = tempfile::tempdir().unwrap();
    for folder in ["a/b", "c", "d/e/f"] {
        fs::create_dir_all(dir.path().join(folder)).unwrap();
        fs::write(dir.path().join(folder).join("file"), "").unwrap();
    }
    let live = LiveFolders::default();
    if !can_watch(&live, dir.path()) {
        return;
    }
    let control = Control::new(Duration::from_secs(60));
    let root = Arc::new(open_folder(dir.path()));
    let none = Excludes::default();
    let folder = root.try_clone().unwrap();
    let options = WalkOptions { skip_ignored: true, ..WalkOptions::default() };
    let mut walk = Walk::new(&root, folder, Path::new(""), options, &none, Some(&live), &control).unwrap();
    let mut met = 0;
    while let Some(step) = walk.next_step().unwrap() {
        met += usize::from(matches!(step, WalkStep::Entry(_)));
        if let Some(folder) = walk.folder().filter(|_| walk.levels.len() > 1) {
            assert!(folder.is_unopened(), "{}", String::from_utf8_lossy(walk.path()));
        }
    }
    assert_eq!((met, live.counts().known, live.counts().entries), (9, 7, 9));
    // What is in a folder that took the place of a known one is not taken for what was in that.
    let unopened = WalkedFolder::unopened(
        Arc::new(open_folder(dir.path())),
        "a".into(),
        sys::watch::folder_id(open_folder(dir.path().join("a"))).unwrap(),
    );
    fs::rename(dir.path().join("a"), dir.path().join("z")).unwrap();
    fs::create_dir(dir.path().join("a")).unwrap();
    assert_eq!(unopened.handle().unwrap_err(), Errno::NOENT);
}

#[test]
fn what_is_left_of_dead_processes_is_removed_from_known_folders_too() {
    use crate::fs::mount_safety::MountSafety;
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("a")).unwrap();
    let live = LiveFolders::default();
    if !can_watch(&live, dir.path()) {
        return;
    }
    let mounts = MountSafety::new(false);
    walked(dir.path(), "", Some(&live), &WalkOptions::default());
    let left = dir.path().join("a").join(crate::fs::temporary::tests::nth('1'));
    fs::write(&left, "").unwrap();
    fs::set_permissions(&left, Permissions::from_mode(0o600)).unwrap();
    let clear = || {
        let control = Control::new(Duration::from_secs(60));
        let root = Arc::new(open_folder(dir.path()));
        let (none, options) = (Excludes::default(), WalkOptions::default());
        let folder = root.try_clone().unwrap();
        let walk = Walk::new(&root, folder, Path::new(""), options, &none, Some(&live), &control).unwrap();
        let mut walk = walk.clear_leftovers(&mounts);
        while walk.next_step().unwrap().is_some() {}
    };
    walked(dir.path(), "", Some(&live), &WalkOptions::default());
    clear();
    assert!(!left.exists());
}

#[test]
fn after_more_changes_than_the_queue_holds_nothing_is_missed() {
    let dir = tempfile::tempdir().unwrap();
    for folder in ["a", "b"] {
        fs::create_dir(dir.path().join(folder)).unwrap();
    }
    let live = LiveFolders::default();
    if !can_watch(&live, dir.path()) {
        return;
    }
    let most = fs::read_to_string("/proc/sys/fs/inotify/max_queued_events").unwrap();
    let most: usize = most.trim().parse().unwrap();
    for nth in 0..most.min(200_000) {
        fs::create_dir(dir.path().join("a").join(nth.to_string())).unwrap();
    }
    fs::write(dir.path().join("b/last"), "").unwrap();
    let met = walked(dir.path(), "b", Some(&live), &WalkOptions::default()).0;
    assert_eq!(met.len(), 1);
    assert_eq!(live.news(), Some(crate::LiveNews::EventsLost));
    assert_eq!(live.news(), None, "once");
}
