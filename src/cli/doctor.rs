//! `--doctor`: prints what the engine's checks find, and what would be served.

use std::net::TcpListener;
use std::path::PathBuf;

use super::{Config, Stop, Transport, cannot_open, log};
use crate::engine::{Finding, Level, OpenError, Workspace, check_folder, check_machine};
use crate::tools::Offered;

/// Checks the folders and the system, and prints the findings to stdout, one a line. Returns whether none failed.
pub fn examine(config: &Config) -> bool {
    let mut report = Report::default();
    let options = config.workspace_options();
    match &options {
        Ok(options) => {
            for folder in config.folders() {
                let about = folder.display().to_string();
                check_folder(&folder, options).into_iter().for_each(|finding| report.add(&about, finding));
            }
        }
        Err(stop) => report.add("flags", wrong("command line", stop)),
    }
    check_machine().into_iter().for_each(|finding| report.add("system", finding));
    served(config).into_iter().for_each(|finding| report.add("server", finding));
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
    fn end(mut self) -> bool {
        let [ok, warnings, failed] = self.counts;
        self.text += &format!("{ok} ok, {warnings} warnings, {failed} failed\n");
        log::print(&self.text);
        failed == 0
    }
}

fn wrong(what: &'static str, stop: &Stop) -> Finding {
    match stop {
        Stop::Wrong(line) => Finding::failed(what, line.as_str()),
        Stop::Asked(_) | Stop::Entry(_) => Finding::ok(what, ""),
    }
}

/// What a start with these flags would serve, or why it would fail.
fn served(config: &Config) -> Vec<Finding> {
    let opened = config.workspace_options().map(|options| {
        // This must leave the folders as they are: a start would remove leftovers.
        let options = crate::engine::WorkspaceOptions { read_only: true, ..options };
        Workspace::open(&config.folders(), options)
    });
    let folders = match opened {
        Ok(Ok(workspace)) => workspace.folder_paths().folders().to_vec(),
        // The checks of the folder have told that.
        Ok(Err(OpenError::Unusable(..))) => return Vec::new(),
        Ok(Err(error)) => return vec![wrong("start", &cannot_open(&error))],
        Err(_) => return Vec::new(),
    };
    let mut findings = vec![Finding::ok("folders", listed(&folders))];
    findings.push(transport(config));
    match config.offered(folders.len()) {
        Ok(offered) => findings.extend(tools(&offered)),
        Err(stop) => findings.push(wrong("tools", &stop)),
    }
    if let Err(stop) = config.token() {
        findings.push(wrong("token", &stop));
    }
    if config.read_only {
        findings.push(Finding::ok("changes", "none (--read-only)"));
    }
    findings
}

fn listed(folders: &[PathBuf]) -> String {
    folders.iter().map(|folder| folder.display().to_string()).collect::<Vec<_>>().join(", ")
}

fn transport(config: &Config) -> Finding {
    let what = "transport";
    if config.transport() == Transport::Stdio {
        return Finding::ok(what, "stdio");
    }
    let (host, port) = (config.host, config.port);
    match TcpListener::bind((host, port)) {
        Ok(_) => Finding::ok(what, format!("http, {host} port {port}, which is free")),
        Err(error) => Finding::warning(
            what,
            format!(
                "http, {host} port {port}: cannot listen now: {error}; choose another --port, unless this server runs already"
            ),
        ),
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
        assert!(!report.end() && Report::default().end());
    }
}
