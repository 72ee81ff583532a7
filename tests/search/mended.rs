//! What `grep` says where a pattern finds nothing, but would if a usual slip were mended.

use serde_json::{Value, json};

use super::serve;
use crate::support::{Folder, Mcp};
use crate::trees::put;

fn tree() -> Folder {
    let folder = Folder::new();
    put(
        &folder,
        "src/a.txt",
        "foo(bar) Baz\ncaf\u{e9}\nre\u{301}sume\u{301}\nit\u{2019}s\nsay \"x\"\nfoobar\none\ntwo\n",
    );
    put(&folder, ".hidden/h.txt", "secret\n");
    folder
}

#[test]
fn each_slip_is_named_with_what_finds_something_and_with_a_file() {
    let folder = tree();
    let server = serve(&folder, &[]);
    for (arguments, told) in [
        (json!({ "pattern": r"quux\|Baz" }), r#""pattern": "quux|Baz""#),
        (json!({ "pattern": r"\(quux\|Ba\)z" }), r#""pattern": "(quux|Ba)z""#),
        (json!({ "pattern": "/ba[z]/i" }), r#""-i": true, "pattern": "ba[z]""#),
        (json!({ "pattern": r"\\bBaz" }), r#""pattern": "\\bBaz""#),
        (json!({ "pattern": "(?s)one.*two" }), r#""multiline": true"#),
        (json!({ "pattern": r"one\s+two" }), r#""multiline": true"#),
        (json!({ "pattern": "cafe\u{301}" }), "\"pattern\": \"caf\u{e9}\""),
        (json!({ "pattern": "r\u{e9}sum\u{e9}" }), "\"pattern\": \"re\u{301}sume\u{301}\""),
        (json!({ "pattern": "it's" }), "\"pattern\": \"it['‘’‚‛`´]s\""),
        (
            json!({ "pattern": "“x”", "fixed_strings": true }),
            "\"fixed_strings\": false, \"pattern\": \"[\\\"“”„‟«»]x",
        ),
        (json!({ "pattern": r"oob\b" }), r#""pattern": "oob""#),
        (json!({ "pattern": "oob", "-w": true }), r#""-w": false"#),
        (json!({ "pattern": "foo.*ar", "fixed_strings": true }), r#""fixed_strings": false"#),
    ] {
        let text = server.ok("grep", arguments.clone());
        assert!(text.starts_with("No matches found"), "{arguments}: {text}");
        let line = text.lines().find(|line| line.starts_with(&format!("[With {told}")));
        let line = line.unwrap_or_else(|| panic!("{arguments}: {text}"));
        let counted = if told.contains("multiline") { " match in " } else { " matching line" };
        assert!(line.contains(counted) && line.ends_with(", such as src/a.txt]"), "{line}");
        let (mended, _) = line[6..].split(" match").next().and_then(|it| it.rsplit_once(": ")).expect("JSON");
        let mended: Value = serde_json::from_str(&format!("{{{mended}}}")).expect("JSON");
        let mut call = arguments;
        call.as_object_mut().expect("arguments").extend(mended.as_object().expect("arguments").clone());
        assert!(
            server.ok("grep", call).starts_with("src/a.txt: "),
            "the hint is a call that finds it: {line}"
        );
    }
}

#[test]
fn a_slip_that_mended_finds_nothing_is_not_named() {
    let folder = tree();
    let server = serve(&folder, &[]);
    for pattern in
        [r"none\|nothing", "/nothing/i", r"\\bnothing", "(?s)two.*one", "n\u{e9}ant", "isn't", r"\bnothing\b"]
    {
        let text = server.ok("grep", json!({ "pattern": pattern }));
        assert!(text.starts_with("No matches found") && !text.contains("[With"), "{pattern}: {text}");
    }
}

#[test]
fn files_that_were_left_out_are_named_by_the_one_argument_that_finds_them() {
    let folder = tree();
    put(&folder, ".gitignore", "*.log\n");
    put(&folder, "x.log", "ignored\n");
    put(&folder, ".hidden/y.log", "both\n");
    let server = serve(&folder, &[]);
    for (pattern, told) in [
        ("secret", "[With \"include_hidden\": true: 1 matching line in 1 file, such as .hidden/h.txt]"),
        ("ignored", "[With \"include_ignored\": true: 1 matching line in 1 file, such as x.log]"),
        (
            "both",
            "[With \"include_hidden\": true, \"include_ignored\": true: 1 matching line in 1 file, such as .hidden/y.log]",
        ),
    ] {
        let text = server.ok("grep", json!({ "pattern": pattern }));
        assert!(text.ends_with(told), "{pattern}: {text}");
    }
}
