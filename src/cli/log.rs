//! The log: to stderr, as text or JSON. Never blocks: where nobody reads stderr, lines are dropped instead.

use std::io::{self, Write};
use std::net::IpAddr;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tracing::Level;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::layer;
use tracing_subscriber::prelude::*;

use super::{LogFormat, LogLevel};

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
    let levels = Targets::new().with_target("file_editor", level).with_target(READY, level.max(Level::INFO));
    let layer = layer().with_writer(|| Stderr).with_target(false).log_internal_errors(false);
    let log = match format {
        LogFormat::Text => layer.with_ansi(false).boxed(),
        LogFormat::Json => layer.json().flatten_event(true).boxed(),
    };
    tracing_subscriber::registry().with(log.with_filter(levels)).init();
}

/// Says what is served and where, and how long the start took (SPEC 2).
pub fn ready(folder: &str, place: &str, start: Instant) {
    let took = start.elapsed();
    let millis = took.as_secs_f64() * 1_000.0;
    tracing::info!(target: READY, "serving {folder} over {place}, started in {millis:.1} ms");
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
        // A pipe that is ready takes 4096 bytes without blocking.
        if matches!(poll(&mut ready, Some(&now)), Ok(1)) {
            let _ = rustix::io::write(stderr, &line[..line.len().min(4096)]);
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
