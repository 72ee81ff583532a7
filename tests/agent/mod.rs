//! The set `agent`: jobs over many files (contract 19).

mod bad_input; // wrong and unusually large calls
mod bound; // answers within the tokens, and what the tools cost
mod changes; // what has changed, and who changed it
mod clients; // sessions over HTTP
mod edit; // edits of every kind, all or none
mod edit_arguments; // forms of arguments, and the mistakes that models make
mod ends; // where what a job makes and moves is in the end
mod faults; // faults of the system in the middle of a job
mod files; // the tree, and paths
mod grep; // lines that match
mod lost; // changes that the journal has no more
mod many_files; // jobs over more files than may be open
#[cfg(feature = "toolkit")]
mod outline; // what is defined where
mod patch; // a patch in place of edits
mod places; // how many places changed
mod put_in; // text in the encoding of the file
mod read; // texts, and lines of them
mod recorded; // changes of the other sets, with a journal
mod relevance; // files that define a word come first
mod replace; // what a pattern matches, in all files
mod replace_encodings; // the same in files of unsure encoding
mod replace_model; // the same against crate regex
mod retry; // only the edits that did not fit are sent again
mod retry_patch; // the same of a patch
#[cfg(feature = "toolkit")]
mod since_head; // what differs from the last commit of a repository
mod slips; // encodings, shapes, names of arguments and patches that models get wrong
#[cfg(feature = "toolkit")]
mod symbol; // a definition is read and replaced by its name
mod undo;
mod undo_parts; // changes that are taken back
mod unremoved; // faults when a job is done, or is repaired
mod unwritten; // a journal that cannot be written

use serde_json::{Value, json};

use crate::support::{Folder, Mcp, Stdio};

/// A server of the set on stdio that is ready.
pub(crate) fn serve(folder: &Folder, flags: &[&str]) -> Stdio {
    Stdio::start(folder, &[&["--tools=agent"], flags].concat()).ready()
}

/// The answer to edits that are done, without the id of the change.
fn edit(server: &Stdio, edits: Value) -> String {
    without_id(&server.ok("edit", json!({ "edits": edits })))
}

/// An answer without the id of its change.
fn without_id(answer: &str) -> String {
    match answer.split_once(" (change c") {
        Some((before, rest)) => format!("{before}{}", rest.split_once(')').expect("an id").1),
        None => answer.to_owned(),
    }
}

/// The id of the change that an answer tells.
fn id(answer: &str) -> String {
    let id = answer.split_once("(change ").unwrap_or_else(|| panic!("no change: {answer}")).1;
    id.split_once(')').expect("an id").0.to_owned()
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
