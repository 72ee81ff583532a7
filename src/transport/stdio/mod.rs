//! MCP and direct JSON-RPC over standard input and output (contract 6.4): reads lines, writes answers.
//!
//! One thread reads requests and answers those that need no waiting; the executor runs all others. Short
//! answers are buffered until there is no more input to read.

mod input;
mod stdout_writer;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use tokio::runtime;
use tokio::sync::oneshot;

use self::input::{InputLine, LineSplitter, ReadResult};
use self::stdout_writer::StdoutWriter;
use super::admin::Draining;
use super::http::admin::AdminPort;
use super::net::rate_limit::RateLimit;
use super::process::{allocator, shutdown, stats::ProcessStats};
use super::{Shared, check_descriptors};
use crate::exec::{self, BatchError, Ended, Executor, Notify, Pipeline, Task};
use crate::protocol::{
    Answer, ConnectionState, Id, NO_ROOM, PendingCall, Service, Session, Step, code, refusal,
};
use sys::event::Wake;
use sys::stdio::{grow_output, start_input};

/// Bytes read at once.
const READ_BUFFER: usize = 64 * 1024;

/// Size of the output pipe, in bytes: large enough that the client reads while the server writes. Not larger,
/// because the system limits the sum over all pipes of a user (64 MB).
const PIPE: usize = 1 << 18;

/// The reading thread frees unused memory at most once in this time, with and without requests.
const FREE_EVERY: Duration = Duration::from_secs(3);

/// How long the end waits for calls that were answered as late and still run.
const SETTLE: Duration = Duration::from_secs(1);

/// Serves until the end of input or a signal. Calls `bind_admin` for the admin port, and `ready` with its address when nothing
/// can fail any more. `failed` tells why the server cannot start.
pub fn serve<E>(
    shared: Shared,
    bind_admin: impl FnOnce() -> Result<Option<AdminPort>, E>,
    ready: impl FnOnce(Option<SocketAddr>) + Send + 'static,
    failed: impl Fn(io::Error) -> E,
) -> Result<(), E> {
    allocator::prepare();
    let (runtime, signals, stats) = prepare(shared.max_in_flight).map_err(&failed)?;
    // After the signals are caught: who can reach the port may end the server.
    let admin = bind_admin()?;
    serve_with(shared, runtime, signals, stats, admin, ready).map_err(failed)
}

/// The runtime, with one thread for signals and timers, and the signals that are caught from now on.
fn prepare(max_in_flight: usize) -> io::Result<(runtime::Runtime, shutdown::Signals, ProcessStats)> {
    check_descriptors()?;
    grow_output(PIPE);
    start_input()?;
    let runtime = exec::configure(&mut runtime::Builder::new_current_thread(), max_in_flight).build()?;
    let (signals, stats) = {
        let _inside = runtime.enter();
        (shutdown::Signals::listen()?, ProcessStats::start()?)
    };
    Ok((runtime, signals, stats))
}

/// The same on this runtime.
fn serve_with(
    shared: Shared,
    runtime: runtime::Runtime,
    signals: shutdown::Signals,
    mut stats: ProcessStats,
    admin: Option<AdminPort>,
    ready: impl FnOnce(Option<SocketAddr>) + Send + 'static,
) -> io::Result<()> {
    let wake = Arc::new(Wake::new()?);
    let reader_wake = wake.clone();
    let (finished, end) = oneshot::channel();
    let workspace = shared.workspace.clone();
    let connection = Connection::new(shared, runtime.handle().clone())?;
    let draining = Draining::default();
    let address = admin.as_ref().map(AdminPort::address);
    if let Some(admin) = admin {
        let _inside = runtime.enter();
        admin.serve(connection.executor.clone(), workspace.clone(), draining.clone())?;
    }
    thread::Builder::new().name("stdio".into()).spawn(move || {
        connection.run(&reader_wake, || ready(address));
        let _ = finished.send(());
    })?;
    let until_the_end = async {
        tokio::pin!(end);
        tokio::select! {
            biased;
            signal = signals.next() => {
                draining.begin();
                tracing::info!(signal, "stopping");
                if !switches::is_off("stdio-wake") {
                    wake.wake()?;
                }
                if tokio::time::timeout(shutdown::GRACE, end).await.is_err() {
                    tracing::warn!("stopped with requests still in work");
                }
            }
            _ = &mut end => tracing::info!("end of input"),
        }
        io::Result::Ok(())
    };
    let when_idle = async || {
        workspace.compact();
        workspace.keep_known();
    };
    let watched = stats.beside(until_the_end, when_idle);
    runtime.block_on(watched)?;
    stats.stopped();
    // Does not wait for a thread that hangs in a system call.
    runtime.shutdown_background();
    Ok(())
}

/// The reading side of the only connection.
struct Connection {
    service: Service,
    max_bytes: usize,
    max_in_flight: usize,
    session: Session,
    executor: Arc<Executor>,
    pipeline: Arc<Pipeline>,
    runtime: runtime::Handle,
    output: Arc<StdoutWriter>,
    notify: Notify,
    limit: RateLimit,
    freed: Instant,
}

impl Connection {
    fn new(shared: Shared, runtime: runtime::Handle) -> io::Result<Connection> {
        let output = Arc::<StdoutWriter>::default();
        let notified = output.clone();
        Ok(Connection {
            executor: Executor::new(shared.limits(), shared.workspace, runtime.clone())?,
            service: shared.service,
            max_bytes: shared.max_bytes,
            max_in_flight: shared.max_in_flight,
            session: Session::stdio(),
            pipeline: Arc::default(),
            runtime,
            output,
            notify: Arc::new(move |notification| notified.notify(notification)),
            limit: RateLimit::new(shared.rate_limit),
            freed: Instant::now(),
        })
    }

    /// Reads until the end of input or a wake-up, then waits for the calls in progress.
    fn run(mut self, wake: &Wake, ready: impl FnOnce()) {
        let mut lines = LineSplitter::new(self.max_bytes);
        let mut buffer = vec![0; READ_BUFFER];
        ready();
        while !self.output.is_closed() {
            match input::read(&mut buffer, wake, FREE_EVERY, || self.free_memory()) {
                ReadResult::Woken => break,
                ReadResult::Bytes(0) => {
                    lines.end(|line| self.line(line));
                    break;
                }
                ReadResult::Bytes(len) => {
                    self.executor.requests_arrived();
                    self.executor.requests_follow();
                    lines.feed(&buffer[..len], |line| self.line(line));
                    self.executor.requests_handled();
                }
            }
            self.output.flush();
            if self.freed.elapsed() > FREE_EVERY {
                self.free_memory();
            }
        }
        self.enter(ConnectionState::Shutting);
        self.executor.end_commands(shutdown::COMMANDS_LEFT);
        if !switches::is_off("stdio-drain") {
            self.runtime.block_on(self.executor.in_progress().below(1));
        }
        self.output.flush();
        // Without the runtime's timer: the runtime may be shutting down.
        let since = Instant::now();
        while !switches::is_off("stdio-settle")
            && self.executor.on_threads().count() > 0
            && since.elapsed() < SETTLE
        {
            thread::sleep(Duration::from_millis(5));
        }
        self.enter(ConnectionState::Closed);
    }

    fn enter(&mut self, state: ConnectionState) {
        tracing::debug!(from = ?self.session.state(), to = ?state, "connection");
        self.session.enter(state);
    }

    /// Frees memory that is not in use. Returns true if no call is in progress, so nothing more can be freed.
    fn free_memory(&mut self) -> bool {
        self.freed = Instant::now();
        let executor = &self.executor;
        executor.forget_old_replies();
        self.service.forget_old_handles();
        let idle = executor.in_progress().count() == 0 && executor.on_threads().count() == 0;
        let all = idle && self.output.free_if_idle();
        allocator::collect();
        all
    }

    fn line(&mut self, line: InputLine) {
        let line = match line {
            InputLine::Whole(line) => line,
            InputLine::TooLong => {
                let limit = self.max_bytes;
                let why = format!("Invalid request: a line of more than {limit} bytes (--max-size)");
                let refused = refusal(Id::null(), code::INVALID_REQUEST, &why);
                return self.output.push(self.executor.refuse(refused));
            }
        };
        if line.trim_ascii().is_empty() {
            return;
        }
        let (received, state) = (Instant::now(), self.session.state());
        let admit = &mut || self.limit.take().is_ok() || switches::is_off("stdio-rate");
        let (service, session) = (&self.service, &mut self.session);
        let parse = || service.mcp_within(session, admit, line);
        let internal_error = || refusal(Service::id_of(line), code::INTERNAL_ERROR, "Internal error");
        let step = self.executor.parse(received, parse, internal_error);
        if self.session.state() != state {
            tracing::debug!(from = ?state, to = ?self.session.state(), "connection");
        }
        self.carry_out(step, received);
    }

    fn carry_out(&mut self, step: Step, received: Instant) {
        match step {
            Step::Silent | Step::Ignored(_) => {}
            // A cancellation does not wait for other calls, because it ends one.
            Step::Cancel(id) => self.pipeline.cancel(&id),
            Step::Answer(answer) => {
                self.wait_for_room();
                self.output.push(answer);
            }
            Step::Call(call) => {
                self.wait_for_room();
                self.call(call, received);
            }
            Step::Batch(steps) => {
                self.wait_for_room();
                self.batch(steps, received);
            }
        }
    }

    /// Reads nothing while the number of calls in progress is at its limit.
    fn wait_for_room(&self) {
        let in_progress = self.executor.in_progress();
        if !switches::is_off("stdio-room") && in_progress.count() >= self.max_in_flight {
            // Answers that are ready must not wait for those calls, and no file stays open for them.
            self.output.flush();
            self.executor.requests_handled();
            self.runtime.block_on(in_progress.below(self.max_in_flight));
        }
    }

    fn call(&self, call: PendingCall, received: Instant) {
        let task = self.executor.task(call, received);
        if (switches::is_off("stdio-order") || !self.pipeline.is_busy(task.call.file()))
            && let Some(answer) = self.executor.run_now(&task)
        {
            return self.output.push(answer);
        }
        let (executor, pipeline, output) =
            (self.executor.clone(), self.pipeline.clone(), self.output.clone());
        exec::start(&self.runtime, run(executor, pipeline, output, self.notify.clone(), task));
    }

    fn batch(&self, steps: Vec<Step>, received: Instant) {
        let (executor, output) = (self.executor.clone(), self.output.clone());
        let (sender, pipeline, at_once) = (output.clone(), self.pipeline.clone(), self.max_in_flight);
        let notify = Some(self.notify.clone()).filter(|_| !switches::is_off("progress-batch"));
        let send_array = move |array| sender.send(array);
        let batch = executor.clone().run_batch(steps, received, pipeline, at_once, notify, send_array);
        exec::start(&self.runtime, async move {
            if let Err(error) = batch.await {
                let _in_progress = executor.in_progress().enter();
                let why = if matches!(error, BatchError::NoRoom) { NO_ROOM } else { "Internal error" };
                let refused = executor.refuse(refusal(Id::null(), code::INTERNAL_ERROR, why));
                send(&executor, &output, refused).await;
            }
        });
    }
}

/// Runs a call after earlier calls for the same file, and sends its answer. Until then it counts as in progress.
/// Meanwhile the client is notified of its progress.
async fn run(
    executor: Arc<Executor>,
    pipeline: Arc<Pipeline>,
    output: Arc<StdoutWriter>,
    notify: Notify,
    task: Arc<Task>,
) {
    let call = executor.admit(task);
    let sender = output.clone();
    let running = executor.run_in_order(&pipeline, &call, move |answer| sender.send(answer));
    if let Ended::Late(answer) = executor.notifying(&call.task, Some(&notify), running).await {
        send(&executor, &output, answer).await;
    }
}

/// Sends an answer from a thread that may block, because the client may not read.
async fn send(executor: &Executor, output: &Arc<StdoutWriter>, answer: Answer) {
    let output = output.clone();
    let _ = executor.threads().spawn(move || output.send(answer)).await;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::test_calls;

    #[test]
    fn a_panic_on_the_thread_that_reads_is_an_answer_and_the_next_request_is_served() {
        let (_folder, shared) = crate::testing::shared();
        let runtime = runtime::Builder::new_multi_thread().enable_time().build().unwrap();
        let mut connection = Connection::new(shared, runtime.handle().clone()).unwrap();
        connection.call(test_calls::tool("7", true), Instant::now());
        let answer = connection.output.take();
        assert_eq!(
            answer,
            "{\"jsonrpc\":\"2.0\",\"id\":7,\"error\":{\"code\":-32603,\"message\":\"Internal error\"}}\n"
        );
        connection.line(InputLine::Whole(br#"{"jsonrpc":"2.0","id":8,"method":"ping"}"#));
        assert_eq!(connection.output.take(), "{\"jsonrpc\":\"2.0\",\"id\":8,\"result\":{}}\n");
    }
}
