//! The jobs that the caller writes to stdin.

use std::path::PathBuf;

use serde::Deserialize;

/// The same work for several servers, in turn.
#[derive(Debug, Deserialize)]
pub(crate) struct Job {
    /// Turns of each run.
    pub(crate) rounds: usize,
    /// A turn has at least one request, and ends after this many milliseconds or requests.
    pub(crate) turn_ms: f64,
    pub(crate) turn_requests: usize,
    /// A run gets no more turns after this total time and three turns, or after four times this time.
    pub(crate) most_ms: f64,
    pub(crate) runs: Vec<Run>,
}

/// One server and its requests.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Run {
    pub(crate) name: String,
    #[serde(flatten)]
    pub(crate) start: Start,
    pub(crate) mode: Mode,
    /// Sent in a circle; each is one line.
    pub(crate) requests: Vec<String>,
    /// The file for the first answer.
    pub(crate) first: PathBuf,
}

/// How a server is started and prepared.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Start {
    pub(crate) command: Vec<String>,
    #[serde(default)]
    pub(crate) http: bool,
    /// Sent before the measurement; lines with an id get an answer.
    #[serde(default)]
    pub(crate) before: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Mode {
    /// One process for the whole job; one request after the other.
    Warm,
    /// A new process for each request, started before the clock.
    Fresh,
    /// A new process for each request; the time includes its start.
    Start,
    /// This many requests in flight at all times; a sample is the time per answer over one turn.
    Window(usize),
}

/// Runs whose memory is measured.
#[derive(Debug, Deserialize)]
pub(crate) struct MemoryJob {
    /// Time between the end of the last run and the last measurement, without requests.
    pub(crate) later_ms: u64,
    pub(crate) runs: Vec<MemoryRun>,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct MemoryRun {
    pub(crate) name: String,
    #[serde(flatten)]
    pub(crate) start: Start,
    pub(crate) requests: Vec<String>,
    /// Requests sent at once; all requests are sent `times` times.
    pub(crate) at_once: usize,
    pub(crate) times: usize,
}
