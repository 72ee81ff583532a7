//! What counts: periods, authors, renames, merges, folders and excluded paths.

use serde_json::json;

use super::{Repository, analyze, files, lines, row};
use crate::support::{Folder, named};

#[test]
fn commits_authors_and_lines_are_counted_per_file_and_in_all() {
    let Some(repository) = Repository::new() else { return };
    repository.put("a", "1\n2\n3\n");
    repository.put("b", "1\n");
    repository.put("binary", b"\0\x01\x02");
    repository.commit_by("Ann", 3);
    repository.put("a", "1\nx\n3\n4\n");
    repository.put("binary", b"\0\x01\x03");
    repository.commit_by("Bob", 2);
    repository.git(&["rm", "-q", "b"]);
    repository.commit_by("Ann", 1);
    repository.commit_by("Cid", 1);
    let churn = repository.churn();
    let summary = &churn["summary"];
    for (name, value) in [("commits", 4), ("merges", 0), ("authors", 3), ("files", 3), ("period_days", 30)] {
        assert_eq!(summary[name], value, "{name}");
    }
    assert_eq!((&summary["lines_added"], &summary["lines_deleted"]), (&json!(6), &json!(2)));
    assert_eq!(files(&churn), [row("a", 2, 5, 1), row("b", 2, 1, 1), row("binary", 2, 0, 0)]);
    let of = |path: &str| {
        let files = churn["files"].as_array().expect("files").iter();
        files.clone().find(|file| file["path"] == path).expect("the file").clone()
    };
    assert_eq!(of("b")["exists"], false);
    assert_eq!((&of("a")["exists"], &of("binary")["binary_changes"]), (&json!(true), &json!(2)));
    let ann = json!({ "name": "Ann", "email": "Ann@example.org", "commits": 2 });
    assert_eq!(of("b")["authors"], json!([ann]));
    assert_eq!((&churn["authors"][0], &of("a")["author_count"]), (&ann, &json!(2)));
    assert_eq!(summary["head"], repository.git(&["rev-parse", "HEAD"]).trim());
}

#[test]
fn the_period_goes_by_the_date_of_the_committer() {
    let Some(repository) = Repository::new() else { return };
    for days in [100, 40, 20, 5] {
        repository.put("a", lines(days as usize));
        repository.commit(days);
    }
    let server = repository.serve(&[]);
    for (days, commits) in [(1, 0), (10, 1), (30, 2), (50, 3), (36_525, 4)] {
        let churn = analyze(&server, json!({ "period_days": days }));
        assert_eq!(churn["summary"]["commits"], commits, "{days} days");
    }
    assert_eq!(analyze(&server, json!({}))["summary"]["lines_deleted"], 35);
}

#[test]
fn a_commit_with_a_wrong_date_hides_none_of_those_before_it() {
    let Some(repository) = Repository::new() else { return };
    for (number, days) in [5, 4, 4_000, 3].into_iter().enumerate() {
        repository.put("a", lines(number + 1));
        repository.commit(days);
    }
    assert_eq!(files(&repository.churn()), [row("a", 3, 3, 0)]);
}

#[test]
fn renames_are_followed_to_the_present_name() {
    let Some(repository) = Repository::new() else { return };
    repository.put("first", lines(10));
    repository.commit(9);
    repository.git(&["mv", "first", "second"]);
    repository.commit(8);
    repository.put("second", lines(12));
    repository.commit(7);
    std::fs::create_dir(repository.folder.path().join("folder")).expect("a folder");
    repository.git(&["mv", "second", "folder/third"]);
    repository.put("folder/third", lines(13));
    repository.commit(6);
    repository.put("first", "another file\n");
    repository.commit(5);
    let churn = repository.churn();
    assert_eq!(files(&churn), [row("first", 1, 1, 0), row("folder/third", 4, 13, 0)]);
}

#[test]
fn a_merge_counts_once_and_adds_no_lines() {
    let Some(repository) = Repository::new() else { return };
    repository.put("a", lines(5));
    repository.commit(9);
    repository.git(&["checkout", "-q", "-b", "side"]);
    repository.put("b", lines(3));
    repository.commit(8);
    repository.git(&["checkout", "-q", "main"]);
    repository.put("a", lines(6));
    repository.commit(7);
    repository.git(&["merge", "-q", "--no-ff", "-m", "merge", "side"]);
    let churn = repository.churn();
    assert_eq!((&churn["summary"]["commits"], &churn["summary"]["merges"]), (&json!(4), &json!(1)));
    assert_eq!(files(&churn), [row("a", 2, 6, 0), row("b", 1, 3, 0)]);
}

#[test]
fn a_branch_that_still_used_the_old_name_counts_for_the_new_one() {
    let Some(repository) = Repository::new() else { return };
    repository.put("old", lines(20));
    repository.commit(9);
    repository.git(&["checkout", "-q", "-b", "side"]);
    repository.put("old", lines(21));
    repository.commit(5);
    repository.git(&["checkout", "-q", "main"]);
    repository.git(&["mv", "old", "new"]);
    repository.commit(7);
    repository.git(&["merge", "-q", "--no-ff", "-m", "merge", "side"]);
    assert_eq!(files(&repository.churn()), [row("new", 3, 21, 0)]);
}

#[test]
fn a_folder_of_a_repository_is_analyzed_by_itself() {
    let Some(repository) = Repository::new() else { return };
    repository.put("top", "a\n");
    repository.put("src/a", lines(10));
    repository.put("src/deep/b", "b\n");
    repository.put("srcs", "c\n");
    repository.commit(3);
    repository.put("top", "x\n");
    repository.commit(2);
    repository.git(&["mv", "src/a", "src/deep/a"]);
    repository.commit(1);
    let server = repository.serve(&[]);
    let churn = analyze(&server, json!({ "project_path": "src" }));
    assert_eq!(files(&churn), [row("src/deep/a", 2, 10, 0), row("src/deep/b", 1, 1, 0)]);
    assert_eq!(churn["summary"]["commits"], 2);
    let churn = analyze(&server, json!({ "project_path": "src/deep" }));
    assert_eq!(files(&churn), [row("src/deep/a", 2, 10, 0), row("src/deep/b", 1, 1, 0)]);
    let other = Folder::new();
    let flag = format!("--dir={}", other.path().display());
    let of_two = analyze(&repository.serve(&[&flag]), json!({ "project_path": "src" }));
    let place = |name: &str| named(&repository.folder.path().join("src/deep").join(name));
    assert_eq!(files(&of_two), [row(&place("a"), 2, 10, 0), row(&place("b"), 1, 1, 0)]);
}

#[test]
fn excluded_paths_are_in_no_figure() {
    let Some(repository) = Repository::new() else { return };
    repository.put("a", "a\n");
    repository.put("secret/key", lines(10));
    repository.commit(3);
    repository.put("secret/key", lines(11));
    repository.commit_by("Hidden", 2);
    let churn = analyze(&repository.serve(&["--exclude=secret/"]), json!({}));
    assert_eq!(files(&churn), [row("a", 1, 1, 0)]);
    assert_eq!((&churn["summary"]["commits"], &churn["summary"]["lines_added"]), (&json!(1), &json!(1)));
    assert!(!churn.to_string().contains("Hidden") && !churn.to_string().contains("secret"), "{churn}");
}

#[test]
fn names_by_sha_256_are_read_too() {
    let Some(repository) = Repository::with(&["--object-format=sha256"]) else { return };
    repository.put("a", lines(4));
    repository.commit(2);
    repository.put("a", lines(5));
    repository.commit(1);
    repository.git(&["gc", "-q"]);
    assert_eq!(files(&repository.churn()), [row("a", 2, 5, 0)]);
}
