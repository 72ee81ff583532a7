//! Reads unified diffs, git's and others.

use super::super::{FilePatch, Hunk};
use super::body::{Body, counted, head, is_line};
use super::file::OpenFile;
use super::names;
use super::{Parsed, PatchProblem, Raw};

/// Whether a file begins at this line of a patch.
pub(super) fn is_head(lines: &[Raw], at: usize) -> bool {
    lines[at].text.starts_with("diff --git ") || is_pair(lines, at)
}

/// Whether the two lines with the names of a file begin here.
fn is_pair(lines: &[Raw], at: usize) -> bool {
    lines[at].text.starts_with("--- ") && lines.get(at + 1).is_some_and(|next| next.text.starts_with("+++ "))
}

pub(super) fn is_binary(line: &str) -> bool {
    line == "GIT binary patch" || line.starts_with("Binary files ") && line.ends_with(" differ")
}

pub(super) fn binary(at: usize) -> PatchProblem {
    PatchProblem::at(at, "it is a patch of a binary file; expected patches of text files only")
}

/// Whether no hunk goes on at this line of a patch, whatever its counts say.
fn is_end(lines: &[Raw], at: usize) -> bool {
    let text = lines[at].text;
    let is_pair = || is_pair(lines, at) && lines.get(at + 2).is_some_and(|line| line.text.starts_with("@@"));
    ["@@", "diff --git ", "```"].iter().any(|start| text.starts_with(start))
        || is_signature(lines, at)
        || is_pair()
}

/// Whether a hunk whose counts are not known ends at this line.
fn is_end_of_uncounted(lines: &[Raw], at: usize) -> bool {
    is_end(lines, at) || is_pair(lines, at)
}

/// The end of a mail: `-- `, then the version of git, and a blank line or nothing.
fn is_signature(lines: &[Raw], at: usize) -> bool {
    let line = |at: usize| lines.get(at).map_or("", |line| line.text);
    matches!(lines[at].text, "-- " | "--")
        && line(at + 1).starts_with(|c: char| c.is_ascii_digit())
        && line(at + 2).is_empty()
}

struct Reader<'l, 'p> {
    lines: &'l [Raw<'p>],
    at: usize,
    files: Vec<FilePatch>,
    open: Option<OpenFile>,
}

/// Reads the patch whose first header is at this line.
pub(super) fn parse(lines: &[Raw], at: usize) -> Parsed<Vec<FilePatch>> {
    let mut reader = Reader { lines, at, files: Vec::new(), open: None };
    while reader.at < lines.len() {
        reader.step()?;
    }
    reader.close()?;
    Ok(reader.files)
}

impl Reader<'_, '_> {
    fn step(&mut self) -> Parsed<()> {
        let (at, text) = (self.at, self.lines[self.at].text);
        if is_binary(text) {
            return Err(binary(at));
        }
        if text.starts_with("@@@") {
            return Err(PatchProblem::at(
                at,
                "it is a combined diff of a merge; expected a diff with one old side",
            ));
        }
        if let Some(names) = text.strip_prefix("diff --git ") {
            self.close()?;
            let git = names::pair(names);
            self.open = Some(OpenFile::new(at, git, true));
        } else if is_pair(self.lines, at) {
            return self.pair();
        } else if text.starts_with("@@") && self.open.is_some() {
            let head = head(text).unwrap_or_default();
            self.at += 1;
            let counts = head.counts;
            return self.hunk(Body::new(at, head), counts);
        } else if let Some(open) = self.open.as_mut().filter(|open| open.is_header) {
            open.header(at, text)?;
        } else if text.starts_with("*** ") && super::envelope::is_head(text) {
            return Err(PatchProblem::at(
                at,
                "it is a patch of another form; expected one form in all of the patch",
            ));
        }
        self.at += 1;
        Ok(())
    }

    /// Reads the two lines with names.
    fn pair(&mut self) -> Parsed<()> {
        let at = self.at;
        if self.open.as_ref().is_none_or(|open| !open.is_header) {
            self.close()?;
            self.open = Some(OpenFile::new(at, None, false));
        }
        let read = |at: usize| {
            let text = &self.lines[at].text[4..];
            let name = names::name(text).map_err(|()| {
                PatchProblem::at(at, "the name is not well quoted UTF-8; expected a path as git writes it")
            })?;
            match name.as_deref() {
                Some("") => Err(PatchProblem::at(at, "it names no file; expected a path or /dev/null")),
                _ => Ok(name),
            }
        };
        let names = (read(at)?, read(at + 1)?);
        if let Some(open) = &mut self.open {
            (open.names, open.is_header) = (Some(names), false);
            open.has_header_crlf = self.lines[at + 1].has_crlf;
        }
        self.at += 2;
        // A hunk without `@@`.
        match self.lines.get(self.at) {
            Some(next) if is_line(next.text) && !is_head(self.lines, self.at) => {
                self.hunk(Body::new(self.at, Default::default()), None)
            }
            _ => Ok(()),
        }
    }

    /// Reads the lines of a hunk.
    fn hunk(&mut self, body: Body, counts: Option<(usize, usize)>) -> Parsed<()> {
        let (lines, from) = (self.lines, self.at);
        let exact =
            counts.and_then(|counts| counted(lines, body.clone(), from, counts, |at| is_end(lines, at)));
        let is_exact = exact.is_some();
        let (hunk, end) = match exact {
            Some(exact) => exact,
            None => uncounted(lines, body, from, counts),
        };
        check_behind(lines, end, is_exact)?;
        if hunk.lines.is_empty() {
            return Err(PatchProblem::at(
                hunk.line,
                "the hunk has no lines; expected lines that begin with ' ', '-' or '+'",
            ));
        }
        if let Some(open) = &mut self.open {
            open.is_header = false;
            open.hunks.push(hunk);
        }
        self.at = end;
        Ok(())
    }

    fn close(&mut self) -> Parsed<()> {
        if let Some(open) = self.open.take() {
            self.files.push(open.finish()?);
        }
        Ok(())
    }
}

/// Reads the lines of a hunk whose counts are missing or wrong. Returns the number of the line behind it, too.
fn uncounted(lines: &[Raw], mut body: Body, mut at: usize, counts: Option<(usize, usize)>) -> (Hunk, usize) {
    while at < lines.len() && !is_end_of_uncounted(lines, at) && body.push(lines[at]) {
        at += 1;
    }
    (body.finish(counts), at)
}

/// Refuses lines of a hunk behind one that is none, which would be passed over. If the counts are right, a blank line or a line of a
/// log ends the hunk.
fn check_behind(lines: &[Raw], at: usize, is_exact: bool) -> Parsed<()> {
    let next = lines.get(at).map_or("", |line| line.text);
    if is_exact && (next.is_empty() || next.starts_with("commit ") || next.starts_with("From ")) {
        return Ok(());
    }
    let rest = (at..lines.len()).take_while(|&at| !is_end_of_uncounted(lines, at));
    match rest.skip(1).any(|at| lines[at].text.starts_with(['+', '-'])) {
        false => Ok(()),
        true => {
            let problem = "the line is no part of a hunk, but lines of a hunk follow; expected that each line of a hunk begins with \
                           ' ', '-' or '+'";
            Err(PatchProblem::at(at, problem))
        }
    }
}
