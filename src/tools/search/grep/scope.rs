//! What is searched for, and in which files: the same for `grep` and for `replace`, so that what one finds the other changes.

use std::path::Path;

use serde_json::json;

use super::wanted_files::{Chosen, Globs, WantedFiles};
use crate::tools::near::{Advised, AdvisedPath, GlobInPath};
use crate::tools::pattern_text::{WaysOut, wrong};
use engine::{SearchOptions, Workspace};
use folder::{Control, Error, FilePath, Result, WalkOptions};
use search::{Pattern, PatternOptions};
use text::encoding::EncodingChoice;

/// See the module.
#[derive(Debug, Clone)]
pub(in crate::tools) struct Scope {
    pub(in crate::tools) pattern: String,
    pub(in crate::tools) how: PatternOptions,
    /// `None`: all served folders.
    pub(in crate::tools) path: Option<FilePath>,
    pub(in crate::tools) chosen: Chosen,
    pub(in crate::tools) include_ignored: bool,
    pub(in crate::tools) include_hidden: bool,
    pub(in crate::tools) encoding: EncodingChoice,
}

impl Scope {
    /// The pattern, ready to search. `ways`: what the tool says of one that cannot be used.
    pub(in crate::tools) fn read_pattern(&self, ways: &WaysOut) -> Result<Pattern> {
        Pattern::new(&self.pattern, self.how).map_err(|error| wrong(error, ways))
    }

    /// A search that keeps no hits. `wants`: as `w.wants` of the chosen files.
    pub(in crate::tools) fn options<'s>(
        &'s self,
        wants: &'s (dyn Fn(&Path, &Path, bool) -> bool + Sync),
    ) -> SearchOptions<'s> {
        SearchOptions {
            path: self.path.as_ref(),
            only: None,
            wants,
            skip_ignored: !self.include_ignored,
            skip_hidden: !self.include_hidden,
            encoding: self.encoding,
            after: None,
            keep: 0,
        }
    }

    /// The files that are chosen. Takes a while.
    pub(in crate::tools) fn files(&self) -> Result<WantedFiles> {
        self.chosen.files()
    }

    /// The error for a path that does not exist, if it is a glob and files match.
    pub(in crate::tools) fn glob_in_path(
        &self,
        workspace: &Workspace,
        control: &Control,
    ) -> Result<Option<Error>> {
        let Some(path) = &self.path else { return Ok(None) };
        let options = |_: &str| WalkOptions {
            skip_ignored: !self.include_ignored,
            skip_hidden: !self.include_hidden,
            ..WalkOptions::default()
        };
        let takes = |path: &AdvisedPath| {
            let globs = Globs(vec![format!("./{}", path.glob)]);
            let wanted = Chosen { globs, ..self.chosen.clone() }.files();
            let (folder, below) = (Path::new(path.folder), Path::new(path.below));
            wanted.is_ok_and(|wanted| wanted.wants(&folder.join(below), below, false))
        };
        let advised = Advised {
            options: &options,
            takes: &takes,
            with_links: false,
            takes_all: true,
            ..Advised::OF_FILES
        };
        let found = GlobInPath::find(path, &["", "/**"], &advised, workspace, control)?;
        Ok(found
            .map(|found| found.error(json!({ "path": found.folder, "glob": format!("./{}", found.glob) }))))
    }
}
