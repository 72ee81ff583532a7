//! A server on stdin and stdout.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader};
use std::process::{ChildStdin, Command, ExitStatus, Stdio as Pipe};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};

use super::process::{Process, command, write_all};
use super::schema::Wire;
use super::{Folder, PATIENCE};

/// A server process with `--transport=stdio`, and a client that speaks JSON lines with it.
pub(crate) struct Stdio {
    process: Process,
    stdin: Mutex<Option<ChildStdin>>,
    lines: Mutex<Receiver<Vec<u8>>>,
    /// Messages that `answer_to` met while it waited for another one.
    early: Mutex<VecDeque<Value>>,
    next_id: AtomicU64,
    wire: Mutex<Wire>,
}

impl Stdio {
    pub(crate) fn start(folder: &Folder, flags: &[&str]) -> Stdio {
        Stdio::run(command(folder, "stdio", flags))
    }

    /// Starts a command of [`command`], perhaps changed.
    pub(crate) fn run(mut command: Command) -> Stdio {
        command.stdin(Pipe::piped());
        let mut process = Process::spawn(&mut command);
        let stdin = Mutex::new(process.child.stdin.take());
        let mut out = BufReader::new(process.child.stdout.take().expect("a pipe"));
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            let mut line = Vec::new();
            while out.read_until(b'\n', &mut line).is_ok_and(|read| 0 < read) {
                if sender.send(std::mem::take(&mut line)).is_err() {
                    break;
                }
            }
        });
        let (lines, early, next_id) = (Mutex::new(lines), Mutex::default(), AtomicU64::new(1));
        Stdio { process, stdin, lines, early, next_id, wire: Mutex::new(Wire::stdio()) }
    }

    /// Waits until it serves: what happens to the folder from now on happens to a running server.
    pub(crate) fn ready(self) -> Stdio {
        self.wait_for_stderr("ready");
        self
    }

    /// What the server has written to stderr so far.
    pub(crate) fn stderr(&self) -> String {
        self.process.stderr()
    }

    pub(crate) fn pid(&self) -> u32 {
        self.process.child.id()
    }

    /// Waits for a line on stderr that holds `part`.
    pub(crate) fn wait_for_stderr(&self, part: &str) -> String {
        self.process.wait_for_line(|line| line.contains(part).then(|| line.to_owned()))
    }

    pub(crate) fn send(&self, message: &Value) {
        self.send_raw(format!("{message}\n").as_bytes());
    }

    /// Writes these bytes and nothing else: a line break is the caller's business.
    pub(crate) fn send_raw(&self, bytes: &[u8]) {
        self.wire.lock().unwrap_or_else(PoisonError::into_inner).sent_lines(bytes);
        write_all(self.stdin.lock().expect("no panic").as_mut().expect("stdin is open"), bytes);
    }

    /// Sends a message that no schema admits, and to which the answer may be any JSON.
    pub(crate) fn send_unchecked(&self, message: &Value) {
        let line = format!("{message}\n");
        write_all(self.stdin.lock().expect("no panic").as_mut().expect("stdin is open"), line.as_bytes());
    }

    /// The next message, which is JSON.
    pub(crate) fn recv_unchecked(&self) -> Value {
        let line = self.next_line();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:.400}"))
    }

    /// The next line as it came, without its line break.
    pub(crate) fn recv_line(&self) -> String {
        let line = self.next_line();
        self.parse(&line);
        line
    }

    /// The message in a line, which must be one that MCP's schemas admit.
    #[track_caller]
    fn parse(&self, line: &str) -> Value {
        let message = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line:.400}"));
        self.wire.lock().unwrap_or_else(PoisonError::into_inner).received(&message);
        message
    }

    fn next_line(&self) -> String {
        match self.lines.lock().expect("no panic").recv_timeout(PATIENCE) {
            Ok(mut line) => {
                assert_eq!(line.pop(), Some(b'\n'), "a message ends in a line break");
                assert_ne!(line.last(), Some(&b'\r'), "a line break is LF alone");
                String::from_utf8(line).expect("UTF-8 on stdout")
            }
            Err(error) => panic!("no answer ({error}); stderr: {}", self.stderr()),
        }
    }

    /// The next message.
    pub(crate) fn recv(&self) -> Value {
        if let Some(message) = self.early.lock().expect("no panic").pop_front() {
            return message;
        }
        self.parse(&self.next_line())
    }

    /// Sends a request and gives the whole response to it, whatever else arrives before.
    pub(crate) fn request(&self, method: &str, params: Value) -> Value {
        let id = self.next_id();
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        self.answer_to(&json!(id))
    }

    /// The response with this id; messages that come before it are kept.
    pub(crate) fn answer_to(&self, id: &Value) -> Value {
        // Of several threads, one reads, and the others find here what it met.
        let mut early = self.early.lock().expect("no panic");
        let met = early.iter().position(|message| message["id"] == *id).and_then(|at| early.remove(at));
        let answer = met.unwrap_or_else(|| {
            loop {
                let message = self.parse(&self.next_line());
                if message["id"] == *id {
                    break message;
                }
                early.push_back(message);
            }
        });
        drop(early);
        assert_eq!(answer["jsonrpc"], "2.0", "{answer}");
        assert!(answer.get("result").is_some() != answer.get("error").is_some(), "{answer}");
        answer
    }

    /// An id that this client has not used.
    pub(crate) fn next_id(&self) -> u64 {
        self.next_id.fetch_add(1, Ordering::Relaxed)
    }

    pub(crate) fn notify(&self, method: &str, params: Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    /// Closes stdin; the server may still answer.
    pub(crate) fn close_stdin(&self) {
        self.stdin.lock().expect("no panic").take();
    }

    /// Closes stdin, waits for the server's end, which must be a good one, and returns all that it wrote to stderr.
    pub(crate) fn close_with_log(mut self) -> String {
        self.close_stdin();
        self.rest_of_output();
        assert_eq!(self.process.wait(PATIENCE).code(), Some(0));
        self.process.stderr()
    }

    /// Closes stdin and waits for the server's end.
    pub(crate) fn close(mut self) -> ExitStatus {
        self.close_stdin();
        self.process.wait(PATIENCE)
    }

    /// All lines until the server closes stdout, which it must do in time. Call after [`Stdio::close_stdin`].
    pub(crate) fn rest_of_output(&self) -> Vec<String> {
        let lines = self.lines.lock().expect("no panic");
        let mut rest = Vec::new();
        loop {
            match lines.recv_timeout(PATIENCE) {
                Ok(line) => {
                    let line = String::from_utf8(line).expect("UTF-8 on stdout");
                    self.parse(&line);
                    rest.push(line);
                }
                Err(std::sync::mpsc::RecvTimeoutError::Disconnected) => return rest,
                Err(error) => panic!("stdout stays open ({error}); stderr: {}", self.stderr()),
            }
        }
    }

    /// Sends SIGTERM and waits up to `patience` for the end; stdin stays open.
    pub(crate) fn terminate(mut self, patience: Duration) -> ExitStatus {
        self.process.signal(rustix::process::Signal::TERM);
        self.process.wait(patience)
    }

    pub(crate) fn signal(&self, signal: rustix::process::Signal) {
        self.process.signal(signal);
    }

    pub(crate) fn wait(mut self, patience: Duration) -> ExitStatus {
        self.process.wait(patience)
    }
}
