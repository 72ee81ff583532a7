//! A server on a port of the loopback interface, and a plain HTTP/1.1 client.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Command, ExitStatus, Stdio as Pipe};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde_json::{Value, json};

use super::process::{Process, command};
use super::schema::Wire;
use super::{Folder, PATIENCE};

/// A server process with `--transport=http --port=0`, and a client for it.
pub(crate) struct Http {
    process: Process,
    port: u16,
    next_id: AtomicU64,
    /// Header lines that every `post` and `rpc` carries beside the usual ones.
    headers: Mutex<String>,
    /// All that the server writes to stdout, which should be nothing.
    stdout: std::thread::JoinHandle<Vec<u8>>,
}

/// One response, read to its end.
#[derive(Debug)]
pub(crate) struct HttpResponse {
    pub(crate) status: u16,
    /// Names in lower case, in the order of arrival.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl HttpResponse {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| {
            panic!("{error}: status {}, body {:.400}", self.status, self.text());
        })
    }
}

/// One TCP connection; requests on it follow each other.
pub(crate) struct Connection {
    stream: BufReader<TcpStream>,
    wire: Wire,
}

impl Connection {
    pub(crate) fn to(host: &str, port: u16) -> Connection {
        let stream = TcpStream::connect((host, port)).expect("a connection");
        stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
        stream.set_write_timeout(Some(PATIENCE)).expect("a timeout");
        stream.set_nodelay(true).expect("no delay");
        Connection { stream: BufReader::new(stream), wire: Wire::http() }
    }

    /// Ends the sending of this side. The server may still answer.
    pub(crate) fn end_sending(&self) {
        let _ = self.stream.get_ref().shutdown(std::net::Shutdown::Write);
    }

    /// Waits until an answer has begun to arrive. Takes no more than one read gives.
    pub(crate) fn wait_for_bytes(&mut self) {
        self.stream.fill_buf().expect("an answer");
    }

    /// Whether something arrives within this time.
    pub(crate) fn has_bytes_within(&mut self, patience: Duration) -> bool {
        self.stream.get_ref().set_read_timeout(Some(patience)).expect("a timeout");
        let any = self.stream.fill_buf().is_ok_and(|bytes| !bytes.is_empty());
        self.stream.get_ref().set_read_timeout(Some(PATIENCE)).expect("a timeout");
        any
    }

    /// All that comes until the server closes the connection, or until nothing comes for this long.
    pub(crate) fn read_what_comes(&mut self, patience: Duration) -> Vec<u8> {
        self.stream.get_ref().set_read_timeout(Some(patience)).expect("a timeout");
        let mut all = Vec::new();
        let _ = self.stream.read_to_end(&mut all);
        all
    }

    pub(crate) fn write(&mut self, bytes: &[u8]) {
        self.try_write(bytes).expect("bytes sent");
    }

    /// For what the server may refuse to take.
    pub(crate) fn try_write(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        self.wire.sent_http(bytes);
        self.stream.get_mut().write_all(bytes)
    }

    /// The next response.
    pub(crate) fn read(&mut self) -> HttpResponse {
        self.try_read().unwrap_or_else(|error| panic!("no whole response: {error}"))
    }

    /// The status and the headers of the next response.
    pub(crate) fn head(&mut self) -> std::io::Result<HttpResponse> {
        let status_line = self.line()?;
        let status = status_line.split(' ').nth(1).and_then(|code| code.parse().ok());
        let status: u16 =
            status.ok_or_else(|| std::io::Error::other(format!("no status: {status_line:?}")))?;
        let mut headers = Vec::new();
        loop {
            let line = self.line()?;
            if line.is_empty() {
                break;
            }
            let (name, value) = line.split_once(':').unwrap_or((&line, ""));
            headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
        Ok(HttpResponse { status, headers, body: Vec::new() })
    }

    /// The next response, or how it broke off.
    pub(crate) fn try_read(&mut self) -> std::io::Result<HttpResponse> {
        let mut response = self.head()?;
        let status = response.status;
        let chunked = response.header("transfer-encoding").is_some_and(|e| e.eq_ignore_ascii_case("chunked"));
        let length = response.header("content-length").map(|n| n.parse::<usize>().expect("a length"));
        match length {
            _ if chunked => while self.chunk(&mut response.body)? {},
            Some(length) => {
                response.body.resize(length, 0);
                self.stream.read_exact(&mut response.body)?;
            }
            None if status == 202 || status == 204 => {}
            None => drop(self.stream.read_to_end(&mut response.body)?),
        }
        // REST's answers are no messages of MCP.
        if response.body.windows(9).take(64).any(|window| window == b"\"jsonrpc\"") {
            self.wire.received(&response.json());
        }
        Ok(response)
    }

    pub(crate) fn post(&mut self, path: &str, body: &Value) -> HttpResponse {
        self.write(&post_bytes(path, "", body.to_string().as_bytes()));
        self.read()
    }

    fn line(&mut self) -> std::io::Result<String> {
        let mut line = Vec::new();
        self.stream.read_until(b'\n', &mut line)?;
        if !line.ends_with(b"\r\n") {
            return Err(std::io::Error::new(
                std::io::ErrorKind::UnexpectedEof,
                format!("cut off at {line:?}"),
            ));
        }
        line.truncate(line.len() - 2);
        Ok(String::from_utf8_lossy(&line).into_owned())
    }

    /// Appends the next chunk. False if it is the empty one at the end.
    pub(crate) fn chunk(&mut self, body: &mut Vec<u8>) -> std::io::Result<bool> {
        let size = self.line()?;
        let size = size.split(';').next().unwrap_or_default();
        let size = usize::from_str_radix(size, 16).map_err(std::io::Error::other)?;
        let start = body.len();
        body.resize(start + size, 0);
        self.stream.read_exact(&mut body[start..])?;
        if !self.line()?.is_empty() {
            return Err(std::io::Error::other("a chunk without its end"));
        }
        Ok(size > 0)
    }

    /// Checks a message of the server with the schemas.
    #[track_caller]
    pub(crate) fn received(&self, message: &Value) {
        self.wire.received(message);
    }
}

/// Sends a head to a port of this machine, and reads the response.
pub(crate) fn ask(port: u16, head: &str) -> HttpResponse {
    let mut connection = Connection::to("127.0.0.1", port);
    connection.write(format!("{head}\r\n\r\n").as_bytes());
    connection.read()
}

/// Gets a page.
pub(crate) fn get(port: u16, path: &str) -> HttpResponse {
    ask(port, &format!("GET {path} HTTP/1.1\r\nHost: localhost"))
}

/// A POST of JSON; `headers` are further header lines, each with its line break.
pub(crate) fn post_bytes(path: &str, headers: &str, body: &[u8]) -> Vec<u8> {
    [post_head(path, headers, body.len()).as_bytes(), body].concat()
}

/// The head of such a POST, whose body has this length.
pub(crate) fn post_head(path: &str, headers: &str, length: usize) -> String {
    format!(
        "POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n{headers}Content-Length: {length}\r\n\r\n"
    )
}

impl Http {
    pub(crate) fn start(folder: &Folder, flags: &[&str]) -> Http {
        Http::run(command(folder, "http", &[&["--port=0"], flags].concat()))
    }

    /// Starts a command of [`command`], perhaps changed, and waits for the line that says that it is ready.
    pub(crate) fn run(mut command: Command) -> Http {
        command.stdin(Pipe::null());
        let mut process = Process::spawn(&mut command);
        let mut out = process.child.stdout.take().expect("a pipe");
        let stdout = std::thread::spawn(move || {
            let mut bytes = Vec::new();
            let _ = out.read_to_end(&mut bytes);
            bytes
        });
        let port = process.wait_for_line(port_in);
        Http { process, port, next_id: AtomicU64::new(1), headers: Mutex::default(), stdout }
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// The port of `--admin-port=0`.
    pub(crate) fn admin_port(&self) -> u16 {
        admin_port_in(&self.stderr())
    }

    pub(crate) fn pid(&self) -> u32 {
        self.process.child.id()
    }

    /// What the server has written to stderr so far.
    pub(crate) fn stderr(&self) -> String {
        self.process.stderr()
    }

    /// Waits for a line on stderr that holds `part`.
    pub(crate) fn wait_for_stderr(&self, part: &str) -> String {
        self.process.wait_for_line(|line| line.contains(part).then(|| line.to_owned()))
    }

    /// A header line for every later `post` and `rpc`.
    pub(crate) fn add_header(&self, name: &str, value: &str) {
        self.headers.lock().expect("no panic").push_str(&format!("{name}: {value}\r\n"));
    }

    pub(crate) fn connect(&self) -> Connection {
        self.connect_to("127.0.0.1")
    }

    /// A connection to a server that listens elsewhere.
    pub(crate) fn connect_to(&self, host: &str) -> Connection {
        Connection::to(host, self.port)
    }

    /// Writes these bytes on a connection of their own and reads one response.
    pub(crate) fn raw(&self, bytes: &[u8]) -> HttpResponse {
        let mut connection = self.connect();
        connection.write(bytes);
        connection.try_read().unwrap_or_else(|error| panic!("{error}; stderr: {}", self.stderr()))
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> HttpResponse {
        self.post_raw(path, body.to_string().as_bytes())
    }

    /// A POST with this body, JSON or not.
    pub(crate) fn post_raw(&self, path: &str, body: &[u8]) -> HttpResponse {
        self.post_with(path, "", body)
    }

    /// The same with further header lines.
    pub(crate) fn post_with(&self, path: &str, headers: &str, body: &[u8]) -> HttpResponse {
        let headers = format!("{}{headers}Connection: close\r\n", self.headers.lock().expect("no panic"));
        self.raw(&post_bytes(path, &headers, body))
    }

    /// Posts a request to /mcp and gives the whole response to it.
    pub(crate) fn request(&self, method: &str, params: Value) -> Value {
        self.request_with("", method, params)
    }

    /// The same with further header lines.
    pub(crate) fn request_with(&self, headers: &str, method: &str, params: Value) -> Value {
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        let response = self.post_with("/mcp", headers, request.to_string().as_bytes());
        let answer = response.json();
        assert_eq!(answer["id"], json!(id), "status {}: {answer}", response.status);
        assert_eq!(answer["jsonrpc"], "2.0", "{answer}");
        assert!(answer.get("result").is_some() != answer.get("error").is_some(), "{answer}");
        answer
    }

    /// Posts a notification to /mcp.
    pub(crate) fn notify(&self, method: &str, params: Value) {
        let response = self.post("/mcp", &json!({ "jsonrpc": "2.0", "method": method, "params": params }));
        assert_eq!((response.status, response.body.len()), (202, 0), "{}", response.text());
    }

    /// Sends SIGTERM and waits for the end.
    pub(crate) fn terminate(mut self) -> ExitStatus {
        self.process.signal(rustix::process::Signal::TERM);
        self.process.wait(PATIENCE)
    }

    /// Sends SIGTERM and gives all that the server wrote to stdout and to stderr.
    pub(crate) fn terminate_with_output(mut self) -> (Vec<u8>, String) {
        self.process.signal(rustix::process::Signal::TERM);
        self.process.wait(PATIENCE);
        (self.stdout.join().expect("a thread"), self.process.stderr())
    }

    /// Sends a signal and goes on.
    pub(crate) fn signal(&self, signal: rustix::process::Signal) {
        self.process.signal(signal);
    }

    /// Waits for the end, which must come within `patience`.
    pub(crate) fn wait(mut self, patience: Duration) -> ExitStatus {
        self.process.wait(patience)
    }
}

/// The port in a line that holds `http://{host}:{port}`, whatever follows.
fn port_in(line: &str) -> Option<u16> {
    let url = line.split_once("http://")?.1;
    let end = url.find(|c: char| !(c.is_ascii_alphanumeric() || "[]:.-".contains(c))).unwrap_or(url.len());
    let digits = url[..end].rsplit_once(':')?.1;
    let digits: String = digits.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}

/// The port of the admin address in the line that says that a server is ready.
pub(crate) fn admin_port_in(log: &str) -> u16 {
    let address = log.split_once("admin=\"http://").and_then(|(_, rest)| rest.split_once('"'));
    let port = address.and_then(|(address, _)| address.rsplit_once(':')?.1.parse().ok());
    port.unwrap_or_else(|| panic!("no admin address: {log}"))
}
