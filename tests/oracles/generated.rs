//! What random.rs generates: files, and the arguments of calls of edit_file.

use proptest::collection::vec;
use proptest::prelude::{Just, Strategy, any};
use proptest::sample::select;
use proptest::{option, prop_oneof};

use crate::model::{self, BOM, Edit};

pub(super) const BREAKS: [&str; 3] = ["\n", "\r\n", "\r"];

fn text() -> impl Strategy<Value = String> {
    let word = select(vec!["a", "b", "é", "漢", "😀", "a b", "\t", "\"\\", "\u{2028}", "\u{85}", "\u{b}"]);
    prop_oneof![2 => Just(String::new()), 5 => vec(word, 1..3).prop_map(|words| words.concat())]
}

/// Lines with breaks of one kind or of all, the last one with or without.
fn lines(count: std::ops::Range<usize>) -> impl Strategy<Value = String> {
    let kind = prop_oneof![3 => (0..3_usize).prop_map(Some), 2 => Just(None)];
    (vec((text(), 0..3_usize), count), kind, any::<bool>()).prop_map(|(lines, kind, closed)| {
        let mut all = String::new();
        for (at, (text, own)) in lines.iter().enumerate() {
            all.push_str(text);
            if closed || at + 1 < lines.len() {
                all.push_str(BREAKS[kind.unwrap_or(*own)]);
            }
        }
        all
    })
}

/// A file, now and then with a BOM, now and then with a first line that brings the rest to the edge of a block.
pub(super) fn file() -> impl Strategy<Value = Vec<u8>> {
    let edges = [62, 63, 64, 4094, 4095, 65_533, 65_534, 65_535, 65_536];
    let pad = prop_oneof![15 => Just(0_usize), 1 => select(edges.to_vec())];
    let bom = prop_oneof![4 => Just(&b""[..]), 1 => Just(BOM)];
    (bom, pad, lines(0..9))
        .prop_map(|(bom, pad, lines)| [bom, "p".repeat(pad).as_bytes(), lines.as_bytes()].concat())
}

/// One edit before it is known how long the file is.
#[derive(Clone, Debug)]
struct Wish {
    kind: Kind,
    at: usize,
    content: String,
    expect: Option<bool>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Replace,
    Insert,
    InsertAtEnd,
    Delete,
    Wrong(u8),
}

/// The arguments of one call of edit_file, before it is known how long the file is.
#[derive(Clone, Debug)]
pub(super) struct Call {
    wishes: Vec<Wish>,
    pub(super) append: Option<String>,
    temper: Temper,
}

/// How far line numbers and expectations are kept from being refused.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Temper {
    /// As far as is known beforehand.
    Tame,
    /// In range, but edits may claim the same line or expect another text.
    Clashing,
    /// Any numbers, any expectations.
    Wild,
}

pub(super) fn call() -> impl Strategy<Value = Call> {
    let kind = prop_oneof![
        30 => Just(Kind::Replace),
        25 => Just(Kind::Insert),
        20 => Just(Kind::InsertAtEnd),
        25 => Just(Kind::Delete),
        2 => any::<u8>().prop_map(Kind::Wrong),
    ];
    let expect = option::weighted(0.3, any::<bool>());
    let wish = (kind, 0..64_usize, lines(0..4), expect).prop_map(|(kind, at, content, expect)| Wish {
        kind,
        at,
        content,
        expect,
    });
    let append = option::weighted(0.4, lines(0..4));
    let temper = prop_oneof![6 => Just(Temper::Tame), 1 => Just(Temper::Clashing), 1 => Just(Temper::Wild)];
    (vec(wish, 0..7), append, temper).prop_map(|(wishes, append, temper)| Call { wishes, append, temper })
}

impl Call {
    /// The edits that are sent for a file with these lines.
    pub(super) fn edits(&self, old: &[model::Line]) -> Vec<Edit> {
        let len = old.len();
        let (mut taken, mut ranges, mut inserts) = (Vec::new(), Vec::new(), Vec::new());
        let mut reach = len;
        let mut edits = Vec::new();
        for wish in &self.wishes {
            let slack = if self.temper == Temper::Wild { 2 } else { 0 };
            let (operation, line) = match wish.kind {
                Kind::Replace | Kind::Delete => {
                    let operation = if wish.kind == Kind::Delete { "delete" } else { "replace" };
                    (operation, wish.at % (len + slack).max(1))
                }
                Kind::Insert => ("insert", wish.at % (len + 1 + slack)),
                Kind::InsertAtEnd => ("insert", len + wish.at % (reach - len + 1 + slack)),
                Kind::Wrong(_) => ("replace", wish.at % 4),
            };
            if operation == "insert" && len <= line {
                reach += wish.content.lines().count().max(1);
            }
            let splits = |(first, last): &(usize, usize)| *first < line && line <= *last;
            let mut last = line;
            if operation == "insert" {
                if self.temper == Temper::Tame && ranges.iter().any(splits) {
                    continue;
                }
                inserts.push(line);
            } else {
                let clashes = taken.contains(&line) && self.temper == Temper::Tame;
                if slack == 0 && (len <= line || clashes) {
                    continue;
                }
                // Every third one takes a range, in a tame call as far as others leave room.
                let wanted = if wish.at % 3 == 0 { wish.content.len() % 4 } else { 0 };
                let is_free = |line: &usize| !taken.contains(line) && !inserts.contains(line);
                let room = (line + 1..(len + slack).min(line + 1 + wanted))
                    .take_while(|line| self.temper != Temper::Tame || is_free(line));
                last += room.count();
                taken.extend(line..=last);
                ranges.push((line, last));
            }
            let now = old.get(line..=last).map(model::joined);
            let right = wish.expect.map(|right| right || self.temper == Temper::Tame);
            let expect = right.zip(now).map(|(right, now)| if right { now } else { now + "?" });
            let number = |line: usize| i64::try_from(line).expect("a line number fits");
            let end_line = (line < last).then(|| number(last));
            let content = (operation != "delete").then(|| wish.content.clone());
            let edit = Edit { line: number(line), end_line, operation, content, expect };
            edits.push(if let Kind::Wrong(how) = wish.kind { spoiled(edit, how) } else { edit });
        }
        edits
    }
}

fn spoiled(edit: Edit, how: u8) -> Edit {
    match how % 6 {
        0 => Edit { line: -1, ..edit },
        1 => Edit { operation: "append", ..edit },
        2 => Edit { operation: "delete", ..edit },
        3 => Edit { content: None, ..edit },
        4 => Edit { line: -1, operation: "nothing", ..edit },
        _ => Edit { content: Some("a\0b".to_owned()), ..edit },
    }
}
