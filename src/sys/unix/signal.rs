//! The signals that stop the server and that ask it for its status.

use std::io;

use rustix::process::Signal as Number;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// The signals that stop the server: SIGTERM and SIGINT. They are caught as long as this value exists.
#[derive(Debug)]
pub struct StopSignals {
    terminate: Signal,
    interrupt: Signal,
    /// Never read. While the signal is caught, a write beyond a file size limit fails and does not kill the
    /// server.
    _file_size: Signal,
}

impl StopSignals {
    /// Catches the signals from now on. Call it within a runtime.
    pub fn listen() -> io::Result<StopSignals> {
        Ok(StopSignals {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            _file_size: signal(SignalKind::from_raw(Number::XFSZ.as_raw()))?,
        })
    }

    /// Waits for one of them and returns its name.
    pub async fn next(&mut self) -> &'static str {
        tokio::select! {
            _ = self.terminate.recv() => "SIGTERM",
            _ = self.interrupt.recv() => "SIGINT",
        }
    }
}

/// The signal that asks for the status: SIGUSR1. While this value exists, it does not end the process.
#[derive(Debug)]
pub struct StatusSignal(Signal);

impl StatusSignal {
    /// Catches the signal from now on. Call it within a runtime.
    pub fn listen() -> io::Result<StatusSignal> {
        signal(SignalKind::user_defined1()).map(StatusSignal)
    }

    /// Waits for the signal.
    pub async fn next(&mut self) {
        self.0.recv().await;
    }
}
