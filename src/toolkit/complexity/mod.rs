//! How complex the functions of source files are (contract 16 and 22).
//!
//! The program `file-editor-analyzer` parses texts; `project` walks a project and keeps the results. Knows no grammar and no formats of reports.

mod project;

pub use analyzer_wire::{FileReport, FunctionReport, Language, Refusal, SyntaxError};
pub use project::{FilePlace, LeftOutFile, ProjectFile, ProjectReport, analyse_project, scores};

/// The schema of SARIF 2.1.0, by which programs know a report of violations.
pub const SARIF_SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";
