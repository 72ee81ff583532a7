//! Where what one job makes and moves ends: nowhere that is excluded, and no two names that look the same.

use serde_json::json;

use super::{edit, refused, serve};
use crate::support::{Folder, Mcp};
use crate::trees::put;

#[test]
fn nothing_that_a_job_makes_ends_where_it_is_excluded() {
    for (exclude, edits) in [
        ("/b/a", json!([{ "path": "n/a", "content": "1\n" }, { "path": "n", "move_to": "b" }])),
        ("/b/*", json!([{ "path": "n/a", "content": "1\n" }, { "path": "n", "move_to": "b" }])),
        ("/b/a", json!([{ "path": "old/a", "content": "1\n" }, { "path": "old", "move_to": "b" }])),
        ("/b/a", json!([{ "path": "f", "copy_to": "n/a" }, { "path": "n", "move_to": "b" }])),
        ("/b/a", json!([{ "path": "n/a", "content": "1\n" }, { "path": "n", "copy_to": "b" }])),
        (
            "/b/old/f",
            json!([{ "path": "n/x", "content": "1\n" }, { "path": "old", "move_to": "n/old" }, { "path": "n", "move_to": "b" }]),
        ),
    ] {
        let folder = Folder::new();
        put(&folder, "f", "f\n");
        put(&folder, "old/f", "f\n");
        let server = serve(&folder, &[&format!("--exclude={exclude}")]);
        let text = refused(&server, &folder, edits);
        assert!(text.contains("exclude"), "{exclude}: {text}");
    }
    let folder = Folder::new();
    let server = serve(&folder, &["--exclude=*.key", "--exclude=!/n/*.key"]);
    refused(
        &server,
        &folder,
        json!([{ "path": "n/a.key", "content": "1\n" }, { "path": "n", "move_to": "b" }]),
    );
    edit(&server, json!([{ "path": "n/a.key", "content": "1\n" }, { "path": "n/b", "content": "1\n" }]));
    edit(&server, json!([{ "path": "m/a", "content": "1\n" }, { "path": "m", "move_to": "b" }]));
    assert_eq!(folder.text("b/a"), "1\n");
}

#[test]
fn a_job_makes_no_two_names_that_look_the_same() {
    for (one, other) in [("caf\u{e9}", "cafe\u{301}"), ("readme", "re\u{200b}adme")] {
        for second in [
            json!({ "path": other, "content": "2\n" }),
            json!({ "path": "f", "copy_to": other }),
            json!({ "path": "f", "move_to": other }),
        ] {
            let folder = Folder::new();
            put(&folder, "f", "f\n");
            let server = serve(&folder, &[]);
            refused(&server, &folder, json!([{ "path": one, "content": "1\n" }, second]));
        }
    }
    let folder = Folder::new();
    let server = serve(&folder, &[]);
    edit(
        &server,
        json!([{ "path": "é/a", "content": "1\n" }, { "path": "é/b", "content": "2\n" }, { "path": "a", "content": "3\n" }]),
    );
    edit(
        &server,
        json!([{ "path": "a", "move_to": "x" }, { "path": "a", "content": "4\n" }, { "path": "a", "delete": true }]),
    );
}

#[test]
fn what_is_excluded_is_not_named_by_changes_that_others_made_there() {
    let folder = Folder::new();
    folder.write("c.txt", "one\n");
    std::fs::create_dir(folder.path().join("secret")).expect("a folder");
    folder.write("secret/lyra.txt", "old\n");
    {
        let server = serve(&folder, &[]);
        server.ok("edit", json!({ "path": "c.txt", "move_to": "secret/orion.txt" }));
        server.ok("edit", json!({ "path": "secret/known.txt", "content": "new\n" }));
        server.ok("edit", json!({ "path": "secret/known.txt", "move_to": "pub.txt" }));
        server.ok("edit", json!({ "path": "secret/lyra.txt", "move_to": "out.txt" }));
    }
    let server = serve(&folder, &["--exclude=secret"]);
    for (tool, arguments) in [
        ("undo", json!({ "change": "c1" })),
        ("undo", json!({ "change": "c1", "path": "c.txt" })),
        ("undo", json!({ "change": "c1", "path": "other" })),
        ("undo", json!({ "change": "c3", "dry_run": true })),
        ("changes", json!({ "since": "1h" })),
        ("changes", json!({ "change": "c3" })),
        ("changes", json!({ "change": "c1", "diff": true })),
    ] {
        let text = server.tool(tool, arguments.clone()).text;
        assert!(
            ["orion", "known", "lyra", "secret"].iter().all(|name| !text.contains(name)),
            "{arguments}: {text}"
        );
    }
    // One that is known to the journal and one that is not are told in the same words.
    let told = |path: &str| server.tool("changes", json!({ "path": path })).text.replace(path, "");
    for path in ["secret/known.txt", "secret/orion.txt", "secret/lyra.txt", "secret"] {
        assert_eq!(told(path), told("secret/none.txt"), "{path}");
    }
    assert_eq!(folder.text("secret/orion.txt"), "one\n");
}
