//! A command from the server's side: starts its supervisor, reads its outputs, and ends it in time. Runs on one thread.

use std::ffi::OsString;
use std::io;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::link::{Report, write_request};
use super::orphans;
use super::session::Session;
use super::supervisor::ARGUMENT;
use super::tail::Tail;
use super::{CommandEnd, CommandRequest, CommandStatus, Commands};
use folder::{CannotRun, Control, Result};
use sys::event::{PollFd, PollFlags, Timespec, poll};
use sys::fd::{AsFd, OwnedFd};
use sys::io::Errno;
use sys::net::UnixStream;
use sys::process::{CommandExt, Pid, Signal, kill_process, own_program, start_in};

/// How often a run looks at the clock and whether it was called off.
const TICK: Timespec = Timespec { tv_sec: 0, tv_nsec: 20_000_000 };

/// Bytes that are read at once.
const BUFFER: usize = 64 * 1024;

/// How long processes have to end by themselves after SIGTERM.
const TERM_TO_KILL: Duration = Duration::from_secs(2);

/// How long outputs are read after the end of the command, if a process still holds them.
const OUTPUT_AFTER: Duration = Duration::from_secs(1);

/// How long the last processes have to end after they closed the outputs, before they count as left behind.
const GONE_AFTER: Duration = Duration::from_millis(100);

/// How long the system has to end killed processes.
const KILLED_AFTER: Duration = Duration::from_secs(1);

/// The supervisor, and the processes of its session. On drop, they are killed.
#[derive(Debug)]
struct Supervised {
    supervisor: Child,
    link: Option<UnixStream>,
    /// The group of the shell while the session has processes, from the moment before the first becomes the shell.
    group: Option<Pid>,
}

/// One of the two outputs.
#[derive(Debug)]
struct Stream {
    /// `None` after its end.
    source: Option<OwnedFd>,
    tail: Tail,
}

/// A command that runs.
#[derive(Debug)]
pub(super) struct Run {
    processes: Supervised,
    streams: [Stream; 2],
    started: Instant,
    until: Instant,
    status: Option<CommandStatus>,
    /// Processes were left when the shell ended.
    remains: bool,
    timed_out: bool,
    stopped: bool,
    /// Processes ran on after the shell, and were killed.
    left_processes: bool,
    /// When the session was killed.
    killed_at: Option<Instant>,
    /// When there was no more to wait for than the rest of the outputs.
    settled_at: Option<Instant>,
    /// When both outputs had ended.
    closed_at: Option<Instant>,
}

/// Starts a command in the directory `dir`, without these environment variables. Its time is up at `until`.
pub(super) fn start(
    dir: &OwnedFd,
    request: CommandRequest,
    hidden: &[OsString],
    until: Instant,
) -> Result<Run, CannotRun> {
    let failed = |source| CannotRun::Failed { source };
    let started = Instant::now();
    let (mut processes, outputs) = supervisor(dir, hidden).map_err(failed)?;
    processes.begin(request);
    let stream = |source| Stream { source: Some(source), tail: Tail::new(request.most) };
    Ok(Run {
        processes,
        streams: outputs.map(stream),
        started,
        until,
        status: None,
        remains: false,
        timed_out: false,
        stopped: false,
        left_processes: false,
        killed_at: None,
        settled_at: None,
        closed_at: None,
    })
}

/// Starts the supervisor, and returns its outputs.
fn supervisor(dir: &OwnedFd, hidden: &[OsString]) -> io::Result<(Supervised, [OwnedFd; 2])> {
    let (link, other_end) = UnixStream::pair()?;
    let mut program = Command::new(own_program()?);
    program.arg0("file-editor").arg(ARGUMENT);
    start_in(&mut program, dir)?;
    for name in hidden {
        if !switches::is_off("exec-token") {
            program.env_remove(name);
        }
    }
    program.stdin(OwnedFd::from(other_end)).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut supervisor = orphans::start(&mut program)?;
    let (stdout, stderr) = (supervisor.stdout.take(), supervisor.stderr.take());
    let processes = Supervised { supervisor, link: Some(link), group: None };
    match (stdout, stderr) {
        (Some(stdout), Some(stderr)) => Ok((processes, [stdout.into(), stderr.into()])),
        _ => Err(Errno::BADF.into()),
    }
}

impl Supervised {
    /// Sends the command.
    fn begin(&mut self, request: CommandRequest) {
        if let Some(link) = &mut self.link {
            // If the supervisor does not take it, its report tells why.
            let _ = write_request(request.command, request.stdin, link);
        }
    }

    fn report(&mut self) -> io::Result<Report> {
        self.link.as_mut().map_or_else(|| Err(Errno::BADF.into()), Report::read)
    }

    fn signal(&self, signal: Signal) {
        if let Some(group) = self.group {
            Session(Pid::from_child(&self.supervisor)).signal(group, signal);
        }
    }
}

impl Drop for Supervised {
    fn drop(&mut self) {
        self.signal(Signal::KILL);
        // Without the socket, the supervisor ends by itself. The command may have stopped it.
        self.link = None;
        let _ = kill_process(Pid::from_child(&self.supervisor), Signal::CONT);
        let _ = self.supervisor.wait();
        orphans::waited_for(&self.supervisor);
    }
}

impl Run {
    /// Returns at the end of the command. An error if the operation was called off; then the command is killed.
    pub(super) fn run(mut self, commands: &Commands, control: &Control) -> Result<CommandEnd> {
        let mut buffer = vec![0; BUFFER];
        loop {
            control.check_called_off()?;
            let now = Instant::now();
            self.keep_time(now, commands.is_stopping());
            if self.is_done(now) {
                return Ok(self.end());
            }
            self.wait(&mut buffer)?;
            control.progress(self.streams.iter().map(|stream| stream.tail.received()).sum(), None);
        }
    }

    /// Does what is due at `now`.
    fn keep_time(&mut self, now: Instant, stops: bool) {
        if !self.timed_out && self.status.is_none() && self.until <= now {
            self.timed_out = true;
            self.processes.signal(Signal::TERM);
        }
        let is_over =
            self.timed_out && (switches::is_off("exec-kill-late") || self.until + TERM_TO_KILL <= now);
        let has_passed = |since, time| passed(since, time, now);
        let is_silent = has_passed(self.settled_at, GONE_AFTER) && has_passed(self.closed_at, GONE_AFTER);
        let is_left =
            self.remains && !self.timed_out && (is_silent || has_passed(self.settled_at, OUTPUT_AFTER));
        if (is_over || stops || is_left) && self.killed_at.is_none() && self.processes.group.is_some() {
            self.stopped = stops && !is_over;
            self.left_processes = !stops && !is_over;
            self.killed_at = Some(now);
            self.processes.signal(Signal::KILL);
        }
        // After SIGTERM, the whole session has its time, not only the shell.
        let others_may_run = !self.timed_out || self.killed_at.is_some() || self.processes.group.is_none();
        if self.status.is_some() && others_may_run {
            self.settled_at.get_or_insert(now);
        }
        if self.streams.iter().all(|stream| stream.source.is_none()) {
            self.closed_at.get_or_insert(now);
        }
    }

    fn is_done(&self, now: Instant) -> bool {
        // Processes that were killed have closed their outputs, but those may have more to read.
        let is_read = self.killed_at.is_none() || passed(self.killed_at, GONE_AFTER, now);
        let is_left_open =
            !switches::is_off("exec-output-after") && is_read && passed(self.settled_at, OUTPUT_AFTER, now);
        let is_closed = self.closed_at.is_some() || is_left_open;
        let is_gone = self.settled_at.is_some() && self.processes.group.is_none();
        is_gone && is_closed || passed(self.killed_at, KILLED_AFTER, now)
    }

    /// Waits for an event or the next tick, and takes what there is.
    fn wait(&mut self, buffer: &mut [u8]) -> Result<()> {
        let [link, stdout, stderr] = self.ready();
        for (stream, is_ready) in self.streams.iter_mut().zip([stdout, stderr]) {
            if is_ready {
                stream.read(buffer);
            }
        }
        if link { Ok(self.take_report()?) } else { Ok(()) }
    }

    /// Which of the socket and the outputs have something to read.
    fn ready(&self) -> [bool; 3] {
        let sources = self.streams.iter().map(|stream| stream.source.as_ref().map(AsFd::as_fd));
        let link = self.processes.link.as_ref().map(AsFd::as_fd);
        let sources: Vec<_> = [link].into_iter().chain(sources).collect();
        let mut events: Vec<_> =
            sources.iter().flatten().map(|fd| PollFd::from_borrowed_fd(*fd, PollFlags::IN)).collect();
        if poll(&mut events, Some(&TICK)).is_err() {
            return [false; 3];
        }
        let mut events = events.iter().map(|event| !event.revents().is_empty());
        let mut ready = [false; 3];
        for (ready, source) in ready.iter_mut().zip(sources) {
            *ready = source.is_some() && events.next() == Some(true);
        }
        ready
    }

    fn take_report(&mut self) -> Result<(), CannotRun> {
        match self.processes.report() {
            Ok(Report::Started(group)) => self.processes.group = Pid::from_raw(group),
            Ok(Report::Exited(code)) => self.status = Some(CommandStatus::Exited(code)),
            Ok(Report::Signaled(signal)) => self.status = Some(CommandStatus::Signaled(signal)),
            Ok(Report::Remains) => self.remains = true,
            Ok(Report::Gone) => self.processes.group = None,
            Ok(Report::Failed(errno)) => {
                self.processes.group = None;
                let source = io::Error::from_raw_os_error(errno);
                let is_missing = source.kind() == io::ErrorKind::NotFound;
                return Err(if is_missing { CannotRun::NoShell } else { CannotRun::Failed { source } });
            }
            // The command may have killed it.
            Err(_) => {
                let source =
                    io::Error::other("the process that watched over it was killed; so was the command");
                return Err(CannotRun::Failed { source });
            }
        }
        Ok(())
    }

    fn end(self) -> CommandEnd {
        let Run { streams, status, timed_out, stopped, left_processes, started, processes, .. } = self;
        drop(processes);
        let open_output = streams.iter().any(|stream| stream.source.is_some());
        let [stdout, stderr] = streams.map(|stream| stream.tail.into_output());
        let took = started.elapsed();
        CommandEnd { status, timed_out, stopped, left_processes, open_output, took, stdout, stderr }
    }
}

/// Whether `time` has passed since this moment, if it came.
fn passed(since: Option<Instant>, time: Duration, now: Instant) -> bool {
    since.is_some_and(|since| since + time <= now)
}

impl Stream {
    /// Takes what there is.
    fn read(&mut self, buffer: &mut [u8]) {
        let Some(source) = &self.source else { return };
        match sys::io::read(source, &mut *buffer) {
            Ok(0) => self.source = None,
            Ok(len) => self.tail.push(&buffer[..len]),
            Err(Errno::INTR | Errno::AGAIN) => {}
            Err(_) => self.source = None,
        }
    }
}
