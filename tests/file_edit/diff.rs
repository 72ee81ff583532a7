//! The diff of file_edit, fed to GNU patch: it must make of the old file what the edits make of it.

use std::io::Write;
use std::process::{Command, Stdio};
use std::time::Duration;

use folder::Control;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::json;
use text::budget::Budget;
use text::diff::unified;
use text::lines::LineIndex;
use text::text_edit::{TextEdit, TextEdits, TextLimits, plan as plan_text_edits};

use crate::support::{self, Folder, Mcp};

const PLENTY: usize = 1 << 20;

static MEMORY: std::sync::LazyLock<Budget> = std::sync::LazyLock::new(|| Budget::new(usize::MAX));

/// The text after the edits, and their diff.
fn edit(
    name: &str,
    text: &str,
    edits: &[(String, String)],
    most: usize,
) -> Option<(String, text::diff::Diff)> {
    let index = LineIndex::build(text.as_bytes()).expect("text");
    let edits = edits.iter().map(|(old_text, new_text)| TextEdit {
        old_text: old_text.clone(),
        new_text: new_text.clone(),
        occurrences: text.matches(old_text).count().max(1) as u64,
    });
    let edits = TextEdits::new(edits.collect());
    let control = Control::new(Duration::from_secs(60));
    let limits = TextLimits { passages: 50, max_bytes: 1 << 20, memory: &MEMORY };
    let planned = plan_text_edits(&index, text.as_bytes(), &edits, limits, &control).ok()??;
    let mut out = Vec::new();
    planned.plan.write_to(text.as_bytes(), &mut out).expect("a vector takes all");
    Some((String::from_utf8(out).expect("text"), unified(&index, text.as_bytes(), &planned.plan, name, most)))
}

/// What patch makes of the file.
fn patched(folder: &Folder, name: &str, diff: &str) -> Result<String, String> {
    let mut patch = Command::new("patch")
        .args(["-p1", "--binary", "--no-backup-if-mismatch", "--fuzz=0"])
        .current_dir(folder.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("GNU patch is installed");
    patch.stdin.take().expect("a pipe").write_all(diff.as_bytes()).expect("written");
    let ended = patch.wait_with_output().expect("an end");
    let said = String::from_utf8_lossy(&ended.stdout).into_owned();
    if !ended.status.success() || said.contains("offset") {
        return Err(format!("{said}{}", String::from_utf8_lossy(&ended.stderr)));
    }
    Ok(std::fs::read_to_string(folder.path().join(name)).unwrap_or_default())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn patch_makes_of_the_old_file_what_the_edits_make_of_it(
        lines in vec(select(vec!["a\n", "b\n", "\n", "c c\r\n", "é\n", "d", "x\r", "-- e\n", "@@ f\n"]), 1..40),
        edits in vec((
            select(vec!["a", "b\n", "\n", "c", "d", "x\r", "a\nb", "é\n", "e"]),
            select(vec!["", "z", "z\n", "\nz", "y\ny\ny\n", "a", "-z", "b\nz"]),
        ), 1..5),
        spaced in any::<bool>(),
    ) {
        let text = lines.concat();
        let edits: Vec<_> = edits.iter().map(|(old, new)| (old.to_string(), new.to_string())).collect();
        let name = if spaced { "a name.txt" } else { "name.txt" };
        if let Some((expected, diff)) = edit(name, &text, &edits, PLENTY) {
            prop_assert_eq!(diff.more, 0);
            prop_assert_eq!(diff.text.is_empty(), expected == text, "{}", diff.text);
            if expected != text {
                let folder = Folder::new();
                folder.write(name, &text);
                prop_assert_eq!(patched(&folder, name, &diff.text), Ok(expected), "{}", diff.text);
            }
        }
    }
}

#[test]
fn a_change_that_begins_as_the_old_text_did_has_three_lines_of_context_in_front() {
    // Found by chance: with four, patch took the hunk for one at the end of the file.
    let text = "\na\n\nb\n\n\n\n\n\n";
    let (expected, diff) = edit("f", text, &[("b\n".into(), "b\nz".into())], PLENTY).expect("applies");
    let folder = Folder::new();
    folder.write("f", text);
    assert!(diff.text.contains("@@ -2,7 +2,7 @@\n"), "{}", diff.text);
    assert_eq!(patched(&folder, "f", &diff.text), Ok(expected));
}

#[test]
fn a_diff_that_is_too_long_ends_at_a_hunk_and_says_how_many_more_there_are() {
    let text: String = (0..200).map(|n| format!("line {n}\n")).collect();
    let edits: Vec<_> = (1..20).map(|n| (format!("line {}5\n", n), format!("LINE {n}\n"))).collect();
    let all = edit("f", &text, &edits, PLENTY).expect("applies").1;
    assert_eq!((all.hunks, all.more), (19, 0));
    let some = edit("f", &text, &edits, 500).expect("applies").1;
    assert!(some.text.len() <= 500 && 0 < some.hunks && some.hunks + some.more == 19, "{some:?}");
    assert!(all.text.starts_with(&some.text));
    let folder = Folder::new();
    folder.write("f", &text);
    let expected = (1..=some.hunks)
        .fold(text.clone(), |text, n| text.replace(&format!("line {n}5\n"), &format!("LINE {n}\n")));
    assert_eq!(patched(&folder, "f", &some.text), Ok(expected));
}

#[test]
fn the_diff_of_a_call_is_what_patch_needs_also_for_a_new_file() {
    let (folder, other) = (Folder::new(), Folder::new());
    let server = support::Stdio::start(&folder, &["--tools=lines,exact"]);
    for edits in [
        json!([{ "old_text": "", "new_text": "one\ntwo\nthree\n" }]),
        json!([{ "old_text": "two", "new_text": "2\n2½" }, { "old_text": "three\n", "new_text": "3" }]),
        json!([{ "old_text": "one\n2\n2½\n3", "new_text": "" }]),
    ] {
        let result = server.tool("file_edit", json!({ "path": "f", "edits": edits }));
        let diff = result.result["metadata"]["diff"].as_str().expect("a diff");
        assert!(result.text.contains(diff.trim_end()), "{}", result.text);
        assert_eq!(patched(&other, "f", diff), Ok(folder.text("f")), "{diff}");
    }
}

#[test]
fn changes_of_a_line_that_undo_one_another_are_no_hunk() {
    let lines: String = (0..20).map(|nth| format!("line {nth}\n")).collect();
    let text = format!("{lines}N aaaaa Z\n{lines}other\n");
    let edits = [("N aa", "N a"), ("aa Z", "aaa Z"), ("other", "changed")];
    let edits = edits.map(|(old, new)| (old.to_owned(), new.to_owned()));
    let (now, diff) = edit("f", &text, &edits, PLENTY).expect("found");
    assert_eq!((now, diff.hunks, diff.more), (text.replace("other", "changed"), 1, 0));
    assert!(diff.text.contains("-other\n+changed\n") && !diff.text.contains("aaaaa"), "{}", diff.text);
    let folder = Folder::new();
    folder.write("f", &text);
    assert_eq!(patched(&folder, "f", &diff.text), Ok(text.replace("other", "changed")));
}
