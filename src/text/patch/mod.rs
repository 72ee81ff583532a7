//! Patches as agents send them: reads a patch, and finds in a text the lines that its hunks change (contract 19, `edit`).
//!
//! Pure; knows no files. [`parse()`] gives plain data for each file. [`place()`] finds each hunk by its lines, because the numbers in a
//! patch are often wrong, and plans the changes. A hunk that fits nowhere, or in several places that nothing tells apart, is refused.
//!
//! Lines are those of contract 3, in the patch and in the text: a break is no part of a line, so a patch with `\n` fits a text with
//! `\r\n`, and no patch changes the kind of a break.

mod parse;
mod place;
#[cfg(test)]
mod tests;

pub use self::parse::{PatchProblem, parse};
pub use self::place::{FirstDifference, HunkProblem, HunkReason, Placed, Unplaced, place};

/// What a patch does with one file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileChange {
    /// It changes the content.
    Update,
    /// It makes the file.
    Add,
    /// It deletes the file. The hunks, if there are any, are what the file must hold.
    Delete,
    /// It moves the file, and may change the content.
    Rename,
    /// It makes a copy of the file, and may change the content of the copy.
    Copy,
}

/// The part of a patch for one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilePatch {
    /// The line of the patch at which it begins, 0-based.
    pub line: usize,
    /// What it does.
    pub change: FileChange,
    /// The file before. `None` if the patch makes it.
    pub old_path: Option<String>,
    /// The file after. `None` if the patch deletes it.
    pub new_path: Option<String>,
    /// Another reading of the path, with or without its first folder: a name such as `a/x` may be the file `x` or `a/x`. For the
    /// caller to try where the path leads to nothing.
    pub other_path: Option<String>,
    /// The mode that the file gets, as git writes it: 0o100644 or 0o100755.
    pub mode: Option<u32>,
    /// The changes of the content, in the order of the patch.
    pub hunks: Vec<Hunk>,
}

/// Changes of lines that are near each other.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Hunk {
    /// The line of the patch at which it begins, 0-based.
    pub line: usize,
    /// The line of the file at which it begins, or before which it adds lines, 0-based. Only a hint.
    pub old_start: Option<usize>,
    /// The texts behind `@@`: lines above the hunk, the outermost first. Some are cut.
    pub headers: Vec<String>,
    /// The lines, in the order of the patch.
    pub lines: Vec<HunkLine>,
    /// `\ No newline at end of file` stands below the last line of the old side.
    pub old_is_open: bool,
    /// The same of the new side.
    pub new_is_open: bool,
    /// It belongs to the end of the file: `*** End of File`, or only added lines in the form that has no numbers.
    pub is_at_end: bool,
}

/// A line of a hunk, without its break.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HunkLine {
    /// On which sides it is.
    pub kind: LineKind,
    /// The text.
    pub text: String,
    /// Its break, where the file has none to follow: `\r\n` only if the file's header ends with another one.
    pub brk: &'static str,
}

/// On which sides of a hunk a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineKind {
    /// On both.
    Context,
    /// On the old side.
    Remove,
    /// On the new side.
    Add,
}

impl FilePatch {
    /// The content of a file that the patch makes.
    pub fn content(&self) -> String {
        made(&self.hunks)
    }
}

/// The content of a file that these hunks make.
pub fn made(hunks: &[Hunk]) -> String {
    let (mut content, mut last) = (String::new(), "");
    let lines = hunks.iter().flat_map(|hunk| &hunk.lines).filter(|line| line.kind != LineKind::Remove);
    for HunkLine { text, brk, .. } in lines {
        content += text;
        content += brk;
        last = brk;
    }
    if hunks.last().is_some_and(|hunk| hunk.new_is_open) {
        content.truncate(content.len() - last.len());
    }
    content
}

/// Whether hunks that update a file could as well make it: they only add lines to an empty text, or above the first line.
pub fn may_create(hunks: &[Hunk]) -> bool {
    let [hunk] = hunks else { return false };
    hunk.old_start == Some(0) && hunk.old_side().next().is_none()
}

impl Hunk {
    /// The lines that the file must have.
    pub fn old_side(&self) -> impl Iterator<Item = &str> {
        self.lines.iter().filter(|line| line.kind != LineKind::Add).map(|line| line.text.as_str())
    }

    /// The lines that it has afterwards.
    pub fn new_side(&self) -> impl Iterator<Item = &str> {
        self.lines.iter().filter(|line| line.kind != LineKind::Remove).map(|line| line.text.as_str())
    }
}
