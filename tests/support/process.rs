//! A server process: its start, its stderr, its end.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::{MetadataExt, chown, lchown};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio as Pipe};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, LazyLock, Mutex};
use std::time::Duration;

use super::{Folder, PATIENCE};

/// The program under test: the one of this build, or the one that FILE_EDITOR_BINARY names. That may be a script that starts
/// the program of another system in an emulator.
static BINARY: LazyLock<PathBuf> = LazyLock::new(|| {
    std::env::var_os("FILE_EDITOR_BINARY")
        .map_or_else(|| env!("CARGO_BIN_EXE_file-editor").into(), PathBuf::from)
});
/// Whether the program under test is that of Windows and runs under wine, as tests/platforms/run says.
pub(crate) static ON_WINDOWS: LazyLock<bool> =
    LazyLock::new(|| std::env::var_os("FILE_EDITOR_ON_WINDOWS").is_some());
/// The user `nobody`, for whom file modes count also where the tests run as root.
const NOBODY: u32 = 65534;

/// An absolute path as the server names it, and takes it from a client. wine shows the files of this machine as a drive.
pub(crate) fn named(path: &Path) -> String {
    let path = path.display().to_string();
    if *ON_WINDOWS { format!("Z:{path}").replace('/', "\\") } else { path }
}

/// The URI of a file, as the server writes it: for names that need no encoding.
pub(crate) fn file_uri(path: &Path) -> String {
    format!("file://{}{}", if *ON_WINDOWS { "/Z:" } else { "" }, path.display())
}

/// A command line without arguments. Its journals are not in the user's folder.
pub(crate) fn bare_command() -> Command {
    let mut command = Command::new(&*BINARY);
    command.env("XDG_STATE_HOME", concat!(env!("CARGO_TARGET_TMPDIR"), "/state"));
    // Servers of the user who runs the tests are not asked, and none is offered to their commands.
    command.env_remove("XDG_RUNTIME_DIR");
    command
}

/// The server's command line for a folder; nothing is started yet. Operations have a minute where `flags` give no time:
/// within the usual 5 seconds a busy machine may not do what a test asks for. A test of the usual time says `--timeout=5`.
pub(crate) fn command(folder: &Folder, transport: &str, flags: &[&str]) -> Command {
    let mut command = bare_command();
    command.arg(format!("--dir={}", folder.path().display())).arg(format!("--transport={transport}"));
    if !flags.iter().any(|flag| flag.starts_with("--timeout") || flag.starts_with("--config")) {
        command.arg("--timeout=60");
    }
    command.args(flags).env("XDG_STATE_HOME", folder.outside("state"));
    command
}

/// Makes the server run as `nobody` where the tests run as root, and gives the folder with all that is in it to
/// that user. Where the tests run as another user, modes count anyway and nothing is changed.
pub(crate) fn as_nobody(command: Command, folder: &Folder) -> Command {
    if !rustix::process::geteuid().is_root() {
        return command;
    }
    chown(folder.path(), Some(NOBODY), Some(NOBODY)).expect("the folder given away");
    for name in folder.names() {
        lchown(folder.path().join(name), Some(NOBODY), Some(NOBODY)).expect("a file given away");
    }
    let mut binary = BINARY.clone();
    let open = |path: &Path| path.metadata().is_ok_and(|meta| meta.mode() & 1 == 1);
    if !binary.ancestors().all(open) {
        // The user `nobody` cannot reach the build folder. Another process copies the binary: if
        // this process had the copy open for writing, the fork of another test at that moment would make it "busy".
        binary = folder.outside("file-editor");
        if !binary.exists() {
            let analyzer = "file-editor-analyzer";
            for (from, to) in
                [(BINARY.clone(), &binary), (BINARY.with_file_name(analyzer), &folder.outside(analyzer))]
            {
                let copied = Command::new("cp").arg(from).arg(to).status().expect("cp");
                assert!(copied.success(), "a program could not be copied");
            }
        }
    }
    let mut other = Command::new(binary);
    other.args(command.get_args()).uid(NOBODY).gid(NOBODY);
    if std::env::var_os("LLVM_PROFILE_FILE").is_some() {
        // The user `nobody` cannot write a profile, and the server would report that on stderr.
        other.env("LLVM_PROFILE_FILE", "/dev/null");
    }
    other
}

/// The same command under another umask.
pub(crate) fn with_umask(command: &Command, umask: &str) -> Command {
    let mut shell = Command::new("/bin/sh");
    shell.arg("-c").arg(format!("umask {umask} && exec \"$0\" \"$@\""));
    shell.arg(command.get_program()).args(command.get_args());
    shell
}

/// The same command with this many descriptors and no more.
pub(crate) fn with_descriptors(command: &Command, most: u32) -> Command {
    with_limit(command, &format!("-n {most}"))
}

/// The same command under a limit of `ulimit`.
pub(crate) fn with_limit(command: &Command, limit: &str) -> Command {
    let mut shell = Command::new("/bin/sh");
    shell.arg("-c").arg(format!("ulimit {limit} && exec \"$0\" \"$@\""));
    shell.arg(command.get_program()).args(command.get_args());
    shell
}

/// The same command under a limit on the size of the files that it writes, which is what a full disk looks like. `trap` is
/// what the shell does with SIGXFSZ first; without it the signal is at its default, which is to kill.
pub(crate) fn with_file_size_limit(command: &Command, trap: &str) -> Command {
    let mut shell = Command::new("/bin/sh");
    // The limit would also cut the profile where coverage is measured.
    shell.arg("-c").arg(format!("{trap} ulimit -f 64; LLVM_PROFILE_FILE=/dev/null exec \"$0\" \"$@\""));
    shell.arg(command.get_program()).args(command.get_args());
    shell
}

/// A process that has ended.
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// Runs the binary with these arguments and no input, and waits for its end.
pub(crate) fn run_to_end(arguments: &[&str]) -> Ended {
    let mut command = bare_command();
    command.args(arguments);
    run_command_to_end(command)
}

/// Runs a command of [`command`] and the like with no input, and waits for its end.
pub(crate) fn run_command_to_end(command: Command) -> Ended {
    run_until(command, |process| process.status(PATIENCE))
}

/// The same for a server that may start: then it gets SIGTERM.
pub(crate) fn start_and_end(command: Command) -> Ended {
    run_until(command, |process| {
        let lines = process.lines.get_mut().expect("no panic");
        while let Ok(line) = lines.recv_timeout(PATIENCE) {
            if line.contains(" ready ") {
                break;
            }
        }
        // It may have ended by itself.
        if matches!(process.child.try_wait(), Ok(None)) {
            process.signal(rustix::process::Signal::TERM);
        }
        process.status(PATIENCE)
    })
}

fn run_until(mut command: Command, end: impl Fn(&mut Process) -> ExitStatus) -> Ended {
    command.stdin(Pipe::null());
    loop {
        let mut process = Process::spawn(&mut command);
        let mut out = process.child.stdout.take().expect("a pipe");
        let stdout = std::thread::spawn(move || {
            let mut text = String::new();
            out.read_to_string(&mut text).map(|_| text)
        });
        let status = end(&mut process);
        let stdout = stdout.join().expect("a thread").expect("UTF-8 on stdout");
        if !is_lost(status) {
            return Ended { code: status.code(), stdout, stderr: process.stderr() };
        }
    }
}

/// Runs a command whose output goes where it says, and waits for its end.
pub(crate) fn output(command: &mut Command) -> Output {
    loop {
        let output = command.output().expect("the program runs");
        if !is_lost(output.status) {
            return output;
        }
    }
}

/// Whether wine has lost the exit code: its server kills what has not gone half a second after its end, as on a busy machine.
fn is_lost(status: ExitStatus) -> bool {
    *ON_WINDOWS && status.signal() == Some(rustix::process::Signal::KILL.as_raw())
}

/// A running server. Killed on drop.
pub(super) struct Process {
    pub(super) child: Child,
    stderr: Arc<Mutex<String>>,
    /// The lines of stderr. The channel closes when stderr does, at the end of the process.
    lines: Mutex<Receiver<String>>,
}

impl Process {
    /// Starts `command` with its output piped; stdin is as the caller set it.
    pub(super) fn spawn(command: &mut Command) -> Process {
        command.stdout(Pipe::piped()).stderr(Pipe::piped());
        let mut child = command.spawn().unwrap_or_else(|error| panic!("{command:?}: {error}"));
        let mut pipe = BufReader::new(child.stderr.take().expect("a pipe"));
        let stderr = Arc::new(Mutex::new(String::new()));
        let (sender, lines) = channel();
        let buffer = Arc::clone(&stderr);
        std::thread::spawn(move || {
            let mut line = Vec::new();
            while pipe.read_until(b'\n', &mut line).is_ok_and(|read| 0 < read) {
                let text = String::from_utf8_lossy(&line).into_owned();
                buffer.lock().expect("no panic").push_str(&text);
                let _ = sender.send(text);
                line.clear();
            }
        });
        Process { child, stderr, lines: Mutex::new(lines) }
    }

    /// What the server has written to stderr so far.
    pub(super) fn stderr(&self) -> String {
        self.stderr.lock().expect("no panic").clone()
    }

    /// The next line on stderr that `wanted` turns into something.
    pub(super) fn wait_for_line<T>(&self, wanted: impl Fn(&str) -> Option<T>) -> T {
        let lines = self.lines.lock().expect("no panic");
        loop {
            match lines.recv_timeout(PATIENCE) {
                Ok(line) => {
                    if let Some(found) = wanted(&line) {
                        return found;
                    }
                }
                Err(error) => panic!("the line did not come on stderr ({error}): {}", self.stderr()),
            }
        }
    }

    /// Windows has no SIGTERM. What ends a server there is Ctrl-C, which wine makes of SIGINT.
    pub(super) fn signal(&self, signal: rustix::process::Signal) {
        use rustix::process::Signal;
        let signal = if *ON_WINDOWS && signal == Signal::TERM { Signal::INT } else { signal };
        rustix::process::kill_process(rustix::process::Pid::from_child(&self.child), signal)
            .expect("a signal sent");
    }

    /// Waits for the end of a server that was asked to end; one that is still there after `patience` is a failure. An exit
    /// code that wine has lost counts as 0.
    pub(super) fn wait(&mut self, patience: Duration) -> ExitStatus {
        let status = self.status(patience);
        if is_lost(status) { ExitStatus::default() } else { status }
    }

    /// Waits for the end, as [`Process::wait`] does, and tells the status of the process as it is.
    fn status(&mut self, patience: Duration) -> ExitStatus {
        let lines = self.lines.get_mut().expect("no panic");
        let end = std::time::Instant::now() + patience;
        loop {
            let left = end.saturating_duration_since(std::time::Instant::now());
            match lines.recv_timeout(left) {
                Ok(_) => {}
                Err(RecvTimeoutError::Disconnected) => return self.child.wait().expect("a status"),
                Err(RecvTimeoutError::Timeout) => {
                    panic!("still running after {patience:?}; stderr: {}", self.stderr())
                }
            }
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // A killed process writes no profile. Where coverage is measured the process gets SIGTERM first.
        if std::env::var_os("LLVM_PROFILE_FILE").is_some() && matches!(self.child.try_wait(), Ok(None)) {
            self.signal(rustix::process::Signal::TERM);
            let lines = self.lines.get_mut().unwrap_or_else(std::sync::PoisonError::into_inner);
            while lines.recv_timeout(PATIENCE).is_ok() {}
        }
        // strace would delay the end of the process until a delay that it makes is over.
        let tracer_of_all = tracer(std::process::id());
        if let Some(tracer) = tracer(self.child.id()).filter(|tracer| Some(*tracer) != tracer_of_all) {
            let _ = rustix::process::kill_process(tracer, rustix::process::Signal::KILL);
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The process that traces this one.
fn tracer(pid: u32) -> Option<rustix::process::Pid> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let tracer = status.lines().find_map(|line| line.strip_prefix("TracerPid:"))?.trim().parse().ok()?;
    rustix::process::Pid::from_raw(tracer)
}

/// Writes all bytes. A closed pipe is no failure: the answers show what the server did.
pub(super) fn write_all(to: &mut impl Write, bytes: &[u8]) {
    if let Err(error) = to.write_all(bytes).and_then(|()| to.flush()) {
        assert_eq!(error.kind(), std::io::ErrorKind::BrokenPipe, "{error}");
    }
}

/// Whether there is a git program. Says so if not.
pub(crate) fn has_git() -> bool {
    let is_there = Command::new("git").arg("--version").output().is_ok_and(|output| output.status.success());
    if !is_there {
        println!("skipped: there is no git program");
    }
    is_there
}
