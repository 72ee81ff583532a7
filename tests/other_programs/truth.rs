//! Facts about a file that the server keeps do not outlive the content: writes that take long, writes through maps, times
//! that are set back (contract 8; `src/folder/fs/writers.rs`).

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::time::{Duration, Instant, SystemTime};

use serde_json::json;

use crate::support::{
    Folder, HeldWrite, Mcp, Mount, PATIENCE, Stdio, map_mut, threads, until, waits_in_the_system,
};

/// Bytes of the large file: 4 MiB, well over what is read at once.
const LEN: usize = 4 << 20;

/// A text of [`LEN`] bytes with lines of `width` bytes (a power of 2), each of which holds its number.
fn numbered(width: usize) -> String {
    (0..LEN / width).map(|line| format!("{line:<0$}\n", width - 1)).collect()
}

/// Waits until the clock of the file system has moved on since the file was changed.
fn until_not_racy(folder: &Folder, name: &str) {
    let changed = || folder.path().join(name).metadata().expect("a file").modified().expect("a time");
    let old_enough = |changed| SystemTime::now().duration_since(changed).unwrap_or_default();
    until("the clock has moved on", || old_enough(changed()) > Duration::from_millis(25));
}

/// Asserts that `server` reads and edits the lines that the small file `a.txt` has.
fn assert_small_served_as_it_is(server: &Stdio, folder: &Folder, round: usize) {
    let lines: Vec<String> = folder.text("a.txt").lines().map(str::to_owned).collect();
    let last = lines.len() - 1;
    assert_eq!(line(server, "a.txt", last), lines[last], "round {round}");
    let edit = json!({ "line": last, "operation": "replace", "content": "edited" });
    server.ok("edit_file", json!({ "name": "a.txt", "edits": [edit] }));
    let mut expected = lines.clone();
    expected[last] = "edited".into();
    assert_eq!(folder.text("a.txt").lines().collect::<Vec<_>>(), expected, "round {round}");
}

/// After each edit, another program at once writes as many bytes in place, with more lines, and then with fewer.
fn writes_of_the_same_length_right_after_edits(folder: &Folder) {
    folder.write("a.txt", "1\n2\n3\n4\nedited\n");
    let server = Stdio::start(folder, &[]).ready();
    for round in 0..20 {
        let edit = json!({ "line": 0, "operation": "replace", "content": format!("round {round:2}") });
        server.ok("edit_file", json!({ "name": "a.txt", "edits": [edit] }));
        let old = folder.read("a.txt");
        let new = match round % 2 {
            0 => [b"\n".repeat(old.len() - 9), b"the last\n".to_vec()].concat(),
            _ => [b"x".repeat(old.len() - 9), b"\ntwo: it\n"[..9].to_vec()].concat(),
        };
        assert_eq!(new.len(), old.len());
        let file = File::options().write(true).open(folder.path().join("a.txt")).expect("a file");
        file.write_all_at(&new, 0).expect("written");
        drop(file);
        assert_small_served_as_it_is(&server, folder, round);
        folder.write("a.txt", "1\n2\n3\n4\nedited\n");
    }
}

#[test]
fn a_write_right_after_an_edit_is_seen_where_times_are_whole_seconds() {
    let folder = Folder::new();
    let Some(_mount) = Mount::made_by("ext4", &["-q", "-I", "128"], &folder) else { return };
    folder.write("probe", "");
    let modified = folder.snapshot()["probe"].modified;
    assert_eq!(modified.1, 0, "this file system should keep whole seconds only");
    writes_of_the_same_length_right_after_edits(&folder);
}

#[test]
fn a_write_right_after_an_edit_is_seen() {
    on_each_file_system(writes_of_the_same_length_right_after_edits);
}

/// Runs `test` in a folder of the machine's own file system, and of each other one that can be made here.
fn on_each_file_system(test: impl Fn(&Folder) + Sync) {
    // All at once: the tests wait for clocks and writes most of the time.
    std::thread::scope(|scope| {
        for kind in ["", "tmpfs", "overlay", "xfs", "btrfs"] {
            let test = &test;
            scope.spawn(move || {
                let folder = Folder::new();
                let mount = match kind {
                    "" => return test(&folder),
                    "tmpfs" => Mount::at(folder.path(), "size=64m,mode=755"),
                    "overlay" => Mount::overlay(&folder),
                    _ => Mount::made_by(kind, &["-q"], &folder),
                };
                if let Some(_mount) = mount {
                    println!("on {kind}");
                    test(&folder);
                }
            });
        }
    });
}

/// Whether the folder is on a file system whose writes hold a lock that can be waited for: ext4, XFS, Btrfs, tmpfs.
fn locks_writes(folder: &Folder) -> bool {
    let system = rustix::fs::statfs(folder.path()).expect("a file system");
    [0xef53, 0x5846_5342, 0x9123_683e, 0x0102_1994, 0x794c_7630].contains(&(system.f_type as u32))
}

fn to_disk(folder: &Folder, name: &str) {
    File::open(folder.path().join(name)).and_then(|file| file.sync_all()).expect("flushed");
}

fn line(server: &Stdio, name: &str, number: usize) -> String {
    let text = server.ok("read_file", json!({ "name": name, "start_line": number, "end_line": number }));
    text.split_once("\n\n").expect("a head").1.trim_end().to_owned()
}

/// Asserts that `server` reads and edits the lines that the file has.
fn assert_served_as_it_is(server: &Stdio, folder: &Folder, name: &str, width: usize) {
    let lines = LEN / width;
    for number in [0, 1, lines / 2, lines - 1] {
        assert_eq!(line(server, name, number), number.to_string());
    }
    let list = server.ok("list_files", json!({}));
    assert!(list.contains(&format!("lines: {lines}\n")), "{list}");
    let edit = json!({ "line": lines - 2, "operation": "replace", "content": "edited" });
    server.ok("edit_file", json!({ "name": name, "edits": [edit] }));
    let text = folder.text(name);
    assert_eq!(text.lines().nth(lines - 2), Some("edited"));
    assert_eq!(text.lines().count(), lines);
}

#[test]
fn a_write_that_is_running_while_a_file_is_read_is_not_taken_for_its_end() {
    not_under_wine!("counts the waits of a process in /proc/locks");
    on_each_file_system(writes_that_are_running_while_a_file_is_read);
}

fn writes_that_are_running_while_a_file_is_read(folder: &Folder) {
    for round in 0..4 {
        folder.write("a.txt", numbered(64));
        let server = Stdio::start(folder, &[]).ready();
        // In every second round the server has read the file before.
        if round % 2 == 0 {
            until_not_racy(folder, "a.txt");
            assert_eq!(line(&server, "a.txt", 7), "7");
        }
        let file = File::options().write(true).open(folder.path().join("a.txt")).expect("a file");
        let new = numbered(128);
        let Some(write) = HeldWrite::begin(file, new.as_bytes()) else { return };
        until_not_racy(folder, "a.txt");
        let (answered, during) = std::thread::scope(|scope| {
            let read = json!({ "name": "a.txt", "start_line": 20_000 });
            let during = scope.spawn(|| server.ok("read_file", read));
            until("the read ends or waits in the kernel", || {
                during.is_finished() || waits_in_the_system(server.pid())
            });
            let answered = during.is_finished();
            write.finish();
            (answered, during.join().expect("an answer"))
        });
        // Where the file system has a lock for it, the server waits for the end of the write.
        assert!(!answered || !locks_writes(folder));
        let head = "File: a.txt (lines 20000-32767 of 32768 total)\n\n20000 ";
        assert!(answered || during.starts_with(head), "{during:.99}");
        assert_served_as_it_is(&server, folder, "a.txt", 128);
    }
}

#[test]
fn a_copy_of_a_file_holds_one_state_though_a_write_to_it_is_running() {
    not_under_wine!("counts the waits of a process in /proc/locks");
    let folder = Folder::new();
    if !locks_writes(&folder) {
        return;
    }
    folder.write("a.txt", numbered(64));
    let server = Stdio::start(&folder, &["--tools=copy_file"]).ready();
    let file = File::options().write(true).open(folder.path().join("a.txt")).expect("a file");
    let new = numbered(128);
    let Some(write) = HeldWrite::begin(file, new.as_bytes()) else { return };
    until_not_racy(&folder, "a.txt");
    std::thread::scope(|scope| {
        let copy = json!({ "source": "a.txt", "destination": "b.txt" });
        let during = scope.spawn(|| server.ok("copy_file", copy));
        until("the copy ends or waits in the kernel", || {
            during.is_finished() || waits_in_the_system(server.pid())
        });
        write.finish();
        during.join().expect("an answer");
    });
    assert!(folder.text("b.txt") == new, "the copy is none of what the file held");
}

#[test]
fn a_write_that_never_ends_holds_up_only_the_requests_for_its_file() {
    let folder = Folder::new();
    folder.write("a.txt", numbered(64));
    folder.write("b.txt", "other\n");
    let server = Stdio::start(&folder, &["--timeout=1"]).ready();
    let file = File::options().write(true).open(folder.path().join("a.txt")).expect("a file");
    let Some(write) = HeldWrite::begin(file, numbered(128).as_bytes()) else { return };
    until_not_racy(&folder, "a.txt");
    let began = Instant::now();
    server.tool("read_file", json!({ "name": "a.txt" }));
    assert_eq!(line(&server, "b.txt", 0), "other");
    let list = server.ok("list_files", json!({}));
    assert!(list.contains("name: b.txt, ") && list.ends_with("lines: 1\n\nTotal files: 2"), "{list}");
    assert!(began.elapsed() < PATIENCE);
    write.finish();
    assert_served_as_it_is(&server, &folder, "a.txt", 128);
}

#[test]
fn however_often_a_file_is_read_whose_write_never_ends_others_are_served() {
    not_under_wine!("has a limit of time that such a program does not keep");
    let folder = Folder::new();
    folder.write("a.txt", numbered(64));
    let server = Stdio::start(&folder, &["--timeout=1", "--max-in-flight=1"]).ready();
    let file = File::options().write(true).open(folder.path().join("a.txt")).expect("a file");
    let Some(write) = HeldWrite::begin(file, numbered(128).as_bytes()) else { return };
    until_not_racy(&folder, "a.txt");
    for _ in 0..2 {
        let read = server.tool("read_file", json!({ "name": "a.txt" }));
        assert_eq!(read.text, "Error: Operation timed out after 1s\nNothing was changed.");
        // One thread waits in the kernel, however many requests gave up waiting.
        let in_the_kernel = threads(server.pid()).into_iter().filter(|(_, state)| *state == 'D').count();
        assert!(in_the_kernel <= 1, "{in_the_kernel} threads wait for one write");
    }
    assert!(server.ok("list_files", json!({})).ends_with("Total files: 1"));
    write.finish();
    assert_served_as_it_is(&server, &folder, "a.txt", 128);
}

#[test]
fn what_a_program_writes_through_a_map_that_it_holds_is_read_each_time() {
    on_each_file_system(writes_through_a_map_that_is_held);
}

fn writes_through_a_map_that_is_held(folder: &Folder) {
    folder.write("a.txt", numbered(64));
    let server = Stdio::start(folder, &[]).ready();
    let file = File::options().read(true).write(true).open(folder.path().join("a.txt")).expect("a file");
    let mut map = map_mut(&file);
    // The map alone keeps the file open for writing.
    drop(file);
    for at in [100, 200, 300] {
        // The page stays dirty after the first write: the system sets no time for the next ones.
        map[at] = b'\n';
        let total = LEN / 64 + at / 100;
        until_not_racy(folder, "a.txt");
        let head = server.ok("read_file", json!({ "name": "a.txt", "start_line": 0, "end_line": 0 }));
        assert!(head.starts_with(&format!("File: a.txt (lines 0-0 of {total} total)\n")), "{head}");
    }
}

#[test]
fn what_a_program_writes_through_a_map_that_it_makes_after_a_read_is_read() {
    on_each_file_system(|folder| {
        folder.write("a.txt", numbered(64));
        until_not_racy(folder, "a.txt");
        let server = Stdio::start(folder, &[]).ready();
        assert_eq!(line(&server, "a.txt", 7), "7");
        let path = folder.path().join("a.txt");
        let file = File::options().read(true).write(true).open(path).expect("a file");
        let mut map = map_mut(&file);
        // Read through the map first: on some file systems the write that follows sets no time.
        assert_eq!(map[7 * 64], b'7');
        map[100] = b'\n';
        drop((map, file));
        assert_eq!(line(&server, "a.txt", 8), "7");
        let edit =
            json!({ "line": 8, "operation": "replace", "content": "edited", "expect": format!("{:<63}", 7) });
        server.ok("edit_file", json!({ "name": "a.txt", "edits": [edit] }));
    });
}

#[test]
fn a_log_that_a_program_keeps_open_is_served_with_what_was_appended() {
    let folder = Folder::new();
    folder.write("a.log", numbered(64));
    let server = Stdio::start(&folder, &[]).ready();
    let log = File::options().append(true).open(folder.path().join("a.log")).expect("a file");
    for more in 0..20 {
        let total = LEN / 64 + more;
        if more % 2 == 0 {
            to_disk(&folder, "a.log");
            until_not_racy(&folder, "a.log");
        }
        let head = server.ok("read_file", json!({ "name": "a.log", "start_line": total - 1 }));
        assert!(head.starts_with(&format!("File: a.log (lines {0}-{0} of {total} total)\n", total - 1)));
        std::io::Write::write_all(&mut &log, b"one more\n").expect("appended");
    }
    // Not only appended to: a byte of the first line becomes a break, by the same open file's path.
    let other = File::options().write(true).open(folder.path().join("a.log")).expect("a file");
    other.write_at(b"\n", 10).expect("written");
    let head = server.ok("read_file", json!({ "name": "a.log", "start_line": 0, "end_line": 0 }));
    assert!(head.starts_with(&format!("File: a.log (lines 0-0 of {} total)\n", LEN / 64 + 21)), "{head}");
}

#[test]
fn a_file_whose_times_are_set_back_after_a_write_is_read_anew() {
    let folder = Folder::new();
    let server = Stdio::start(&folder, &[]).ready();
    for (width, seconds) in [(64, 1_000_000_000), (128, 1_000_000_000), (64, 1_000_000_000)] {
        if !folder.names().contains(&"a.txt".into()) {
            folder.write("a.txt", "");
        }
        let file = File::options().write(true).open(folder.path().join("a.txt")).expect("a file");
        file.write_all_at(numbered(width).as_bytes(), 0).expect("written");
        file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)).expect("a time set");
        drop(file);
        let lines = LEN / width;
        assert_eq!(line(&server, "a.txt", lines - 1), (lines - 1).to_string());
    }
}
