//! Who asked for an operation, for a record of what it changes.

/// See the module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// The name and version of the client.
    pub client: String,
    /// The session of the call.
    pub session: String,
    /// The tool that was called.
    pub tool: &'static str,
}
