//! Text files for LLM agents: find, read and edit them, over MCP, REST and JSON-RPC.
//!
//! # Crates and layers
//!
//! `sys` ← `engine` ← `toolkit` ← this crate: each is a folder of `src/`, and names only crates to its left.
//!
//! - [`sys`]: the operating system, and all that differs by system.
//! - [`engine`]: bytes, files, locks. Knows no JSON, HTTP, MCP or tokio.
//! - `toolkit`: templates, complexity and churn. Knows no tools, JSON or protocol. The feature `toolkit` leaves it out.
//!
//! Here the layers are `tools` ← `protocol` ← `exec` ← `transport` ← `cli` ← `main`; `tests/layers.rs` checks them.
//!
//! - [`tools`]: the tools for agents. Knows no ids, JSON-RPC, status codes or sockets.
//! - [`protocol`]: pure functions between bytes and calls, replies and bytes. No I/O, no await.
//! - [`exec`]: runs calls for both transports. Knows no sockets.
//! - [`transport`]: moves bytes. Never matches on engine errors.
//! - [`cli`]: the command line as one struct of options, and the log.
//!
//! In comments, "contract 8" is section 8 of `docs/contract.md`.

pub mod cli;
pub mod exec;
pub mod protocol;
#[cfg(test)]
mod testing;
pub mod tools;
pub mod transport;
