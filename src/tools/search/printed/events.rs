//! Prints what a search finds as ripgrep's `--json` does: an object a line, for the beginning and end of a file, each match and each
//! line around one, and a summary. Times are 0: they are no finding.

use std::io::{self, Write};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::lines::matches_in;
use super::passages::Passages;
use super::{Context, PrintRequest};
use engine::FoundFile;
use search::LineMatcher;

/// See the module.
pub(super) struct Events<'p> {
    scan: LineMatcher<'p>,
    most: Option<usize>,
    has_numbers: bool,
    context: Context,
    out: &'p mut (dyn Write + Send),
    total: Stats,
}

/// How much was found.
#[derive(Debug, Clone, Copy, Default)]
struct Stats {
    files: u64,
    bytes: u64,
    printed: u64,
    lines: u64,
    matches: u64,
}

impl<'p> Events<'p> {
    pub(super) fn new(
        scan: LineMatcher<'p>,
        request: &PrintRequest,
        context: Context,
        out: &'p mut (dyn Write + Send),
    ) -> Events<'p> {
        Events {
            scan,
            most: request.most,
            has_numbers: request.head.number,
            context,
            out,
            total: Stats::default(),
        }
    }

    pub(super) fn file(&mut self, file: &FoundFile, path: &[u8]) -> io::Result<()> {
        let path = told(path);
        let mut stats = Stats { files: 1, bytes: file.stamp.len, ..Stats::default() };
        stats.printed += self.event("begin", json!({ "path": path }))?;
        let mut passages = Passages::new(file, self.context, self.most);
        while let Some(passage) = passages.next(&mut self.scan)? {
            let lines = &file.text()[passage.bytes.clone()];
            let matches = if passage.is_match { matches_in(&mut self.scan, lines)? } else { Vec::new() };
            stats.lines += u64::from(passage.is_match);
            stats.matches += matches.len() as u64;
            let submatches: Vec<Value> = matches
                .into_iter()
                .map(|found| json!({ "match": told(&lines[found.clone()]), "start": found.start, "end": found.end }))
                .collect();
            let kind = if passage.is_match { "match" } else { "context" };
            stats.printed += self.event(
                kind,
                json!({
                    "path": path,
                    "lines": told(lines),
                    "line_number": self.has_numbers.then_some(passage.line),
                    "absolute_offset": passage.bytes.start,
                    "submatches": submatches,
                }),
            )?;
        }
        self.event("end", json!({ "path": path, "binary_offset": null, "stats": stats.told() }))?;
        self.total.add(&stats);
        Ok(())
    }

    /// The summary of the files with matches.
    pub(super) fn end(&mut self) -> io::Result<()> {
        let stats = self.total.told();
        self.event("summary", json!({ "elapsed_total": elapsed(), "stats": stats }))?;
        self.out.flush()
    }

    /// Writes an event. Returns its bytes.
    fn event(&mut self, kind: &str, data: Value) -> io::Result<u64> {
        let line = format!("{}\n", json!({ "type": kind, "data": data }));
        self.out.write_all(line.as_bytes())?;
        Ok(line.len() as u64)
    }
}

impl Stats {
    fn add(&mut self, more: &Stats) {
        self.files += more.files;
        self.bytes += more.bytes;
        self.printed += more.printed;
        self.lines += more.lines;
        self.matches += more.matches;
    }

    fn told(&self) -> Value {
        json!({
            "elapsed": elapsed(),
            "searches": self.files,
            "searches_with_match": self.files,
            "bytes_searched": self.bytes,
            "bytes_printed": self.printed,
            "matched_lines": self.lines,
            "matches": self.matches,
        })
    }
}

fn elapsed() -> Value {
    json!({ "secs": 0, "nanos": 0, "human": "0.000000s" })
}

/// A text, or bytes that are none.
fn told(bytes: &[u8]) -> Value {
    match std::str::from_utf8(bytes) {
        Ok(text) => json!({ "text": text }),
        Err(_) => json!({ "bytes": STANDARD.encode(bytes) }),
    }
}
