//! The tool `analyze_complexity` (contract 16).

mod analyzer; // the program that parses: what confines it, and what happens without it
mod fixtures; // what each construct of each language counts
mod formats; // summary, full, json, sarif: what they tell
mod hostile; // texts that are hard to parse, files that change
mod project; // which files are analysed, and what is said of others

use serde_json::Value;

use crate::support::{Folder, Http, Mcp, Stdio, on_both_with};
use crate::trees::Posted;

const SET: &str = "--tools=toolkit";
const TOOL: &str = "analyze_complexity";

/// A server of the set on stdio that is ready.
fn serve(folder: &Folder, flags: &[&str]) -> Stdio {
    Stdio::start(folder, &[&[SET], flags].concat()).ready()
}

/// Runs `test` over stdio, over HTTP, and over `POST /tools/{name}`.
fn on_all(fill: impl Fn(&Folder) + Sync, test: impl Fn(&dyn Mcp, &Folder) + Sync) {
    on_both_with(&[SET], &fill, &test);
    let folder = Folder::new();
    fill(&folder);
    test(&Posted(Http::start(&folder, &[SET])), &folder);
}

/// The answer in the format `json`.
fn json_of(server: &dyn Mcp, mut arguments: Value) -> Value {
    arguments["format"] = "json".into();
    serde_json::from_str(&server.ok(TOOL, arguments)).expect("JSON")
}

/// A function of the format `full`: its file, first and last line, name, cyclomatic and cognitive complexity.
type Row = (String, u64, u64, String, u64, u64);

/// The functions of an answer in the format `full`.
fn rows(text: &str) -> Vec<Row> {
    let row = |line: &str| -> Option<Row> {
        let (head, figures) = line.split_once(": cyclomatic ")?;
        let (place, name) = head.rsplit_once(' ')?;
        let (file, lines) = place.rsplit_once(':')?;
        let (first, last) = lines.split_once('-')?;
        let (cyclomatic, rest) = figures.split_once(", cognitive ")?;
        let (cognitive, _) = rest.split_once(", effort ")?;
        let number = |text: &str| text.parse::<u64>().ok();
        Some((
            file.into(),
            number(first)?,
            number(last)?,
            name.into(),
            number(cyclomatic)?,
            number(cognitive)?,
        ))
    };
    text.lines().filter_map(row).collect()
}
