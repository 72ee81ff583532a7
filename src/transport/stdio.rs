//! MCP and direct JSON-RPC over standard input and output (SPEC 6.4): lines in, answers out.
//!
//! One thread reads and carries out what takes no waiting, straight from the line to the buffer; all else goes to
//! `Work`. The buffer goes out when there is nothing more to read.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use tokio::runtime;
use tokio::sync::oneshot;

use super::body_buffer::BodyBuffer;
use super::limits::RateLimit;
use super::process_stats::ProcessStats;
use super::stdout_writer::StdoutWriter;
use super::work::Work;
use super::{Shared, allocator, check_descriptors, shutdown};
use crate::engine::BOM;
use crate::protocol::{ConnectionState, Id, Pending, Service, Session, Step, code, refusal};

/// Bytes read at once (S2).
const READ_BUFFER: usize = 64 * 1024;

/// Bytes that the system may hold of our output: with more of them, writing and reading overlap. What all pipes of a
/// user may have together is limited, too (64 MB), so this is no more than helps.
const PIPE: usize = 1 << 18;

/// How often the thread that reads gives back what it does not need, at most: when nothing has come for as long, and
/// under steady requests, too.
const REST: Duration = Duration::from_secs(3);

/// Serves until the end of input, or until a signal. `ready` is called when nothing is left that could fail.
pub fn serve(shared: Shared, ready: impl FnOnce() + Send + 'static) -> io::Result<()> {
    allocator::limit_arenas();
    check_descriptors()?;
    // No pipe, or none that may be larger: then it stays as it is.
    let _ = rustix::pipe::fcntl_setpipe_size(rustix::stdio::stdout(), PIPE);
    // One thread waits for signals and timers.
    let runtime = runtime::Builder::new_current_thread().enable_all().build()?;
    let (signals, mut monitor) = {
        let _inside = runtime.enter();
        (shutdown::Signals::catch()?, ProcessStats::start()?)
    };
    let wake = Arc::new(eventfd(0, EventfdFlags::CLOEXEC)?);
    let (finished, end) = oneshot::channel();
    let workspace = shared.workspace.clone();
    let connection = Connection::new(shared, runtime.handle().clone());
    let reader_wake = wake.clone();
    thread::Builder::new().name("stdio".into()).spawn(move || {
        connection.run(&reader_wake, ready);
        let _ = finished.send(());
    })?;
    let until_the_end = async {
        tokio::pin!(end);
        tokio::select! {
            biased;
            signal = signals.next() => {
                tracing::info!(signal, "stopping");
                rustix::io::write(&*wake, &1u64.to_ne_bytes())?;
                if tokio::time::timeout(shutdown::GRACE, end).await.is_err() {
                    tracing::warn!("stopped with requests still in work");
                }
            }
            _ = &mut end => tracing::info!("end of input"),
        }
        io::Result::Ok(())
    };
    let watched = monitor.beside(until_the_end, async || workspace.compact());
    runtime.block_on(watched)?;
    monitor.stopped();
    // A thread that hangs in the system must not hold us up.
    runtime.shutdown_background();
    Ok(())
}

/// The reading side of the one connection.
struct Connection {
    shared: Shared,
    session: Session,
    output: Arc<StdoutWriter>,
    work: Work,
    limit: RateLimit,
    rested: Instant,
}

impl Connection {
    fn new(shared: Shared, runtime: runtime::Handle) -> Connection {
        let output = Arc::new(StdoutWriter::default());
        let work = Work::new(shared.clone(), output.clone(), runtime);
        let limit = RateLimit::new(shared.rate_limit);
        Connection { session: Session::stdio(), output, work, limit, shared, rested: Instant::now() }
    }

    /// Reads until the end of input or until woken, then finishes what is in work.
    fn run(mut self, wake: &OwnedFd, ready: impl FnOnce()) {
        let mut lines = Lines::new(self.shared.max_bytes);
        let mut buffer = vec![0; READ_BUFFER];
        ready();
        while !self.output.is_closed() {
            match read(&mut buffer, wake, || self.rest()) {
                Read::Woken => break,
                Read::Bytes(0) => {
                    lines.end(|line| self.line(line));
                    break;
                }
                Read::Bytes(len) => lines.feed(&buffer[..len], |line| self.line(line)),
            }
            self.output.flush();
            if self.rested.elapsed() > REST {
                self.rest();
            }
        }
        self.session.enter(ConnectionState::Shutting);
        self.work.drain();
        self.output.flush();
        self.work.settle();
        self.session.enter(ConnectionState::Closed);
    }

    /// Gives back what is not needed: what this thread took for requests and others have done with, too. Whether that was
    /// all, because nothing is in work.
    fn rest(&mut self) -> bool {
        self.rested = Instant::now();
        let all = self.work.is_idle() && self.output.free_if_idle();
        allocator::collect();
        all
    }

    fn line(&mut self, line: Line) {
        let line = match line {
            Line::Whole(line) => line,
            Line::TooLong => {
                let limit = self.shared.max_bytes;
                let why = format!("Invalid request: a line of more than {limit} bytes (--max-size)");
                return self.refuse(code::INVALID_REQUEST, &why, Id::null());
            }
        };
        if line.trim_ascii().is_empty() {
            return;
        }
        self.session.receive();
        let admit = &mut || self.limit.take().is_ok();
        let service = &self.shared.service;
        let step = catch_unwind(AssertUnwindSafe(|| service.mcp_within(&mut self.session, admit, line)));
        match step {
            Ok(step) => self.carry_out(step),
            Err(_) => self.refuse(code::INTERNAL_ERROR, "Internal error", Service::id_of(line)),
        }
    }

    fn carry_out(&mut self, step: Step) {
        // A cancellation takes no room, it makes some.
        if !matches!(step, Step::Silent | Step::Cancel(_)) {
            self.work.wait_for_room();
        }
        match step {
            Step::Silent => {}
            Step::Cancel(id) => self.work.cancel(&id),
            Step::Answer(answer) => self.output.push(answer),
            Step::Call(pending) => self.call(pending),
            Step::Batch(steps) => self.work.take_batch(steps),
        }
    }

    fn call(&mut self, pending: Pending) {
        if self.work.is_busy(pending.file()) {
            return self.work.take(pending);
        }
        let workspace = &self.shared.workspace;
        match catch_unwind(AssertUnwindSafe(|| {
            pending.run_at_once(workspace).map(|result| pending.answer(result))
        })) {
            Ok(Some(answer)) => self.output.push(answer),
            Ok(None) => self.work.take(pending),
            Err(_) => self.output.push(pending.panicked()),
        }
    }

    fn refuse(&mut self, code: i32, message: &str, id: Id) {
        self.output.push(refusal(id, code, message));
    }
}

/// What waiting for input brought.
enum Read {
    /// So many bytes; none at the end of input.
    Bytes(usize),
    /// A signal: nothing more is read.
    Woken,
}

/// Reads what there is; as long as nothing comes, calls `rest` now and then until it says that it has given back all.
fn read(buffer: &mut [u8], wake: &OwnedFd, mut rest: impl FnMut() -> bool) -> Read {
    let stdin = rustix::stdio::stdin();
    let patience = Timespec { tv_sec: REST.as_secs() as i64, tv_nsec: 0 };
    let mut rested = false;
    loop {
        let mut ready = [PollFd::new(&stdin, PollFlags::IN), PollFd::new(wake, PollFlags::IN)];
        match poll(&mut ready, (!rested).then_some(&patience)) {
            Ok(0) => {
                rested = rest();
                continue;
            }
            Ok(_) if !ready[1].revents().is_empty() => return Read::Woken,
            Err(Errno::INTR) => continue,
            Ok(_) => {}
            // Not something that can be waited for: just read.
            Err(_) => {}
        }
        match rustix::io::read(stdin, &mut *buffer) {
            Ok(len) => return Read::Bytes(len),
            Err(Errno::INTR | Errno::AGAIN) => {}
            Err(_) => return Read::Bytes(0),
        }
    }
}

/// Cuts input into lines, wherever the reads cut it.
struct Lines {
    partial: BodyBuffer,
    max: usize,
    /// The line is too long, has been refused, and is skipped to its end.
    skipping: bool,
    first: bool,
}

enum Line<'a> {
    Whole(&'a [u8]),
    TooLong,
}

impl Lines {
    fn new(max: usize) -> Lines {
        Lines { partial: BodyBuffer::new(max), max, skipping: false, first: true }
    }

    fn feed(&mut self, mut bytes: &[u8], mut each: impl FnMut(Line)) {
        while let Some(end) = memchr::memchr(b'\n', bytes) {
            let (line, rest) = (&bytes[..end], &bytes[end + 1..]);
            bytes = rest;
            if std::mem::take(&mut self.skipping) {
                continue;
            }
            if self.partial.len() + line.len() > self.max {
                each(Line::TooLong);
            } else if self.partial.is_empty() {
                each(Line::Whole(trimmed(line, &mut self.first)));
            } else {
                self.partial.push(line);
                each(Line::Whole(trimmed(&self.partial, &mut self.first)));
            }
            self.partial.clear();
        }
        if self.skipping {
            return;
        }
        if self.partial.len() + bytes.len() > self.max {
            self.skipping = true;
            self.partial.clear();
            each(Line::TooLong);
        } else {
            self.partial.push(bytes);
        }
    }

    /// The end of input ends the last line, too.
    fn end(&mut self, mut each: impl FnMut(Line)) {
        if !self.partial.is_empty() && !self.skipping {
            each(Line::Whole(trimmed(&self.partial, &mut self.first)));
        }
    }
}

/// Without the final `\r`, and the first line without a byte order mark.
fn trimmed<'a>(line: &'a [u8], first: &mut bool) -> &'a [u8] {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    if std::mem::take(first) { line.strip_prefix(BOM).unwrap_or(line) } else { line }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(max: usize, reads: &[&[u8]]) -> Vec<String> {
        let mut lines = Lines::new(max);
        let mut seen = Vec::new();
        let mut each = |line: Line| {
            seen.push(match line {
                Line::Whole(line) => String::from_utf8_lossy(line).into_owned(),
                Line::TooLong => "TOO LONG".into(),
            });
        };
        for read in reads {
            lines.feed(read, &mut each);
        }
        lines.end(&mut each);
        seen
    }

    #[test]
    fn lines_are_whole_wherever_the_reads_cut_them() {
        let input = b"\xEF\xBB\xBFone\r\n\ntwo\nthree";
        for cut in 0..=input.len() {
            assert_eq!(lines(100, &[&input[..cut], &input[cut..]]), ["one", "", "two", "three"]);
        }
        let single: Vec<&[u8]> = input.chunks(1).collect();
        assert_eq!(lines(100, &single), ["one", "", "two", "three"]);
    }

    #[test]
    fn a_line_too_long_is_refused_once_and_the_next_is_read() {
        let input = b"12345\n123456\n1\n1234567890123\n12345\n";
        let expected = ["12345", "TOO LONG", "1", "TOO LONG", "12345"];
        for size in 1..input.len() {
            let reads: Vec<&[u8]> = input.chunks(size).collect();
            assert_eq!(lines(5, &reads), expected, "{size}");
        }
        assert_eq!(lines(3, &[b"1234"]), ["TOO LONG"]);
    }

    #[test]
    fn a_panic_in_place_is_an_answer_and_the_next_request_is_served() {
        let (_folder, shared) = super::super::testing::shared();
        let runtime = runtime::Builder::new_multi_thread().enable_time().build().unwrap();
        let mut connection = Connection::new(shared, runtime.handle().clone());
        connection.call(crate::protocol::test_calls::tool("7", true));
        let answer = connection.output.take();
        assert_eq!(
            answer,
            "{\"jsonrpc\":\"2.0\",\"id\":7,\"error\":{\"code\":-32603,\"message\":\"Internal error\"}}\n"
        );
        connection.line(Line::Whole(br#"{"jsonrpc":"2.0","id":8,"method":"ping"}"#));
        assert_eq!(connection.output.take(), "{\"jsonrpc\":\"2.0\",\"id\":8,\"result\":{}}\n");
    }
}
