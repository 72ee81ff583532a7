//! What models get wrong in calls of `edit`: encodings, shapes, names of arguments, lines that stand for others, patches.

use serde_json::{Value, json};

use super::{edit, refused, serve};
use crate::support::{Folder, Mcp, Stdio};
use crate::trees::put;

fn bytes(folder: &Folder, path: &str) -> Vec<u8> {
    std::fs::read(folder.path().join(path)).expect("a file")
}

fn latin(text: &str) -> Vec<u8> {
    text.chars().map(|c| c as u8).collect()
}

#[test]
fn a_wrong_encoding_does_not_mix_two_encodings_in_a_file() {
    let folder = Folder::new();
    put(&folder, "a", "grüße\nx\n");
    put(&folder, "b", "plain text\n");
    let server = serve(&folder, &[]);
    for (change, encoding) in [
        (json!({ "path": "a", "old": "x", "new": "ö" }), "latin1"),
        (json!({ "path": "a", "append": "ö" }), "latin1"),
        (json!({ "path": "a", "append": "o" }), "utf-16le"),
        (json!({ "path": "a", "lines": "2", "new": "ö" }), "windows-1251"),
        (json!({ "path": "b", "append": "o" }), "utf-16be"),
    ] {
        let mut change = change;
        change["encoding"] = json!(encoding);
        let text = refused(&server, &folder, json!([change]));
        assert!(text.contains("encoding: the file is text in utf-8"), "{text}");
    }
    edit(&server, json!([{ "path": "a", "old": "x", "new": "o", "encoding": "latin1" }]));
    edit(&server, json!([{ "path": "b", "old": "plain", "new": "plän", "encoding": "latin1" }]));
    assert_eq!(bytes(&folder, "b"), latin("plän text\n"));
}

#[test]
fn line_numbers_of_a_read_are_not_put_into_a_file() {
    let folder = Folder::new();
    put(&folder, "a", "one\ntwo\nthree\n");
    put(&folder, "t", "1\tone\n2\ttwo\n");
    let server = Stdio::start(&folder, &["--tools=agent,text.edit_file"]).ready();
    for change in [
        json!({ "path": "a", "old": "one\ntwo", "new": "1\tone\n2\t2" }),
        json!({ "path": "a", "lines": "2-3", "new": "     2\t2\n     3\t3" }),
        json!({ "path": "a", "old": "two", "new": "9→a\n10→b\n11→c\n" }),
    ] {
        let text = refused(&server, &folder, json!([change]));
        assert!(text.contains("new: its lines begin with line numbers"), "{text}");
    }
    let call = json!({ "filename": "a", "old_text": "one\ntwo", "new_text": "1\tone\n2\t2" });
    let answer = server.tool("edit_file", call);
    assert!(answer.is_error && answer.text.contains("new_text: its lines begin"), "{}", answer.text);
    for change in [
        json!({ "path": "t", "old": "2\ttwo\n", "new": "2\t2\n3\t3\n" }),
        json!({ "path": "a", "old": "one\n", "new": "1\tone\n5\tfive\n" }),
        json!({ "path": "a", "append": "1\tone\n2\ttwo\n" }),
    ] {
        edit(&server, json!([change]));
    }
}

#[test]
fn line_numbers_of_a_read_are_not_written_over_the_file_that_was_read() {
    let folder = Folder::new();
    let tools = "--tools=agent,text.edit_file,text.write_file";
    let agent = Stdio::start(&folder, &[tools]).ready();
    let files = Stdio::start(&folder, &["--tools=filesystem"]).ready();
    let numbered = "     1\tone\n     2→2\n3\tthree\n";
    let from_0 = "0\tone\n1\ttwo\n";
    for old in ["one\ntwo\nthree\n", "\u{FEFF}one\r\ntwo\r\nthree\r\n", "one\rtwo\rthree\r"] {
        put(&folder, "a", old);
        for content in [numbered, from_0] {
            for (server, tool, arguments) in [
                (&agent, "edit", json!({ "path": "a", "content": content })),
                (&agent, "write_file", json!({ "filename": "a", "content": content })),
                (&agent, "edit_file", json!({ "filename": "a", "content": content })),
                (&agent, "edit_file", json!({ "filename": "a", "old_text": "*", "new_text": content })),
                (&files, "write_file", json!({ "path": "a", "content": content })),
            ] {
                let answer = server.tool(tool, arguments);
                let text = answer.text;
                assert!(
                    answer.is_error && text.contains("its lines begin with line numbers"),
                    "{tool}: {text}"
                );
            }
            assert_eq!(folder.text("a"), old);
        }
    }
    // A table, other lines, and a new file.
    put(&folder, "t", "1\tone\n2\ttwo\n");
    put(&folder, "b", "x\ny\n");
    for path in ["t", "b", "new"] {
        files.ok("write_file", json!({ "path": path, "content": "1\tone\n2\t2\n3\tthree\n" }));
    }
}

#[test]
fn brackets_that_are_no_group_are_not_replaced_as_one() {
    let folder = Folder::new();
    put(&folder, "a", "def f():\n    g(1)\n");
    let server = serve(&folder, &[]);
    for pattern in ["f()", "f()\\b", "[(]()", "\\\\()", "[]]()", "[^^]()"] {
        let answer = server.tool("replace", json!({ "pattern": pattern, "replacement": "h()" }));
        assert!(answer.is_error && answer.text.contains("fixed_strings"), "{pattern}: {}", answer.text);
    }
    assert_eq!(folder.text("a"), "def f():\n    g(1)\n");
    for (pattern, new) in [
        ("f\\(\\)", "f()"),
        ("[()]", "|"),
        ("[^]()]+", "$0"),
        ("[](){}]", "$0"),
        ("[[f]()]", "$0"),
        ("g(\\(1\\))", "f$1"),
    ] {
        server.ok("replace", json!({ "pattern": pattern, "replacement": new, "dry_run": true }));
    }
    server.ok("replace", json!({ "pattern": "f()", "replacement": "h()", "fixed_strings": true }));
    assert_eq!(folder.text("a"), "def h():\n    g(1)\n");
    let same = server.ok("replace", json!({ "pattern": "1", "replacement": "1", "dry_run": true }));
    assert!(same.starts_with("Nothing would change: 1 place is already as the replacement."), "{same}");
}

#[test]
fn content_does_not_change_the_encoding_of_a_file_unsaid() {
    let folder = Folder::new();
    put(&folder, "a", latin("café x\n"));
    let server = serve(&folder, &[]);
    let text = refused(&server, &folder, json!([{ "path": "a", "content": "café y\n" }]));
    assert!(text.contains("\"windows-1252\"") && text.contains("\"utf-8\""), "{text}");
    edit(&server, json!([{ "path": "a", "content": "café y\n", "encoding": "windows-1252" }]));
    assert_eq!(bytes(&folder, "a"), latin("café y\n"));
    edit(&server, json!([{ "path": "a", "content": "café z\n", "encoding": "utf-8" }]));
    assert_eq!(bytes(&folder, "a"), "café z\n".as_bytes());
}

#[test]
fn the_first_text_of_a_file_gets_the_mark_of_its_encoding_as_content_does() {
    let folder = Folder::new();
    let server = serve(&folder, &[]);
    edit(&server, json!([{ "path": "a", "append": "hé", "encoding": "utf-16" }]));
    edit(&server, json!([{ "path": "b", "content": "hé\n", "encoding": "utf-16" }]));
    assert_eq!(bytes(&folder, "a"), bytes(&folder, "b"));
    assert!(bytes(&folder, "a").starts_with(b"\xFF\xFE"));
}

#[test]
fn a_line_that_stands_for_others_is_refused_in_lines_and_patches_too() {
    let folder = Folder::new();
    put(&folder, "a.py", "a\nb\nc\nd\n# ... more ...\ne\n");
    let server = serve(&folder, &[]);
    let new = "A\n# ... existing code ...\nD";
    let patch = format!(
        "*** Begin Patch\n*** Update File: a.py\n@@\n-a\n-b\n-c\n-d\n+{}\n*** End Patch",
        new.replace('\n', "\n+")
    );
    let before = folder.snapshot();
    for call in [
        json!({ "edits": [{ "path": "a.py", "lines": "1-4", "new": new }] }),
        json!({ "edits": [{ "path": "a.py", "append": "# ... existing code ...\n" }] }),
        json!({ "patch": patch }),
    ] {
        let answer = server.tool("edit", call);
        assert!(
            answer.is_error && answer.text.contains("stands for text that is left out"),
            "{}",
            answer.text
        );
    }
    assert_eq!(folder.snapshot(), before);
    edit(&server, json!([{ "path": "a.py", "lines": "4-5", "new": "D\n# ... more ..." }]));
}

#[test]
fn edits_of_one_file_may_stand_below_its_path() {
    let folder = Folder::new();
    put(&folder, "a", "one\ntwo\n");
    put(&folder, "b", "x\n");
    let server = serve(&folder, &[]);
    server.ok(
        "edit",
        json!({ "path": "a", "edits": [{ "old": "one", "new": "1" }, { "old": "two", "new": "2" }] }),
    );
    server.ok(
        "edit",
        json!({ "edits": [{ "path": "a", "edits": [{ "old": "1", "new": "I" }] }, { "file_path": "b", "edits": "[{\"old\":\"x\",\"new\":\"y\"}]" }] }),
    );
    assert_eq!((folder.text("a"), folder.text("b")), ("I\n2\n".into(), "y\n".into()));
}

#[test]
fn a_wrong_name_of_an_argument_names_the_one_that_is_meant() {
    let folder = Folder::new();
    put(&folder, "a", "one\n");
    let server = serve(&folder, &[]);
    for (name, meant) in [
        ("start_line", "lines"),
        ("end_line", "lines"),
        ("start", "lines"),
        ("new_path", "move_to"),
        ("newPath", "move_to"),
        ("rename", "move_to"),
        ("to", "move_to"),
        ("destination", "move_to"),
        ("search", "old"),
        ("replace", "new"),
        ("replacement", "new"),
        ("file_content", "content"),
    ] {
        let mut edit = json!({ "path": "a" });
        edit[name] = json!("1");
        let text = refused(&server, &folder, json!([edit]));
        assert!(text.ends_with(&format!("did you mean {meant}?")), "{name}: {text}");
    }
}

#[test]
fn a_copy_in_a_patch_is_one_of_the_file_before_it() {
    let folder = Folder::new();
    put(&folder, "a", "one\ntwo\nthree\n");
    let server = serve(&folder, &[]);
    let patch = "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1,3 +1,3 @@\n-one\n+ONE\n two\n three\n\
                 diff --git a/a b/c\nsimilarity index 80%\ncopy from a\ncopy to c\n--- a/a\n+++ b/c\n@@ -1,3 +1,3 @@\n one\n-two\n+TWO\n three\n\
                 diff --git a/a b/d\nsimilarity index 100%\ncopy from a\ncopy to d\n";
    server.ok("edit", json!({ "patch": patch }));
    assert_eq!(folder.text("a"), "ONE\ntwo\nthree\n");
    assert_eq!(folder.text("c"), "one\nTWO\nthree\n");
    assert_eq!(folder.text("d"), "one\ntwo\nthree\n");
}

#[test]
fn a_patch_makes_a_file_where_an_empty_one_is_and_no_other() {
    let folder = Folder::new();
    let server = serve(&folder, &[]);
    let patches = |name: &str| -> [Value; 2] {
        [
            json!({ "patch": format!("*** Begin Patch\n*** Add File: {name}\n+hello\n*** End Patch") }),
            json!({ "patch": format!("--- /dev/null\n+++ b/{name}\n@@ -0,0 +1 @@\n+hello\n") }),
        ]
    };
    for patch in patches("a") {
        put(&folder, "a", "");
        server.ok("edit", patch);
        assert_eq!(folder.text("a"), "hello\n");
    }
    for patch in patches("a") {
        let answer = server.tool("edit", patch);
        assert!(answer.is_error && answer.text.contains("'a' exists already"), "{}", answer.text);
    }
}

#[test]
fn a_patch_that_adds_lines_above_the_first_one_needs_no_lines_of_the_file() {
    let folder = Folder::new();
    let server = serve(&folder, &[]);
    let patch =
        |name: &str| json!({ "patch": format!("--- a/{name}\n+++ b/{name}\n@@ -0,0 +1,2 @@\n+x\n+y\n") });
    for (old, new) in
        [("1\r\n2\r\n", "x\r\ny\r\n1\r\n2\r\n"), ("\u{FEFF}1\n", "\u{FEFF}x\ny\n1\n"), ("", "x\ny\n")]
    {
        put(&folder, "a", old);
        server.ok("edit", patch("a"));
        assert_eq!(folder.text("a"), new, "{old:?}");
    }
    server.ok("edit", patch("new/b"));
    assert_eq!(folder.text("new/b"), "x\ny\n");
}

#[test]
fn a_patch_makes_a_file_with_the_breaks_of_its_lines() {
    let folder = Folder::new();
    let server = serve(&folder, &[]);
    let patch = "--- /dev/null\n+++ b/n1\n@@ -0,0 +1,2 @@\n+a\r\n+b\n\\ No newline at end of file\n\
        --- /dev/null\n+++ b/n2\n@@ -0,0 +1,3 @@\n+a\r\n+b\n+c\r\n\
        --- a/n3\n+++ b/n3\n@@ -0,0 +1,2 @@\n+a\r\n+b\r\n";
    put(&folder, "n3", "");
    server.ok("edit", json!({ "patch": patch }));
    let texts = ["n1", "n2", "n3"].map(|name| folder.text(name));
    assert_eq!(texts, ["a\r\nb", "a\r\nb\nc\r\n", "a\r\nb\r\n"]);
}

#[test]
fn a_patch_beside_a_path_is_told_where_the_path_belongs() {
    let folder = Folder::new();
    put(&folder, "p.py", "1\n");
    let server = serve(&folder, &[]);
    let (hunk, whole) = ("@@ -1 +1 @@\n-1\n+2\n", "--- a/p.py\n+++ b/p.py\n@@ -1 +1 @@\n-1\n+2\n");
    for (patch, part) in
        [(hunk, "`--- a/p.py` and `+++ b/p.py` above the hunk"), (whole, "names its files itself")]
    {
        let edit = json!({ "path": "p.py", "patch": patch });
        for call in [edit.clone(), json!({ "edits": edit.clone() }), json!({ "edits": [edit] })] {
            let answer = server.tool("edit", call.clone());
            assert!(answer.is_error && answer.text.contains(part), "{call}: {}", answer.text);
        }
    }
    assert_eq!(folder.text("p.py"), "1\n");
}

#[test]
fn a_mark_of_utf_16_decides_where_no_encoding_is_given() {
    let folder = Folder::new();
    let little = |text: &str| -> Vec<u8> {
        "\u{FEFF}"
            .chars()
            .chain(text.chars())
            .collect::<String>()
            .encode_utf16()
            .flat_map(u16::to_le_bytes)
            .collect()
    };
    let big =
        |text: &str| -> Vec<u8> { little(text).chunks(2).flat_map(|unit| [unit[1], unit[0]]).collect() };
    let server = serve(&folder, &[]);
    let patch = "--- a/u.txt\n+++ b/u.txt\n@@ -1,2 +1,2 @@\n one\n-two é\n+2\n";
    for (arguments, after) in [
        (
            json!({ "edits": [{ "path": "u.txt", "old": "two é", "new": "2" }, { "old": "2", "new": "zwei ü" }] }),
            "one\nzwei ü\n",
        ),
        (json!({ "edits": [{ "path": "u.txt", "lines": "2", "new": "ß", "expect": "two é" }] }), "one\nß\n"),
        (json!({ "edits": [{ "path": "u.txt", "append": "three\n" }] }), "one\ntwo é\nthree\n"),
        (json!({ "edits": [{ "path": "u.txt", "content": "new é\n" }] }), "new é\n"),
        (json!({ "patch": patch }), "one\n2\n"),
    ] {
        for encoded in [&little as &dyn Fn(&str) -> Vec<u8>, &big] {
            let old = encoded("one\ntwo é\n");
            put(&folder, "u.txt", &old);
            let done = server.ok("edit", arguments.clone());
            assert_eq!(bytes(&folder, "u.txt"), encoded(after), "{arguments}: {done}");
            server.ok("undo", json!({}));
            assert_eq!(bytes(&folder, "u.txt"), old, "{arguments}");
        }
    }
    let missing = refused(&server, &folder, json!([{ "path": "u.txt", "old": "twos é", "new": "2" }]));
    assert!(missing.contains("2: two é"), "{missing}");
    // What is no text stays none.
    put(&folder, "u.txt", b"a\0b\n");
    let none = refused(&server, &folder, json!([{ "path": "u.txt", "old": "a", "new": "2" }]));
    assert!(none.contains("not a text file"), "{none}");
}

#[test]
fn a_path_with_a_line_a_placeholder_or_an_encoded_slash_makes_no_file_and_the_right_one_is_named() {
    let folder = Folder::new();
    folder.write("a.py", "one\n");
    let server = Stdio::start(&folder, &["--tools=agent,text.edit_file,text.write_file"]).ready();
    let before = folder.names();
    for (path, meant) in [
        ("src/new.py:12", "'src/new.py'"),
        ("new.py:12-14", "'new.py'"),
        ("new.py:12:3", "'new.py'"),
        ("<path>", "such as 'src/main.rs'"),
        ("<path/to/file>", "such as 'src/main.rs'"),
        ("src%2Fn.py", "'src/n.py'"),
    ] {
        let added = format!("*** Begin Patch\n*** Add File: {path}\n+one\n*** End Patch\n");
        for (tool, arguments) in [
            ("edit", json!({ "path": path, "content": "x" })),
            ("edit", json!({ "path": path, "append": "x" })),
            ("edit", json!({ "path": "a.py", "move_to": path })),
            ("edit", json!({ "path": "a.py", "copy_to": path })),
            ("edit", json!({ "patch": added })),
            ("edit_file", json!({ "filename": path, "content": "x" })),
            ("edit_file", json!({ "filename": path, "new_text": "x" })),
            ("write_file", json!({ "filename": path, "content": "x" })),
        ] {
            let result = server.tool(tool, arguments.clone());
            assert!(result.is_error && result.text.contains(meant), "{tool} {arguments}: {}", result.text);
            assert_eq!(folder.names(), before, "{tool} {arguments}");
        }
    }
}
