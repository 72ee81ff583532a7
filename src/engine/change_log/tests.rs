//! Changes of several servers, dead writers, damaged and foreign files, and the bounds of the journal.

use std::path::PathBuf;

use super::*;

fn change(message: &str) -> Change {
    Change { message: message.into(), ..Change::default() }
}

fn log(dir: &Path, max: u64) -> ChangeLog {
    ChangeLog::new(&dir.join("journal"), [Path::new("/served")].into_iter(), max)
}

fn add(log: &ChangeLog, message: &str) -> ChangeNumber {
    let mut open = log.begin(0).unwrap();
    open.write(&change(message), true).unwrap();
    open.done(true, || ()).0.unwrap()
}

#[test]
fn what_one_server_has_done_another_one_reads_and_numbers_after_it() {
    let dir = tempfile::tempdir().unwrap();
    let (one, other) = (log(dir.path(), 1 << 20), log(dir.path(), 1 << 20));
    assert_eq!(one.numbers().unwrap(), []);
    assert_eq!([add(&one, "a"), add(&other, "b"), add(&one, "c")], [1, 2, 3]);
    assert_eq!(other.read(3).unwrap(), Some(change("c")));
    assert_eq!(one.numbers().unwrap(), [1, 2, 3]);
    drop(one.begin(0).unwrap());
    assert!(other.left_open(|_| true).unwrap().is_empty() && other.read(4).unwrap().is_none());
}

#[test]
fn the_oldest_go_and_no_number_is_given_twice() {
    let dir = tempfile::tempdir().unwrap();
    let bytes = change("x").to_bytes().len() as u64;
    let small = log(dir.path(), 3 * bytes);
    (1..=5).for_each(|number| assert_eq!(add(&small, "x"), number));
    assert_eq!(small.numbers().unwrap(), [3, 4, 5]);
    let smaller = log(dir.path(), 0);
    add(&smaller, "x");
    assert_eq!(log(dir.path(), 0).numbers().unwrap(), [6]);
    assert_eq!(add(&log(dir.path(), 0), "x"), 7);
}

#[test]
fn several_servers_together_keep_to_the_size() {
    let dir = tempfile::tempdir().unwrap();
    let bytes = change("x").to_bytes().len() as u64;
    let servers = [log(dir.path(), 3 * bytes), log(dir.path(), 3 * bytes)];
    for number in 1..=8 {
        add(&servers[number % 2], "x");
        let kept = servers[0].numbers().unwrap().len();
        assert!(kept == number.min(3), "{kept} behind {number}");
    }
}

#[test]
fn servers_of_several_folders_give_each_number_once() {
    let dir = tempfile::tempdir().unwrap();
    let of = |served: &[&str]| {
        let served: Vec<PathBuf> = served.iter().map(PathBuf::from).collect();
        ChangeLog::new(&dir.path().join("journal"), served.iter().map(PathBuf::as_path), 1 << 20)
    };
    let (both, one) = (of(&["/a", "/b"]), of(&["/b"]));
    assert_eq!([add(&both, "1"), add(&one, "2"), add(&both, "3"), add(&one, "4")], [1, 2, 3, 4]);
    assert_eq!((both.numbers().unwrap(), one.numbers().unwrap()), (vec![1, 2, 3, 4], vec![2, 4]));
}

#[test]
fn what_is_no_change_of_this_release_stops_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let log = log(dir.path(), 1 << 20);
    add(&log, "a");
    let done = log.folders[0].path.join("done");
    std::fs::write(done.join("000000000002"), "file-editor change 3\nx").unwrap();
    std::fs::create_dir(done.join("000000000003")).unwrap();
    std::fs::write(done.join("18446744073709551615"), "x").unwrap();
    assert_eq!((log.read(2).unwrap(), log.read(3).unwrap()), (None, None));
    assert!(done.join("000000000002").exists());
    assert_eq!(log.numbers().unwrap(), [1, 2, 3]);
    std::fs::write(log.folder.path.join(LAST), "nonsense").unwrap();
    assert_eq!(add(&log, "b"), 4);
    let open = log.folder.path.join("open");
    std::fs::create_dir(open.join("x")).unwrap();
    assert!(log.left_open(|_| true).unwrap().is_empty());
}

#[test]
fn the_last_change_of_a_session_is_one_of_which_something_is_left_to_take_back() {
    let dir = tempfile::tempdir().unwrap();
    let log = log(dir.path(), 1 << 20);
    let file = journal::FileChange::default();
    let add = |session: &str, undone: Option<(ChangeNumber, &[usize])>, is_done| {
        let author = journal::Author { session: session.into(), ..journal::Author::default() };
        let piece = |of: ChangeNumber, element| journal::Piece { of, element, entry: 0 };
        let toggle = |(at, piece)| journal::Toggle { piece, is_done, element: Some(at) };
        let pieces = undone.map(|(of, elements)| elements.iter().map(move |one| piece(of, *one)).enumerate());
        let toggles: Vec<_> = pieces.into_iter().flatten().map(toggle).collect();
        let files = vec![file.clone(); if undone.is_some() { toggles.len() } else { 2 }];
        let (undoes, roots) = (undone.map(|(of, _)| of), vec![b"/served".to_vec()]);
        let mut open = log.begin(0).unwrap();
        open.write(&Change { author, undoes, toggles, files, roots, ..Change::default() }, false).unwrap();
        open.done(false, || ()).0.unwrap()
    };
    let last = || log.last_of("s", ChangeNumber::MAX).unwrap();
    assert_eq!(last(), None);
    assert_eq!([add("s", None, true), add("s", None, true), add("t", None, true)], [1, 2, 3]);
    assert_eq!(last(), Some(2));
    add("t", Some((2, &[1])), false);
    assert_eq!(last(), Some(2), "a part is left");
    add("s", Some((2, &[0])), false);
    assert_eq!(last(), Some(1), "all was taken back by parts");
    add("s", Some((2, &[1])), true);
    assert_eq!(last(), Some(2), "a part was done again");
    add("s", Some((2, &[1])), false);
    assert_eq!((last(), log.last_of("s", 1).unwrap()), (Some(1), None));
}

#[test]
fn a_damaged_change_is_set_aside() {
    let dir = tempfile::tempdir().unwrap();
    let log = log(dir.path(), 1 << 20);
    add(&log, "a");
    let done = log.folders[0].path.join("done");
    std::fs::write(done.join(name_of(1)), "file-editor change 2\nx").unwrap();
    assert_eq!(log.read(1).unwrap(), None);
    assert!(done.join("000000000001.damaged").exists() && log.numbers().unwrap().is_empty());
    assert_eq!(add(&log, "b"), 2);
}

#[test]
fn what_a_dead_writer_left_is_found_and_what_a_living_one_makes_is_not() {
    let dir = tempfile::tempdir().unwrap();
    let (one, other) = (log(dir.path(), 1 << 20), log(dir.path(), 1 << 20));
    let mut open = one.begin(0).unwrap();
    open.write(&change("a"), false).unwrap();
    assert!(other.left_open(|_| true).unwrap().is_empty());
    let path = one.folder.path.join("open").join(&open.name);
    let bytes = std::fs::read(&path).unwrap();
    drop(open);
    std::fs::write(&path, bytes).unwrap();
    let mut perms = path.metadata().unwrap().permissions();
    sys::testing::PermissionsExt::set_mode(&mut perms, 0o600);
    std::fs::set_permissions(&path, perms).unwrap();
    let left = other.left_open(|_| true).unwrap();
    assert_eq!(left[0].1, change("a"));
    assert!(one.left_open(|_| true).unwrap().is_empty(), "one server at a time");
    drop(left);
    assert!(!path.exists());
}

#[test]
fn a_change_that_has_its_number_and_its_old_name_is_done_and_not_left_open() {
    let dir = tempfile::tempdir().unwrap();
    let log = log(dir.path(), 1 << 20);
    add(&log, "a");
    let (done, open) = (log.folders[0].path.join("done"), log.folder.path.join("open"));
    std::fs::hard_link(done.join(name_of(1)), open.join("0123456789abcdef")).unwrap();
    assert!(log.left_open(|_| true).unwrap().is_empty());
    assert_eq!(log.numbers().unwrap(), [1]);
    assert_eq!(std::fs::read_dir(open).unwrap().count(), 0);
}

#[test]
fn what_is_damaged_among_the_open_changes_is_set_aside_and_what_is_foreign_stays() {
    let dir = tempfile::tempdir().unwrap();
    let log = log(dir.path(), 1 << 20);
    add(&log, "a");
    let open = log.folder.path.join(OPEN);
    for name in ["0123456789abcdef", "README", "fedcba9876543210"] {
        let mut file = log.open.make().unwrap().open_or_make(name.as_ref()).unwrap();
        file.write_all(if name.starts_with('f') { b"" } else { b"text" }).unwrap();
    }
    assert!(log.left_open(|_| true).unwrap().is_empty());
    let mut names: Vec<_> =
        std::fs::read_dir(open).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["0123456789abcdef.damaged", "README"]);
}

#[test]
fn no_number_is_so_large_that_it_is_not_found_again() {
    for last in ["18446744073709551615", "999999999999", "-1"] {
        let dir = tempfile::tempdir().unwrap();
        let log = log(dir.path(), 1 << 20);
        add(&log, "a");
        std::fs::write(log.folder.path.join(LAST), last).unwrap();
        let number = add(&log, "b");
        assert_eq!((number, log.read(2).unwrap().map(|change| change.message)), (2, Some("b".into())));
    }
}

#[test]
fn what_is_of_others_stays_and_is_read_once() {
    let dir = tempfile::tempdir().unwrap();
    let (one, other) = (log(dir.path(), 1 << 20), log(dir.path(), 1 << 20));
    let mut open = one.begin(0).unwrap();
    open.write(&change("a"), false).unwrap();
    open.keep();
    let reads = std::cell::Cell::new(0);
    let look = || {
        let is_ours = |_: &Change| {
            reads.set(reads.get() + 1);
            false
        };
        assert!(other.left_open(is_ours).unwrap().is_empty());
    };
    (0..3).for_each(|_| look());
    assert_eq!(reads.get(), 1);
    assert_eq!(log(dir.path(), 1 << 20).left_open(|_| true).unwrap().len(), 1);
}

#[test]
fn a_look_is_due_when_something_may_have_changed() {
    let dir = tempfile::tempdir().unwrap();
    let (one, other) = (log(dir.path(), 1 << 20), log(dir.path(), 1 << 20));
    assert!(!other.may_have_left_open(), "nobody has made the journal");
    let living = one.begin(0).unwrap();
    let look = || drop(other.left_open(|_| true).unwrap());
    let long_ago = |seconds| {
        let folder = File::open(one.folder.path.join(OPEN)).unwrap();
        folder.set_modified(SystemTime::now() - std::time::Duration::from_secs(seconds)).unwrap();
    };
    long_ago(60);
    look();
    assert!(other.may_have_left_open(), "its writer may die");
    drop(living);
    look();
    assert!(other.may_have_left_open(), "times of files are coarse");
    long_ago(50);
    look();
    assert!(!other.may_have_left_open());
    long_ago(40);
    assert!(other.may_have_left_open());
}
