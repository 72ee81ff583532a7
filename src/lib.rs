//! Text files for LLM agents: find, read and edit them, over MCP, REST and JSON-RPC.
//!
//! # Layers
//!
//! `sys` ← `engine` ← `toolkit` ← `tools` ← `protocol` ← `exec` ← `transport` ← `cli` ← `main`: a file uses only names from
//! layers to its left. `tests/layers.rs` checks this.
//!
//! - `sys`: the operating system, and all that differs by system.
//! - [`engine`]: bytes, files, locks. Knows no JSON, HTTP, MCP, tokio or serde.
//! - `toolkit`: templates, complexity and churn. Knows no tools, JSON or protocol. The feature `toolkit` leaves it out.
//! - [`tools`]: the tools for agents. Knows no ids, JSON-RPC, status codes or sockets.
//! - [`protocol`]: pure functions between bytes and calls, replies and bytes. No I/O, no await.
//! - [`exec`]: runs calls for both transports. Knows no sockets.
//! - [`transport`]: moves bytes. Never matches on engine errors.
//! - [`cli`]: the command line as one struct of options, and the log.
//!
//! In comments, "contract 8" is section 8 of `docs/contract.md`.
//!
//! # Lines
//!
//! A line break is `\n`, `\r\n` or a lone `\r`. A line is the text between two breaks. A break at the end of
//! the file ends the last line and starts no new one. So `"a"` and `"a\n"` have one line, `"a\n\n"` has two
//! (the second is empty), `"\n"` has one (empty), and the empty file has none. A byte order mark is not part
//! of line 0.
//!
//! # Example
//!
//! ```
//! use std::time::Duration;
//! use file_editor::engine::*;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = std::env::temp_dir().join(format!("file-editor-doc-{}", std::process::id()));
//! # std::fs::create_dir_all(&folder)?;
//! let options = WorkspaceOptions::default();
//! let workspace = Workspace::open(&[folder.clone()], options).map_err(|_| "cannot open the folder")?;
//! let name = workspace.parse_path("notes.txt").map_err(|_| "not a name")?;
//! let control = Control::new(Duration::from_secs(10));
//!
//! let edits = LineEdits { edits: Vec::new(), append: Some("one\ntwo\nthree".into()) };
//! let edited = workspace.edit_lines(&name, &edits, true, &control).map_err(|_| "not edited")?;
//! assert!(edited.created && edited.total_lines == 3);
//!
//! let range = LineRange { start: Some(1), end: None };
//! let excerpt = workspace.read(&name, range, &control).map_err(|_| "not read")?;
//! assert_eq!(excerpt.bytes(), b"two\nthree");
//! # std::fs::remove_dir_all(&folder)?;
//! # Ok(())
//! # }
//! ```

pub mod cli;
pub mod engine;
pub mod exec;
pub mod protocol;
mod sys;
#[cfg(test)]
mod testing;
#[cfg(feature = "toolkit")]
pub mod toolkit;
pub mod tools;
pub mod transport;
