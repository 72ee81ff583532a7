//! `read` and `edit` of a definition by its name.

use serde_json::json;

use super::{edit, refused, serve};
use crate::support::{Folder, Mcp};
use crate::trees::put;

const STORE: &str = "\
/// A store.
pub struct Store;

impl Store {
    /// Gets one.
    #[inline]
    pub fn get(&self) -> usize {
        1
    }

    fn put(&self) {}
}

impl Other {
    fn put(&self) {}
}
";

const GET: &str = "    /// Gets one.\n    #[inline]\n    pub fn get(&self) -> usize {\n        1\n    }\n";

#[test]
fn a_definition_is_read_with_its_comments_by_its_path_or_its_last_part() {
    let folder = Folder::new();
    folder.write("a.rs", STORE);
    folder.write("b.md", "# One\n\nText.\n\n## Two\n\nMore.\n\n# Three\n");
    let server = serve(&folder, &["--read-only"]);
    let read = |path: &str, symbol: &str| server.ok("read", json!({ "path": path, "symbol": symbol }));
    for symbol in ["Store::get", "Store.get", "get", " get "] {
        assert_eq!(read("a.rs", symbol), GET.trim_end_matches('\n'), "{symbol}");
    }
    assert_eq!(read("a.rs", "Store"), "/// A store.\npub struct Store;");
    assert_eq!(read("b.md", "Two"), "## Two\n\nMore.");
    assert_eq!(read("b.md", ""), "# One\n\nText.\n\n## Two\n\nMore.\n\n# Three\n", "empty is absent");
    assert_eq!(
        server.ok("read", json!({ "paths": ["a.rs"], "symbol": "get" })),
        read("a.rs", "get"),
        "a list of one file"
    );
}

#[test]
fn what_is_not_one_definition_is_refused_with_what_there_is() {
    let folder = Folder::new();
    folder.write("a.rs", STORE);
    folder.write("a.txt", "x\n");
    let server = serve(&folder, &[]);
    for (arguments, parts) in [
        (
            json!({ "path": "a.rs", "symbol": "put" }),
            &["2 times", "11-11 Store::put", "15-15 Other::put"][..],
        ),
        (json!({ "path": "a.rs", "symbol": "Store::gte" }), &["does not define 'Store::gte'", "near: get"]),
        (json!({ "path": "a.txt", "symbol": "x" }), &["no language"]),
        (json!({ "path": "none.rs", "symbol": "x" }), &["none.rs"]),
        (json!({ "path": "a.rs", "symbol": "get", "lines": "1-2" }), &["symbol"]),
        (json!({ "path": "a.rs:1-2", "symbol": "get" }), &["has lines, too"]),
        (json!({ "paths": ["a.rs", "a.txt"], "symbol": "get" }), &["one definition of one file"]),
    ] {
        let told = server.tool("read", arguments.clone());
        assert!(told.is_error, "{arguments}: {}", told.text);
        assert!(parts.iter().all(|part| told.text.contains(part)), "{arguments}: {}", told.text);
    }
    let told = refused(&server, &folder, json!([{ "path": "a.rs", "symbol": "put", "new": "x" }]));
    assert!(told.contains("11-11 Store::put, 15-15 Other::put"), "{told}");
    let told = refused(&server, &folder, json!([{ "path": "a.rs", "symbol": "get" }]));
    assert!(told.contains("new"), "{told}");
    let told =
        refused(&server, &folder, json!([{ "path": "a.rs", "symbol": "get", "old": "1", "new": "2" }]));
    assert!(told.contains("beside"), "{told}");
}

#[test]
fn a_definition_is_replaced_with_its_comments_in_the_result_of_the_edits_before_it() {
    let folder = Folder::new();
    folder.write("a.rs", STORE);
    let server = serve(&folder, &[]);
    let answer = edit(
        &server,
        json!([
            { "path": "a.rs", "lines": "1-1", "new": "// One\n// Two\n// Three" },
            { "symbol": "Store::get", "new": "    /// Two.\n    pub fn get(&self) -> usize {\n        2\n    }\n" },
            { "symbol": "Other.put", "new": "" },
        ]),
    );
    assert!(answer.starts_with("Changed 3 places in 1 file") && !answer.contains("syntax error"), "{answer}");
    let expected = STORE
        .replace("/// A store.\n", "// One\n// Two\n// Three\n")
        .replace(GET, "    /// Two.\n    pub fn get(&self) -> usize {\n        2\n    }\n")
        .replace("impl Other {\n    fn put(&self) {}\n", "impl Other {\n");
    assert_eq!(folder.text("a.rs"), expected);
    server.ok("undo", json!({}));
    assert_eq!(folder.text("a.rs"), STORE);
}

#[test]
fn breaks_tabs_and_marks_stay() {
    let folder = Folder::new();
    let server = serve(&folder, &[]);
    for (before, after) in [
        (
            "def a():\r\n\treturn 1\r\n\r\n\r\ndef b():\r\n\tpass\r\n",
            "def a():\r\n\treturn 2\r\n\r\n\r\ndef b():\r\n\tpass\r\n",
        ),
        ("\u{feff}def a():\n\treturn 1\n", "\u{feff}def a():\n\treturn 2\n"),
        ("x = 1\rdef a():\r\treturn 1\r", "x = 1\rdef a():\r\treturn 2\r"),
        ("def a():\n\treturn 1", "def a():\n\treturn 2"),
    ] {
        put(&folder, "a.py", before);
        edit(&server, json!([{ "path": "a.py", "symbol": "a", "new": "def a():\n\treturn 2" }]));
        assert_eq!(folder.text("a.py"), after, "{before:?}");
    }
}

#[test]
fn new_syntax_errors_are_said_and_the_edit_is_made() {
    let folder = Folder::new();
    folder.write("a.rs", STORE);
    let server = serve(&folder, &[]);
    let answer = edit(&server, json!([{ "path": "a.rs", "symbol": "get", "new": "    fn get( {\n    }" }]));
    assert!(answer.contains("[a.rs now has a syntax error in line "), "{answer}");
    assert!(folder.text("a.rs").contains("fn get( {"));
    folder.write("b.rs", "fn a() {}\nfn b( {}\nfn c() {}\n");
    let answer = edit(&server, json!([{ "path": "b.rs", "symbol": "a", "new": "fn a() { 1 }" }]));
    assert!(!answer.contains("syntax error"), "it had that before: {answer}");
}

#[test]
fn a_call_that_failed_is_mended_by_another_symbol() {
    let folder = Folder::new();
    folder.write("a.rs", STORE);
    folder.write("b.txt", "x\n");
    let server = serve(&folder, &[]);
    let told = refused(
        &server,
        &folder,
        json!([{ "path": "b.txt", "old": "x", "new": "y" }, { "path": "a.rs", "symbol": "gte", "new": "    fn get() {}" }]),
    );
    let retry = told.split_once("\"retry\": \"").expect("a name").1.split('"').next().expect("a name");
    let mended = server.ok("edit", json!({ "retry": retry, "edits": [{ "n": 2, "symbol": "get" }] }));
    assert!(mended.starts_with("Changed 2 places in 2 files"), "{mended}");
    assert!(folder.text("a.rs").contains("    fn get() {}\n"), "{}", folder.text("a.rs"));
}

#[test]
fn a_definition_that_shares_a_line_with_another_is_not_replaced_by_its_name() {
    let folder = Folder::new();
    put(&folder, "a.rs", "fn one() {} fn two() {}\nfn three() {}\n");
    put(&folder, "b.rs", "trait T {\n    fn get(&self);\n}\nstruct B;\nimpl B {\n    fn get(&self) {}\n}\n");
    let server = serve(&folder, &[]);
    let edit = |path: &str, symbol: &str| json!({ "path": path, "symbol": symbol, "new": "fn new() {}\n" });
    let problem = server.tool("edit", edit("a.rs", "one")).text;
    assert!(problem.contains("lines 1-1 of a.rs hold two as well"), "{problem}");
    server.ok("edit", edit("a.rs", "three"));
    assert_eq!(folder.text("a.rs"), "fn one() {} fn two() {}\nfn new() {}\n");
    let problem = server.tool("edit", edit("b.rs", "get")).text;
    assert!(problem.contains("defines 'get' 2 times"), "{problem}");
}

#[test]
fn a_syntax_error_that_a_later_edit_of_the_call_mends_is_not_said() {
    let folder = Folder::new();
    let server = serve(&folder, &[]);
    let text = "fn a() {}\nfn b() {}\n";
    for (later, is_broken) in [
        (json!({ "old": "fn a( {", "new": "fn a() {" }), false),
        (json!({ "lines": "1-1", "new": "fn a() {}" }), false),
        (json!({ "content": "fn a() {}\n" }), false),
        (json!({ "old": "fn b() {}", "new": "fn b() { 1 }" }), true),
        (json!({ "symbol": "b", "new": "fn b() { 1 }" }), true),
    ] {
        folder.write("a.rs", text);
        let broken = json!({ "path": "a.rs", "symbol": "a", "new": "fn a( {}" });
        let answer = edit(&server, json!([broken, later]));
        let told = answer.matches("[a.rs now has a syntax error in line 1]").count();
        assert_eq!(told, usize::from(is_broken), "{later}: {answer}");
    }
}
