//! Templates (contract 16).

mod calls; // the tools over MCP: texts, data, errors
mod direct; // direct methods, REST, POST /tools/{name}: S2's objects and codes
mod own; // --templates: own templates, broken ones, those that explode
mod resources; // template:// beside file://
mod scaffold; // scaffold_project: all files or none

use serde_json::{Value, json};

const SET: &str = "--tools=toolkit";

const MAKEFILE: &str = "template://makefile/rust/cli";

/// The arguments for a template of the project `name`.
fn of(uri: &str, name: &str) -> Value {
    json!({ "resource_uri": uri, "parameters": { "project_name": name } })
}
