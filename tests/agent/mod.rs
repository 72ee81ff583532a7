//! The set `agent`: jobs over many files (contract 19).

mod edit; // edits of every kind, all or none
mod edit_arguments; // forms of arguments, and the mistakes that models make
mod faults; // faults of the system in the middle of a job
mod patch; // a patch in place of edits

use serde_json::{Value, json};

use crate::support::{Folder, Mcp, Stdio};

/// A server of the set on stdio that is ready.
fn serve(folder: &Folder, flags: &[&str]) -> Stdio {
    Stdio::start(folder, &[&["--tools=agent"], flags].concat()).ready()
}

/// The answer to edits that are done.
fn edit(server: &Stdio, edits: Value) -> String {
    server.ok("edit", json!({ "edits": edits }))
}

/// The answer to edits that are refused.
#[track_caller]
fn refused(server: &Stdio, folder: &Folder, edits: Value) -> String {
    let before = folder.snapshot();
    let answer = server.tool("edit", json!({ "edits": edits }));
    assert!(answer.is_error, "{}", answer.text);
    assert_eq!(folder.snapshot(), before, "{}", answer.text);
    answer.text
}
