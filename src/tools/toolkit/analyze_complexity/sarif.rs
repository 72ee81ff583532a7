//! The format `sarif`: SARIF 2.1.0, for tools that show findings beside the code. Its lines count from 1 in any case.

use std::path::Path;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Map, Value, json};

use super::data::{Page, json_len, of_object};
use super::findings::{Findings, Violation, reason};
use crate::tools::walking::TIME;
use crate::tools::{OutputKinds, Reply, file_uri};
use ::toolkit::complexity::SARIF_SCHEMA;
use sys::path::{is_absolute, with_slashes};

/// Bytes of an answer without violations and without files that are named.
const FRAME: usize = 2_048;

/// What a path has as it is in a URI.
const KEPT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'/').remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The reply.
pub(super) fn reply(
    findings: &Findings,
    wanted: OutputKinds,
    next: impl Fn(usize) -> (&'static str, Value),
) -> Reply {
    let mut notifications = notifications(findings);
    let fixed = Value::from(notifications.clone()).to_string().len() + FRAME;
    let mut page = Page::new(findings, fixed);
    let results = page.take(findings.violations().map(|violation| result(findings, violation)));
    let truncated = page.truncated(findings, next);
    if let Some(truncated) = &truncated {
        let (least, why) = match findings.late() {
            Some(_) => ("at least ", format!(": {TIME}")),
            None => ("", String::new()),
        };
        let text = format!(
            "Shown: {} of {least}{} violations{why}. Go on with {}",
            truncated["shown"], truncated["of"], truncated["next"]
        );
        notifications.push(json!({ "level": "warning", "message": { "text": text } }));
    }
    let run = json!({
        "tool": { "driver": {
            "name": env!("CARGO_PKG_NAME"),
            "semanticVersion": env!("CARGO_PKG_VERSION"),
            "rules": [
                rule("cyclomatic", "The cyclomatic complexity of a function is over the threshold."),
                rule("cognitive", "The cognitive complexity of a function is over the threshold."),
            ],
        } },
        "invocations": [{ "executionSuccessful": true, "toolExecutionNotifications": notifications }],
        "columnKind": "unicodeCodePoints",
        "results": results,
    });
    let mut log = Map::new();
    log.insert("$schema".into(), json!(SARIF_SCHEMA));
    log.insert("version".into(), json!("2.1.0"));
    log.insert("runs".into(), json!([run]));
    of_object(log, truncated, wanted)
}

fn rule(metric: &str, text: &str) -> Value {
    json!({
        "id": format!("{metric}-complexity"),
        "shortDescription": { "text": text },
        "defaultConfiguration": { "level": "warning" },
    })
}

fn result(findings: &Findings, violation: &Violation) -> Value {
    let (function, metric) = (violation.function, violation.metric);
    let text = format!(
        "{} has a {} complexity of {}, over {}.",
        function.name,
        metric.name(),
        violation.value,
        violation.threshold
    );
    json!({
        "ruleId": format!("{}-complexity", metric.name()),
        "ruleIndex": metric as usize,
        "level": "warning",
        "message": { "text": text },
        "locations": [{
            "physicalLocation": {
                "artifactLocation": { "uri": uri(&findings.path(&violation.file.place)) },
                "region": { "startLine": function.first_line, "endLine": function.last_line },
            },
            "logicalLocations": [{ "fullyQualifiedName": function.name, "kind": "function" }],
        }],
    })
}

/// Files with syntax errors, and files that were not analysed.
fn notifications(findings: &Findings) -> Vec<Value> {
    let errors = findings.with_errors().filter_map(|file| {
        let error = file.report.error?;
        let mut notification = notification(
            &findings.path(&file.place),
            "The file has a syntax error and was analyzed as far as it is understood.",
        );
        notification["locations"][0]["physicalLocation"]["region"] =
            json!({ "startLine": error.line, "startColumn": error.column });
        Some(notification)
    });
    let refused = findings.project.refused.iter().map(|(place, left_out)| {
        let text = format!("The file was not analyzed: {}.", reason(*left_out));
        notification(&findings.path(place), &text)
    });
    let mut named = findings.named(errors, json_len);
    named.extend(findings.named(refused, json_len));
    named.extend(findings.late().map(|late| {
        let text = format!("{late}. {}", findings.balance());
        json!({ "level": "warning", "message": { "text": text } })
    }));
    named
}

fn notification(path: &str, text: &str) -> Value {
    json!({
        "level": "warning",
        "message": { "text": text },
        "locations": [{ "physicalLocation": { "artifactLocation": { "uri": uri(path) } } }],
    })
}

/// A path as a URI: that of a file if it is absolute, else a relative reference.
fn uri(path: &str) -> String {
    match is_absolute(&with_slashes(path)) {
        true => file_uri(Path::new(path), KEPT),
        false => utf8_percent_encode(path, KEPT).to_string(),
    }
}
