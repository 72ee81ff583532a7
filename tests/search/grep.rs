//! `grep`: what it finds, how it tells it, and what it says of the rest (contract 14).

use serde_json::{Value, json};

use super::{SET, SLOW, ab_letters, serve};
use crate::support::{Folder, Http, Mcp, Stdio, each_transport, named, while_others};
use crate::trees::{next_of, put};

/// The text without the balance, and the balance.
pub(super) fn parts(text: &str) -> (&str, &str) {
    text.rsplit_once("\n[").map(|(text, balance)| (text, balance.trim_end_matches(']'))).expect("a balance")
}

pub(super) fn found(server: &impl Mcp, arguments: Value) -> String {
    parts(&server.ok("grep", arguments)).0.to_owned()
}

fn small_tree(folder: &Folder) {
    put(folder, "src/a.rs", "use std::io;\n\nfn main() {\n    run();\n}\n");
    put(folder, "src/deep/b.rs", "fn run() {}\r\nfn Run() {}\r\n");
    put(folder, "notes.md", "To run it: cargo run\nold line\n");
}

#[test]
fn each_output_mode_tells_its_part_on_every_interface() {
    let folder = Folder::new();
    small_tree(&folder);
    let (stdio, http) = (serve(&folder, &[]), Http::start(&folder, &[SET]));
    let content = json!({ "pattern": "run", "output_mode": "content" });
    let text = stdio.ok("grep", content.clone());
    let expected = "notes.md\n1:To run it: cargo run\n\nsrc/a.rs\n4:    run();\n\nsrc/deep/b.rs\n1:fn run() {}\n\
        [3 files searched, 3 matching lines in 3 files; nothing left out]";
    assert_eq!(text, expected);
    assert_eq!(http.ok("grep", content.clone()), expected);
    let posted = http.post("/tools/grep", &content).json();
    assert_eq!(posted["content"][0]["text"], expected);
    let count = found(&stdio, json!({ "pattern": "(?i)run", "output_mode": "count" }));
    assert_eq!(count, "notes.md: 1\nsrc/a.rs: 1\nsrc/deep/b.rs: 2");
    let files = found(&stdio, json!({ "pattern": "^fn run", "names_only": true }));
    assert_eq!(files, "src/deep/b.rs: 1");
}

#[test]
fn files_come_newest_first_unless_told() {
    let folder = Folder::new();
    for (name, age) in [("old", 300), ("new", 100), ("middle", 200)] {
        folder.write(name, "text\n");
        let time = std::time::SystemTime::now() - std::time::Duration::from_secs(age);
        std::fs::File::options()
            .write(true)
            .open(folder.path().join(name))
            .unwrap()
            .set_modified(time)
            .unwrap();
    }
    let server = serve(&folder, &[]);
    assert_eq!(found(&server, json!({ "pattern": "text" })), "new: 1\nmiddle: 1\nold: 1");
    assert_eq!(found(&server, json!({ "pattern": "text", "sort": "path" })), "middle: 1\nnew: 1\nold: 1");
    let content = json!({ "pattern": "text", "output_mode": "content", "sort": "modified", "-n": false });
    assert_eq!(found(&server, content), "new\ntext\n\nmiddle\ntext\n\nold\ntext");
}

#[test]
fn lines_around_a_match_are_told_once_and_gaps_are_marked() {
    let folder = Folder::new();
    folder.write("f", "1\n2 x\n3\n4 x\n5\n6\n7\n8 x\n9\n");
    let server = serve(&folder, &[]);
    let with = |more: Value| {
        let mut arguments = json!({ "pattern": "x" });
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        found(&server, arguments)
    };
    assert_eq!(with(json!({ "-C": 1 })), "f\n1-1\n2:2 x\n3-3\n4:4 x\n5-5\n--\n7-7\n8:8 x\n9-9");
    assert_eq!(with(json!({ "before": "1" })), "f\n1-1\n2:2 x\n3-3\n4:4 x\n--\n7-7\n8:8 x");
    assert_eq!(with(json!({ "after": 2.0 })), "f\n2:2 x\n3-3\n4:4 x\n5-5\n6-6\n--\n8:8 x\n9-9");
    assert_eq!(with(json!({ "context": 50 })).lines().count(), 10);
}

#[test]
fn case_words_text_and_matches_alone_are_as_told() {
    let folder = Folder::new();
    folder.write("f", "foo.bar foo_bar\nFOO\nfood a.b a.b\n");
    let server = serve(&folder, &[]);
    let lines = |arguments: Value| {
        let mut arguments = arguments;
        arguments["output_mode"] = json!("content");
        found(&server, arguments)
    };
    assert_eq!(
        lines(json!({ "pattern": "foo", "case_insensitive": true })),
        "f\n1:foo.bar foo_bar\n2:FOO\n3:food a.b a.b"
    );
    assert_eq!(
        lines(json!({ "pattern": "FOO", "case_sensitive": false, "-w": true })),
        "f\n1:foo.bar foo_bar\n2:FOO"
    );
    assert_eq!(lines(json!({ "pattern": "o.b", "literal": true })), "f\n1:foo.bar foo_bar");
    assert_eq!(lines(json!({ "pattern": "a.b", "-o": true })), "f\n3:a.b\n3:a.b");
    assert_eq!(
        lines(json!({ "pattern": "d*", "-o": true })),
        "f\n1:\n2:\n3:d",
        "a line of empty matches only is told"
    );
    assert_eq!(
        lines(json!({ "pattern": r"bar\nFOO\nf", "multiline": true })),
        "f\n1:foo.bar foo_bar\n2:FOO\n3:food a.b a.b"
    );
}

#[test]
fn a_long_line_is_cut_around_its_match() {
    let folder = Folder::new();
    folder.write("f", format!("{}needle{}\n", "é".repeat(2_000), "z".repeat(2_000)));
    let server = serve(&folder, &[]);
    let text = found(&server, json!({ "pattern": "needle", "output_mode": "content", "max_columns": 40 }));
    assert_eq!(
        text,
        format!("f\n1:…{}needle{}… [columns 1991-2030 of 4006]", "é".repeat(10), "z".repeat(24))
    );
}

#[test]
fn globs_and_types_choose_the_files() {
    let folder = Folder::new();
    for path in ["a.rs", "a.py", "src/b.rs", "src/tests/c.rs", "web/d.ts", "web/e.tsx"] {
        put(&folder, path, "x\n");
    }
    let server = serve(&folder, &[]);
    let files = |more: Value| {
        let mut arguments = json!({ "pattern": "x", "sort": "path" });
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        found(&server, arguments).replace(": 1", "").replace('\n', " ")
    };
    assert_eq!(files(json!({ "glob": "*.rs" })), "a.rs src/b.rs src/tests/c.rs");
    assert_eq!(files(json!({ "include": "*.{ts,tsx},*.py" })), "a.py web/d.ts web/e.tsx");
    assert_eq!(files(json!({ "glob": ["*.rs", "!tests/**"], "path": "src" })), "src/b.rs");
    assert_eq!(files(json!({ "glob": "src/**", "exclude": "tests/" })), "src/b.rs");
    assert_eq!(files(json!({ "glob": "src/**", "exclude": "./tests/" })), "src/b.rs src/tests/c.rs");
    assert_eq!(files(json!({ "exclude": "**/tests/**", "type": "rust" })), "a.rs src/b.rs");
    assert_eq!(files(json!({ "directory": "web", "max_results": "9" })), "web/d.ts web/e.tsx");
    assert_eq!(
        files(json!({ "path": "web/d.ts", "glob": "*.rs" })),
        "web/d.ts",
        "a file that is named is searched"
    );
    let none = server.ok("grep", json!({ "pattern": "x", "glob": "*.go" }));
    assert!(
        none.contains("6 files not named by glob or type") && none.contains("No file is named by"),
        "{none}"
    );
    let refused = server.refused("grep", json!({ "pattern": "x", "type": "pyton" }));
    assert!(refused.contains("there is no type \"pyton\"") && refused.contains("python"), "{refused}");
}

#[test]
fn what_was_left_out_is_told_and_found_if_asked_for() {
    not_under_wine!("wine shows links of this machine as what they lead to, and opens nothing through most");
    let folder = Folder::new();
    put(&folder, ".gitignore", "target/\n*.log\n");
    for path in ["a", "target/b", "c.log", ".hidden/d", ".e"] {
        put(&folder, path, "needle\n");
    }
    folder.write("binary", b"needle\0");
    folder.write("latin", b"needle caf\xe9\n");
    std::os::unix::fs::symlink("a", folder.path().join("link")).unwrap();
    let server = serve(&folder, &[]);
    let text = server.ok("grep", json!({ "pattern": "needle" }));
    let expected = "[2 files searched, 2 matching lines in 2 files, 1 file not in UTF-8 searched in the likely encoding \
        (pass encoding to name it); left out: 1 ignored file, 1 ignored folder, 2 hidden files, 1 hidden folder, \
        1 link not followed, 1 binary file]";
    assert!(text.ends_with(expected), "{text}");
    let all = json!({ "pattern": "needle", "include_ignored": true, "include_hidden": true, "sort": "path" });
    assert_eq!(found(&server, all), ".e: 1\n.hidden/d: 1\na: 1\nc.log: 1\nlatin: 1\ntarget/b: 1");
}

#[test]
fn without_a_match_true_hints_say_what_would_be_found() {
    not_under_wine!("wine shows links of this machine as what they lead to, and opens nothing through most");
    let folder = Folder::new();
    folder.write("a", "Needle (x)\n");
    put(&folder, ".gitignore", "b\n");
    folder.write("b", "thread\n");
    let server = serve(&folder, &[]);
    let text = |arguments: Value| server.ok("grep", arguments);
    let any_case = text(json!({ "pattern": "needle" }));
    assert!(
        any_case.starts_with("No matches found\n[1 file searched, 0 matching lines in 0 files; left out:"),
        "{any_case}"
    );
    assert!(any_case.ends_with("\n[With \"-i\": true: 1 matching line in 1 file, such as a]"), "{any_case}");
    let literal = text(json!({ "pattern": "(x)$|(y)" , "fixed_strings": false }));
    assert!(!literal.contains("[With"), "{literal}");
    let literal = text(json!({ "pattern": "Needle (x)" }));
    assert!(
        literal.ends_with("[With \"fixed_strings\": true: 1 matching line in 1 file, such as a]"),
        "{literal}"
    );
    let ignored = text(json!({ "pattern": "thread" }));
    assert!(
        ignored.ends_with("[With \"include_ignored\": true: 1 matching line in 1 file, such as b]"),
        "{ignored}"
    );
    let missing = server.refused("grep", json!({ "pattern": "x", "path": "src" }));
    assert!(missing.starts_with("Error: File 'src' not found"), "{missing}");
}

#[test]
fn a_pattern_that_cannot_be_used_says_what_to_send() {
    let folder = Folder::new();
    let server = serve(&folder, &[]);
    for (pattern, said) in [
        ("foo(", "\"fixed_strings\": true"),
        ("a(?=b)", "look-around"),
        (r"(a)\1", "back-references"),
        (r"a\nb", "\"multiline\": true"),
        (r"(\pL{500}){500}", "too large"),
    ] {
        let refused = server.refused("grep", json!({ "pattern": pattern }));
        assert!(
            refused.starts_with("Error: Invalid arguments: pattern: ") && refused.contains(said),
            "{refused}"
        );
    }
}

#[test]
fn several_folders_are_searched_in_order_and_named_by_their_paths() {
    let (one, other) = (Folder::new(), Folder::new());
    one.write("a", "x\n");
    other.write("b", "x\n");
    let dir = format!("--dir={}", other.path().display());
    let server = Stdio::start(&one, &[SET, &dir]).ready();
    let path = |folder: &Folder, name: &str| named(&folder.path().join(name));
    let text = found(&server, json!({ "pattern": "x", "output_mode": "count" }));
    assert_eq!(text, format!("{}: 1\n{}: 1", path(&one, "a"), path(&other, "b")));
    let first = server.tool("grep", json!({ "pattern": "x", "output_mode": "count", "head_limit": 1 }));
    let second = server.ok("grep", next_of(&first).expect("more"));
    assert!(second.starts_with(&path(&other, "b")), "{second}");
}

#[test]
fn excluded_paths_and_git_do_not_exist() {
    let folder = Folder::new();
    for path in ["a", "secret/b", ".git/config"] {
        put(&folder, path, "needle\n");
    }
    let server = serve(&folder, &["--exclude=secret"]);
    let all = json!({ "pattern": "needle", "include_ignored": true, "include_hidden": true });
    assert_eq!(found(&server, all), "a: 1");
    for path in ["secret", "secret/b"] {
        let refused = server.refused("grep", json!({ "pattern": "needle", "path": path }));
        assert!(refused.ends_with("not found"), "{refused}");
    }
}

#[test]
fn a_search_ends_when_its_time_is_up_with_what_it_has_found() {
    not_under_wine!("has a limit of time or takes long");
    each_transport(|http| {
        let folder = Folder::new();
        folder.write("a", "needle\n");
        // Each takes about a millisecond with this pattern.
        folder.write("b", ab_letters(8 << 10));
        let link = |n| std::fs::hard_link(folder.path().join("b"), folder.path().join(format!("b{n}")));
        (0..6_000).for_each(|n| link(n).expect("a link"));
        let flags = [SET, "--timeout=1"];
        let slow = json!({ "pattern": format!("needle|{SLOW}"), "output_mode": "content" });
        let text = match http {
            true => Http::start(&folder, &flags).ok("grep", slow),
            false => Stdio::start(&folder, &flags).ready().ok("grep", slow),
        };
        assert!(text.starts_with("a\n1:needle\n"), "{text}");
        assert!(text.contains("searched so far") && text.contains("the time was up"), "{text}");
    });
}

#[test]
fn with_multiline_matches_are_counted_and_called_so() {
    let folder = Folder::new();
    folder.write("a", "x\ny\nx\ny\n");
    let server = Stdio::start(&folder, &["--tools=search"]).ready();
    for mode in ["count", "content", "files_with_matches"] {
        let call = json!({ "pattern": r"x\ny", "multiline": true, "output_mode": mode });
        let text = server.ok("grep", call);
        assert!(text.contains("[1 file searched, 2 matches in 1 file; nothing left out]"), "{text}");
    }
}

#[test]
fn with_multiline_a_break_of_any_kind_is_one() {
    let folder = Folder::new();
    folder.write("f", "a\r\nb\r\nc\n");
    let server = serve(&folder, &[]);
    let lines = |pattern: &str| {
        found(&server, json!({ "pattern": pattern, "multiline": true, "output_mode": "content" }))
    };
    assert_eq!(lines(r"a\nb"), "f\n1:a\n2:b");
    assert_eq!(lines(r"\nb"), "f\n1:a\n2:b");
    assert_eq!(lines(r"c\n"), "f\n3:c");
    let matches = json!({ "pattern": r"c\n", "multiline": true, "-o": true });
    assert_eq!(found(&server, matches), "f\n3:c");
}

#[test]
fn a_folder_that_a_glob_leaves_out_is_counted() {
    let folder = Folder::new();
    put(&folder, "sub/a", "needle\n");
    let server = serve(&folder, &[]);
    let text = server.ok("grep", json!({ "pattern": "needle", "exclude": "sub" }));
    assert!(text.contains("left out: 1 folder left out by glob]"), "{text}");
}

#[test]
fn names_of_any_bytes_are_found_in_every_order() {
    not_under_wine!("has names of bytes that are no text");
    use std::os::unix::ffi::OsStrExt;
    let folder = Folder::new();
    let name = std::ffi::OsStr::from_bytes(b"caf\xe9.txt");
    std::fs::write(folder.path().join(name), "needle\n").expect("a file");
    let server = serve(&folder, &[]);
    for sort in ["path", "modified"] {
        let text = found(&server, json!({ "pattern": "needle", "output_mode": "content", "sort": sort }));
        assert_eq!(text, "caf\\xe9.txt\n1:needle", "{sort}");
    }
}

#[test]
fn a_file_that_is_rewritten_in_place_while_it_is_searched_is_no_internal_error() {
    let folder = Folder::new();
    let text = |char: &str| format!("{}\n", char.repeat(99)).repeat(30_000);
    folder.write("f", text("a"));
    let server = serve(&folder, &[]);
    let path = folder.path().join("f");
    let file = std::fs::File::options().read(true).write(true).open(&path).expect("a file");
    let rewrite = || {
        for char in ["b", "ab", "a"] {
            std::os::unix::fs::FileExt::write_all_at(&file, &text(char).as_bytes()[..3_000_000], 0)
                .expect("a write");
        }
    };
    while_others(rewrite, || {
        for round in 0..40 {
            let multiline = round % 4 == 0;
            let mode = ["content", "count"][round % 2];
            let arguments =
                json!({ "pattern": "a+b?", "multiline": multiline, "output_mode": mode, "max_columns": 20 });
            let result = server.tool("grep", arguments);
            assert!(!result.is_error, "{}", result.text);
        }
    });
}

#[test]
fn wrong_arguments_say_what_is_expected() {
    let folder = Folder::new();
    let server = serve(&folder, &[]);
    for (argument, value, said) in [
        ("-A", json!(-1), "-1 is wrong; expected an integer from 0 to 1000"),
        ("before", json!("1001"), "expected an integer from 0 to 1000"),
        ("head_limit", json!(-1), "-1 is wrong; expected an integer of at least 1"),
        ("glob", json!(vec!["a"; 51]), "expected at most 50 globs"),
        ("glob", json!("a".repeat(5_000)), "expected at most 50 globs of at most 4096 bytes"),
        ("glob", json!([7]), "expected a string"),
        ("glob", json!("{a,b}".repeat(14)), "glob: the braces of the pattern stand for more than"),
        ("output_mode", json!("lines"), "expected one of content, files_with_matches, count"),
        ("regex", json!("x"), "unknown property"),
        ("ignoreCase", json!(true), "did you mean ignore_case?"),
    ] {
        let mut arguments = json!({ "pattern": "x" });
        arguments[argument] = value;
        let refused = server.tool("grep", arguments.clone());
        assert!(refused.is_error && refused.text.contains(said), "{arguments}: {}", refused.text);
    }
    let missing = server.refused("grep", json!({}));
    assert!(missing.contains("pattern: it is missing; expected a string"), "{missing}");
}
