//! The format `json`: `summary`, `violations` and `top_files` of S2.

use serde_json::{Map, Value, json};

use super::findings::{Findings, Violation, hundredth, reason, tenth};
use crate::tools::limited::{MAX_TOKENS, tokens_of};
use crate::tools::{Members, OutputKinds, Reply};
use ::toolkit::complexity::ProjectFile;

/// Room for the names of the members and the call that goes on, in bytes.
const FRAME: usize = 640;

/// The reply.
pub(super) fn reply(
    findings: &Findings,
    wanted: OutputKinds,
    next: impl Fn(usize) -> (&'static str, Value),
) -> Reply {
    let summary = summary(findings);
    let mut page = Page::new(findings, json_len(&summary) + FRAME);
    let rankings = page.take(findings.rankings().map(|(rank, file)| ranking(findings, rank, file)));
    let violations = page.take(findings.violations().map(|violation| violation_json(findings, violation)));
    let mut object = Map::new();
    object.insert("summary".into(), summary);
    object.insert("violations".into(), violations.into());
    if findings.ranked.is_some() {
        let top_files =
            json!({ "requested": findings.requested, "returned": rankings.len(), "rankings": rankings });
        object.insert("top_files".into(), top_files);
    }
    let truncated = page.truncated(findings, next);
    if let Some(truncated) = &truncated {
        object.insert("truncated".into(), truncated.clone());
    }
    of_object(object, truncated, wanted)
}

/// The reply whose text and data are one object.
pub(super) fn of_object(object: Map<String, Value>, truncated: Option<Value>, wanted: OutputKinds) -> Reply {
    let data = match wanted.data {
        true => object.iter().fold(Members::default(), |members, (name, value)| members.with(name, value)),
        false => Members::default(),
    };
    let meta = Members::default().with_some("file-editor/truncated", truncated.as_ref());
    let text = if wanted.text { Value::Object(object).to_string() } else { String::new() };
    Reply { text, data, meta, ..Reply::default() }
}

/// The entries of one answer: those behind the offset of the call that fit into it.
pub(super) struct Page {
    /// Bytes that are left for entries.
    room: usize,
    /// Tokens that are left for entries, if there is a limit.
    tokens: usize,
    shown: usize,
    is_full: bool,
}

impl Page {
    /// A page of which `fixed` bytes are for other things.
    pub(super) fn new(findings: &Findings, fixed: usize) -> Page {
        let room = findings.limit.map_or(usize::MAX, |limit| limit.saturating_sub(fixed));
        let tokens = findings.limit.map_or(usize::MAX, |_| MAX_TOKENS - fixed.min(MAX_TOKENS / 4));
        Page { room, tokens, shown: 0, is_full: false }
    }

    /// The first of these entries, as far as there is room. The first entry of a page always is taken, so that each goes on.
    pub(super) fn take(&mut self, entries: impl Iterator<Item = Value>) -> Vec<Value> {
        let mut taken = Vec::new();
        for entry in entries {
            let text = entry.to_string();
            let (bytes, tokens) = (text.len() + 1, tokens_of(text.as_bytes()) + 1);
            self.is_full |= (bytes > self.room || tokens > self.tokens) && self.shown > 0;
            if self.is_full {
                break;
            }
            self.room = self.room.saturating_sub(bytes);
            self.tokens = self.tokens.saturating_sub(tokens);
            self.shown += 1;
            taken.push(entry);
        }
        taken
    }

    /// What `_meta` says of a page that was cut, by its length or by time: how many entries of how many, and the call that goes on.
    pub(super) fn truncated(
        &self,
        findings: &Findings,
        next: impl Fn(usize) -> (&'static str, Value),
    ) -> Option<Value> {
        let of = findings.rankings().count() + findings.violations().count();
        let is_late = findings.late().is_some();
        let next = (self.is_full || is_late).then(|| next(self.shown))?;
        let mut truncated = json!({ "shown": self.shown, "of": of, "next": next.1 });
        if is_late {
            truncated["partial"] = json!(true);
        }
        Some(truncated)
    }
}

/// Bytes of a value as text.
pub(super) fn json_len(value: &Value) -> usize {
    value.to_string().len()
}

fn summary(findings: &Findings) -> Value {
    let totals = findings.totals();
    let mut summary = json!(totals);
    summary["toolchain"] = json!(findings.toolchain);
    summary["thresholds"] = json!(findings.thresholds);
    summary["violations"] = json!(findings.violations.len());
    let errors = findings.with_errors().filter_map(|file| {
        let error = file.report.error?;
        Some(json!({ "file": findings.path(&file.place), "line": findings.line(error.line), "column": error.column }))
    });
    summary["syntax_errors"] = findings.named(errors, json_len).into();
    summary["files_with_syntax_errors"] = json!(findings.with_errors().count());
    let refused = &findings.project.refused;
    let not_analyzed = refused
        .iter()
        .map(|(place, left_out)| json!({ "file": findings.path(place), "reason": reason(*left_out) }));
    summary["not_analyzed"] = findings.named(not_analyzed, json_len).into();
    summary["files_not_analyzed"] = json!(refused.len());
    summary["left_out"] = json!(findings.balance());
    if let Some(late) = findings.late() {
        summary["partial"] = json!(late);
    }
    summary
}

fn violation_json(findings: &Findings, violation: &Violation) -> Value {
    json!({
        "file": findings.path(&violation.file.place),
        "line": findings.line(violation.function.first_line),
        "end_line": findings.line(violation.function.last_line),
        "function": violation.function.name,
        "metric": violation.metric.name(),
        "value": violation.value,
        "threshold": violation.threshold,
    })
}

fn ranking(findings: &Findings, rank: usize, file: &ProjectFile) -> Value {
    let report = &file.report;
    json!({
        "rank": rank,
        "file": findings.path(&file.place),
        "function_count": report.functions.len(),
        "max_cyclomatic": report.max_cyclomatic(),
        "avg_cognitive": tenth(report.avg_cognitive()),
        "halstead_effort": tenth(report.effort()),
        "total_score": hundredth(report.total_score()),
    })
}
