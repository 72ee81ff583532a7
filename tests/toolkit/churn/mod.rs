//! `analyze_code_churn`. The repositories are made by the git program; without one, these tests say so and end.

mod against_git; // the same figures as git log --numstat
mod figures; // periods, renames, merges, folders, excluded paths
mod formats; // summary, json, markdown, csv, pages
mod hostile; // damaged and made-up objects
mod refusals; // what is no repository that can be read, and what is never run

use std::path::Path;
use std::process::{Command, Output};
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use crate::support::{Direct, Folder, Stdio, has_git};

const SET: &str = "--tools=toolkit";

const DAY: u64 = 86_400;

/// A repository in a folder that is served.
pub(crate) struct Repository {
    pub(crate) folder: Folder,
}

/// The git program in a folder, without the settings of the machine.
fn git_in(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new("git");
    command.current_dir(folder).args(["-c", "init.defaultBranch=main", "-c", "protocol.file.allow=always"]);
    command.args(arguments);
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("GIT_")) {
        command.env_remove(name);
    }
    command.env("GIT_CONFIG_NOSYSTEM", "1").env("HOME", folder).env("LC_ALL", "C");
    for who in ["AUTHOR", "COMMITTER"] {
        command.env(format!("GIT_{who}_NAME"), "Ann").env(format!("GIT_{who}_EMAIL"), "ann@example.org");
    }
    command
}

#[track_caller]
fn run(mut command: Command) -> Output {
    let output = command.output().expect("the program runs");
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    output
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).expect("a time after 1970").as_secs()
}

impl Repository {
    /// An empty one; `None` if there is no git program.
    pub(crate) fn new() -> Option<Repository> {
        Repository::with(&[])
    }

    /// The same, with more arguments for `git init`.
    pub(crate) fn with(arguments: &[&str]) -> Option<Repository> {
        if !has_git() {
            return None;
        }
        let repository = Repository { folder: Folder::new() };
        repository.git(&[&["init", "-q"], arguments].concat());
        Some(repository)
    }

    /// Runs git. Returns what it writes.
    #[track_caller]
    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        String::from_utf8_lossy(&run(git_in(self.folder.path(), arguments)).stdout).into_owned()
    }

    pub(crate) fn put(&self, path: &str, content: impl AsRef<[u8]>) {
        crate::trees::put(&self.folder, path, content);
    }

    /// Commits all files as of so many days ago.
    pub(crate) fn commit(&self, days_ago: u64) {
        self.commit_by("Ann", days_ago);
    }

    /// The same, by this author.
    #[track_caller]
    fn commit_by(&self, author: &str, days_ago: u64) {
        self.git(&["add", "-A"]);
        let mut command = git_in(self.folder.path(), &["commit", "-q", "--allow-empty", "-m", "x"]);
        let date = format!("@{} +0000", now() - days_ago * DAY - 3_600);
        command.env("GIT_AUTHOR_DATE", "@1000000000 +0000").env("GIT_COMMITTER_DATE", date);
        command.env("GIT_AUTHOR_NAME", author).env("GIT_AUTHOR_EMAIL", format!("{author}@example.org"));
        run(command);
    }

    fn serve(&self, flags: &[&str]) -> Stdio {
        Stdio::start(&self.folder, &[&[SET], flags].concat()).ready()
    }

    /// The answer as data.
    #[track_caller]
    fn churn(&self) -> Value {
        analyze(&self.serve(&[]), json!({}))
    }
}

/// The answer as data to a call with these arguments, of the whole folder unless they say otherwise.
#[track_caller]
fn analyze(server: &Stdio, mut arguments: Value) -> Value {
    let all = arguments.as_object_mut().expect("an object");
    all.entry("project_path").or_insert(json!("."));
    all.insert("format".into(), json!("json"));
    server.direct("analyze_code_churn", arguments)
}

/// Path, commits, added and deleted lines of each file, sorted by path.
fn files(churn: &Value) -> Vec<(String, u64, u64, u64)> {
    let number = |file: &Value, name: &str| file[name].as_u64().expect("a number");
    let row = |file: &Value| {
        let path = file["path"].as_str().expect("a path").to_owned();
        (path, number(file, "commits"), number(file, "lines_added"), number(file, "lines_deleted"))
    };
    let mut rows: Vec<_> = churn["files"].as_array().expect("files").iter().map(row).collect();
    rows.sort();
    rows
}

fn row(path: &str, commits: u64, added: u64, deleted: u64) -> (String, u64, u64, u64) {
    (path.into(), commits, added, deleted)
}

/// So many lines, each different.
fn lines(count: usize) -> String {
    (0..count).map(|number| format!("line {number}\n")).collect()
}
