//! What the tree is, as files with lines, and what changes make of it. No line stands twice in a file, so it is known where each one is.

use std::collections::BTreeMap;

/// A file that keeps its number wherever it is moved.
pub(super) type FileNumber = usize;

/// The files by their numbers: the path and the lines of each.
pub(super) type Files = BTreeMap<FileNumber, (String, Vec<String>)>;

/// Lines of a file that were replaced by others.
#[derive(Debug, Clone)]
pub(super) struct Region {
    /// The lines around it.
    pub(super) around: [Option<String>; 2],
    pub(super) old: Vec<String>,
    pub(super) new: Vec<String>,
}

/// What a change did to one file.
#[derive(Debug, Clone)]
pub(super) enum Effect {
    Edited { file: FileNumber, regions: Vec<Region> },
    Moved { file: FileNumber, from: String },
    Made { file: FileNumber, lines: Vec<String> },
    Gone { file: FileNumber, path: String, lines: Vec<String> },
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
fn place(region: &Region, lines: &[String]) -> Option<usize> {
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

/// Takes effects back. Returns what that does. `None`: it cannot be told what that would be, so it must be refused.
pub(super) fn undone(effects: &[Effect], files: &mut Files) -> Option<Vec<Effect>> {
    let mut done = Vec::new();
    let is_free = |files: &Files, path: &str| files.values().all(|(other, _)| other != path);
    for effect in effects.iter().rev() {
        match effect {
            Effect::Edited { file, regions } => {
                let (_, lines) = files.get_mut(file)?;
                let mut back = Vec::new();
                for region in regions {
                    let at = place(region, lines)?;
                    back.push(replace(lines, at, region.new.len(), region.old.clone()));
                }
                done.push(Effect::Edited { file: *file, regions: back });
            }
            Effect::Moved { file, from, .. } => {
                let now = files.get(file)?.0.clone();
                if now != *from {
                    is_free(files, from).then_some(())?;
                    files.get_mut(file)?.0.clone_from(from);
                    done.push(Effect::Moved { file: *file, from: now });
                }
            }
            Effect::Made { file, lines, .. } => {
                files.get(file).filter(|(_, now)| now == lines)?;
                let (path, lines) = files.remove(file)?;
                done.push(Effect::Gone { file: *file, path, lines });
            }
            Effect::Gone { file, path, lines } => {
                (is_free(files, path) && !files.contains_key(file)).then_some(())?;
                files.insert(*file, (path.clone(), lines.clone()));
                done.push(Effect::Made { file: *file, lines: lines.clone() });
            }
        }
    }
    Some(done)
}
