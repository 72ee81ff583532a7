//! Which files are analysed, and what is said of those that are not.

use serde_json::json;

use super::{TOOL, json_of, on_all, rows, serve};
use crate::support::{Folder, Mcp, named};
use crate::trees::put;

const BRANCH: &str = "fn f(a: bool) { if a {} }\n";

#[test]
fn each_toolchain_has_its_languages() {
    let fill = |folder: &Folder| {
        for name in [
            "a.rs", "b.py", "b.pyi", "c.js", "c.jsx", "c.mjs", "c.cjs", "d.ts", "d.tsx", "d.mts", "d.cts",
            "e.go", "rs",
        ] {
            put(folder, name, "");
        }
    };
    on_all(fill, |server, _| {
        for (toolchain, files, others) in
            [("rust", 1, 12), ("python-uv", 2, 11), ("python", 2, 11), ("deno", 8, 5)]
        {
            let text = server.ok(TOOL, json!({ "project_path": ".", "toolchain": toolchain }));
            let s = if files == 1 { "" } else { "s" };
            let last = format!("[{files} file{s} analyzed, {others} of other languages; nothing left out]");
            assert!(text.ends_with(&last), "{text}");
        }
    });
}

#[test]
fn wrong_arguments_are_refused_with_the_choices() {
    let fill = |folder: &Folder| {
        put(folder, "src/main.rs", BRANCH);
        put(folder, "notes.txt", "");
    };
    on_all(fill, |server, _| {
        for (arguments, parts) in [
            (
                json!({ "project_path": ".", "toolchain": "go" }),
                &["toolchain", "rust, deno, python-uv, python"][..],
            ),
            (json!({ "project_path": ".", "toolchain": "Rust" }), &["toolchain", "rust"]),
            (json!({ "project_path": "." }), &["toolchain", "missing"]),
            (json!({ "toolchain": "rust" }), &["project_path", "missing"]),
            (json!({ "project_path": ".", "toolchain": "rust", "format": "xml" }), &["format", "sarif"]),
            (json!({ "project_path": ".", "toolchain": "rust", "top_files": -1 }), &["top_files"]),
            (json!({ "project_path": ".", "toolchain": "rust", "max_cyclomatic": "x" }), &["max_cyclomatic"]),
            (
                json!({ "project_path": ".", "toolchain": "rust", "max_ciclomatic": 1 }),
                &["did you mean max_cyclomatic?"],
            ),
            (json!({ "project_path": "notes.txt", "toolchain": "rust" }), &["notes.txt", ".rs"]),
            (json!({ "project_path": "src/main.rs", "toolchain": "deno" }), &["src/main.rs", ".ts"]),
            (json!({ "project_path": "missing", "toolchain": "rust" }), &["missing", "not found"]),
            (json!({ "project_path": "../", "toolchain": "rust" }), &["without '..'"]),
        ] {
            let answer = server.tool(TOOL, arguments.clone());
            assert!(answer.is_error, "{arguments}: {}", answer.text);
            assert!(parts.iter().all(|part| answer.text.contains(part)), "{arguments}: {}", answer.text);
        }
    });
}

#[test]
fn a_project_may_be_one_file_or_a_folder_in_it() {
    let fill = |folder: &Folder| {
        put(folder, "a/one.rs", BRANCH);
        put(folder, "b/two.rs", BRANCH);
    };
    on_all(fill, |server, _| {
        for (path, files) in
            [(".", &["a/one.rs", "b/two.rs"][..]), ("a", &["a/one.rs"]), ("b/two.rs", &["b/two.rs"])]
        {
            let text = server.ok(TOOL, json!({ "path": path, "toolchain": "rust", "format": "full" }));
            let found: Vec<String> = rows(&text).into_iter().map(|(file, ..)| file).collect();
            assert_eq!(found, files, "{path}");
        }
    });
}

#[test]
fn what_search_leaves_out_is_left_out_and_counted() {
    not_under_wine!("wine shows links of this machine as what they lead to, and opens nothing through most");
    let fill = |folder: &Folder| {
        put(folder, ".gitignore", "target/\n*.gen.rs\n");
        put(folder, "a.rs", BRANCH);
        put(folder, "a.gen.rs", BRANCH);
        put(folder, "target/b.rs", BRANCH);
        put(folder, ".hidden.rs", BRANCH);
        put(folder, ".cache/c.rs", BRANCH);
        folder.link("link.rs", "a.rs");
        folder.fifo("pipe.rs");
    };
    on_all(fill, |server, _| {
        let text = server.ok(TOOL, json!({ "project_path": ".", "toolchain": "rust" }));
        let last = "[1 file analyzed, 0 of other languages; left out: 1 ignored file, 1 ignored folder, 2 hidden files, 1 hidden \
            folder, 1 link not followed, 1 special file]";
        assert!(text.ends_with(last), "{text}");
    });
    let folder = Folder::new();
    fill(&folder);
    put(&folder, "secret/d.rs", BRANCH);
    let server = serve(&folder, &["--exclude=secret"]);
    let text = server.ok(TOOL, json!({ "project_path": ".", "toolchain": "rust" }));
    assert!(
        text.contains("[1 file analyzed,") && text.contains("1 excluded") && !text.contains("secret"),
        "{text}"
    );
}

#[test]
fn files_that_cannot_be_analysed_are_named_with_the_reason() {
    not_under_wine!("wine shows links of this machine as what they lead to, and opens nothing through most");
    let fill = |folder: &Folder| {
        put(folder, "latin.rs", b"// caf\xe9\n");
        put(folder, "nul.rs", b"fn a() {}\0");
        put(folder, "large.rs", " ".repeat((1 << 20) + 1));
        put(folder, "largest.rs", "fn f() {}\n".to_owned() + &" ".repeat((1 << 20) - 10));
        put(folder, "marked.rs", "\u{feff}fn f() {}\n");
        put(folder, "crlf.rs", "fn f() {\r\n  if a {}\r\n}\r\n");
    };
    on_all(fill, |server, _| {
        let answer = json_of(server, json!({ "project_path": ".", "toolchain": "rust" }));
        let refused = json!([
            { "file": "large.rs", "reason": "it is larger than 1 MiB" },
            { "file": "latin.rs", "reason": "it is not UTF-8 text" },
            { "file": "nul.rs", "reason": "it is not UTF-8 text" },
        ]);
        assert_eq!(answer["summary"]["not_analyzed"], refused);
        assert_eq!(answer["summary"]["files_not_analyzed"], 3);
        assert_eq!(answer["summary"]["functions"], 3, "{answer}");
        let text = server.ok(TOOL, json!({ "project_path": ".", "toolchain": "rust" }));
        assert!(text.contains("\nlatin.rs: not analyzed, it is not UTF-8 text\n"), "{text}");
    });
}

#[test]
fn a_file_with_syntax_errors_is_analysed_as_far_as_it_goes_and_named() {
    let fill = |folder: &Folder| {
        put(
            folder,
            "a.rs",
            "fn good(a: bool) { if a {} }\n\nfn bad() { let = ; }\nfn more(a: bool) { if a {} }\n",
        );
        put(folder, "a.py", "def good(a):\n    if a: pass\n\ndef bad(:\n    pass\n");
        put(folder, "a.ts", "function good(a) { if (a) {} }\nclass {{{\n");
    };
    on_all(fill, |server, _| {
        for (toolchain, line) in [("rust", 3), ("python", 4), ("deno", 2)] {
            let answer =
                json_of(server, json!({ "project_path": ".", "toolchain": toolchain, "max_cyclomatic": 1 }));
            let errors = &answer["summary"]["syntax_errors"];
            assert_eq!(
                (&errors[0]["line"], errors.as_array().map(Vec::len)),
                (&json!(line), Some(1)),
                "{answer}"
            );
            assert_eq!(answer["summary"]["files_with_syntax_errors"], 1);
            let found = answer["violations"].as_array().expect("violations");
            assert!(found.iter().any(|one| one["function"] == "good"), "{answer}");
        }
        let text = server.ok(TOOL, json!({ "project_path": ".", "toolchain": "rust" }));
        assert!(
            text.contains("\na.rs:3:")
                && text.contains("syntax error; analyzed as far as it is understood\n"),
            "{text}"
        );
    });
}

#[test]
fn of_several_folders_paths_are_absolute() {
    let folder = Folder::new();
    let other = folder.outside("other");
    std::fs::create_dir(&other).expect("a folder");
    std::fs::write(other.join("b.rs"), BRANCH).expect("a file");
    put(&folder, "a.rs", BRANCH);
    let server = serve(&folder, &[other.to_str().expect("UTF-8")]);
    let path = named(&other.join("b.rs"));
    let text =
        server.ok(TOOL, json!({ "project_path": named(&other), "toolchain": "rust", "format": "full" }));
    assert_eq!(rows(&text).first().map(|row| row.0.as_str()), Some(path.as_str()), "{text}");
}

#[test]
fn a_change_of_a_file_is_seen_by_the_next_call() {
    let folder = Folder::new();
    put(&folder, "a.rs", BRANCH);
    let server = serve(&folder, &[]);
    for branches in [1, 5, 3, 0, 7] {
        put(&folder, "a.rs", format!("fn f(a: bool) {{ {} }}", "if a {} ".repeat(branches)));
        for _ in 0..2 {
            let answer = json_of(&server, json!({ "project_path": ".", "toolchain": "rust" }));
            assert_eq!(answer["summary"]["max_cyclomatic"], branches + 1);
        }
    }
}

#[test]
fn one_file_with_two_names_is_analysed_in_both_languages() {
    let folder = Folder::new();
    put(&folder, "a.py", "def f(a):\n    return a or 1\n");
    std::fs::hard_link(folder.path().join("a.py"), folder.path().join("a.rs")).expect("a link");
    let server = serve(&folder, &[]);
    for _ in 0..2 {
        let python = json_of(&server, json!({ "project_path": ".", "toolchain": "python" }));
        assert_eq!(
            (&python["summary"]["functions"], &python["summary"]["files_with_syntax_errors"]),
            (&json!(1), &json!(0))
        );
        let rust = json_of(&server, json!({ "project_path": ".", "toolchain": "rust" }));
        assert_eq!(rust["summary"]["files_with_syntax_errors"], 1);
    }
}
