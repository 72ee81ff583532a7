//! Lines of files, and changes of them. No line stands twice in a file, so it is known where each one is.

/// Lines of a file that were replaced by others.
#[derive(Debug, Clone)]
pub(super) struct Region {
    /// The lines around it.
    pub(super) around: [Option<String>; 2],
    pub(super) old: Vec<String>,
    pub(super) new: Vec<String>,
}

pub(super) fn text(lines: &[String]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// Replaces the lines `at..at + len`. Returns what that was.
pub(super) fn replace(lines: &mut Vec<String>, at: usize, len: usize, new: Vec<String>) -> Region {
    let around = [at.checked_sub(1).map(|before| lines[before].clone()), lines.get(at + len).cloned()];
    let old = lines.splice(at..at + len, new.clone()).collect();
    Region { around, old, new }
}

/// Where the lines are that a region put there. `None`: they are not there any more.
pub(super) fn place(region: &Region, lines: &[String]) -> Option<usize> {
    let [before, after] = &region.around;
    let at = match (region.new.first(), before, after) {
        (Some(first), ..) => lines.iter().position(|line| line == first)?,
        (None, Some(before), _) => lines.iter().position(|line| line == before)? + 1,
        (None, None, _) => 0,
    };
    let is_there = lines.get(at..)?.starts_with(&region.new);
    // Where nothing was put there, the lines around tell the place.
    (is_there && (!region.new.is_empty() || lines.get(at) == after.as_ref())).then_some(at)
}
