//! Compares line edits with the naive model of contract 3 and 4 in `tests/model.rs`.
//!
//! Must hold for any text with any line breaks, any edits, and any block size of the index:
//! - a call fails exactly if the model fails, with the same error;
//! - otherwise the bytes written, `lines_modified` and `total_lines` equal the model's;
//! - the plan knows the length and the number of lines of its result, and whether it changes anything.
//!
//! Input: see `Input`. Arguments that the tools refuse before the engine are omitted.

#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use text::Error;
use text::line_edit::{LineEdit, LineEdits, Operation, Planned, plan as plan_line_edits};
use text::lines::LineIndex;

#[allow(dead_code)]
#[path = "../../tests/model.rs"]
mod model;

use model::{BOM, Edit, Edited, ModelError};

#[derive(Arbitrary, Debug)]
struct Input {
    shift: u8,
    bom: bool,
    file: Text,
    append: Option<Text>,
    edits: Vec<Wish>,
}

/// Lines with any breaks; the last line may have none.
#[derive(Arbitrary, Debug)]
struct Text {
    lines: Vec<(Word, Break)>,
    open: bool,
}

#[derive(Arbitrary, Debug, Clone, Copy)]
enum Word {
    Empty,
    A,
    B,
    Accent,
    Emoji,
    Mark,
    Long,
}

#[derive(Arbitrary, Debug, Clone, Copy)]
enum Break {
    Lf,
    CrLf,
    Cr,
}

/// One edit, before the length of the file is known.
#[derive(Arbitrary, Debug)]
struct Wish {
    kind: Kind,
    at: Place,
    /// How many lines more a change takes.
    more: u8,
    expect: Expect,
    content: Text,
}

#[derive(Arbitrary, Debug, Clone, Copy)]
enum Kind {
    Replace,
    Insert,
    Delete,
}

#[derive(Arbitrary, Debug, Clone, Copy)]
enum Place {
    Inside(u8),
    /// This many lines past the end.
    End(u8),
    Far(u64),
}

#[derive(Arbitrary, Debug, Clone, Copy)]
enum Expect {
    Nothing,
    Right,
    Wrong,
}

fuzz_target!(|input: Input| {
    let mut file = if input.bom { BOM.to_vec() } else { Vec::new() };
    file.extend_from_slice(input.file.text().as_bytes());
    let old = model::split_lines(&file).expect("text");
    let edits: Vec<Edit> = input.edits.iter().map(|wish| wish.edit(&old)).collect();
    let append = input.append.as_ref().map(Text::text);

    let index = LineIndex::build_with(&file, u32::from(input.shift % 7)).expect("text");
    let call = LineEdits { edits: edits.iter().map(line_edit).collect(), append: append.clone() };
    let planned = plan_line_edits(&index, &file, &call).map(|plan| plan.expect("the index fits"));
    match (planned, model::edits::edit(&file, &edits, append.as_deref())) {
        (Ok(planned), Ok(edited)) => compare(&file, &planned, &edited),
        (Err(error), Err(expected)) => {
            assert!(is(&error, &expected), "{file:?}\n{edits:?}\n{error:?}\nthe model: {expected:?}");
        }
        (planned, expected) => panic!("{file:?}\n{edits:?} {append:?}\n{planned:?}\nthe model: {expected:?}"),
    }
});

fn compare(file: &[u8], planned: &Planned, edited: &Edited) {
    let mut bytes = Vec::new();
    planned.plan.write_to(file, &mut bytes).expect("a vector takes all");
    let shown = |bytes| String::from_utf8_lossy(bytes).into_owned();
    assert_eq!(shown(&bytes), shown(&edited.bytes), "of {:?}", shown(file));
    assert_eq!((planned.lines_modified, planned.total_lines), (edited.modified, edited.total));
    assert_eq!(planned.plan.len_after(file.len()), bytes.len());
    assert_eq!(planned.plan.changes_nothing(), bytes == file);
    let index = LineIndex::build_with(&bytes, 3).expect("the result is text");
    index.assert_describes(&bytes);
    assert_eq!(index.len_lines(), planned.total_lines, "{:?} of {:?}", shown(&bytes), shown(file));
}

fn is(error: &Error, expected: &ModelError) -> bool {
    let same = |line: u64, other: i64| i64::try_from(line) == Ok(other);
    match (error, expected) {
        (
            Error::LineOutOfRange { line, operation, .. },
            ModelError::OutOfRange { line: other, operation: name },
        ) => same(*line, *other) && operation == name,
        (Error::NotAsExpected { line, actual, .. }, ModelError::NotExpected { line: other, now }) => {
            same(*line, *other) && actual == now
        }
        (Error::Conflict { line }, ModelError::Conflict { lines }) => {
            lines.iter().any(|other| same(*line, *other))
        }
        _ => false,
    }
}

impl Text {
    fn text(&self) -> String {
        let mut all = String::new();
        for (at, (word, brk)) in self.lines.iter().enumerate() {
            all.push_str(match word {
                Word::Empty => "",
                Word::A => "a",
                Word::B => "b b",
                Word::Accent => "é漢",
                Word::Emoji => "😀",
                Word::Mark => "\u{FEFF}",
                Word::Long => "a line longer than the smaller blocks of the index are",
            });
            if !self.open || at + 1 < self.lines.len() {
                all.push_str(match brk {
                    Break::Lf => "\n",
                    Break::CrLf => "\r\n",
                    Break::Cr => "\r",
                });
            }
        }
        all
    }
}

impl Wish {
    fn edit(&self, old: &[model::Line]) -> Edit {
        let line = match self.at {
            Place::Inside(at) => u64::from(at) % old.len().max(1) as u64,
            Place::End(past) => old.len() as u64 + u64::from(past % 8),
            // Up to four lines are added, and the model's numbers are signed.
            Place::Far(line) => line % (i64::MAX as u64 - 4),
        };
        let (operation, content) = match self.kind {
            Kind::Replace => ("replace", Some(self.content.text())),
            Kind::Insert => ("insert", Some(self.content.text())),
            Kind::Delete => ("delete", None),
        };
        let more = if operation == "insert" { 0 } else { u64::from(self.more % 4) };
        let last = line.saturating_add(more);
        let now = old.get(line as usize..=last as usize).map(model::joined).unwrap_or_default();
        let expect = match self.expect {
            Expect::Nothing => None,
            Expect::Right => Some(now),
            Expect::Wrong => Some(now + "?"),
        };
        let end_line = (0 < more).then_some(last as i64);
        Edit { line: line as i64, end_line, operation, content, expect }
    }
}

fn line_edit(edit: &Edit) -> LineEdit {
    let (content, expect) = (edit.content.clone().unwrap_or_default(), edit.expect.clone());
    let operation = match edit.operation {
        "replace" => Operation::Replace { content, expect },
        "insert" => Operation::Insert { content, expect },
        _ => Operation::Delete { expect },
    };
    let end_line = edit.end_line.map(|line| line as u64);
    LineEdit { line: edit.line as u64, end_line, operation }
}
