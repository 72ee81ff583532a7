//! `scaffold_project`: all files or none, and nothing outside the folder.

use std::fs;

use serde_json::{Value, json};

use super::SET;
use crate::support::{Folder, Mcp, Stdio, as_nobody, command, named, on_both_with};
use crate::trees::put;

const ALL: [&str; 9] =
    ["makefile", "readme", "gitignore", "manifest", "source", "test", "ci", "dockerfile", "license"];

fn project(templates: &[&str], directory: Option<&str>) -> Value {
    let mut arguments = json!({
        "toolchain": "rust", "templates": templates, "parameters": { "project_name": "my-app" }, "write": true,
    });
    if let Some(directory) = directory {
        arguments["directory"] = json!(directory);
    }
    arguments
}

#[test]
fn all_files_are_written_with_their_folders_and_listed_with_their_sizes() {
    on_both_with(
        &[SET],
        |_| {},
        |server, folder| {
            let text = server.ok("scaffold_project", project(&ALL, Some("new/my-app")));
            let mut lines = text.lines();
            assert_eq!(lines.next(), Some("Created 9 files:"));
            for line in lines {
                let (path, size) = line.split_once(" (").expect("path and size");
                let bytes = folder.read(path);
                assert_eq!(size, format!("{} bytes)", bytes.len()), "{path}");
            }
            assert_eq!(folder.names(), ["new"]);
            assert!(folder.text("new/my-app/.github/workflows/ci.yml").contains("cargo test"));
            assert!(folder.text("new/my-app/Cargo.toml").contains("name = \"my-app\""));
            assert_eq!(folder.mode("new/my-app/src/main.rs") & 0o111, 0);
        },
    );
}

#[test]
fn without_write_the_files_are_shown_and_nothing_is_written() {
    on_both_with(
        &[SET, "--structured"],
        |_| {},
        |server, folder| {
            server.begin("2025-06-18");
            let mut arguments = project(&ALL, Some("p"));
            arguments.as_object_mut().expect("an object").remove("write");
            let shown = server.tool("scaffold_project", arguments);
            let files = shown.result["structuredContent"]["files"].as_array().expect("files");
            assert_eq!(files.len(), 9);
            for file in files {
                let (path, content) =
                    (file["path"].as_str().expect("a path"), file["content"].as_str().expect("a text"));
                assert!(
                    shown
                        .text
                        .contains(format!("=== {path} ({} bytes)\n{content}", content.len()).trim_end()),
                    "{path}"
                );
            }
            assert_eq!(folder.names(), [""; 0]);
        },
    );
}

#[test]
fn files_beyond_the_limit_are_shown_by_the_next_calls() {
    let folder = Folder::new();
    let server = Stdio::start(&folder, &[SET, "--answer-limit=3"]).ready();
    let mut arguments = project(&ALL, None);
    arguments["write"] = json!(false);
    let whole = Stdio::start(&folder, &[SET, "--answer-limit=0"]).ready();
    let whole = whole.ok("scaffold_project", arguments.clone());
    let mut seen = 0;
    loop {
        let page = server.tool("scaffold_project", arguments);
        assert!(page.text.len() <= 3 << 10, "{}", page.text.len());
        seen += page.text.matches("=== ").count();
        let shown = page.text.split("\n[Shown: ").next().unwrap_or_default().trim_end();
        assert!(whole.contains(shown), "a file depends on which others there are: {shown}");
        match &page.result["_meta"]["file-editor/truncated"]["next"] {
            Value::Null => break,
            next => arguments = next.clone(),
        }
    }
    assert_eq!(seen, 9);
}

#[test]
fn a_file_longer_than_an_answer_is_cut_and_the_answer_says_so() {
    let (folder, own) = (Folder::new(), Folder::new());
    let toml = "uri = \"template://page/any/plain\"\nname = \"Page\"\npath = \"page.txt\"\n";
    put(&own, "page/template.toml", toml);
    put(&own, "page/template.txt", "x".repeat(5_000));
    let flag = format!("--templates={}", own.path().display());
    let server = Stdio::start(&folder, &[SET, "--answer-limit=2", &flag]).ready();
    let arguments =
        json!({ "toolchain": "any", "templates": ["page/plain"], "parameters": {}, "directory": "to" });
    let page = server.tool("scaffold_project", arguments.clone());
    assert!(page.text.len() <= 2 << 10 && page.text.contains(&"x".repeat(900)), "{}", page.text);
    assert!(page.text.ends_with(" bytes. With write: true the file gets all]"), "{}", page.text);
    let truncated = &page.result["_meta"]["file-editor/truncated"];
    assert!(
        truncated["shown"].as_u64() < truncated["of"].as_u64() && truncated["next"].is_null(),
        "{truncated}"
    );
    let mut arguments = arguments;
    arguments["write"] = json!(true);
    server.ok("scaffold_project", arguments);
    assert_eq!(folder.read("to/page.txt"), "x".repeat(5_000).as_bytes());
}

#[test]
fn a_file_that_exists_is_kept_and_nothing_else_is_written() {
    for path in ["Makefile", "src/main.rs", ".github/workflows/ci.yml"] {
        let folder = Folder::new();
        fs::create_dir_all(folder.path().join(path).parent().expect("a parent")).expect("folders");
        folder.write(path, "mine");
        let before = folder.snapshot();
        let server = Stdio::start(&folder, &[SET]).ready();
        assert_eq!(
            server.refused("scaffold_project", project(&ALL, None)),
            format!("Error: '{path}' exists already")
        );
        assert_eq!(folder.snapshot(), before, "{path}");
        assert_eq!(folder.text(path), "mine");
    }
}

#[test]
fn a_file_where_a_folder_must_be_or_a_link_that_leads_out_stops_all() {
    not_under_wine!("wine shows links of this machine as what they lead to, and opens nothing through most");
    let folder = Folder::new();
    let outside = folder.outside("outside");
    fs::create_dir(&outside).expect("a folder");
    let server = Stdio::start(&folder, &[SET]).ready();
    folder.write("src", "a file");
    server.refused("scaffold_project", project(&ALL, None));
    fs::remove_file(folder.path().join("src")).expect("removed");
    for name in ["src", "tests", ".github"] {
        folder.link(name, &outside);
        server.refused("scaffold_project", project(&ALL, None));
        assert_eq!(folder.names(), [name]);
        fs::remove_file(folder.path().join(name)).expect("removed");
    }
    folder.link("Makefile", outside.join("new"));
    server.refused("scaffold_project", project(&ALL, None));
    assert_eq!(folder.names(), ["Makefile"]);
    assert_eq!(fs::read_dir(&outside).expect("a folder").count(), 0);
}

#[test]
fn directories_outside_the_folder_are_refused() {
    let folder = Folder::new();
    let server = Stdio::start(&folder, &[SET]).ready();
    let outside = named(&folder.outside("x"));
    for directory in ["..", "../x", "a/../../x", &outside, "/", ".git", "a/.git/hooks", "a\nb"] {
        server.refused("scaffold_project", project(&["makefile"], Some(directory)));
    }
    assert_eq!(folder.names(), [""; 0]);
    for directory in [".", "./", "a", "a/", &named(&folder.path().join("b"))] {
        server.ok("scaffold_project", project(&["makefile"], Some(directory)));
        fs::remove_file(folder.path().join("Makefile")).unwrap_or_default();
        let _ = fs::remove_dir_all(folder.path().join("a"));
    }
}

#[test]
fn excluded_paths_stop_all() {
    let folder = Folder::new();
    let server = Stdio::start(&folder, &[SET, "--exclude=Dockerfile"]).ready();
    server.refused("scaffold_project", project(&ALL, None));
    assert_eq!(folder.names(), [""; 0]);
}

#[test]
fn a_folder_in_the_way_that_cannot_be_written_leaves_nothing_behind() {
    not_under_wine!("the server runs as another user, to whom the folder of wine does not belong");
    let folder = Folder::new();
    fs::create_dir(folder.path().join("tests")).expect("a folder");
    folder.set_mode("tests", 0o555);
    let server = Stdio::run(as_nobody(command(&folder, "stdio", &[SET]), &folder)).ready();
    let text = server.refused("scaffold_project", project(&ALL, None));
    assert!(text.contains("Permission denied"), "{text}");
    assert_eq!(folder.names(), ["tests"]);
    folder.set_mode("tests", 0o755);
    assert!(fs::read_dir(folder.path().join("tests")).expect("a folder").next().is_none());
}

#[test]
fn two_calls_at_once_for_one_directory_make_one_project() {
    let folder = Folder::new();
    let (one, other) = (Stdio::start(&folder, &[SET]).ready(), Stdio::start(&folder, &[SET]).ready());
    for round in 0..10 {
        let directory = format!("p{round}");
        let call = |server: &Stdio| server.tool("scaffold_project", project(&ALL, Some(&directory))).is_error;
        let failed = std::thread::scope(|scope| {
            let first = scope.spawn(|| call(&one));
            [call(&other), first.join().expect("no panic")]
        });
        assert!(failed.contains(&true), "both wrote");
        let there = ["Makefile", "src/main.rs", "tests/cli.rs", ".github/workflows/ci.yml", "LICENSE"];
        let there = there.map(|path| folder.path().join(&directory).join(path).exists());
        let expected = failed.contains(&false);
        assert_eq!(there, [expected; 5], "round {round}: {failed:?}");
    }
}

#[test]
fn the_variant_and_uris_choose_templates() {
    let folder = Folder::new();
    let server = Stdio::start(&folder, &[SET]).ready();
    let mut arguments = project(&["source", "test", "template://license/deno/cli"], None);
    arguments["parameters"]["variant"] = json!("library");
    server.ok("scaffold_project", arguments.clone());
    assert_eq!(folder.names(), ["LICENSE", "src", "tests"]);
    assert!(folder.path().join("src/lib.rs").exists() && folder.path().join("tests/api.rs").exists());
    arguments["parameters"]["variant"] = json!("other");
    let text = server.refused("scaffold_project", arguments);
    assert_eq!(text, "Error: Parameter validation failed: variant");
}
