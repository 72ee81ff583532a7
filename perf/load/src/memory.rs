//! The memory of processes: idle, at the peak during requests, after the last answer, and later.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use serde::Serialize;

use crate::http::Connection;
use crate::job::{MemoryJob, MemoryRun};
use crate::server::{Memory, Server, Wire};
use crate::{Outcome, hear, say};

/// Time between two samples during requests.
const EVERY: Duration = Duration::from_micros(200);
/// Time from the handshake to the sample of the idle process.
const SETTLED: Duration = Duration::from_secs(6);

#[derive(Serialize, Default)]
struct Report {
    name: String,
    idle: Memory,
    peak: Memory,
    after: Memory,
    later: Memory,
    looks: usize,
    failed: Option<String>,
}

pub(crate) fn run() -> Outcome<()> {
    let job: MemoryJob = hear()?;
    let mut all: Vec<(Report, Option<Server>)> = job.runs.iter().map(one).collect();
    thread::sleep(Duration::from_millis(job.later_ms));
    for (report, server) in &mut all {
        report.later = server.as_ref().map_or(Memory::default(), |server| Memory::of(server.pid()));
    }
    say(&all.into_iter().map(|(report, _)| report).collect::<Vec<_>>())
}

fn one(run: &MemoryRun) -> (Report, Option<Server>) {
    let mut report = Report { name: run.name.clone(), ..Report::default() };
    match ask(run, &mut report) {
        Ok(server) => (report, Some(server)),
        Err(why) => (Report { failed: Some(why), ..report }, None),
    }
}

fn ask(run: &MemoryRun, report: &mut Report) -> Outcome<Server> {
    let mut server = Server::start(&run.start)?;
    thread::sleep(SETTLED);
    report.idle = Memory::of(server.pid());
    let pid = server.pid();
    let mut others = others(&server, run)?;
    let done = AtomicBool::new(false);
    let (peak, looks, asked) = thread::scope(|scope| {
        let sampler = scope.spawn(|| sample(pid, &done));
        let asked = (0..run.times).try_for_each(|_| batches(&mut server, &mut others, run));
        done.store(true, Ordering::Release);
        let (peak, looks) = sampler.join().unwrap_or_default();
        (peak, looks, asked)
    });
    asked?;
    (report.peak, report.looks) = (peak, looks);
    report.after = Memory::of(pid);
    Ok(server)
}

/// Over HTTP, each request in flight needs its own connection.
fn others(server: &Server, run: &MemoryRun) -> Outcome<Vec<Connection>> {
    match server.wire {
        Wire::Http(port, ..) => (0..run.at_once).map(|_| Connection::new(port)).collect(),
        Wire::Stdio(_) => Ok(Vec::new()),
    }
}

fn sample(pid: u32, done: &AtomicBool) -> (Memory, usize) {
    let (mut peak, mut looks) = (Memory::default(), 0);
    while !done.load(Ordering::Acquire) {
        peak = peak.most(Memory::of(pid));
        looks += 1;
        thread::sleep(EVERY);
    }
    (peak.most(Memory::of(pid)), looks)
}

/// Sends all requests, `at_once` at a time.
fn batches(server: &mut Server, others: &mut [Connection], run: &MemoryRun) -> Outcome<()> {
    for batch in run.requests.chunks(run.at_once) {
        let _watched = server.watched();
        for (at, request) in batch.iter().enumerate() {
            match others.get_mut(at) {
                Some(connection) => connection.send(request)?,
                None => server.send(request)?,
            }
        }
        match &mut server.wire {
            Wire::Stdio(pipes) => pipes.take(batch.len())?,
            Wire::Http(..) => {
                for connection in &mut others[..batch.len()] {
                    if connection.receive(None)?.failed {
                        return Err("an answer says that it failed".into());
                    }
                }
            }
        }
    }
    Ok(())
}
