//! What a refused call says to do next.

use serde_json::json;

use super::{put, refused, serve_tools as serve};
use crate::support::{Folder, Mcp, lock};

#[test]
fn a_path_below_a_file_names_the_file() {
    let folder = Folder::new();
    put(&folder, "src/a.txt", "one\n");
    let server = serve(&folder, "filesystem,search", &[]);
    let path = json!({ "path": "src/a.txt/x" });
    let grep = json!({ "path": "src/a.txt/x", "pattern": "x" });
    for (tool, arguments) in [("read_text_file", &path), ("list_directory", &path), ("grep", &grep)] {
        let text = refused(&server, tool, arguments.clone());
        assert!(text.contains("'src/a.txt' is a file, not a folder"), "{tool}: {text}");
    }
}

#[test]
fn an_extended_glob_is_no_new_name() {
    let folder = Folder::new();
    put(&folder, "a", "one\n");
    let before = folder.snapshot();
    for name in ["!(a)", "src/@(a|b)", "+(a)"] {
        for (tools, tool, arguments) in [
            ("filesystem", "write_file", json!({ "path": name, "content": "x" })),
            ("text", "edit_file", json!({ "filename": name, "old_text": "one", "new_text": "x" })),
            ("agent", "edit", json!({ "path": name, "content": "x" })),
        ] {
            let text = refused(&serve(&folder, tools, &[]), tool, arguments);
            assert!(text.contains("it reads as a glob"), "{tool}: {text}");
        }
    }
    assert_eq!(folder.snapshot(), before);
    // Routes of web projects are names.
    let server = serve(&folder, "filesystem", &[]);
    server.ok("write_file", json!({ "path": "+page@(app).svelte", "content": "x" }));
    server.ok("write_file", json!({ "path": "(group).tsx", "content": "x" }));
}

#[test]
fn an_edit_that_is_like_nothing_in_the_file_names_the_call_that_shows_it() {
    let folder = Folder::new();
    put(&folder, "a", "one\n");
    let text =
        refused(&serve(&folder, "agent", &[]), "edit", json!({ "path": "a", "old": "zzz", "new": "" }));
    assert!(
        text.contains("Nothing in the file is similar to it. See what it holds with read {\"path\":\"a\"}."),
        "{text}"
    );
}

#[test]
fn a_tool_that_is_alone_says_what_it_needs() {
    let folder = Folder::new();
    put(&folder, "a", "one\n");
    put(&folder, "bin", b"\0\x01\x02");
    let server = serve(&folder, "filesystem.read_multiple_files", &[]);
    let text = server.ok("read_multiple_files", json!({ "paths": ["nope", "bin"] }));
    assert!(
        text.contains("Give the path of a file that is there") && text.contains("\"utf-16le\""),
        "{text}"
    );
}

#[test]
fn a_file_that_is_locked_says_that_the_call_may_be_sent_again() {
    let folder = Folder::new();
    put(&folder, "f", "a\n");
    let server = serve(&folder, "filesystem", &["--timeout=1"]);
    let _locked = lock(&folder, "f");
    let edits = json!([{ "oldText": "a", "newText": "b" }]);
    let text = refused(&server, "edit_file", json!({ "path": "f", "edits": edits }));
    assert!(text.ends_with("Nothing was changed. Send the same call again in a moment."), "{text}");
}
