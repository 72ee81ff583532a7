//! What `edit_file` does with an old text that differs in blanks, and what it says when it changes nothing.

use serde_json::{Value, json};

use super::{put, serve, tree};
use crate::support::{Folder, Mcp, Stdio, ToolResult};

/// A server of a folder with one file `f`.
fn bench(content: &str) -> (Folder, Stdio) {
    let folder = Folder::new();
    put(&folder, "f", content);
    let server = serve(&folder, &[]);
    (folder, server)
}

fn edit(server: &Stdio, edits: Value) -> ToolResult {
    server.tool("edit_file", json!({ "path": "f", "edits": edits }))
}

fn one(old: &str, new: &str) -> Value {
    json!([{ "oldText": old, "newText": new }])
}

/// The text of an edit that is refused, which changes nothing.
#[track_caller]
fn refused(content: &str, edits: Value) -> String {
    let (folder, server) = bench(content);
    let result = edit(&server, edits);
    assert!(result.is_error, "{}", result.text);
    assert_eq!(folder.text("f"), content);
    result.text
}

const PYTHON: &str = "def f():\n    a() \n    if x:\n        b()\n";

#[test]
fn an_old_text_with_other_blanks_leaves_the_nesting_as_it_is() {
    for (content, old, new, expected) in [
        // A blank at the end of a line.
        (
            PYTHON,
            "    a()\n    if x:\n        b()",
            "    a()\n    if x:\n        b()\n        c()",
            "def f():\n    a() \n    if x:\n        b()\n        c()\n",
        ),
        // Blanks for tabs.
        (
            "def f():\n\ta()\n\tif x:\n\t\tb()\n",
            "    a()\n    if x:\n        b()",
            "    a()\n    if x:\n        b()\n        c()",
            "def f():\n\ta()\n\tif x:\n\t\tb()\n\t\tc()\n",
        ),
        // One level too shallow, in a file of CRLF.
        (
            "def f():\r\n    if x:\r\n        b()\r\n",
            "if x:\n    b() ",
            "if x:\n    b()\nelse:\n    c()",
            "def f():\r\n    if x:\r\n        b()\r\n    else:\r\n        c()\r\n",
        ),
        // A break of Markdown at the end of a line that stays.
        ("- one  \n- two \n", "- one\n- two", "- one\n- three", "- one  \n- three\n"),
    ] {
        let (folder, server) = bench(content);
        let result = edit(&server, one(old, new));
        assert!(!result.is_error, "{}", result.text);
        assert_eq!(folder.text("f"), expected, "{old:?} {new:?}");
    }
}

#[test]
fn in_a_file_of_several_kinds_of_breaks_each_line_has_the_break_of_its_place() {
    let content = "if x:\r\n    a()\r\n    b()\n    c()\rd()\n";
    for (edits, expected) in [
        (one("a()\n    b()\n", "A()\n    b()\n"), content.replace("a()", "A()")),
        (one("b()\n    c()", "b()\n    new()\n    c()"), content.replace("c()", "new()\n    c()")),
        (one("c()\nd()", "c()\nnew()\nd()"), content.replace("d()", "new()\rd()")),
        // Without regard to blanks.
        (
            one("a() \n    b()\n    c()", "a() \n    b()\n    C()\n    new()"),
            content.replace("c()", "C()\r    new()"),
        ),
        (
            json!([{ "oldText": "if x:\n    a()", "newText": "if y:\n    a()" },
                { "oldText": "    c() \nd()", "newText": "    c() \ne()" }]),
            content.replace("if x", "if y").replace("d()", "e()"),
        ),
    ] {
        let (folder, server) = bench(content);
        let result = edit(&server, edits.clone());
        assert!(!result.is_error, "{}", result.text);
        assert_eq!(folder.text("f"), expected, "{edits}");
    }
}

#[test]
fn an_old_text_whose_indentation_has_no_one_counterpart_is_refused_with_what_is_there() {
    for (content, old, new) in [
        (PYTHON, "a()\nif x:\nb()", "a()\nif x:\nc()"),
        (PYTHON, "  a()\n  if x:\n      b()", "  a()\n  if x:\n    c()"),
        ("a:\n    - b: 1\n      c: 2\n", "a:\n  - b: 1\n    c: 2", "a:\n  - b: 1\n    c: 3"),
    ] {
        let text = refused(content, one(old, new));
        assert!(text.starts_with("Edit 1 of 1 failed: Could not find exact text in f"), "{text}");
        assert!(text.contains("File contains similar content"), "{text}");
    }
}

/// Two places, of which one stands before a blank line.
const TWO: &str = "def pay(u):\n    if ok:\n        charge()\n        log()\n    done()\n\n\
                   def refund(u):\n    if ok:\n        charge()\n        log()\n\nX = 1\n";

#[test]
fn a_break_at_an_end_of_an_old_text_chooses_no_place_and_hides_none() {
    for brk in ["\n", "\r\n"] {
        for (content, old, new, lines) in [
            (TWO, "      charge()\n      log()\n", "      charge()\n      NEW()\n      log()\n", "3, 9"),
            (TWO, "\tcharge()\n\tlog()\n", "", "3, 9"),
            ("a: \n  b: 1\nc:\n  b: 1\n", "    b: 1\n", "    b: 2\n", "2, 4"),
            ("def a():\n    x()\n\ndef b():\n\n    x()\n", "\n\tx()", "\n\ty()", "2, 6"),
        ] {
            let text = refused(&content.replace('\n', brk), one(old, new));
            assert!(text.contains(&format!("it fits 2 places, at lines {lines};")), "{text}");
        }
        let (folder, server) = bench(&"def f():\n    a() \n    b()\n    c()\n".replace('\n', brk));
        let result = edit(&server, one("    a()\n    b()\n", "    a()\n    d()\n    b()\n"));
        assert!(!result.is_error, "{}", result.text);
        assert_eq!(folder.text("f"), "def f():\n    a() \n    d()\n    b()\n    c()\n".replace('\n', brk));
    }
}

#[test]
fn a_new_first_line_further_out_is_refused_where_nothing_tells_its_level() {
    refused("a:\n  b:\n    c: 1\n", one("        c: 1", "d:\n        c: 1"));
    refused("a:\n  b:\n    c: 1\n", one("        c: 1", "        c: 1\nd:"));
    let text = "def g():\n  if a:\n    x = \"\"\"\n      in\n          deep\n    \"\"\"\n";
    refused(text, one("      \"\"\"\n", "NEW0()\n      \"\"\"\n"));
}

#[test]
fn a_new_text_that_is_indented_as_the_file_is_not_moved_with_the_old_one() {
    let text = "def f():\n    a()\n    b()\n    c()\n";
    refused(text, one("a() \n", "a()\n    d()\n"));
    refused(text, one("b()\nc() \n", "    if x:\n        b()\n        c()\n"));
    refused("m:\n  a: 1  \n  b: 2\n", one("a: 1\n", "a: 1\n  c: 3\n"));
}

#[test]
fn errors_speak_in_the_names_of_this_tool() {
    let long = "fn main() {\n    let user_name = 1;\n}\n";
    for (content, edits, says) in [
        ("a a\n", one("a", "b"), "Update expectedCount to 2, or set replaceAll"),
        ("a a\n", one("a", "b"), "(read_text_file start_line=1 end_line=1)"),
        (
            "a a\n",
            json!([{ "oldText": "a", "newText": "b", "expectedCount": 3 }]),
            "Update expectedCount to 2, or set replaceAll",
        ),
        (
            "a a\n",
            json!([{ "oldText": "a", "newText": "b", "expectedCount": 2, "replaceAll": true }]),
            "edits[0].replaceAll: it excludes expectedCount; give one of them",
        ),
        (long, one("    let username = 1;", "x"), "exactly into oldText"),
        (long, one("    let username = 1;", "x"), "oldText has `username`, the file has `user_name`"),
        (long, one("1: fn main() {", "x"), "oldText has line numbers"),
        (long, one("\nlet user_nam = 2\n", "x"), "oldText begins and ends with a line break"),
        ("let a = 2;\n", one("let a = 1;", "let a = 2;"), "newText already stands where oldText"),
        (long, one("", "x"), "give a line beside the place as oldText and repeat it in newText"),
    ] {
        let text = refused(content, edits);
        assert!(text.contains(says), "{says:?} is not in\n{text}");
        for other in ["old_text", "new_text", "occurrences to", "read_file "] {
            assert!(!text.contains(other), "{other:?} is in\n{text}");
        }
    }
}

#[test]
fn an_edit_that_changes_nothing_says_so() {
    let (folder, server) = bench("a\nb\n");
    for (edits, diff) in [(one("a", "a"), true), (one("a", "a"), false), (one(" a", " a"), true)] {
        let arguments = json!({ "path": "f", "edits": edits, "diff": diff });
        let text = server.ok("edit_file", arguments);
        assert!(text.ends_with("Nothing changed: the text is the same as before."), "{text}");
    }
    assert_eq!(folder.text("f"), "a\nb\n");
}

#[test]
fn a_call_without_edits_is_an_error() {
    let text = refused("a\n", json!([]));
    assert!(text.starts_with("Error: Invalid arguments: edits: it has too few items"), "{text}");
}

#[test]
fn an_empty_old_text_for_a_missing_file_names_the_tool_that_creates_it() {
    let folder = Folder::new();
    let server = serve(&folder, &[]);
    let before = tree(folder.path());
    let result = edit(&server, one("", "x"));
    assert!(result.is_error && result.text.contains("create the file with write_file"), "{}", result.text);
    assert!(tree(folder.path()) == before);
}

#[test]
fn a_line_that_stands_for_text_left_out_is_told_with_the_lines_that_it_stands_for() {
    let content = "fn a() {\n    one();\n    two();\n    three();\n    four();\n}\n\nfn b() {}\n";
    let old = "fn a() {\n    one();\n    // ... existing code ...\n    four();\n}";
    let text = refused(content, one(old, "x"));
    for says in [
        "The line `// ... existing code ...` of oldText is not in the file",
        "in lines 1-2 (read_text_file start_line=1 end_line=2)",
        "in lines 5-6 (read_text_file start_line=5 end_line=6)",
        "It stands for lines 3-4.",
        "give one edit for each part of oldText, without that line",
    ] {
        assert!(text.contains(says), "{says:?} is not in\n{text}");
    }
    // What stands in several places is not told.
    let text = refused("a\nx\nb\na\nx\nb\n", one("a\n...\nb", "x"));
    assert!(text.contains("The line `...` of oldText") && !text.contains("nowhere else"), "{text}");
    // A file may hold such a line.
    let (folder, server) = bench("def f():\n    ...\n");
    assert!(!edit(&server, one("def f():\n    ...", "def g():\n    ...")).is_error);
    assert_eq!(folder.text("f"), "def g():\n    ...\n");
}

#[test]
fn nothing_is_to_be_deleted_that_a_move_would_not_replace() {
    let folder = Folder::new();
    put(&folder, "a.txt", "a");
    put(&folder, "full/x", "x");
    put(&folder, "other/y", "y");
    put(&folder, "taken/full/z", "z");
    put(&folder, "taken/a.txt", "z");
    let server = serve(&folder, &[]);
    let before = tree(folder.path());
    for (tool, arguments, says) in [
        ("move_file", json!({ "source": "full", "destination": "other" }), "give the path \"other/full\"."),
        (
            "move_file",
            json!({ "source": "a.txt", "destination": "other/" }),
            "give the path \"other/a.txt\".",
        ),
        ("copy_file", json!({ "source": "full/x", "destination": "other" }), "give the path \"other/x\"."),
        (
            "move_file",
            json!({ "source": "full", "destination": "taken" }),
            "It is a folder, in which \"taken/full\" is not free either. Give another path.",
        ),
        (
            "copy_file",
            json!({ "source": "a.txt", "destination": "taken" }),
            "It is a folder, in which \"taken/a.txt\" is not free either. Give another path.",
        ),
        ("move_file", json!({ "source": "a.txt", "destination": "a.txt" }), "It is the source itself"),
        ("move_file", json!({ "source": "full", "destination": "full" }), "It is the source itself"),
        ("copy_file", json!({ "source": "a.txt", "destination": "./a.txt" }), "It is the source itself"),
        ("create_directory", json!({ "path": "a.txt" }), "Give another path."),
        ("write_file", json!({ "path": "a.txt", "content": "", "create_only": true }), "Give another path."),
    ] {
        let result = server.tool(tool, arguments.clone());
        assert!(result.is_error && result.text.contains(says), "{tool} {arguments}: {}", result.text);
        assert!(!result.text.contains("delete_file"), "{tool} {arguments}: {}", result.text);
    }
    assert!(tree(folder.path()) == before);
}
