//! A server process, a client of it, and its memory as the system reports it.

use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStderr, Command, Stdio};
use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};
use std::sync::{LazyLock, Once};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde::Serialize;

use crate::Outcome;
use crate::http::Connection;
use crate::job::Start;
use crate::stdio::{Pipes, Seen};

/// A server that needs longer for one answer is killed.
const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) struct Server {
    child: Child,
    pub(crate) wire: Wire,
}

pub(crate) enum Wire {
    Stdio(Box<Pipes>),
    /// The port, one connection, and the log, which stays open so that the server can write to it.
    Http(u16, Box<Connection>, #[allow(dead_code)] BufReader<ChildStderr>),
}

impl Server {
    /// Starts a server and does the handshake.
    pub(crate) fn start(how: &Start) -> Outcome<Server> {
        let mut command = Command::new(&how.command[0]);
        command.args(&how.command[1..]).stdin(Stdio::piped()).stdout(Stdio::piped());
        command.stderr(if how.http { Stdio::piped() } else { Stdio::null() });
        let mut child = command.spawn().map_err(|why| format!("does not start: {why}"))?;
        let wire = match (child.stdin.take(), child.stdout.take(), child.stderr.take()) {
            (_, _, Some(log)) => {
                let mut log = BufReader::new(log);
                let port = port(&mut log)?;
                Wire::Http(port, Box::new(Connection::new(port)?), log)
            }
            (Some(input), Some(output), None) => Wire::Stdio(Box::new(Pipes::new(input, output))),
            _ => return Err("has no pipes".into()),
        };
        let mut server = Server { child, wire };
        for line in &how.before {
            server.send(line)?;
            if line.contains("\"id\"") {
                server.receive(None)?;
            }
        }
        Ok(server)
    }

    pub(crate) fn send(&mut self, line: &str) -> Outcome<()> {
        match &mut self.wire {
            Wire::Stdio(pipes) => pipes.send(format!("{line}\n").as_bytes()),
            Wire::Http(_, connection, _) => connection.send(line),
        }
    }

    pub(crate) fn receive(&mut self, keep: Option<&mut Vec<u8>>) -> Outcome<Seen> {
        match &mut self.wire {
            Wire::Stdio(pipes) => pipes.receive(keep),
            Wire::Http(_, connection, _) => connection.receive(keep),
        }
    }

    /// Sends one request, which is already a line, and reads its answer.
    pub(crate) fn ask(&mut self, line: &str, keep: Option<&mut Vec<u8>>) -> Outcome<Seen> {
        let _watched = self.watched();
        match &mut self.wire {
            Wire::Stdio(pipes) => pipes.send(line.as_bytes())?,
            Wire::Http(_, connection, _) => connection.send(line)?,
        }
        self.receive(keep)
    }

    /// Kills the process if it takes too long from now on.
    pub(crate) fn watched(&self) -> Watched {
        Watched::new(self.child.id())
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Fails if the process has already ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The port in the ready line, which is not the first line of the log.
fn port(log: &mut BufReader<ChildStderr>) -> Outcome<u16> {
    let mut line = String::new();
    while log.read_line(&mut line).map_err(|why| why.to_string())? > 0 {
        let rest = line.split("127.0.0.1:").nth(1).unwrap_or("");
        let digits = rest.split(|c: char| !c.is_ascii_digit()).next().unwrap_or("");
        if let Ok(port) = digits.parse() {
            return Ok(port);
        }
        line.clear();
    }
    Err("ends without a ready line".into())
}

static STARTED: LazyLock<Instant> = LazyLock::new(Instant::now);
/// Milliseconds after `STARTED` at which `ASKED` is killed; 0: no deadline.
static DEADLINE: AtomicU64 = AtomicU64::new(0);
static ASKED: AtomicI32 = AtomicI32::new(0);

/// The process is killed if this lives too long. There is one at a time.
pub(crate) struct Watched;

impl Watched {
    fn new(pid: u32) -> Watched {
        static DOG: Once = Once::new();
        DOG.call_once(|| {
            std::thread::spawn(watch);
        });
        ASKED.store(pid.cast_signed(), Ordering::Relaxed);
        DEADLINE.store(now() + PATIENCE.as_millis() as u64, Ordering::Release);
        Watched
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        DEADLINE.store(0, Ordering::Release);
    }
}

fn now() -> u64 {
    STARTED.elapsed().as_millis() as u64
}

fn watch() {
    loop {
        std::thread::sleep(Duration::from_secs(1));
        let deadline = DEADLINE.load(Ordering::Acquire);
        let asked = Pid::from_raw(ASKED.load(Ordering::Relaxed));
        if let Some(asked) = asked.filter(|_| deadline != 0 && now() > deadline) {
            // Fails if the process has just ended.
            let _ = kill_process(asked, Signal::KILL);
        }
    }
}

/// Memory of a process, in bytes.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub(crate) struct Memory {
    pub(crate) resident: u64,
    pub(crate) anonymous: u64,
    pub(crate) file: u64,
}

impl Memory {
    pub(crate) fn of(pid: u32) -> Memory {
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        let field = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
            let number = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
            number.unwrap_or(0) * 1_024
        };
        Memory { resident: field("VmRSS"), anonymous: field("RssAnon"), file: field("RssFile") }
    }

    /// The larger of each value.
    pub(crate) fn most(self, other: Memory) -> Memory {
        Memory {
            resident: self.resident.max(other.resident),
            anonymous: self.anonymous.max(other.anonymous),
            file: self.file.max(other.file),
        }
    }
}
