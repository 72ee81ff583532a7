//! A search finds what a file holds now, whatever was known of it (contract 14).

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::SystemTime;

use serde_json::json;

use super::serve;
use crate::support::{Folder, Mcp, Random, while_others};

/// Files that are changed by turns.
const FILES: u64 = 12;

/// Rounds, unless the environment says otherwise: `SEARCH_ROUNDS=10000` for a long run.
const ROUNDS: u64 = 1_500;

fn rounds() -> u64 {
    std::env::var("SEARCH_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(ROUNDS)
}

/// A text of about 100 KB, so that it has two blocks, with `word` at a random place. Its length is always the same.
fn text(word: &str, random: &mut Random) -> String {
    let at = random.below(5_000) as usize;
    (0..5_000).map(|line| format!("{:<19}\n", if line == at { word } else { "some other words" })).collect()
}

/// Changes a file in one of the ways that programs have; its length stays the same, and sometimes its time.
pub(super) fn change(path: &Path, text: &str, random: &mut Random) {
    let time = fs::metadata(path).and_then(|found| found.modified()).unwrap_or(SystemTime::UNIX_EPOCH);
    match random.below(4) {
        0 => fs::write(path, text).expect("a write"),
        1 => {
            let file = File::options().write(true).open(path).expect("a file");
            file.write_all_at(text.as_bytes(), 0).expect("a write");
            file.set_modified(time).expect("a time");
        }
        2 => {
            let new = path.with_extension("new");
            fs::write(&new, text).expect("a write");
            fs::rename(&new, path).expect("a rename");
        }
        _ => {
            let new = path.with_extension("new");
            fs::write(&new, text).expect("a write");
            File::options().write(true).open(&new).expect("a file").set_modified(time).expect("a time");
            fs::rename(&new, path).expect("a rename");
        }
    }
}

#[test]
fn what_another_program_writes_is_found_at_once_and_what_it_overwrites_is_gone() {
    not_under_wine!("has a limit of time that such a program does not keep");
    let folder = Folder::new();
    let mut random = Random::new();
    let path = |file: u64| folder.path().join(format!("f{file}"));
    let mut words: Vec<String> = (0..FILES).map(|file| format!("word_of_{file}_at_first")).collect();
    for file in 0..FILES {
        fs::write(path(file), text(&words[file as usize], &mut random)).expect("a write");
    }
    let server = serve(&folder, &[]);
    for round in 0..rounds() {
        let file = random.below(FILES);
        let word = format!("word_{round}_of_it");
        change(&path(file), &text(&word, &mut random), &mut random);
        let old = std::mem::replace(&mut words[file as usize], word);
        let now = &words[file as usize];
        let found = server.ok("grep", json!({ "pattern": now, "-w": true }));
        assert!(found.starts_with(&format!("f{file}: 1\n")), "round {round}: {now}: {found}");
        let gone = server.ok("grep", json!({ "pattern": old, "-w": true }));
        assert!(gone.starts_with("No matches found\n["), "round {round}: {old}: {gone}");
        // A file that was not changed for a while.
        let other = random.below(FILES) as usize;
        let found = server.ok("grep", json!({ "pattern": words[other], "fixed_strings": true, "-w": true }));
        assert!(found.starts_with(&format!("f{other}: 1\n")), "round {round}: {}: {found}", words[other]);
    }
}

#[test]
fn a_search_meets_no_half_written_line_while_files_are_replaced() {
    let folder = Folder::new();
    for file in 0..4 {
        folder.write(&format!("f{file}"), "the whole line ä\n".repeat(20_000));
    }
    let server = serve(&folder, &[]);
    let path = |name: &str| folder.path().join(name);
    let replace = || {
        for file in 0..4 {
            fs::write(path("new"), "the whole line ä\n".repeat(20_000)).expect("a write");
            fs::rename(path("new"), path(&format!("f{file}"))).expect("a rename");
        }
    };
    while_others(replace, || {
        for _ in 0..30 {
            let text = server.ok("grep", json!({ "pattern": "line", "output_mode": "count", "glob": "f*" }));
            for line in text.lines().take_while(|line| !line.starts_with('[')) {
                assert!(line.ends_with(": 20000"), "{text}");
            }
            assert!(text.contains("[4 files searched, 80000 matching lines in 4 files"), "{text}");
        }
    });
}
