//! A failed call names the way out: tools that are offered, with the arguments of the very next call (contract 11).

use serde_json::{Value, json};

use super::{make, put};
use crate::support::{Folder, Mcp, Stdio};

/// All tools of all sets.
const TOOLS: [&str; 19] = [
    "list_files",
    "read_file",
    "file_edit",
    "read_text_file",
    "read_media_file",
    "read_multiple_files",
    "write_file",
    "edit_file",
    "create_directory",
    "list_directory",
    "list_directory_with_sizes",
    "directory_tree",
    "move_file",
    "search_files",
    "get_file_info",
    "list_allowed_directories",
    "delete_file",
    "copy_file",
    "resources",
];

fn fill(folder: &Folder) {
    put(folder, "src/notes.txt", "a\n");
    put(folder, "full/x", "a\n");
    put(folder, "other/README", "a\n");
    put(folder, "binary", b"\0\0");
    put(folder, "latin", b"caf\xe9\n");
    make(folder, "empty");
    put(folder, ".env.local", "a\n");
    folder.link("out", "../outside");
}

fn serve(folder: &Folder, tools: &str) -> Stdio {
    Stdio::start(folder, &[tools]).ready()
}

/// The whole text of a call that fails.
fn failed(server: &Stdio, tool: &str, arguments: Value) -> String {
    let result = server.tool(tool, arguments);
    assert!(result.is_error, "{tool}: {}", result.text);
    result.text
}

/// A tool, its arguments, and the tool and path of a call.
type Failure = (&'static str, Value, Option<(&'static str, &'static str)>);

/// Calls that fail, and the call that the error names, if there is one.
fn failures() -> Vec<Failure> {
    let edits = json!([{ "oldText": "a", "newText": "b" }]);
    vec![
        ("read_text_file", json!({ "path": "src/quux" }), Some(("list_directory", "src"))),
        ("read_text_file", json!({ "path": "quux" }), Some(("list_directory", "."))),
        ("read_file", json!({ "path": "src/quux" }), Some(("list_directory", "src"))),
        ("read_media_file", json!({ "path": "src/quux" }), Some(("list_directory", "src"))),
        ("edit_file", json!({ "path": "src/quux", "edits": edits }), Some(("list_directory", "src"))),
        ("list_directory", json!({ "path": "src/quux" }), Some(("list_directory", "src"))),
        ("directory_tree", json!({ "path": "quux" }), Some(("list_directory", "."))),
        ("search_files", json!({ "path": "quux", "pattern": "*" }), Some(("list_directory", "."))),
        ("get_file_info", json!({ "path": "full/quux" }), Some(("list_directory", "full"))),
        ("move_file", json!({ "source": "src/quux", "destination": "y" }), Some(("list_directory", "src"))),
        ("copy_file", json!({ "source": "src/quux", "destination": "y" }), Some(("list_directory", "src"))),
        ("delete_file", json!({ "path": "src/quux" }), Some(("list_directory", "src"))),
        ("list_directory", json!({ "path": "full/x" }), Some(("read_text_file", "full/x"))),
        ("read_text_file", json!({ "path": "src" }), Some(("list_directory", "src"))),
        ("read_text_file", json!({ "path": "binary" }), Some(("read_media_file", "binary"))),
        (
            "copy_file",
            json!({ "source": "full/x", "destination": "src/notes.txt" }),
            Some(("delete_file", "src/notes.txt")),
        ),
        ("write_file", json!({ "path": "full/x", "content": "", "create_only": true }), None),
        ("move_file", json!({ "source": "full/x", "destination": "no/y" }), Some(("create_directory", "no"))),
    ]
}

/// The calls that a text names: a tool and an object.
fn named(text: &str) -> Vec<(String, Value)> {
    let call = |(at, _): (usize, &str)| {
        let tool = text[..at].trim_end().rsplit([' ', '\n']).next()?.to_owned();
        let mut values = serde_json::Deserializer::from_str(&text[at..]).into_iter::<Value>();
        Some((tool, values.next()?.ok()?))
    };
    text.match_indices('{').filter_map(call).collect()
}

#[test]
fn the_call_that_an_error_names_can_be_made() {
    for (tool, arguments, expected) in failures() {
        let folder = Folder::new();
        fill(&folder);
        let server = serve(&folder, "--tools=filesystem");
        let text = failed(&server, tool, arguments.clone());
        let calls = named(&text);
        let wanted: Vec<_> =
            expected.map(|(tool, path)| (tool.to_owned(), json!({ "path": path }))).into_iter().collect();
        assert_eq!(calls, wanted, "{tool} {arguments}: {text}");
        calls.into_iter().for_each(|(tool, arguments)| {
            let media = tool == "read_media_file";
            let answer = server.rpc("tools/call", json!({ "name": tool, "arguments": arguments }));
            assert_eq!(answer["result"]["isError"], json!(false), "{media} {answer}");
        });
    }
}

#[test]
fn a_link_that_is_not_followed_is_named_as_the_cause() {
    not_under_wine!("wine shows links of this machine as what they lead to, and opens nothing through most");
    let folder = Folder::new();
    fill(&folder);
    folder.link("dangling", "nothing");
    folder.link("circle", "circle");
    folder.link("to-file", "full/x");
    folder.link("absolute", folder.path().join("full"));
    let server = serve(&folder, "--tools=filesystem");
    for path in ["out", "dangling", "dangling/x", "circle", "to-file/x", "absolute", "absolute/x"] {
        for tool in ["get_file_info", "read_text_file", "list_directory"] {
            let text = failed(&server, tool, json!({ "path": path }));
            let told = "It leads through a link that is absolute, or leads to nothing, to a file where a folder must be, in a circle, or \
                        out of the served folders. Give the path of what it leads to, if that is served.";
            assert_eq!(text, format!("Error: Permission denied accessing '{path}'\n{told}"), "{tool}");
        }
    }
}

#[test]
fn a_destination_that_is_the_folder_itself_names_a_path_in_it_if_the_source_is_elsewhere() {
    let folder = Folder::new();
    fill(&folder);
    let server = serve(&folder, "--tools=filesystem");
    for destination in ["", "."] {
        for (source, way_out) in [
            ("src/notes.txt", "It is a folder. To put it in there, give the path \"notes.txt\"."),
            ("binary", "It is the folder that the source is in. Give another path."),
        ] {
            let arguments = json!({ "source": source, "destination": destination });
            let text = failed(&server, "move_file", arguments);
            assert_eq!(
                text,
                format!("Error: '{destination}' exists already\nNothing was changed. {way_out}")
            );
        }
    }
}

#[test]
fn a_destination_with_a_slash_at_its_end_is_a_folder() {
    let folder = Folder::new();
    fill(&folder);
    let server = serve(&folder, "--tools=filesystem");
    let before = folder.snapshot();
    for tool in ["move_file", "copy_file"] {
        let text = failed(&server, tool, json!({ "source": "src/notes.txt", "destination": "new/" }));
        assert_eq!(
            text,
            "Error: There is no folder 'new/'\nNothing was changed. To put it into that folder, create it first with create_directory \
             {\"path\":\"new\"}, then give the path \"new/notes.txt\".",
            "{tool}"
        );
        let text = failed(&server, tool, json!({ "source": "src/notes.txt", "destination": "full/" }));
        assert!(text.ends_with("To put it in there, give the path \"full/notes.txt\"."), "{tool}: {text}");
    }
    assert!(folder.snapshot() == before);
    // As for the system, a folder may be moved there.
    server.ok("move_file", json!({ "source": "src", "destination": "new/" }));
    assert!(folder.path().join("new/notes.txt").is_file());
}

#[test]
fn a_missing_path_names_near_ones_also_folders_and_those_in_other_folders() {
    not_under_wine!("a search for near names has 5 ms");
    let folder = Folder::new();
    fill(&folder);
    let server = serve(&folder, "--tools=filesystem");
    for (tool, path, near) in [
        ("read_text_file", "src/note.txt", "src/notes.txt"),
        ("read_text_file", "readme", "other/README"),
        ("read_text_file", "gone/notes.txt", "src/notes.txt"),
        ("list_directory", "ful", "full"),
        ("get_file_info", "othr", "other"),
        ("read_text_file", ".env", ".env.local"),
    ] {
        let text = failed(&server, tool, json!({ "path": path }));
        assert_eq!(text, format!("Error: File '{path}' not found\nFiles with a similar name: {near}"));
    }
}

#[test]
fn no_error_names_a_tool_that_is_not_offered() {
    for (tools, offered) in [
        ("filesystem", &TOOLS[..0]),
        (
            "read_text_file,filesystem.write_file,get_file_info,move_file,copy_file,delete_file,search_files",
            &[],
        ),
        ("read_text_file,list_directory,filesystem.edit_file", &[]),
        ("list_files,filesystem", &["list_files"]),
        ("exact,filesystem", &["file_edit"]),
    ] {
        let folder = Folder::new();
        fill(&folder);
        let server = serve(&folder, &format!("--tools={tools}"));
        let list = server.rpc("tools/list", json!({}));
        let list = list["result"]["tools"].as_array().expect("tools").clone();
        let names: Vec<&str> = list.iter().map(|tool| tool["name"].as_str().expect("a name")).collect();
        assert!(offered.iter().all(|tool| names.contains(tool)));
        for (tool, arguments, _) in failures().into_iter().filter(|(tool, ..)| names.contains(tool)) {
            let text = failed(&server, tool, arguments.clone());
            let strange = TOOLS.iter().find(|tool| text.contains(**tool) && !names.contains(tool));
            assert_eq!(strange, None, "{tools}: {tool} {arguments}: {text}");
            assert!(!text.contains("list_files"), "of the other set: {text}");
        }
        let unknown = server.rpc("tools/call", json!({ "name": "no_tool", "arguments": {} }));
        let message = unknown["error"]["message"].as_str().expect("a message");
        assert!(message.ends_with(&names.join(", ")), "{message}");
    }
}

#[test]
fn the_sets_lines_and_exact_name_list_files_if_it_is_offered() {
    let missing = "Error: File 'quux' not found";
    for (tools, tool, hint) in [
        ("lines", "read_file", "\nUse list_files to see which files there are."),
        ("lines.read_file", "read_file", ""),
        (
            "lines.read_file,list_directory",
            "read_file",
            "\nUse list_directory {\"path\":\".\"} to see which files there are.",
        ),
    ] {
        let folder = Folder::new();
        fill(&folder);
        let server = serve(&folder, &format!("--tools={tools}"));
        let text = failed(&server, tool, json!({ "name": "quux" }));
        assert_eq!(text, format!("{missing}{hint}"), "{tools}");
    }
    for (tools, hint) in [("lines,exact", "Use list_files to see the names; "), ("exact", "")] {
        let folder = Folder::new();
        let edits = json!([{ "old_text": "a", "new_text": "b" }]);
        let server = serve(&folder, &format!("--tools={tools}"));
        let text = failed(&server, "file_edit", json!({ "path": "quux", "edits": edits }));
        let last = format!("1. {hint}to create the file, give an empty old_text in the first edit");
        assert!(text.starts_with(missing) && text.trim_end().ends_with(&last), "{tools}: {text}");
        assert_eq!(text.contains("list_files"), !hint.is_empty(), "{text}");
    }
}

#[test]
fn no_call_is_advised_that_is_refused_as_well() {
    not_under_wine!("wine shows links of this machine as what they lead to, and opens nothing through most");
    let folder = Folder::new();
    put(&folder, ".git/HEAD", "ref: refs/heads/main\n");
    put(&folder, ".git/ORIG_HEAD", "0\n");
    put(&folder, "hidden/x", "x\n");
    folder.link("link", ".git");
    let flags = ["--tools=filesystem,search", "--exclude=HEAD", "--exclude=/hidden/"];
    let server = Stdio::start(&folder, &flags).ready();
    let text = failed(&server, "read_text_file", json!({ "path": ".git/HEAD" }));
    assert!(text.ends_with("Use list_directory {\"path\":\".\"} to see which files there are."), "{text}");
    for (tool, path) in [("read_text_file", "link"), ("write_file", "link"), ("read_text_file", ".git/HEAX")]
    {
        let text = failed(&server, tool, json!({ "path": path, "content": "x" }));
        assert!(!text.contains("list_directory") && !text.contains("ORIG_HEAD"), "{tool} {path}: {text}");
    }
    for path in ["hidden/new", "hidden", "hidden/x"] {
        for (tool, arguments) in [
            ("write_file", json!({ "path": path, "content": "x" })),
            ("create_directory", json!({ "path": path })),
            ("copy_file", json!({ "source": ".git/HEAD", "destination": path })),
        ] {
            let text = failed(&server, tool, arguments);
            assert!(!text.contains("get_file_info"), "{tool} {path}: {text}");
        }
    }
    for path in [".", folder.path().to_str().expect("UTF-8")] {
        for (tool, arguments) in [
            ("delete_file", json!({ "path": path, "recursive": true })),
            ("move_file", json!({ "source": path, "destination": "x" })),
        ] {
            let text = failed(&server, tool, arguments);
            assert!(text.contains("the served folder itself") && !text.contains("get_file_info"), "{text}");
        }
    }
}

#[test]
fn a_name_that_may_be_meant_is_told_once() {
    not_under_wine!("names paths as Linux has them");
    let folder = Folder::new();
    put(&folder, "f.txt", "x\n");
    let server = serve(&folder, "--tools=filesystem");
    let path = format!("file:{}/f.txt", folder.path().display());
    let text = failed(&server, "read_text_file", json!({ "path": path }));
    assert!(text.ends_with("Files with a similar name: f.txt"), "{text}");
}
