//! Measures the musts of contract 9 on the real binary, over both transports.
//!
//! Each load runs once before it is timed, and its complete result is checked. Timed runs check only the
//! length of the answer, or its first words.

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::figures::{self, Growth};
use super::folder::{Folder, folder_of, replaced, rest};
use super::server::{BINARY, Over, Server, call};
use super::table::Row;
use super::texts::{SIZES, text};

const EDITED: &str = "File edited successfully";

/// All musts. With `once`, every load runs without repetition.
pub(crate) fn measure(once: bool) -> Vec<Row> {
    let loads = Loads { once, files: files() };
    let mut rows = Vec::new();
    for over in [Over::Stdio, Over::Http] {
        rows.extend(loads.start_and_stop(over));
        rows.extend([100, 1_000].iter().flat_map(|&count| loads.list(over, count)));
        rows.extend([
            loads.read(over, "1KB", 1, 5.0, 1_000),
            loads.read(over, "1MB", 1, 50.0, 100),
            loads.read(over, "1MB", 10, 50.0, 100),
            loads.edit(over, "1 MB", 1, 1, 100),
            loads.edit(over, "1 MB, 5 at once, 5 files", 5, 5, 100),
            loads.edit(over, "1 MB, 5 at once, one file", 5, 1, 100),
            loads.exact(over, 100),
            loads.idle(over),
        ]);
        for megabytes in [1, 10] {
            rows.extend(loads.memory(over, megabytes));
        }
    }
    rows.push(loads.processes());
    rows.extend(binary());
    rows
}

/// One folder with the files to read: ten of each size.
fn files() -> Folder {
    let folder = Folder::new();
    for (size_name, size) in SIZES {
        let text = text(size, "\n");
        (0..10).for_each(|nth| folder.write(&name(size_name, nth), &text));
    }
    rest();
    folder
}

fn name(size: &str, nth: usize) -> String {
    format!("{size}-{nth}.txt")
}

struct Loads {
    once: bool,
    files: Folder,
}

impl Loads {
    fn row(
        &self,
        must: &str,
        over: Over,
        target: f64,
        unit: &'static str,
        n: usize,
        sample: impl FnMut() -> f64,
    ) -> Row {
        let n = if self.once { 1 } else { n };
        let samples = std::iter::repeat_with(sample).take(n).collect();
        Row { must: must.into(), over: over.name(), target, unit, samples, note: String::new() }
    }

    fn dir(&self) -> &Path {
        self.files.path()
    }

    fn start_and_stop(&self, over: Over) -> [Row; 3] {
        let start = || {
            let mut server = None;
            millis(|| server = Some(Server::start(over, self.dir())))
        };
        let stop = || {
            let mut server = Server::start(over, self.dir());
            at_once(&mut server, &self.reads("1MB", 10), |_| true);
            server.stop().as_secs_f64() * 1_000.0
        };
        // 100 MB that the client does not read fill every pipe and socket.
        let stop_unread = || {
            let mut server = Server::start(over, self.dir());
            server.send(&self.reads("10MB", 10));
            thread::sleep(Duration::from_millis(50));
            server.stop().as_secs_f64() * 1_000.0
        };
        [
            self.row("start to the first answer", over, 100.0, "ms", 10, start),
            self.row("stop on SIGTERM, nothing in work", over, 2_000.0, "ms", 10, stop),
            self.row("stop on SIGTERM, answers that nobody takes", over, 2_000.0, "ms", 3, stop_unread),
        ]
    }

    /// The first listing of a process, and later ones.
    fn list(&self, over: Over, count: usize) -> [Row; 2] {
        let folder = folder_of(count);
        let requests = [call(0, "list_files", &json!({}))];
        let listed = |answer: &[u8]| contains(answer, &format!("Total files: {count}"));
        let mut server = Server::start(over, folder.path());
        at_once(&mut server, &requests, |answer| {
            listed(answer)
                && text_of(answer).matches(", lines: ").count() == count
                && !contains(answer, "lines: -1")
        });
        let first = || {
            let mut server = Server::start(over, folder.path());
            millis(|| at_once(&mut server, &requests, listed))
        };
        [
            self.row(&format!("list {count} files, first"), over, 20.0, "ms", 30, first),
            self.row(&format!("list {count} files, again"), over, 20.0, "ms", 1_000, || {
                millis(|| at_once(&mut server, &requests, listed))
            }),
        ]
    }

    fn reads(&self, size: &str, at_once: usize) -> Vec<String> {
        (0..at_once).map(|nth| call(nth, "read_file", &json!({"name": name(size, nth)}))).collect()
    }

    /// Sends `number` reads at once, each of another file.
    fn read(&self, over: Over, size: &str, number: usize, target: f64, n: usize) -> Row {
        let mut server = Server::start(over, self.dir());
        let requests = self.reads(size, number);
        let content = self.files.read(&name(size, 0));
        let mut len = 0;
        at_once(&mut server, &requests, |answer| {
            len = answer.len();
            text_of(answer).ends_with(content.trim_end_matches('\n'))
        });
        let must = format!("read {}{}", spaced(size), if number > 1 { ", 10 at once" } else { "" });
        self.row(&must, over, target, "ms", n, || {
            millis(|| at_once(&mut server, &requests, |answer| answer.len() == len))
        })
    }

    /// Durable edits: one line per request, a different one each time, in files that only this load uses.
    fn edit(&self, over: Over, what: &str, number: usize, files: usize, n: usize) -> Row {
        let folder = Folder::new();
        let before = text(1 << 20, "\n");
        (0..files).for_each(|nth| folder.write(&name("1MB", nth), &before));
        let mut server = Server::start(over, folder.path());
        let requests = |round: usize| -> Vec<String> {
            let edit = |nth| edit_of(nth, &name("1MB", nth % files), 5_000 + nth, &content(nth, round));
            (0..number).map(edit).collect()
        };
        at_once(&mut server, &requests(0), |answer| contains(answer, EDITED));
        let expected = (0..number).filter(|nth| nth % files == 0);
        let expected = expected.fold(before, |text, nth| replaced(&text, 5_000 + nth, &content(nth, 0)));
        assert_eq!(folder.read(&name("1MB", 0)), expected);
        let mut round = 0;
        self.row(&format!("edit {what}"), over, 100.0, "ms", n, || {
            round += 1;
            let requests = requests(round);
            millis(|| at_once(&mut server, &requests, |answer| contains(answer, EDITED)))
        })
    }

    /// One durable edit of exact text, always the last line.
    fn exact(&self, over: Over, n: usize) -> Row {
        let folder = Folder::new();
        let before = text(1 << 20, "\n");
        folder.write("exact.txt", &format!("{before}{}\n", content(0, 0)));
        let mut server = Server::start(over, folder.path());
        let mut round = 0;
        let mut edit = || {
            round += 1;
            let edits = json!([{"old_text": content(0, round - 1), "new_text": content(0, round)}]);
            let request = [call(0, "file_edit", &json!({"path": "exact.txt", "edits": edits}))];
            let took =
                millis(|| at_once(&mut server, &request, |answer| contains(answer, r#""isError":false"#)));
            (took, round)
        };
        let (_, round) = edit();
        assert_eq!(folder.read("exact.txt"), format!("{before}{}\n", content(0, round)));
        self.row("exact-text edit of 1 MB", over, 100.0, "ms", n, || edit().0)
    }

    /// Five processes on one folder, each with one concurrent edit of the same file; no edit may be lost.
    fn processes(&self) -> Row {
        let folder = Folder::new();
        folder.write("shared.txt", &text(100 << 10, "\n"));
        let mut servers: Vec<_> = (0..5).map(|_| Server::start(Over::Stdio, folder.path())).collect();
        let mut round = 0;
        self.row("5 processes edit one file of 100 KB", Over::Stdio, 200.0, "ms", 50, || {
            round += 1;
            let requests: Vec<_> =
                (0..5).map(|nth| [edit_of(nth, "shared.txt", 500 + nth, &content(nth, round))]).collect();
            let took = millis(|| {
                servers.iter_mut().zip(&requests).for_each(|(server, request)| server.send(request));
                servers.iter_mut().for_each(|server| assert!(contains(&server.receive(1)[0], EDITED)));
            });
            let after = folder.read("shared.txt");
            let kept = after.lines().skip(500).zip(0..5).filter(|(line, nth)| *line == content(*nth, round));
            assert_eq!(kept.count(), 5, "lost edits");
            took
        })
    }

    /// Memory after the start and one answer.
    fn idle(&self, over: Over) -> Row {
        self.row("idle, resident", over, 5.0, "MB", 5, || {
            let server = Server::start(over, self.dir());
            thread::sleep(Duration::from_millis(50));
            figures::memory(server.pid(), "VmRSS")
        })
    }

    /// Peak memory of a new process for one request, with the mapped file.
    fn memory(&self, over: Over, megabytes: usize) -> [Row; 3] {
        let folder = Folder::new();
        // A little below the limit, because an edit may add bytes.
        folder.write("large.txt", &text((megabytes << 20) - 1_024, "\n"));
        rest();
        let read = || call(0, "read_file", &json!({"name": "large.txt"}));
        let mut round = 0;
        let edit = || {
            round += 1;
            edit_of(0, "large.txt", 5_000, &content(0, round))
        };
        let most = megabytes as f64 + 1.0;
        let marker = std::cell::Cell::new(0);
        folder.write("exact.txt", &format!("{}{}\n", text((megabytes << 20) - 1_024, "\n"), content(0, 0)));
        rest();
        let exact = || {
            let round = marker.replace(marker.get() + 1);
            let edits = json!([{"old_text": content(0, round), "new_text": content(0, round + 1)}]);
            call(0, "file_edit", &json!({"path": "exact.txt", "edits": edits}))
        };
        let what = |what: &str| format!("memory to {what} {megabytes} MB");
        [
            self.growth(&what("read"), over, most, &folder, read),
            self.growth(&what("edit"), over, most, &folder, edit),
            self.growth(&what("edit exact text in"), over, 3.0 * megabytes as f64, &folder, exact),
        ]
    }

    fn growth(
        &self,
        must: &str,
        over: Over,
        most: f64,
        folder: &Folder,
        mut request: impl FnMut() -> String,
    ) -> Row {
        let mut anonymous = 0.0_f64;
        let mut row = self.row(must, over, most, "MB", 5, || {
            let mut server = Server::start(over, folder.path());
            let (request, pid) = ([request()], server.pid());
            let succeeds = |answer: &[u8]| !contains(answer, "Error: ");
            let Growth { resident, anonymous: own } =
                figures::growth(pid, || at_once(&mut server, &request, succeeds));
            anonymous = anonymous.max(own);
            resident
        });
        row.note = format!(", of it its own at most {anonymous:.2} MB");
        row
    }
}

fn binary() -> [Row; 2] {
    let shipped = figures::shipped(BINARY);
    let row = |must: &str, target, unit, figure, note: &str| Row {
        must: must.into(),
        over: "",
        target,
        unit,
        samples: vec![figure],
        note: note.into(),
    };
    let libraries = f64::from(u8::from(!shipped.is_static));
    [
        row("binary, stripped", 10.0, "MB", shipped.size, ""),
        row("binary, linked to anything shared", 0.0, "", libraries, ""),
    ]
}

/// Sends all requests, then receives all answers; each must satisfy `expected`.
fn at_once(server: &mut Server, requests: &[String], mut expected: impl FnMut(&[u8]) -> bool) {
    server.send(requests);
    for answer in server.receive(requests.len()) {
        assert!(expected(answer), "{:.400}", String::from_utf8_lossy(answer));
    }
}

fn edit_of(nth: usize, name: &str, line: usize, content: &str) -> String {
    let edits = json!([{"line": line, "operation": "replace", "content": content}]);
    call(nth, "edit_file", &json!({"name": name, "edits": edits}))
}

/// The text of one edit of one round, which differs from the text before.
fn content(nth: usize, round: usize) -> String {
    format!("edit {nth} of round {round}")
}

fn millis(work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_secs_f64() * 1_000.0
}

fn contains(answer: &[u8], words: &str) -> bool {
    memchr::memmem::find(answer, words.as_bytes()).is_some()
}

/// The text of a tool result.
fn text_of(answer: &[u8]) -> String {
    let answer: Value = serde_json::from_slice(answer).expect("JSON");
    answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
}

/// `1KB` with a space.
fn spaced(size: &str) -> String {
    size.replace("KB", " KB").replace("MB", " MB")
}
