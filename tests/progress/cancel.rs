//! A cancelled call: no notification, no answer, and no work.

use std::time::{Duration, Instant};

use serde_json::json;

use super::{done, leased, listing};
use crate::support::{
    Folder, Stdio, append_call, cancelled, lock, mostly_within, ping, until_a_lock_is_waited_for,
};

#[test]
fn a_cancelled_call_is_not_notified_any_more() {
    not_under_wine!("holds a file by a lease");
    let Some((folder, one, other)) = leased() else { return };
    let server = Stdio::start(&folder, &[]).ready();
    server.send(&listing("", "list", &json!("t")));
    assert_eq!(server.recv(), done(&json!("t"), 2));
    server.send(&cancelled("list"));
    server.send(&ping("ping"));
    assert_eq!(server.recv()["id"], "ping");
    drop((one, other));
    server.close_stdin();
    assert_eq!(server.rest_of_output(), [""; 0]);
}

/// The time from a cancellation to the end of the work. The next request is answered only when there is room for it.
fn ends_after(server: &Stdio, id: &str) -> Duration {
    let start = Instant::now();
    server.send(&cancelled(id));
    server.send(&ping("next"));
    assert_eq!(server.recv()["id"], "next");
    start.elapsed()
}

#[test]
fn a_cancelled_wait_ends_within_50_ms() {
    not_under_wine!("holds a file by a lease");
    mostly_within(Duration::from_millis(50), || {
        let Some((folder, one, _other)) = leased() else { return Duration::ZERO };
        let server = Stdio::start(&folder, &["--max-in-flight=1"]).ready();
        server.send(&listing("", "list", &json!("t")));
        one.until_a_process_waits();
        ends_after(&server, "list")
    });
    mostly_within(Duration::from_millis(50), || {
        let folder = Folder::new();
        folder.write("f", "a\n");
        let _locked = lock(&folder, "f");
        let server = Stdio::start(&folder, &["--max-in-flight=1"]).ready();
        server.send(&append_call("edit", "f", "b"));
        until_a_lock_is_waited_for(server.pid());
        ends_after(&server, "edit")
    });
}
