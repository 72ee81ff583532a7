//! `analyze_complexity`: which functions and files of a project are complex.

use serde_json::json;

use self::findings::{Findings, Thresholds};
use crate::tools::arguments::{Keyword, Natural, Request, Takes, arguments};
use crate::tools::toolkit::page_start::PageStart;
use crate::tools::{Call, LineBase, OutputKinds, ParseOptions, Reply, Tool, memory};
use ::toolkit::complexity::{Language, analyse_project};
use engine::Workspace;
use folder::{Control, FilePath, Result};

mod data;
mod findings;
mod sarif;
mod text;

pub(crate) static TOOL: Tool = Tool {
    name: "analyze_complexity",
    title: "Analyze Complexity",
    description: "Measure the functions of a project, a folder or one file: cyclomatic and cognitive complexity, Halstead \
        effort, lines. toolchain: rust, deno (JavaScript and TypeScript), python-uv or python. A function over max_cyclomatic \
        (20) or max_cognitive (15) is a violation, worst first. top_files: 5 ranks the 5 most complex files, 0 all. format: \
        summary (default), full (every function), json, sarif. Files that git ignores and hidden ones are left out. Lines count \
        from {first}. Example: {\"project_path\":\".\",\"toolchain\":\"rust\",\"top_files\":5}",
    instructions: "Use analyze_complexity to find the functions that need work.",
    takes: Takes::of::<ComplexityArguments>(),
    output_schema: Some(
        r#"{"type":"object","properties":{"content":{"type":"string"},"summary":{"type":"object"},"violations":{"type":"array","items":{"type":"object"}},"top_files":{"type":"object"}}}"#,
    ),
    writes: false,
    destructive: false,
    idempotent: true,
    direct: true,
};

/// The languages of a toolchain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Toolchain {
    Rust,
    Deno,
    PythonUv,
    Python,
}

impl Keyword for Toolchain {
    const WORDS: &'static [(&'static str, Toolchain)] = &[
        ("rust", Toolchain::Rust),
        ("deno", Toolchain::Deno),
        ("python-uv", Toolchain::PythonUv),
        ("python", Toolchain::Python),
    ];
}

impl Toolchain {
    fn languages(self) -> &'static [Language] {
        match self {
            Toolchain::Rust => &[Language::Rust],
            Toolchain::Deno => &[Language::JavaScript, Language::TypeScript, Language::Tsx],
            Toolchain::PythonUv | Toolchain::Python => &[Language::Python],
        }
    }
}

/// What an answer tells, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    Summary,
    Full,
    Json,
    Sarif,
}

impl Keyword for Format {
    const WORDS: &'static [(&'static str, Format)] = &[
        ("summary", Format::Summary),
        ("full", Format::Full),
        ("json", Format::Json),
        ("sarif", Format::Sarif),
    ];
}

/// The word of a keyword.
fn word<K: Keyword + PartialEq>(keyword: K) -> &'static str {
    K::WORDS.iter().find(|(_, other)| *other == keyword).map_or("", |(word, _)| word)
}

arguments! {
    struct ComplexityArguments {
        /// Folder or file to analyze
        project_path as "project_path" or "path" or "directory" or "folder": FilePath,
        /// Toolchain of the project, which says which languages are analyzed
        toolchain: Toolchain,
        /// What to answer
        format as "format" or "output_format": Format = "summary",
        /// Highest cyclomatic complexity that is no violation
        max_cyclomatic: Natural = 20,
        /// Highest cognitive complexity that is no violation
        max_cognitive: Natural = 15,
        /// How many of the most complex files to rank; 0 ranks all. Without it there are no rankings
        top_files: Option<Natural>,
        /// How many entries (ranked files, then violations; for full, functions) to leave out first
        offset: Option<Natural>,
    }
}

#[derive(Debug)]
struct AnalyzeComplexity {
    arguments: ComplexityArguments,
    /// The number of the first line.
    base: LineBase,
    /// The longest text of an answer in bytes, if there is a limit.
    limit: Option<usize>,
}

impl Request for ComplexityArguments {
    fn into_call(self, options: ParseOptions) -> Result<Box<dyn Call>> {
        Ok(Box::new(AnalyzeComplexity { arguments: self, base: options.base, limit: options.limit.bytes }))
    }
}

impl Call for AnalyzeComplexity {
    fn file(&self) -> Option<&FilePath> {
        None
    }

    fn looked_at(&self) -> Option<&FilePath> {
        Some(&self.arguments.project_path)
    }

    fn memory(&self) -> usize {
        memory::ANALYSIS
    }

    fn run(&self, workspace: &Workspace, wanted: OutputKinds, control: &Control) -> Result<Reply> {
        let ComplexityArguments { project_path, toolchain, format, .. } = &self.arguments;
        let project = analyse_project(workspace, Some(project_path), toolchain.languages(), control)?;
        let ComplexityArguments { max_cyclomatic, max_cognitive, top_files, .. } = &self.arguments;
        let thresholds = Thresholds { cyclomatic: max_cyclomatic.0, cognitive: max_cognitive.0 };
        let is_late = project.late.is_some();
        let start = PageStart::new(self.arguments.offset, is_late);
        let findings = Findings {
            toolchain: word(*toolchain),
            thresholds,
            violations: thresholds.violations(&project),
            ranked: top_files
                .filter(|_| *format != Format::Sarif)
                .map(|most| findings::ranked(&project, most.0)),
            requested: top_files.map(|most| most.0),
            base: self.base,
            folders: workspace.folder_paths(),
            project: &project,
            start,
            limit: self.limit,
        };
        let next =
            |shown: usize| (TOOL.name, self.arguments_from(start.offset + if is_late { 0 } else { shown }));
        match format {
            Format::Summary | Format::Full => text::reply(&findings, *format == Format::Full, wanted, next),
            Format::Json => Ok(data::reply(&findings, wanted, next)),
            Format::Sarif => Ok(sarif::reply(&findings, wanted, next)),
        }
    }
}

impl AnalyzeComplexity {
    /// The arguments of the call that goes on at an entry.
    fn arguments_from(&self, offset: usize) -> serde_json::Value {
        let ComplexityArguments {
            project_path,
            toolchain,
            format,
            max_cyclomatic,
            max_cognitive,
            top_files,
            ..
        } = &self.arguments;
        let mut again = json!({ "project_path": project_path.sent(), "toolchain": word(*toolchain) });
        if *format != Format::Summary {
            again["format"] = json!(word(*format));
        }
        for (name, value, default) in
            [("max_cyclomatic", max_cyclomatic.0, 20), ("max_cognitive", max_cognitive.0, 15)]
        {
            if value != default {
                again[name] = json!(value);
            }
        }
        if let Some(top_files) = top_files {
            again["top_files"] = json!(top_files.0);
        }
        if offset > 0 {
            again["offset"] = json!(offset);
        }
        again
    }
}
