//! The log on stderr, as text or JSON, and what the process says instead of a server. Never blocks: drops lines while stderr accepts none. A panic is logged
//! with its location, but without its message, which could contain a file's text.

use std::fmt::Display;
use std::io::{self, Write};
use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::time::{Duration, Instant};

use tracing::Level;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::layer;
use tracing_subscriber::prelude::*;

use super::line::LineFormat;
use super::start_error::is_a_file;
use super::{LogFormat, LogLevel};
use crate::transport::process::allocator;
use crate::transport::process::stats::ASKED;
use sys::stdio::write_error_if_ready;

/// The target of the "ready" line, which is shown at every level (contract 2).
const READY: &str = "ready";

/// A slower start causes a warning.
const SLOW_START: Duration = Duration::from_millis(100);

/// Starts logging: of the server's crates, those that log. Call it once per process.
pub fn init(level: LogLevel, format: LogFormat) {
    let level = match level {
        LogLevel::Error => Level::ERROR,
        LogLevel::Warn => Level::WARN,
        LogLevel::Info => Level::INFO,
        LogLevel::Debug => Level::DEBUG,
        LogLevel::Trace => Level::TRACE,
    };
    let shown = level.max(Level::INFO);
    let own = ["file_editor", "engine"].map(|ours| (ours, level));
    let levels = Targets::new().with_targets(own).with_target(READY, shown).with_target(ASKED, shown);
    let log = layer().with_writer(|| Stderr).event_format(LineFormat(format)).log_internal_errors(false);
    tracing_subscriber::registry().with(log.with_filter(levels)).init();
}

/// Logs panics. Before the server is ready, a panic ends the process. Its message is shown then, because no
/// file has been read: the runtime panics if the system has no threads left.
pub fn catch_panics() {
    std::panic::set_hook(Box::new(|panic| {
        if allocator::is_starting() {
            allocator::wait_unless_first();
            let said = panic.payload();
            let said =
                said.downcast_ref::<String>().map(String::as_str).or(said.downcast_ref::<&str>().copied());
            say_wrong(&cannot_start(said.unwrap_or("panic")));
            std::process::exit(1);
        }
        let at = panic.location().map(ToString::to_string).unwrap_or_default();
        let thread = std::thread::current();
        tracing::error!(at, thread = thread.name().unwrap_or(""), "panic");
    }));
}

/// The message for a start that fails because the system lacks a resource.
pub fn cannot_start(why: impl Display) -> String {
    format!(
        "cannot start: {why}; see the limits of file descriptors (ulimit -n), threads (ulimit -u) and memory (ulimit -v)"
    )
}

/// Whether an error means that the system lacks a resource.
pub fn is_shortage(error: &io::Error) -> bool {
    use sys::io::Errno;
    let short = [Errno::MFILE, Errno::NFILE, Errno::NOMEM, Errno::AGAIN, Errno::NOBUFS];
    short.iter().any(|errno| error.raw_os_error() == Some(errno.raw_os_error()))
}

/// Writes to stdout what was asked for instead of a server. The error is one line.
pub fn print(text: &str) -> Result<(), String> {
    let mut stdout = io::stdout().lock();
    printed(stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()))
}

/// The line for a write to stdout that failed.
pub fn printed(done: io::Result<()>) -> Result<(), String> {
    match switches::is_off("printed") {
        true => Ok(()),
        false => done.map_err(|error| format!("cannot write to stdout: {error}")),
    }
}

/// Writes one line to stderr: why the server does not start, or a remark on what was printed instead.
pub fn say_wrong(line: &str) {
    let _ = io::stderr().write_all(format!("file-editor: {}\n", on_one_line(line)).as_bytes());
}

/// Escapes characters that end a line or control a terminal.
pub(super) fn on_one_line(text: &str) -> String {
    let escaped = |char: char| match char.is_control() {
        true => char.escape_default().to_string(),
        false => char.to_string(),
    };
    text.chars().map(escaped).collect()
}

/// Logs the start: version, process, folder, address, the admin port's address, and duration (contract 2).
pub fn ready(folder: &str, place: &str, admin: Option<SocketAddr>, start: Instant) {
    let took = start.elapsed();
    let start_ms = (took.as_secs_f64() * 10_000.0).round() / 10.0;
    allocator::started();
    tracing::info!(version = env!("CARGO_PKG_VERSION"), pid = std::process::id(), "start");
    let admin = admin.map(|address| format!("http://{address}"));
    tracing::info!(target: READY, folder, at = place, admin, start_ms, "ready");
    if took > SLOW_START {
        tracing::warn!("the start took longer than {} ms", SLOW_START.as_millis());
    }
}

/// Warns that a promise may not hold on the file system of a folder.
pub fn warn_file_system(doubt: &str) {
    tracing::warn!("{doubt}; see --doctor");
}

/// Warns of a folder that was given and is missing.
pub fn warn_left_out(folder: &Path) {
    let dir = folder.display();
    match folder.is_file() {
        true => tracing::warn!("--dir={dir} is left out: it {}", is_a_file(folder)),
        false => tracing::warn!(
            "--dir={dir} is left out: there is no such folder; make it, and start the server again"
        ),
    }
}

/// Warns of a flag that is taken, but doubtful.
pub fn warn_doubt(doubt: &str) {
    tracing::warn!("{doubt}");
}

/// Warns that other machines can access the folder without authentication.
pub fn warn_open(host: IpAddr) {
    tracing::warn!(
        "--host={host}: other machines can read and change the folder, and there is no authentication; \
         consider --auth-token-file"
    );
}

/// Warns that clients can run commands.
pub fn warn_exec() {
    tracing::warn!(
        "--allow-exec: clients can run any command as the user of this server; work_dir is no sandbox, and neither is \
         anything else here"
    );
}

/// Names a template of the operator's that was left out.
#[cfg(feature = "toolkit")]
pub fn warn_template(folder: &str, problem: &str) {
    tracing::warn!(folder, "template left out: {problem}");
}

/// Standard error; drops a line if it would block.
struct Stderr;

impl Write for Stderr {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        // No longer than a ready pipe accepts (`line::LONGEST`).
        write_error_if_ready(line);
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
