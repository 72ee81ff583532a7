//! The set `filesystem` on trees of folders (contract 8, 11, 12, 13).
//!
//! A test of a defect that is still open has `#[ignore = "open: …"]`; run it with `-- --ignored trees::`.

mod advice; // advice that is followed
mod bounded; // answers in pages, cursors
mod claims; // new names where the file system knows no rename that refuses, and no hard links
mod crashes; // kill -9 at random moments of calls that change a tree
mod cursors; // what cursors belong to, and what changes under them
mod edit_encodings; // edits of files that are not UTF-8, without their encoding
mod edits; // old texts that differ in blanks, and edits that change nothing
mod encodings; // texts that are not UTF-8
mod flushes; // moves and deletes whose folder cannot be flushed
mod foreign; // paths of other systems, of other trees and for shells; URIs
mod hidden; // --exclude and .git
mod hints; // the way out that an error names
mod joined; // the pages of random calls, put together
mod links; // links in trees
mod media; // read_media_file: what bytes are; what is no text, and folders, named as such
mod new_names; // names that nothing new gets: look-alikes, globs, blanks; folders that hold what must stay
mod next_steps; // what a refused call says to do next
mod offers; // which tools are offered, --read-only, --structured
mod omissions; // lines of a new text that stand for text of the file
mod out_of_time; // lists whose time is up
mod paths; // spellings of paths, several folders, the command line
mod several; // several served folders: where new entries go, what is ambiguous, one that is gone
mod shortage; // full disks, folders without permissions, deep and wide trees
mod slow_looks; // trees on file systems whose look-ups wait for another machine
mod spellings; // names composed in another way, and names as lists show them
mod streams; // long answers that are written while they are sent
mod swaps; // folders swapped for links out of the tree while tools work in them
mod text_pages; // the pages of a text
mod tools; // each tool: success and errors, on all interfaces
mod versions; // expected_version
mod wide; // UTF-16 without a mark
mod writers; // several servers and writers at once

use std::collections::BTreeMap;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use serde_json::{Value, json};

pub(crate) use bounded::{follow, next_of};

use crate::support::{Folder, Http, Mcp, STATELESS, Stateless, Stdio, each_transport};

const SET: &str = "--tools=filesystem";

/// A server of the set `filesystem` on stdio that is ready.
fn serve(folder: &Folder, flags: &[&str]) -> Stdio {
    Stdio::start(folder, &[&[SET], flags].concat()).ready()
}

/// A server with these tools.
fn serve_tools(folder: &Folder, tools: &str, flags: &[&str]) -> Stdio {
    Stdio::start(folder, &[&[&*format!("--tools={tools}")], flags].concat()).ready()
}

/// The text of a call that is refused.
#[track_caller]
fn refused(server: &Stdio, tool: &str, arguments: Value) -> String {
    let answer = server.tool(tool, arguments);
    assert!(answer.is_error, "{}", answer.text);
    answer.text
}

/// Writes a file and makes its folders.
pub(crate) fn put(folder: &Folder, path: &str, bytes: impl AsRef<[u8]>) {
    make(folder, path.rsplit_once('/').map_or("", |(parent, _)| parent));
    folder.write(path, bytes);
}

/// Makes a folder and those above it.
pub(crate) fn make(folder: &Folder, path: &str) {
    std::fs::create_dir_all(folder.path().join(path)).expect("folders");
}

/// All entries below a folder: their paths, and the bytes of regular files; of links, where they lead.
fn tree(folder: &Path) -> BTreeMap<String, Option<Vec<u8>>> {
    let mut found = BTreeMap::new();
    collect(folder, "", &mut found);
    found
}

fn collect(folder: &Path, base: &str, found: &mut BTreeMap<String, Option<Vec<u8>>>) {
    for entry in std::fs::read_dir(folder).expect("a readable folder") {
        let entry = entry.expect("an entry");
        let path = format!("{base}{}", entry.file_name().to_string_lossy());
        let kind = entry.file_type().expect("a kind");
        if kind.is_dir() {
            collect(&entry.path(), &format!("{path}/"), found);
        }
        let bytes = match kind.is_symlink() {
            true => std::fs::read_link(entry.path()).ok().map(|to| to.as_os_str().as_bytes().to_vec()),
            false => kind.is_file().then(|| std::fs::read(entry.path()).expect("a file")),
        };
        found.insert(path, bytes);
    }
}

/// The server's temporary files anywhere in the tree.
fn leftovers(folder: &Folder) -> Vec<String> {
    let is_ours =
        |path: &String| path.rsplit('/').next().is_some_and(|name| name.starts_with(".file-editor-tmp-"));
    tree(folder.path()).into_keys().filter(is_ours).collect()
}

/// `POST /tools/{name}` as if it were MCP: the body is the result.
pub(crate) struct Posted(pub(crate) Http);

impl Mcp for Posted {
    fn rpc(&self, _: &str, params: Value) -> Value {
        let name = params["name"].as_str().expect("a tool");
        let response = self.0.post(&format!("/tools/{name}"), &params["arguments"]);
        let body = response.json();
        assert_eq!(body["isError"] == json!(true), response.status >= 400, "{}: {body}", response.status);
        json!({ "result": body })
    }

    fn notify(&self, _: &str, _: Value) {}

    fn begin(&self, _: &str) -> Value {
        Value::Null
    }
}

/// Runs `test` over stdio and HTTP in two revisions, and over `POST /tools/{name}`, each with a server and a folder of its
/// own that `fill` prepares.
fn on_all(flags: &[&str], fill: impl Fn(&Folder) + Sync, test: impl Fn(&dyn Mcp, &Folder) + Sync) {
    let flags = [&[SET], flags].concat();
    for revision in ["2025-06-18", STATELESS] {
        each_transport(|http| {
            let folder = Folder::new();
            fill(&folder);
            let server: Box<dyn Mcp> = match (http, revision == STATELESS) {
                (false, false) => Box::new(Stdio::start(&folder, &flags)),
                (true, false) => Box::new(Http::start(&folder, &flags)),
                (false, true) => Box::new(Stateless(Stdio::start(&folder, &flags))),
                (true, true) => Box::new(Stateless(Http::start(&folder, &flags))),
            };
            server.begin(revision);
            test(&*server, &folder);
        });
    }
    let folder = Folder::new();
    fill(&folder);
    test(&Posted(Http::start(&folder, &flags)), &folder);
}

/// Whether a call failed, and its first text (of another item: the item).
fn outcome(server: &dyn Mcp, tool: &str, arguments: &Value) -> (bool, String) {
    let answer = server.rpc("tools/call", json!({ "name": tool, "arguments": arguments }));
    let result = &answer["result"];
    let item = &result["content"][0];
    let text = item["text"].as_str().map_or_else(|| item.to_string(), str::to_owned);
    (result["isError"] == json!(true), text)
}
