//! `--exclude` by git's rule, with git as the oracle: what is in an excluded folder stays excluded, whatever else is written.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio as Pipe};

use folder::Excludes;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::interfaces::refusal;
use crate::support::{Folder, Http, Mcp, Stdio, file_uri, has_git};
use crate::trees::{make, put};

/// Names that patterns with braces, classes, brackets, tabs and backslashes could name.
const ODD_NAMES: [&str; 14] =
    ["{a,b}", "{a", "a}", "{{a.b}}", "A", "B1", "1", "[a]", "[", "a\\", "x\t", "-", "]", "secret[a"];

/// All paths of the tree: files `*.md`, `*.key` and `x` in folders three deep, and odd names.
fn paths() -> Vec<(String, bool)> {
    let mut paths = Vec::new();
    for name in ODD_NAMES {
        paths.extend([(format!("odd/{name}"), true), (format!("odd/{name}/{name}"), false)]);
        paths.extend([(name.to_owned(), true), (format!("{name}/x"), false)]);
    }
    let mut folders = vec![String::new()];
    for _ in 0..3 {
        let below = |folder: &String| ["a", "b", "secret"].map(|name| format!("{folder}{name}/"));
        let next: Vec<String> = folders.iter().flat_map(below).collect();
        for folder in &folders {
            paths.extend(["a.md", "b.key", "x"].map(|name| (format!("{folder}{name}"), false)));
        }
        paths.extend(next.iter().map(|folder| (folder.trim_end_matches('/').to_owned(), true)));
        folders = next;
    }
    paths
}

fn pattern() -> impl Strategy<Value = String> {
    let usual = vec!["a", "b", "secret", "x", "*.md", "*.key", "*", "**", "?", "[ab]", "a*"];
    let odd = vec![
        "{a,b}",
        "{",
        "a{b",
        "{{a.b}}",
        "{a",
        "*}",
        "[{]a",
        "[[:upper:]]*",
        "[![:alpha:]]",
        "[[:digit:][:lower:]]",
        "[[:none:]]",
        "[[:a]",
        "[b-a]",
        "[]-]",
        "[!]]*",
        "[^a]*",
        "secret[/]a",
        "[/a]",
        "?[!b]x",
        "[a\\]]",
        "[",
        "a[",
        "[\\[]a[]]",
        "x\t",
        "x\\\t",
        "x\t ",
        "a\\",
        "a\\\\",
        "\\{a",
        "\\[",
        "*\\",
        "[!-~]",
        "[ -/]",
        "[--b]",
        "[a-]",
        "[A-z]*",
    ];
    // Pieces of patterns, too, in any order.
    let piece = prop::sample::select(vec![
        "{",
        "}",
        ",",
        "[",
        "]",
        "!",
        "^",
        "-",
        "a",
        "b",
        "\\",
        "[:alpha:]",
        ":",
        "*",
        "?",
        "/",
        "x",
        "\t",
    ]);
    let pieces = prop::collection::vec(piece, 1..7).prop_map(|pieces| pieces.concat());
    let owned = |parts: Vec<&'static str>| prop::sample::select(parts).prop_map(str::to_owned);
    let part = prop_oneof![3 => owned(usual), 3 => owned(odd), 2 => pieces];
    let parts = prop::collection::vec(part, 1..4);
    (any::<bool>(), any::<bool>(), parts, any::<bool>()).prop_map(|(negated, anchored, parts, folders)| {
        let start = [if negated { "!" } else { "" }, if anchored { "/" } else { "" }].concat();
        format!("{start}{}{}", parts.join("/"), if folders { "/" } else { "" })
    })
}

/// The paths that git ignores by these patterns.
fn ignored_by_git(repository: &Path, patterns: &[String], paths: &[(String, bool)]) -> BTreeSet<String> {
    std::fs::write(repository.join(".git/info/exclude"), patterns.join("\n")).expect("a file of git");
    let arguments = ["-c", "core.excludesFile=/dev/null", "check-ignore", "--no-index", "-z", "--stdin"];
    let mut git = Command::new("git")
        .args(arguments)
        .current_dir(repository)
        .stdin(Pipe::piped())
        .stdout(Pipe::piped())
        .spawn()
        .expect("git runs");
    let asked: String = paths.iter().map(|(path, _)| format!("{path}\0")).collect();
    // git answers each path at once, into a pipe that holds all answers.
    git.stdin.take().expect("a pipe").write_all(asked.as_bytes()).expect("git reads");
    let output = git.wait_with_output().expect("git ends");
    // 1: no path is ignored.
    assert!(matches!(output.status.code(), Some(0 | 1)), "{patterns:?}: {output:?}");
    let text = String::from_utf8(output.stdout).expect("names in UTF-8");
    text.split_terminator('\0').map(str::to_owned).collect()
}

#[test]
fn a_path_is_excluded_if_git_ignores_it_by_the_same_patterns() {
    if !has_git() {
        return;
    }
    let folder = Folder::new();
    let paths = paths();
    for (path, is_folder) in &paths {
        match is_folder {
            true => std::fs::create_dir_all(folder.path().join(path)).expect("a folder"),
            false => put(&folder, path, "x"),
        }
    }
    let made =
        Command::new("git").args(["init", "-q"]).current_dir(folder.path()).status().expect("git runs");
    assert!(made.success());
    proptest!(ProptestConfig::with_cases(400), |(patterns in prop::collection::vec(pattern(), 1..5))| {
        let excludes = Excludes::new(patterns.iter().map(String::as_str)).expect("patterns");
        let excluded: BTreeSet<String> = paths
            .iter()
            .filter(|(path, is_folder)| excludes.hides(Path::new(path), *is_folder))
            .map(|(path, _)| path.clone())
            .collect();
        prop_assert_eq!(&excluded, &ignored_by_git(folder.path(), &patterns, &paths), "{:?}", patterns);
    });
}

/// Calls with `path` of the set that is offered by `--tools`.
fn calls(path: &str) -> [(&'static str, Vec<(&'static str, Value)>); 3] {
    let edits = json!([{ "oldText": "the", "newText": "x" }]);
    let files = vec![
        ("read_text_file", json!({ "path": path })),
        ("read_media_file", json!({ "path": path })),
        ("get_file_info", json!({ "path": path })),
        ("grep", json!({ "pattern": "secret", "path": path })),
        ("edit_file", json!({ "path": path, "edits": edits })),
        ("edit_file", json!({ "path": path, "edits": edits, "dryRun": true })),
        ("copy_file", json!({ "source": path, "destination": "copy.md" })),
        ("copy_file", json!({ "source": "open.md", "destination": path })),
        ("move_file", json!({ "source": path, "destination": "moved.md" })),
        ("move_file", json!({ "source": "open.md", "destination": path })),
        ("delete_file", json!({ "path": path })),
        ("write_file", json!({ "path": path, "content": "x" })),
    ];
    let lines = vec![
        ("read_file", json!({ "name": path })),
        ("edit_file", json!({ "name": path, "append": "x", "create_if_missing": true })),
        ("file_edit", json!({ "path": path, "edits": [{ "old_text": "the", "new_text": "x" }] })),
    ];
    let text = vec![("view", json!({ "filename": path })), ("read_file", json!({ "filename": path }))];
    [("--tools=filesystem,search", files), ("--tools=lines,exact", lines), ("--tools=text", text)]
}

#[test]
fn a_negated_pattern_opens_no_file_below_an_excluded_folder_to_any_call() {
    const SECRET: &str = "the secret\n";
    let folder = Folder::new();
    put(&folder, "secret/key.md", SECRET);
    put(&folder, "secret/in/key.md", SECRET);
    put(&folder, "open.md", "open\n");
    for (number, (tools, _)) in calls("").iter().enumerate() {
        let flags = [tools, "--names=paths", "--exclude=secret/", "--exclude=!*.md"];
        let servers: [Box<dyn Mcp>; 2] =
            [Box::new(Stdio::start(&folder, &flags).ready()), Box::new(Http::start(&folder, &flags))];
        for server in &servers {
            for path in ["secret/key.md", "secret/in/key.md", "secret/new.md"] {
                for (tool, arguments) in &calls(path)[number].1 {
                    let answer = server.rpc("tools/call", json!({ "name": tool, "arguments": arguments }));
                    refusal(&answer, tool, path);
                    assert!(!answer.to_string().contains("the secret"), "{tool} {arguments}: {answer}");
                }
                let uri = file_uri(&folder.path().join(path));
                refusal(&server.rpc("resources/read", json!({ "uri": uri })), "resources/read", path);
            }
        }
    }
    assert_eq!((folder.text("secret/key.md"), folder.text("open.md")), (SECRET.into(), "open\n".into()));
    assert!(!folder.path().join("secret/new.md").exists() && !folder.path().join("copy.md").exists());
}

#[test]
fn braces_and_classes_hide_what_git_ignores() {
    let folder = Folder::new();
    // A digit, because letters are upper case, too, where names are compared without case.
    for path in ["{{cookiecutter.slug}}/key.txt", "Priv/k", "a{b", "1/k", "a", "b"] {
        put(&folder, path, "x\n");
    }
    let flags = ["{{cookiecutter.slug}}/", "[[:upper:]]*/", "a{b", "{a,b}", "{", "a\\"]
        .map(|pattern| format!("--exclude={pattern}"));
    let flags: Vec<&str> =
        ["--tools=filesystem"].into_iter().chain(flags.iter().map(String::as_str)).collect();
    let server = Stdio::start(&folder, &flags).ready();
    for path in ["{{cookiecutter.slug}}/key.txt", "Priv/k", "a{b"] {
        server.refused("read_text_file", json!({ "path": path }));
    }
    for path in ["1/k", "a", "b"] {
        assert_eq!(server.ok("read_text_file", json!({ "path": path })), "x\n", "{path}");
    }
}

#[test]
fn a_pattern_for_all_folders_leaves_the_files_at_the_top_readable() {
    let folder = Folder::new();
    put(&folder, "top.txt", "top\n");
    put(&folder, "in/below.txt", "below\n");
    let server = Stdio::start(&folder, &["--tools=filesystem", "--exclude=*/"]).ready();
    assert_eq!(server.ok("read_text_file", json!({ "path": "top.txt" })), "top\n");
    server.refused("read_text_file", json!({ "path": "in/below.txt" }));
    server.ok("write_file", json!({ "path": "new.txt", "content": "new\n" }));
    server.ok("move_file", json!({ "source": "new.txt", "destination": "moved.txt" }));
    server.refused("create_directory", json!({ "path": "new" }));
    server.refused("write_file", json!({ "path": "new/f", "content": "" }));
}

#[test]
fn whether_an_excluded_folder_exists_is_not_told_by_a_new_file_of_its_name() {
    let answers = |is_there: bool| {
        let folder = Folder::new();
        put(&folder, "a.txt", "a\n");
        make(&folder, "from/in");
        if is_there {
            put(&folder, "secret/key", "k\n");
        }
        let before = folder.names();
        let mut answers = Vec::new();
        for tools in ["--tools=filesystem", "--tools=lines,exact", "--tools=text"] {
            let server = Stdio::start(&folder, &[tools, "--names=paths", "--exclude=secret/"]).ready();
            let calls = match tools {
                "--tools=filesystem" => vec![
                    ("read_text_file", json!({ "path": "secret" })),
                    ("get_file_info", json!({ "path": "secret" })),
                    ("write_file", json!({ "path": "secret", "content": "x" })),
                    ("write_file", json!({ "path": "Secret", "content": "x" })),
                    ("create_directory", json!({ "path": "secret" })),
                    ("copy_file", json!({ "source": "a.txt", "destination": "secret" })),
                    ("move_file", json!({ "source": "a.txt", "destination": "secret" })),
                    ("move_file", json!({ "source": "from", "destination": "secret" })),
                    ("delete_file", json!({ "path": "secret" })),
                ],
                "--tools=lines,exact" => vec![
                    ("edit_file", json!({ "name": "secret", "append": "x", "create_if_missing": true })),
                    (
                        "file_edit",
                        json!({ "path": "secret", "edits": [{ "old_text": "", "new_text": "x" }] }),
                    ),
                ],
                _ => vec![
                    ("write_file", json!({ "filename": "secret", "content": "x" })),
                    ("edit_file", json!({ "filename": "secret", "content": "x" })),
                    ("view", json!({ "filename": "secret" })),
                ],
            };
            for (tool, arguments) in calls {
                let refused = server.tool(tool, arguments);
                assert!(
                    refused.is_error && !refused.text.contains("See what it is"),
                    "{tool}: {}",
                    refused.text
                );
                answers.push(refused.text);
            }
        }
        assert_eq!(folder.names(), before);
        answers
    };
    assert_eq!(answers(false), answers(true));
}
