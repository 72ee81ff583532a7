//! `cargo bench`: criterion's groups by size, then the table of contract 9's musts, measured on the real binary.
//!
//! - `cargo bench -- <filter>`: the groups that match; `cargo bench -- musts`: only the table.
//! - `cargo bench -- --test`: every bench and every load once, without measuring.
//!
//! Every bench checks its result once before it is timed.

#![allow(clippy::print_stdout)] // Prints the table; no protocol uses this stdout.

mod cores;
mod figures;
mod filter;
mod folder;
mod musts;
mod requests;
mod server;
mod table;
mod texts;

use std::process::ExitCode;
use std::time::Duration;

use criterion::Criterion;

/// Options of criterion without a value. What follows any other option is its value, not the filter.
const FLAGS: [&str; 16] = [
    "--bench",
    "--test",
    "--list",
    "--exact",
    "--ignored",
    "--include-ignored",
    "--quick",
    "--quiet",
    "--verbose",
    "-v",
    "--noplot",
    "-n",
    "--discard-baseline",
    "--nocapture",
    "--show-output",
    "--help",
];

/// What the command line requests for the musts; criterion parses it for its own benches.
struct Asked {
    filter: Option<String>,
    /// Runs everything once, without measuring: for `--test`, and for `cargo test`, which omits `--bench`.
    once: bool,
    /// The command line requests something else than a run.
    no_run: bool,
}

impl Asked {
    fn of(arguments: &[String]) -> Asked {
        let has = |flag: &str| arguments.iter().any(|argument| argument == flag);
        let takes_value = |argument: &str| {
            argument.starts_with('-') && !argument.contains('=') && !FLAGS.contains(&argument)
        };
        let is_value = |at: usize| at > 0 && takes_value(&arguments[at - 1]);
        let filter = (0..arguments.len()).find(|&at| !arguments[at].starts_with('-') && !is_value(at));
        Asked {
            filter: filter.map(|at| arguments[at].clone()),
            once: has("--test") || !has("--bench"),
            no_run: has("--list") || has("--profile-time"),
        }
    }

    fn wants_musts(&self) -> bool {
        !self.no_run && self.filter.as_deref().is_none_or(|filter| filter == "musts")
    }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let asked = Asked::of(&arguments);
    let mut criterion = Criterion::default()
        .without_plots()
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_millis(1_500))
        .configure_from_args();
    cores::bench(&mut criterion);
    filter::bench(&mut criterion);
    requests::bench(&mut criterion);
    folder::bench(&mut criterion);
    criterion.final_summary();
    if !asked.wants_musts() {
        return ExitCode::SUCCESS;
    }
    let rows = musts::measure(asked.once);
    if asked.once {
        println!("Testing musts: {} rows, every load once\nSuccess", rows.len());
        return ExitCode::SUCCESS;
    }
    println!("{}", table::print(&rows));
    if rows.iter().all(table::Row::is_met) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
