//! The files whose lines edits of a failed call count. A later call changes these lines only if the files are as they were.

use engine::Workspace;
use folder::{Control, Error, FilePath, Result};

/// Files with the hashes of their contents; a file that cannot be read has none.
#[derive(Debug)]
pub(in crate::tools::agent) struct Counted(Vec<(FilePath, Option<u64>)>);

impl Counted {
    /// These files as they are now.
    pub(in crate::tools::agent) fn of<'f>(
        files: impl Iterator<Item = &'f FilePath>,
        workspace: &Workspace,
        control: &Control,
    ) -> Counted {
        let mut counted: Vec<(FilePath, Option<u64>)> = Vec::new();
        for file in files {
            if !counted.iter().any(|(known, _)| known == file) {
                counted.push((file.clone(), hash(file, workspace, control)));
            }
        }
        Counted(counted)
    }

    /// Refuses these files if one of them has changed since the failed call of this `name`.
    pub(in crate::tools::agent) fn check<'f>(
        &self,
        files: impl Iterator<Item = &'f FilePath> + Clone,
        name: &str,
        (workspace, control): (&Workspace, &Control),
    ) -> Result<()> {
        let is_changed = |(file, then): &&(FilePath, Option<u64>)| {
            files.clone().any(|wanted| wanted == file) && hash(file, workspace, control) != *then
        };
        match self.0.iter().find(is_changed) {
            Some((file, _)) => {
                let problem = format!(
                    "'{}' has changed since {name}, and its lines may have other numbers: send its edits by lines again, each with its n",
                    file.sent()
                );
                Err(Error::InvalidArguments { at: "retry".into(), problem })
            }
            None => Ok(()),
        }
    }
}

fn hash(file: &FilePath, workspace: &Workspace, control: &Control) -> Option<u64> {
    workspace.read_bytes(file, control).ok().map(|(excerpt, _)| journal::hash(excerpt.bytes()))
}
