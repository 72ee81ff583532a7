//! What a call replaces, and the places that a dry run has found, to be replaced by a later call.

use std::sync::Arc;

use serde_json::{Map, Value};

use crate::tools::search::grep::Scope;
use folder::{Error, FilePath, Result};
use text::encoding::TextEncoding;

/// What is replaced by what, and where it is looked for.
#[derive(Debug)]
pub(super) struct Request {
    pub(super) scope: Scope,
    pub(super) replacement: String,
    pub(super) preserve_case: bool,
    /// The arguments that said so.
    pub(super) sent: Map<String, Value>,
}

/// A file in which something matches.
#[derive(Debug, Clone)]
pub(super) struct File {
    pub(super) path: FilePath,
    /// Its path as answers tell it.
    pub(super) shown: String,
    /// How its bytes are read.
    pub(super) read_as: TextEncoding,
}

/// A file of a dry run.
#[derive(Debug)]
pub(super) struct PlannedFile {
    pub(super) file: File,
    /// The hash of its content.
    pub(super) hash: u64,
    /// The number of the first of its places, from 1, and how many it has.
    pub(super) first: u64,
    pub(super) count: u64,
}

/// What a dry run has found.
#[derive(Debug)]
pub(super) struct Planned {
    pub(super) request: Arc<Request>,
    pub(super) files: Vec<PlannedFile>,
}

impl Planned {
    /// The number of the last place.
    pub(super) fn last(&self) -> u64 {
        self.files.last().map_or(0, |file| file.first + file.count - 1)
    }

    /// Bytes of memory, about.
    pub(super) fn bytes(&self) -> usize {
        let of = |planned: &PlannedFile| {
            size_of::<PlannedFile>() + planned.file.shown.len() + planned.file.path.as_str().len()
        };
        let request = &self.request;
        let texts = request.scope.pattern.len() + request.replacement.len();
        1_024 + 2 * texts + self.files.iter().map(of).sum::<usize>()
    }

    /// Refuses arguments beside the plan that are not those of the dry run.
    pub(super) fn check_sent(&self, sent: &Map<String, Value>) -> Result<()> {
        let other = sent.iter().find(|(name, value)| self.request.sent.get(*name) != Some(value));
        other.map_or(Ok(()), |(name, _)| {
            let problem = "it is not the one of the dry run, whose places the plan has; leave it out, or leave out plan";
            Err(Error::InvalidArguments { at: name.clone(), problem: problem.into() })
        })
    }
}
