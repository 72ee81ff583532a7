//! MCP: revisions and lists.

mod each_revision; // what holds in every revision on both transports
mod resources; // resources, prompts, cursors
mod revisions; // negotiation, batches, and the stateless revision on the same connection
mod schemas; // the tools' schemas: valid, plain, small, and true of the results
mod tools; // tools/list, the form of tools/call, --tools, --structured
