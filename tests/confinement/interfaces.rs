//! Every interface that takes the name of a file, for one name at a time, and what lies beside the folder.

use std::os::unix::fs::MetadataExt;
use std::path::Path;

use serde_json::{Value, json};

use crate::support::{Direct, Folder, Http, Mcp, Stdio};

pub(super) const SECRET: &str = "the secret outside\n";

/// A server on each transport.
pub(super) struct Doors {
    pub(super) stdio: Stdio,
    pub(super) http: Http,
}

impl Doors {
    pub(super) fn open(folder: &Folder, flags: &[&str]) -> Doors {
        Doors { stdio: Stdio::start(folder, flags).ready(), http: Http::start(folder, flags) }
    }

    /// Calls everything that takes the name of a file, on every interface. Returns all answers.
    pub(super) fn all_answers(&self, name: &str) -> Vec<String> {
        let mut answers = Vec::new();
        let replace = |line| json!({ "name": name, "edits": [{ "line": line, "operation": "replace", "content": "x" }] });
        let append = json!({ "name": name, "append": "x", "create_if_missing": true });
        for server in [&self.stdio as &dyn Mcp, &self.http] {
            for (tool, arguments) in [
                ("read_file", json!({ "name": name })),
                ("read_file", json!({ "name": name, "start_line": 0, "end_line": 0 })),
                ("edit_file", append.clone()),
                ("edit_file", replace(0)),
                ("edit_file", json!({ "name": name, "create_if_missing": false })),
                ("file_edit", json!({ "path": name, "edits": [{ "old_text": "secret", "new_text": "x" }] })),
                ("file_edit", json!({ "path": name, "edits": [{ "old_text": "", "new_text": "x" }] })),
            ] {
                let call = json!({ "name": tool, "arguments": arguments });
                answers.push(refusal(&server.rpc("tools/call", call), tool, name));
            }
            let uri = json!({ "uri": format!("file:///{name}") });
            answers.push(refusal(&server.rpc("resources/read", uri), "resources/read", name));
        }
        for server in [&self.stdio as &dyn Direct, &self.http] {
            answers.push(server.direct_error("read_file", json!({ "name": name })).message);
            answers.push(server.direct_error("edit_file", append.clone()).message);
            answers.push(server.direct_error("edit_file", replace(1)).message);
        }
        answers
    }

    pub(super) fn all_lists(&self) -> Vec<String> {
        let mut lists = Vec::new();
        for server in [&self.stdio as &dyn Mcp, &self.http] {
            lists.push(server.ok("list_files", json!({})));
            lists.push(server.rpc("resources/list", json!({})).to_string());
        }
        for server in [&self.stdio as &dyn Direct, &self.http] {
            lists.push(server.direct("list_files", json!({})).to_string());
        }
        lists
    }
}

/// The answer as text, which must be a refusal.
#[track_caller]
pub(super) fn refusal(answer: &Value, tool: &str, name: &str) -> String {
    let refused = answer.get("error").is_some() || answer["result"]["isError"] == true;
    assert!(refused, "{tool} {name:?}: {answer}");
    answer.to_string()
}

/// Asserts that each of these names is refused everywhere, and that nothing changes inside or outside the folder.
#[track_caller]
pub(super) fn check_all_refused(folder: &Folder, doors: &Doors, names: &[&str]) {
    let before = (folder.snapshot(), outside(folder));
    for name in names {
        for answer in doors.all_answers(name) {
            assert!(!answer.contains("the secret"), "{name:?}: {answer}");
        }
        assert!((folder.snapshot(), outside(folder)) == before, "{name:?} changed something");
    }
    for list in doors.all_lists() {
        assert!(!list.contains("the secret"), "{list}");
    }
}

/// All that lies beside the folder: path, inode, bytes.
pub(super) fn outside(folder: &Folder) -> Vec<(String, u64, Vec<u8>)> {
    fn walk(path: &Path, all: &mut Vec<(String, u64, Vec<u8>)>) {
        for entry in std::fs::read_dir(path).expect("a directory") {
            let path = entry.expect("an entry").path();
            let meta = path.symlink_metadata().expect("an entry");
            let bytes = if meta.is_file() { std::fs::read(&path).expect("a file") } else { Vec::new() };
            all.push((path.display().to_string(), meta.ino(), bytes));
            if meta.is_dir() && path.file_name().is_none_or(|name| name != "folder") {
                walk(&path, all);
            }
        }
    }
    let mut all = Vec::new();
    walk(&folder.outside(""), &mut all);
    all.sort();
    all
}

/// A folder with a secret beside it, also in siblings whose names begin like the folder's.
pub(super) fn folder() -> Folder {
    let folder = Folder::new();
    for sibling in ["outside", "folder-other", "folder2"] {
        std::fs::create_dir(folder.outside(sibling)).expect("a directory");
        std::fs::write(folder.outside(sibling).join("secret"), SECRET).expect("a file");
    }
    std::fs::write(folder.outside("secret"), SECRET).expect("a file");
    folder
}
