//! Benches of one folder: read, list and edit by size, in the engine, without a protocol.
//!
//! *Cold*: the workspace has not read the file yet, but the page cache holds it. *Warm*: its index is cached.

use std::fs::{self, File};
use std::hint::black_box;
use std::path::Path;
use std::thread;
use std::time::Duration;

use criterion::{BatchSize, BenchmarkId, Criterion, Throughput};
use engine::{LineRange, Workspace, WorkspaceOptions};
use folder::fs::atomic::Durability;
use folder::{Control, FilePath};
use tempfile::TempDir;
use text::line_edit::{LineEdit, LineEdits, Operation};

use super::cores::middle;
use super::texts::{SIZES, text};

/// Largest file of the benches, in bytes.
const MAX_BYTES: u64 = 11 << 20;

/// A folder on the disk of the build, not in a file system in memory, so that edits have their real cost.
pub(crate) struct Folder(TempDir);

impl Folder {
    pub(crate) fn new() -> Folder {
        Folder(tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a temporary folder"))
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        fs::write(self.path().join(name), text).expect("a file written");
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path().join(name)).expect("a file read")
    }

    pub(crate) fn open(&self) -> Workspace {
        self.open_with(Durability::Full)
    }

    fn open_with(&self, durability: Durability) -> Workspace {
        let options = WorkspaceOptions { max_bytes: MAX_BYTES, durability, ..WorkspaceOptions::default() };
        Workspace::open(&[self.path().into()], options).expect("a folder")
    }
}

/// Waits until files written just now may be cached, because they are no longer racily clean.
pub(crate) fn rest() {
    thread::sleep(Duration::from_millis(50));
}

pub(crate) fn control() -> Control {
    Control::new(Duration::from_secs(10))
}

pub(crate) fn bench(criterion: &mut Criterion) {
    read(criterion);
    list(criterion);
    edit(criterion);
}

/// Reads an excerpt without copying its bytes; `read_answer` measures the protocol too.
fn read(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("read");
    let folder = Folder::new();
    for (size_name, size) in SIZES {
        let text = text(size, "\n");
        folder.write(size_name, &text);
        rest();
        let workspace = folder.open();
        let name = workspace.parse_path(size_name).expect("a name");
        let lines = middle(text.lines().count(), 100);
        let range = LineRange { start: Some(lines.start as u64), end: Some(lines.end as u64 - 1) };
        let expected = text.lines().skip(lines.start).take(lines.len()).collect::<Vec<_>>().join("\n");
        for (what, range, expected) in
            [("whole", LineRange::default(), text.trim_end_matches('\n')), ("range", range, &expected)]
        {
            let read = |workspace: &Workspace| workspace.read(&name, range, &control()).expect("an excerpt");
            assert_eq!(read(&workspace).bytes(), expected.as_bytes());
            group.bench_function(BenchmarkId::new(format!("{what}_cold"), size_name), |bencher| {
                bencher.iter_batched_ref(|| folder.open(), |cold| drop(read(cold)), BatchSize::PerIteration);
            });
            group.bench_function(BenchmarkId::new(format!("{what}_warm"), size_name), |bencher| {
                bencher.iter(|| drop(black_box(read(&workspace))));
            });
        }
    }
}

fn list(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("list");
    for count in [100, 1_000] {
        let folder = folder_of(count);
        let workspace = folder.open();
        let lines = text(1 << 10, "\n").lines().count();
        let list = |workspace: &Workspace| workspace.list(false, &control()).expect("a listing");
        let listing = list(&workspace);
        assert!(listing.files.len() == count && listing.files.iter().all(|file| file.lines == Some(lines)));
        group.throughput(Throughput::Elements(count as u64));
        group.bench_function(BenchmarkId::new("first", count), |bencher| {
            bencher.iter_batched_ref(|| folder.open(), |first| drop(list(first)), BatchSize::PerIteration);
        });
        group.bench_function(BenchmarkId::new("again", count), |bencher| {
            bencher.iter(|| drop(black_box(list(&workspace))));
        });
    }
}

/// A folder of `count` files of 1 KB.
pub(crate) fn folder_of(count: usize) -> Folder {
    let folder = Folder::new();
    let text = text(1 << 10, "\n");
    for nth in 0..count {
        folder.write(&format!("file-{nth:04}.txt"), &text);
    }
    rest();
    folder
}

/// Edits one line in the middle repeatedly; `floor` does only the disk operations of a durable edit.
fn edit(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("edit");
    group.sample_size(30);
    let folder = Folder::new();
    for (size_name, size) in SIZES {
        let text = text(size, "\n");
        let line = text.lines().count() / 2;
        for (how, durability) in [("durable", Durability::Full), ("not_durable", Durability::None)] {
            folder.write(size_name, &text);
            let workspace = folder.open_with(durability);
            let name = workspace.parse_path(size_name).expect("a name");
            let mut round = 0;
            replace(&workspace, &name, line, &mut round);
            assert_eq!(folder.read(size_name), replaced(&text, line, "round 000001"));
            group.bench_function(BenchmarkId::new(how, size_name), |bencher| {
                bencher.iter(|| replace(&workspace, &name, line, &mut round));
            });
        }
        group.bench_function(BenchmarkId::new("floor", size_name), |bencher| {
            bencher.iter(|| floor(folder.path(), size_name, text.as_bytes()));
        });
    }
}

/// Writes a different text every time, because an edit that changes nothing writes nothing.
fn replace(workspace: &Workspace, name: &FilePath, line: usize, round: &mut usize) {
    *round += 1;
    let operation = Operation::Replace { content: format!("round {round:06}"), expect: None };
    let edits =
        LineEdits { edits: vec![LineEdit { line: line as u64, end_line: None, operation }], append: None };
    let edited = workspace.edit_lines(name, &edits, false, &control()).expect("edited");
    assert_eq!((edited.lines_modified, edited.created), (1, false));
}

/// `text` with the line `line` replaced.
pub(crate) fn replaced(text: &str, line: usize, content: &str) -> String {
    let mut lines: Vec<&str> = text.lines().collect();
    lines[line] = content;
    lines.join("\n") + "\n"
}

fn floor(dir: &Path, name: &str, bytes: &[u8]) {
    let temporary = dir.join(".floor");
    fs::write(&temporary, bytes).expect("written");
    let file = File::open(&temporary).expect("opened");
    file.sync_data().expect("flushed");
    fs::rename(&temporary, dir.join(name)).expect("renamed");
    File::open(dir).and_then(|dir| dir.sync_all()).expect("the folder flushed");
}
