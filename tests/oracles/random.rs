//! The real binary against the naive model of `model.rs`: random files, edits, sequences and ranges (issue 4).

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use proptest::collection::vec;
use proptest::prelude::{Strategy, any};
use proptest::sample::select;
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use proptest::{option, prop_assert, prop_assert_eq, prop_oneof};
use serde_json::{Value, json};

use super::generated::{BREAKS, Call, call, file};
use crate::model::{self, BOM, Edit, Edited, ModelError};
use crate::support::{Folder, Mcp, Stdio};

const NAME: &str = "oracle.txt";

fn serve(folder: &Folder) -> Stdio {
    Stdio::start(folder, &["--sync=none"])
}

fn runner(cases: u32) -> TestRunner {
    TestRunner::new(Config { cases, failure_persistence: None, ..Config::default() })
}

// ---- What is checked ----

/// How often each outcome was seen, so that a test can show that it tested something.
#[derive(Default)]
struct Seen(RefCell<BTreeMap<&'static str, u32>>);

impl Seen {
    fn note(&self, outcome: &Result<Edited, ModelError>) {
        let what = match outcome {
            Ok(edited) if edited.modified == 0 => "nothing to do",
            Ok(_) => "edited",
            Err(ModelError::OutOfRange { .. }) => "out of range",
            Err(ModelError::NotExpected { .. }) => "not expected",
            Err(ModelError::Conflict { .. }) => "conflict",
            Err(_) => "wrong argument",
        };
        *self.0.borrow_mut().entry(what).or_default() += 1;
    }

    fn at_least(&self, what: &str, times: u32) {
        let seen = self.0.borrow();
        assert!(times <= seen.get(what).copied().unwrap_or(0), "too few of {what:?} were tried: {seen:?}");
    }
}

/// Sends one edit, compares answer, disk and a second reading with the model. Gives the file as it is then.
fn edit_and_compare(
    server: &Stdio,
    folder: &Folder,
    name: &str,
    file: Option<&[u8]>,
    call: &Call,
    seen: &Seen,
) -> Result<Vec<u8>, TestCaseError> {
    let before = file.unwrap_or_default();
    let edits = call.edits(&model::split_lines(before).expect("generated files are text"));
    let outcome = model::edits::edit(before, &edits, call.append.as_deref());
    seen.note(&outcome);

    let mut sent: Vec<Value> = edits.iter().map(Edit::json).collect();
    for edit in sent.iter_mut().filter(|edit| edit["operation"] == "delete" && edit["line"] == 1) {
        if edit.get("content").is_none() {
            edit["content"] = Value::Null; // counts as no content
        }
    }
    let arguments = json!({ "name": name, "edits": sent, "append": call.append });
    let answer = server.tool("edit_file", arguments);
    let path = folder.path().join(name);
    match outcome {
        Ok(Edited { bytes, modified, total }) => {
            prop_assert_eq!(
                &answer.text,
                &format!(
                    "File edited successfully: {name}\nLines modified: {modified}\nTotal lines: {total}\nFile created: {}{}",
                    file.is_none(),
                    model::edits::break_note(&edits)
                )
            );
            prop_assert!(!answer.is_error);
            let disk = std::fs::read(path)?;
            prop_assert!(disk == bytes, "on disk {}\nby the model {}", shown(&disk), shown(&bytes));
            let again = server.tool("read_file", json!({ "name": name })).text;
            prop_assert_eq!(Ok(again.clone()), model::read(name, &disk, None, None));
            let heading = format!("File: {name} ({total} lines)\n\n");
            prop_assert!(again.starts_with(&heading), "{} is not the heading of {}", heading, again);
            Ok(disk)
        }
        Err(error) => {
            prop_assert!(answer.is_error, "{:?} was accepted: {}", error, answer.text);
            prop_assert!(error.is_told_by(name, &answer.text), "{:?} was told as {}", error, answer.text);
            match file {
                Some(before) => prop_assert_eq!(std::fs::read(path)?, before, "a refused edit wrote"),
                None => prop_assert!(!path.exists(), "a refused edit created the file"),
            }
            Ok(before.to_vec())
        }
    }
}

/// The end of a file as an escaped string; what comes before is padding.
fn shown(file: &[u8]) -> String {
    format!("…{:?}", String::from_utf8_lossy(&file[file.len().saturating_sub(100)..]))
}

// ---- The properties ----

#[test]
fn the_model_itself_keeps_the_bytes_around_the_edited_lines_and_counts_truly() {
    runner(3_000)
        .run(&(file(), call()), |(file, call)| {
            let old = model::split_lines(&file).expect("text");
            let edits = call.edits(&old);
            let append = call.append.as_deref().filter(|append| !append.is_empty());
            let Ok(edited) = model::edits::edit(&file, &edits, append) else { return Ok(()) };
            prop_assert_eq!(i64::try_from(edited.total), Ok(model::count(&edited.bytes)));

            // Up to the line before the first edited one: its break may be mended. After the last one: all.
            let size =
                |lines: &[model::Line]| lines.iter().map(|l| l.text.len() + l.brk.len()).sum::<usize>();
            let touched = |edit: &Edit| usize::try_from(edit.line).expect("valid").min(old.len());
            let first = edits.iter().map(touched).chain(append.map(|_| old.len())).min();
            let Some(first) = first else {
                prop_assert_eq!(edited.bytes, file);
                return Ok(());
            };
            let bom = if file.starts_with(BOM) { BOM.len() } else { 0 };
            let kept = bom + size(&old[..first.saturating_sub(1)]);
            prop_assert_eq!(&edited.bytes[..kept], &file[..kept]);
            if append.is_none() {
                let behind = |edit: &Edit| match edit.end_line {
                    Some(end) => usize::try_from(end).expect("valid") + 1,
                    None => touched(edit) + usize::from(edit.operation != "insert"),
                };
                let last = edits.iter().map(behind).max();
                let kept = &file[file.len() - size(&old[last.expect("there is one").min(old.len())..])..];
                prop_assert!(edited.bytes.ends_with(kept));
            }
            Ok(())
        })
        .unwrap();
}

#[test]
fn every_edit_does_what_the_model_does_and_a_refused_one_does_nothing() {
    let folder = Folder::new();
    let server = serve(&folder);
    let (seen, cases) = (Seen::default(), Cell::new(0));
    runner(2_000)
        .run(&(option::weighted(0.95, file()), call()), |(file, call)| {
            cases.set(cases.get() + 1);
            let name = format!("case-{}.txt", cases.get());
            if let Some(file) = &file {
                folder.write(&name, file);
            }
            edit_and_compare(&server, &folder, &name, file.as_deref(), &call, &seen).map(drop)
        })
        .unwrap();
    seen.at_least("edited", 1_000);
    seen.at_least("nothing to do", 5);
    for refusal in ["out of range", "not expected", "conflict", "wrong argument"] {
        seen.at_least(refusal, 10);
    }
}

#[test]
fn one_edit_after_another_on_one_file_leaves_what_the_model_leaves() {
    let folder = Folder::new();
    let server = serve(&folder);
    let (seen, cases) = (Seen::default(), Cell::new(0));
    runner(150)
        .run(&(option::weighted(0.8, file()), vec(call(), 2..12)), |(mut file, calls)| {
            cases.set(cases.get() + 1);
            let name = format!("sequence-{}.txt", cases.get());
            if let Some(file) = &file {
                folder.write(&name, file);
            }
            for call in &calls {
                let then = edit_and_compare(&server, &folder, &name, file.as_deref(), call, &seen)?;
                file = folder.path().join(&name).exists().then_some(then);
            }
            Ok(())
        })
        .unwrap();
    seen.at_least("edited", 400);
}

#[test]
fn every_range_of_a_file_that_is_rewritten_between_reads_is_what_the_model_reads() {
    let folder = Folder::new();
    let server = serve(&folder);
    runner(60)
        .run(&file(), |file| {
            folder.write(NAME, &file);
            let lines = model::split_lines(&file).expect("text").len();
            let numbers: Vec<Option<i64>> =
                (-1..i64::try_from(lines).expect("a count fits") + 2).map(Some).chain([None]).collect();
            for start in &numbers {
                for end in &numbers {
                    let answer = server
                        .tool("read_file", json!({ "name": NAME, "start_line": start, "end_line": end }));
                    match model::read(NAME, &file, *start, *end) {
                        Ok(text) => {
                            prop_assert_eq!(&answer.text, &text);
                            prop_assert!(!answer.is_error);
                        }
                        Err(error) => {
                            prop_assert!(answer.is_error, "{:?} was read as {}", error, answer.text);
                            prop_assert!(
                                error.is_told_by(NAME, &answer.text),
                                "{:?}: {}",
                                error,
                                answer.text
                            );
                        }
                    }
                }
            }
            Ok(())
        })
        .unwrap();
}

#[test]
fn bytes_that_are_not_text_are_refused_by_read_and_edit_and_stay_as_they_are() {
    let bad: Vec<&[u8]> = vec![
        b"\0",
        b"\xFF",
        b"\x80",
        b"\xC0\x80",
        b"\xE0\x80\x80",
        b"\xED\xA0\x80",
        b"\xF4\x90\x80\x80",
        b"\xF0\x9F\x98",
        b"\xC3",
    ];
    let bytes = (file(), prop_oneof![select(bad).prop_map(<[u8]>::to_vec), vec(any::<u8>(), 1..6)], file());
    let (folder, refused) = (Folder::new(), Cell::new(0));
    let server = serve(&folder);
    runner(400)
        .run(&bytes, |(before, bad, after)| {
            let file = [before, bad, after].concat();
            folder.write(NAME, &file);
            let read = server.tool("read_file", json!({ "name": NAME }));
            match model::read(NAME, &file, None, None) {
                Ok(text) => prop_assert_eq!(read.text, text),
                Err(error) => {
                    refused.set(refused.get() + 1);
                    let edit = server.tool("edit_file", json!({ "name": NAME, "append": "more" }));
                    for answer in [read, edit] {
                        prop_assert!(answer.is_error, "{:?}: {}", error, answer.text);
                        prop_assert!(error.is_told_by(NAME, &answer.text), "{:?}: {}", error, answer.text);
                    }
                    prop_assert_eq!(folder.read(NAME), file);
                    let list = server.tool("list_files", json!({})).text;
                    prop_assert!(list.contains(", lines: -1\n"), "{}", list);
                }
            }
            Ok(())
        })
        .unwrap();
    assert!(200 < refused.get(), "only {} files were refused", refused.get());
}

#[test]
fn a_byte_order_mark_that_comes_in_as_text_does_not_make_the_count_wrong() {
    let folder = Folder::new();
    let server = serve(&folder);
    let mark = "\u{FEFF}";
    for (file, edits, append) in [
        ("", json!([]), mark),
        ("a", json!([{ "line": 0, "operation": "replace", "content": mark }]), ""),
        ("a\n\u{FEFF}", json!([{ "line": 0, "operation": "delete" }]), ""),
        ("a\r\nb", json!([{ "line": 0, "operation": "insert", "content": mark }]), ""),
    ] {
        folder.write(NAME, file);
        let answer = server.tool("edit_file", json!({ "name": NAME, "edits": edits, "append": append }));
        let disk = folder.read(NAME);
        assert!(
            answer.text.contains(&format!("\nTotal lines: {}\n", model::count(&disk))),
            "{file:?} {edits}: {}",
            answer.text
        );
        let again = server.tool("read_file", json!({ "name": NAME })).text;
        assert_eq!(Ok(again), model::read(NAME, &disk, None, None), "{file:?} {edits}");
    }
}

#[test]
fn a_thousand_edits_in_one_call_count_and_one_more_is_refused() {
    let folder = Folder::new();
    let server = serve(&folder);
    let file: String = (0..1_500).map(|line| format!("line {line}{}", BREAKS[line % 3])).collect();
    folder.write(NAME, &file);
    let mut edits: Vec<Edit> = (0..1_001)
        .map(|at| {
            let (line, operation) = (at * 7 % 1_499, ["replace", "delete", "insert"][at as usize % 3]);
            let content = (operation != "delete").then(|| format!("new {at}\r\nand é"));
            Edit { line, end_line: None, operation, content, expect: None }
        })
        .collect();
    let send = |edits: &[Edit]| {
        let edits: Vec<Value> = edits.iter().map(Edit::json).collect();
        server.tool("edit_file", json!({ "name": NAME, "edits": edits }))
    };
    let refused = send(&edits);
    assert!(refused.is_error && ModelError::Arguments.is_told_by(NAME, &refused.text), "{}", refused.text);
    assert_eq!(folder.read(NAME), file.as_bytes());

    edits.pop();
    let edited = model::edits::edit(file.as_bytes(), &edits, None).unwrap();
    let answer = send(&edits);
    assert!(!answer.is_error, "{}", answer.text);
    assert!(folder.read(NAME) == edited.bytes, "the bytes differ");
}
