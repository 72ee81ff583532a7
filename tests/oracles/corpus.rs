//! Real input: the sources and documents of this package's own dependencies, some 700 files of many languages,
//! sizes and line endings, up to 50 MB in one file, over both transports, against the naive model (issue 2).
//!
//! Each test works on a folder of its own.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;
use std::time::{Duration, UNIX_EPOCH};

use serde_json::{Value, json};

use super::corpus_files::{BIG, real_files, synthesized};
use crate::model::{self, Edit, Line};
use crate::support::{Direct, Folder, Http, MB, Mcp, Stdio, at_once};

const FLAGS: [&str; 2] = ["--sync=none", "--max-size=100"];

/// Times that the files get, and what list_files makes of them.
const TIMES: [(u64, &str); 3] = [
    (951_782_400, "2000-02-29T00:00:00Z"),
    (1_700_000_000, "2023-11-14T22:13:20Z"),
    (4_102_444_799, "2099-12-31T23:59:59Z"),
];

/// Name to bytes, sorted by name.
static CORPUS: LazyLock<BTreeMap<String, Vec<u8>>> = LazyLock::new(|| {
    let mut corpus = real_files();
    assert!(300 <= corpus.len(), "only {} files in the registry", corpus.len());
    let text: Vec<u8> = corpus.values().filter(|file| 0 <= model::count(file)).flatten().copied().collect();
    corpus.extend(synthesized(&text));
    corpus
});

/// A folder that holds the corpus, with known times.
fn filled() -> Folder {
    let folder = Folder::new();
    for (at, (name, bytes)) in CORPUS.iter().enumerate() {
        folder.write(name, bytes);
        let path = folder.path().join(name);
        let time = UNIX_EPOCH + Duration::new(TIMES[at % 3].0, 400_000_000);
        std::fs::File::options()
            .write(true)
            .open(&path)
            .and_then(|file| file.set_modified(time))
            .expect("dated");
    }
    folder
}

/// The answer's text; equality without printing megabytes.
#[track_caller]
fn assert_same(answer: &str, wanted: &str, what: &str) {
    if answer != wanted {
        let at = answer.bytes().zip(wanted.bytes()).take_while(|(a, w)| a == w).count();
        let around = |text: &str| {
            let bytes = &text.as_bytes()[at.saturating_sub(40).min(text.len())..(at + 80).min(text.len())];
            String::from_utf8_lossy(bytes).into_owned()
        };
        let (is, should) = (around(answer), around(wanted));
        panic!("{what}: differs at byte {at} of {} and {}\n{is:?}\n{should:?}", answer.len(), wanted.len());
    }
}

/// A server on each transport, each with a folder of its own that holds the corpus.
struct Both {
    stdio: (Stdio, Folder),
    http: (Http, Folder),
}

trait Client: Mcp + Direct + Sync {}

impl<T: Mcp + Direct + Sync> Client for T {}

impl Both {
    fn start() -> Both {
        let (one, other) = (filled(), filled());
        Both { stdio: (Stdio::start(&one, &FLAGS), one), http: (Http::start(&other, &FLAGS), other) }
    }

    /// Runs `check` over both transports at once: what the model says is computed once for both.
    fn each(&self, check: impl Fn(&dyn Client, &Folder) + Sync) {
        at_once(|| check(&self.stdio.0, &self.stdio.1), || check(&self.http.0, &self.http.1));
    }
}

fn lists_every_file_with_its_time_and_count(both: &Both) {
    let mut wanted = "Files in directory:\n\n".to_owned();
    for (at, (name, bytes)) in CORPUS.iter().enumerate() {
        let (time, lines) = (TIMES[at % 3].1, model::count(bytes));
        wanted.push_str(&format!("name: {name}, modified: {time}, lines: {lines}\n"));
    }
    wanted.push_str(&format!("\nTotal files: {}", CORPUS.len()));
    both.each(|server, _| {
        for _ in 0..2 {
            assert_same(&server.tool("list_files", json!({})).text, &wanted, "list_files");
        }
    });
}

/// Ranges in a file of so many lines: first, last, middle, across, past the end, from a line, up to a line.
fn ranges(total: usize) -> Vec<(Option<i64>, Option<i64>)> {
    let total = i64::try_from(total).expect("a count fits");
    let (last, middle) = (total - 1, total / 2);
    let mut ranges = vec![(Some(total), None), (Some(total), Some(total + 5)), (None, Some(total / 3))];
    if 0 < total {
        ranges.extend([
            (Some(0), Some(0)),
            (Some(last), Some(last)),
            (Some(last), None),
            (Some(middle), Some(middle + 20)),
            (Some(total / 4), Some(middle)),
            (Some(total.saturating_sub(30).max(0)), Some(total + 1_000)),
        ]);
    }
    ranges
}

fn reads_every_file_whole_and_by_ranges(both: &Both) {
    for (name, bytes) in CORPUS.iter() {
        let Some(lines) = model::split_lines(bytes) else {
            let error = model::read(name, bytes, None, None).expect_err("not text");
            both.each(|server, _| {
                let whole = server.tool("read_file", json!({ "name": name }));
                assert!(whole.is_error && error.is_told_by(name, &whole.text), "{name}: {:.200}", whole.text);
            });
            continue;
        };
        let wanted = model::read_lines(name, &lines, None, None).expect("whole");
        both.each(|server, _| {
            let whole = server.tool("read_file", json!({ "name": name }));
            assert!(!whole.is_error && whole.texts.len() == 1, "{name}: {:.200}", whole.text);
            assert_same(&whole.text, &wanted, name);
        });
        let by_range = |(start, end)| (start, end, model::read_lines(name, &lines, start, end));
        let ranges: Vec<_> = ranges(lines.len()).into_iter().map(by_range).collect();
        both.each(|server, _| {
            for (start, end, wanted) in &ranges {
                let answer =
                    server.tool("read_file", json!({ "name": name, "start_line": start, "end_line": end }));
                match wanted {
                    Ok(text) => assert_same(&answer.text, text, &format!("{name} {start:?}..={end:?}")),
                    Err(error) => assert!(
                        answer.is_error && error.is_told_by(name, &answer.text),
                        "{name} {start:?}..={end:?}: {:.200}",
                        answer.text
                    ),
                }
            }
        });
    }
}

/// Every fifth file, and the large ones, over the interface that counts from 1.
fn reads_a_sample_from_line_1(both: &Both) {
    for (at, (name, bytes)) in CORPUS.iter().enumerate() {
        let Some(lines) = model::split_lines(bytes).filter(|_| at % 5 == 0 || MB < bytes.len()) else {
            continue;
        };
        let (total, middle, wanted) = (lines.len(), lines.len() / 2, model::joined(&lines));
        both.each(|server, _| {
            let whole = server.direct("read_file", json!({ "name": name }));
            assert_same(whole["content"].as_str().expect("content"), &wanted, name);
            assert_eq!(whole["total_lines"], json!(total), "{name}");
            if 0 < total {
                let end = (middle + 9).min(total - 1);
                let range = json!({ "start_line": middle + 1, "end_line": end + 1 });
                let part = server.direct("read_file", with(&range, "name", json!(name)));
                let wanted = model::joined(&lines[middle..=end]);
                assert_same(part["content"].as_str().expect("content"), &wanted, name);
                assert_eq!(
                    (&part["total_lines"], &part["range_requested"]),
                    (&json!(total), &range),
                    "{name}"
                );
            }
        });
    }
}

fn with(object: &Value, key: &str, value: Value) -> Value {
    let mut object = object.clone();
    object[key] = value;
    object
}

/// The edits that a file gets, each in a call of its own: at the top, in the middle, at the end, after it.
fn edits_for(step: usize, lines: &[Line]) -> (Vec<Edit>, Option<&'static str>) {
    let line = |at: usize| i64::try_from(at).expect("a line number fits");
    let edit = |at, operation, content: Option<&str>, expect| Edit {
        line: line(at),
        end_line: None,
        operation,
        content: content.map(str::to_owned),
        expect,
    };
    let middle = lines.len() / 2;
    let now = |at: usize| lines.get(at).map(|line| line.text.clone());
    match step {
        0 => (vec![edit(0, "insert", Some("// at the top: ñ 漢"), None)], None),
        1 if !lines.is_empty() => {
            (vec![edit(middle, "replace", Some("replaced\r\nby 2 lines 😀"), now(middle))], None)
        }
        2 if !lines.is_empty() => (vec![edit(lines.len() - 1, "delete", None, now(lines.len() - 1))], None),
        3 => (Vec::new(), Some("appended\n\nand ended")),
        _ => (Vec::new(), None),
    }
}

fn edits_every_file_as_the_model_does(both: &Both) -> BTreeMap<String, i64> {
    let mut counts = BTreeMap::new();
    for (name, bytes) in CORPUS.iter() {
        let mut file = bytes.clone();
        // The model takes its time for a large file: that one gets an edit in its middle and one at its end.
        let steps: &[usize] = if 10 * MB < bytes.len() { &[1, 3] } else { &[0, 1, 2, 3] };
        for &step in steps {
            let Some(lines) = model::split_lines(&file) else { break };
            let (edits, append) = edits_for(step, &lines);
            let edited = model::edits::edit(&file, &edits, append).expect("a valid edit");
            let sent: Vec<Value> = edits.iter().map(Edit::json).collect();
            let wanted = format!(
                "File edited successfully: {name}\nLines modified: {}\nTotal lines: {}\nFile created: false",
                edited.modified, edited.total
            );
            file = edited.bytes;
            let start = Some(i64::try_from(edited.total / 2).expect("fits"));
            let is_read = 0 < edited.total && file.len() < MB;
            let rest = is_read.then(|| model::read(name, &file, start, None).expect("text"));
            both.each(|server, folder| {
                let answer =
                    server.tool("edit_file", json!({ "name": name, "edits": sent, "append": append }));
                assert_same(&answer.text, &wanted, name);
                let same = folder.read(name) == file;
                assert!(same, "{name}, edit {step}: the bytes on disk are not those of the model");
                if let Some(rest) = &rest {
                    let again = server.tool("read_file", json!({ "name": name, "start_line": start }));
                    assert_same(&again.text, rest, name);
                }
            });
        }
        if let Err(error) = model::edits::edit(&file, &[], Some("more")) {
            both.each(|server, folder| {
                let answer = server.tool("edit_file", json!({ "name": name, "append": "more" }));
                assert!(answer.is_error && error.is_told_by(name, &answer.text), "{name}: {}", answer.text);
                assert!(folder.read(name) == file, "{name}: a refused edit wrote");
            });
        }
        counts.insert(name.clone(), model::count(&file));
    }
    counts
}

fn lists_the_counts_after_the_edits(server: &dyn Client, counts: &BTreeMap<String, i64>) {
    let list = server.tool("list_files", json!({})).text;
    let listed: BTreeMap<String, i64> = list
        .lines()
        .filter_map(|line| {
            let (name, rest) = line.strip_prefix("name: ")?.split_once(", modified: ")?;
            Some((name.to_owned(), rest.split_once(", lines: ")?.1.parse().ok()?))
        })
        .collect();
    let wrong: BTreeSet<_> = listed.iter().filter(|(name, count)| counts.get(*name) != Some(count)).collect();
    assert!(wrong.is_empty() && listed.len() == counts.len(), "listed wrongly after the edits: {wrong:?}");
}

#[test]
fn real_files_are_listed_read_and_edited_over_both_transports_as_a_naive_reading_has_them() {
    not_under_wine!("has a limit of time that such a program does not keep");
    let both = Both::start();
    lists_every_file_with_its_time_and_count(&both);
    reads_every_file_whole_and_by_ranges(&both);
    reads_a_sample_from_line_1(&both);
    let counts = edits_every_file_as_the_model_does(&both);
    both.each(|server, _| lists_the_counts_after_the_edits(server, &counts));
}

#[test]
fn the_corpus_is_large_and_varied() {
    let texts: Vec<&Vec<u8>> = CORPUS.values().filter(|file| 0 <= model::count(file)).collect();
    let having = |what: &dyn Fn(&[Line]) -> bool| {
        texts.iter().filter(|file| file.len() < MB && what(&model::split_lines(file).expect("text"))).count()
    };
    assert!(300 <= texts.len() && texts.len() < CORPUS.len(), "{} of {} are text", texts.len(), CORPUS.len());
    assert!(100 <= having(&|lines| lines.iter().any(|line| line.brk == "\r\n")));
    assert!(10 <= having(&|lines| lines.iter().any(|line| line.brk == "\r")));
    assert!(20 <= having(&|lines| lines.last().is_some_and(|last| last.brk.is_empty())));
    assert!(20 <= having(&|lines| lines.iter().any(|line| !line.text.is_ascii())));
    assert_eq!(CORPUS[BIG].len(), 50 * MB);
}
