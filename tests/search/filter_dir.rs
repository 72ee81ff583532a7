//! Filters on disk (`--filter-dir`): later servers need not read what cannot match, and no answer is wrong, whatever
//! becomes of the file (contract 14).

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::Write;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use serde_json::json;

use super::fresh::change;
use super::{SET, serve};
use crate::support::{
    Folder, Mcp, Moment, Random, Stdio, command, read_calls, run_to_end, until, with_file_size_limit,
};

/// Files in a folder. Their filters together are mapped, not copied.
const FILES: u64 = 40;

/// Rounds of what happens at random.
const ROUNDS: u64 = 25;

/// A text of about 100 KB with `word` at a random place.
fn text(word: &str, random: &mut Random) -> String {
    let at = random.below(5_000);
    let line = |line| match line == at {
        true => format!("{word:<19}\n"),
        false => format!("{:019}\n", random.below(2_500)),
    };
    (0..5_000).map(line).collect()
}

/// A folder with such texts, each with a word of its own.
fn filled(random: &mut Random) -> Folder {
    let folder = Folder::new();
    for file in 0..FILES {
        folder.write(&name(file), text(&word(file), random));
    }
    folder
}

fn name(file: u64) -> String {
    format!("f{file}")
}

fn word(file: u64) -> String {
    format!("zebra{file}quagga")
}

fn filters(folder: &Folder) -> PathBuf {
    folder.outside("filters")
}

fn start(folder: &Folder, dir: &Path, flags: &[&str]) -> Stdio {
    let dir = format!("--filter-dir={}", dir.display());
    serve(folder, &[&[dir.as_str()], flags].concat())
}

/// The file of filters.
fn file_in(dir: &Path) -> Option<PathBuf> {
    let mut entries = fs::read_dir(dir).expect("a folder").map(|entry| entry.expect("an entry").path());
    entries.find(|path| path.to_string_lossy().contains("/filters-"))
}

/// How many filters a folder holds, old ones among them.
fn kept(dir: &Path) -> usize {
    let bytes = file_in(dir).and_then(|file| fs::read(file).ok()).unwrap_or_default();
    bytes.windows(8).filter(|bytes| bytes == b"FEfilter").count()
}

/// Searches until so many filters are on the disk. (None is made of a file that was changed a moment ago.)
#[track_caller]
fn keep(server: &Stdio, dir: &Path, count: u64) {
    until("the filters are on the disk", || {
        grep(server, "zebra_that_is_nowhere");
        kept(dir) >= count as usize
    });
}

fn grep(server: &Stdio, word: &str) -> String {
    server.ok("grep", json!({ "pattern": word, "-w": true, "output_mode": "count" }))
}

/// How many read calls a search takes of a server that looks at each file: what is known of folders takes reads, too.
fn reads(server: &Stdio, word: &str) -> u64 {
    let before = read_calls(server.pid());
    grep(server, word);
    read_calls(server.pid()) - before
}

/// Each word is found in its file and nowhere else.
#[track_caller]
fn check_answers(server: &Stdio, words: &[String]) {
    for (file, word) in words.iter().enumerate() {
        let found = grep(server, word);
        assert!(found.starts_with(&format!("f{file}: 1\n[{FILES} files searched")), "{word}: {found}");
    }
}

/// A server that is not killed makes what is missing, and those after it find it.
#[track_caller]
fn check_whole_again(folder: &Folder, dir: &Path) {
    let reads = |server: &Stdio| reads(server, "zebra_that_is_nowhere");
    let flags = ["--filter-cache=0", "--live=off"];
    let server = start(folder, dir, &flags);
    // A few reads of files would remain if some filters were missing; a new server also reads the file of filters.
    until("all filters are on the disk", || reads(&server) < 4);
    assert!(reads(&start(folder, dir, &flags)) < FILES / 2);
}

fn words() -> Vec<String> {
    (0..FILES).map(word).collect()
}

#[test]
fn a_new_server_reads_only_files_that_can_match_and_also_without_memory_for_filters() {
    not_under_wine!("no filters are kept there");
    let folder = filled(&mut Random::new());
    let dir = folder.outside("above/filters");
    keep(&start(&folder, &dir, &[]), &dir, FILES);
    let mode = |path: &Path| path.metadata().expect("an entry").mode() & 0o777;
    assert_eq!((mode(&dir), mode(&file_in(&dir).expect("a file"))), (0o700, 0o600));
    for flags in [&[][..], &["--filter-cache=0"], &["--read-only"]] {
        let server = start(&folder, &dir, &[flags, &["--live=off"]].concat());
        for word in ["zebra_that_is_nowhere", "zebra7quagga"] {
            let reads = reads(&server, word);
            assert!(reads < FILES / 2, "{flags:?}: {reads} reads");
        }
        check_answers(&server, &words());
        assert!(!server.stderr().contains("filter-dir"), "{}", server.stderr());
    }
    let without = serve(&folder, &["--live=off"]);
    assert!(reads(&without, "zebra_that_is_nowhere") >= FILES);
    assert_eq!(kept(&dir), FILES as usize, "nothing is kept twice");
}

#[test]
fn servers_at_work_at_the_same_time_share_what_they_keep() {
    not_under_wine!("no filters are kept there");
    let mut random = Random::new();
    let folders = [filled(&mut random), filled(&mut random), filled(&mut random)];
    let dir = filters(&folders[0]);
    let servers: Vec<Stdio> = folders.iter().map(|folder| start(folder, &dir, &["--warm"])).collect();
    // Of the same folder, and started before anything was kept.
    let flags = ["--filter-cache=0", "--live=off"];
    let others: Vec<Stdio> = folders.iter().map(|folder| start(folder, &dir, &flags)).collect();
    std::thread::scope(|scope| {
        for server in &servers {
            scope.spawn(|| keep(server, &dir, 3 * FILES));
        }
    });
    for other in &others {
        let reads = reads(other, "zebra_that_is_nowhere");
        assert!(reads < FILES / 2, "{reads} reads");
        check_answers(other, &words());
    }
}

#[test]
fn what_changed_while_no_server_ran_is_found_and_what_was_there_is_not() {
    not_under_wine!("no filters are kept there");
    let mut random = Random::new();
    let folder = filled(&mut random);
    let (dir, mut words) = (filters(&folder), words());
    keep(&start(&folder, &dir, &[]), &dir, FILES);
    for round in 0..ROUNDS {
        let file = random.below(FILES);
        let new = format!("zebra_of_round_{round}");
        change(&folder.path().join(name(file)), &text(&new, &mut random), &mut random);
        let old = std::mem::replace(&mut words[file as usize], new);
        let server = start(&folder, &dir, if round % 2 == 0 { &[] } else { &["--filter-cache=0"] });
        let gone = grep(&server, &old);
        assert!(gone.starts_with("No matches found\n["), "round {round}: {old}: {gone}");
        let found = grep(&server, &words[file as usize]);
        assert!(found.starts_with(&format!("f{file}: 1\n")), "round {round}: {found}");
        if round % 8 == 0 {
            check_answers(&server, &words);
        }
    }
    check_answers(&start(&folder, &dir, &[]), &words);
}

/// Changes the file as no server does.
fn damage(file: &Path, random: &mut Random) {
    let mut bytes = fs::read(file).expect("a file");
    let at = random.below(bytes.len() as u64 + 1) as usize;
    let end = (at + random.below(9_000) as usize).min(bytes.len());
    match random.below(5) {
        0 => bytes[at.min(end)..end].fill(0),
        1 => bytes[at..end].iter_mut().step_by(1 + random.below(2_000) as usize).for_each(|byte| *byte ^= 1),
        2 => bytes.truncate(at),
        3 => drop(bytes.splice(at..end, *b"of another program")),
        _ => bytes.copy_within(at..end, 0),
    }
    let mut file = OpenOptions::new().write(true).truncate(true).open(file).expect("the file");
    file.write_all(&bytes).expect("a write");
}

#[test]
fn whatever_becomes_of_the_file_no_answer_is_wrong() {
    not_under_wine!("no filters are kept there");
    let mut random = Random::new();
    let folder = filled(&mut random);
    let dir = filters(&folder);
    keep(&start(&folder, &dir, &[]), &dir, FILES);
    let running = start(&folder, &dir, &["--filter-cache=0"]);
    for round in 0..ROUNDS {
        damage(&file_in(&dir).expect("a file"), &mut random);
        let server = start(&folder, &dir, &[]);
        for server in [&running, &server] {
            let file = random.below(FILES);
            let found = grep(server, &word(file));
            assert!(found.starts_with(&format!("f{file}: 1\n[{FILES} files")), "round {round}: {found}");
            assert!(grep(server, "zebra_that_is_nowhere").starts_with("No matches found\n[40 files"));
        }
        if round % 8 == 0 {
            check_answers(&running, &words());
            check_answers(&server, &words());
        }
    }
    check_answers(&running, &words());
    // The file becomes whole again: at the latest by a server that was started after it was damaged.
    check_whole_again(&folder, &dir);
}

#[test]
fn a_file_that_is_cut_off_while_a_server_has_it_mapped_harms_no_search() {
    not_under_wine!("no filters are kept there");
    let folder = filled(&mut Random::new());
    let dir = filters(&folder);
    let server = start(&folder, &dir, &["--filter-cache=0"]);
    keep(&server, &dir, FILES);
    for len in [80_000, 20_000, 10, 0] {
        let file = File::options().write(true).open(file_in(&dir).expect("a file")).expect("the file");
        file.set_len(len.min(file.metadata().expect("a file").len())).expect("a shorter file");
        check_answers(&server, &words());
    }
}

#[test]
fn a_server_killed_while_it_writes_leaves_a_file_that_others_use_and_complete() {
    not_under_wine!("no filters are kept there");
    let mut random = Random::new();
    let folder = filled(&mut random);
    let dir = filters(&folder);
    let mut moment = Moment::within(200_000);
    for round in 0..ROUNDS {
        // Other states, so that all filters are made again.
        for file in 0..FILES {
            folder.set_modified(&name(file), round);
        }
        let before = if dir.exists() { kept(&dir) } else { 0 };
        let server = start(&folder, &dir, &["--warm"]);
        moment.wait(&mut random);
        server.signal(rustix::process::Signal::KILL);
        drop(server);
        match kept(&dir).saturating_sub(before) {
            0 => moment.was_early(),
            FILES_AND_MORE.. => moment.was_late(),
            _ => {}
        }
        let file = random.below(FILES);
        let found = grep(&start(&folder, &dir, &["--filter-cache=0"]), &word(file));
        assert!(found.starts_with(&format!("f{file}: 1\n[{FILES} files")), "round {round}: {found}");
    }
    check_whole_again(&folder, &dir);
    check_answers(&start(&folder, &dir, &[]), &words());
}

/// From so many new filters on, a server had made all.
const FILES_AND_MORE: usize = FILES as usize;

#[test]
fn what_stands_in_the_place_of_the_file_is_neither_used_nor_changed_and_that_is_said() {
    not_under_wine!("no filters are kept there");
    let folder = filled(&mut Random::new());
    let dir = filters(&folder);
    keep(&start(&folder, &dir, &[]), &dir, FILES);
    let path = file_in(&dir).expect("a file");
    let note = folder.outside("note");
    fs::write(&note, "a note of the user").expect("a write");
    let places: [(&str, &dyn Fn()); 4] = [
        ("is a link", &|| symlink(&note, &path).expect("a link")),
        ("not used", &|| fs::create_dir(&path).expect("a folder")),
        ("no regular file", &|| {
            let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
            rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, mode, 0).expect("a FIFO");
        }),
        ("other users may write", &|| {
            fs::write(&path, "of others").expect("a write");
            fs::set_permissions(&path, Permissions::from_mode(0o666)).expect("a mode");
        }),
    ];
    for (said, put) in places {
        fs::remove_file(&path).or_else(|_| fs::remove_dir(&path)).expect("nothing there");
        put();
        let server = start(&folder, &dir, &["--warm"]);
        check_answers(&server, &words()[..3]);
        until(said, || server.stderr().contains("--filter-dir"));
        assert!(server.stderr().contains(said), "{said}: {}", server.stderr());
        let kind = path.symlink_metadata().expect("an entry").file_type();
        assert_eq!(kind.is_file(), said.starts_with("other"), "{said}: it was replaced");
        check_answers(&server, &words());
        assert_eq!(server.stderr().matches("--filter-dir").count(), 1, "{}", server.stderr());
    }
    assert_eq!(fs::read_to_string(&note).expect("a note"), "a note of the user");
}

#[test]
fn a_full_disk_costs_only_the_filters_that_do_not_fit() {
    not_under_wine!("no filters are kept there");
    let folder = filled(&mut Random::new());
    let dir = filters(&folder);
    let flag = format!("--filter-dir={}", dir.display());
    let limited = with_file_size_limit(&command(&folder, "stdio", &[SET, &flag]), "trap '' XFSZ;");
    let server = Stdio::run(limited).ready();
    until("the disk is full", || {
        check_answers(&server, &words()[..2]);
        server.stderr().contains("--filter-dir")
    });
    check_answers(&server, &words());
    let server = start(&folder, &dir, &[]);
    check_answers(&server, &words());
    keep(&server, &dir, FILES);
}

#[test]
fn a_folder_that_is_served_or_not_the_users_own_is_refused_at_the_start() {
    not_under_wine!("no filters are kept there");
    let folder = Folder::new();
    let (served, shared) = (folder.path().display(), folder.outside("shared"));
    fs::create_dir(&shared).expect("a folder");
    fs::set_permissions(&shared, Permissions::from_mode(0o777)).expect("a mode");
    fs::write(folder.outside("file"), "").expect("a write");
    for (dir, why) in [
        (folder.path().to_owned(), "lies in the served folder"),
        (folder.path().join("filters"), "lies in the served folder"),
        (shared, "other users may write to it"),
        (folder.outside("file"), "cannot be used"),
        (folder.outside("file").join("filters"), "cannot be used"),
    ] {
        let flag = format!("--filter-dir={}", dir.display());
        let ended = run_to_end(&[&format!("--dir={served}"), "--transport=stdio", &flag]);
        assert_eq!((ended.code, ended.stderr.lines().count()), (Some(1), 1), "{flag}: {}", ended.stderr);
        assert!(ended.stderr.contains("--filter-dir=") && ended.stderr.contains(why), "{}", ended.stderr);
    }
    assert!(folder.names().is_empty(), "nothing was made in the served folder");
}
