//! Benches from the bytes of a request to a parsed call, and from a file to the bytes of an answer.

use std::hint::black_box;
use std::time::{Duration, Instant, SystemTime};

use ::folder::NamePolicy;
use criterion::{BenchmarkId, Criterion, Throughput};
use engine::Workspace;
use file_editor::exec::Task;
use file_editor::protocol::{BLOCK, Input, Message, Pulled, Service, ServiceOptions, Session, Step, parse};
use file_editor::tools::sets;
use serde_json::{Value, json};

use super::folder::{self, Folder};
use super::texts::{SIZES, text};

pub(crate) fn bench(criterion: &mut Criterion) {
    envelope(criterion);
    call(criterion);
    answer(criterion);
}

/// Parses only the JSON-RPC envelope.
fn envelope(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("rpc_parse");
    for (name, line) in requests() {
        let parsed = parse(&line);
        assert!(matches!(parsed, Input::One(Message::Request { method, .. }) if method == "tools/call"));
        group.throughput(Throughput::Bytes(line.len() as u64));
        group.bench_function(name, |bencher| bencher.iter(|| drop(black_box(parse(black_box(&line))))));
    }
}

/// Parses a line into a call.
fn call(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("request_parse");
    let service = service();
    for (name, line) in requests() {
        let mut session = Session::stdio();
        let step = service.mcp(&mut session, &line);
        assert!(matches!(step, Step::Call(pending) if pending.file() == Some("notes.txt")));
        group.throughput(Throughput::Bytes(line.len() as u64));
        group.bench_function(name, |bencher| bencher.iter(|| service.mcp(&mut session, black_box(&line))));
    }
}

fn requests() -> Vec<(&'static str, Vec<u8>)> {
    let edits: Vec<Value> = (0..1_000)
        .map(|line| json!({"line": line, "operation": "replace", "expect": "an old line", "content": "a new line"}))
        .collect();
    let append = |size| json!({"name": "notes.txt", "append": text(size, "\n")});
    vec![
        ("read", request("read_file", &json!({"name": "notes.txt", "start_line": 10, "end_line": 99}))),
        ("append_1KB", request("edit_file", &append(1 << 10))),
        ("append_1MB", request("edit_file", &append(1 << 20))),
        ("1000_edits", request("edit_file", &json!({"name": "notes.txt", "edits": edits}))),
    ]
}

fn request(tool: &str, arguments: &Value) -> Vec<u8> {
    let params = json!({"name": tool, "arguments": arguments});
    json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params}).to_string().into_bytes()
}

fn service() -> Service {
    Service::new(ServiceOptions {
        tools: sets::offer(&sets::choose("lines,exact").expect("sets"), None),
        read_only: false,
        structured: false,
        names: NamePolicy::Portable,
        folders: Default::default(),
        answer_limit: None,
        answer_tokens: 0,
        records: false,
        timeout: 10,
        clock: SystemTime::now,
    })
}

/// A read from the request line to the last byte of the answer, without the pipe; the index is cached.
fn answer(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("read_answer");
    let service = service();
    let folder = Folder::new();
    for (size_name, size) in SIZES {
        let text = text(size, "\n");
        folder.write(size_name, &text);
        folder::rest();
        let workspace = folder.open();
        let line = request("read_file", &json!({"name": size_name}));
        let mut answer = Vec::new();
        answer_blocks(&service, &workspace, &line, &mut |block| answer.extend_from_slice(block));
        let answer: Value = serde_json::from_slice(&answer).expect("JSON");
        let said = answer["result"]["content"][0]["text"].as_str().expect("a text");
        assert!(said.ends_with(text.trim_end_matches('\n')), "{size_name}");
        group.throughput(Throughput::Bytes(size as u64));
        group.bench_function(BenchmarkId::from_parameter(size_name), |bencher| {
            bencher.iter(|| {
                answer_blocks(&service, &workspace, &line, &mut |block| {
                    black_box(block);
                })
            });
        });
    }
}

fn answer_blocks(service: &Service, workspace: &Workspace, line: &[u8], each: &mut dyn FnMut(&[u8])) {
    let Step::Call(call) = service.mcp(&mut Session::stdio(), line) else { panic!("no call") };
    let task = Task::new(call, Duration::from_secs(60), Instant::now());
    let mut answer = task.run_now(workspace).or_else(|| task.run(workspace)).expect("an answer");
    let mut block = vec![0; BLOCK];
    loop {
        let (len, pulled) = answer.pull(&mut block);
        each(&block[..len]);
        match pulled {
            Pulled::More => {}
            Pulled::Done => return,
            Pulled::Cut => panic!("the file has not changed"),
        }
    }
}
