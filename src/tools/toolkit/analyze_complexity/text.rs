//! The formats `summary` and `full`: text for a model.

use std::fmt::Write;

use serde_json::Value;

use super::findings::{Findings, functions, hundredth, reason, tenth};
use crate::engine::Result;
use crate::tools::limited::LimitedText;
use crate::tools::{OutputKinds, Reply};

/// The reply. `is_full`: the entries are all functions, not only the violations.
pub(super) fn reply(
    findings: &Findings,
    is_full: bool,
    wanted: OutputKinds,
    next: impl Fn(usize) -> (&'static str, Value),
) -> Result<Reply> {
    let head = head(findings);
    let note = note(findings);
    let limit = findings.limit.map(|limit| limit.saturating_sub(note.len().min(limit / 4)));
    let mut list = LimitedText::new(limit);
    list.text_mut().push_str(&head);
    let lines: Box<dyn Iterator<Item = String>> = match is_full {
        true => Box::new(function_lines(findings)),
        false => Box::new(violation_lines(findings)),
    };
    let mut shown = findings.offset;
    for line in lines.skip(findings.offset) {
        if list.total() == 0 {
            list.text_mut().push('\n');
        }
        shown += usize::from(list.push_line(&line));
    }
    let unit = if is_full { "functions" } else { "violations" };
    list.reply(wanted, unit, || Ok(next(shown)), Some(&note))
}

/// The figures of all files, and the rankings.
fn head(findings: &Findings) -> String {
    let totals = findings.totals();
    let thresholds = findings.thresholds;
    let mut head = format!(
        "Complexity ({}): {} files, {} functions, {} lines\n\
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
    );
    if let Some(ranked) = findings.ranked.as_ref().filter(|_| findings.offset == 0) {
        let most = findings.limit.map_or(usize::MAX, |limit| limit / 3);
        let _ = write!(head, "\nTop files ({} of {}):", ranked.len(), totals.files);
        for (number, file) in ranked.iter().enumerate() {
            if head.len() > most {
                let _ = write!(head, "\n… and {} more; ask for fewer with top_files", ranked.len() - number);
                break;
            }
            let report = &file.report;
            let _ = write!(
                head,
                "\n{}. {}: score {}, {} functions, highest cyclomatic {}, mean cognitive {}, effort {}",
                number + 1,
                findings.path(&file.place),
                hundredth(report.total_score()),
                report.functions.len(),
                report.max_cyclomatic(),
                tenth(report.avg_cognitive()),
                tenth(report.effort()),
            );
        }
    }
    head
}

fn violation_lines<'f>(findings: &'f Findings<'f>) -> impl Iterator<Item = String> + 'f {
    findings.violations.iter().map(|violation| {
        format!(
            "{}:{} {}: {} {} > {}",
            findings.path(&violation.file.place),
            violation.function.first_line,
            violation.function.name,
            violation.metric.name(),
            violation.value,
            violation.threshold,
        )
    })
}

fn function_lines<'f>(findings: &'f Findings<'f>) -> impl Iterator<Item = String> + 'f {
    functions(findings.project).map(|(file, function)| {
        format!(
            "{}:{}-{} {}: cyclomatic {}, cognitive {}, effort {}, lines {}",
            findings.path(&file.place),
            function.first_line,
            function.last_line,
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
            error.line,
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
            let _ = writeln!(note, "… and {more} more files {of}");
        }
    }
    note + &findings.balance()
}
