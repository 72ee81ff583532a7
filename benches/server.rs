//! Runs the real binary and sends requests to it over pipes or sockets.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

/// The binary built by `cargo bench`.
pub(crate) const BINARY: &str = env!("CARGO_BIN_EXE_file-editor");

/// How clients connect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Over {
    Stdio,
    Http,
}

impl Over {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Over::Stdio => "stdio",
            Over::Http => "HTTP",
        }
    }
}

/// A server process and the client's end of its connections.
pub(crate) struct Server {
    child: Child,
    wire: Wire,
    /// Reused between exchanges, so that allocations of the client take no time.
    answers: Vec<Vec<u8>>,
}

enum Wire {
    Stdio(ChildStdin, BufReader<ChildStdout>),
    /// The port, and as many connections as requests were ever sent at once.
    Http(u16, Vec<BufReader<TcpStream>>),
}

impl Server {
    /// Starts a server for `dir` and waits for its first answer.
    pub(crate) fn start(over: Over, dir: &Path) -> Server {
        let mut server = Server::spawn(over, dir);
        let params = json!({"protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": {"name": "bench", "version": "1"}});
        let answer =
            server.ask(&json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}));
        assert!(answer.contains("file-editing-server"), "{answer}");
        server
    }

    fn spawn(over: Over, dir: &Path) -> Server {
        let mut command = Command::new(BINARY);
        command
            .arg(format!("--dir={}", dir.display()))
            .arg("--tools=lines,exact")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        match over {
            Over::Stdio => command.arg("--transport=stdio").stderr(Stdio::null()),
            Over::Http => command.args(["--transport=http", "--port=0"]).stderr(Stdio::piped()),
        };
        let mut child = command.spawn().expect("the server starts");
        let (input, output) = (child.stdin.take().expect("a pipe"), child.stdout.take().expect("a pipe"));
        let wire = match over {
            Over::Stdio => Wire::Stdio(input, BufReader::with_capacity(1 << 16, output)),
            Over::Http => Wire::Http(port(&mut child), Vec::new()),
        };
        Server { child, wire, answers: Vec::new() }
    }

    /// Sends all requests at once; over HTTP, each on its own connection.
    pub(crate) fn send(&mut self, requests: &[String]) {
        match &mut self.wire {
            Wire::Stdio(input, _) => {
                input.write_all((requests.join("\n") + "\n").as_bytes()).expect("requests sent");
            }
            Wire::Http(port, connections) => {
                while connections.len() < requests.len() {
                    connections.push(connect(*port));
                }
                for (connection, body) in connections.iter_mut().zip(requests) {
                    connection.get_mut().write_all(post(body).as_bytes()).expect("a request sent");
                }
            }
        }
    }

    /// Reads the next `count` answers.
    pub(crate) fn receive(&mut self, count: usize) -> &[Vec<u8>] {
        self.answers.resize(count.max(self.answers.len()), Vec::new());
        for (nth, answer) in self.answers[..count].iter_mut().enumerate() {
            answer.clear();
            match &mut self.wire {
                Wire::Stdio(_, output) => {
                    output.read_until(b'\n', answer).expect("an answer");
                }
                Wire::Http(_, connections) => response(&mut connections[nth], answer),
            }
        }
        &self.answers[..count]
    }

    /// Sends one request and returns its answer.
    pub(crate) fn ask(&mut self, request: &Value) -> String {
        self.send(&[request.to_string()]);
        String::from_utf8_lossy(&self.receive(1)[0]).into_owned()
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Sends SIGTERM. Returns how long the server takes to exit; it must succeed.
    pub(crate) fn stop(mut self) -> Duration {
        let pid = Pid::from_child(&self.child);
        let start = Instant::now();
        kill_process(pid, Signal::TERM).expect("a signal sent");
        let status = self.child.wait().expect("an end");
        let took = start.elapsed();
        assert!(status.success(), "{status}");
        took
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Has no effect if the server has exited already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Reads the port from the ready line, which may follow other lines. Later log lines are read and dropped.
fn port(child: &mut Child) -> u16 {
    let mut log = BufReader::new(child.stderr.take().expect("a pipe"));
    let mut line = String::new();
    let port = loop {
        line.clear();
        assert_ne!(log.read_line(&mut line).expect("a log"), 0, "no ready line");
        let rest = line.split_once("127.0.0.1:").map(|(_, rest)| rest);
        if let Some(digits) = rest.and_then(|rest| rest.split(|c: char| !c.is_ascii_digit()).next()) {
            break digits.parse().unwrap_or_else(|_| panic!("no port in {line:?}"));
        }
    };
    thread::spawn(move || io::copy(&mut log, &mut io::sink()));
    port
}

fn connect(port: u16) -> BufReader<TcpStream> {
    let stream = TcpStream::connect(("127.0.0.1", port)).expect("a connection");
    stream.set_nodelay(true).expect("no delay");
    BufReader::with_capacity(1 << 16, stream)
}

fn post(body: &str) -> String {
    let head = "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length";
    format!("{head}: {}\r\n\r\n{body}", body.len())
}

/// The body of the next response, by length or in chunks.
fn response(from: &mut BufReader<TcpStream>, body: &mut Vec<u8>) {
    let status = line(from);
    assert!(status.starts_with("http/1.1 200"), "{status}");
    let mut length = None;
    loop {
        let header = line(from);
        if header.is_empty() {
            break;
        }
        let value = header.strip_prefix("content-length:");
        length = length.or_else(|| value.map(|value| value.trim().parse().expect("a length")));
    }
    match length {
        Some(length) => take(from, length, body),
        None => chunks(from, body),
    }
}

fn chunks(from: &mut BufReader<TcpStream>, body: &mut Vec<u8>) {
    loop {
        let length = u64::from_str_radix(&line(from), 16).expect("the length of a chunk");
        take(from, length, body);
        assert_eq!(line(from), "");
        if length == 0 {
            return;
        }
    }
}

fn take(from: &mut BufReader<TcpStream>, length: u64, body: &mut Vec<u8>) {
    let read = from.by_ref().take(length).read_to_end(body).expect("a body");
    assert_eq!(read as u64, length, "cut off");
}

/// The next line of the response head, in lower case.
fn line(from: &mut BufReader<TcpStream>) -> String {
    let mut line = String::new();
    from.read_line(&mut line).expect("a line");
    line.trim_end().to_ascii_lowercase()
}

/// A `tools/call`. Concurrent requests need different ids; all have the same length, so answers do too.
pub(crate) fn call(nth: usize, tool: &str, arguments: &Value) -> String {
    let params = json!({"name": tool, "arguments": arguments});
    json!({"jsonrpc": "2.0", "id": 1_000 + nth, "method": "tools/call", "params": params}).to_string()
}
