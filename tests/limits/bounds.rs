//! What a server may hold in memory, and how a test measures it.
//!
//! The bound, with a margin: [`IDLE`], [`A_CONNECTION`] for each connection, [`A_READER`] for each client that does not
//! take a large answer, and [`BODIES`] times `--max-size` for all bodies together. Mapped files do not count.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::json;

use crate::support::{Direct, Folder, Http, MB, Mcp, anonymous_memory, while_others};

/// What one connection may hold without a large body: a head and buffers.
pub(super) const A_CONNECTION: usize = MB / 8;

/// What one connection may hold if its client does not read a large answer: a few blocks of 64 KiB, and what the
/// allocator keeps around them (measured: 1.2 to 3.3 MB). The file itself is 50 MB.
pub(super) const A_READER: usize = 8 * MB;

/// The memory for all bodies, in bodies of the largest size: eight are held at once, a vector that grows takes up to
/// three times its content, and the allocator keeps as much again (measured: 58 when 240 bodies follow each other).
pub(super) const BODIES: usize = 96;

/// What an idle server may hold: caches of threads, and indexes of files (8 MB).
pub(super) const IDLE: usize = 24 * MB;

pub(super) fn start(flags: &[&str]) -> (Folder, Http) {
    let folder = Folder::new();
    folder.write("f", "a line\n");
    let server = Http::start(&folder, flags);
    (folder, server)
}

/// A client that sends plain requests gets its answers.
#[track_caller]
pub(super) fn others_are_served(server: &Http) {
    assert_eq!(server.ok("read_file", json!({ "name": "f" })), "File: f (1 lines)\n\na line");
    server.direct("list_files", json!({}));
}

/// The most that `server` held while `body` ran.
pub(super) fn peak(pid: u32, body: impl FnOnce()) -> usize {
    let most = AtomicUsize::new(0);
    let look = || {
        most.fetch_max(anonymous_memory(pid), Ordering::Relaxed);
        // A loop without a pause would take the processor from the server.
        std::thread::sleep(Duration::from_micros(200));
    };
    while_others(look, body);
    most.into_inner()
}

#[track_caller]
pub(super) fn check_bound(what: &str, peak: usize, bound: usize) {
    println!("{what}: {:.1} MB of {:.1} MB", peak as f64 / MB as f64, bound as f64 / MB as f64);
    assert!(peak < bound, "{what}: {peak} bytes are over the bound of {bound}");
}

/// A POST with these further header lines, and these bytes as its body.
pub(super) fn shaped(head: &str, body: &str) -> Vec<u8> {
    format!(
        "POST /edit_file HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n{head}\r\n{body}"
    )
    .into_bytes()
}
