//! `retry` of `edit`: only the edits that did not fit are sent again.

use serde_json::{Value, json};

use super::{serve, without_id};
use crate::support::{Folder, Http, Mcp, Stateless, Stdio};
use crate::trees::{Posted, put};

/// The error of a call that changes nothing.
#[track_caller]
pub(super) fn refused(server: &dyn Mcp, folder: &Folder, arguments: Value) -> String {
    let before = folder.snapshot();
    let answer = server.tool("edit", arguments);
    assert!(answer.is_error, "{}", answer.text);
    assert_eq!(folder.snapshot(), before, "{}", answer.text);
    answer.text
}

/// Starts a server.
type Start = fn(&Folder, &[&str]) -> Box<dyn Mcp>;

/// Two edits of three do not fit.
fn failing() -> Value {
    json!({ "message": "why", "edits": [
        { "path": "a", "old": "tow", "new": "2\n2" },
        { "path": "b", "old": "x", "new": "y" },
        { "lines": "9", "new": "w\n" },
    ] })
}

fn fill(folder: &Folder) {
    put(folder, "a", "one\ntwo\n");
    put(folder, "b", "x\nz\n");
}

#[test]
fn only_the_corrected_edits_are_sent_and_the_whole_is_carried_out_on_every_interface() {
    let flags = ["--tools=agent"];
    let servers: [Start; 4] = [
        |folder, flags| Box::new(Stdio::start(folder, flags).ready()),
        |folder, flags| Box::new(Stateless(Stdio::start(folder, flags))),
        |folder, flags| {
            let server = Http::start(folder, flags);
            server.begin("2025-06-18");
            Box::new(server)
        },
        |folder, flags| Box::new(Posted(Http::start(folder, flags))),
    ];
    for start in servers {
        let folder = Folder::new();
        fill(&folder);
        let server = start(&folder, &flags);
        let text = refused(&*server, &folder, failing());
        assert!(
            text.starts_with("Nothing was changed: 2 of 3 edits do not fit, the other one fits."),
            "{text}"
        );
        assert!(
            text.ends_with("[Send only the corrected edits: \"retry\": \"r1\", each with its \"n\" (1, 3), or with \"skip\": true to leave it out]"),
            "{text}"
        );
        let corrected =
            json!({ "retry": "r1", "edits": [{ "n": 3, "lines": "2" }, { "n": 1, "old": "two" }] });
        let text = without_id(&server.ok("edit", corrected.clone()));
        assert_eq!(text, "Changed 3 places in 2 files\na:2: 2\na:3: 2\nb:1: y\nb:2: w", "the new texts stay");
        let text = refused(&*server, &folder, corrected);
        assert!(text.contains("retry: there is no failed call r1"), "{text}");
    }
}

#[test]
fn a_second_failure_has_a_handle_of_its_own_with_what_was_corrected() {
    let folder = Folder::new();
    fill(&folder);
    let server = serve(&folder, &[]);
    refused(&server, &folder, failing());
    let text = refused(&server, &folder, json!({ "retry": "r1", "edits": { "n": 1, "old": "two" } }));
    assert!(
        text.contains("1 of 3 edits does not fit")
            && text.contains("\"retry\": \"r2\"")
            && text.contains("(3)"),
        "{text}"
    );
    let dry = server.ok("edit", json!({ "retry": "r2", "edits": [{ "lines": "2" }], "dry_run": true }));
    assert!(dry.starts_with("Would change 3 places"), "{dry}");
    // The arguments of the edit stand in place of the whole call.
    server.ok("edit", json!({ "retry": "r2", "n": 3, "lines": "2" }));
    assert_eq!((folder.text("a"), folder.text("b")), ("one\n2\n2\n".into(), "y\nw\n".into()));
    let text = server.ok("changes", json!({}));
    assert!(text.contains("why"), "{text}");
    fill(&folder);
    let text = server
        .ok("edit", json!({ "retry": "r1", "edits": [{ "n": 1, "old": "two" }, { "n": 3, "lines": "2" }] }));
    assert!(text.starts_with("Changed 3 places"), "the first handle is still there: {text}");
}

#[test]
fn a_corrected_path_is_that_of_the_edits_behind_it_and_other_kinds_take_the_place() {
    let folder = Folder::new();
    fill(&folder);
    let server = serve(&folder, &[]);
    let edits = json!([
        { "path": "c", "old": "one", "new": "1" },
        { "old": "two", "new": "2" },
        { "move_to": "d/a" },
        { "old": "2", "new": "3" },
        { "path": "e", "delete": true },
    ]);
    let text = refused(&server, &folder, json!({ "edits": edits }));
    assert!(text.contains("(1, 2, 3, 4, 5)"), "{text}");
    let corrected = json!([{ "n": 1, "path": "a" }, { "n": 5, "path": "b", "append": "w" }]);
    server.ok("edit", json!({ "retry": "r1", "edits": corrected }));
    assert_eq!((folder.text("d/a"), folder.text("b")), ("1\n3\n".into(), "x\nz\nw\n".into()));
}

#[test]
fn what_corrects_nothing_is_refused_in_words() {
    let folder = Folder::new();
    fill(&folder);
    let server = serve(&folder, &[]);
    refused(&server, &folder, failing());
    for (arguments, part) in [
        (json!({ "retry": "r9", "edits": [{ "n": 1, "old": "two" }] }), "retry: there is no failed call r9"),
        (json!({ "retry": "r1" }), "edits: it is missing; expected the corrected edits"),
        (json!({ "retry": "r1", "edits": [{ "n": 4, "old": "two" }] }), "edits[0].n: expected the number"),
        (json!({ "retry": "r1", "edits": [{ "old": "two" }] }), "edits[0].n: expected the number"),
        // Edits count from 1. Who counts from 0 means another edit than the next one that did not fit.
        (
            json!({ "retry": "r1", "edits": [{ "n": 0, "old": "two" }, { "n": 2, "lines": "2" }] }),
            "edits[0].n: expected the number of the edit that it corrects, from 1 to 3",
        ),
        (
            json!({ "retry": "r1", "edits": [{ "n": 1, "old": "a" }, { "n": 1, "old": "b" }] }),
            "the edit 1 is corrected before",
        ),
        (
            json!({ "retry": "r1", "patch": "--- a/z\n+++ b/z\n@@ -1 +1 @@\n-q\n+r\n" }),
            "patch: the failed call has edits",
        ),
    ] {
        let text = refused(&server, &folder, arguments.clone());
        assert!(text.contains(part), "{arguments}: {text}");
    }
    // Without numbers, those that did not fit come in their order.
    server.ok("edit", json!({ "retry": "r1", "edits": [{ "old": "two" }, { "lines": "2" }] }));
    let text = refused(&server, &folder, json!({ "edits": [{ "path": "a", "old": "q", "new": "r" }] }));
    assert!(!text.contains("retry"), "a short call is sent again as a whole: {text}");
}

#[test]
fn of_a_patch_only_the_corrected_files_are_sent() {
    let folder = Folder::new();
    fill(&folder);
    let server = serve(&folder, &[]);
    let of = |name: &str, old: &str, new: &str| {
        format!("--- a/{name}\n+++ b/{name}\n@@ -1,2 +1,2 @@\n {old}\n-{new}\n+new\n")
    };
    let patch = of("a", "one", "tow") + &of("b", "x", "z");
    let text = refused(&server, &folder, json!({ "patch": patch }));
    let tip = "[Send only the corrected hunks, each under the right path: \"retry\": \"r1\" with patch; {\"n\": 1, \"skip\": true} in edits leaves out";
    assert!(text.contains(tip), "{text}");
    server.ok("edit", json!({ "retry": "r1", "patch": of("a", "one", "two") }));
    assert_eq!((folder.text("a"), folder.text("b")), ("one\nnew\n".into(), "x\nnew\n".into()));
}

#[test]
fn an_edit_that_cannot_be_read_is_explained_with_the_others_and_corrected_alone() {
    let folder = Folder::new();
    fill(&folder);
    let server = serve(&folder, &[]);
    let edits = json!([
        { "path": "../a", "old": "one", "new": "1" },
        { "path": "b", "old": "nowhere", "new": "1" },
        { "path": "b", "lines": "x", "new": "y" },
        { "old": "y", "new": "Y" },
        { "path": "a", "old": "two", "new": "2" },
    ]);
    let text = refused(&server, &folder, json!({ "edits": edits }));
    assert!(text.starts_with("Nothing was changed: 4 of 5 edits do not fit, the other one fits."), "{text}");
    for part in ["Edit 1 of 5: ", "Edit 2 of 5 failed: ", "edits[2].lines: ", "Edit 4 of 5 failed: "] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(text.contains("\"retry\": \"r1\", each with its \"n\" (1, 2, 3, 4), or"), "{text}");
    let some = json!({ "retry": "r1", "edits": [{ "n": 2, "old": "z" }, { "n": 3, "lines": "1" }] });
    let text = refused(&server, &folder, some);
    assert!(text.contains("edits, n 1: "), "what is left is named: {text}");
    let corrected = json!([{ "n": 1, "path": "a" }, { "n": 2, "old": "z" }, { "n": 3, "lines": "1" }]);
    let text = without_id(&server.ok("edit", json!({ "retry": "r1", "edits": corrected })));
    assert!(text.starts_with("Changed 5 places in 2 files"), "{text}");
    assert_eq!((folder.text("a"), folder.text("b")), ("1\n2\n".into(), "Y\n1\n".into()));
}

#[test]
fn a_single_edit_that_cannot_be_read_is_refused_as_it_is() {
    let folder = Folder::new();
    fill(&folder);
    let server = serve(&folder, &[]);
    let text = refused(&server, &folder, json!({ "edits": [{ "path": "a", "lines": "x", "new": "y" }] }));
    assert!(text.contains("edits[0].lines: ") && !text.contains("retry"), "{text}");
}

#[test]
fn an_edit_can_be_left_out_and_those_behind_it_keep_their_path() {
    let folder = Folder::new();
    fill(&folder);
    let server = serve(&folder, &[]);
    refused(&server, &folder, failing());
    let all = json!({ "retry": "r1", "edits": [{ "n": 1, "skip": true }, { "n": 3, "skip": true }] });
    let text = without_id(&server.ok("edit", all));
    assert_eq!(text, "Changed 1 place in 1 file\nb:1: y");
    let edits = json!([
        { "path": "a", "move_to": "b" },
        { "old": "two", "new": "2" },
        { "path": "../x", "old": "two", "new": "2" },
    ]);
    refused(&server, &folder, json!({ "edits": edits }));
    let some = json!([{ "n": 1, "skip": true }, { "n": 3, "skip": true }]);
    server.ok("edit", json!({ "retry": "r2", "edits": some }));
    assert_eq!(folder.text("a"), "one\n2\n");
    let none = json!({ "path": "a", "old": "one", "new": "1", "skip": true });
    let text = refused(&server, &folder, none);
    assert!(text.contains("edits[0].skip: it leaves out an edit of a call that failed"), "{text}");
    refused(
        &server,
        &folder,
        json!({ "edits": [{ "path": "a", "old": "x", "new": "" }, { "old": "y", "new": "" }] }),
    );
    let both = json!({ "retry": "r3", "edits": [{ "skip": true }, { "skip": true }] });
    assert!(refused(&server, &folder, both).contains("all of them are left out"));
}

#[test]
fn with_retry_an_encoding_is_for_what_failed_and_takes_the_place_of_the_one_before() {
    let folder = Folder::new();
    put(&folder, "u", "gr\u{fc}n\n");
    std::fs::write(folder.path().join("w"), b"gr\xfcn, sch\xf6n, stra\xdfe\n").expect("a file");
    let server = serve(&folder, &[]);
    let edits = json!([{ "path": "u", "old": "gr\u{fc}n", "new": "\u{e4}" }, { "path": "w", "old": "sch\u{f6}n", "new": "\u{e4}" }]);
    let text = refused(&server, &folder, json!({ "edits": edits }));
    assert!(text.contains("1 of 2 edits does not fit"), "{text}");
    let text = refused(&server, &folder, json!({ "retry": "r1", "encoding": "utf-16" }));
    assert!(text.contains("1 of 2 edits does not fit"), "{text}");
    server.ok("edit", json!({ "retry": "r2", "encoding": "windows-1252" }));
    assert_eq!(folder.text("u"), "\u{e4}\n");
    assert_eq!(std::fs::read(folder.path().join("w")).expect("a file"), b"gr\xfcn, \xe4, stra\xdfe\n");
}

#[test]
fn the_edits_behind_one_that_is_left_out_unread_keep_the_path_that_it_had() {
    let folder = Folder::new();
    fill(&folder);
    let server = serve(&folder, &[]);
    let edits = |second: Value| json!([{ "path": "a", "old": "two", "new": "2" }, second, { "append": "w" }]);
    let skip = |name: &str| json!({ "retry": name, "edits": [{ "n": 2, "skip": true }] });
    refused(&server, &folder, json!({ "edits": edits(json!({ "path": "b", "lines": "x", "new": "y" })) }));
    server.ok("edit", skip("r1"));
    assert_eq!((folder.text("a"), folder.text("b")), ("one\n2\n".into(), "x\nz\nw\n".into()));
    // It has none of its own: that before it is meant.
    fill(&folder);
    refused(&server, &folder, json!({ "edits": edits(json!({ "lines": "x", "new": "y" })) }));
    server.ok("edit", skip("r2"));
    assert_eq!((folder.text("a"), folder.text("b")), ("one\n2\nw\n".into(), "x\nz\n".into()));
    // Its path was wrong: nobody knows which one the edit behind it has.
    fill(&folder);
    refused(&server, &folder, json!({ "edits": edits(json!({ "path": "../x", "old": "x", "new": "y" })) }));
    let text = refused(&server, &folder, skip("r3"));
    assert!(text.contains("edits, n 3, path: it is missing"), "{text}");
    let both = json!([{ "n": 2, "skip": true }, { "n": 3, "path": "b" }]);
    server.ok("edit", json!({ "retry": "r3", "edits": both }));
    assert_eq!((folder.text("a"), folder.text("b")), ("one\n2\n".into(), "x\nz\nw\n".into()));
}

#[test]
fn lines_of_a_file_that_has_changed_since_the_failed_call_are_sent_again() {
    let lines = "1\n2\n3\n4\n5\n6\n";
    for first in [
        json!({ "path": "a", "lines": "5", "new": "FIVE" }),
        json!({ "path": "a", "lines": "5", "new": "FIVE", "count": "x" }),
    ] {
        let folder = Folder::new();
        fill(&folder);
        put(&folder, "a", lines);
        let server = serve(&folder, &[]);
        let edits = json!([first, { "path": "b", "old": "nope", "new": "y" }]);
        refused(&server, &folder, json!({ "edits": edits }));
        put(&folder, "a", format!("new\nnew\n{lines}"));
        let first = if first["count"].is_null() { json!([]) } else { json!([{ "n": 1, "new": "FIVE" }]) };
        let mut mended = first.as_array().expect("a list").clone();
        mended.push(json!({ "n": 2, "old": "x" }));
        let text = refused(&server, &folder, json!({ "retry": "r1", "edits": mended }));
        assert!(text.contains("retry: 'a' has changed since r1"), "{text}");
        // Their numbers were counted anew, and that does not hold for long either.
        let counted =
            |second: &str| json!([{ "n": 1, "lines": "7", "new": "FIVE" }, { "n": 2, "old": second }]);
        refused(&server, &folder, json!({ "retry": "r1", "edits": counted("no") }));
        put(&folder, "a", lines);
        let again = json!({ "retry": "r2", "edits": [{ "n": 2, "old": "x" }] });
        let text = refused(&server, &folder, again.clone());
        assert!(text.contains("retry: 'a' has changed since r2"), "{text}");
        put(&folder, "a", format!("new\nnew\n{lines}"));
        server.ok("edit", again);
        assert_eq!(
            (folder.text("a"), folder.text("b")),
            ("new\nnew\n1\n2\n3\n4\nFIVE\n6\n".into(), "y\nz\n".into())
        );
    }
}

#[test]
fn what_does_not_count_lines_is_carried_out_although_its_file_has_changed() {
    let folder = Folder::new();
    fill(&folder);
    let server = serve(&folder, &[]);
    let edits = json!([
        { "path": "a", "lines": "2", "new": "2", "expect": "two" },
        { "append": "w" },
        { "path": "c", "lines": "1", "new": "y" },
    ]);
    refused(&server, &folder, json!({ "edits": edits }));
    put(&folder, "a", "1\ntwo\n");
    server.ok("edit", json!({ "retry": "r1", "edits": [{ "n": 3, "path": "b" }] }));
    assert_eq!((folder.text("a"), folder.text("b")), ("1\n2\nw\n".into(), "y\nz\n".into()));
}
