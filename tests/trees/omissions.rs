//! A line of a new text that stands for text of the file, such as `# ... existing code ...`, does not take the place of that text.

use serde_json::json;

use super::{on_all, outcome, tree};
use crate::support::{Folder, Stdio, on_both_with};

const OLD: &str = "def f():\n    a()\n    b()\n\ndef g():\n    c()\n";
const LINE: &str = "# ... existing code ...";

fn fill(folder: &Folder) {
    folder.write("f.py", OLD);
    folder.write("has.py", format!("x = 1\n{LINE}\ny = 2\n"));
    let wide = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
    folder.write("wide.py", [&b"\xff\xfe"[..], &wide(&format!("x = 1\n{LINE}\n"))].concat());
    folder.write("empty.py", "");
}

#[test]
fn the_tools_of_trees_refuse_such_a_line_and_change_nothing() {
    on_all(&[], fill, |server, folder| {
        let before = tree(folder.path());
        let edit = |path: &str, old: &str, new: &str| json!({ "path": path, "edits": [{ "oldText": old, "newText": new }] });
        for line in [
            LINE,
            "// ... rest of file",
            "/* ... unchanged ... */",
            "# .. no changes here ..",
            "# ... 其余代码保持不变 ...",
        ] {
            let new = format!("def f():\n    {line}\n    d()\n");
            for (tool, arguments, at) in [
                ("edit_file", edit("f.py", "def f():\n    a()\n    b()\n", &new), "edits[0].newText"),
                ("edit_file", edit("f.py", "def f():  \n    a()\n    b()\n", &new), "edits[0].newText"),
                ("write_file", json!({ "path": "f.py", "content": new }), "content"),
                (
                    "edit_file",
                    edit("wide.py", "x = 1", "# ... rest of the file unchanged"),
                    "edits[0].newText",
                ),
            ] {
                let mut arguments = arguments;
                if arguments["path"] == "wide.py" {
                    arguments["encoding"] = json!("utf-16le");
                }
                let (is_error, text) = outcome(server, tool, &arguments);
                assert!(is_error && text.contains(&format!("{at}: its line `")), "{tool}: {text}");
                assert!(
                    text.contains("stands for text") && text.contains("by another call"),
                    "{tool}: {text}"
                );
            }
        }
        let mut dry = edit("f.py", "    a()\n", &format!("    {LINE}\n"));
        dry["dryRun"] = json!(true);
        assert!(outcome(server, "edit_file", &dry).0);
        assert!(tree(folder.path()) == before, "something was changed");
    });
}

#[test]
fn dots_in_place_of_lines_of_the_file_are_refused_and_ordinary_comments_are_not() {
    on_all(&[], fill, |server, folder| {
        let before = tree(folder.path());
        let edit =
            |old: &str, new: &str| json!({ "path": "f.py", "edits": [{ "oldText": old, "newText": new }] });
        for (tool, arguments) in [
            ("edit_file", edit("def f():\n    a()\n    b()\n", "def f():\n    # ...\n    b()\n")),
            (
                "write_file",
                json!({ "path": "f.py", "content": "def f():\n    a()\n    # ...\n    c()\n    d()\n" }),
            ),
        ] {
            let (is_error, text) = outcome(server, tool, &arguments);
            assert!(is_error && text.contains("its line `# ...` stands for text"), "{tool}: {text}");
        }
        assert!(tree(folder.path()) == before, "something was changed");
        for new in ["    # Keep existing tests ...\n", "    # ... then handle the rest ...\n", "    ...\n"] {
            let mut arguments = edit("    a()\n", new);
            arguments["dryRun"] = json!(true);
            let (is_error, text) = outcome(server, "edit_file", &arguments);
            assert!(!is_error, "{new}: {text}");
        }
    });
}

#[test]
fn a_line_that_the_file_has_or_of_a_new_file_and_dots_that_are_code_are_written() {
    on_all(&[], fill, |server, _| {
        let edit = |path: &str, old: &str, new: &str| json!({ "path": path, "edits": [{ "oldText": old, "newText": new }] });
        let mut wide = edit("wide.py", "x = 1", &format!("x = 2\n{LINE}"));
        wide["encoding"] = json!("utf-16le");
        for (tool, arguments) in [
            ("edit_file", edit("has.py", LINE, &format!("z = 0\n{LINE}"))),
            ("edit_file", wide),
            ("write_file", json!({ "path": "has.py", "content": format!("{LINE}\n") })),
            ("write_file", json!({ "path": "new.py", "content": format!("{LINE}\n") })),
            ("write_file", json!({ "path": "empty.py", "content": format!("{LINE}\n") })),
            ("edit_file", edit("f.py", "    a()\n", "    ...\n    # ...\n")),
            ("edit_file", edit("f.py", "    c()\n", "    # Loading the rest of the items...\n    c()\n")),
        ] {
            let (is_error, text) = outcome(server, tool, &arguments);
            assert!(!is_error, "{tool} {arguments}: {text}");
        }
        // The way round: the line without its dots, and the dots afterwards.
        let edits = json!([
            { "oldText": "    b()\n", "newText": "    # DOTS existing code DOTS\n    b()\n" },
            { "oldText": "DOTS", "newText": "...", "replaceAll": true },
        ]);
        let (is_error, text) = outcome(server, "edit_file", &json!({ "path": "f.py", "edits": edits }));
        assert!(!is_error && text.contains("# ... existing code ..."), "{text}");
    });
}

#[test]
fn the_tools_of_text_refuse_such_a_line_in_each_mode() {
    let folder = Folder::new();
    fill(&folder);
    let server = Stdio::start(&folder, &["--tools=text"]).ready();
    let before = tree(folder.path());
    let new = format!("def f():\n    {LINE}\n");
    for (tool, arguments, at) in [
        ("edit_file", json!({ "filename": "f.py", "content": new }), "content"),
        ("edit_file", json!({ "filename": "f.py", "old_text": "*", "new_text": new }), "new_text"),
        ("edit_file", json!({ "filename": "f.py", "old_text": "    a()\n", "new_text": new }), "new_text"),
        ("write_file", json!({ "filename": "f.py", "content": new }), "content"),
    ] {
        let (is_error, text) = outcome(&server, tool, &arguments);
        assert!(is_error && text.contains(&format!("{at}: its line `{LINE}`")), "{tool}: {text}");
    }
    let dots = json!({ "filename": "f.py", "old_text": "    a()\n    b()\n\ndef g", "new_text": "    a()\n    # ...\ndef g" });
    let (is_error, text) = outcome(&server, "edit_file", &dots);
    assert!(is_error && text.contains("new_text: its line `# ...` stands for"), "{text}");
    assert!(tree(folder.path()) == before, "something was changed");
    for arguments in [
        json!({ "filename": "has.py", "old_text": "x = 1", "new_text": format!("x = 2\n{LINE}") }),
        json!({ "filename": "new.py", "content": new }),
    ] {
        let (is_error, text) = outcome(&server, "edit_file", &arguments);
        assert!(!is_error, "{text}");
    }
}

#[test]
fn edits_by_the_letter_put_the_line_in_and_say_so() {
    on_both_with(
        &["--tools=lines,exact"],
        |folder| folder.write("f.py", OLD),
        |server, folder| {
            let content = format!("    {LINE}");
            let text = server.ok("edit_file", json!({ "name": "f.py", "edits": [{ "line": 1, "operation": "replace", "content": content }] }));
            assert!(text.ends_with("that text was not kept: write it out.") && text.contains(LINE), "{text}");
            let edits = json!([{ "old_text": "    c()", "new_text": "    // ... rest of file" }]);
            let text = server.ok("file_edit", json!({ "path": "f.py", "edits": edits }));
            assert!(text.contains("Note: the new text has the line `// ... rest of file`"), "{text}");
            let text = server.ok("file_edit", json!({ "path": "f.py", "edits": [{ "old_text": "def g", "new_text": format!("{LINE}\ndef g") }] }));
            assert!(!text.contains("Note:") && folder.text("f.py").contains(LINE), "{text}");
            let dry =
                json!({ "path": "new.py", "edits": [{ "old_text": "", "new_text": "x" }], "dry_run": true });
            let text = server.ok("file_edit", dry);
            assert!(
                text.contains("\nFile would be created: true\n") && !text.contains("File created"),
                "{text}"
            );
        },
    );
}
