//! Tests of the real binary over stdio and HTTP. Each module is written from contract.md, not from the sources.

// The output of a test holds its random seed and its measurements. It is shown when the test fails.
#![allow(clippy::print_stdout)]

#[macro_use]
mod support; // folders, server processes, clients: the only place that starts a server

mod agent; // the set agent: jobs over many files
mod confinement; // nothing outside the folder is read or changed
mod contracts; // the lists of requirements in S0 and S3
mod errors; // errors: text, code, status, data
mod faults; // faults of the system, and the end of the server at any moment
mod file_edit; // the tool file_edit
mod files; // the tools list_files, read_file and edit_file
mod http; // HTTP: paths, access, connections
mod limits; // limits, and many clients at once
mod mcp; // MCP: revisions, tools, resources, prompts
mod oracles; // the server against the naive model
mod other_programs; // other programs that change files or hold them
mod process; // flags, log, memory
mod progress; // notifications of the progress of a call
mod search; // the set search: patterns, orders, what was left out, pages, time
mod sets; // sets of tools, lenient arguments, POST /tools/{name}
mod shell; // the commands for a shell
mod stateless; // the MCP revision without a handshake
mod stdio; // stdio: messages, order, buffers
mod text; // the set text: files in any encoding, and commands
#[cfg(feature = "toolkit")]
mod toolkit; // the set toolkit: templates, complexity, churn
mod trees; // the set filesystem: paths, links, --exclude, versions, pages, faults

mod layers; // the dependencies of the layers, read from the sources
mod model; // the naive model of contract 3 and 4
mod readme; // the tests, flags and links that the documents name
mod text_model; // the naive model of contract 5
