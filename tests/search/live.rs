//! Folders that are known without a look (contract 21): answers are those of a server that looks at each folder.
#![allow(unsafe_code)] // A map, as a program has it that writes to a file without a system call.

use std::fs::{self, File};
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::{Path, PathBuf};

use serde_json::json;

use super::{found, paths};
use crate::support::{Folder, Http, Mcp, Mount, Random, Stdio, as_nobody, command, get, run_to_end, until};

const TOOLS: &str = "--tools=search,filesystem,agent.files";

/// Rounds, unless the environment says otherwise: `LIVE_ROUNDS=100000` for a long run.
fn rounds() -> u64 {
    std::env::var("LIVE_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(400)
}

fn serve(folder: &Folder, live: &str) -> Stdio {
    Stdio::start(folder, &[TOOLS, live, "--answer-limit=0"]).ready()
}

/// One of few paths, so that changes meet each other.
fn path(top: &Path, random: &mut Random) -> PathBuf {
    let names = ["a", "b", "c.rs", ".hid", ".gitignore", "d.txt"];
    let levels = 1 + random.below(4);
    (0..levels).fold(top.to_owned(), |path, level| {
        path.join(names[random.below(if level == 0 { 3 } else { names.len() as u64 }) as usize])
    })
}

/// Changes the tree in one of the ways that programs have. What is not possible is not done.
fn change(folder: &Folder, nth: u64, random: &mut Random) {
    let top = folder.path();
    let (path, other) = (path(top, random), path(top, random));
    let text = [String::new(), format!("word{nth} some text\n"), "d.txt\n".into(), "c.rs\n!d.txt\n".into()];
    let text = &text[random.below(4) as usize];
    let outside = folder.outside("elsewhere");
    let _ = match random.below(12) {
        0 | 1 => fs::create_dir_all(path.join("a/b/c")),
        2..=5 => fs::write(&path, text),
        6 => fs::remove_file(&path),
        7 => fs::remove_dir_all(&path),
        8 => fs::rename(&path, &other),
        9 => fs::hard_link(&path, &other),
        10 => fs::rename(&path, &outside).and_then(|()| fs::write(outside.join("x"), text)),
        _ => fs::rename(&outside, &path),
    };
}

#[test]
fn every_answer_is_that_of_a_server_that_looks_at_each_folder() {
    not_under_wine!("folders are watched on Linux alone");
    let folder = Folder::new();
    fs::create_dir_all(folder.path().join("a/b")).expect("folders");
    let (knows, looks) = (serve(&folder, "--live=auto"), serve(&folder, "--live=off"));
    let mut random = Random::new();
    for round in 0..rounds() {
        for _ in 0..random.below(4) {
            change(&folder, round, &mut random);
        }
        let calls = [
            ("grep", json!({ "pattern": "word", "output_mode": "content" })),
            ("grep", json!({ "pattern": format!("word{}", random.below(round + 1)), "path": "a" })),
            ("glob", json!({ "pattern": "**/*.rs", "sort": "path", "include_hidden": random.below(2) == 0 })),
            ("glob", json!({ "pattern": "**", "sort": "largest", "include_ignored": true })),
            ("files", json!({ "hidden": random.below(2) == 0 })),
            ("directory_tree", json!({ "path": "." })),
            ("search_files", json!({ "path": ".", "pattern": "**/d.*" })),
        ];
        let (tool, arguments) = &calls[random.below(calls.len() as u64) as usize];
        let [known, looked] = [&knows, &looks].map(|server| server.tool(tool, arguments.clone()).texts);
        assert_eq!(known, looked, "round {round}: {tool} {arguments}");
    }
}

/// Changes a file so that it holds `text`, of the length that it has, in one of the ways that programs have.
fn write(folder: &Folder, file: &Path, text: &[u8], random: &mut Random) {
    let open = || File::options().read(true).write(true).open(file).expect("a file");
    let time = file.metadata().and_then(|found| found.modified()).expect("a time");
    match random.below(8) {
        0 => fs::write(file, text).expect("a write"),
        1 => open().write_all_at(text, 0).expect("a write"),
        2 => {
            let opened = open();
            opened.write_all_at(text, 0).expect("a write");
            opened.set_modified(time).expect("a time");
        }
        3 | 4 => {
            // SAFETY: nobody changes the length of the file.
            let mut map = unsafe { memmap2::MmapMut::map_mut(&open()).expect("a map") };
            map.copy_from_slice(text);
        }
        5 => {
            fs::write(folder.outside("new"), text).expect("a write");
            fs::rename(folder.outside("new"), file).expect("a rename");
        }
        6 => {
            let link = folder.path().join("link");
            fs::hard_link(file, &link).expect("a link");
            File::options().write(true).open(&link).expect("a file").write_all_at(text, 0).expect("a write");
            match random.below(2) {
                0 => fs::remove_file(&link).expect("a removal"),
                _ => fs::rename(&link, folder.outside("link")).expect("a rename"),
            }
            let _ = fs::remove_file(folder.outside("link"));
        }
        _ => {
            fs::remove_file(file).expect("a removal");
            fs::write(file, text).expect("a write");
        }
    }
}

#[test]
fn what_others_write_in_any_way_is_found_at_once_and_what_they_overwrite_is_gone() {
    not_under_wine!("folders are watched on Linux alone");
    let folder = Folder::new();
    fs::create_dir_all(folder.path().join("a/b")).expect("folders");
    let names = ["a/x", "a/y", "a/b/z", "w"];
    let text = |word: &str| format!("{word:<30}\n{}", "some other words\n".repeat(100)).into_bytes();
    let mut words: Vec<String> =
        names.iter().map(|name| format!("first_{}", name.replace('/', "_"))).collect();
    for (name, word) in names.iter().zip(&words) {
        folder.write(name, text(word));
    }
    let server = Http::start(&folder, &["--admin-port=0", "--tools=search"]);
    let believed = || {
        let figures = get(server.admin_port(), "/metrics").text();
        let line =
            figures.lines().find(|line| line.starts_with("file_editor_live_files{state=\"believed\"}"));
        line.and_then(|line| line.rsplit_once(' ')?.1.parse::<usize>().ok()).unwrap_or_default()
    };
    // A map that is open while others are believed: its stores are told by nothing.
    let (mut random, mut waited) = (Random::new(), 0);
    for round in 0..rounds() {
        let file = random.below(names.len() as u64) as usize;
        let word = format!("word_{round}_of_it");
        // All are believed in some rounds, so that a stale one would be told.
        if round % 8 == 0 {
            until("all files are believed", || {
                server.ok("grep", json!({ "pattern": "in_no_file_at_all" }));
                believed() == names.len()
            });
            waited += 1;
        }
        write(&folder, &folder.path().join(names[file]), &text(&word), &mut random);
        let old = std::mem::replace(&mut words[file], word);
        let found = server.ok("grep", json!({ "pattern": words[file], "-w": true }));
        assert!(found.starts_with(&format!("{}: 1\n", names[file])), "round {round}: {found}");
        let gone = server.ok("grep", json!({ "pattern": old, "-w": true }));
        assert!(gone.starts_with("No matches found\n["), "round {round}: {old}: {gone}");
    }
    assert!(waited > 0);
}

#[test]
fn what_is_mounted_over_a_known_folder_is_seen_and_what_was_below_when_it_is_gone() {
    let folder = Folder::new();
    for name in ["inner/deep", "beside"] {
        fs::create_dir_all(folder.path().join(name)).expect("folders");
        folder.write(&format!("{name}/below.txt"), "below\n");
    }
    let outside = folder.outside("outside");
    fs::create_dir_all(outside.join("deep")).expect("folders");
    fs::write(outside.join("deep/above.txt"), "above\n").expect("a file");
    let server = serve(&folder, "--live=auto");
    let all = json!({ "pattern": "*.txt" });
    let below = ["beside/below.txt", "inner/deep/below.txt"];
    for _ in 0..3 {
        assert_eq!(found(&server, all.clone()), below);
        // Of the same device, so that walks enter it.
        let Some(mount) = Mount::bind(&outside, &folder.path().join("inner")) else { return };
        assert_eq!(found(&server, all.clone()), ["beside/below.txt", "inner/deep/above.txt"]);
        drop(mount);
        assert_eq!(found(&server, all.clone()), below);
        // Of another device, which walks leave out.
        let Some(mount) = Mount::at(&folder.path().join("inner"), "size=1m") else { return };
        assert_eq!(found(&server, all.clone()), below[..1]);
        drop(mount);
    }
}

#[test]
fn a_folder_that_is_closed_to_the_server_is_closed_although_it_was_known() {
    not_under_wine!("folders are watched on Linux alone");
    let folder = Folder::new();
    fs::create_dir_all(folder.path().join("a/b")).expect("folders");
    folder.write("a/b/known.txt", "text\n");
    let start = |live| Stdio::run(as_nobody(command(&folder, "stdio", &[TOOLS, live]), &folder)).ready();
    let (knows, looks) = (start("--live=auto"), start("--live=off"));
    let all = json!({ "pattern": "*.txt" });
    assert_eq!(found(&knows, all.clone()), ["a/b/known.txt"]);
    for mode in [0o400, 0o700, 0o600] {
        fs::set_permissions(folder.path().join("a"), PermissionsExt::from_mode(mode)).expect("a mode");
        for (tool, arguments) in [("glob", all.clone()), ("grep", json!({ "pattern": "nowhere_at_all" }))] {
            let [known, looked] = [&knows, &looks].map(|server| server.tool(tool, arguments.clone()).texts);
            assert_eq!(known, looked, "{mode:o} {tool}");
        }
    }
    fs::set_permissions(folder.path().join("a"), PermissionsExt::from_mode(0o700)).expect("a mode");
}

/// The number of folders that a server on this folder knows after a walk.
fn known(folder: &Folder, flags: &[&str]) -> Option<u64> {
    fs::create_dir_all(folder.path().join("a/b")).expect("folders");
    let server = Http::start(folder, &[&["--admin-port=0", TOOLS], flags].concat());
    assert_eq!(paths(&server.ok("glob", json!({ "pattern": "*" }))), [""; 0]);
    let figures = get(server.admin_port(), "/metrics").text();
    let line = figures.lines().find(|line| line.starts_with("file_editor_live_folders{state=\"known\"}"))?;
    line.rsplit_once(' ').and_then(|(_, number)| number.parse().ok())
}

/// What `--doctor` says of watches.
fn told(folder: &Folder, flags: &[&str]) -> String {
    let path = folder.path().display().to_string();
    let ended = run_to_end(&[&[&*path, "--doctor"], flags].concat());
    let line = ended.stdout.lines().find(|line| line.contains(": watches: "));
    line.unwrap_or_else(|| panic!("{}", ended.stdout)).to_owned()
}

#[test]
fn where_the_system_tells_all_changes_folders_are_known_and_the_operator_can_see_it() {
    not_under_wine!("folders are watched on Linux alone");
    for kind in ["ext4", "xfs", "btrfs", "tmpfs"] {
        let folder = Folder::new();
        let mount = match kind {
            "tmpfs" => Mount::at(folder.path(), "size=8m"),
            kind => Mount::made_by(kind, &[], &folder),
        };
        // Where none can be made, the message was printed.
        if mount.is_some() {
            let lost = u64::from(kind == "ext4");
            assert_eq!(known(&folder, &[]), Some(3 + lost), "{kind}");
            assert!(told(&folder, &[]).contains("not looked at again"), "{kind}");
        }
        assert_eq!(known(&folder, &["--live=off"]), None);
        assert!(told(&folder, &["--live=off"]).contains("--live=off"));
    }
}

#[test]
fn where_the_system_does_not_tell_all_changes_nothing_is_watched() {
    let folder = Folder::new();
    let Some(_mount) = Mount::overlay(&folder) else { return };
    assert_eq!(known(&folder, &[]), Some(0));
    assert!(told(&folder, &[]).contains("does not tell all changes"));
}
