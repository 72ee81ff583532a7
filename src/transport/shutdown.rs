//! The end: signals, and how long those in work may take (SPEC 8, a stuck server).

use std::io;
use std::time::Duration;

use tokio::signal::unix::{SignalKind, signal};

/// How long requests in work may go on after a signal. The whole stop takes at most 2 s.
pub const GRACE: Duration = Duration::from_millis(1_700);

/// Waits for SIGTERM or SIGINT; returns its name.
pub async fn signalled() -> io::Result<&'static str> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    Ok(tokio::select! {
        _ = terminate.recv() => "SIGTERM",
        _ = interrupt.recv() => "SIGINT",
    })
}
