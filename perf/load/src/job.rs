//! What the caller asks for, as it comes in on stdin.

use std::path::PathBuf;

use serde::Deserialize;

/// The same work for several servers, in turn.
#[derive(Debug, Deserialize)]
pub(crate) struct Job {
    /// Turns that each run gets.
    pub(crate) rounds: usize,
    /// A turn ends after so many milliseconds or so many requests, and is at least one request.
    pub(crate) turn_ms: f64,
    pub(crate) turn_requests: usize,
    /// A run that has taken so long in all, and has three turns, gets no more; nor one that has taken four times as long.
    pub(crate) most_ms: f64,
    pub(crate) runs: Vec<Run>,
}

/// One server and what it is asked.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Run {
    pub(crate) name: String,
    #[serde(flatten)]
    pub(crate) start: Start,
    pub(crate) mode: Mode,
    /// Asked in a circle; each is one line.
    pub(crate) requests: Vec<String>,
    /// Where the first answer goes.
    pub(crate) first: PathBuf,
}

/// How a server is started and brought to the point where it can be asked.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Start {
    pub(crate) command: Vec<String>,
    #[serde(default)]
    pub(crate) http: bool,
    /// Sent before anything is timed; those with an id are answered.
    #[serde(default)]
    pub(crate) before: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Mode {
    /// One process for the whole job; one request after the other.
    Warm,
    /// A new process for each request, started before the clock is.
    Fresh,
    /// A new process for each request, its start included.
    Start,
    /// So many requests in flight at all times; a sample is the time per answer over one turn.
    Window(usize),
}

/// What is asked of processes whose memory is looked at.
#[derive(Debug, Deserialize)]
pub(crate) struct MemoryJob {
    /// Idle until then, counted from the last answer, before the last look.
    pub(crate) later_ms: u64,
    pub(crate) runs: Vec<MemoryRun>,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct MemoryRun {
    pub(crate) name: String,
    #[serde(flatten)]
    pub(crate) start: Start,
    pub(crate) requests: Vec<String>,
    /// So many of the requests at once; all are sent `times` times.
    pub(crate) at_once: usize,
    pub(crate) times: usize,
}
