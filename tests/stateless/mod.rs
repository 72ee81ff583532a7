//! The MCP revision without a handshake.

mod clients; // between requests: nothing is remembered; clients that disconnect
mod protocol; // discovery, `_meta`, headers, and the order of the checks
