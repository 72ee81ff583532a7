//! No way out of the folder, and nothing opened that is not a regular file (contract 8).

use serde_json::{Value, json};

use crate::support::{Folder, Mcp, on_both, on_both_with, while_others};

const DENIED: [&str; 2] = ["read_file", "edit_file"];

/// Reads and edits under `name` must both be refused with `error`, and nothing may change.
#[track_caller]
fn check_refused(server: &dyn Mcp, folder: &Folder, name: &str, error: &str) {
    let before = folder.snapshot();
    for tool in DENIED {
        let arguments = if tool == "edit_file" {
            json!({ "name": name, "append": "x" })
        } else {
            json!({ "name": name })
        };
        assert_eq!(server.refused(tool, arguments), error, "{tool} {name:?}");
    }
    assert_eq!(folder.snapshot(), before, "{name:?}");
}

#[test]
fn names_that_are_paths_are_refused() {
    on_both(|server, folder| {
        std::fs::write(folder.outside("secret"), "secret\n").expect("a file");
        std::fs::create_dir(folder.path().join("sub")).expect("a directory");
        std::fs::write(folder.path().join("sub/file"), "x\n").expect("a file");
        let absolute = folder.outside("secret").display().to_string();
        let names = [
            "../secret",
            "..\\secret",
            "/etc/passwd",
            &absolute,
            "./f",
            "sub/file",
            "sub\\file",
            "..",
            ".",
            "",
            "f/",
            "f/.",
            "%2e%2e%2fsecret",
            "..%2fsecret",
            "f\0",
            "f\n",
            " f",
            "f ",
            "a b",
            "\u{FF0E}\u{FF0E}/x",
        ];
        folder.write("f", "x\n");
        for name in names {
            check_refused(server, folder, name, "Error: Invalid filename format");
        }
        check_refused(server, folder, &"n".repeat(256), "Error: Invalid filename format");
        assert_eq!(std::fs::read(folder.outside("secret")).expect("the file"), b"secret\n");
    });
}

#[test]
fn a_relative_link_inside_the_folder_is_read_and_edited_at_its_target() {
    not_under_wine!("wine shows links of this machine as what they lead to, and opens nothing through most");
    on_both(|server, folder| {
        std::fs::create_dir(folder.path().join("sub")).expect("a directory");
        std::fs::write(folder.path().join("sub/deep"), "deep\n").expect("a file");
        folder.write("real", "real\n");
        folder.set_mode("real", 0o640);
        folder.link("link", "real");
        folder.link("link-to-link", "link");
        folder.link("link-down", "sub/deep");
        folder.link("link-round", "sub/../real");
        for (name, text) in
            [("link", "real"), ("link-to-link", "real"), ("link-down", "deep"), ("link-round", "real")]
        {
            let read = server.ok("read_file", json!({ "name": name }));
            assert_eq!(read, format!("File: {name} (1 lines)\n\n{text}"));
        }
        for name in ["link", "link-to-link", "link-down", "link-round"] {
            let text = server.ok("edit_file", json!({ "name": name, "append": format!("by {name}") }));
            assert!(text.starts_with(&format!("File edited successfully: {name}\n")), "{text}");
        }
        assert_eq!(folder.text("real"), "real\nby link\nby link-to-link\nby link-round\n");
        assert_eq!(folder.text("sub/deep"), "deep\nby link-down\n");
        assert_eq!(folder.mode("real"), 0o640);
        for name in ["link", "link-to-link", "link-down", "link-round"] {
            let meta = folder.path().join(name).symlink_metadata().expect("a link");
            assert!(meta.is_symlink(), "{name} is a link no more");
        }
        assert_eq!(folder.names(), ["link", "link-down", "link-round", "link-to-link", "real", "sub"]);
        let sub = std::fs::read_dir(folder.path().join("sub")).expect("the directory");
        assert_eq!(sub.count(), 1, "something is left beside the target");
    });
}

#[test]
fn links_that_lead_out_of_the_folder_are_refused() {
    not_under_wine!("wine shows links of this machine as what they lead to, and opens nothing through most");
    on_both(|server, folder| {
        let outside = folder.outside("outside");
        std::fs::create_dir(&outside).expect("a directory");
        std::fs::write(outside.join("secret"), "secret\n").expect("a file");
        folder.write("real", "real\n");
        folder.link("relative", "../outside/secret");
        folder.link("absolute", outside.join("secret"));
        folder.link("absolute-inside", folder.path().join("real"));
        folder.link("out-and-in", "../folder/real");
        folder.link("by-directory", "door/secret");
        folder.link("door", "../outside");
        folder.link("first", "relative");
        folder.link("root", "/");
        folder.link("process", "/proc/self/environ");
        for name in [
            "relative",
            "absolute",
            "absolute-inside",
            "out-and-in",
            "by-directory",
            "door",
            "first",
            "root",
            "process",
        ] {
            check_refused(server, folder, name, &format!("Error: Permission denied accessing '{name}'"));
        }
        assert_eq!(std::fs::read(outside.join("secret")).expect("the file"), b"secret\n");
        assert_eq!(std::fs::read_dir(outside).expect("a directory").count(), 1);
    });
}

#[test]
fn dangling_links_are_refused_and_their_target_is_not_created() {
    not_under_wine!("wine shows links of this machine as what they lead to, and opens nothing through most");
    // contract 8 refuses these links, and contract 7 has no row for them: both errors are correct.
    on_both(|server, folder| {
        folder.link("dangling", "nowhere");
        folder.link("out", "../nowhere");
        folder.link("loop", "loop");
        for name in ["dangling", "out", "loop"] {
            let before = folder.snapshot();
            let errors = [
                format!("Error: Permission denied accessing '{name}'"),
                format!("Error: File '{name}' not found"),
            ];
            let read = server.refused("read_file", json!({ "name": name }));
            assert!(errors.contains(&read), "{read}");
            for create in [json!(null), json!(true), json!(false)] {
                let arguments = json!({ "name": name, "append": "x", "create_if_missing": create });
                let edit = server.refused("edit_file", arguments);
                assert!(errors.contains(&edit), "{edit}");
            }
            assert_eq!(folder.snapshot(), before);
        }
        assert!(!folder.outside("nowhere").exists());
    });
}

#[test]
fn directories_fifos_and_sockets_are_refused_without_waiting() {
    not_under_wine!("wine shows links of this machine as what they lead to, and opens nothing through most");
    on_both(|server, folder| {
        std::fs::create_dir(folder.path().join("directory")).expect("a directory");
        folder.fifo("fifo");
        folder.link("link-to-fifo", "fifo");
        let _socket =
            std::os::unix::net::UnixListener::bind(folder.path().join("socket")).expect("a socket bound");
        for name in ["directory", "fifo", "link-to-fifo", "socket"] {
            check_refused(server, folder, name, &format!("Error: Permission denied accessing '{name}'"));
        }
    });
}

#[test]
fn a_link_that_is_turned_outward_while_it_is_read_never_shows_what_lies_outside() {
    on_both(|server, folder| {
        std::fs::write(folder.outside("secret"), "secret\n").expect("a file");
        folder.write("real", "inside\n");
        folder.link("link", "real");
        let (path, mut turn) = (folder.path().to_owned(), 0_u32);
        let turn_link = || {
            let target = if turn.is_multiple_of(2) { "../secret" } else { "real" };
            let _ = std::fs::remove_file(path.join("next"));
            std::os::unix::fs::symlink(target, path.join("next")).expect("a link");
            std::fs::rename(path.join("next"), path.join("link")).expect("renamed");
            turn += 1;
        };
        let same = json!([{ "line": 0, "operation": "replace", "content": "inside" }]);
        while_others(turn_link, || {
            for n in 0..300 {
                let result = match n % 10 {
                    0 => server.tool("edit_file", json!({ "name": "link", "edits": same })),
                    _ => server.tool("read_file", json!({ "name": "link" })),
                };
                assert!(!result.text.contains("secret"), "{}", result.text);
            }
        });
        assert_eq!(std::fs::read(folder.outside("secret")).expect("the file"), b"secret\n");
        assert_eq!(folder.read("real"), b"inside\n");
    });
}

#[test]
fn read_only_servers_change_nothing_and_offer_no_tool_that_writes() {
    on_both_with(
        &["--read-only", "--tools=lines,exact"],
        |folder| folder.write("f", "a\n"),
        |server, folder| {
            let before = folder.snapshot();
            let tools = server.rpc("tools/list", json!({}));
            let names: Vec<&Value> = tools["result"]["tools"]
                .as_array()
                .expect("tools")
                .iter()
                .map(|tool| &tool["name"])
                .collect();
            assert_eq!(names, ["list_files", "read_file"]);
            assert_eq!(server.ok("read_file", json!({ "name": "f" })), "File: f (1 lines)\n\na");
            let calls = [
                ("edit_file", json!({ "name": "f", "append": "b" })),
                ("edit_file", json!({ "name": "new", "append": "b" })),
                ("file_edit", json!({ "path": "f", "edits": [{ "old_text": "a", "new_text": "b" }] })),
            ];
            for (tool, arguments) in calls {
                // A tool that is not offered is an unknown tool.
                let answer = server.rpc("tools/call", json!({ "name": tool, "arguments": arguments }));
                assert_eq!(answer["error"]["code"], -32602, "{answer}");
                let message = answer["error"]["message"].as_str().expect("a message");
                assert!(message.starts_with(&format!("Unknown tool: {tool}")), "{message}");
            }
            assert_eq!(folder.snapshot(), before);
        },
    );
}
