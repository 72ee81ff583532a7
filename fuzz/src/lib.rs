//! Shared by `rpc_line` and `calls`: a folder in the same state before every input, services for it, and the
//! checks of every answer.

use std::collections::BTreeMap;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime};

use engine::{Workspace, WorkspaceOptions};
use file_editor::exec::Task;
use file_editor::protocol::{Answer, PendingCall, Service, ServiceOptions, Step};
use file_editor::tools::sets;
use folder::NamePolicy;
use folder::fs::atomic::Durability;
use serde_json::Value;
use serde_json::value::RawValue;
use tempfile::TempDir;

/// Largest file in bytes; `large.txt` exceeds it.
const MAX_BYTES: usize = 4096;

/// The files in the folder before every input.
const FILES: [(&str, &[u8]); 5] = [
    ("a.txt", b"one\ntwo\r\nthree\r\xC3\xA9 \xF0\x9F\x98\x80\n\"last\"\\"),
    ("bom.txt", b"\xEF\xBB\xBFa\nb\n"),
    ("empty.txt", b""),
    ("binary", b"a\0b"),
    ("large.txt", &[b'x'; MAX_BYTES + 1]),
];

/// The members of a JSON object as JSON text.
pub type Members<'j> = BTreeMap<String, &'j RawValue>;

/// Whether `name` has the form of the server's temporary files, or of a file that was set aside for one.
pub fn is_temporary(name: &str) -> bool {
    let rest = name.strip_prefix(".file-editor-tmp-").unwrap_or_default();
    let digits = rest.chars().take_while(|c| "0123456789abcdef".contains(*c)).count();
    let is_set_aside = |end: &str| {
        end == "-old" || end.strip_prefix("-old-").is_some_and(|own| !["", ".", ".."].contains(&own))
    };
    digits == 16 && (rest.len() == 16 || is_set_aside(&rest[16..]))
}

/// A folder and the services for it.
pub struct Served {
    folder: TempDir,
    workspace: Workspace,
    service: Service,
    /// Whether a call may have changed the folder since it was last restored.
    changed: AtomicBool,
}

impl Served {
    /// The service of these options (bit 0 structured, 1 any names, 2 read-only), with its folder restored.
    pub fn fresh(options: u8) -> &'static Served {
        static ALL: [OnceLock<Served>; 8] = [const { OnceLock::new() }; 8];
        let options = options % 8;
        let served = ALL[usize::from(options)].get_or_init(|| Served::open(options));
        served.restore();
        served
    }

    fn open(options: u8) -> Served {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let names = if options & 2 == 0 { NamePolicy::Portable } else { NamePolicy::Any };
        let read_only = options & 4 != 0;
        let (max_bytes, durability) = (MAX_BYTES as u64, Durability::None);
        let may = WorkspaceOptions {
            names,
            max_bytes,
            max_request: max_bytes,
            read_only,
            durability,
            ..WorkspaceOptions::default()
        };
        let workspace = Workspace::open(&[folder.path().into()], may).expect("an open folder");
        let tools = sets::offer(&sets::choose("lines,exact").expect("sets"), None);
        let structured = options & 1 != 0;
        let folders = workspace.folder_paths().clone();
        let (timeout, clock) = (10, SystemTime::now as fn() -> SystemTime);
        let (answer_limit, answer_tokens) = (None, 0);
        let options = ServiceOptions {
            tools,
            read_only,
            structured,
            names,
            folders,
            answer_limit,
            answer_tokens,
            records: false,
            timeout,
            clock,
        };
        let service = Service::new(options);
        Served { folder, workspace, service, changed: AtomicBool::new(true) }
    }

    /// Restores the folder.
    fn restore(&self) {
        if !self.changed.swap(false, Ordering::Relaxed) {
            return;
        }
        let files = self.files();
        let as_it_was = |name: &str| FILES.iter().any(|(old, bytes)| *old == name && files[name] == *bytes);
        for name in files.keys().filter(|name| !as_it_was(name)) {
            std::fs::remove_file(self.folder.path().join(name)).expect("removed");
        }
        for (name, bytes) in FILES.iter().filter(|(name, _)| !files.contains_key(*name) || !as_it_was(name)) {
            std::fs::write(self.folder.path().join(name), bytes).expect("written");
        }
    }

    /// The files in the folder. Fails if a call left a temporary file.
    pub fn files(&self) -> BTreeMap<String, Vec<u8>> {
        let read = |entry: std::io::Result<std::fs::DirEntry>| {
            let path = entry.expect("an entry").path();
            let name = path.file_name().and_then(|name| name.to_str()).expect("a name in UTF-8").to_owned();
            assert!(!is_temporary(&name), "{name} was left behind");
            (name, std::fs::read(&path).expect("a file"))
        };
        std::fs::read_dir(self.folder.path()).expect("the folder").map(read).collect()
    }

    pub fn service(&self) -> &Service {
        &self.service
    }

    /// Carries out `step`. Returns the status and bytes of the answer, if there is one.
    pub fn carry_out(&self, step: Step) -> Option<(u16, Vec<u8>)> {
        let answer = self.answer(step)?;
        let status = answer.status;
        Some((status, answer.collect().expect("no other program changes the file")))
    }

    fn answer(&self, step: Step) -> Option<Answer> {
        match step {
            Step::Silent | Step::Ignored(_) | Step::Cancel(_) => None,
            Step::Answer(answer) => Some(answer),
            Step::Call(pending) => Some(self.run(pending)),
            Step::Batch(steps) => {
                let answers: Vec<Answer> = steps.into_iter().filter_map(|step| self.answer(step)).collect();
                (!answers.is_empty()).then(|| Answer::array(answers))
            }
        }
    }

    /// Runs a call. Its answer without waiting, if there is one, must be its answer with waiting.
    fn run(&self, call: PendingCall) -> Answer {
        let task = Task::new(call, Duration::from_secs(10), Instant::now());
        // The first run breaks off before a wait for another program's write, as in the server.
        let allowed_to_wait = || {
            task.control.allow_waiting();
            task.run(&self.workspace)
        };
        let waited = task.run(&self.workspace).or_else(allowed_to_wait).expect("an answer");
        let status = waited.status;
        let (failed, waited) = (waited.report.is_some(), bytes(waited));
        match task.run_now(&self.workspace) {
            Some(at_once) if at_once.report.is_none() => {
                assert!(!failed, "only at once: {}", String::from_utf8_lossy(&waited));
                assert_eq!(bytes(at_once), waited);
            }
            Some(_) => {}
            // A listing names no file, and an edit never runs without waiting.
            None => _ = self.changed.fetch_or(task.call.file().is_some(), Ordering::Relaxed),
        }
        Answer::ready(status, waited)
    }
}

fn bytes(answer: Answer) -> Vec<u8> {
    answer.collect().expect("no other program changes the file")
}

/// Checks that `bytes` are one JSON-RPC answer with exactly this `id`, and, if it is a tool result, a valid
/// one. Returns whether it is a success.
pub fn assert_answers(bytes: &[u8], id: &str) -> bool {
    let members = members(bytes);
    assert_eq!(members.get("jsonrpc").map(|version| version.get()), Some("\"2.0\""));
    assert_eq!(members.get("id").map(|id| id.get()), Some(id));
    assert_eq!(members.len(), 3, "{}", String::from_utf8_lossy(bytes));
    match (members.get("result"), members.get("error")) {
        (Some(result), None) => {
            let result: Value = serde_json::from_str(result.get()).expect("a result");
            let Some(failed) = result.get("isError") else { return true };
            let items = result["content"].as_array().expect("an array");
            assert!(!items.is_empty() && items.iter().all(|item| item["text"].is_string()));
            !failed.as_bool().expect("true or false")
        }
        (None, Some(error)) => {
            assert_error(error);
            false
        }
        _ => panic!("neither a result nor an error: {}", String::from_utf8_lossy(bytes)),
    }
}

/// Checks that `bytes` are a REST answer for `status`. Returns whether it is a success.
pub fn assert_rest(status: u16, bytes: &[u8]) -> bool {
    let members = members(bytes);
    assert_eq!(status == 200, !members.contains_key("error"), "{}", String::from_utf8_lossy(bytes));
    assert!(serde_json::from_slice::<Value>(bytes).is_ok());
    members.get("error").into_iter().for_each(|error| assert_error(error));
    status == 200
}

fn assert_error(error: &RawValue) {
    let error: Value = serde_json::from_str(error.get()).expect("an error");
    assert!(error["code"].as_i64().is_some_and(|code| code < 0 && code != -32603), "{error}");
    assert!(error["message"].as_str().is_some_and(|message| !message.is_empty()), "{error}");
}

/// The members of the object `json`.
fn members(json: &[u8]) -> Members<'_> {
    serde_json::from_slice(json).unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(json)))
}
