//! The parsers of `file-editor`, in a process of their own (contract 22): measures source code that it gets over a pipe,
//! and tells what it defines.
//!
//! Parsers of hostile text may crash, hang, or take any amount of memory; here that harms no server. [`run`] is the whole
//! program: it confines its process, then answers texts until its input ends. [`Analyser`] works on the bytes of one file.
//! What each construct of a language counts is in `rust`, `python` and `javascript`; `docs/complexity.md` explains it.
//!
//! What each language defines is in `outline`; `docs/code.md` explains it.
//!
//! Knows no files, no server, no formats of reports. It opens nothing.

mod analyser;
mod functions;
mod grammar;
mod halstead;
mod javascript;
mod kinds;
mod names;
mod outline;
mod python;
mod rust;
mod scopes;
mod service;
mod system;
mod walker;

pub use analyser::Analyser;
pub use service::run;
