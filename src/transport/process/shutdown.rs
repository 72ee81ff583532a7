//! The stop: its signals, and the time that calls in progress get (contract 8, a stuck server).

use std::io;
use std::time::Duration;

use sys::signal::StopSignals;

/// How long requests in progress may run after a signal. The whole stop takes at most 2 s.
pub const GRACE: Duration = Duration::from_millis(1_500);

/// How long a server with an admin port takes further requests after a signal, so that a proxy sees that it drains before
/// anything is refused. A part of [`GRACE`].
pub const DRAIN: Duration = Duration::from_millis(800);

/// How long commands in progress may run after a signal. Less than the time that other calls have, so that their clients
/// get answers.
pub const COMMANDS_LEFT: Duration = Duration::from_secs(1);

/// The signals that stop the server. They are caught as soon as this value exists, so that no signal is lost.
#[derive(Debug)]
pub struct Signals(StopSignals);

impl Signals {
    /// Catches SIGTERM and SIGINT from now on, on Windows Ctrl-C and its like. Call it within a runtime.
    pub fn listen() -> io::Result<Signals> {
        StopSignals::listen().map(Signals)
    }

    /// Waits for one of them and returns its name.
    pub async fn next(mut self) -> &'static str {
        self.0.next().await
    }
}
