//! What is no repository that can be read completely, and what is never run or followed.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use serde_json::json;

use super::{Repository, SET, files, git_in, lines, row, run};
use crate::support::{Folder, Mcp, Stdio, command, has_git};

/// The first line of the refusal to analyze the folder at `path`.
#[track_caller]
fn refused(folder: &Folder, path: &str) -> String {
    Stdio::start(folder, &[SET]).ready().refused("analyze_code_churn", json!({ "project_path": path }))
}

fn with_commits() -> Option<Repository> {
    let repository = Repository::new()?;
    for days in [3, 2, 1] {
        repository.put("a", lines(10 - days as usize));
        repository.commit(days);
    }
    Some(repository)
}

#[test]
fn a_folder_in_no_repository_is_refused() {
    let folder = Folder::new();
    crate::trees::put(&folder, "a/b", "");
    let line = refused(&folder, "a");
    assert!(line.starts_with("Error: Invalid arguments: project_path: a is in no git repository"), "{line}");
    let line = refused(&folder, "none");
    assert!(line.contains("none") && !line.contains("repository"), "{line}");
    let line = refused(&folder, "a/b");
    assert!(line.contains("not a") || line.contains("folder"), "{line}");
}

#[test]
fn bare_shallow_and_empty_repositories_are_refused_with_the_way_out() {
    let Some(origin) = with_commits() else { return };
    let url = format!("file://{}", origin.folder.path().display());
    for (flag, part) in [("--bare", "is bare"), ("--depth=1", "git fetch --unshallow")] {
        let folder = Folder::new();
        run(git_in(folder.path(), &["clone", "-q", flag, &url, "clone"]));
        let line = refused(&folder, "clone");
        assert!(line.contains(part), "{flag}: {line}");
    }
    let Some(empty) = Repository::new() else { return };
    let line = refused(&empty.folder, ".");
    assert!(line.contains("no commits yet"), "{line}");
}

#[test]
fn refs_in_reftables_are_refused() {
    if !has_git() {
        return;
    }
    let folder = Folder::new();
    let mut init = git_in(folder.path(), &["init", "-q", "--ref-format=reftable"]);
    if !init.output().is_ok_and(|output| output.status.success()) {
        println!("skipped: this git knows no reftables");
        return;
    }
    let line = refused(&folder, ".");
    assert!(line.contains("reftables") && line.contains("git refs migrate"), "{line}");
}

#[test]
fn a_repository_of_an_unknown_format_is_refused_as_git_refuses_it() {
    let Some(repository) = with_commits() else { return };
    repository.git(&["config", "core.repositoryformatversion", "1"]);
    let config = repository.folder.path().join(".git/config");
    let good = fs::read_to_string(&config).expect("a config");
    for (text, part) in [
        (good.replace("version = 1", "version = 99"), "the format version \"99\""),
        (format!("{good}[extensions]\n\tnewKind = true\n"), "the extension \"newkind\""),
    ] {
        fs::write(&config, text).expect("written");
        let line = refused(&repository.folder, ".");
        assert!(line.contains(part), "{line}");
    }
}

#[test]
fn git_files_and_links_that_lead_elsewhere_are_not_followed() {
    not_under_wine!("wine shows links of this machine as what they lead to, and opens nothing through most");
    let Some(repository) = with_commits() else { return };
    repository.git(&["worktree", "add", "-q", "../beside"]);
    repository.git(&["worktree", "add", "-q", "tree"]);
    let line = refused(&repository.folder, "tree");
    assert!(line.contains(".git is a file"), "{line}");
    let outside = repository.folder.outside("beside-git");
    fs::rename(repository.folder.path().join(".git"), &outside).expect("moved");
    symlink(&outside, repository.folder.path().join(".git")).expect("a link");
    let line = refused(&repository.folder, ".");
    assert!(line.contains(".git is a link"), "{line}");
}

#[test]
fn parts_of_a_repository_that_are_links_out_of_it_are_not_followed() {
    not_under_wine!("wine shows links of this machine as what they lead to, and opens nothing through most");
    for part in ["objects", "refs", "HEAD", "config", "packed-refs", "objects/pack"] {
        let Some(repository) = with_commits() else { return };
        repository.git(&["gc", "-q"]);
        let (inside, outside) =
            (repository.folder.path().join(".git").join(part), repository.folder.outside("out"));
        fs::rename(&inside, &outside).expect("moved");
        symlink(&outside, &inside).expect("a link");
        if part == "refs" {
            // All refs are packed, but a link in their place must still not be entered.
            fs::create_dir_all(outside.join("heads")).expect("a folder");
            fs::write(outside.join("heads/main"), "0".repeat(40)).expect("a ref");
        }
        let line = refused(&repository.folder, ".");
        assert!(line.starts_with("Error: ") && !line.contains("0000"), "{part}: {line}");
    }
}

#[test]
fn objects_of_other_folders_are_not_read() {
    let Some(origin) = with_commits() else { return };
    let folder = Folder::new();
    let path = origin.folder.path().display().to_string();
    run(git_in(folder.path(), &["clone", "-q", "--shared", &path, "clone"]));
    let line = refused(&folder, "clone");
    assert!(line.contains("objects/info/alternates") && line.contains("git repack"), "{line}");
}

#[test]
fn settings_hooks_and_variables_of_git_run_nothing_and_change_nothing() {
    let Some(repository) = with_commits() else { return };
    let expected = files(&repository.churn());
    assert_eq!(expected, [row("a", 3, 9, 0)]);
    let (program, mark) = (repository.folder.outside("program"), repository.folder.outside("was-run"));
    fs::write(&program, format!("#!/bin/sh\ntouch {}\n", mark.display())).expect("a program");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("executable");
    let program = program.display().to_string();
    for name in [
        "core.fsmonitor",
        "core.sshCommand",
        "core.pager",
        "core.hooksPath",
        "diff.external",
        "diff.x.command",
        "diff.x.textconv",
        "filter.x.smudge",
        "filter.x.clean",
        "filter.x.process",
        "uploadpack.packObjectsHook",
    ] {
        repository.git(&["config", name, &program]);
    }
    fs::write(repository.folder.path().join(".gitattributes"), "* filter=x diff=x\n").expect("attributes");
    let Some(other) = Repository::new() else { return };
    let mut serve = command(&repository.folder, "stdio", &[SET]);
    serve.env("GIT_DIR", other.folder.path().join(".git")).env("GIT_EXTERNAL_DIFF", &program);
    serve
        .env("GIT_OBJECT_DIRECTORY", other.folder.path())
        .env("GIT_CEILING_DIRECTORIES", "/")
        .env("PATH", "");
    let server = Stdio::run(serve).ready();
    assert_eq!(files(&super::analyze(&server, json!({}))), expected);
    assert!(!mark.exists(), "a program of the settings has run");
}
