//! `exec`: runs a command of a shell (contract 15). A command that fails is no failed call.

use std::fmt::Write;
use std::time::Duration;

use crate::tools::arguments::{Request, Takes, Text, UpTo, arguments};
use crate::tools::limited::{MAX_TOKENS, tokens_of};
use crate::tools::{Call, Members, OutputKinds, ParseOptions, Reply, Tool};
use engine::{CommandEnd, CommandRequest, CommandStatus, Output, Workspace};
use folder::{Control, FilePath, Result};

/// The longest time of a command, in seconds.
const LONGEST: u64 = 300;

/// The most bytes of the outputs in an answer without a limit.
const MOST: usize = 10 << 20;

/// Room for the lines around the outputs, in bytes.
const LINES: usize = 1_024;

pub(crate) static TOOL: Tool = Tool {
    name: "exec",
    title: "Run Command",
    description: "Run a shell command (bash -c) and wait for its end. The answer begins with how it ended, such as 'Exit code: 0', \
        then has standard output and standard error; of long output only the end. There is no terminal, and standard input is \
        empty unless stdin is given. After timeout seconds the command and all that it has started are ended. What still runs in \
        the background when the shell ends is killed, too; start it with setsid if it is to stay. \
        Example: {\"command\":\"cargo test 2>&1 | tail -20\",\"work_dir\":\"crates/core\",\"timeout\":120}",
    instructions: "Use exec to run shell commands.",
    takes: Takes::of::<ExecArguments>(),
    output_schema: Some(concat!(
        r#"{"type":"object","properties":{"#,
        r#""exit_code":{"type":"integer","description":"Absent if a signal ended the command"},"#,
        r#""signal":{"type":"integer","description":"The signal that ended the command"},"#,
        r#""timed_out":{"type":"boolean"},"#,
        r#""seconds":{"type":"number"},"#,
        r#""stdout":{"type":"string","description":"The end of standard output"},"#,
        r#""stdout_dropped":{"type":"integer","description":"Bytes before that"},"#,
        r#""stderr":{"type":"string","description":"The end of standard error"},"#,
        r#""stderr_dropped":{"type":"integer","description":"Bytes before that"}"#,
        r#"},"required":["timed_out","seconds","stdout","stdout_dropped","stderr","stderr_dropped"]}"#
    )),
    writes: true,
    destructive: true,
    idempotent: false,
    direct: true,
};

arguments! {
    struct ExecArguments {
        /// The command, as for bash -c
        command as "command" or "cmd": Text,
        /// Path of the folder to run it in; without it, the first served folder
        work_dir as "work_dir" or "workdir" or "working_directory" or "cwd": Option<FilePath>,
        /// Seconds that it may take; waiting for its turn counts
        timeout: UpTo<LONGEST, 1> = 30,
        /// Its standard input
        stdin as "stdin" or "input": Option<String>,
    }
}

impl Request for ExecArguments {
    fn into_call(self, options: ParseOptions) -> Result<Box<dyn Call>> {
        let work_dir = match self.work_dir {
            Some(path) => path,
            None => options.path("")?.in_folder(0),
        };
        let stdin = self.stdin.unwrap_or_default();
        let timeout = Duration::from_secs(self.timeout.0);
        Ok(Box::new(Exec { command: self.command.0, work_dir, timeout, stdin, limit: options.limit.bytes }))
    }
}

#[derive(Debug)]
struct Exec {
    command: String,
    work_dir: FilePath,
    timeout: Duration,
    stdin: String,
    /// The longest text of an answer in bytes, if there is a limit.
    limit: Option<usize>,
}

impl Call for Exec {
    fn file(&self) -> Option<&FilePath> {
        None
    }

    fn looked_at(&self) -> Option<&FilePath> {
        Some(&self.work_dir)
    }

    fn command_timeout(&self) -> Option<Duration> {
        Some(self.timeout)
    }

    fn run(&self, workspace: &Workspace, wanted: OutputKinds, control: &Control) -> Result<Reply> {
        let most = self.limit.map_or(MOST, |limit| limit.saturating_sub(LINES.min(limit / 2)));
        let request = CommandRequest { command: &self.command, stdin: &self.stdin, most };
        let mut end = workspace.run_command(&self.work_dir, request, control)?;
        let outputs = shown(std::mem::take(&mut end.stdout), std::mem::take(&mut end.stderr), most);
        Ok(self.reply(&end, &outputs, wanted))
    }
}

/// The end of an output as text.
#[derive(Debug, PartialEq)]
struct Shown {
    text: String,
    /// Bytes before it.
    dropped: u64,
    /// Bytes that the command wrote.
    total: u64,
    /// It had bytes that are not UTF-8.
    is_lossy: bool,
}

impl Shown {
    /// The output with at most `most` bytes of text: the last ones.
    fn new(mut output: Output, most: usize) -> Shown {
        let total = output.dropped + output.bytes.len() as u64;
        output.drop_first(output.bytes.len().saturating_sub(most));
        let (tokens, most_tokens) = (tokens_of(&output.bytes), most_tokens(most));
        if tokens > most_tokens {
            output.drop_first(output.bytes.len() - output.bytes.len() * most_tokens / tokens);
        }
        loop {
            let text = String::from_utf8_lossy(&output.bytes);
            let Some(over) = text.len().checked_sub(most).filter(|over| *over > 0) else {
                let is_lossy = matches!(text, std::borrow::Cow::Owned(_));
                return Shown { text: text.into_owned(), dropped: output.dropped, total, is_lossy };
            };
            // Each byte that is no character takes three in the text.
            output.drop_first(over.div_ceil(3));
        }
    }

    /// The section of the answer with this output.
    fn write(&self, name: &str, out: &mut String) {
        let Shown { text, dropped, total, is_lossy } = self;
        if *total == 0 {
            out.push_str(&format!("\n{name}: empty\n"));
            return;
        }
        let mut notes = Vec::new();
        if *dropped > 0 {
            notes.push(format!("the last {} of {total} bytes, {dropped} dropped", total - dropped));
        }
        if *is_lossy {
            notes.push("bytes that are not UTF-8 are shown as \u{fffd}".into());
        }
        let notes = if notes.is_empty() { String::new() } else { format!(" ({})", notes.join("; ")) };
        let end = if text.ends_with('\n') { "" } else { "\n" };
        // A write to a String cannot fail.
        let _ = write!(out, "\n{name}{notes}:\n{text}{end}");
    }
}

/// The most tokens of an output that may have so many bytes: two of them fit into an answer.
fn most_tokens(bytes: usize) -> usize {
    (bytes / 60 * 23).max(bytes.min(MAX_TOKENS / 2 - LINES))
}

/// Standard output and standard error with at most `most` bytes of text together. Each has at least half of them, if it
/// needs them.
fn shown(stdout: Output, stderr: Output, most: usize) -> [Shown; 2] {
    let error_len = Shown::new(stderr.clone(), most).text.len();
    let stdout = Shown::new(stdout, most - error_len.min(most / 2));
    let stderr = Shown::new(stderr, most - stdout.text.len());
    [stdout, stderr]
}

impl Exec {
    fn reply(&self, end: &CommandEnd, outputs: &[Shown; 2], wanted: OutputKinds) -> Reply {
        let [stdout, stderr] = outputs;
        let mut text = format!("{}\nTime: {:.3} s\n", self.first_line(end), end.took.as_secs_f64());
        for note in notes(end) {
            text.push_str(note);
            text.push('\n');
        }
        stdout.write("stdout", &mut text);
        stderr.write("stderr", &mut text);
        text.truncate(text.trim_end_matches('\n').len());
        let data = if wanted.data { data(end, outputs) } else { Members::default() };
        Reply { text, data, meta: truncated(outputs), ..Reply::default() }
    }

    /// How the command ended.
    fn first_line(&self, end: &CommandEnd) -> String {
        let how = match end.status {
            Some(CommandStatus::Exited(code)) => format!("Exit code: {code}"),
            Some(CommandStatus::Signaled(signal)) => match signal_name(signal) {
                Some(name) => format!("Signal: {signal} ({name})"),
                None => format!("Signal: {signal}"),
            },
            None => "Killed, but the system has not ended it yet".into(),
        };
        match (end.timed_out, end.stopped) {
            (true, _) => format!("Timed out after {} s. {how}", self.timeout.as_secs()),
            (false, true) => format!("Killed because the server stops. {how}"),
            (false, false) => how,
        }
    }
}

/// What else the caller should know of the end of a command.
fn notes(end: &CommandEnd) -> impl Iterator<Item = &'static str> {
    let left = "Processes that it had left in the background were killed; start them with setsid if they are to stay.";
    let open =
        "A process outside of its session still runs and holds its output, which was not read to its end.";
    [(end.left_processes, left), (end.open_output, open)]
        .into_iter()
        .filter_map(|(is, note)| is.then_some(note))
}

fn data(end: &CommandEnd, [stdout, stderr]: &[Shown; 2]) -> Members {
    let (code, signal) = match end.status {
        Some(CommandStatus::Exited(code)) => (Some(code), None),
        Some(CommandStatus::Signaled(signal)) => (None, Some(signal)),
        None => (None, None),
    };
    Members::default()
        .with_some("exit_code", code.as_ref())
        .with_some("signal", signal.as_ref())
        .with("timed_out", &end.timed_out)
        .with("seconds", &((end.took.as_secs_f64() * 1_000.0).round() / 1_000.0))
        .with("stdout", &stdout.text)
        .with("stdout_dropped", &stdout.dropped)
        .with("stderr", &stderr.text)
        .with("stderr_dropped", &stderr.dropped)
}

/// What `_meta` says of outputs that were cut: bytes shown, of how many.
fn truncated(outputs: &[Shown; 2]) -> Members {
    let of: u64 = outputs.iter().map(|output| output.total).sum();
    let dropped: u64 = outputs.iter().map(|output| output.dropped).sum();
    match dropped {
        0 => Members::default(),
        _ => {
            let truncated = serde_json::json!({ "shown": of - dropped, "of": of });
            Members::default().with("file-editor/truncated", &truncated)
        }
    }
}

/// The names of the signals, from 1.
const SIGNALS: [&str; 31] = [
    "HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "KILL", "USR1", "SEGV", "USR2", "PIPE",
    "ALRM", "TERM", "STKFLT", "CHLD", "CONT", "STOP", "TSTP", "TTIN", "TTOU", "URG", "XCPU", "XFSZ",
    "VTALRM", "PROF", "WINCH", "IO", "PWR", "SYS",
];

fn signal_name(signal: i32) -> Option<&'static str> {
    let at = usize::try_from(signal).ok()?.checked_sub(1)?;
    SIGNALS.get(at).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn output(bytes: &[u8], dropped: u64) -> Output {
        Output { bytes: bytes.to_vec(), dropped }
    }

    fn texts(stdout: &[u8], stderr: &[u8], most: usize) -> [String; 2] {
        shown(output(stdout, 0), output(stderr, 0), most).map(|shown| shown.text)
    }

    #[test]
    fn both_outputs_share_the_limit_and_each_has_half_of_it_if_it_needs_it() {
        assert_eq!(texts(b"abcdef", b"xyz", 9), ["abcdef", "xyz"]);
        assert_eq!(texts(b"abcdef", b"xyz", 8), ["bcdef", "xyz"]);
        assert_eq!(texts(b"abcdef", b"uvwxyz", 8), ["cdef", "wxyz"]);
        assert_eq!(texts(b"a", b"uvwxyz", 4), ["a", "xyz"]);
        assert_eq!(texts(b"abcdef", b"uvwxyz", 1), ["f", ""]);
        assert_eq!(texts(b"abcdef", b"", 2), ["ef", ""]);
    }

    #[test]
    fn an_output_is_cut_between_characters_and_says_what_is_missing() {
        let cut = Shown::new(output("aéb".as_bytes(), 7), 2);
        assert_eq!(cut, Shown { text: "b".into(), dropped: 10, total: 11, is_lossy: false });
        let bad = Shown::new(output(b"a\xff\xfe\xfdb", 0), 7);
        assert_eq!(bad, Shown { text: "\u{fffd}\u{fffd}b".into(), dropped: 2, total: 5, is_lossy: true });
        let mut text = String::new();
        bad.write("stdout", &mut text);
        assert_eq!(
            text,
            "\nstdout (the last 3 of 5 bytes, 2 dropped; bytes that are not UTF-8 are shown as \u{fffd}):\n\u{fffd}\u{fffd}b\n"
        );
    }

    #[test]
    fn what_the_command_wrote_first_is_whole_if_nothing_is_cut() {
        let odd = Shown::new(output(b"\x80a", 0), 10);
        assert_eq!((odd.text.as_str(), odd.dropped, odd.is_lossy), ("\u{fffd}a", 0, true));
    }

    #[test]
    fn signals_have_their_names() {
        assert_eq!([1, 9, 15, 31].map(signal_name), [Some("HUP"), Some("KILL"), Some("TERM"), Some("SYS")]);
        assert_eq!([-1, 0, 32, 64].map(signal_name), [None; 4]);
    }
}
