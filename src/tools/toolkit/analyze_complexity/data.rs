//! The format `json`: `summary`, `violations` and `top_files` of S2.

use serde_json::{Map, Value, json};

use super::findings::{Findings, Violation, hundredth, reason, tenth};
use crate::toolkit::complexity::ProjectFile;
use crate::tools::{Members, OutputKinds, Reply};

/// Room for the call that goes on, in bytes.
const NEXT: usize = 512;

/// The reply.
pub(super) fn reply(
    findings: &Findings,
    wanted: OutputKinds,
    next: impl Fn(usize) -> (&'static str, Value),
) -> Reply {
    let summary = summary(findings);
    let top_files = top_files(findings);
    let fixed = summary.to_string().len() + top_files.as_ref().map_or(0, |top| top.to_string().len());
    let room = findings.limit.map_or(usize::MAX, |limit| limit.saturating_sub(fixed + NEXT));
    let entries = fitting(findings, room, |violation| violation_json(findings, violation));
    let mut object = Map::new();
    object.insert("summary".into(), summary);
    object.insert("violations".into(), entries.shown.into());
    if let Some(top_files) = top_files {
        object.insert("top_files".into(), top_files);
    }
    let truncated = entries.next.map(|at| truncated(findings, at, next(at)));
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

/// The entries that fit, and where the next call begins if not all do.
pub(super) struct Entries {
    pub(super) shown: Vec<Value>,
    pub(super) next: Option<usize>,
}

/// The violations behind the offset of the call that fit into so many bytes; at least one.
pub(super) fn fitting(findings: &Findings, room: usize, json_of: impl Fn(&Violation) -> Value) -> Entries {
    let (mut shown, mut bytes) = (Vec::new(), 0);
    for (number, violation) in findings.violations.iter().enumerate().skip(findings.offset) {
        let entry = json_of(violation);
        bytes += entry.to_string().len() + 1;
        if bytes > room && !shown.is_empty() {
            return Entries { shown, next: Some(number) };
        }
        shown.push(entry);
    }
    Entries { shown, next: None }
}

/// What `_meta` says of an answer that was cut: how many of how many, and the call that goes on.
pub(super) fn truncated(findings: &Findings, at: usize, next: (&'static str, Value)) -> Value {
    json!({ "shown": at - findings.offset, "of": findings.violations.len() - findings.offset, "next": next.1 })
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
        Some(json!({ "file": findings.path(&file.place), "line": error.line, "column": error.column }))
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
    summary
}

fn violation_json(findings: &Findings, violation: &Violation) -> Value {
    json!({
        "file": findings.path(&violation.file.place),
        "line": violation.function.first_line,
        "end_line": violation.function.last_line,
        "function": violation.function.name,
        "metric": violation.metric.name(),
        "value": violation.value,
        "threshold": violation.threshold,
    })
}

fn top_files(findings: &Findings) -> Option<Value> {
    let ranked = findings.ranked.as_ref()?;
    let (mut rankings, mut bytes) = (Vec::new(), 0);
    for (number, file) in ranked.iter().enumerate() {
        let ranking = ranking(findings, number + 1, file);
        bytes += ranking.to_string().len();
        if findings.limit.is_some_and(|limit| bytes > limit / 3) && number > 0 {
            break;
        }
        rankings.push(ranking);
    }
    Some(json!({ "requested": findings.requested, "returned": rankings.len(), "rankings": rankings }))
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
