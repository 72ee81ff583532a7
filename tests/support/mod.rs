//! What every test stands on: a folder of its own, the real server on it, and clients for its interfaces.
//!
//! - [`Folder`]: a fresh folder that is removed at the end, with room beside it for what lies outside.
//! - [`Stdio`], [`Http`]: a server process and a client for it; the process is killed on drop, if not ended before.
//! - [`Mcp`]: tools over MCP, on either transport. [`on_both`] runs one test body over each, in fresh folders.
//! - [`in_every_revision`]: the same in each revision of MCP; [`Stateless`] speaks the one without a handshake.
//! - [`Direct`]: S3's interface, `POST /{operation}` or the direct JSON-RPC method. [`direct_on_both`] likewise.
//! - [`Mount`]: a file system of its own.
//! - [`HeldWrite`]: another program's write that stops in the middle.
//! - [`while_others`]: something that goes on in the background meanwhile.
//! - [`traced`], [`with_injected`]: a command under strace, to see its system calls or to have some of them fail.
//! - [`Lease`]: another program's lease on a file.
//! - [`command`], [`as_nobody`], [`with_umask`]: a server process in unusual circumstances, for `Stdio::run` and
//!   `Http::run`. [`run_to_end`]: a process that is to end by itself.
//!
//! Every message that a client here receives is held against the official schemas of its revision (schema.rs).
//!
//! Nothing sleeps where it can wait for an event, and every wait ends after [`PATIENCE`] with a panic that tells
//! what the server wrote to stderr.

mod client;
mod folder;
mod held_write;
mod http;
mod lease;
mod mount;
mod process;
mod random;
mod revisions;
mod schema;
mod stdio;
mod trace;

use std::time::{Duration, Instant};

pub(crate) use client::{
    Direct, DirectError, Mcp, ToolResult, direct_on_both, direct_on_both_with, on_both, on_both_as_nobody,
    on_both_with, while_others,
};
pub(crate) use folder::Folder;
pub(crate) use held_write::{HeldWrite, map_mut};
pub(crate) use http::{Connection, Http, HttpResponse, post_bytes};
pub(crate) use lease::Lease;
pub(crate) use mount::Mount;
pub(crate) use process::{
    Ended, anonymous_memory, as_nobody, command, mapped_memory, resident_memory, run_command_to_end,
    run_to_end, start_and_end, waits_in_the_system, with_descriptors, with_limit, with_umask,
};
pub(crate) use random::Random;
pub(crate) use revisions::{HANDSHAKE, STATELESS, Stateless, headers, in_every_revision, meta, with_meta};
pub(crate) use stdio::Stdio;
pub(crate) use trace::{Call, calls, traced, with_injected};

/// How long anything is waited for.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// Holds the times that `once` measures against `bound`: three of five at most must be within. A busy machine is late now
/// and then, a server that is late is so most times.
#[track_caller]
pub(crate) fn mostly_within(bound: Duration, mut once: impl FnMut() -> Duration) {
    let mut late = Vec::new();
    let mut in_time = 0;
    while in_time < 3 {
        match once() {
            took if took <= bound => in_time += 1,
            took => late.push(took),
        }
        assert!(late.len() < 3, "not within {bound:?}: {late:?}");
    }
}

/// Returns when the process waits for a lock, as the system tells it.
pub(crate) fn until_a_lock_is_waited_for(pid: u32) {
    let deadline = Instant::now() + PATIENCE;
    let waits = |line: &str| line.contains("-> FLOCK") && line.contains(&format!(" {pid} "));
    while !std::fs::read_to_string("/proc/locks").expect("/proc").lines().any(waits) {
        assert!(Instant::now() < deadline, "nobody waits");
        std::thread::yield_now();
    }
}
