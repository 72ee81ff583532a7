//! Reads a patch: finds its form, and divides it into lines.
//!
//! Lenient where the meaning is clear; else a problem that says what is expected. No part of a patch that changes something is skipped.

mod body;
mod envelope;
mod file;
mod names;
mod unified;

use super::FilePatch;

/// Why a text is not a patch that can be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PatchProblem {
    /// The line of the patch, 0-based, if one line is wrong.
    pub line: Option<usize>,
    /// What is wrong, and what is expected.
    pub problem: String,
}

impl PatchProblem {
    fn at(line: usize, problem: impl Into<String>) -> PatchProblem {
        PatchProblem { line: Some(line), problem: problem.into() }
    }

    fn whole(problem: &str) -> PatchProblem {
        PatchProblem { line: None, problem: problem.into() }
    }
}

type Parsed<T> = Result<T, PatchProblem>;

/// A line of the patch, without its break.
#[derive(Debug, Clone, Copy)]
struct Raw<'p> {
    text: &'p str,
    /// It ends with `\r\n`.
    has_crlf: bool,
}

/// Reads a patch in either form (contract 19): a unified diff, or `*** Begin Patch`. Text before, between and after is passed over,
/// such as a commit message or code fences.
///
/// A file may be named several times; its patches apply in order.
pub fn parse(patch: &str) -> Result<Vec<FilePatch>, PatchProblem> {
    let patch = patch.strip_prefix('\u{FEFF}').unwrap_or(patch);
    if let Some(at) = memchr::memchr(0, patch.as_bytes()) {
        let line = memchr::memchr_iter(b'\n', &patch.as_bytes()[..at]).count();
        return Err(PatchProblem::at(line, "the line has a NUL byte; expected text"));
    }
    let mut lines: Vec<Raw> = patch.split('\n').map(raw).collect();
    if lines.last().is_some_and(|last| last.text.is_empty()) {
        lines.pop();
    } else if let [.., before, last] = &mut lines[..] {
        // Its break was cut off.
        last.has_crlf |= before.has_crlf;
    }
    let is_head = |at: &usize| envelope::is_head(lines[*at].text) || unified::is_head(&lines, *at);
    match (0..lines.len()).find(is_head) {
        Some(at) if envelope::is_head(lines[at].text) => envelope::parse(&lines, at),
        Some(at) => unified::parse(&lines, at),
        None => Err(headless(&lines)),
    }
}

fn raw(text: &str) -> Raw<'_> {
    let line = text.strip_suffix('\r');
    Raw { text: line.unwrap_or(text), has_crlf: line.is_some() }
}

fn headless(lines: &[Raw]) -> PatchProblem {
    let is_context_diff = |(at, line): (usize, &Raw)| {
        line.text.starts_with("*** ") && lines.get(at + 1).is_some_and(|next| next.text.starts_with("--- "))
    };
    if lines.iter().enumerate().any(is_context_diff) {
        return PatchProblem::whole("it is a context diff; expected a unified diff (`diff -u`)");
    }
    if let Some(at) = lines.iter().position(|line| unified::is_binary(line.text)) {
        return unified::binary(at);
    }
    match lines.iter().position(|line| line.text.starts_with("@@")) {
        Some(at) => PatchProblem::at(
            at,
            "the hunk belongs to no file; expected `--- a/<path>` and `+++ b/<path>` above it",
        ),
        None => PatchProblem::whole(
            "it names no file; expected a unified diff with `--- a/<path>` and `+++ b/<path>`, or `*** Begin Patch`",
        ),
    }
}
