//! Benches of the pure cores by size: no file, no lock, no socket.

use std::hint::black_box;
use std::ops::Range;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput};
use file_editor::protocol::BLOCK;
use folder::Control;
use text::budget::Budget;
use text::escape::{Breaks, Escaper};
use text::line_edit::{LineEdit, LineEdits, Operation, plan as plan_line_edits};
use text::lines::LineIndex;
use text::text_edit::{TextEdit, TextEdits, TextLimits, plan as plan_text_edits};

use super::texts::{SIZES, text};

pub(crate) fn bench(criterion: &mut Criterion) {
    index(criterion);
    escape(criterion);
    range(criterion);
    line_edits(criterion);
    splice(criterion);
    text_edits(criterion);
}

fn index(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("index");
    for (breaks, brk) in [("lf", "\n"), ("crlf", "\r\n")] {
        for (size_name, size) in SIZES {
            let text = text(size, brk);
            let index = index_of(&text);
            assert_eq!((index.len_lines(), index.len_bytes()), (text.matches(brk).count(), size));
            group.throughput(Throughput::Bytes(size as u64));
            group.bench_function(BenchmarkId::new(breaks, size_name), |bencher| {
                bencher.iter(|| LineIndex::build(black_box(text.as_bytes())));
            });
        }
    }
}

fn index_of(text: &str) -> LineIndex {
    LineIndex::build(text.as_bytes()).expect("text")
}

fn escape(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("escape");
    let mut block = vec![0; BLOCK];
    let code = SIZES.map(|(size_name, size)| (format!("code/{size_name}"), text(size, "\n")));
    let others = [
        ("crlf/1MB".to_owned(), text(1 << 20, "\r\n")),
        ("plain/1MB".to_owned(), "x".repeat(1 << 20)),
        // The worst case: every character must be escaped.
        ("quotes/1MB".to_owned(), "\"".repeat(1 << 20)),
    ];
    for (name, text) in code.into_iter().chain(others) {
        let mut json = vec![b'"'];
        escape_blocks(text.as_bytes(), &mut block, |ready| json.extend_from_slice(ready));
        json.push(b'"');
        let read_back: String = serde_json::from_slice(&json).expect("a JSON string");
        assert_eq!(read_back, text.replace("\r\n", "\n"));
        group.throughput(Throughput::Bytes(text.len() as u64));
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                escape_blocks(black_box(text.as_bytes()), &mut block, |ready| {
                    black_box(ready);
                })
            });
        });
    }
}

/// Escapes a whole text as an answer does: block by block into one buffer.
fn escape_blocks(mut rest: &[u8], block: &mut [u8], mut each: impl FnMut(&[u8])) {
    let mut escaper = Escaper::new(Breaks::AsLf);
    while !rest.is_empty() {
        let (taken, ready) = escaper.fill(rest, block).expect("UTF-8");
        each(&block[..ready]);
        rest = &rest[taken..];
    }
    escaper.finish().expect("whole characters");
}

/// Finds up to 100 lines in the middle. Takes the same time for every size above one block.
fn range(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("range");
    for (size_name, size) in SIZES {
        let text = text(size, "\n");
        let index = index_of(&text);
        let lines = middle(index.len_lines(), 100);
        let excerpt = &text[look_up(&index, &lines, &text)];
        let expected: Vec<&str> = text.lines().skip(lines.start).take(lines.len()).collect();
        assert_eq!(excerpt, expected.join("\n"));
        group.bench_function(size_name, |bencher| {
            bencher.iter(|| look_up(black_box(&index), black_box(&lines), &text));
        });
    }
}

fn look_up(index: &LineIndex, lines: &Range<usize>, text: &str) -> Range<usize> {
    let window = index.window(lines);
    index.byte_range(lines, &text.as_bytes()[window.clone()], window.start).expect("lines of this text")
}

/// Up to `count` lines around the middle of `total`.
pub(crate) fn middle(total: usize, count: usize) -> Range<usize> {
    let count = count.min(total);
    let start = (total - count) / 2;
    start..start + count
}

/// Plans line edits of 1 MB.
fn line_edits(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("line_edit_plan");
    let text = text(1 << 20, "\n");
    let index = index_of(&text);
    for count in [1, 1_000] {
        let edits = spread(index.len_lines(), count);
        let planned = plan_line_edits(&index, text.as_bytes(), &edits).expect("valid").expect("this text");
        assert_eq!((planned.lines_modified, planned.total_lines), (count, index.len_lines()));
        group.throughput(Throughput::Elements(count as u64));
        group.bench_function(BenchmarkId::new("1MB", count), |bencher| {
            bencher.iter(|| plan_line_edits(&index, black_box(text.as_bytes()), black_box(&edits)));
        });
    }
}

/// Writes the result of a plan, by number of edits and size.
fn splice(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("splice");
    for (size_name, size, count) in
        [("1KB", 1 << 10, 1), ("1MB", 1 << 20, 1), ("1MB", 1 << 20, 1_000), ("10MB", 10 << 20, 1)]
    {
        let text = text(size, "\n");
        let index = index_of(&text);
        let edits = spread(index.len_lines(), count);
        let planned = plan_line_edits(&index, text.as_bytes(), &edits).expect("valid").expect("this text");
        let mut result = Vec::with_capacity(2 * size);
        planned.plan.write_to(text.as_bytes(), &mut result).expect("memory");
        let replaced =
            std::str::from_utf8(&result).expect("text").lines().filter(|line| *line == REPLACEMENT);
        assert_eq!((replaced.count(), result.len()), (count, planned.plan.len_after(size)));
        group.throughput(Throughput::Bytes(size as u64));
        group.bench_function(BenchmarkId::new(size_name, count), |bencher| {
            bencher.iter(|| {
                result.clear();
                planned.plan.write_to(black_box(text.as_bytes()), &mut result)
            });
        });
    }
}

/// No line of the texts has this text, so every replacement changes something.
const REPLACEMENT: &str = "replaced, and longer than many of the lines were before";

/// `count` replacements, evenly spread over `total` lines.
fn spread(total: usize, count: usize) -> LineEdits {
    let replace = |nth: usize| LineEdit {
        line: (total * (2 * nth + 1) / (2 * count)) as u64,
        end_line: None,
        operation: Operation::Replace { content: REPLACEMENT.into(), expect: None },
    };
    LineEdits { edits: (0..count).map(replace).collect(), append: None }
}

/// Plans exact-text edits: the cost of 1,000 compared with one (contract 9).
fn text_edits(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("text_edit_plan");
    let memory = Budget::new(usize::MAX);
    for (size_name, size) in SIZES {
        let lines: Vec<String> = (0..size / 64).map(|nth| format!("{nth:08} {:.<54}\n", "a line")).collect();
        let text = lines.concat();
        let index = index_of(&text);
        let control = Control::new(Duration::from_secs(3_600));
        let limits = TextLimits { passages: 0, max_bytes: u64::MAX, memory: &memory };
        for count in [1, 1_000].into_iter().filter(|count| *count <= lines.len()) {
            let edit = |nth: usize| TextEdit {
                old_text: lines[lines.len() * (2 * nth + 1) / (2 * count)].clone(),
                new_text: REPLACEMENT.into(),
                occurrences: 1,
            };
            let edits = TextEdits::new((0..count).map(edit).collect());
            let plan = || plan_text_edits(&index, black_box(text.as_bytes()), &edits, limits, &control);
            let planned = plan().expect("found").expect("this text");
            let mut result = Vec::new();
            planned.plan.write_to(text.as_bytes(), &mut result).expect("memory");
            assert_eq!(String::from_utf8_lossy(&result).matches(REPLACEMENT).count(), count);
            group.throughput(Throughput::Elements(count as u64));
            group.bench_function(BenchmarkId::new(size_name, count), |bencher| {
                bencher.iter(|| plan().is_ok());
            });
        }
    }
}
