//! The program `file-editor-analyzer` from the server's side: starts it, sends it texts, takes its answers, ends it.
//!
//! It is not trusted: it parses hostile texts. What it says has a bound, and it may be silent for only so long. Reads and writes
//! of pipes block, so a thread does them, and the caller waits for that thread. Knows no files.

use std::env::consts::EXE_SUFFIX;
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use analyzer_wire::{Answer, Hello, Language, Refusal, Wanted, read_answer, read_hello, write_text};

use engine::{process_waited_for, start_process};
use folder::{Control, Error, Result, ToolFailure, ToolFailureKind};
use sys::io::Errno;

/// How often a caller that waits checks whether its operation must stop.
const TICK: Duration = Duration::from_millis(20);

/// How long an answer may take. The analyzer itself gives up a text after 3 s of a processor.
const PATIENCE: Duration = Duration::from_secs(8);

/// The program, where it lies: beside the server's own.
///
/// # Errors
///
/// Those of the system, which may not know the path of the server.
fn analyzer_path() -> io::Result<PathBuf> {
    Ok(std::env::current_exe()?.with_file_name(format!("file-editor-analyzer{EXE_SUFFIX}")))
}

/// The analyzer of one thread. Its process starts with the first text, and again after its death; it ends on drop.
#[derive(Debug, Default)]
pub struct Analyzer(Option<Process>);

impl Analyzer {
    /// Analyses a text.
    ///
    /// # Errors
    ///
    /// [`Error::OfTool`] if the program cannot be started; [`Error::TimedOut`] and [`Error::Cancelled`] if the operation must stop.
    pub fn analyse(
        &mut self,
        wanted: Wanted,
        language: Language,
        text: &[u8],
        control: &Control,
    ) -> Result<Answer> {
        control.check()?;
        let process = match self.0.take() {
            Some(process) => process,
            None => Process::start(control)?,
        };
        // Without an answer, the process is dropped here.
        if process.texts.send((wanted, language, text.into())).is_err() {
            return Ok(Err(Refusal::Crashed));
        }
        match wait(&process.answers, control)? {
            Some(Ok(answer)) => {
                self.0 = Some(process);
                Ok(answer)
            }
            Some(Err(_)) => Ok(Err(Refusal::Crashed)),
            None => Ok(Err(Refusal::TooSlow)),
        }
    }

    /// Starts the process, and returns what it says of itself.
    ///
    /// # Errors
    ///
    /// Those of [`Analyzer::analyse`].
    pub fn start(&mut self, control: &Control) -> Result<Hello> {
        let process = Process::start(control)?;
        Ok(self.0.insert(process).hello.clone())
    }
}

/// A text, and what is wanted of it.
type Text = (Wanted, Language, Vec<u8>);

/// The process, and the thread that uses its pipes.
#[derive(Debug)]
struct Process {
    child: Child,
    hello: Hello,
    texts: SyncSender<Text>,
    answers: Receiver<io::Result<Answer>>,
}

impl Process {
    fn start(control: &Control) -> Result<Process> {
        let path = analyzer_path().map_err(|error| unusable(&error.to_string()))?;
        let cannot_start = |error: io::Error| cannot_start(&path, &error);
        let mut program = Command::new(&path);
        // It needs nothing of the environment, which may hold secrets.
        program.env_clear().stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = start_process(&mut program).map_err(cannot_start)?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(unusable("it has no pipes"));
        };
        let (texts, texts_to_write) = sync_channel(1);
        let (hellos, hello) = sync_channel(1);
        let (answers_read, answers) = sync_channel(1);
        let pipes = move || use_pipes(input, output, &hellos, &texts_to_write, &answers_read);
        // From here on, drop ends the child.
        let mut process = Process {
            child,
            hello: Hello { version: String::new(), confined_by: Vec::new() },
            texts,
            answers,
        };
        // The thread ends when the process does, or when it gets no further texts.
        thread::Builder::new().name("analyzer".into()).spawn(pipes).map_err(cannot_start)?;
        process.hello = match wait(&hello, control)? {
            Some(Ok(hello)) => hello,
            Some(Err(error)) => {
                return Err(unusable(&format!("{}: it ended at once: {error}", path.display())));
            }
            None => return Err(unusable(&format!("{} does not answer", path.display()))),
        };
        let (its, ours) = (&process.hello.version, env!("CARGO_PKG_VERSION"));
        if its != ours {
            let problem =
                format!("{} is of version {its}, the server of {ours}; restart the server", path.display());
            return Err(unusable(&problem));
        }
        Ok(process)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
        process_waited_for(&self.child);
    }
}

/// Waits for a message of the thread that uses the pipes. `None`: the analyzer took too long. A thread that ended sends none.
fn wait<T>(messages: &Receiver<io::Result<T>>, control: &Control) -> Result<Option<io::Result<T>>> {
    let until = Instant::now() + PATIENCE;
    loop {
        match messages.recv_timeout(TICK) {
            Ok(message) => return Ok(Some(message)),
            Err(RecvTimeoutError::Disconnected) => return Ok(Some(Err(io::ErrorKind::BrokenPipe.into()))),
            Err(RecvTimeoutError::Timeout) => control.check()?,
        }
        if Instant::now() > until {
            return Ok(None);
        }
    }
}

/// Reads what the analyzer says first, then sends texts and reads answers until an error or the last text.
fn use_pipes(
    mut input: ChildStdin,
    output: ChildStdout,
    hellos: &SyncSender<io::Result<Hello>>,
    texts: &Receiver<Text>,
    answers: &SyncSender<io::Result<Answer>>,
) {
    let mut output = BufReader::new(output);
    let hello = read_hello(&mut output);
    let is_good = hello.is_ok();
    if hellos.send(hello).is_err() || !is_good {
        return;
    }
    for (wanted, language, text) in texts {
        let answer = write_text(wanted, language, &text, &mut input).and_then(|()| read_answer(&mut output));
        let is_good = answer.is_ok();
        if answers.send(answer).is_err() || !is_good {
            return;
        }
    }
}

/// The error for a program that does not start.
fn cannot_start(path: &Path, error: &io::Error) -> Error {
    match Errno::from_io_error(error) {
        Some(Errno::MFILE | Errno::NFILE) => unusable_because(
            "the server has as many open files as the system lets it have",
            "Send the call again while fewer calls are in work. The operator can raise the limit of open files (ulimit -n).",
        ),
        _ => unusable(&format!("{}: {error}", path.display())),
    }
}

/// The error for a program that cannot be used.
fn unusable(problem: &str) -> Error {
    let hint = "Every package of file-editor has it; it must lie in the folder of the server's program. All other tools work without it.";
    unusable_because(problem, hint)
}

fn unusable_because(problem: &str, hint: &str) -> Error {
    Error::OfTool(Box::new(ToolFailure {
        kind: ToolFailureKind::Unusable,
        message: format!(
            "The program file-editor-analyzer, which parses source code, cannot be used: {problem}"
        ),
        hint: Some(hint.into()),
        problems: Vec::new(),
    }))
}
