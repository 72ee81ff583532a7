//! A server under strace: which system calls it makes, in which order, and what happens when one of them fails or hangs.

use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

/// One system call of a trace.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) thread: String,
    pub(crate) name: String,
    /// With the path of each descriptor behind it.
    pub(crate) arguments: String,
    pub(crate) result: String,
    /// The lines of the trace on which it began and ended: another call came before it if that ended before this began.
    pub(crate) began: usize,
    pub(crate) ended: usize,
}

impl Call {
    pub(crate) fn is_one_of(&self, names: &[&str]) -> bool {
        names.contains(&self.name.as_str())
    }

    pub(crate) fn was_before(&self, other: &Call) -> bool {
        self.ended < other.began
    }
}

/// The same command under strace, with these options for it. None, and a message, where strace is missing or may not
/// trace. The process id is that of the server.
pub(crate) fn under_strace(command: &Command, options: &[&str]) -> Option<Command> {
    static WORKS: OnceLock<bool> = OnceLock::new();
    let works = WORKS.get_or_init(|| {
        let tried = Command::new("strace").args(["-qq", "-o", "/dev/null", "/bin/true"]).output();
        tried.is_ok_and(|tried| tried.status.success())
    });
    if !works {
        println!("SKIPPED: there is no strace here, or it may not trace");
        return None;
    }
    let mut strace = Command::new("strace");
    strace.args(["-D", "-f", "-qq"]).args(options);
    strace.arg(command.get_program()).args(command.get_args());
    strace.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    Some(strace)
}

/// As [`under_strace`]: the calls named (comma-separated) are written to `into`, for [`calls`] when the server has ended.
pub(crate) fn traced(command: &Command, names: &str, into: &Path) -> Option<Command> {
    let into = into.to_str().expect("UTF-8");
    under_strace(command, &["-y", "-s", "300", "-o", into, "-e", &format!("trace={names}")])
}

/// As [`under_strace`]: tampers with calls as `strace -e inject=` has it.
pub(crate) fn with_injected(command: &Command, what: &str) -> Option<Command> {
    under_strace(command, &["-o", "/dev/null", "-e", &format!("inject={what}")])
}

/// The calls of a trace, in the order in which they began.
pub(crate) fn calls(trace: &Path) -> Vec<Call> {
    const UNFINISHED: &str = " <unfinished ...>";
    let text = std::fs::read(trace).expect("a trace");
    let text = String::from_utf8_lossy(&text);
    let mut calls: Vec<Call> = Vec::new();
    // By thread, the call in which it is.
    let mut unfinished = std::collections::HashMap::new();
    for (number, line) in text.lines().enumerate() {
        let Some((thread, what)) = line.split_once(' ') else { continue };
        let what = what.trim_start();
        if let Some((_, rest)) = what.strip_prefix("<... ").and_then(|what| what.split_once(" resumed>")) {
            let call: &mut Call = &mut calls[unfinished.remove(thread).expect("a call that had begun")];
            call.ended = number;
            (call.arguments, call.result) = arguments_and_result(&(call.arguments.clone() + rest));
        } else if let Some((name, rest)) = what.split_once('(') {
            let whole = rest.strip_suffix(UNFINISHED);
            let (arguments, result) = match whole {
                Some(begun) => (begun.to_owned(), String::new()),
                None => arguments_and_result(rest),
            };
            if whole.is_some() {
                unfinished.insert(thread.to_owned(), calls.len());
            }
            let ended = if whole.is_some() { usize::MAX } else { number };
            calls.push(Call {
                thread: thread.to_owned(),
                name: name.to_owned(),
                arguments,
                result,
                began: number,
                ended,
            });
        }
    }
    calls
}

fn arguments_and_result(rest: &str) -> (String, String) {
    let (arguments, result) = rest.rsplit_once(" = ").unwrap_or((rest, ""));
    (arguments.trim_end().trim_end_matches(')').to_owned(), result.to_owned())
}
