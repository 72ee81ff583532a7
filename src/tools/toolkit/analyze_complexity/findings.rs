//! What the formats of `analyze_complexity` tell: violations, ranked files, what was left out.

use serde::Serialize;
use text::order;

use crate::tools::LineBase;
use crate::tools::balance::{Balance, Reason, several};
use crate::tools::toolkit::page_start::PageStart;
use crate::tools::walking::path_line_in;
use ::toolkit::complexity::{
    FilePlace, FileReport, FunctionReport, LeftOutFile, ProjectFile, ProjectReport, Refusal,
};
use folder::FolderPaths;

/// How many files with errors, or that were not analysed, are named at most.
const NAMED: usize = 50;

/// The highest figures that are no violation.
#[derive(Debug, Clone, Copy, Serialize)]
pub(super) struct Thresholds {
    pub(super) cyclomatic: u64,
    pub(super) cognitive: u64,
}

/// A figure that has a threshold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Metric {
    Cyclomatic,
    Cognitive,
}

impl Metric {
    pub(super) fn name(self) -> &'static str {
        match self {
            Metric::Cyclomatic => "cyclomatic",
            Metric::Cognitive => "cognitive",
        }
    }
}

/// A function over a threshold.
#[derive(Debug, Clone, Copy)]
pub(super) struct Violation<'p> {
    pub(super) file: &'p ProjectFile,
    pub(super) function: &'p FunctionReport,
    pub(super) metric: Metric,
    pub(super) value: u64,
    pub(super) threshold: u64,
}

impl Thresholds {
    /// The functions over a threshold, worst first: by how many times the threshold they have.
    pub(super) fn violations(self, project: &ProjectReport) -> Vec<Violation<'_>> {
        let mut violations = Vec::new();
        for (file, function) in functions(project) {
            let figures = [
                (Metric::Cyclomatic, u64::from(function.cyclomatic), self.cyclomatic),
                (Metric::Cognitive, function.cognitive, self.cognitive),
            ];
            for (metric, value, threshold) in figures {
                if value > threshold {
                    violations.push(Violation { file, function, metric, value, threshold });
                }
            }
        }
        let excess = |violation: &Violation| (violation.value as f64) / (violation.threshold.max(1) as f64);
        // A stable sort: equal ones stay in the order of files and lines.
        order::sort_by(&mut violations, |one, other| excess(other).total_cmp(&excess(one)));
        violations
    }
}

/// The functions of all files, in order.
pub(super) fn functions(project: &ProjectReport) -> impl Iterator<Item = (&ProjectFile, &FunctionReport)> {
    project.files.iter().flat_map(|file| file.report.functions.iter().map(move |function| (file, function)))
}

/// The `most` files with the highest total scores; 0: all with functions.
pub(super) fn ranked(project: &ProjectReport, most: u64) -> Vec<&ProjectFile> {
    let mut files: Vec<&ProjectFile> =
        project.files.iter().filter(|file| !file.report.functions.is_empty()).collect();
    order::sort_by(&mut files, |one, other| other.report.total_score().total_cmp(&one.report.total_score()));
    if most > 0 {
        files.truncate(usize::try_from(most).unwrap_or(usize::MAX));
    }
    files
}

/// See the module.
#[derive(Debug)]
pub(super) struct Findings<'p> {
    pub(super) toolchain: &'static str,
    pub(super) thresholds: Thresholds,
    pub(super) violations: Vec<Violation<'p>>,
    pub(super) ranked: Option<Vec<&'p ProjectFile>>,
    /// How many files were to be ranked.
    pub(super) requested: Option<u64>,
    pub(super) folders: &'p FolderPaths,
    pub(super) project: &'p ProjectReport,
    /// The first entry that is shown: ranked files, then violations or functions.
    pub(super) start: PageStart,
    /// The number of the first line.
    pub(super) base: LineBase,
    /// The longest text in bytes, if there is a limit.
    pub(super) limit: Option<usize>,
}

/// The figures of all files together.
#[derive(Debug, Serialize)]
pub(super) struct Totals {
    pub(super) files: usize,
    pub(super) functions: usize,
    pub(super) lines: u64,
    pub(super) max_cyclomatic: u32,
    pub(super) avg_cyclomatic: f64,
    pub(super) max_cognitive: u64,
    pub(super) avg_cognitive: f64,
    pub(super) halstead_effort: f64,
}

impl<'p> Findings<'p> {
    /// The ranked files behind the offset, with their ranks.
    pub(super) fn rankings(&self) -> impl Iterator<Item = (usize, &'p ProjectFile)> {
        let ranks = self.ranked.iter().flatten().enumerate();
        ranks.skip(self.start.skipped()).map(|(number, file)| (number + 1, *file))
    }

    /// How many violations, or functions, are left out first.
    pub(super) fn offset_behind_rankings(&self) -> usize {
        self.start.skipped().saturating_sub(self.ranked.as_ref().map_or(0, Vec::len))
    }

    /// The violations behind the offset.
    pub(super) fn violations(&self) -> impl Iterator<Item = &Violation<'p>> {
        self.violations.iter().skip(self.offset_behind_rankings())
    }

    /// The number of a line, 1-based, as clients count.
    pub(super) fn line(&self, line: u32) -> u64 {
        u64::from(line) - 1 + self.base.first()
    }

    /// The path of a file as other tools take it: absolute if there are several served folders.
    pub(super) fn path(&self, place: &FilePlace) -> String {
        path_line_in(self.folders.folders(), place.folder, &place.path)
    }

    pub(super) fn totals(&self) -> Totals {
        let reports = || self.project.files.iter().map(|file| file.report.as_ref());
        let functions = self.project.functions();
        let mean = |figure: fn(&FileReport) -> f64| {
            tenth(reports().map(figure).fold(0.0, |sum, one| sum + one) / functions.max(1) as f64)
        };
        Totals {
            files: self.project.files.len(),
            functions,
            lines: reports().map(|report| u64::from(report.lines)).sum(),
            max_cyclomatic: reports().map(FileReport::max_cyclomatic).max().unwrap_or(0),
            avg_cyclomatic: mean(FileReport::sum_cyclomatic),
            max_cognitive: reports().map(FileReport::max_cognitive).max().unwrap_or(0),
            avg_cognitive: mean(FileReport::sum_cognitive),
            halstead_effort: tenth(reports().map(FileReport::effort).fold(0.0, |sum, one| sum + one)),
        }
    }

    /// The files with syntax errors.
    pub(super) fn with_errors(&self) -> impl Iterator<Item = &ProjectFile> {
        self.project.files.iter().filter(|file| file.report.error.is_some())
    }

    /// The first of these texts: at most 50, and an eighth of the answer.
    pub(super) fn named<T>(&self, texts: impl Iterator<Item = T>, len: impl Fn(&T) -> usize) -> Vec<T> {
        let mut room = self.limit.map_or(usize::MAX, |limit| limit / 8);
        let fits = |text: &T| match room.checked_sub(len(text)) {
            Some(rest) => {
                room = rest;
                true
            }
            None => false,
        };
        texts.take(NAMED).take_while(fits).collect()
    }

    /// What was left out, as one line.
    pub(super) fn balance(&self) -> String {
        let counts = &self.project.counts;
        let mut balance = Balance::default();
        balance.add_walk(&self.project.left_out);
        let late = self.project.late.unwrap_or_default();
        for (reason, number) in [
            (Reason::Links, counts.links),
            (Reason::Special, counts.special),
            (Reason::NotAnalyzed, late.files),
        ] {
            balance.add(reason, number);
        }
        if late.has_unseen {
            balance.add_unseen();
        }
        let files = several(self.project.files.len() as u64, "file");
        let so_far = if self.project.late.is_some() { " so far" } else { "" };
        balance.line(&format!("{files} analyzed{so_far}, {} of other languages", counts.not_wanted))
    }

    /// What an answer says if the time was up.
    pub(super) fn late(&self) -> Option<&'static str> {
        self.project.late.map(|_| if self.start.shows_entries { LATE } else { LATE_BEHIND })
    }
}

const LATE: &str = "The time was up: the figures are of the analyzed files. The list of a part has no further page; the same call \
    begins again and may come further, because what was analyzed is kept; a folder further down as project_path needs less time";
const LATE_BEHIND: &str = "The time was up: the figures are of the analyzed files. What stands behind the offset is known when all \
    are analyzed; the same call may come further, because what was analyzed is kept; a folder further down as project_path needs less \
    time";

/// Why a file was not analysed, in words.
pub(super) fn reason(left_out: LeftOutFile) -> &'static str {
    match left_out {
        LeftOutFile::Refused(Refusal::TooLarge) => "it is larger than 1 MiB",
        LeftOutFile::Refused(Refusal::NotText) => "it is not UTF-8 text",
        LeftOutFile::Refused(Refusal::TooHard) => "its parsing takes too many steps",
        LeftOutFile::Refused(Refusal::TooSlow) => "its parsing takes too much time or memory",
        LeftOutFile::Refused(Refusal::Crashed) => {
            "its parsing takes too much time or memory, or crashes the analyzer"
        }
        LeftOutFile::Unreadable => "it cannot be read",
        LeftOutFile::Changing => "other programs keep writing to it",
    }
}

/// A figure with one digit behind the point.
pub(super) fn tenth(figure: f64) -> f64 {
    (figure * 10.0).round() / 10.0
}

/// A figure with two digits behind the point.
pub(super) fn hundredth(figure: f64) -> f64 {
    (figure * 100.0).round() / 100.0
}
