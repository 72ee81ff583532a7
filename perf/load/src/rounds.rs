//! Runs the same work for several servers in turn, in many rounds, so that other load of the machine affects
//! all servers equally.

use std::fs;
use std::time::{Duration, Instant};

use serde::Serialize;

use crate::job::{Job, Mode, Run};
use crate::many::Many;
use crate::server::{Server, Wire};
use crate::stdio::{Requests, Seen};
use crate::{Outcome, hear, say};

/// The result of a run: nanoseconds per answer, and the index of each request. With many requests in flight,
/// there are no indexes.
#[derive(Serialize)]
struct Report<'a> {
    name: &'a str,
    samples: Vec<u64>,
    asked: Vec<usize>,
    failed: Option<String>,
}

pub(crate) fn run() -> Outcome<()> {
    let job: Job = hear()?;
    let mut states: Vec<State> = job.runs.iter().map(State::first).collect();
    let failures: Vec<(&str, &Option<String>)> =
        states.iter().map(|state| (&*state.run.name, &state.failed)).collect();
    say(&failures)?;
    let right: Vec<String> = hear()?;
    states.retain(|state| state.failed.is_none() && right.contains(&state.run.name));
    for round in 0..job.rounds {
        let count = states.len().max(1);
        for nth in 0..states.len() {
            // Reverses every other round, because each run affects the speed of the next one.
            let nth = if round % 2 == 0 { nth } else { count - 1 - nth };
            let state = &mut states[(nth + round / 2) % count];
            if state.failed.is_none() && !state.is_spent(&job) {
                state.failed = state.turn(&job).err();
            }
        }
    }
    let reports = states.into_iter().map(|state| Report {
        name: &state.run.name,
        samples: state.samples,
        asked: state.asked,
        failed: state.failed,
    });
    say(&reports.collect::<Vec<_>>())
}

/// The state of one run.
struct State<'a> {
    run: &'a Run,
    /// The requests as they are sent, one line each.
    lines: Vec<String>,
    server: Option<Server>,
    many: Option<(Many, usize)>,
    next: usize,
    /// The first answer to each request.
    seen: Vec<Option<Seen>>,
    samples: Vec<u64>,
    asked: Vec<usize>,
    turns: usize,
    spent: Duration,
    failed: Option<String>,
}

impl<'a> State<'a> {
    /// Starts the server, sends one request and keeps the answer.
    fn first(run: &'a Run) -> State<'a> {
        let end = if run.start.http { "" } else { "\n" };
        let mut state = State {
            run,
            lines: run.requests.iter().map(|request| format!("{request}{end}")).collect(),
            server: None,
            many: None,
            next: 0,
            seen: vec![None; run.requests.len()],
            samples: Vec::new(),
            asked: Vec::new(),
            turns: 0,
            spent: Duration::ZERO,
            failed: None,
        };
        state.failed = state.ask_first().err();
        state
    }

    fn ask_first(&mut self) -> Outcome<()> {
        let mut server = Server::start(&self.run.start)?;
        let mut answer = Vec::new();
        let seen = server.ask(&self.lines[0], Some(&mut answer))?;
        fs::write(&self.run.first, &answer).map_err(|why| why.to_string())?;
        self.note(seen)?;
        match (self.run.mode, &server.wire) {
            (Mode::Window(connections), Wire::Http(port, ..)) => {
                let mut many = Many::new(*port, connections, &self.run.requests)?;
                let len = many.len_of_one(seen.len)?;
                self.many = Some((many, len));
                self.server = Some(server);
            }
            (Mode::Warm | Mode::Window(_), _) => self.server = Some(server),
            (Mode::Fresh | Mode::Start, _) => {}
        }
        Ok(())
    }

    /// Compares an answer with the first one to the same request, and moves to the next request.
    fn note(&mut self, seen: Seen) -> Outcome<()> {
        let place = self.next % self.seen.len();
        let first = *self.seen[place].get_or_insert(seen);
        if seen.failed || seen.len.abs_diff(first.len) > 64 {
            return Err(format!(
                "an answer of {} bytes, first {}; failed: {}",
                seen.len, first.len, seen.failed
            ));
        }
        self.next += 1;
        Ok(())
    }

    fn is_spent(&self, job: &Job) -> bool {
        let most = Duration::from_secs_f64(job.most_ms / 1e3);
        self.spent > most && (self.turns >= 3 || self.spent > 4 * most)
    }

    fn turn(&mut self, job: &Job) -> Outcome<()> {
        let (start, time) = (Instant::now(), Duration::from_secs_f64(job.turn_ms / 1e3));
        self.turns += 1;
        if let Mode::Window(window) = self.run.mode {
            self.pump(window, time)?;
        } else {
            self.warm_up(time)?;
            let before = self.samples.len();
            let clock = Instant::now();
            while self.samples.len() == before
                || (clock.elapsed() < time && self.samples.len() - before < job.turn_requests)
            {
                self.sample()?;
            }
        }
        self.spent += start.elapsed();
        Ok(())
    }

    /// Sends one request that does not count, because other runs have replaced the process's data in the
    /// caches. Not if it would take a large part of the turn.
    fn warm_up(&mut self, time: Duration) -> Outcome<()> {
        let last = Duration::from_nanos(self.samples.last().copied().unwrap_or(0));
        if self.run.mode == Mode::Warm && last < time / 8 {
            self.sample()?;
            self.samples.pop();
            self.asked.pop();
        }
        Ok(())
    }

    fn sample(&mut self) -> Outcome<()> {
        let line = &self.lines[self.next % self.lines.len()];
        let (took, seen) = match (self.run.mode, &mut self.server) {
            (Mode::Start, _) => {
                let clock = Instant::now();
                let mut server = Server::start(&self.run.start)?;
                let seen = server.ask(line, None)?;
                (clock.elapsed(), seen)
            }
            (_, Some(server)) => ask(server, line)?,
            (_, None) => ask(&mut Server::start(&self.run.start)?, line)?,
        };
        self.asked.push(self.next % self.lines.len());
        self.note(seen)?;
        self.samples.push(took.as_nanos() as u64);
        Ok(())
    }

    /// Measures one turn of requests in flight as one sample: the time per answer.
    fn pump(&mut self, window: usize, time: Duration) -> Outcome<()> {
        let expected = self.seen[0].map_or(0, |seen| seen.len);
        let (pumped, len) = match (&mut self.many, &mut self.server) {
            (Some((many, len)), _) => (many.pump(*len, time)?, *len),
            (None, Some(server)) => {
                let _watched = server.watched();
                let Wire::Stdio(pipes) = &mut server.wire else { return Err("not over pipes".into()) };
                (pipes.pump(&Requests::new(&self.lines), window, time)?, expected)
            }
            (None, None) => return Err("is not running".into()),
        };
        if pumped.bytes.abs_diff(pumped.answered * len) > pumped.answered {
            return Err(format!("{} answers of {len} bytes came to {} bytes", pumped.answered, pumped.bytes));
        }
        self.samples.push(pumped.took.as_nanos() as u64 / pumped.answered.max(1) as u64);
        Ok(())
    }
}

fn ask(server: &mut Server, line: &str) -> Outcome<(Duration, Seen)> {
    let clock = Instant::now();
    let seen = server.ask(line, None)?;
    Ok((clock.elapsed(), seen))
}
