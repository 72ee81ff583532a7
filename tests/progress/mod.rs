//! Notifications of the progress of a call that takes long (contract 6.5).
//!
//! The slow call is a listing of a folder with leased files: it counts the others, then waits for the end of each
//! lease. So a test decides how far the call is, and waits for the notification instead of a time.

mod cancel; // what has no notification any more, and how soon work ends
mod http; // a stream of events
mod stdio; // lines between answers

use serde_json::{Value, json};

use crate::support::{Folder, Lease, STATELESS, call, meta};

/// A folder of the files `a`, `b`, `leased1` and `leased2`, and the leases on the last two. Nothing where the file system
/// knows no leases.
fn leased() -> Option<(Folder, Lease, Lease)> {
    let folder = Folder::new();
    for name in ["a", "b", "leased1", "leased2"] {
        folder.write(name, "a line\n");
    }
    let lease = |name: &str| Lease::take(&folder.path().join(name));
    let (one, other) = (lease("leased1")?, lease("leased2")?);
    Some((folder, one, other))
}

/// A call of a tool whose client asks for its progress with this token.
fn watched(revision: &str, id: &str, tool: &str, arguments: &Value, token: &Value) -> Value {
    let mut request = call(id, tool, arguments);
    request["params"]["_meta"] = if revision == STATELESS { meta() } else { json!({}) };
    request["params"]["_meta"]["progressToken"] = token.clone();
    request
}

/// The same for a listing.
fn listing(revision: &str, id: &str, token: &Value) -> Value {
    watched(revision, id, "list_files", &json!({}), token)
}

/// The notification that so many of four files are done.
fn done(token: &Value, done: u64) -> Value {
    let params = json!({ "progressToken": token, "progress": done, "total": 4 });
    json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": params })
}
