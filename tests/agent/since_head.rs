//! `changes` with `since: "HEAD"`: what git says, without git. The repositories are made by the git program; without one, these tests
//! say so and end.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::json;

use super::serve;
use crate::support::{Mcp, Random};
use crate::toolkit::churn::Repository;

/// The files that differ from `HEAD`, with a letter each, as git has it: tracked ones, and others that are not ignored.
fn by_git(repository: &Repository) -> BTreeMap<String, char> {
    let mut found = BTreeMap::new();
    let tracked = repository.git(&["diff", "--no-renames", "--name-status", "-z", "HEAD"]);
    let mut words = tracked.split_terminator('\0');
    while let (Some(letter), Some(path)) = (words.next(), words.next()) {
        found.insert(path.to_owned(), letter.chars().next().expect("a letter"));
    }
    let others = repository.git(&["ls-files", "--others", "--exclude-standard", "-z"]);
    found.extend(others.split_terminator('\0').map(|path| (path.to_owned(), 'A')));
    found
}

/// The same as the server tells it; a file that was moved counts as deleted and new.
fn by_server(answer: &str) -> BTreeMap<String, char> {
    let mut found = BTreeMap::new();
    for line in answer.lines().filter(|line| line.ends_with(" by another program")) {
        let (path, what) = line.split_once(':').expect("a path");
        let what = what.strip_suffix(" by another program").expect("who");
        match what.strip_prefix(" moved from ") {
            Some(from) => {
                found.insert(from.to_owned(), 'D');
                found.insert(path.to_owned(), 'A');
            }
            None => {
                let letter = match what {
                    " new" => 'A',
                    " deleted" => 'D',
                    "" => 'M',
                    other => panic!("{other:?} in {answer}"),
                };
                found.insert(path.to_owned(), letter);
            }
        }
    }
    found
}

#[test]
fn what_differs_from_the_last_commit_is_what_git_finds() {
    let mut random = Random::new();
    for round in 0..12 {
        let Some(repository) =
            Repository::with(if round % 4 == 3 { &["--object-format=sha256"] } else { &[] })
        else {
            return;
        };
        let names = ["a", "b.log", "d/a", "d/e/b", ".hidden", ".github/w.yml", "d/.x", "ü", "c d"];
        repository.put(".gitignore", "*.log\nignored/\n");
        for name in names {
            if random.below(4) > 0 {
                repository.put(name, format!("{name}\nline\nmore\n{}", random.below(3)));
            }
        }
        repository.git(&["add", "-f", "-A"]);
        repository.commit(1);
        let server = serve(&repository.folder, &[]);
        for _ in 0..4 {
            let name = names[random.below(names.len() as u64) as usize];
            let path = repository.folder.path().join(name);
            match random.below(5) {
                0 => _ = std::fs::remove_file(&path),
                1 if path.exists() => {
                    let to = repository.folder.path().join(format!("moved{}", random.below(3)));
                    std::fs::rename(&path, to).expect("a rename");
                }
                2 => repository.put("ignored/x", "x"),
                _ => repository.put(name, format!("{name}\nline\nother {}\n", random.below(100))),
            }
            let answer = server.ok("changes", json!({ "since": "HEAD" }));
            assert_eq!(by_server(&answer), by_git(&repository), "{answer}");
        }
    }
}

#[test]
fn a_file_that_differs_from_the_last_commit_has_a_diff_and_the_changes_that_the_journal_knows() {
    let Some(repository) = Repository::new() else { return };
    repository.put("src/a.rs", "1\n2\n3\n4\n5\n");
    repository.put("src/b.rs", "gone\n");
    repository.put("crlf.txt", "1\n2\n");
    repository.commit(1);
    let server = serve(&repository.folder, &[]);
    let id = super::id(&server.ok("edit", json!({ "path": "src/a.rs", "old": "3", "new": "three" })));
    // Line breaks alone are what git may have changed itself.
    repository.put("crlf.txt", "1\r\n2\r\n");
    repository.put("new", "n\n");
    std::fs::rename(repository.folder.path().join("src/b.rs"), repository.folder.path().join("src/c.rs"))
        .expect("a rename");
    let head = &repository.git(&["rev-parse", "HEAD"])[..10];
    let answer = server.ok("changes", json!({ "since": "HEAD" }));
    let expected = format!(
        "3 files differ from HEAD ({head})\nnew: new by another program\n@@ -0,0 +1,1 @@\n+n\n\
         src/a.rs: by {id}\n@@ -2,3 +2,3 @@\n 2\n-3\n+three\n 4\n\
         src/c.rs: moved from src/b.rs by another program"
    );
    assert_eq!(answer, expected);
    let answer = server.ok("changes", json!({ "since": "HEAD", "by": "me", "diff": false }));
    assert_eq!(answer, format!("1 file differs from HEAD ({head})\nsrc/a.rs: by {id}"));
    let answer = server.ok("changes", json!({ "since": "HEAD", "path": "src/c.rs" }));
    assert!(answer.starts_with("1 file differs from HEAD") && answer.contains("src/c.rs: new "), "{answer}");
    let below = serve(&repository.folder, &["--journal=off"]);
    let answer = below.ok("changes", json!({ "since": "HEAD", "path": "src/a.rs", "context": 2 }));
    assert_eq!(
        answer,
        format!("1 file differs from HEAD ({head})\nsrc/a.rs:\n@@ -1,5 +1,5 @@\n 1\n 2\n-3\n+three\n 4\n 5")
    );
}

#[test]
fn each_file_of_a_folder_that_a_change_deleted_is_told_with_that_change() {
    let Some(repository) = Repository::new() else { return };
    repository.put("d/a", "1\n");
    repository.put("d/b", "2\n");
    repository.commit(1);
    let server = serve(&repository.folder, &[]);
    let id = super::id(&server.ok("edit", json!({ "path": "d", "delete": true, "recursive": true })));
    let answer = server.ok("changes", json!({ "since": "HEAD", "diff": false }));
    assert!(answer.ends_with(&format!("\nd/a: deleted by {id}\nd/b: deleted by {id}")), "{answer}");
}

#[test]
fn a_shallow_clone_is_compared_and_what_is_no_repository_is_said() {
    let Some(repository) = Repository::new() else { return };
    repository.put("a", "1\n");
    repository.commit(2);
    repository.put("a", "2\n");
    repository.commit(1);
    let Some(clone) = Repository::new() else { return };
    let from = format!("file://{}", repository.folder.path().display());
    clone.git(&["clone", "-q", "--depth=1", &from, "clone"]);
    std::fs::write(clone.folder.path().join("clone/a"), "3\n").expect("a file");
    let server = serve(&clone.folder, &[]);
    let answer = server.ok("changes", json!({ "since": "HEAD", "path": "clone" }));
    assert!(answer.contains("\nclone/a: by another program\n@@ -1,1 +1,1 @@\n-2\n+3"), "{answer}");
    assert!(Path::new(clone.folder.path()).join("clone/.git/shallow").exists());
    let empty = crate::support::Folder::new();
    let refused = serve(&empty, &[]).tool("changes", json!({ "since": "HEAD" }));
    assert!(refused.is_error && refused.text.contains("is in no git repository"), "{}", refused.text);
}

#[test]
fn a_file_that_the_session_moved_and_changed_is_told_as_moved_by_its_changes() {
    let Some(repository) = Repository::new() else { return };
    repository.put("f.txt", "1\n2\n3\n");
    repository.put("d/q.txt", "q\n");
    repository.put("d/r.txt", "r\n");
    repository.put("e/x.txt", "x\n");
    repository.put("o.txt", "o\n");
    repository.commit(1);
    let server = serve(&repository.folder, &[]);
    let call = |arguments| super::id(&server.ok("edit", arguments));
    let moved = call(json!({ "path": "f.txt", "move_to": "s/f.txt" }));
    let appended = call(json!({ "path": "s/f.txt", "append": "4" }));
    // A folder, and what is in it, in one call and in two.
    let both = call(json!({ "edits": [
        { "path": "d", "move_to": "dd" },
        { "path": "dd/q.txt", "append": "more" },
    ] }));
    let folder = call(json!({ "path": "e", "move_to": "ee" }));
    let within = call(json!({ "path": "ee/x.txt", "append": "more" }));
    // What another program moves stays its own.
    std::fs::rename(repository.folder.path().join("o.txt"), repository.folder.path().join("p.txt"))
        .expect("a rename");
    repository.put("p.txt", "other\n");
    let head = &repository.git(&["rev-parse", "HEAD"])[..10];
    let answer = server.ok("changes", json!({ "since": "HEAD", "diff": false }));
    let own = format!(
        "dd/q.txt: moved from d/q.txt by {both}\ndd/r.txt: moved from d/r.txt by {both}\n\
         ee/x.txt: moved from e/x.txt by {folder}, {within}\n"
    );
    let file = format!("s/f.txt: moved from f.txt by {moved}, {appended}");
    assert_eq!(
        answer,
        format!(
            "6 files differ from HEAD ({head})\n{own}o.txt: deleted by another program\n\
             p.txt: new by another program\n{file}"
        )
    );
    let answer = server.ok("changes", json!({ "since": "HEAD", "by": "me", "diff": false }));
    assert_eq!(answer, format!("4 files differ from HEAD ({head})\n{own}{file}"));
    let answer = server.ok("changes", json!({ "since": "HEAD", "by": "me" }));
    assert!(answer.contains(&format!("{file}\n@@ -3,1 +3,2 @@\n 3\n+4")), "{answer}");
}
