//! One file of a unified diff: its header, and what that says of the paths.

use super::super::{FileChange, FilePatch, Hunk};
use super::names::{self, Path};
use super::{Parsed, PatchProblem};

/// A file whose header or hunks are being read.
#[derive(Default)]
pub(super) struct OpenFile {
    pub(super) line: usize,
    /// The names of the line `diff --git`, and those of `---` and `+++`; the inner `None` is no file.
    pub(super) git: Option<(String, String)>,
    pub(super) names: Option<(Option<String>, Option<String>)>,
    /// The names of `rename` or `copy`.
    from: Option<String>,
    to: Option<String>,
    /// What the header says beside the names.
    change: Option<FileChange>,
    mode: Option<u32>,
    pub(super) has_header_crlf: bool,
    pub(super) hunks: Vec<Hunk>,
    /// It begins with `diff --git`, and no hunk and no other name was read.
    pub(super) is_header: bool,
}

impl OpenFile {
    pub(super) fn new(line: usize, git: Option<(String, String)>, is_header: bool) -> OpenFile {
        OpenFile { line, git, is_header, ..OpenFile::default() }
    }

    /// Takes a line between `diff --git` and the names.
    pub(super) fn header(&mut self, at: usize, text: &str) -> Parsed<()> {
        let name = |text: &str| match names::name(text) {
            Ok(Some(name)) if !name.is_empty() => Ok(Some(name)),
            _ => Err(PatchProblem::at(at, "the name cannot be read; expected a path as git writes it")),
        };
        let mut mode = None;
        if let Some(text) = text.strip_prefix("rename from ") {
            (self.from, self.change) = (name(text)?, Some(FileChange::Rename));
        } else if let Some(text) = text.strip_prefix("copy from ") {
            (self.from, self.change) = (name(text)?, Some(FileChange::Copy));
        } else if let Some(text) = text.strip_prefix("rename to ").or(text.strip_prefix("copy to ")) {
            self.to = name(text)?;
        } else if let Some(text) = text.strip_prefix("new file mode ") {
            (mode, self.change) = (Some(text), Some(FileChange::Add));
        } else if text.starts_with("deleted file mode ") {
            self.change = Some(FileChange::Delete);
        } else if let Some(text) = text.strip_prefix("new mode ") {
            mode = Some(text);
        } else if text.starts_with("index ") && text.ends_with([' ', '0']) {
            // A link or a repository: what a hunk says is not the content of a file.
            let kind = text.rsplit(' ').next().filter(|kind| matches!(*kind, "120000" | "160000"));
            return kind.map_or(Ok(()), |_| Err(no_file(at)));
        }
        if let Some(mode) = mode {
            let mode = u32::from_str_radix(mode.trim(), 8).ok();
            self.mode = Some(mode.filter(|mode| mode & 0o170_000 == 0o100_000).ok_or(no_file(at))?);
        }
        Ok(())
    }

    pub(super) fn finish(self) -> Parsed<FilePatch> {
        let line = self.line;
        let (change, [old_path, new_path], other_path) = self.paths()?;
        let mut patch =
            FilePatch { line, change, old_path, new_path, other_path, mode: self.mode, hunks: self.hunks };
        let changes = !patch.hunks.is_empty() || change != FileChange::Update || patch.mode.is_some();
        if !changes {
            return Err(PatchProblem::at(
                line,
                "it changes nothing of the file; expected hunks below the names",
            ));
        }
        checked(&mut patch, self.has_header_crlf)?;
        Ok(patch)
    }

    /// The change, the old and the new path, and another reading.
    fn paths(&self) -> Parsed<(FileChange, [Option<String>; 2], Option<String>)> {
        let problem = |problem: &str| Err(PatchProblem::at(self.line, problem));
        if let Some(change @ (FileChange::Rename | FileChange::Copy)) = self.change {
            return match (&self.from, &self.to) {
                (Some(from), Some(to)) => Ok((change, [from, to].map(|path| Some(path.clone())), None)),
                _ => problem(
                    "it names one file; expected `rename from` and `rename to`, or `copy from` and `copy to`",
                ),
            };
        }
        let git = || self.git.clone().map(|(old, new)| (Some(old), Some(new)));
        let Some(names) = self.names.clone().or_else(git) else {
            return problem(
                "it does not tell the name of the file; expected `--- a/<path>` and `+++ b/<path>`",
            );
        };
        let (old, new) = match (self.change, names) {
            (Some(FileChange::Add), (_, new)) => (None, new),
            (Some(FileChange::Delete), (old, _)) => (old, None),
            (_, names) => names,
        };
        match (old.as_deref(), new.as_deref()) {
            (None, Some(new)) => {
                let Path { path, other } = names::single(new);
                Ok((FileChange::Add, [None, Some(path)], other))
            }
            (Some(old), None) => {
                let Path { path, other } = names::single(old);
                Ok((FileChange::Delete, [Some(path), None], other))
            }
            (Some(old), Some(new)) => match names::common(old, new) {
                Some(Path { path, other }) => {
                    Ok((FileChange::Update, [Some(path.clone()), Some(path)], other))
                }
                None => {
                    let problem = format!(
                        "it names two files, {old} and {new}; expected one, or `diff --git` with `rename from` and `rename to`"
                    );
                    Err(PatchProblem::at(self.line, problem))
                }
            },
            (None, None) => problem("both names are /dev/null; expected the path of a file"),
        }
    }
}

/// Checks that a new file has only added lines, and a deleted one only removed ones. `is_crlf`: all lines of the patch end with `\r\n`,
/// which says nothing of the file.
pub(super) fn checked(patch: &mut FilePatch, is_crlf: bool) -> Parsed<()> {
    use super::super::LineKind::{Add, Context, Remove};
    for line in patch.hunks.iter_mut().flat_map(|hunk| &mut hunk.lines).filter(|_| is_crlf) {
        line.brk = "\n";
    }
    let (only, what) = match patch.change {
        FileChange::Add => (Add, "a new file has only lines that begin with '+'"),
        FileChange::Delete => (Remove, "a deleted file has only lines that begin with '-'"),
        _ => return Ok(()),
    };
    for hunk in &mut patch.hunks {
        for line in &mut hunk.lines {
            if line.kind == Context && line.text.is_empty() {
                line.kind = only;
            }
            if line.kind != only {
                return Err(PatchProblem::at(
                    hunk.line,
                    format!("the hunk has a line of another kind; {what}"),
                ));
            }
        }
    }
    Ok(())
}

fn no_file(at: usize) -> PatchProblem {
    PatchProblem::at(at, "it is a patch of a link or of a repository; expected patches of text files only")
}
