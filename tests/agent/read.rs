//! `read`: texts of one or several files, and lines of them.

use serde_json::json;

use super::serve;
use crate::support::{Folder, Http, Mcp};
use crate::trees::{make, put};

fn numbered_lines(count: usize) -> String {
    (1..=count).map(|number| format!("line {number}\n")).collect()
}

#[test]
fn a_path_may_carry_lines_as_grep_prints_them() {
    let folder = Folder::new();
    put(&folder, "src/a.rs", numbered_lines(200));
    let server = serve(&folder, &["--read-only"]);
    let read = |path: &str| server.ok("read", json!({ "path": path }));
    assert_eq!(read("src/a.rs:120-122"), "line 120\nline 121\nline 122");
    assert_eq!(read("src/a.rs:120"), "line 120");
    assert_eq!(read("src/a.rs:120:5"), "line 120");
    assert_eq!(read("./src/a.rs:199-500"), "line 199\nline 200");
    assert_eq!(read("src/a.rs"), numbered_lines(200));
    let lines = server.ok("read", json!({ "path": "src/a.rs:7-8", "line_numbers": true }));
    assert_eq!(lines, "7\tline 7\n8\tline 8");
    let found = server.ok("grep", json!({ "pattern": "line 77$" }));
    let line = found.lines().nth(1).and_then(|line| line.split(':').next()).expect("a line");
    assert_eq!(read(&format!("{}{line}", found.lines().next().expect("a path"))), "line 77");
}

#[test]
#[cfg(unix)] // Windows has no such names
fn a_file_of_the_very_name_goes_before_lines_of_another() {
    let folder = Folder::new();
    put(&folder, "a.rs", numbered_lines(9));
    put(&folder, "a.rs:5", "own\n");
    put(&folder, "b, c", "one file\n");
    let server = serve(&folder, &[]);
    assert_eq!(server.ok("read", json!({ "path": "a.rs:5" })), "own\n");
    assert_eq!(server.ok("read", json!({ "path": "a.rs:6" })), "line 6");
    assert_eq!(server.ok("read", json!({ "paths": "b, c" })), "one file\n");
}

#[test]
#[cfg(unix)] // Windows has no such names
fn what_stands_before_the_lines_is_the_path_as_it_is() {
    let folder = Folder::new();
    let marked = [
        "i]", "{a}", "(b)", "[c]", "<d>", "'e'", "\"f\"", "`g`", "m,", "n.", "o;", "p:", "j}", "k>", "*v*",
        "@w", "q ", "r:4", "s#L2", "t:1-2",
    ];
    for name in marked {
        let plain =
            name.trim_matches(|c: char| !c.is_ascii_alphabetic()).split([':', '#']).next().expect("a name");
        put(&folder, plain, format!("other\n{plain} 2\n{plain} 3\n{plain} 4\n{plain} 5\n"));
        put(&folder, name, format!("{name} 1\n{name} 2\n{name} 3\n"));
    }
    put(&folder, "copy (1)", "1\n2\n3\n");
    put(&folder, "copy", "1\n");
    let server = serve(&folder, &[]);
    for name in marked {
        let (line, lines) = (format!("{name} 3"), format!("{name} 2\n{name} 3"));
        assert_eq!(server.ok("read", json!({ "path": format!("{name}:3") })), line);
        assert_eq!(server.ok("read", json!({ "path": format!("{name}#L2-L3") })), lines);
        assert_eq!(server.ok("read", json!({ "path": format!("./{name}:2-") })), lines);
        let several = server.ok("read", json!({ "paths": [format!("{name}:2-3"), "copy"] }));
        assert_eq!(several, format!("==> {name}:2-3 <==\n{lines}\n\n==> copy <==\n1\n\n"));
    }
    assert_eq!(server.ok("read", json!({ "path": "copy (1):3" })), "3");
    assert_eq!(server.ok("read", json!({ "paths": "copy (1):3" })), "3");
    // Where no file of that name is, what a text has around it is no part of it.
    assert_eq!(server.ok("read", json!({ "path": "`copy:1`" })), "1");
    assert_eq!(server.ok("read", json!({ "path": "<copy>:1" })), "1");
    let missing = server.tool("read", json!({ "path": "none (1):3" }));
    assert!(missing.text.starts_with("Error: File 'none (1)' not found"), "{}", missing.text);
    let hint = server.tool("grep", json!({ "path": "copy (1):3", "pattern": "3" })).text;
    let read = r#"Read the lines with read {"path":"copy (1)","lines":"3-3"}."#;
    assert!(hint.ends_with(&format!("Give the path 'copy (1)' without line numbers. {read}")), "{hint}");
}

#[test]
fn lines_in_a_path_go_to_the_end_stand_alone_and_count_from_1() {
    let folder = Folder::new();
    put(&folder, "a.rs", numbered_lines(9));
    let server = serve(&folder, &[]);
    for path in ["a.rs:8-", "a.rs#L8-"] {
        assert_eq!(server.ok("read", json!({ "path": path })), "line 8\nline 9");
    }
    let several = server.ok("read", json!({ "paths": ["a.rs:8-9", "a.rs"], "tail": 1 }));
    assert!(several.contains("line 8\nline 9\n") && several.ends_with("<==\nline 9\n"), "{several}");
    let filled = json!({ "path": "a.rs", "lines": "0", "tail": 1 });
    assert_eq!(server.ok("read", filled), "line 9");
    for (arguments, part) in [
        (
            json!({ "path": "a.rs:3-9", "tail": 2 }),
            "path and tail: 'a.rs:3-9' has lines, too, and they exclude each other",
        ),
        (json!({ "path": "a.rs:3-9", "lines": "4" }), "path and lines: "),
        (
            json!({ "path": "a.rs:3-4,7-8" }),
            r#"expected one behind a path: {"paths":["a.rs:3-4","a.rs:7-8"]}"#,
        ),
        (json!({ "paths": "a.rs:3-4, 7" }), r#"{"paths":["a.rs:3-4","a.rs:7"]}"#),
        (json!({ "path": "a.rs:0" }), "Lines count from 1"),
        (json!({ "path": "a.rs", "lines": "0" }), "Lines count from 1"),
        (json!({ "path": "a.rs", "lines": 0 }), "Lines count from 1"),
    ] {
        let answer = server.tool("read", arguments.clone());
        assert!(answer.is_error && answer.text.contains(part), "{arguments}: {}", answer.text);
    }
}

#[test]
fn lines_are_taken_in_every_usual_form() {
    let folder = Folder::new();
    put(&folder, "f", numbered_lines(20));
    let server = serve(&folder, &[]);
    for (arguments, first, last) in [
        (json!({ "path": "f", "lines": "18-19" }), 18, 19),
        (json!({ "path": "f", "lines": "18-" }), 18, 20),
        (json!({ "path": "f", "lines": 7 }), 7, 7),
        (json!({ "path": "f", "tail": 2 }), 19, 20),
        (json!({ "path": "f", "tail": "2" }), 19, 20),
        (json!({ "file_path": "f", "offset": 3, "limit": 2 }), 3, 4),
        (json!({ "path": "f", "start_line": 3, "end_line": 5 }), 3, 5),
        (json!({ "path": "f", "startLine": 19 }), 19, 20),
        (json!({ "path": "f", "view_range": [18, -1] }), 18, 20),
        (json!({ "path": "f", "view_range": [2, 3] }), 2, 3),
        (json!({ "path": "f", "head": 2 }), 1, 2),
        (json!({ "path": { "path": "f", "lines": "4-5" } }), 4, 5),
        (
            json!({ "path": "f", "lines": "4-5", "offset": 0, "limit": 0, "tail": 0, "paths": [], "cursor": "" }),
            4,
            5,
        ),
    ] {
        let lines: Vec<String> = (first..=last).map(|number| format!("line {number}")).collect();
        assert_eq!(server.ok("read", arguments.clone()), lines.join("\n"), "{arguments}");
    }
    for (arguments, part) in [
        (json!({ "path": "f", "lines": "2-3", "tail": 1 }), "they exclude each other"),
        (json!({ "path": "f", "lines": "0-3" }), "positive integers"),
        (json!({ "path": "f", "lines": "3-2" }), "start 3 > end 2"),
        (json!({ "path": "f", "lines": "x" }), "lines such as"),
        (json!({ "path": "f:30" }), "Start line 30 exceeds file length 20"),
        (json!({}), "expected the path of a file"),
        (json!({ "path": "f", "line": 3 }), "did you mean lines?"),
        (json!({ "paths": ["f", "f"], "cursor": "x" }), "cursor"),
    ] {
        let text = server.tool("read", arguments.clone());
        assert!(text.is_error && text.text.contains(part), "{arguments}: {}", text.text);
    }
}

#[test]
fn several_files_come_with_one_header_line_each_and_an_error_stands_in_its_place() {
    let folder = Folder::new();
    put(&folder, "src/a", numbered_lines(9));
    put(&folder, "b", "x\ny\n");
    put(&folder, "latin", b"caf\xe9\n");
    let server = serve(&folder, &[]);
    let text = server.ok("read", json!({ "paths": ["src/a:2-3", "missing", "b", "src/a:5", "../x"] }));
    let lines: Vec<&str> = text.lines().filter(|line| !line.is_empty()).collect();
    assert_eq!(
        (&lines[..3], &lines[4..9]),
        (
            &["==> src/a:2-3 <==", "line 2", "line 3"][..],
            &["==> b <==", "x", "y", "==> src/a:5 <==", "line 5"][..]
        )
    );
    assert!(lines[3].starts_with("missing: Error - File 'missing' not found"), "{text}");
    assert!(lines[9].starts_with("../x: Error - Invalid filename format"), "{text}");
    for paths in
        [json!("src/a:2-2,b"), json!("src/a:2-2\nb"), json!("[\"src/a:2-2\", \"b\"]"), json!("src/a:2-2 b")]
    {
        let text = server.ok("read", json!({ "paths": paths }));
        assert_eq!(text, "==> src/a:2-2 <==\nline 2\n\n==> b <==\nx\ny\n\n", "{paths}");
    }
    let both =
        server.ok("read", json!({ "path": "b", "paths": ["src/a"], "lines": "2-2", "line_numbers": true }));
    assert_eq!(both, "==> b <==\n2\ty\n\n==> src/a <==\n2\tline 2\n");
    let latin = server.ok("read", json!({ "paths": ["latin", "b"], "encoding": "windows-1252" }));
    assert!(latin.contains("café"), "{latin}");
}

#[test]
fn a_folder_and_a_missing_file_say_which_call_is_next() {
    let folder = Folder::new();
    put(&folder, "src/main.rs", "x\n");
    make(&folder, "empty");
    let server = serve(&folder, &[]);
    for (path, part) in [
        ("src", r#"See what is in it with files {"path":"src"}."#),
        ("src/mian.rs:3", "Files with a similar name: src/main.rs"),
        (
            "src/*.rs",
            r#"it is a glob, where the path of one file or folder is expected; 1 file matches with files {"path":"src","pattern":"./*.rs"}, such as src/main.rs"#,
        ),
        ("docs/none", "Use files "),
    ] {
        let answer = server.tool("read", json!({ "path": path }));
        assert!(answer.is_error && answer.text.contains(part), "{path}: {}", answer.text);
    }
}

#[test]
fn a_read_has_the_version_of_the_file_and_is_a_tool_over_rest() {
    let folder = Folder::new();
    put(&folder, "f", "a\r\nb\r\n");
    let server = Http::start(&folder, &["--tools=agent"]);
    let posted = server.post("/tools/read", &json!({ "path": "f" }));
    assert_eq!(posted.status, 200, "{posted:?}");
    let result = posted.json();
    assert_eq!(result["content"][0]["text"], "a\r\nb\r\n");
    assert!(result["_meta"]["file-editor/version"].is_string(), "{result}");
}
