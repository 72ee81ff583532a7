//! Runs a call, and says in which served folder it looked for a relative path that several of them have.
//!
//! Knows no tool: a call names its paths. Knows no text of an answer but its own line.

use std::collections::BTreeMap;

use super::{Call, OutputKinds, Reply};
use engine::Workspace;
use folder::{Control, FolderPaths, Result};
use sys::path::told;
use text::shown::shown_line;

/// Paths, or folders, that a line names at most.
const NAMED: usize = 3;

/// Runs `call` (contract 12). May wait for disks and locks.
pub fn run(call: &dyn Call, workspace: &Workspace, wanted: OutputKinds, control: &Control) -> Result<Reply> {
    let folders = workspace.folder_paths();
    // Before the call, which may move or delete what is there.
    let holders =
        if folders.folders().len() > 1 { holders(call, workspace, control)? } else { BTreeMap::new() };
    let reply = call.run(workspace, wanted, control)?;
    Ok(if holders.is_empty() { reply } else { with_lines(reply, &holders, folders, wanted) })
}

/// The relative paths of a call that several served folders have, by the numbers of those folders.
fn holders<'c>(
    call: &'c dyn Call,
    workspace: &Workspace,
    control: &Control,
) -> Result<BTreeMap<Vec<usize>, Vec<&'c str>>> {
    let mut holders: BTreeMap<Vec<usize>, Vec<&str>> = BTreeMap::new();
    let single = [call.file(), call.searched(), call.looked_at()];
    for path in single.into_iter().flatten().chain(call.other_files()) {
        control.check()?;
        let folders = workspace.folders_with(path, call.takes_links());
        if folders.len() > 1 {
            holders.entry(folders).or_default().push(path.sent());
        }
    }
    Ok(holders)
}

fn with_lines(
    mut reply: Reply,
    holders: &BTreeMap<Vec<usize>, Vec<&str>>,
    folders: &FolderPaths,
    wanted: OutputKinds,
) -> Reply {
    let folder = |number: &usize| {
        let folder = folders.folders().get(*number).map(|folder| folder.to_string_lossy());
        told(&shown_line(folder.unwrap_or_default().as_bytes())).into_owned()
    };
    let mut of_paths = BTreeMap::new();
    for (numbers, paths) in holders {
        let Some((first, others)) = numbers.split_first() else { continue };
        of_paths.extend(paths.iter().map(|path| (path, folder(first))));
        let paths = named(paths.iter().map(|path| shown_line(path.as_bytes()).into_owned()));
        let line = format!(
            "[Several served folders have {paths}; this is of {}, not of {}. An absolute path says which]",
            folder(first),
            named(others.iter().map(folder))
        );
        reply.note = Some(match reply.note.take() {
            Some(note) => format!("{note}\n{line}"),
            None => line,
        });
    }
    if wanted.data {
        reply.data = reply.data.with("served_folder", &of_paths);
    }
    reply
}

/// The first names, and how many there are more.
fn named(names: impl ExactSizeIterator<Item = String>) -> String {
    let more = names.len().saturating_sub(NAMED);
    let first = names.take(NAMED).collect::<Vec<_>>().join(", ");
    if more == 0 { first } else { format!("{first} and {more} more") }
}
