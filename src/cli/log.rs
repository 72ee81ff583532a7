//! The log: to stderr, as text or JSON. Never blocks: where nobody reads stderr, lines are dropped instead. A panic is a
//! line like any other, and tells where it was but not what it said: that could be a file's text.

use std::io::{self, Write};
use std::net::IpAddr;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tracing::Level;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::layer;
use tracing_subscriber::prelude::*;

use super::line::Lines;
use super::{LogFormat, LogLevel};
use crate::transport::monitor::ASKED;

/// The target of the line that says what is served: shown at every level (SPEC 2).
const READY: &str = "ready";

/// A start that takes longer is warned of.
const SLOW_START: Duration = Duration::from_millis(100);

/// Starts logging; once a process.
pub fn init(level: LogLevel, format: LogFormat) {
    let level = match level {
        LogLevel::Error => Level::ERROR,
        LogLevel::Warn => Level::WARN,
        LogLevel::Info => Level::INFO,
        LogLevel::Debug => Level::DEBUG,
        LogLevel::Trace => Level::TRACE,
    };
    let shown = level.max(Level::INFO);
    let levels =
        Targets::new().with_target("file_editor", level).with_target(READY, shown).with_target(ASKED, shown);
    let log = layer().with_writer(|| Stderr).event_format(Lines(format)).log_internal_errors(false);
    tracing_subscriber::registry().with(log.with_filter(levels)).init();
    std::panic::set_hook(Box::new(|panic| {
        let at = panic.location().map(ToString::to_string).unwrap_or_default();
        let thread = std::thread::current();
        tracing::error!(at, thread = thread.name().unwrap_or(""), "panic");
    }));
}

/// Says what is started, what is served and where, and how long the start took (SPEC 2).
pub fn ready(folder: &str, place: &str, start: Instant) {
    let took = start.elapsed();
    let start_ms = (took.as_secs_f64() * 10_000.0).round() / 10.0;
    tracing::info!(version = env!("CARGO_PKG_VERSION"), pid = std::process::id(), "start");
    tracing::info!(target: READY, folder, at = place, start_ms, "ready");
    if took > SLOW_START {
        tracing::warn!("the start took longer than {} ms", SLOW_START.as_millis());
    }
}

/// Says that other machines can reach the folder and nobody asks who they are.
pub fn warn_open(host: IpAddr) {
    tracing::warn!(
        "--host={host}: other machines can read and change the folder, and there is no authentication; \
         consider --auth-token-file"
    );
}

/// Standard error, as long as it takes what is written.
struct Stderr;

impl Write for Stderr {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let stderr = rustix::stdio::stderr();
        let mut ready = [PollFd::new(&stderr, PollFlags::OUT)];
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        if matches!(poll(&mut ready, Some(&now)), Ok(1)) {
            // Not longer than what it takes now (`line::LONGEST`).
            let _ = rustix::io::write(stderr, line);
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
