//! `analyze_code_churn`: which files of a project change most, and which of them are complex, too.

use std::collections::HashMap;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::json;

use self::shown::Shown;
use crate::tools::arguments::{Keyword, Natural, Request, Takes, UpTo, arguments};
use crate::tools::toolkit::page_start::PageStart;
use crate::tools::walking::starts;
use crate::tools::{Call, OutputKinds, ParseOptions, Reply, Tool, memory};
use ::toolkit::churn::{analyze, hot_spots};
use ::toolkit::complexity;
use engine::Workspace;
use folder::{Control, Error, FilePath, Result};

mod data;
mod shown;
mod tables;
mod text;

pub(crate) static TOOL: Tool = Tool {
    name: "analyze_code_churn",
    title: "Analyze Code Churn",
    description: "Read the git history of a project: per file the commits, authors, lines added and deleted in the last \
        period_days (30), most changed lines first, as git log --numstat counts them; renames are followed to the present name. \
        Hot spots are files that change often and are complex, the best places to clean up. format: summary (default), json, \
        markdown, csv. Needs no git program and runs nothing of the repository. \
        Example: {\"project_path\":\".\",\"period_days\":90}",
    instructions: "Use analyze_code_churn to find the files that change most.",
    takes: Takes::of::<ChurnArguments>(),
    output_schema: Some(
        r#"{"type":"object","properties":{"content":{"type":"string"},"summary":{"type":"object"},"authors":{"type":"array","items":{"type":"object"}},"hot_spots":{"type":"array","items":{"type":"object"}},"files":{"type":"array","items":{"type":"object"}}}}"#,
    ),
    writes: false,
    destructive: false,
    idempotent: true,
    direct: true,
};

/// The longest period, in days: a hundred years.
const MOST_DAYS: u64 = 36_525;

/// How an answer is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    Summary,
    Json,
    Markdown,
    Csv,
}

impl Keyword for Format {
    const WORDS: &'static [(&'static str, Format)] = &[
        ("summary", Format::Summary),
        ("json", Format::Json),
        ("markdown", Format::Markdown),
        ("csv", Format::Csv),
    ];
}

arguments! {
    struct ChurnArguments {
        /// Folder to analyze: a git repository, or a folder in one
        project_path as "project_path" or "path" or "directory" or "folder": FilePath,
        /// Days before now that are analyzed
        period_days as "period_days" or "days": UpTo<MOST_DAYS, 1> = 30,
        /// What to answer
        format as "format" or "output_format": Format = "summary",
        /// How many files to leave out first
        offset: Option<Natural>,
    }
}

#[derive(Debug)]
struct AnalyzeCodeChurn {
    arguments: ChurnArguments,
    /// The longest text of an answer in bytes, if there is a limit.
    limit: Option<usize>,
}

impl Request for ChurnArguments {
    fn into_call(self, options: ParseOptions) -> Result<Box<dyn Call>> {
        Ok(Box::new(AnalyzeCodeChurn { arguments: self, limit: options.limit.bytes }))
    }
}

impl Call for AnalyzeCodeChurn {
    fn file(&self) -> Option<&FilePath> {
        None
    }

    fn looked_at(&self) -> Option<&FilePath> {
        Some(&self.arguments.project_path)
    }

    fn memory(&self) -> usize {
        memory::HISTORY
    }

    fn run(&self, workspace: &Workspace, wanted: OutputKinds, control: &Control) -> Result<Reply> {
        let ChurnArguments { project_path, period_days, format, offset } = &self.arguments;
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        let since = now.saturating_sub(period_days.0 * 86_400) as i64;
        let churn = analyze(workspace, project_path, since, control)
            .map_err(|fault| fault.into_error("project_path"))?;
        let ((scores, unscored), unknown) = match complexity::scores(workspace, project_path, control) {
            Ok(scores) => (scores, None),
            Err(Error::OfTool(failure)) => ((HashMap::new(), None), Some(failure.message)),
            Err(error) => return Err(error),
        };
        let spots = hot_spots(&churn, |path| scores.get(std::str::from_utf8(path).ok()?).copied());
        let is_late = churn.late.is_some();
        let start = PageStart::new(*offset, is_late);
        let shown = Shown {
            spot_scores: spots.iter().map(|spot| (&*spot.file.path, spot.score)).collect(),
            spots,
            scores: &scores,
            unknown_complexity: unknown,
            unscored,
            churn: &churn,
            before: starts(workspace, Some(project_path), project_path)?
                .pop()
                .map_or(String::new(), |start| start.before),
            days: period_days.0,
            start,
            limit: self.limit,
        };
        let next = |shown: usize| {
            let (days, offset) =
                if is_late { (period_days.0 / 2, 0) } else { (period_days.0, start.offset + shown) };
            (days > 0).then(|| (TOOL.name, self.arguments_from(days, offset)))
        };
        match format {
            Format::Summary => text::reply(&shown, wanted, next),
            Format::Json => Ok(data::reply(&shown, wanted, next)),
            Format::Markdown => tables::markdown(&shown, wanted, next),
            Format::Csv => tables::csv(&shown, wanted, next),
        }
    }
}

impl AnalyzeCodeChurn {
    /// The arguments of the call that goes on at a file.
    fn arguments_from(&self, period_days: u64, offset: usize) -> serde_json::Value {
        let ChurnArguments { project_path, format, .. } = &self.arguments;
        let word = Format::WORDS.iter().find(|(_, other)| other == format).map_or("", |(word, _)| word);
        let mut again =
            json!({ "project_path": project_path.sent(), "period_days": period_days, "format": word });
        if offset > 0 {
            again["offset"] = json!(offset);
        }
        again
    }
}
