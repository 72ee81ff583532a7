//! A served folder that was given as a link: once the link leads elsewhere, nothing is read and nothing is written. One that was moved away
//! and made again is the new one at once.

use std::path::Path;

use serde_json::{Value, json};

use super::interfaces::refusal;
use crate::support::{Direct, Folder, Http, Mcp, Stdio, append, file_uri};

/// A folder whose path is a link to `one`, with `two` beside it.
fn linked() -> Folder {
    let folder = Folder::new();
    std::fs::rename(folder.path(), folder.outside("one")).expect("the folder moved");
    std::fs::create_dir(folder.outside("two")).expect("another folder");
    for name in ["one", "two"] {
        std::fs::write(folder.outside(name).join("f"), format!("text of {name}\n")).expect("a file");
    }
    std::os::unix::fs::symlink("one", folder.path()).expect("a link");
    folder
}

/// Makes the link lead to `target`, at once.
fn switch(folder: &Folder, target: &str) {
    let new = folder.outside("new-link");
    std::os::unix::fs::symlink(target, &new).expect("a link");
    std::fs::rename(new, folder.path()).expect("the link replaced");
}

fn calls(folder: &Path) -> Vec<(&'static str, Value)> {
    vec![
        ("read_text_file", json!({ "path": "f" })),
        ("read_text_file", json!({ "path": folder.join("f") })),
        ("get_file_info", json!({ "path": "f" })),
        ("list_directory", json!({ "path": "." })),
        ("grep", json!({ "pattern": "text" })),
        ("glob", json!({ "pattern": "*" })),
        ("write_file", json!({ "path": "f", "content": "written\n" })),
        ("write_file", json!({ "path": "new", "content": "written\n" })),
        ("edit_file", json!({ "path": "f", "edits": [{ "oldText": "text", "newText": "x" }] })),
        ("create_directory", json!({ "path": "made" })),
        ("move_file", json!({ "source": "f", "destination": "moved" })),
        ("copy_file", json!({ "source": "f", "destination": "copied" })),
        ("delete_file", json!({ "path": "f" })),
    ]
}

/// The names and texts of the files in both folders.
fn both(folder: &Folder) -> Vec<(String, Option<String>)> {
    let of = |name: &str| {
        let mut entries: Vec<_> = std::fs::read_dir(folder.outside(name))
            .expect("a folder")
            .map(|entry| entry.expect("an entry").path())
            .map(|path| (path.display().to_string(), std::fs::read_to_string(path).ok()))
            .collect();
        entries.sort();
        entries
    };
    [of("one"), of("two")].concat()
}

#[test]
fn once_the_link_of_the_served_folder_is_switched_every_call_is_refused_at_once() {
    not_under_wine!("wine shows links of this machine as what they lead to, and opens nothing through most");
    for http in [false, true] {
        let folder = linked();
        let flags = ["--tools=filesystem,search"];
        let server: Box<dyn Mcp> = match http {
            false => Box::new(Stdio::start(&folder, &flags).ready()),
            true => Box::new(Http::start(&folder, &flags)),
        };
        assert_eq!(server.ok("read_text_file", json!({ "path": "f" })), "text of one\n");
        let before = both(&folder);
        for (tool, arguments) in calls(folder.path()) {
            // A read just before makes the handle known.
            switch(&folder, "one");
            server.ok("read_text_file", json!({ "path": "f" }));
            switch(&folder, "two");
            let answer = server.rpc("tools/call", json!({ "name": tool, "arguments": arguments }));
            let text = refusal(&answer, tool, "f");
            assert!(text.contains("leads to another folder now"), "{tool}: {text}");
            assert!(!text.contains("text of"), "{tool}: {text}");
            assert_eq!(both(&folder), before, "{tool} changed something");
        }
        let read = server.rpc("resources/read", json!({ "uri": file_uri(&folder.path().join("f")) }));
        refusal(&read, "resources/read", "f");
        switch(&folder, "one");
        assert_eq!(server.ok("read_text_file", json!({ "path": "f" })), "text of one\n");
    }
}

#[test]
fn the_line_tools_and_rest_refuse_it_as_well() {
    let folder = linked();
    let (stdio, http) = (Stdio::start(&folder, &[]).ready(), Http::start(&folder, &[]));
    assert!(stdio.ok("read_file", json!({ "name": "f" })).ends_with("text of one"));
    switch(&folder, "two");
    let before = both(&folder);
    for (tool, arguments) in
        [("read_file", json!({ "name": "f" })), ("edit_file", append("f", "x")), ("list_files", json!({}))]
    {
        assert_eq!(stdio.refused(tool, arguments.clone()), "Error: Cannot access working directory");
        assert_eq!(http.direct_error(tool, arguments).message, "Cannot access working directory");
    }
    assert_eq!(both(&folder), before);
}

#[test]
fn a_served_folder_that_was_moved_away_and_made_again_is_the_new_one_at_once() {
    for http in [false, true] {
        let folder = Folder::new();
        let name = |number: usize| format!("f{number}");
        std::fs::write(folder.path().join("f"), "text 0\n").expect("a file");
        let flags = ["--tools=filesystem,search"];
        let server: Box<dyn Mcp> = match http {
            false => Box::new(Stdio::start(&folder, &flags).ready()),
            true => Box::new(Http::start(&folder, &flags)),
        };
        for number in 1..20 {
            // A read just before makes the handle known.
            server.ok("read_text_file", json!({ "path": "f" }));
            std::fs::rename(folder.path(), folder.outside(&name(number))).expect("the folder moved");
            std::fs::create_dir(folder.path()).expect("a new folder");
            std::fs::write(folder.path().join("f"), format!("text {number}\n")).expect("a file");
            let text = match number % 4 {
                0 => server.ok("read_text_file", json!({ "path": "f" })),
                1 => server.ok("grep", json!({ "pattern": "text", "output_mode": "content" })),
                2 => server.ok("read_text_file", json!({ "path": "f", "head": 1 })),
                _ => server
                    .rpc("resources/read", json!({ "uri": file_uri(&folder.path().join("f")) }))
                    .to_string(),
            };
            assert!(text.contains(&format!("text {number}")), "{number}: {text}");
        }
    }
}
