//! Takes cursors that no server made, and cursors of a server that were changed, also with a valid checksum.
//!
//! Must hold for any bytes, for every tool with cursors:
//! - an answer is a valid tool result within the answer limit, or an error; nothing panics;
//! - a cursor whose checksum is wrong is refused;
//! - the pages that follow come to an end.
//!
//! Input: the tool, whether the checksum is mended, and changes of the bytes of one of its cursors: place, byte.

#![no_main]

use std::sync::OnceLock;
use std::time::{Duration, Instant, SystemTime};

use arbitrary::{Result, Unstructured};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use engine::{Workspace, WorkspaceOptions};
use file_editor::exec::Task;
use file_editor::protocol::{Service, ServiceOptions, Step};
use file_editor::tools::sets;
use folder::NamePolicy;
use folder::fs::atomic::Durability;
use libfuzzer_sys::fuzz_target;
use serde_json::{Value, json};
use tempfile::TempDir;
use xxhash_rust::xxh3::xxh3_64;

const LIMIT: usize = 1024;

/// Bytes of a cursor before the position in it: checksum, call, state.
const NUMBERS: usize = 20;

struct Served {
    _folder: TempDir,
    workspace: Workspace,
    service: Service,
    /// For each call, the tool and the arguments of its second page.
    second_pages: Vec<(&'static str, Value)>,
}

fuzz_target!(|data: &[u8]| {
    static SERVED: OnceLock<Served> = OnceLock::new();
    // It is not an error if the choices end.
    let _ = SERVED.get_or_init(Served::open).take(&mut Unstructured::new(data));
});

impl Served {
    fn open() -> Served {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = |name: &str| folder.path().join(name);
        for n in 0..40 {
            std::fs::create_dir_all(path(&format!("d{n}/é"))).expect("folders");
            std::fs::write(path(&format!("d{n}/é/f")), "x").expect("a file");
        }
        std::fs::write(path("text"), "é漢😀 line\r\n".repeat(200)).expect("a file");
        std::fs::write(path("long"), "a\n".to_owned() + &"é".repeat(3_000) + "\nb\n").expect("a file");
        let options = WorkspaceOptions { durability: Durability::None, ..WorkspaceOptions::default() };
        let workspace = Workspace::open(&[folder.path().into()], options).expect("an open folder");
        let service = Service::new(ServiceOptions {
            tools: sets::offer(&sets::choose("filesystem").expect("a set"), None),
            read_only: false,
            structured: false,
            names: NamePolicy::Portable,
            folders: workspace.folder_paths().clone(),
            answer_limit: Some(LIMIT),
            answer_tokens: 0,
            records: false,
            timeout: 10,
            clock: SystemTime::now,
        });
        let mut served = Served { _folder: folder, workspace, service, second_pages: Vec::new() };
        let calls = [
            ("read_text_file", json!({ "path": "text" })),
            ("read_text_file", json!({ "path": "text", "head": 150 })),
            ("read_text_file", json!({ "path": "text", "tail": 150 })),
            ("read_text_file", json!({ "path": "long", "start_line": 2, "end_line": 3 })),
            ("read_text_file", json!({ "path": "long", "start_line": 2, "line_numbers": true })),
            ("list_directory", json!({ "path": ".", "depth": 3 })),
            ("list_directory_with_sizes", json!({ "path": ".", "sortBy": "size" })),
            ("directory_tree", json!({ "path": "." })),
            ("search_files", json!({ "path": ".", "pattern": "**" })),
        ];
        for (tool, arguments) in calls {
            let next = served.call(tool, &arguments).expect("a page").expect("a second page");
            assert!(next["cursor"].is_string(), "{tool} {next}");
            served.second_pages.push((tool, next));
        }
        served
    }

    /// Takes a changed cursor, and goes on as the answers say.
    fn take(&self, u: &mut Unstructured) -> Result<()> {
        let (tool, mut arguments) = u.choose(&self.second_pages)?.clone();
        let sent = arguments["cursor"].as_str().unwrap_or_default().to_owned();
        let mut bytes = URL_SAFE_NO_PAD.decode(&sent).expect("base64");
        let is_mended = u.arbitrary()?;
        match u.int_in_range(0..=3)? {
            // A position of any bytes.
            0 => {
                bytes.truncate(NUMBERS);
                bytes.extend_from_slice(u.bytes(u.len().min(200))?);
            }
            1 => bytes = u.bytes(u.len().min(200))?.to_vec(),
            _ => {
                for _ in 0..u.int_in_range(0..=6)? {
                    let at = u.choose_index(bytes.len())?;
                    bytes[at] = u.arbitrary()?;
                }
            }
        }
        if bytes.is_empty() {
            // An empty cursor counts as absent.
            return Ok(());
        }
        if let (true, Some((sum, body))) = (is_mended, bytes.split_first_chunk_mut::<4>()) {
            *sum = (xxh3_64(body) as u32).to_le_bytes();
        }
        let is_ours = bytes
            .split_first_chunk::<4>()
            .is_some_and(|(sum, body)| *sum == (xxh3_64(body) as u32).to_le_bytes());
        arguments["cursor"] = json!(URL_SAFE_NO_PAD.encode(&bytes));
        let mut page = self.call(tool, &arguments);
        assert!(is_ours || page.is_none(), "{tool} took {arguments}");
        for _ in 0..200 {
            let Some(Some(next)) = page else { return Ok(()) };
            page = self.call(tool, &next);
        }
        panic!("{tool} does not end after {arguments}");
    }

    /// Makes a call. Returns the arguments of the next page, if there is one; `None` if the call is refused.
    fn call(&self, tool: &str, arguments: &Value) -> Option<Option<Value>> {
        let body = arguments.to_string();
        let answer = match self.service.posted(tool, body.as_bytes()) {
            Step::Call(call) => {
                let task = Task::new(call, Duration::from_secs(10), Instant::now());
                task.control.allow_waiting();
                task.run(&self.workspace).expect("an answer")
            }
            Step::Answer(answer) => answer,
            _ => panic!("neither a call nor an answer"),
        };
        let bytes = answer.collect().expect("no other program changes the file");
        let result: Value = serde_json::from_slice(&bytes).expect("JSON");
        let text = result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text: {result}"));
        if result["isError"] == json!(true) {
            let (is_wrong, is_stale) =
                (text.starts_with("Error: Invalid arguments: cursor"), text.contains("was changed"));
            assert!(is_wrong || is_stale, "{text}");
            return None;
        }
        assert!(text.len() <= LIMIT, "{} bytes", text.len());
        Some(result["_meta"].get("file-editor/truncated").map(|truncated| truncated["next"].clone()))
    }
}
