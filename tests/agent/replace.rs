//! `replace`: what a pattern matches, in all files that `grep` would search, all or none.

use serde_json::{Value, json};

use super::{id, serve, without_id};
use crate::search::{SLOW, ab_letters};
use crate::support::{Folder, Mcp, Stdio, command, with_injected};
use crate::trees::put;
use text::encoding::Encoding;

/// The answer to a call that replaces something, without the id of the change.
fn replace(server: &Stdio, arguments: Value) -> String {
    without_id(&server.ok("replace", arguments))
}

/// The error of a call that changes nothing.
#[track_caller]
fn refused(server: &Stdio, folder: &Folder, arguments: Value) -> String {
    let before = folder.snapshot();
    let answer = server.tool("replace", arguments);
    assert!(answer.is_error, "{}", answer.text);
    assert_eq!(folder.snapshot(), before, "{}", answer.text);
    answer.text
}

#[test]
fn groups_of_the_match_are_put_into_its_place_in_all_files_that_grep_searches() {
    let folder = Folder::new();
    put(&folder, "src/a.rs", "foo(1);\nfoo(two) + foo(3);\n");
    put(&folder, "src/b.rs", "let x = foo(y);\n");
    put(&folder, "notes.md", "foo(z)\n");
    put(&folder, ".gitignore", "out/\n");
    put(&folder, "out/c.rs", "foo(4);\n");
    put(&folder, "data.rs", b"foo(5)\0");
    let server = serve(&folder, &[]);
    let call = json!({ "pattern": r"foo\((\w+)\)", "replacement": "bar($1, $0, $$)", "glob": "*.rs" });
    assert_eq!(
        replace(&server, call),
        "Changed 4 places in 2 files\nsrc/a.rs: 1, 2\nsrc/b.rs: 1\n\
         [2 files searched; left out: 1 ignored folder, 1 hidden file, 1 binary file, 1 file not named by glob or type]"
    );
    assert_eq!(folder.text("src/a.rs"), "bar(1, foo(1), $);\nbar(two, foo(two), $) + bar(3, foo(3), $);\n");
    assert_eq!((folder.text("notes.md"), folder.text("out/c.rs")), ("foo(z)\n".into(), "foo(4);\n".into()));
    let text = replace(
        &server,
        json!({ "pattern": "bar(1, foo(1), $)", "replacement": "$1", "fixed_strings": true }),
    );
    assert!(text.starts_with("Changed 1 place in 1 file\nsrc/a.rs:1: $1;\n["), "{text}");
    let text = replace(
        &server,
        json!({ "pattern": "(?P<what>let) x", "replacement": "${what}ter $what y", "path": "src" }),
    );
    assert!(text.starts_with("Changed 1 place in 1 file\nsrc/b.rs:1: letter let y = "), "{text}");
}

#[test]
fn what_is_wrong_in_a_call_is_told_in_its_own_arguments() {
    let folder = Folder::new();
    put(&folder, "a", "ab\nab\n");
    put(&folder, "b", "ab\n");
    let server = serve(&folder, &[]);
    for (call, part) in [
        (
            json!({ "pattern": "(a)", "replacement": "$2" }),
            "replacement: there is no group $2 in pattern; there are $0, $1",
        ),
        (json!({ "pattern": "a", "replacement": "${x}" }), "there is $0"),
        (json!({ "pattern": "a(", "replacement": "" }), "pattern: it is no valid regular expression"),
        (json!({ "pattern": "a(?=b)", "replacement": "" }), "put it back by a group"),
        (json!({ "pattern": "a\\n", "replacement": "" }), "\"multiline\": true"),
        (json!({ "replacement": "x" }), "pattern: it is missing"),
        (json!({ "pattern": "a" }), "replacement: it is missing"),
        (json!({ "pattern": "a", "replacement": "x", "only": "1" }), "only: it is of a plan"),
        (json!({ "plan": "p9" }), "plan: there is no p9"),
        (json!({ "pattern": "a", "replacement": "x", "path": "c" }), "'c' not found"),
        (
            json!({ "pattern": "a", "replacement": "x", "expected": 2 }),
            "expected: there are 3 places, not 2; nothing was changed: a 2, b 1",
        ),
        (
            json!({ "pattern": "a", "replacement": "x", "expected": 0 }),
            "expected: there are 3 places, not 0; nothing was changed: a 2, b 1",
        ),
        (
            json!({ "pattern": "c", "replacement": "x", "expected": 2 }),
            "2 places expected, but nothing matches",
        ),
    ] {
        let text = refused(&server, &folder, call.clone());
        assert!(text.contains(part), "{call}: {text}");
    }
    assert_eq!(
        replace(&server, json!({ "pattern": "c", "replacement": "x", "expected": 0 })).lines().next(),
        Some("Nothing changed: nothing matches.")
    );
    assert!(
        replace(&server, json!({ "pattern": "a", "replacement": "x", "expected": 3 }))
            .starts_with("Changed 3")
    );
    let text = refused(&server, &folder, json!({ "pattern": "(x)b", "replacement": "\\1c" }));
    assert!(text.contains("\\1") && text.contains("$1"), "{text}");
    let text = replace(&server, json!({ "pattern": "xb", "replacement": "\\1c" }));
    assert!(text.contains("[\\1 in replacement is text; a group is $1]"), "{text}");
    let text = replace(&server, json!({ "pattern": "c$", "replacement": "\\0d", "dry_run": true }));
    assert!(text.contains("[\\0 in replacement is text; a group is $0]"), "the digit that was sent: {text}");
}

#[test]
fn where_nothing_matches_the_answer_proves_it_and_says_what_would() {
    let folder = Folder::new();
    put(&folder, "a", "Foo\n");
    put(&folder, ".hidden", "foo\n");
    let server = serve(&folder, &[]);
    let text = server.ok("replace", json!({ "pattern": "foo", "replacement": "bar" }));
    assert_eq!(
        text,
        "Nothing changed: nothing matches.\n[1 file searched; left out: 1 hidden file]\n\
         [With \"-i\": true: 1 matching line in 1 file, such as a]\n\
         [With \"include_hidden\": true: 1 matching line in 1 file, such as .hidden]"
    );
    let text = server.ok("replace", json!({ "pattern": "Foo", "replacement": "Foo" }));
    assert!(text.starts_with("Nothing changed: 1 place is already as the replacement."), "{text}");
}

fn encoded(encoding: Encoding, text: &str) -> Vec<u8> {
    let mut out = Vec::new();
    encoding.encode(text, &mut out).expect("its characters");
    out
}

fn utf_16(text: &str) -> Vec<u8> {
    [&b"\xff\xfe"[..], &text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<_>>()].concat()
}

#[test]
fn all_bytes_that_do_not_match_stay_in_every_encoding() {
    let folder = Folder::new();
    let chinese = "中文文本，测试一下编码。我们今天去学校读书写字，天气很好。\n".repeat(4);
    let texts: [(&str, Vec<u8>, Vec<u8>); 8] = [
        ("mark", b"\xEF\xBB\xBFold(x)\n".to_vec(), b"\xEF\xBB\xBFnew[x]\n".to_vec()),
        ("mixed", b"old(x)\r\nold(y)\nold(z)\r".to_vec(), b"new[x]\r\nnew[y]\nnew[z]\r".to_vec()),
        ("wrong", b"\xFF old(\xE9) \xC3\n".to_vec(), b"\xFF new[\xE9] \xC3\n".to_vec()),
        ("latin-1", b"caf\xe9 old(\xe9) d\xe9j\xe0\n".to_vec(), b"caf\xe9 new[\xe9] d\xe9j\xe0\n".to_vec()),
        ("utf-16", utf_16("é😀 old(中)\r\n"), utf_16("é😀 new[中]\r\n")),
        (
            "gbk",
            [encoded(Encoding::Gbk, &format!("{chinese}old(测)")), b"\xFF\n".to_vec()].concat(),
            [encoded(Encoding::Gbk, &format!("{chinese}new[测]")), b"\xFF\n".to_vec()].concat(),
        ),
        (
            "shift-jis",
            encoded(
                Encoding::ShiftJis,
                "日本語のテキスト、表示能力を確認する。予算は未定であります。\nold(ソ)\n",
            ),
            encoded(
                Encoding::ShiftJis,
                "日本語のテキスト、表示能力を確認する。予算は未定であります。\nnew[ソ]\n",
            ),
        ),
        (
            "late-nul",
            [&b"x".repeat(70_000)[..], b"\n\0old(x)\n"].concat(),
            [&b"x".repeat(70_000)[..], b"\n\0new[x]\n"].concat(),
        ),
    ];
    texts.iter().for_each(|(name, old, _)| folder.write(name, old));
    let server = serve(&folder, &[]);
    let text = server.ok("replace", json!({ "pattern": r"old\((.)\)", "replacement": "new[$1]" }));
    for (name, _, new) in &texts {
        assert!(
            folder.read(name) == *new,
            "{name}: {:?}\n{text}",
            String::from_utf8_lossy(&folder.read(name))
        );
    }
    server.ok("undo", json!({}));
    for (name, old, _) in &texts {
        assert!(folder.read(name) == *old, "{name}");
    }
}

#[test]
fn a_break_in_the_replacement_has_the_kind_of_the_file() {
    let folder = Folder::new();
    folder.write("crlf", "a b\r\nc\r\n");
    folder.write("utf16", utf_16("a b\r\n"));
    folder.write("lf", "a b\n");
    let server = serve(&folder, &[]);
    replace(&server, json!({ "pattern": " ", "replacement": "\n\t" }));
    assert_eq!((folder.text("crlf"), folder.text("lf")), ("a\r\n\tb\r\nc\r\n".into(), "a\n\tb\n".into()));
    assert_eq!(folder.read("utf16"), utf_16("a\r\n\tb\r\n"));
    replace(&server, json!({ "pattern": "a\\n\\tb\\n", "replacement": "x\n", "multiline": true }));
    assert_eq!((folder.text("crlf"), folder.text("lf")), ("x\r\nc\r\n".into(), "x\n".into()));
}

#[test]
fn a_replacement_that_an_encoding_lacks_refuses_the_whole_and_names_file_and_character() {
    let folder = Folder::new();
    folder.write("a", "old\n");
    folder.write("b.txt", b"caf\xe9 old\n");
    let server = serve(&folder, &[]);
    let call = json!({ "pattern": "old", "replacement": "中", "encoding": "windows-1252" });
    let text = refused(&server, &folder, call);
    assert!(
        text.contains("1 of 2 files cannot be changed") || text.contains("2 of 2 files cannot be changed"),
        "{text}"
    );
    assert!(text.contains("b.txt: ") && text.contains("'中' (U+4E2D)"), "{text}");
    // What it is by a guess is not sure enough for other characters than ASCII.
    let text = refused(&server, &folder, json!({ "pattern": "old", "replacement": "é" }));
    assert!(text.contains("b.txt: ") && text.contains("pass \"encoding\""), "{text}");
    assert_eq!(folder.text("a"), "old\n");
    replace(
        &server,
        json!({ "pattern": "old", "replacement": "é", "encoding": "windows-1252", "path": "b.txt" }),
    );
    assert_eq!(folder.read("b.txt"), b"caf\xe9 \xe9\n");
}

#[test]
fn the_case_of_each_match_is_kept() {
    let folder = Folder::new();
    folder.write("a", "recieve Recieve RECIEVE recieved reCieve\n");
    let server = serve(&folder, &[]);
    replace(
        &server,
        json!({ "pattern": "recieve", "replacement": "receive", "-i": true, "preserve_case": true }),
    );
    assert_eq!(folder.text("a"), "receive Receive RECEIVE received receive\n");
    replace(&server, json!({ "pattern": "receive", "replacement": "take", "-w": true }));
    assert_eq!(folder.text("a"), "take Receive RECEIVE received take\n");
}

#[test]
fn a_dry_run_numbers_the_places_and_its_plan_carries_out_some_or_all() {
    let folder = Folder::new();
    put(&folder, "a.rs", "x\nfoo(foo)\ny\nfoo\n");
    put(&folder, "d/b.rs", "foo\n");
    let server = serve(&folder, &[]);
    let before = folder.snapshot();
    let call = json!({ "pattern": "foo", "replacement": "bar", "dry_run": true });
    let text = server.ok("replace", call.clone());
    assert_eq!(
        text,
        "Would change 4 places in 2 files (do it by replace {\"plan\":\"p1\"}, or some of it with \"only\": \"1-4,7\")\n\
         a.rs\n1-2) 2 -foo(foo)\n  +bar(bar)\n3) 4 -foo\n  +bar\nd/b.rs\n4) 1 -foo\n  +bar\n[2 files searched; nothing left out]"
    );
    assert_eq!(folder.snapshot(), before);
    let text = server.ok("replace", json!({ "plan": "p1", "only": "2-3", "dry_run": true }));
    assert!(
        text.contains("a.rs\n2) 2 -foo(foo)\n  +foo(bar)\n3) 4 -foo\n") && !text.contains("d/b.rs"),
        "{text}"
    );
    assert_eq!(folder.snapshot(), before);
    let text = refused(&server, &folder, json!({ "plan": "p1", "only": "5" }));
    assert!(text.contains("only: there is no place 5; the plan has the places 1-4"), "{text}");
    let text = refused(&server, &folder, json!({ "plan": "p1", "pattern": "fo" }));
    assert!(text.contains("pattern: it is not the one of the dry run"), "{text}");
    let text = replace(&server, json!({ "plan": "p1", "only": "2,4", "pattern": "foo", "replacement": "" }));
    assert_eq!(text, "Changed 2 places in 2 files\na.rs:2: foo(bar)\nd/b.rs:1: bar");
    assert_eq!(
        (folder.text("a.rs"), folder.text("d/b.rs")),
        ("x\nfoo(bar)\ny\nfoo\n".into(), "bar\n".into())
    );
    let text = refused(&server, &folder, json!({ "plan": "p1" }));
    assert!(text.contains("used up by success"), "{text}");
}

#[test]
fn a_plan_is_refused_if_a_file_has_changed_since_and_names_it() {
    let folder = Folder::new();
    ["a", "b", "c"].into_iter().for_each(|name| folder.write(name, "foo\n"));
    let server = serve(&folder, &[]);
    server.ok("replace", json!({ "pattern": "foo", "replacement": "bar", "dry_run": true }));
    folder.write("b", "foo \n");
    std::fs::remove_file(folder.path().join("c")).unwrap();
    let text = refused(&server, &folder, json!({ "plan": "p1" }));
    assert!(text.contains("Nothing was changed: 2 of 3 files cannot be changed"), "{text}");
    assert!(text.contains("Leave their places out of only, or mend the reason."), "{text}");
    assert!(
        text.contains("b (places 2-2): ")
            && text.contains("it has changed since the dry run")
            && text.contains("c (places 3-3): "),
        "{text}"
    );
    let text = replace(&server, json!({ "plan": "p1", "only": "1" }));
    assert_eq!(text, "Changed 1 place in 1 file\na:1: bar", "the other files are not in it");
}

#[test]
fn an_undo_takes_it_back_and_leaves_what_others_changed_elsewhere() {
    let folder = Folder::new();
    put(&folder, "a", "foo\nx\ny\nz\nfoo\n");
    put(&folder, "b", "foo\n");
    let server = serve(&folder, &[]);
    let change =
        id(&server.ok("replace", json!({ "pattern": "foo", "replacement": "bar", "message": "rename" })));
    folder.write("a", "bar\nx\nY\nz\nbar\n");
    let text = server.ok("changes", json!({}));
    assert!(text.contains("replace") && text.contains("rename"), "{text}");
    server.ok("undo", json!({ "change": change }));
    assert_eq!((folder.text("a"), folder.text("b")), ("foo\nx\nY\nz\nfoo\n".into(), "foo\n".into()));
}

#[test]
fn if_the_time_is_up_before_all_files_are_searched_nothing_is_changed() {
    let folder = Folder::new();
    folder.write("a", "foo\n");
    folder.write("b", ab_letters(60 << 20));
    let server = serve(&folder, &["--timeout=1", "--max-file=100"]);
    let call = json!({ "pattern": format!("foo|{SLOW}"), "replacement": "bar" });
    let text = refused(&server, &folder, call);
    assert!(text.contains("timed out") && text.contains("Nothing was changed"), "{text}");
}

#[test]
fn a_system_call_that_fails_at_any_moment_leaves_all_files_as_before() {
    not_under_wine!("has system calls fail with strace");
    for (call, nth) in [("renameat", 1), ("renameat", 2), ("renameat", 3), ("linkat", 2), ("fdatasync", 3)] {
        let folder = Folder::new();
        let names = ["a", "b", "c"];
        names.iter().for_each(|name| folder.write(name, "foo\n"));
        let inject = format!("{call}:error=EIO:when={nth}");
        let Some(command) = with_injected(&command(&folder, "stdio", &["--tools=agent"]), &inject) else {
            return;
        };
        let server = Stdio::run(command);
        let answer = server.tool("replace", json!({ "pattern": "foo", "replacement": "bar" }));
        let expected = if answer.is_error { "foo\n" } else { "bar\n" };
        assert!(names.iter().all(|name| folder.text(name) == expected), "{inject}: {}", answer.text);
        assert!(answer.is_error || call != "renameat", "{inject}: {}", answer.text);
    }
}

#[test]
fn names_of_all_kinds_are_reached_and_what_is_excluded_is_not() {
    not_under_wine!("has names that are not UTF-8");
    let folder = Folder::new();
    let name = <std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(b"caf\xe9 \n.txt");
    std::fs::write(folder.path().join(name), "foo\n").unwrap();
    put(&folder, "secret/key", "foo\n");
    put(&folder, "[a]/b c", "foo\n");
    folder.link("link", "secret");
    let server = serve(&folder, &["--exclude=secret/"]);
    let text = replace(&server, json!({ "pattern": "foo", "replacement": "bar" }));
    assert!(text.starts_with("Changed 2 places in 2 files\n") && !text.contains("secret"), "{text}");
    assert_eq!(std::fs::read_to_string(folder.path().join(name)).unwrap(), "bar\n");
    assert_eq!((folder.text("[a]/b c"), folder.text("secret/key")), ("bar\n".into(), "foo\n".into()));
}
