//! Runs commands of a shell (contract 15): their processes, their output, their end. Knows no folders and no calls.
//!
//! For each command the server starts a supervisor: its own program, in a session without a terminal. The supervisor
//! starts the shell in a process group of its own, and holds one end of a socket whose other end the server has. When
//! that end closes, for whatever reason, also because the server was killed, the supervisor kills the session.
//!
//! [`run`] is the server's side, [`supervisor`] the other one, and [`link`] what they send each other.

mod link;
mod orphans;
mod run;
mod session;
mod supervisor;
mod tail;

use std::ffi::OsString;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

pub use self::orphans::{start as start_process, take_orphans, waited_for as process_waited_for};
pub use self::supervisor::{is_supervisor, supervise};
pub use self::tail::Output;
use folder::{CannotRun, Control, Result};
use sys::fd::OwnedFd;
use sys::ffi::OsStrExt;

/// Commands that run at once. Others wait for their turn.
pub const COMMANDS_AT_ONCE: usize = 8;

/// How long the end of a command may take after its time is up: to end its processes, and to read what they still
/// write. The deadline of the operation is so much later than that of the command.
pub const COMMAND_ENDING: Duration = Duration::from_secs(5);

/// A command to run.
#[derive(Debug, Clone, Copy)]
pub struct CommandRequest<'r> {
    /// What the shell runs. Without NUL.
    pub command: &'r str,
    /// Its standard input.
    pub stdin: &'r str,
    /// The most bytes that are kept of each of its outputs: the last ones.
    pub most: usize,
}

/// How a shell ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommandStatus {
    /// By itself, with this exit code.
    Exited(i32),
    /// By this signal.
    Signaled(i32),
}

/// A command that was run.
#[derive(Debug)]
pub struct CommandEnd {
    /// How the shell ended. `None` if it did not end although it was killed, because the system holds it.
    pub status: Option<CommandStatus>,
    /// Its time was up.
    pub timed_out: bool,
    /// It was killed because the server stops.
    pub stopped: bool,
    /// Processes of its session ran on after the shell, and were killed.
    pub left_processes: bool,
    /// A process outside of its session holds an output, which was read no further.
    pub open_output: bool,
    /// From its start to its end.
    pub took: Duration,
    /// Standard output.
    pub stdout: Output,
    /// Standard error.
    pub stderr: Output,
}

/// What all commands of a server share.
#[derive(Debug, Default)]
pub struct Commands {
    /// Set if commands are allowed: what they must not learn.
    secret: OnceLock<Vec<u8>>,
    stop_at: OnceLock<Instant>,
}

impl Commands {
    /// Allows commands, once. They get no environment variable that holds `secret`, which may be empty.
    pub fn allow(&self, secret: &[u8]) {
        let _ = self.secret.set(secret.to_vec());
    }

    /// Kills the commands that still run `after` this time from now, and starts no more then.
    pub fn end(&self, after: Duration) {
        let _ = self.stop_at.set(Instant::now() + after);
    }

    /// Runs a command in the directory `dir` until it ends, its time is up, or the operation is called off. The deadline
    /// of the operation is [`COMMAND_ENDING`] behind that of the command. [`folder::Error::CannotRun`] if it could not be started.
    pub fn run(&self, dir: &OwnedFd, request: CommandRequest, control: &Control) -> Result<CommandEnd> {
        control.check_called_off()?;
        let Some(secret) = self.secret.get() else { return Err(CannotRun::NotAllowed.into()) };
        if self.is_stopping() {
            return Err(CannotRun::Stopping.into());
        }
        let until = control.deadline().checked_sub(COMMAND_ENDING).unwrap_or_else(Instant::now);
        run::start(dir, request, &variables_with(secret), until)?.run(self, control)
    }

    fn is_stopping(&self) -> bool {
        self.stop_at.get().is_some_and(|stop_at| *stop_at <= Instant::now())
    }
}

/// The names of the environment variables that hold `secret`.
fn variables_with(secret: &[u8]) -> Vec<OsString> {
    if secret.is_empty() {
        return Vec::new();
    }
    let holds_it = |value: &OsString| memchr::memmem::find(value.as_bytes(), secret).is_some();
    std::env::vars_os().filter(|(_, value)| holds_it(value)).map(|(name, _)| name).collect()
}
