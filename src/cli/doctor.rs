//! `--doctor`: prints what the engine's checks find, and what would be served.

use std::io::ErrorKind;
use std::net::TcpListener;
use std::path::PathBuf;

#[cfg(feature = "toolkit")]
use super::serve_templates;
use super::start_error::is_a_file;
use super::{Config, Stop, Transport, bind_admin, cannot_listen, cannot_open, cannot_start, log};
use crate::tools::Offered;
use crate::transport::check_descriptors;
use engine::{Finding, Level, Workspace, WorkspaceOptions, check_folder, check_machine, without_missing};
#[cfg(feature = "toolkit")]
use folder::{Control, Error};
#[cfg(feature = "toolkit")]
use toolkit::Analyzer;
#[cfg(feature = "toolkit")]
use toolkit::templates::Broken;

/// How long the start of the analyzer is waited for.
#[cfg(feature = "toolkit")]
const ANALYZER_START: std::time::Duration = std::time::Duration::from_secs(5);

/// Checks the folders and the system, and prints the findings to stdout, one a line. Returns whether none failed. The error is
/// why they cannot be printed.
pub fn examine(config: &Config) -> Result<bool, String> {
    let mut report = Report::default();
    let options = config.workspace_options();
    let mut all_open = true;
    match &options {
        Ok(options) => {
            let (folders, left_out) = without_missing(&config.folders());
            for folder in left_out {
                let missing = Finding::warning(
                    "folder",
                    match folder.is_file() {
                        true => format!("is left out: it {}", is_a_file(&folder)),
                        false => "is missing and is left out; make it, and start the server again".into(),
                    },
                );
                report.add(&folder.display().to_string(), missing);
            }
            for folder in folders {
                let found = check_folder(&folder, options);
                all_open &= found.is_ok();
                let (about, found) =
                    (folder.display().to_string(), found.unwrap_or_else(|failed| vec![failed]));
                found.into_iter().for_each(|finding| report.add(&about, finding));
            }
        }
        Err(stop) => report.add("flags", wrong("command line", stop)),
    }
    check_machine().into_iter().for_each(|finding| report.add("system", finding));
    // What could not be opened is told already, and may not answer: it is not asked once more.
    let options = options.ok().filter(|_| all_open || switches::is_off("doctor-once"));
    served(config, options).into_iter().for_each(|finding| report.add("server", finding));
    report.end()
}

/// The findings so far, as text.
#[derive(Default)]
struct Report {
    text: String,
    counts: [usize; 3],
}

impl Report {
    fn add(&mut self, about: &str, finding: Finding) {
        let Finding { level, what, text } = finding;
        let (name, nth) = match level {
            Level::Ok => ("ok", 0),
            Level::Warning => ("warning", 1),
            Level::Failed => ("failed", 2),
        };
        self.counts[nth] += 1;
        self.text += &log::on_one_line(&format!("{name:<8} {about}: {what}: {text}"));
        self.text.push('\n');
    }

    /// Prints the findings and their numbers. Returns whether none failed.
    fn end(mut self) -> Result<bool, String> {
        let [ok, warnings, failed] = self.counts;
        self.text += &format!("{ok} ok, {warnings} warnings, {failed} failed\n");
        log::print(&self.text)?;
        Ok(failed == 0)
    }
}

fn wrong(what: &'static str, stop: &Stop) -> Finding {
    match stop {
        Stop::Wrong(line) => Finding::failed(what, line.as_str()),
        Stop::Asked(_) | Stop::Entry(_) => Finding::ok(what, ""),
    }
}

/// What a start with these flags would serve, or why it would fail. Without options, the folders cannot be opened.
fn served(config: &Config, options: Option<WorkspaceOptions>) -> Vec<Finding> {
    let mut findings = Vec::new();
    // First, as in a start: what is served does not change later.
    #[cfg(feature = "toolkit")]
    findings.extend(templates(config));
    let opened = options.map(|options| {
        // This must leave the folders as they are: a start would remove leftovers.
        Workspace::open(&config.folders(), WorkspaceOptions { read_only: true, ..options })
    });
    match &opened {
        Some(Ok(workspace)) => {
            let folders = workspace.folder_paths().folders();
            findings.push(Finding::ok("folders", listed(folders)));
            match config.offered(folders.len()) {
                Ok(offered) => findings.extend(tools(&offered)),
                Err(stop) => findings.push(wrong("tools", &stop)),
            }
        }
        Some(Err(error)) => findings.push(wrong("start", &cannot_open(error))),
        None => {}
    }
    #[cfg(feature = "toolkit")]
    findings.push(analyzer());
    if !switches::is_off("doctor-ports") {
        findings.extend(ports(config));
    }
    findings.extend(check_descriptors().err().map(|error| Finding::failed("start", cannot_start(error))));
    findings.extend(config.token().err().map(|stop| wrong("token", &stop)));
    findings.extend(config.token_doubt().map(|doubt| Finding::warning("token", doubt)));
    if config.read_only {
        findings.push(Finding::ok("changes", "none (--read-only)"));
    }
    findings
}

/// Whether the program that parses source code starts, and what confines it.
#[cfg(feature = "toolkit")]
fn analyzer() -> Finding {
    match Analyzer::default().start(&Control::new(ANALYZER_START)) {
        Ok(hello) => {
            let by = hello.confined_by.join(", ");
            let by = if by.is_empty() { "nothing that this system has".into() } else { by };
            Finding::ok("analyzer", format!("starts, version {}, confined by {by}", hello.version))
        }
        Err(Error::OfTool(failure)) => Finding::warning("analyzer", failure.message),
        Err(_) => Finding::warning("analyzer", "it does not start in time"),
    }
}

fn listed(folders: &[PathBuf]) -> String {
    folders.iter().map(|folder| folder.display().to_string()).collect::<Vec<_>>().join(", ")
}

/// Whether both ports are free at once.
fn ports(config: &Config) -> Vec<Finding> {
    let admin = bind_admin(config, None);
    let mut findings = vec![transport(config)];
    // If this server runs already, it has both.
    let may_run = findings[0].level == Level::Warning;
    let what = "admin port";
    match admin {
        Ok(None) => {}
        Ok(Some(port)) => findings.push(Finding::ok(what, format!("{}, which is free", port.address()))),
        Err(stop) if may_run => findings.push(Finding { level: Level::Warning, ..wrong(what, &stop) }),
        Err(stop) => findings.push(wrong(what, &stop)),
    }
    findings
}

fn transport(config: &Config) -> Finding {
    let what = "transport";
    if config.transport() == Transport::Stdio {
        return Finding::ok(what, "stdio");
    }
    let (host, port) = (config.host, config.port);
    match TcpListener::bind((host, port)) {
        Ok(_) => Finding::ok(what, format!("http, {host} port {port}, which is free")),
        Err(error) if error.kind() == ErrorKind::AddrInUse => Finding::warning(
            what,
            format!(
                "http, {host} port {port}: cannot listen now: {error}; choose another --port, unless this server runs already"
            ),
        ),
        Err(error) => wrong(what, &cannot_listen(config, &error)),
    }
}

/// The operator's own templates, if there are to be any.
#[cfg(feature = "toolkit")]
fn templates(config: &Config) -> Vec<Finding> {
    let what = "templates";
    let Some(folder) = &config.templates else { return Vec::new() };
    match serve_templates(config) {
        Ok([]) => vec![Finding::ok(what, folder.display().to_string())],
        Ok(broken) => {
            let told = |broken: &Broken| format!("{} is left out: {}", broken.folder, broken.problem);
            broken.iter().map(|broken| Finding::warning(what, told(broken))).collect()
        }
        Err(stop) => vec![wrong(what, &stop)],
    }
}

/// The tools of each set, and the number of the first line in it.
fn tools(offered: &[Offered]) -> Vec<Finding> {
    let mut sets: Vec<(&str, Vec<&str>, u64)> = Vec::new();
    for Offered { set, tool, base } in offered {
        match sets.last_mut().filter(|(name, ..)| *name == set.name) {
            Some((_, tools, _)) => tools.push(tool.name),
            None => sets.push((set.name, vec![tool.name], base.first())),
        }
    }
    let told = |(set, tools, first): (&str, Vec<&str>, u64)| {
        Finding::ok("tools", format!("{set}: {}; lines count from {first}", tools.join(", ")))
    };
    sets.into_iter().map(told).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_fails_if_a_finding_does_and_keeps_each_on_its_line() {
        let mut report = Report::default();
        report.add("a\nb", Finding::ok("x", "fine"));
        report.add("c", Finding::failed("y", "not fine"));
        assert_eq!(report.text, "ok       a\\nb: x: fine\nfailed   c: y: not fine\n");
        assert_eq!(report.counts, [1, 0, 1]);
        assert_eq!((report.end(), Report::default().end()), (Ok(false), Ok(true)));
    }
}
