//! Watches the memory and CPU time of the process, and logs a status on SIGUSR1. When the server is idle, it
//! returns unused memory and the pages of its code to the system. As the first process of a container, it takes the ends of orphans.
//!
//! Warns once when a value passes its limit, and again only after the value was well below it. Knows no
//! requests; the executor counts their results.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::io;
use std::time::{Duration, Instant};

use tokio::task::unconstrained;
use tokio::time::{MissedTickBehavior, interval_at};

use super::allocator;
use crate::exec::{FailureKey, METRICS};
use crate::protocol::Category;
use engine;
use sys::memory::{self, MemoryUse};
use sys::process::cpu_time;
use sys::signal::StatusSignal;

/// The target of lines that the operator requests; shown at every level.
pub const ASKED: &str = "asked";

/// Time between two samples. An idle server returns memory within two samples, which is less than the 10 s of
/// contract 9.
const EVERY: Duration = Duration::from_secs(4);

/// The period over which CPU time is measured.
const WINDOW: Duration = Duration::from_secs(60);

/// Limits for warnings: percent of the memory limit, and of one CPU core.
const MEMORY_HIGH: u64 = 80;
const CORE_BUSY: u64 = 90;

/// A server is idle if it uses less CPU time than this between two samples. More than a sample itself uses.
const RESTING: Duration = Duration::from_millis(20);

/// A crossing ends when the value is this many percentage points below its limit.
const WELL_BELOW: u64 = 10;

/// See the module.
#[derive(Debug)]
pub(in crate::transport) struct ProcessStats {
    started: Instant,
    asked: StatusSignal,
}

impl ProcessStats {
    /// Call it within a runtime. SIGUSR1 then no longer kills the process.
    pub(in crate::transport) fn start() -> io::Result<ProcessStats> {
        Ok(ProcessStats { started: Instant::now(), asked: StatusSignal::listen()? })
    }

    /// Watches until `work` is done. Calls `when_idle` after every sample in which the server was idle. Call it
    /// on the main thread: only there, the allocator returns all of its free memory.
    pub(in crate::transport) async fn beside<T>(
        &mut self,
        work: impl Future<Output = T>,
        when_idle: impl AsyncFnMut(),
    ) -> T {
        // Without tokio's budget, so that a busy server cannot delay the watch.
        let watch = unconstrained(watch(&mut self.asked, self.started, when_idle));
        tokio::select! {
            biased;
            done = work => done,
            never = watch => match never {},
        }
    }

    /// Logs the totals and the failures of a server that stops normally.
    pub(in crate::transport) fn stopped(&self) {
        let totals = Totals::now(self.started);
        let Totals { uptime_s, cpu_s, .. } = totals;
        tracing::info!(uptime_s, cpu_s, calls = METRICS.calls(), failures = totals.failures(), "stopped");
        for (operation, category, count) in totals.by_operation {
            tracing::info!(operation, error_category = category.as_str(), count, "failures");
        }
    }
}

async fn watch(asked: &mut StatusSignal, started: Instant, mut when_idle: impl AsyncFnMut()) -> Infallible {
    let mut ticks = interval_at((started + EVERY).into(), EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut limit = None;
    let (mut watch, mut idle) = (Watch::default(), IdleDetector::new(cpu_time(), METRICS.calls()));
    loop {
        tokio::select! {
            () = asked.next() => status(started),
            _ = ticks.tick() => {
                engine::take_orphans();
                let limit = *limit.get_or_insert_with(memory::limit);
                let sample = Sample::now(started);
                watch.observe(&sample, limit).iter().for_each(warn);
                if idle.goes_on(&sample, METRICS.calls()) && !switches::is_off("rest-memory") {
                    when_idle().await;
                    allocator::collect();
                    memory::release_code();
                }
            }
        }
    }
}

/// Logs the status for SIGUSR1.
fn status(started: Instant) {
    let totals = Totals::now(started);
    let MemoryUse { resident, anonymous } = memory::used().unwrap_or_default();
    let Totals { uptime_s, cpu_s, .. } = totals;
    let (calls, failures) = (METRICS.calls(), totals.failures());
    tracing::info!(target: ASKED, uptime_s, cpu_s, resident, anonymous, calls, failures, "status");
    for (operation, category, count) in totals.by_operation {
        tracing::info!(target: ASKED, operation, error_category = category.as_str(), count, "failures");
    }
}

/// The values that both the status and the end log.
struct Totals {
    uptime_s: f64,
    cpu_s: f64,
    by_operation: Vec<(&'static str, Category, u64)>,
}

impl Totals {
    fn now(started: Instant) -> Totals {
        let seconds = |time: Duration| time.as_millis() as f64 / 1_000.0;
        let (uptime_s, cpu_s) = (seconds(started.elapsed()), seconds(cpu_time()));
        let mut by_operation: Vec<(&'static str, Category, u64)> = Vec::new();
        for (FailureKey { operation, category, .. }, count) in METRICS.failures() {
            // Failures of different kinds follow each other.
            match by_operation.last_mut() {
                Some((last, of, total)) if (*last, *of) == (operation, category) => *total += count,
                _ => by_operation.push((operation, category, count)),
            }
        }
        Totals { uptime_s, cpu_s, by_operation }
    }

    fn failures(&self) -> u64 {
        self.by_operation.iter().map(|(.., count)| count).sum()
    }
}

/// The state of the process at one moment.
#[derive(Debug, Clone, Copy)]
struct Sample {
    /// Time since the start.
    at: Duration,
    cpu: Duration,
    /// `None` if the system does not report it.
    memory: Option<MemoryUse>,
}

impl Sample {
    fn now(started: Instant) -> Sample {
        Sample { at: started.elapsed(), cpu: cpu_time(), memory: memory::used() }
    }
}

/// A warning for the operator.
#[derive(Debug, PartialEq, Eq)]
enum Warning {
    Memory { anonymous: u64, limit: u64 },
    Processor { percent: u64 },
}

fn warn(warning: &Warning) {
    match *warning {
        Warning::Memory { anonymous, limit } => tracing::warn!(
            anonymous,
            limit,
            "the process holds more than {MEMORY_HIGH} % of the memory that it may use"
        ),
        Warning::Processor { percent } => tracing::warn!(
            percent,
            "the process has used {CORE_BUSY} % of a core or more for {} s",
            WINDOW.as_secs()
        ),
    }
}

/// Turns samples into warnings.
#[derive(Debug, Default)]
struct Watch {
    memory: Crossing,
    processor: Crossing,
    /// Time and CPU time of each sample in the last [`WINDOW`], and of one sample before it.
    window: VecDeque<(Duration, Duration)>,
}

impl Watch {
    fn observe(&mut self, sample: &Sample, limit: Option<u64>) -> Vec<Warning> {
        let mut warnings = Vec::new();
        if let (Some(MemoryUse { anonymous, .. }), Some(limit)) = (sample.memory, limit)
            && self.memory.passes(percent(anonymous, limit), MEMORY_HIGH)
        {
            warnings.push(Warning::Memory { anonymous, limit });
        }
        if let Some(percent) = self.percent_of_a_core(sample)
            && self.processor.passes(percent, CORE_BUSY)
        {
            warnings.push(Warning::Processor { percent });
        }
        warnings
    }

    /// `None` until a whole window has passed.
    fn percent_of_a_core(&mut self, sample: &Sample) -> Option<u64> {
        self.window.push_back((sample.at, sample.cpu));
        while self.window.get(1).is_some_and(|(at, _)| sample.at.saturating_sub(*at) >= WINDOW) {
            self.window.pop_front();
        }
        let (at, cpu) = *self.window.front()?;
        let wall = sample.at.saturating_sub(at);
        let used = sample.cpu.saturating_sub(cpu);
        (wall >= WINDOW).then(|| percent(used.as_millis() as u64, wall.as_millis() as u64))
    }
}

fn percent(part: u64, whole: u64) -> u64 {
    u64::try_from(u128::from(part) * 100 / u128::from(whole.max(1))).unwrap_or(u64::MAX)
}

/// Whether a value is past its limit; reported once.
#[derive(Debug, Default)]
struct Crossing {
    past: bool,
}

impl Crossing {
    fn passes(&mut self, percent: u64, limit: u64) -> bool {
        let before = self.past;
        self.past = percent >= limit - if before { WELL_BELOW } else { 0 };
        self.past && !before
    }
}

/// Finds out whether the server was idle since the last sample.
#[derive(Debug)]
struct IdleDetector {
    /// CPU time and calls at the last sample.
    cpu: Duration,
    calls: u64,
}

impl IdleDetector {
    fn new(cpu: Duration, calls: u64) -> IdleDetector {
        IdleDetector { cpu, calls }
    }

    fn goes_on(&mut self, sample: &Sample, calls: u64) -> bool {
        let before = std::mem::replace(self, IdleDetector::new(sample.cpu, calls));
        calls == before.calls && sample.cpu.saturating_sub(before.cpu) < RESTING
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(at: u64, cpu: f64, anonymous: u64) -> Sample {
        let memory = Some(MemoryUse { resident: anonymous, anonymous });
        Sample { at: Duration::from_secs(at), cpu: Duration::from_secs_f64(cpu), memory }
    }

    #[test]
    fn memory_is_warned_of_once_for_each_time_that_it_passes_the_limit() {
        let mut watch = Watch::default();
        let mut warned = |anonymous| {
            watch.observe(&sample(0, 0.0, anonymous), Some(1_000))
                == [Warning::Memory { anonymous, limit: 1_000 }]
        };
        assert!(!warned(799));
        assert!(warned(800));
        // At the limit, above it, and a little below it: still the same crossing.
        assert!(!warned(800) && !warned(950) && !warned(790) && !warned(810));
        assert!(!warned(600));
        assert!(warned(850));
    }

    #[test]
    fn without_a_limit_or_a_figure_there_is_no_warning() {
        let mut watch = Watch::default();
        assert_eq!(watch.observe(&sample(0, 0.0, u64::MAX), None), []);
        let untold = Sample { memory: None, ..sample(5, 0.0, 0) };
        assert_eq!(watch.observe(&untold, Some(1)), []);
    }

    #[test]
    fn a_core_that_is_busy_for_a_minute_is_warned_of_once() {
        let mut watch = Watch::default();
        let warnings: Vec<_> = (0..60)
            .flat_map(|tick| {
                let at = tick * 5;
                watch
                    .observe(&sample(at, at as f64 * 0.95, 0), Some(1))
                    .into_iter()
                    .map(move |warning| (at, warning))
            })
            .collect();
        assert_eq!(warnings, [(60, Warning::Processor { percent: 95 })]);
    }

    #[test]
    fn a_burst_shorter_than_a_minute_is_no_warning() {
        let mut watch = Watch::default();
        for tick in 0..60 {
            let at = tick * 5;
            // Two cores for 25 s of each minute.
            let cpu = (at / 60 * 50 + (at % 60).min(25) * 2) as f64;
            assert_eq!(watch.observe(&sample(at, cpu, 0), Some(1)), [], "{at}");
        }
    }

    #[test]
    fn a_server_that_was_idle_for_hours_is_judged_by_its_last_minute() {
        let mut watch = Watch::default();
        assert_eq!(watch.observe(&sample(0, 0.0, 0), None), []);
        assert_eq!(watch.observe(&sample(10_000, 0.0, 0), None), []);
        // The process was suspended: the first sample after it covers a long time, and shows only the
        // average.
        assert_eq!(watch.observe(&sample(10_030, 30.0, 0), None), []);
        assert_eq!(watch.observe(&sample(10_060, 60.0, 0), None), [Warning::Processor { percent: 100 }]);
    }

    #[test]
    fn a_server_rests_that_was_asked_nothing_and_does_nothing() {
        let mut idle = IdleDetector::new(Duration::from_millis(500), 7);
        let mut goes_on = |cpu: f64, calls: u64| idle.goes_on(&sample(0, cpu, 0), calls);
        assert!(!goes_on(0.9, 7), "it still works");
        assert!(goes_on(0.901, 7));
        assert!(goes_on(0.902, 7), "still");
        assert!(!goes_on(0.903, 8), "it was asked something");
        assert!(goes_on(0.904, 8));
    }

    #[test]
    fn the_process_has_used_some_processor_time_and_memory() {
        let sample = Sample::now(Instant::now());
        assert!(sample.cpu > Duration::ZERO);
        assert!(sample.memory.is_some_and(|memory| 0 < memory.anonymous && 0 < memory.resident));
    }
}
