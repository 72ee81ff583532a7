//! The figures beside those of `git log --numstat -M`, on random histories.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::process::Stdio;

use serde_json::json;

use super::{Repository, analyze, git_in, now};
use crate::support::Random;

/// Commits of one history.
const COMMITS: u64 = 60;

type Files = BTreeMap<String, String>;

fn text(random: &mut Random) -> String {
    let (count, words) =
        ([0, 1, 5, 40, 300][random.below(5) as usize], [3, 20, 1_000][random.below(3) as usize]);
    (0..count).map(|_| format!("word {}\n", random.below(words))).collect()
}

fn edited(random: &mut Random, text: &str) -> String {
    let mut lines: Vec<String> = text.split_inclusive('\n').map(str::to_owned).collect();
    for _ in 0..[1, 2, 10, 60][random.below(4) as usize] {
        let at = random.below(lines.len() as u64 + 1) as usize;
        match random.below(4) {
            0 => lines.insert(at, format!("new {}\n", random.below(9))),
            1 if at < lines.len() => drop(lines.remove(at)),
            2 if at < lines.len() => lines[at] = format!("other {}\r\n", random.below(5)),
            _ => {
                let block: Vec<String> = lines.iter().take(3).cloned().collect();
                lines.splice(at..at, block);
            }
        }
    }
    lines.concat()
}

/// Changes some files: new, edited, removed, moved, moved and edited.
fn change(random: &mut Random, files: &mut Files) {
    for _ in 0..=random.below(3) {
        let path = format!("{}/{}", ["a", "b", "c/d"][random.below(3) as usize], random.below(6));
        let known = files.keys().nth(random.below(files.len().max(1) as u64) as usize).cloned();
        match (random.below(6), known) {
            (0 | 1, _) | (_, None) => drop(files.insert(path, text(random))),
            (2, Some(known)) => drop(files.remove(&known)),
            (3, Some(known)) => {
                let content = files.remove(&known).unwrap_or_default();
                files.insert(path, content);
            }
            (4, Some(known)) => {
                let content = files.remove(&known).unwrap_or_default();
                files.insert(path, edited(random, &content));
            }
            (_, Some(known)) => {
                let content = edited(random, &files[&known]);
                files.insert(known, content);
            }
        }
    }
}

/// A stream for `git fast-import` with two branches that are merged now and then.
fn history(random: &mut Random) -> String {
    let (mut stream, start) = (String::new(), now() - COMMITS * 1_000);
    let mut branches: [(Option<u64>, Files); 2] = Default::default();
    for number in 1..=COMMITS {
        let at = random.below(2) as usize;
        let is_last = number == COMMITS;
        let merged = branches[1 - at].0.filter(|_| is_last || random.below(6) == 0);
        let (parent, files) = &mut branches[at];
        change(random, files);
        let who = format!(
            "P{} <p@example.org> {} +0000",
            random.below(3),
            start + number * 900 + random.below(2_000)
        );
        let branch = if is_last { "main".to_owned() } else { format!("b{at}") };
        let _ = write!(
            stream,
            "commit refs/heads/{branch}\nmark :{number}\nauthor {who}\ncommitter {who}\ndata 0\n"
        );
        for (word, mark) in [("from", *parent), ("merge", merged)] {
            if let Some(mark) = mark {
                let _ = writeln!(stream, "{word} :{mark}");
            }
        }
        stream.push_str("deleteall\n");
        for (path, content) in files.iter() {
            let _ = write!(stream, "M 100644 inline {path}\ndata {}\n{content}\n", content.len());
        }
        *parent = Some(number);
    }
    stream
}

/// Commits, and added and deleted lines, as git counts them.
fn expected(repository: &Repository) -> (u64, u64, u64) {
    let arguments = ["log", "--numstat", "-M", "--since-as-filter=30 days ago", "--format=tformat:commit"];
    let mut sums = (0, 0, 0);
    for line in repository.git(&arguments).lines() {
        let mut fields = line.split('\t').map(str::parse::<u64>);
        match (line, fields.next(), fields.next()) {
            ("commit", ..) => sums.0 += 1,
            (_, Some(Ok(added)), Some(Ok(deleted))) => sums = (sums.0, sums.1 + added, sums.2 + deleted),
            _ => {}
        }
    }
    sums
}

#[test]
fn random_histories_have_the_figures_of_git() {
    let mut random = Random::new();
    for round in 0..8 {
        let Some(repository) = Repository::new() else { return };
        let mut import = git_in(repository.folder.path(), &["fast-import", "--quiet"])
            .stdin(Stdio::piped())
            .spawn()
            .expect("git runs");
        let stream = history(&mut random);
        import.stdin.take().expect("a pipe").write_all(stream.as_bytes()).expect("written");
        assert!(import.wait().expect("git ends").success());
        if round % 2 == 0 {
            repository.git(&["gc", "-q"]);
        }
        let summary = analyze(&repository.serve(&[]), json!({}))["summary"].clone();
        let number = |name: &str| summary[name].as_u64().expect("a number");
        let found = (number("commits"), number("lines_added"), number("lines_deleted"));
        assert_eq!(found, expected(&repository), "round {round}\n{stream}");
    }
}
