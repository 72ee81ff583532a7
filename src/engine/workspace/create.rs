//! Creates several new files, all of them or none (contract 16): a job of files that must not exist.

use std::borrow::Cow;

use super::Workspace;
use super::change::ChangeOptions;
use super::job::Operation;
use folder::{Control, FilePath, Result};
use text::splice::{EditPlan, Splice};

/// A file to create.
#[derive(Debug)]
pub struct NewFile<'c> {
    /// Its path.
    pub path: FilePath,
    /// Its whole content.
    pub content: &'c [u8],
}

impl Workspace {
    /// Creates these files, all of them or none, and their missing folders. A file that exists is an error.
    pub fn create_files(&self, files: &[NewFile], control: &Control) -> Result<()> {
        let options = || ChangeOptions {
            create: true,
            create_only: true,
            any_bytes: true,
            makes_any_bytes: true,
            in_parts: None,
            ..ChangeOptions::default()
        };
        let created = |file: &NewFile<'_>| {
            let content = file.content.to_vec();
            let plan = move |_: &_, old: &[u8]| {
                let text = Cow::Owned(content.clone());
                Ok(EditPlan::new(vec![Splice { at: 0..0, text }], old))
            };
            Operation::Write { path: file.path.clone(), options: options(), plan: Box::new(plan) }
        };
        let mut operations: Vec<Operation> = files.iter().map(created).collect();
        self.run_recorded(&mut operations, control, |_| (), || Ok(())).map(drop)
    }
}
