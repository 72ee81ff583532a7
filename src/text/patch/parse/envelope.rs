//! Reads the form `*** Begin Patch` … `*** End Patch`.

use super::super::{FileChange, FilePatch, Hunk, LineKind};
use super::body::{Body, head};
use super::file::checked;
use super::{Parsed, PatchProblem, Raw};

const BEGIN: &str = "*** Begin Patch";
const END: &str = "*** End Patch";
const ADD: &str = "*** Add File:";
const UPDATE: &str = "*** Update File:";
const DELETE: &str = "*** Delete File:";
const MOVE: &str = "*** Move to:";
const END_OF_FILE: &str = "*** End of File";

/// Whether a line begins a patch of this form, or a file of one.
pub(super) fn is_head(line: &str) -> bool {
    [BEGIN, ADD, UPDATE, DELETE].iter().any(|head| line.starts_with(head))
}

struct Reader<'l, 'p> {
    lines: &'l [Raw<'p>],
    at: usize,
    files: Vec<FilePatch>,
    open: Option<FilePatch>,
    hunk: Option<Body>,
    /// `*** Begin Patch` was read, and no end yet.
    has_begun: bool,
}

/// Reads the patch whose first line is this one.
pub(super) fn parse(lines: &[Raw], at: usize) -> Parsed<Vec<FilePatch>> {
    let mut reader = Reader { lines, at, files: Vec::new(), open: None, hunk: None, has_begun: false };
    while reader.at < lines.len() {
        reader.step()?;
        reader.at += 1;
    }
    if reader.has_begun {
        let problem = format!("it ends without `{END}`; perhaps it was cut off; expected the whole patch");
        return Err(PatchProblem::whole(&problem));
    }
    reader.close()?;
    match reader.files.is_empty() {
        true => {
            Err(PatchProblem::at(at, format!("it names no file; expected `{UPDATE} <path>` or the like")))
        }
        false => Ok(reader.files),
    }
}

impl Reader<'_, '_> {
    fn step(&mut self) -> Parsed<()> {
        let (at, text) = (self.at, self.lines[self.at].text);
        let marker = text.trim_end();
        if marker == BEGIN || marker == END {
            self.close()?;
            self.has_begun = marker == BEGIN;
            return Ok(());
        }
        for (head, change) in
            [(ADD, FileChange::Add), (UPDATE, FileChange::Update), (DELETE, FileChange::Delete)]
        {
            if let Some(path) = marker.strip_prefix(head) {
                self.close()?;
                return self.open(change, path.trim());
            }
        }
        if self.open.is_none() || text.starts_with("```") && !self.has_begun {
            return self.between();
        }
        match (marker.strip_prefix(MOVE), &mut self.open) {
            (Some(to), Some(open)) if open.hunks.is_empty() && self.hunk.is_none() => {
                if open.change != FileChange::Update || to.trim().is_empty() {
                    return Err(PatchProblem::at(
                        at,
                        format!("expected `{MOVE} <path>` below `{UPDATE}` only"),
                    ));
                }
                (open.change, open.new_path) = (FileChange::Rename, Some(to.trim().into()));
                Ok(())
            }
            _ if marker == END_OF_FILE && self.hunk.is_some() => {
                if let Some(mut body) = self.hunk.take() {
                    body.hunk.is_at_end = true;
                    self.push(body)?;
                }
                Ok(())
            }
            _ if text.starts_with("*** ") => Err(PatchProblem::at(
                at,
                format!("the line is not known; expected `{UPDATE}`, `{END}` or the like"),
            )),
            _ => self.line(),
        }
    }

    /// A line that belongs to no file.
    fn between(&mut self) -> Parsed<()> {
        let text = self.lines[self.at].text;
        if !self.has_begun {
            return self.close();
        }
        match text.trim().is_empty() {
            true => Ok(()),
            false => Err(PatchProblem::at(
                self.at,
                format!("the line belongs to no file; expected `{UPDATE} <path>` above it"),
            )),
        }
    }

    /// A line of a file.
    fn line(&mut self) -> Parsed<()> {
        let (at, raw) = (self.at, self.lines[self.at]);
        let Some(open) = &mut self.open else { return Ok(()) };
        if let Some(head) = head(raw.text).filter(|_| open.change != FileChange::Delete) {
            // Several lines above the hunk, one below the other.
            if let Some(body) = self.hunk.as_mut().filter(|body| body.hunk.lines.is_empty()) {
                body.hunk.headers.extend(head.header);
                body.hunk.old_start = head.old_start.or(body.hunk.old_start);
                return Ok(());
            }
            self.finish_hunk()?;
            self.hunk = Some(Body::new(at, head));
            return Ok(());
        }
        let is_blank = raw.text.trim().is_empty();
        let is_name = |name: &str| raw.text.starts_with(name) && open.hunks.is_empty();
        if self.hunk.is_none() && (is_blank || is_name("--- ") || is_name("+++ ")) {
            return Ok(());
        }
        if open.change == FileChange::Delete && !is_blank {
            return Err(PatchProblem::at(at, format!("no lines are expected below `{DELETE}`")));
        }
        match self.hunk.get_or_insert_with(|| Body::new(at, Default::default())).push(raw) {
            true => Ok(()),
            false => Err(PatchProblem::at(
                at,
                "the line is no part of a hunk; expected that it begins with ' ', '-' or '+'",
            )),
        }
    }

    fn open(&mut self, change: FileChange, path: &str) -> Parsed<()> {
        if path.is_empty() {
            return Err(PatchProblem::at(self.at, "it names no file; expected a path behind the colon"));
        }
        let is_old = change != FileChange::Add;
        self.open = Some(FilePatch {
            line: self.at,
            change,
            old_path: is_old.then(|| path.into()),
            new_path: (change != FileChange::Delete).then(|| path.into()),
            other_path: None,
            mode: None,
            hunks: Vec::new(),
        });
        Ok(())
    }

    fn close(&mut self) -> Parsed<()> {
        self.finish_hunk()?;
        let Some(mut patch) = self.open.take() else { return Ok(()) };
        if patch.change == FileChange::Update && patch.hunks.is_empty() {
            return Err(PatchProblem::at(
                patch.line,
                "it changes nothing of the file; expected hunks below the name",
            ));
        }
        let is_crlf = self.lines[patch.line].has_crlf;
        checked(&mut patch, is_crlf)?;
        self.files.push(patch);
        Ok(())
    }

    fn finish_hunk(&mut self) -> Parsed<()> {
        self.hunk.take().map_or(Ok(()), |body| self.push(body))
    }

    fn push(&mut self, body: Body) -> Parsed<()> {
        let mut hunk: Hunk = body.finish(None);
        if hunk.lines.is_empty() {
            let problem = "the hunk has no lines; expected lines that begin with ' ', '-' or '+'";
            return Err(PatchProblem::at(hunk.line, problem));
        }
        let adds_only = hunk.lines.iter().all(|line| line.kind == LineKind::Add);
        hunk.is_at_end |= adds_only && hunk.headers.is_empty() && hunk.old_start.is_none();
        if let Some(open) = &mut self.open {
            open.hunks.push(hunk);
        }
        Ok(())
    }
}
