//! Finds the repository of a project, and refuses one that cannot be read completely.

use std::path::Path;
use std::sync::Arc;

use super::config::Config;
use super::id::{HashKind, ObjectId};
use super::refs;
use super::store::{SharedStore, Store, read_file};
use crate::churn::fault::{Fault, Result};
use engine::{FolderHandle, Workspace};
use folder::{Control, EntryKind, Error, FilePath};

/// The longest `config`, in bytes.
const MAX_CONFIG: usize = 1 << 20;

/// A repository that can be read.
#[derive(Debug)]
pub struct Repository {
    /// The folder of the work tree.
    pub top: FilePath,
    /// The path of the project below it; empty, or ends in `/`.
    pub below: String,
    /// The commit of `HEAD`.
    pub head: ObjectId,
    /// Its objects.
    pub store: SharedStore,
    /// Whether its history is cut.
    pub is_shallow: bool,
}

impl Repository {
    /// Opens the repository that holds the folder `project`: the one at it, or at the nearest folder above it that is served.
    pub fn open(workspace: &Workspace, project: &FilePath, control: &Control) -> Result<Repository> {
        let folder = match workspace.folder_handle(project, control) {
            Err(Error::KeptByGit { .. }) if !project.as_str().split('/').any(|name| name == ".git") => {
                return Err(bare());
            }
            folder => folder?,
        };
        let mut top = project.clone();
        loop {
            let handle =
                if top == *project { folder.clone() } else { workspace.folder_handle(&top, control)? };
            if is_repository(workspace, &top, &handle)? {
                let git = handle.folder(Path::new(".git"))?.ok_or_else(|| none(project))?;
                let below = &project.as_str()[top.as_str().len()..];
                let below =
                    below.trim_start_matches('/').to_owned() + if below.is_empty() { "" } else { "/" };
                return open_git(&git, top, below, control);
            }
            if is_bare(&handle)? {
                return Err(bare());
            }
            match top.parent() {
                Some(parent) => top = parent,
                None => return Err(none(project)),
            }
        }
    }
}

fn none(project: &FilePath) -> Fault {
    let name = if project.sent().is_empty() { "." } else { project.sent() };
    Fault::Unsuitable(format!(
        "{name} is in no git repository: neither it nor a served folder above it has a folder .git; \
         expected the path of a folder in a repository"
    ))
}

fn bare() -> Fault {
    Fault::Unsuitable("the repository is bare; expected one with a work tree, such as a clone of it".into())
}

/// Whether `top` has a folder `.git`. A file or a link in its place may lead anywhere, and is refused.
fn is_repository(workspace: &Workspace, top: &FilePath, handle: &FolderHandle) -> Result<bool> {
    if workspace.hides(top, Path::new(".git/HEAD")) {
        return Ok(false);
    }
    match handle.kind(Path::new(".git"))? {
        None | Some(EntryKind::Special) => Ok(false),
        Some(EntryKind::Folder) => Ok(true),
        Some(EntryKind::File) => Err(Fault::Unsuitable(
            ".git is a file that names a folder elsewhere (a worktree or a submodule), which is not followed; \
             expected the path of the main work tree"
                .into(),
        )),
        Some(EntryKind::Link) => Err(Fault::Unsuitable(
            ".git is a link, which is not followed; expected a repository whose .git is a folder".into(),
        )),
    }
}

/// Whether the folder itself looks like a repository.
fn is_bare(handle: &FolderHandle) -> Result<bool> {
    let kind = |name| handle.kind(Path::new(name));
    Ok(kind("HEAD")? == Some(EntryKind::File)
        && kind("objects")? == Some(EntryKind::Folder)
        && kind("refs")? == Some(EntryKind::Folder))
}

fn open_git(git: &FolderHandle, top: FilePath, below: String, control: &Control) -> Result<Repository> {
    let view = read_file(git, Path::new("config"), control)?;
    let config = view.as_ref().map_or(&[][..], |view| view.bytes());
    let config = Config::read(&config[..config.len().min(MAX_CONFIG)]);
    let refuse = |text: &str| Err(Fault::Unsuitable(text.into()));
    if config.is_bare {
        return Err(bare());
    }
    if let Some(unknown) = config.unknown_format() {
        return refuse(&format!(
            "the repository has {unknown}, which is not known; expected format version 0 or 1 and known extensions"
        ));
    }
    let kind = match config.object_format.as_deref() {
        None | Some("sha1") => HashKind::Sha1,
        Some("sha256") => HashKind::Sha256,
        Some(_) => {
            return refuse(
                "the repository names its objects by a hash that is not known; expected sha1 or sha256",
            );
        }
    };
    if config.ref_storage.is_some_and(|storage| storage != "files") {
        return refuse(
            "the repository keeps its refs in reftables, which are not read; expected files: \
             run 'git refs migrate --ref-format=files'",
        );
    }
    if git.kind(Path::new("commondir"))?.is_some() {
        return refuse("the repository is a linked worktree; expected the path of the main work tree");
    }
    let shallow = read_file(git, Path::new("shallow"), control)?;
    let is_shallow = shallow.is_some_and(|view| !view.bytes().is_empty());
    let Some(head) = refs::head(git, kind, control)? else {
        return refuse("the branch of HEAD has no commits yet; expected at least one commit");
    };
    let objects = match git.folder(Path::new("objects")) {
        Ok(Some(objects)) => objects,
        Ok(None) => return Err(Fault::damaged(".git/objects", "it is missing")),
        Err(Error::PermissionDenied { .. } | Error::RefusedLink { .. }) => {
            return refuse(".git/objects is a link that leads out of the repository, which is not followed");
        }
        Err(error) => return Err(error.into()),
    };
    let store = Arc::new(Store::open(objects, kind, config.is_partial, control)?);
    Ok(Repository { top, below, head, store, is_shallow })
}
