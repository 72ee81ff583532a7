//! Options that are one of a few words.

use clap::ValueEnum;

use folder::NamePolicy;
use folder::fs::atomic::Durability;

/// `--transport`
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Transport {
    /// MCP over Streamable HTTP, and REST
    Http,
    /// MCP and JSON-RPC over standard input and output
    Stdio,
}

/// `--names`
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[allow(missing_docs)]
pub enum Names {
    Portable,
    Any,
    Paths,
}

/// `--sync`
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[allow(missing_docs)]
pub enum Sync {
    Full,
    None,
}

/// `--live`
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Live {
    /// Where the system tells all changes of folders
    Auto,
    /// Each walk looks at every folder
    Off,
}

/// `--log-level`
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[allow(missing_docs)]
pub enum LogLevel {
    Error,
    Warn,
    Info,
    Debug,
    Trace,
}

/// `--log-format`
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[allow(missing_docs)]
pub enum LogFormat {
    Text,
    Json,
}

impl From<Names> for NamePolicy {
    fn from(names: Names) -> NamePolicy {
        match names {
            Names::Portable => NamePolicy::Portable,
            Names::Any => NamePolicy::Any,
            Names::Paths => NamePolicy::Paths,
        }
    }
}

impl From<Sync> for Durability {
    fn from(sync: Sync) -> Durability {
        match sync {
            Sync::Full => Durability::Full,
            Sync::None => Durability::None,
        }
    }
}
