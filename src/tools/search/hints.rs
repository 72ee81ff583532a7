//! What a search that found nothing can say of near misses: true, and found in a short time.

use serde_json::json;

use super::pattern::Pattern;
use super::words::GlobWords;
use crate::tools::balance::{Balance, Reason};
use crate::tools::near::Near;
use crate::tools::walking::{Start, in_one_line};
use engine::Workspace;
use folder::{Control, EntryKind, Error, FilePath, NamePolicy, Result, WalkOptions};
use sys::path::told;
use text::glob::Glob;

/// Lines for a pattern that matches nothing in `starts`, where walks have these options.
pub(super) fn hints(
    (pattern, words): (&Pattern, &GlobWords),
    options: &WalkOptions,
    workspace: &Workspace,
    starts: &[Start],
    left_out: &Balance,
    control: &Control,
) -> Result<Vec<String>> {
    if let Some(line) = missing_folder(workspace, starts) {
        return Ok(vec![line]);
    }
    let is_folder = || is_folder(pattern, words.tool, workspace, starts);
    if let Some(line) = (!words.names_folders).then(is_folder).flatten() {
        return Ok(vec![line]);
    }
    let mut lines = Vec::new();
    let near = Near::new(workspace, starts, control);
    for (other, glob) in pattern.near() {
        let with = format!("with {}", json!({ "pattern": told(&other) }));
        lines.extend(near.count(options.clone(), |path| glob.matches(path))?.line(&with));
    }
    if pattern.has_case()
        && let Ok(glob) = pattern.glob_of_lower_case()
    {
        let found = near.count(options.clone(), |path| glob.matches(&path.to_lowercase()))?;
        lines.extend(found.line("if upper and lower case are the same"));
    }
    let glob: Glob = pattern.glob()?;
    let has = |reasons: [Reason; 2]| reasons.into_iter().any(|reason| left_out.of(reason) > 0);
    let (ignored, hidden) =
        (has([Reason::Ignored, Reason::IgnoredFolders]), has([Reason::Hidden, Reason::HiddenFolders]));
    let both = options.skip_ignored && options.skip_hidden && (ignored || hidden);
    let mut is_told = false;
    let [of_ignored, of_hidden] = [words.ignored, words.hidden].map(|name| format!("{name}: true"));
    for (is_useful, include_ignored, include_hidden, words) in [
        (ignored, true, false, format!("with {of_ignored}")),
        (hidden, false, true, format!("with {of_hidden}")),
        (both, true, true, format!("with {of_ignored} and {of_hidden}")),
    ] {
        if !is_useful || include_ignored && include_hidden && is_told {
            continue;
        }
        let options = WalkOptions {
            skip_ignored: options.skip_ignored && !include_ignored,
            skip_hidden: options.skip_hidden && !include_hidden,
            ..options.clone()
        };
        let line = near.count(options, |path| glob.matches(path))?.line(&words);
        is_told |= line.is_some();
        lines.extend(line);
    }
    Ok(lines)
}

/// Which part of a folder that the pattern names does not exist, if it is in none of the served folders.
fn missing_folder(workspace: &Workspace, starts: &[Start]) -> Option<String> {
    let kind = |path: &FilePath| workspace.info(path).map(|info| info.kind).ok();
    let is_missing = |start: &Start| match workspace.info(&start.folder) {
        Ok(info) => info.kind != EntryKind::Folder,
        // Of what may not be looked at, nothing is said.
        Err(error) => matches!(error, Error::NotFound { .. }),
    };
    if starts.is_empty() || !starts.iter().all(is_missing) {
        return None;
    }
    let mut longest: Option<(usize, String)> = None;
    for start in starts {
        let path = start.before.trim_end_matches('/');
        let root = path.len() - start.folder.as_str().len().min(path.len());
        let line = |end: usize| told(&in_one_line(&path[..end])).into_owned();
        let ends = path.bytes().enumerate().skip(root).filter(|(_, byte)| *byte == b'/').map(|(at, _)| at);
        for end in ends.chain([path.len()]) {
            let Ok(above) = FilePath::parse(&path[..end], NamePolicy::Paths, workspace.folder_paths()) else {
                continue;
            };
            let line = match kind(&above) {
                Some(EntryKind::Folder) => continue,
                None => format!("[There is no folder {}]", line(end)),
                Some(_) => format!("[{} is no folder]", line(end)),
            };
            if longest.as_ref().is_none_or(|(other, _)| *other < end) {
                longest = Some((end, line));
            }
            break;
        }
    }
    longest.map(|(_, line)| line)
}

/// Whether the pattern is the path of a folder.
fn is_folder(pattern: &Pattern, tool: &str, workspace: &Workspace, starts: &[Start]) -> Option<String> {
    let name = pattern.literal()?;
    starts.iter().find_map(|start| {
        let is_folder = workspace.info(&start.folder.join(name)).ok()?.kind == EntryKind::Folder;
        let path = format!("{}{name}", start.before);
        is_folder.then(|| {
            format!(
                "[{} is a folder; find the files in it with {tool} {}]",
                told(&in_one_line(&path)),
                json!({ "pattern": told(&format!("{path}/**")) })
            )
        })
    })
}
