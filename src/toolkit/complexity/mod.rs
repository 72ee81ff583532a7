//! How complex the functions of a source file are (contract 16).
//!
//! [`Analyser`] works on the bytes of one file and knows no files; `project` walks a project and keeps the results. What
//! each construct of a language counts is in `rust`, `python` and `javascript`; `docs/complexity.md` explains it.

mod analyser;
mod casts;
mod functions;
mod halstead;
mod javascript;
mod kinds;
mod language;
mod names;
mod project;
mod python;
mod report;
mod rust;
mod scopes;
mod walker;

pub use analyser::{Analyser, MAX_BYTES, STACK_BYTES};
pub use language::Language;
pub use project::{FilePlace, LeftOutFile, ProjectFile, ProjectReport, analyse_project, scores};
pub use report::{FileReport, FunctionReport, Refusal, SyntaxError};

/// The schema of SARIF 2.1.0, by which programs know a report of violations.
pub const SARIF_SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";
