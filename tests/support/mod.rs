//! What all tests use: a folder for each test, the real server on it, and clients for its interfaces.
//!
//! - [`Folder`]: a fresh folder that is removed at the end, with room beside it for what lies outside.
//! - [`Stdio`], [`Http`]: a server process and a client for it; the process is killed on drop, if not ended before.
//! - [`Mcp`]: tools over MCP, on either transport. [`on_both`] runs one test body over each, in fresh folders.
//! - [`in_every_revision`]: the same in each revision of MCP; [`Stateless`] speaks the one without a handshake.
//! - [`Direct`]: S3's interface, `POST /{operation}` or the direct JSON-RPC method. [`direct_on_both`] likewise.
//! - [`EventStream`]: the events of a response, one by one.
//! - [`at_once`]: two checks at the same time, as all tests for both transports run.
//! - [`call`], [`append_call`], [`read_call`], [`ping`], [`request`]: messages. [`text_of`]: the text of an answer.
//! - [`until`], [`until_or`], [`mostly_within`]: waiting loops. [`PATIENCE`]: how long.
//! - [`lock`], [`locked`]: another program's locks. [`until_a_lock_is_waited_for`] and others: a server's wait for them.
//! - [`anonymous_memory`], [`descriptors`], [`threads`] and others: a process as the system shows it.
//! - [`Mount`]: a file system of its own.
//! - [`HeldWrite`]: another program's write that stops in the middle.
//! - [`while_others`]: something that another thread does again and again meanwhile.
//! - [`Random`], [`Moment`]: random numbers, and the random moment of a kill.
//! - [`traced`], [`with_injected`]: a command under strace, to see its system calls or to have some of them fail.
//! - [`Lease`]: another program's lease on a file.
//! - [`command`], [`bare_command`], [`as_nobody`], [`with_umask`]: a server process in unusual circumstances, for `Stdio::run` and
//!   `Http::run`. [`run_to_end`]: a process that is to end by itself.
//!
//! Every message that a client here receives is checked with the official schemas of its revision (schema.rs).
//!
//! No test sleeps where it can wait for an event. Every wait ends after [`PATIENCE`] with a panic; a wait for
//! a server shows its stderr. A sleep has a comment that says why the time is its subject.

/// Ends a test of what Windows or wine does not have, where the program under test is that of Windows.
macro_rules! not_under_wine {
    ($reason:literal) => {
        if *$crate::support::ON_WINDOWS {
            println!("skipped under wine: {}", $reason);
            return;
        }
    };
}

mod bindfs;
mod client;
mod events;
mod folder;
mod held_write;
mod http;
mod lease;
mod lock;
mod messages;
mod moment;
mod mount;
mod proc;
mod process;
mod random;
mod revisions;
mod schema;
mod stdio;
mod trace;
mod waiting;

pub(crate) use bindfs::Bindfs;
pub(crate) use client::{
    Direct, DirectError, Mcp, ToolResult, at_once, direct_on_both, direct_on_both_with, each_transport,
    on_both, on_both_as_nobody, on_both_with, while_others,
};
pub(crate) use events::{Event, EventStream};
pub(crate) use folder::Folder;
pub(crate) use held_write::{HeldWrite, map_mut};
pub(crate) use http::{Connection, Http, HttpResponse, admin_port_in, ask, get, post_bytes, post_head};
pub(crate) use lease::Lease;
pub(crate) use lock::{
    lock, locked, locks_waited_for, until_a_lock_is_waited_for, until_locks_are_waited_for,
    until_the_lock_is_waited_for,
};
pub(crate) use messages::{append, append_call, call, cancelled, ping, read_call, request, text_of};
pub(crate) use moment::Moment;
pub(crate) use mount::Mount;
pub(crate) use proc::{
    anonymous_memory, descriptors, has_open, is_idle, mapped_memory, memory_taken, read_calls, sleeps,
    sockets, threads, waits_in_the_system,
};
pub(crate) use process::{
    Ended, ON_WINDOWS, as_nobody, bare_command, command, file_uri, has_git, named, output,
    run_command_to_end, run_to_end, start_and_end, with_descriptors, with_file_size_limit, with_limit,
    with_umask,
};
pub(crate) use random::Random;
pub(crate) use revisions::{HANDSHAKE, STATELESS, Stateless, headers, in_every_revision, meta, with_meta};
pub(crate) use stdio::Stdio;
pub(crate) use trace::{Call, calls, traced, under_strace, with_injected};
pub(crate) use waiting::{PATIENCE, mostly_within, until, until_or, within};

pub(crate) const MB: usize = 1_048_576;
