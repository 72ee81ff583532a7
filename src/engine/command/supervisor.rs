//! The supervisor of one command: a process between the server and the shell, which outlives the server just long enough
//! to kill what the command has started.
//!
//! Its standard input is the socket to the server; its two outputs are those of the command. Orphans of the command become
//! its children, so it takes their ends.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read, Seek};
use std::process::{Child, Command, ExitCode};
use std::thread;
use std::time::{Duration, Instant};

use super::link::{Report, read_request};
use super::session::Session;
use sys::event::{PollFd, PollFlags, Timespec, poll};
use sys::fd::{AsFd, OwnedFd};
use sys::ffi::OsStrExt;
use sys::io::Errno;
use sys::net::UnixStream;
use sys::process::{
    CommandExt, Pid, RUNS_COMMANDS, Signal, WaitOptions, adopt_orphans, close_on_exec, getpid,
    go_on_without_parent, open_process, restore_signals, tell_before_exec, wait, waitpgid,
};

/// The first argument of a supervisor. People have no use for it.
pub(super) const ARGUMENT: &str = "--supervise-one-command";

/// The shells, in the order in which they are tried.
const SHELLS: [&str; 2] = ["bash", "sh"];

/// How often the supervisor looks for processes that have ended, where no event tells.
const TICK: Timespec = Timespec { tv_sec: 0, tv_nsec: 5_000_000 };

/// How often it takes the ends of orphans while the shell runs.
const ORPHANS_TICK: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };

/// The longest wait for the ends of killed processes, which the system may hold, and how often it is looked for them.
const LAST: Duration = Duration::from_secs(1);
const MOMENT: Duration = Duration::from_millis(1);

/// Whether these arguments of a program, its name first, make it a supervisor.
pub fn is_supervisor(arguments: impl IntoIterator<Item = OsString>) -> bool {
    RUNS_COMMANDS && arguments.into_iter().nth(1).is_some_and(|argument| argument == ARGUMENT)
}

/// Runs the command that standard input tells, until it has ended or the server has closed the socket.
pub fn supervise() -> ExitCode {
    let run = || {
        let mut link = take_link()?;
        match prepare().and_then(|()| start(&mut link)) {
            Ok(shell) => {
                Supervisor::new(link, &shell).run();
                Ok(())
            }
            Err(error) => {
                Report::Failed(error.raw_os_error().unwrap_or(Errno::IO.raw_os_error())).write(&mut link)
            }
        }
    };
    // An error means that the server is gone: nobody is left to tell.
    if run().is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Moves the socket away from standard input.
fn take_link() -> io::Result<UnixStream> {
    let link = UnixStream::from(sys::stdio::stdin().try_clone_to_owned()?);
    sys::stdio::dup2_stdin(File::open("/dev/null")?)?;
    Ok(link)
}

/// Leaves behind what this process inherited, and its terminal.
fn prepare() -> io::Result<()> {
    if !switches::is_off("exec-descriptors") {
        close_on_exec()?;
    }
    if !switches::is_off("exec-ignored-signals") {
        restore_signals();
    }
    sys::process::setsid()?;
    // A command may have stopped this process. At the end of the server it must go on, to kill the command.
    go_on_without_parent()?;
    Ok(adopt_orphans()?)
}

/// Starts the shell, then keeps none of its outputs open.
fn start(link: &mut UnixStream) -> io::Result<Child> {
    let (command, stdin_len) = read_request(link)?;
    let stdin = input(&mut link.take(stdin_len), stdin_len)?;
    let nothing = File::options().write(true).open("/dev/null")?;
    let shell = spawn(OsStr::from_bytes(&command), &stdin, link)?;
    sys::stdio::dup2_stdout(&nothing)?;
    sys::stdio::dup2_stderr(&nothing)?;
    Ok(shell)
}

/// A file in memory with the command's input.
fn input(from: &mut impl Read, len: u64) -> io::Result<File> {
    if len == 0 {
        return File::open("/dev/null");
    }
    let mut file = sys::fs::memory_file("stdin")?;
    if io::copy(from, &mut file)? != len {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    file.rewind()?;
    Ok(file)
}

/// Starts a shell. The server is told of each before it begins, because a command may kill this process at once.
fn spawn(command: &OsStr, stdin: &File, link: &UnixStream) -> io::Result<Child> {
    let mut failure = io::Error::from(Errno::NOENT);
    for shell in SHELLS {
        let mut program = Command::new(shell);
        // `--`, because a command may begin with a hyphen.
        program.args(["-c", "--"]).arg(command).stdin(stdin.try_clone()?).process_group(0);
        let link = link.try_clone()?;
        tell_before_exec(&mut program, move |process| {
            Report::Started(process.as_raw_pid()).write(&mut &link)
        });
        match program.spawn() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => failure = error,
            started => return started,
        }
    }
    Err(failure)
}

/// See the module.
struct Supervisor {
    link: UnixStream,
    /// The shell, and its group.
    group: Pid,
    /// Tells the end of the shell; `None` on old systems.
    shell: Option<OwnedFd>,
    has_ended: bool,
    /// A process of the session that ran when it was looked for.
    seen: Option<Pid>,
    told_remains: bool,
    is_gone: bool,
}

impl Supervisor {
    fn new(link: UnixStream, shell: &Child) -> Supervisor {
        let group = Pid::from_child(shell);
        let shell = open_process(group).ok();
        Supervisor { link, group, shell, has_ended: false, seen: None, told_remains: false, is_gone: false }
    }

    /// Returns when the server has closed its end of the socket, and the session was killed.
    fn run(mut self) {
        // An error means the same: the server is gone.
        let _ = self.watch();
        if !self.is_gone {
            Session(getpid()).signal(self.group, Signal::KILL);
            take_the_killed();
        }
    }

    /// Tells the server what becomes of the shell and its session, until the server closes its end of the socket.
    fn watch(&mut self) -> io::Result<()> {
        while !self.wait() || switches::is_off("exec-kill-at-close") {
            self.reap()?;
        }
        Ok(())
    }

    /// Waits for an event. Returns whether the server has closed the socket: it sends nothing more.
    fn wait(&self) -> bool {
        let mut events = vec![PollFd::new(&self.link, PollFlags::IN)];
        let shell = self.shell.as_ref().filter(|_| !self.has_ended);
        events.extend(shell.map(|shell| PollFd::from_borrowed_fd(shell.as_fd(), PollFlags::IN)));
        // While the shell runs, now and then for orphans that have ended: they would stay as zombies.
        let time =
            if self.is_gone { None } else { Some(if shell.is_some() { &ORPHANS_TICK } else { &TICK }) };
        match poll(&mut events, time) {
            Ok(_) => !events[0].revents().is_empty(),
            Err(Errno::INTR) => false,
            Err(_) => true,
        }
    }

    /// Takes the ends of children, and tells what the server does not know yet.
    fn reap(&mut self) -> io::Result<()> {
        let has_children = loop {
            let (process, status) = match wait(WaitOptions::NOHANG) {
                Ok(Some(ended)) => ended,
                none => break none.is_ok(),
            };
            if process == self.group {
                self.has_ended = true;
                let signaled = status.terminating_signal().map(Report::Signaled);
                self.tell(signaled.unwrap_or(Report::Exited(status.exit_status().unwrap_or(-1))))?;
            }
        };
        if !self.has_ended || self.is_gone {
            return Ok(());
        }
        if !has_children || !self.others_run() {
            self.is_gone = true;
            return self.tell(Report::Gone);
        }
        if self.told_remains {
            return Ok(());
        }
        self.told_remains = true;
        self.tell(Report::Remains)
    }

    /// Whether processes of the session run. Children may be of other sessions.
    fn others_run(&mut self) -> bool {
        if !matches!(waitpgid(self.group, WaitOptions::NOHANG), Err(Errno::CHILD)) {
            return true;
        }
        // All processes are looked at only when the last one that was seen has ended.
        let session = Session(getpid());
        if !self.seen.is_some_and(|seen| session.has(seen)) {
            self.seen = session.any();
        }
        self.seen.is_some()
    }

    fn tell(&mut self, report: Report) -> io::Result<()> {
        report.write(&mut self.link)
    }
}

/// Waits for the ends of killed processes, so that they do not stay as zombies where no other process takes them.
fn take_the_killed() {
    let start = Instant::now();
    while start.elapsed() < LAST {
        let some_run = Session(getpid()).any().is_some();
        while let Ok(Some(_)) = wait(WaitOptions::NOHANG) {}
        if !some_run {
            return;
        }
        thread::sleep(MOMENT);
    }
}
