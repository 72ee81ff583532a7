//! The set `text` (contract 15).

mod bounds; // ends of ranges, one encoding for a text, lines too long for an answer
mod direct; // direct methods, REST, codes, S4's guide
mod edit; // edit_file: modes, what the answers say
mod edit_encodings; // edit_file: every encoding, marks, bytes that are no character
mod edit_missing; // edit_file: texts and files that are not there
mod encodings; // every encoding against Python's codecs
mod exec; // commands
mod read; // read_file: ranges, filters, numbers, pages, errors
mod rewrite; // what a text for a whole file keeps
mod view; // view: the same by another name, and folders
mod write; // write_file: encodings, marks, versions, folders

use serde_json::Value;

use crate::support::{Folder, Http, Mcp, Stdio, each_transport};
use crate::trees::Posted;

const SET: &str = "--tools=text";

/// A server of the set on stdio that is ready.
fn serve(folder: &Folder, flags: &[&str]) -> Stdio {
    Stdio::start(folder, &[&[SET], flags].concat()).ready()
}

/// Runs `test` over stdio, over HTTP, and over `POST /tools/{name}`, each with a server and a folder of its own that `fill`
/// prepares.
fn on_all(flags: &[&str], fill: impl Fn(&Folder) + Sync, test: impl Fn(&dyn Mcp, &Folder) + Sync) {
    let flags = [&[SET], flags].concat();
    let prepared = || {
        let folder = Folder::new();
        fill(&folder);
        folder
    };
    each_transport(|http| {
        let folder = prepared();
        match http {
            true => test(&Http::start(&folder, &flags), &folder),
            false => test(&Stdio::start(&folder, &flags).ready(), &folder),
        }
    });
    let folder = prepared();
    test(&Posted(Http::start(&folder, &flags)), &folder);
}

/// The text of a call that must fail.
#[track_caller]
fn failure(server: &dyn Mcp, tool: &str, arguments: Value) -> String {
    let result = server.tool(tool, arguments);
    assert!(result.is_error, "{}", result.text);
    result.text
}
