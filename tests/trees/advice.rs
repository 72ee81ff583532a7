//! Advice holds when it is followed: the call that an error names succeeds, and what it counts is found.

use serde_json::{Value, json};

use super::{make, put, refused, serve_tools as serve};
use crate::support::{Folder, Mcp, Stdio};

/// The first object of JSON in a text.
#[track_caller]
fn named(text: &str) -> Value {
    let at = text.find("{\"").unwrap_or_else(|| panic!("no call in {text}"));
    let object = serde_json::Deserializer::from_str(&text[at..]).into_iter().next();
    object.expect("an object").expect("JSON")
}

#[test]
fn a_folder_that_must_stay_is_not_said_to_go_with_recursive() {
    let folder = Folder::new();
    put(&folder, "kept/a.key", "x");
    put(&folder, "repository/.git/HEAD", "ref: refs/heads/main\n");
    put(&folder, "free/a", "x");
    let server = serve(&folder, "filesystem", &["--exclude=*.key"]);
    let agent = serve(&folder, "agent", &["--exclude=*.key"]);
    for (path, advised) in [("kept", false), ("repository", false), ("free", true)] {
        for text in [
            refused(&server, "delete_file", json!({ "path": path })),
            refused(&agent, "edit", json!({ "edits": [{ "path": path, "delete": true }] })),
        ] {
            assert_eq!(text.contains("recursive: true"), advised, "{path}: {text}");
        }
        let all = server.tool("delete_file", json!({ "path": path, "recursive": true }));
        assert_eq!(all.is_error, !advised, "{path}: {}", all.text);
    }
}

#[test]
fn as_many_files_match_as_the_advice_for_a_glob_in_path_says() {
    let folder = Folder::new();
    for path in
        ["a.txt", "b.txt", "a", "A/x.txt", "sub/c.txt", "sub/deep/d.txt", "sub/a", "n.md", ".hid/z.txt"]
    {
        put(&folder, path, "one\n");
    }
    let server = serve(&folder, "filesystem,search", &[]);
    for glob in [
        "!(a)",
        "!(a.txt)",
        "@(a|b).txt",
        "*/",
        "sub/*/",
        "**/",
        "sub/!(a)",
        "!(sub)/",
        "!(sub)",
        "+(a|b)",
        "{a,b}.txt",
        "{sub,x}/",
        "*/*/",
        "**/!(a)",
        "*.t?t",
        "!*/",
        "!*",
        "**",
        "sub/*",
        ".*/",
    ] {
        for (tool, mut call) in [
            ("grep", json!({ "pattern": "one", "output_mode": "count", "path": glob })),
            ("glob", json!({ "pattern": "*", "path": glob })),
            ("search_files", json!({ "pattern": "*", "path": glob })),
            ("list_directory", json!({ "path": glob })),
        ] {
            let text = refused(&server, tool, call.clone());
            let Some((before, call_text)) =
                text.split_once(" with ").filter(|(before, _)| before.contains(" match"))
            else {
                continue;
            };
            let number = before.rsplit(' ').find_map(|word| word.parse::<usize>().ok()).expect("a number");
            let followed = if call_text.starts_with("search_files") { "search_files" } else { tool };
            let advised = named(call_text);
            if tool == "list_directory" {
                call = advised;
            } else {
                advised
                    .as_object()
                    .expect("arguments")
                    .iter()
                    .for_each(|(name, value)| call[name] = value.clone());
            }
            let found = server.tool(followed, call);
            assert!(!found.is_error, "{tool} {glob}: {text}\n{}", found.text);
            let paths = found.text.lines().take_while(|line| !line.starts_with('['));
            let files = paths.filter(|line| !line.is_empty() && !line.starts_with("No ")).count();
            assert_eq!(files, number, "{tool} {glob}: {text}\n{}", found.text);
        }
    }
}

#[test]
fn an_encoding_beside_several_paths_is_that_of_all_and_advice_names_the_item() {
    let folder = Folder::new();
    let latin = |text: &str| text.chars().map(|c| c as u8).collect::<Vec<u8>>();
    put(&folder, "a.txt", latin("grüße aus münchen\n"));
    put(&folder, "b.txt", latin("größer\n"));
    put(&folder, "c.txt", "plain\n");
    let server = serve(&folder, "filesystem", &[]);
    let text = server.ok("read_multiple_files", json!({ "paths": ["a.txt", "b.txt"], "encoding": "latin1" }));
    assert!(text.contains("grüße") && text.contains("größer"), "{text}");
    let text = server.ok("read_multiple_files", json!({ "paths": ["a.txt", "c.txt"] }));
    let item = named(text.split_once("In paths: ").expect("advice").1);
    let text = server.ok("read_multiple_files", json!({ "paths": [item, "c.txt"] }));
    assert!(text.contains("grüße") && text.contains("plain"), "{text}");
}

#[test]
fn a_cut_text_goes_on_with_the_tool_that_is_offered() {
    let folder = Folder::new();
    put(&folder, "long.txt", (0..20_000).map(|line| format!("line {line}\n")).collect::<String>());
    let server = serve(&folder, "filesystem.read_multiple_files", &[]);
    let mut paths = json!(["long.txt"]);
    let mut next = 0;
    while next < 20_000 {
        let text = server.ok("read_multiple_files", json!({ "paths": paths }));
        assert!(!text.contains("read_text_file"), "{}", &text[text.len() - 200..]);
        assert!(text.contains(&format!("\nline {next}\n")), "{next}");
        let last = text.lines().rev().find_map(|line| line.strip_prefix("line ")).expect("a line");
        next = last.parse::<usize>().expect("a number") + 1;
        let Some((_, call)) = text.rsplit_once("Go on with read_multiple_files ") else { break };
        paths = named(call)["paths"].take();
    }
    assert_eq!(next, 20_000);
}

#[test]
fn a_name_that_must_not_be_created_is_not_advised_to_be() {
    let folder = Folder::new();
    put(&folder, "src.txt", "x\n");
    let server = serve(&folder, "filesystem", &[]);
    let edits = json!([{ "oldText": "", "newText": "y" }]);
    let text = refused(&server, "edit_file", json!({ "path": "src.txt ", "edits": edits }));
    assert!(text.contains("src.txt\n") || text.ends_with("src.txt"), "{text}");
    for name in ["src.txt ", "*.txt", "a/*"] {
        let text = refused(&server, "edit_file", json!({ "path": name, "edits": edits }));
        assert!(!text.contains("write_file"), "{name}: {text}");
    }
    let text = refused(&server, "edit_file", json!({ "path": "new.txt", "edits": edits }));
    assert!(text.contains("create the file with write_file"), "{text}");
    let text = refused(&server, "edit_file", json!({ "path": "srd.txt", "edits": edits }));
    assert!(text.contains("src.txt") && text.contains("create the file with write_file"), "{text}");
    let exact = Stdio::start(&folder, &["--tools=exact", "--names=paths"]).ready();
    let edits = json!([{ "old_text": "a", "new_text": "y" }]);
    for name in ["*.txt", "src.txt ", "src.txt:1"] {
        let text = refused(&exact, "file_edit", json!({ "path": name, "edits": edits }));
        assert!(!text.contains("to create the file"), "{name}: {text}");
    }
    let text = refused(&exact, "file_edit", json!({ "path": "new.txt", "edits": edits }));
    assert!(text.contains("to create the file"), "{text}");
}

#[test]
fn a_path_below_a_file_is_looked_for_in_a_folder_that_there_is() {
    let folder = Folder::new();
    put(&folder, "a.txt", "one\n");
    let server = serve(&folder, "filesystem,search,agent.edit", &[]);
    for path in ["a.txt/x", "a.txt/x/y", "none/x"] {
        let edit = json!({ "edits": [{ "path": path, "old": "x", "new": "y" }] });
        let file = json!({ "path": path });
        for (tool, arguments) in [
            ("read_text_file", &file),
            ("list_directory", &file),
            ("directory_tree", &file),
            ("get_file_info", &file),
            ("edit", &edit),
            ("read_media_file", &file),
            ("list_directory_with_sizes", &file),
            ("delete_file", &file),
        ] {
            let text = refused(&server, tool, arguments.clone());
            if text.contains("Use list_directory") {
                server.ok("list_directory", named(&text));
            } else {
                assert!(text.contains("'a.txt' is a file, not a folder"), "{tool} {path}: {text}");
            }
        }
    }
}

#[test]
fn text_in_another_encoding_is_read_by_the_call_that_its_refusal_as_media_names() {
    let folder = Folder::new();
    put(
        &folder,
        "a.txt",
        [b"\xFF\xFE".to_vec(), "grüße".encode_utf16().flat_map(u16::to_le_bytes).collect()].concat(),
    );
    put(&folder, "b.txt", "Grüße aus München, schöne Bäume\n".chars().map(|c| c as u8).collect::<Vec<u8>>());
    put(&folder, "c.txt", "plain\n");
    let server = serve(&folder, "filesystem", &[]);
    for path in ["a.txt", "b.txt", "c.txt"] {
        let text = refused(&server, "read_media_file", json!({ "path": path }));
        server.ok("read_text_file", named(&text));
    }
}

#[test]
fn lines_behind_a_path_are_named_only_if_the_file_has_them() {
    let folder = Folder::new();
    put(&folder, "a.txt", "one\n");
    put(&folder, "empty", "");
    let server = serve(&folder, "filesystem", &[]);
    for (path, has_lines) in [("a.txt:1", true), ("a.txt:1-9", true), ("a.txt:2", false), ("empty:1", false)]
    {
        for (tool, arguments) in [
            ("read_text_file", json!({ "path": path })),
            ("write_file", json!({ "path": path, "content": "x" })),
        ] {
            let text = refused(&server, tool, arguments);
            assert_eq!(text.contains("start_line\":"), has_lines, "{tool} {path}: {text}");
            if has_lines {
                server.ok("read_text_file", named(&text));
            }
        }
    }
}

#[test]
fn descriptions_name_only_tools_that_are_offered() {
    let all = "lines exact filesystem search text toolkit agent";
    let folder = Folder::new();
    let described = |tools: &str| -> Vec<(String, String)> {
        let server = Stdio::start(&folder, &[&format!("--tools={tools}")]).ready();
        let list = server.rpc("tools/list", json!({}))["result"]["tools"].take();
        let tool = |tool: &Value| {
            let text = format!("{}\n{}", tool["description"], tool["inputSchema"]);
            (tool["name"].as_str().expect("a name").to_owned(), text)
        };
        list.as_array().expect("tools").iter().map(tool).collect()
    };
    make(&folder, "x");
    for set in all.split(' ') {
        let tools = described(set);
        let names: Vec<&str> =
            tools.iter().map(|(name, _)| &**name).filter(|name| name.contains('_')).collect();
        for (name, _) in &tools {
            let alone = described(&format!("{set}.{name}"));
            let [(_, text)] = &alone[..] else { panic!("one tool of {set}") };
            assert!(!text.contains("{?"), "{set}.{name}: {text}");
            for other in names.iter().filter(|other| *other != name) {
                let is_word =
                    text.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == *other);
                assert!(!is_word, "{set}.{name} names {other}: {text}");
            }
        }
    }
}

#[test]
fn no_count_is_advised_that_one_call_does_not_replace() {
    let folder = Folder::new();
    put(&folder, "many.txt", "z".repeat(1_000_001));
    put(&folder, "fewer.txt", "z".repeat(1_000_000));
    let agent = Stdio::start(&folder, &["--tools=agent"]);
    let files = Stdio::start(&folder, &["--tools=filesystem"]);
    let edit = |path: &str| json!({ "path": path, "edits": [{ "oldText": "z", "newText": "y" }] });
    for (server, tool, path, advised) in [
        (&agent, "edit", "many.txt", None),
        (&agent, "edit", "fewer.txt", Some("count 1000000")),
        (&files, "edit_file", "many.txt", None),
        (&files, "edit_file", "fewer.txt", Some("Update expectedCount to 1000000")),
    ] {
        let arguments =
            if tool == "edit" { json!({ "path": path, "old": "z", "new": "y" }) } else { edit(path) };
        let refused = refused(server, tool, arguments);
        match advised {
            Some(advised) => assert!(refused.contains(advised), "{tool} {path}: {refused}"),
            None => {
                assert!(!refused.contains("ount to") && !refused.contains(" all, or"), "{tool}: {refused}");
                assert!(refused.contains("more"), "{tool}: {refused}");
            }
        }
    }
}
