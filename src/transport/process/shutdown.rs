//! The end: signals, and how long those in work may take (SPEC 8, a stuck server).

use std::io;
use std::time::Duration;

use tokio::signal::unix::{Signal, SignalKind, signal};

/// How long requests in work may go on after a signal. The whole stop takes at most 2 s.
pub const GRACE: Duration = Duration::from_millis(1_500);

/// The signals that end the server: caught from the moment this exists, so that none is missed or kills.
#[derive(Debug)]
pub struct Signals {
    terminate: Signal,
    interrupt: Signal,
    /// Never acted on: caught, a file over a size limit fails its write and does not kill the server.
    _file_size: Signal,
}

impl Signals {
    /// Catches SIGTERM and SIGINT from now on; within a runtime.
    pub fn catch() -> io::Result<Signals> {
        Ok(Signals {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            _file_size: signal(SignalKind::from_raw(rustix::process::Signal::XFSZ.as_raw()))?,
        })
    }

    /// Waits for one of them; returns its name.
    pub async fn next(mut self) -> &'static str {
        tokio::select! {
            _ = self.terminate.recv() => "SIGTERM",
            _ = self.interrupt.recv() => "SIGINT",
        }
    }
}
