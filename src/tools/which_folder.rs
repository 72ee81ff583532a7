//! Runs a call, and says in which served folder it looked for a relative path that several of them have, and where it made a new one.
//!
//! Knows no tool: a call names its paths. Knows no text of an answer but its own line.

use super::{Call, OutputKinds, Reply};
use engine::Workspace;
use folder::{Control, FilePath, FolderPaths, Result};
use sys::path::told;
use text::shown::in_one_line;

/// Paths, or folders, that a line names at most.
const NAMED: usize = 3;

/// Runs `call` (contract 12), which `writes` or reads alone. May wait for disks and locks.
pub fn run(
    call: &dyn Call,
    writes: bool,
    workspace: &Workspace,
    wanted: OutputKinds,
    control: &Control,
) -> Result<Reply> {
    let folders = workspace.folder_paths();
    if folders.folders().len() == 1 {
        return call.run(workspace, wanted, control);
    }
    // Before the call, which may move or delete what is there.
    let holders = holders(call, workspace, control)?;
    let is_new = |path: &&FilePath| writes && path.folder().is_none() && workspace.info(path).is_err();
    let new: Vec<&FilePath> = paths(call).filter(is_new).collect();
    let mut reply = call.run(workspace, wanted, control)?;
    if !holders.is_empty() {
        reply = with_lines(reply, &holders, folders, wanted);
    }
    let made = new.into_iter().filter(|path| workspace.info(path).is_ok());
    let made: Vec<String> =
        made.filter_map(|path| Some(shown(&workspace.absolute(path).ok()?.to_string_lossy()))).collect();
    if !made.is_empty() {
        add_note(&mut reply, format!("[New: {}]", named(made.into_iter())));
    }
    let gone = if looks_in_all(call) { workspace.gone_folders() } else { Vec::new() };
    if !gone.is_empty() {
        let gone = named(gone.iter().map(|folder| shown(folder)));
        add_note(&mut reply, format!("[Gone, and not looked in: the served folder {gone}]"));
    }
    Ok(reply)
}

/// Whether the call looks in all served folders: it names a relative path, or is a search or analysis without a path.
fn looks_in_all(call: &dyn Call) -> bool {
    match paths(call).next() {
        Some(_) => paths(call).any(|path| path.folder().is_none()),
        None => call.memory() > 0,
    }
}

/// All paths of the call.
fn paths(call: &dyn Call) -> impl Iterator<Item = &FilePath> {
    let single = [call.file(), call.searched(), call.looked_at()];
    single.into_iter().flatten().chain(call.other_files())
}

/// A path of the system as answers show it.
fn shown(path: &str) -> String {
    told(&in_one_line(path)).into_owned()
}

fn add_note(reply: &mut Reply, line: String) {
    reply.note = Some(match reply.note.take() {
        Some(note) => format!("{note}\n{line}"),
        None => line,
    });
}

/// Paths that the same served folders have, and the numbers of those folders.
type Holders<'c> = (Vec<usize>, Vec<&'c str>);

/// The relative paths of a call that several served folders have, in the order of those folders.
fn holders<'c>(call: &'c dyn Call, workspace: &Workspace, control: &Control) -> Result<Vec<Holders<'c>>> {
    let mut holders: Vec<Holders> = Vec::new();
    for path in paths(call) {
        control.check()?;
        let folders = workspace.folders_with(path, call.takes_links());
        if folders.len() > 1 {
            match holders.iter_mut().find(|(known, _)| *known == folders) {
                Some((_, paths)) => paths.push(path.sent()),
                None => holders.push((folders, vec![path.sent()])),
            }
        }
    }
    text::order::sort_by(&mut holders, |(one, _), (other, _)| one.cmp(other));
    Ok(holders)
}

fn with_lines(mut reply: Reply, holders: &[Holders], folders: &FolderPaths, wanted: OutputKinds) -> Reply {
    let folder = |number: &usize| {
        let folder = folders.folders().get(*number).map(|folder| folder.to_string_lossy());
        shown(&folder.unwrap_or_default())
    };
    let mut of_paths = serde_json::Map::new();
    for (numbers, paths) in holders {
        let Some((first, others)) = numbers.split_first() else { continue };
        of_paths.extend(paths.iter().map(|path| ((*path).to_owned(), folder(first).into())));
        let paths = named(paths.iter().map(|path| in_one_line(path).into_owned()));
        let line = format!(
            "[Several served folders have {paths}; this is of {}, not of {}. An absolute path says which]",
            folder(first),
            named(others.iter().map(folder))
        );
        add_note(&mut reply, line);
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
