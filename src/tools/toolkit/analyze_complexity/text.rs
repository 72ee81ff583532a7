//! The formats `summary` and `full`: text for a model.

use std::fmt::Write;

use serde_json::Value;

use super::findings::{Findings, functions, hundredth, reason, tenth};
use crate::tools::limited::LimitedText;
use crate::tools::walking::TIME;
use crate::tools::{OutputKinds, Reply};
use folder::Result;

/// The reply. `is_full`: the entries are all functions, not only the violations.
pub(super) fn reply(
    findings: &Findings,
    is_full: bool,
    wanted: OutputKinds,
    next: impl Fn(usize) -> (&'static str, Value),
) -> Result<Reply> {
    let note = note(findings);
    let limit = findings.limit.map(|limit| limit.saturating_sub(note.len().min(limit / 4)));
    let mut list = LimitedText::new(limit);
    list.text_mut().push_str(&head(findings));
    let of_files = findings.ranked.as_ref().map_or(0, Vec::len);
    if findings.start.skipped() < of_files {
        let title = format!("\nTop files ({of_files} of {}):", findings.project.files.len());
        list.text_mut().push_str(&title);
    }
    let lines: Box<dyn Iterator<Item = String>> = match is_full {
        true => Box::new(function_lines(findings)),
        false => Box::new(violation_lines(findings)),
    };
    for line in ranking_lines(findings).chain(lines) {
        if list.total() == 0 {
            list.text_mut().push('\n');
        }
        list.push_line(&line);
    }
    if findings.late().is_some() {
        list.stop(TIME);
    }
    let shown = usize::try_from(list.shown()).unwrap_or(usize::MAX);
    let unit = match (of_files > 0, is_full) {
        (true, true) => "ranked files and functions",
        (true, false) => "ranked files and violations",
        (false, true) => "functions",
        (false, false) => "violations",
    };
    list.reply(wanted, unit, || Ok(next(shown)), Some(&note))
}

/// The figures of all files.
fn head(findings: &Findings) -> String {
    let totals = findings.totals();
    let thresholds = findings.thresholds;
    let refused = match findings.project.refused.len() {
        0 => String::new(),
        number => format!(" (and {number} not analyzed, see below)"),
    };
    format!(
        "Complexity ({}). Files: {}{refused}, functions: {}, lines: {}\n\
         Cyclomatic: highest {}, mean {} (threshold {})\n\
         Cognitive: highest {}, mean {} (threshold {})\n\
         Halstead effort: {}\n\
         Violations: {}",
        findings.toolchain,
        totals.files,
        totals.functions,
        totals.lines,
        totals.max_cyclomatic,
        totals.avg_cyclomatic,
        thresholds.cyclomatic,
        totals.max_cognitive,
        totals.avg_cognitive,
        thresholds.cognitive,
        totals.halstead_effort,
        findings.violations.len(),
    )
}

fn ranking_lines<'f>(findings: &'f Findings<'f>) -> impl Iterator<Item = String> + 'f {
    findings.rankings().map(|(rank, file)| {
        let report = &file.report;
        format!(
            "{rank}. {}: score {}, functions {}, highest cyclomatic {}, mean cognitive {}, effort {}",
            findings.path(&file.place),
            hundredth(report.total_score()),
            report.functions.len(),
            report.max_cyclomatic(),
            tenth(report.avg_cognitive()),
            tenth(report.effort()),
        )
    })
}

fn violation_lines<'f>(findings: &'f Findings<'f>) -> impl Iterator<Item = String> + 'f {
    findings.violations().map(|violation| {
        format!(
            "{}:{} {}: {} {} > {}",
            findings.path(&violation.file.place),
            findings.line(violation.function.first_line),
            violation.function.name,
            violation.metric.name(),
            violation.value,
            violation.threshold,
        )
    })
}

fn function_lines<'f>(findings: &'f Findings<'f>) -> impl Iterator<Item = String> + 'f {
    functions(findings.project).skip(findings.offset_behind_rankings()).map(|(file, function)| {
        format!(
            "{}:{}-{} {}: cyclomatic {}, cognitive {}, effort {}, lines {}",
            findings.path(&file.place),
            findings.line(function.first_line),
            findings.line(function.last_line),
            function.name,
            function.cyclomatic,
            function.cognitive,
            tenth(function.effort),
            function.lines(),
        )
    })
}

/// The lines behind the entries: files with errors, files that were not analysed, what was left out.
fn note(findings: &Findings) -> String {
    let errors = findings.with_errors().filter_map(|file| {
        let error = file.report.error?;
        Some(format!(
            "{}:{}:{}: syntax error; analyzed as far as it is understood",
            findings.path(&file.place),
            findings.line(error.line),
            error.column
        ))
    });
    let refused =
        findings.project.refused.iter().map(|(place, left_out)| {
            format!("{}: not analyzed, {}", findings.path(place), reason(*left_out))
        });
    let mut note = String::new();
    for (named, all, of) in [
        (findings.named(errors, String::len), findings.with_errors().count(), "with syntax errors"),
        (findings.named(refused, String::len), findings.project.refused.len(), "not analyzed"),
    ] {
        let more = all - named.len();
        named.iter().for_each(|line| note.extend([line, "\n"]));
        if more > 0 {
            let _ = writeln!(note, "… and {more} more {of}");
        }
    }
    note.push_str(&findings.balance());
    note.extend(findings.late().map(|late| format!("\n[{late}]")));
    note
}
