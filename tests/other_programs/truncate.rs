//! Files that other programs truncate, grow, rewrite in place, replace and delete while they are read and edited
//! (contract 8, a crash from outside): the server lives, every answer is valid JSON and UTF-8, and one that claims success
//! is a state that the file really had.
//!
//! Every line of a file names the version of the file and its own number, so that a text shows what it is made of.

use std::fs::File;
use std::io::Write;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use serde_json::{Value, json};

use crate::support::{
    Folder, Http, Mcp, PATIENCE, Random, Stdio, post_bytes, read_call, request, while_others,
};

/// Rounds a transport and an interface; four of these make well over 2,000.
const ROUNDS: usize = 700;
const LARGE: usize = 50 * 1_048_576;
const FLAGS: [&str; 3] = ["--max-size=100", "--sync=none", "--timeout=60"];

/// Bytes of a line with its break; a power of two, so that pages end where lines do.
const LINE: usize = 32;
/// As long as every other line.
const MARK: &str = "inserted by the server, 31 long";

/// Lines of one version, `bytes` long; the last line may be cut.
fn content(version: u64, bytes: usize) -> Vec<u8> {
    let mut text = Vec::with_capacity(bytes + LINE);
    for number in 0..bytes.div_ceil(LINE) {
        let _ = writeln!(text, "version {version:08} ä {number:011}");
    }
    text.truncate(bytes - bytes % LINE);
    text
}

/// Whether these are lines that follow each other, of one version, or the front of a newer one and the rest of an
/// older: the content of a file during a rewrite from its front. Lines that the server inserted are left out.
fn is_a_state(lines: &str) -> Result<(), String> {
    let mut last: Option<(u64, u64)> = None;
    for line in lines.lines().filter(|line| *line != MARK) {
        let parts = line.strip_prefix("version ").and_then(|rest| rest.split_once(" ä "));
        let parts = parts.and_then(|(version, number)| Some((version.parse().ok()?, number.parse().ok()?)));
        let (version, number): (u64, u64) = parts.ok_or_else(|| format!("no line of ours: {line:.80}"))?;
        if let Some((before, at)) = last
            && (version > before || version == before && number != at + 1)
        {
            return Err(format!("line {number} of version {version} follows line {at} of version {before}"));
        }
        last = Some((version, number));
    }
    Ok(())
}

/// Another program that changes the file `f`: each call makes one change.
struct Vandal<'f> {
    folder: &'f Folder,
    random: Random,
    version: u64,
    most: usize,
    /// The file that it changed in place last, which may hold a torn state.
    touched: u64,
    edits_found: &'f AtomicUsize,
    /// Calls that the client has begun; and how many of them to wait for at most before the next act.
    calls: &'f AtomicUsize,
    patience: u64,
}

impl Vandal<'_> {
    fn act_for_the_first_time(&mut self) {
        let bytes = self.bytes();
        self.folder.write("f", content(0, bytes));
    }

    fn act(&mut self) {
        let path = self.folder.path().join("f");
        let next = self.calls.load(Ordering::Relaxed) + self.random.below(self.patience) as usize;
        while self.calls.load(Ordering::Relaxed) < next {
            std::thread::yield_now();
        }
        self.check(&path);
        self.version += 1;
        let bytes = self.bytes();
        let mut touched = 0;
        let mut open = || {
            let file = File::options().write(true).open(&path).ok()?;
            touched = file.metadata().expect("the file").ino();
            Some(file)
        };
        match self.random.below(12) {
            0 | 1 => drop(open().map(|file| file.set_len(0))),
            2 => drop(open().map(|file| file.set_len((bytes / 2 / LINE * LINE) as u64))),
            3 => drop(open().map(|file| file.set_len((bytes / LINE * LINE * 2) as u64))),
            4 | 5 => {
                // In place from the front, over whatever is there.
                let Some(file) = open() else { return };
                let text = content(self.version, file.metadata().map_or(0, |meta| meta.len() as usize));
                let _ = file.write_all_at(&text, 0);
            }
            6 => {
                let Some(file) = open() else { return };
                let middle = file.metadata().map_or(0, |meta| meta.len() / 2);
                let _ = file.write_all_at(b"\xFF\xC3(\xE2\x82", middle);
            }
            7 => drop(std::fs::remove_file(&path)),
            8..10 => {
                let next = self.folder.path().join(".next");
                std::fs::write(&next, content(self.version, bytes)).expect("a file");
                std::fs::rename(next, &path).expect("renamed");
            }
            _ => std::fs::write(&path, content(self.version, bytes)).expect("a file"),
        }
        self.touched = touched;
    }

    /// Half of the sizes are below the size from which files are mapped.
    fn bytes(&mut self) -> usize {
        let most = if self.random.below(2) == 0 { 64 * 1024 } else { self.most };
        1024 + self.random.below(most as u64 - 1024) as usize
    }

    /// A file that the server wrote last holds a state of its own: nothing torn, no hole, no half character.
    fn check(&self, path: &Path) {
        let Ok(bytes) = std::fs::read(path) else { return };
        let untouched = path.metadata().is_ok_and(|meta| meta.ino() != self.touched);
        if untouched && bytes.starts_with(MARK.as_bytes()) {
            let text = std::str::from_utf8(&bytes).expect("the server writes UTF-8");
            is_a_state(text).unwrap_or_else(|problem| panic!("after an edit: {problem}"));
            self.edits_found.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// The arguments of a random read: of all, to the end, from the front, of the middle.
fn range(random: &mut Random) -> Value {
    let (some, more) = (random.below(40), random.below(40));
    match random.below(5) {
        0 => json!({ "name": "f", "start_line": some }),
        1 => json!({ "name": "f", "end_line": some * 100 }),
        2 => json!({ "name": "f", "start_line": some, "end_line": some + more * 50 }),
        _ => json!({ "name": "f" }),
    }
}

/// What a read says that claims success.
fn check_read(head: &str, content: &str, lines: usize) {
    assert!(!content.contains('\0'), "a hole was shown as text");
    is_a_state(content).unwrap_or_else(|problem| panic!("{head}: {problem}"));
    assert_eq!(content.lines().count(), lines, "{head}");
}

/// `(lines 3-7 of 20 total)` or `(20 lines)` as a number of lines.
fn lines_in(head: &str) -> usize {
    let inside = head.rsplit_once('(').expect("a head").1;
    match inside.strip_prefix("lines ") {
        None => inside.split(' ').next().and_then(|n| n.parse().ok()).expect("a number"),
        Some(range) => {
            let (start, end) = range.split(' ').next().and_then(|r| r.split_once('-')).expect("a range");
            end.parse::<usize>().expect("a number") + 1 - start.parse::<usize>().expect("a number")
        }
    }
}

fn edit() -> Value {
    json!({ "name": "f", "edits": [{ "line": 0, "operation": "insert", "content": MARK }], "create_if_missing": false })
}

/// One call over MCP; whether it succeeded.
fn over_mcp(server: &dyn Mcp, random: &mut Random) -> bool {
    if random.below(4) == 0 {
        return !server.tool("edit_file", edit()).is_error;
    }
    let result = server.tool("read_file", range(random));
    if result.is_error {
        let last = result.texts.last().expect("a text");
        assert!(last.starts_with("Error: "), "{last:.200}");
        return false;
    }
    let (head, content) = result.text.split_once("\n\n").expect("a head and a text");
    check_read(head, content, lines_in(head));
    true
}

/// One call over REST, where an answer that cannot be completed is cut; whether it succeeded.
fn over_rest(server: &Http, random: &mut Random) -> bool {
    let mut connection = server.connect();
    if random.below(4) == 0 {
        let mut edit = edit();
        edit["edits"][0]["line"] = json!(1);
        return connection.post("/edit_file", &edit).status == 200;
    }
    let mut arguments = range(random);
    for (_, line) in
        arguments.as_object_mut().expect("arguments").iter_mut().filter(|(key, _)| *key != "name")
    {
        *line = json!(line.as_u64().expect("a line") + 1);
    }
    connection.write(&post_bytes("/read_file", "", arguments.to_string().as_bytes()));
    let Ok(response) = connection.try_read() else { return false };
    let body = response.json();
    if response.status != 200 {
        assert!(body["error"]["message"].is_string(), "{body}");
        return false;
    }
    let content = body["content"].as_str().expect("content");
    let lines = content.lines().count();
    assert!(lines as u64 <= body["total_lines"].as_u64().expect("a number"));
    check_read("over REST", content, lines);
    true
}

/// At least `rounds` calls while a vandal is at work on files of up to `most` bytes: on large ones more slowly, or no call
/// would ever get through.
fn under_attack(folder: &Folder, most: usize, rounds: usize, call: impl Fn(&mut Random) -> bool) {
    const OVER: usize = usize::MAX / 2;
    let (edits_found, calls) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let patience = if most == LARGE { 8 } else { 1 };
    let random = Random::new();
    let mut vandal = Vandal {
        folder,
        random,
        version: 0,
        most,
        touched: 0,
        edits_found: &edits_found,
        calls: &calls,
        patience,
    };
    let mut random = Random::new();
    let (mut succeeded, mut done) = (0, 0);
    vandal.act_for_the_first_time();
    while_others(
        || vandal.act(),
        || {
            // If all calls or no calls succeed, the changes came too rarely or too often to test anything.
            while done < rounds || (succeeded == 0 || succeeded == done) && done < rounds * 50 {
                calls.fetch_add(1, Ordering::Relaxed);
                succeeded += usize::from(call(&mut random));
                done += 1;
            }
            calls.store(OVER, Ordering::Relaxed);
        },
    );
    println!("{succeeded} of {done} succeeded, {} edits looked at", edits_found.into_inner());
    assert!(0 < succeeded && succeeded < done, "{succeeded} of {done} succeeded");
    folder.write("f", content(1, LINE * 3));
}

#[track_caller]
fn lives(server: &dyn Mcp) {
    let text = server.ok("read_file", json!({ "name": "f" }));
    assert!(text.starts_with("File: f (3 lines)\n\nversion 00000001 ä 00000000000\n"), "{text}");
}

#[test]
fn files_changed_under_readers_and_editors_over_stdio_give_true_answers_or_errors() {
    let folder = Folder::new();
    let server = Stdio::start(&folder, &FLAGS);
    for most in [128 * 1024, 2 * 1_048_576] {
        under_attack(&folder, most, ROUNDS, |random| over_mcp(&server, random));
        lives(&server);
    }
}

#[test]
fn files_changed_under_readers_and_editors_over_http_give_true_answers_or_errors() {
    let folder = Folder::new();
    let server = Http::start(&folder, &FLAGS);
    under_attack(&folder, 256 * 1024, ROUNDS, |random| over_mcp(&server, random));
    lives(&server);
    under_attack(&folder, 1_048_576, ROUNDS, |random| over_rest(&server, random));
    lives(&server);
}

#[test]
fn a_file_of_50_mb_changed_under_readers_and_editors_gives_true_answers_or_errors() {
    let folder = Folder::new();
    let (stdio, http) = (Stdio::start(&folder, &FLAGS), Http::start(&folder, &FLAGS));
    under_attack(&folder, LARGE, 40, |random| match random.below(3) {
        0 => over_mcp(&stdio, random),
        1 => over_mcp(&http, random),
        _ => over_rest(&http, random),
    });
    lives(&stdio);
    lives(&http);
}

/// Returns when the process has the file mapped, so that it is reading it.
fn until_mapped(pid: u32, path: &Path) {
    let (path, since) = (path.to_str().expect("UTF-8"), Instant::now());
    let maps = || std::fs::read_to_string(format!("/proc/{pid}/maps")).expect("a process");
    while !maps().contains(path) {
        assert!(since.elapsed() < PATIENCE, "the file is not mapped");
    }
}

#[test]
fn an_answer_of_50_mb_whose_file_is_cut_on_the_way_never_looks_complete() {
    not_under_wine!("looks at what the server has mapped; nothing is mapped there");
    let folder = Folder::new();
    folder.write("f", content(1, LARGE));
    let (stdio, http) = (Stdio::start(&folder, &FLAGS), Http::start(&folder, &FLAGS));
    let cut = || {
        let file = File::options().write(true).open(folder.path().join("f")).expect("the file");
        file.set_len(1_048_576).expect("cut");
    };
    let read = json!({ "name": "f" });
    // The answers are not read at first: what does not fit into pipes and sockets is still in the file.
    let (mut rest, mut mcp) = (http.connect(), http.connect());
    rest.write(&post_bytes("/read_file", "", read.to_string().as_bytes()));
    let call = |id| read_call(id, "f");
    mcp.write(&post_bytes("/mcp", "", call(1).to_string().as_bytes()));
    assert_eq!(http.request("ping", json!({}))["result"], json!({}));
    rest.wait_for_bytes();
    mcp.wait_for_bytes();
    cut();
    assert!(rest.try_read().is_err(), "a REST answer that looks complete");
    let answer = mcp.read().json();
    assert_eq!(answer["result"]["isError"], true);
    let texts = answer["result"]["content"].as_array().expect("content");
    assert_eq!(texts[1]["text"].as_str().map(|text| text.starts_with("Error: ")), Some(true), "{}", texts[1]);

    // A direct method on stdio cannot report a change after its answer has begun: it checks before.
    for _ in 0..5 {
        folder.write("f", content(1, LARGE / 5));
        stdio.send(&request("direct", "read_file", &read));
        until_mapped(stdio.pid(), &folder.path().join("f"));
        cut();
        let answer = stdio.answer_to(&json!("direct"));
        if let Some(content) = answer["result"]["content"].as_str() {
            assert!([LARGE / 5, 1_048_576].contains(&(content.len() + 1)), "{} bytes", content.len());
        } else {
            assert!(answer["error"]["message"].is_string(), "{answer:.400}");
        }
        is_a_state(answer["result"]["content"].as_str().unwrap_or_default()).expect("a state");
    }
}
