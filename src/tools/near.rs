//! What a search that found nothing can say of near misses: numbers that further walks have found, in a short time.
//!
//! Of tools and arguments, it knows only what its errors name: `search_files` with its arguments, and `path`.

use std::fmt::Display;
use std::time::Duration;

use serde_json::json;

use crate::tools::walking::{Start, shown, starts};
use engine::Workspace;
use folder::{Control, EntryKind, Error, FilePath, NamePolicy, Result, WalkOptions, WalkStep};
use sys::path::{root, with_slashes};
use text::glob::{GlobBudget, RootedGlob, is_literal};

/// The longest time for all further walks, or reads of a large file, of one call.
pub(super) const LONGEST: Duration = Duration::from_millis(250);

/// Further walks in the same folders.
pub(super) struct Near<'n> {
    workspace: &'n Workspace,
    starts: &'n [Start],
    /// Of the call.
    whole: &'n Control,
    /// Of all further walks.
    short: Control,
    /// Whether folders count, too.
    with_folders: bool,
    /// Whether links to what counts do.
    with_links: bool,
}

/// Files, or entries, of a further walk that match.
#[derive(Debug, Default)]
pub(super) struct NearFiles {
    pub(super) number: u64,
    first: Option<String>,
    /// What they are.
    unit: &'static str,
    /// There are folders among them.
    has_folders: bool,
    /// There may be more.
    is_partial: bool,
}

impl<'n> Near<'n> {
    pub(super) fn new(workspace: &'n Workspace, starts: &'n [Start], control: &'n Control) -> Near<'n> {
        let short = control.briefly(LONGEST);
        Near { workspace, starts, whole: control, short, with_folders: false, with_links: true }
    }

    /// The same walks, in which folders count, too.
    pub(super) fn with_folders(self) -> Near<'n> {
        Near { with_folders: true, ..self }
    }

    /// The files whose paths below the folders match.
    pub(super) fn count(&self, options: WalkOptions, matches: impl Fn(&str) -> bool) -> Result<NearFiles> {
        let unit = if self.with_folders { "path" } else { "file" };
        let mut found = NearFiles { unit, ..NearFiles::default() };
        for start in self.starts {
            let Ok(mut walk) = self.workspace.walk(&start.folder, options.clone(), &self.short) else {
                continue;
            };
            loop {
                self.whole.check()?;
                let entry = match walk.next_step() {
                    Ok(Some(WalkStep::Entry(entry))) => entry,
                    Ok(Some(WalkStep::Leave(_))) => continue,
                    Ok(None) => break,
                    Err(Error::TimedOut) => {
                        found.is_partial = true;
                        return Ok(found);
                    }
                    Err(other) => return Err(other),
                };
                let counts = |kind| kind == EntryKind::File || self.with_folders && kind == EntryKind::Folder;
                let is_wanted = || match entry.kind {
                    EntryKind::Link => {
                        self.with_links
                            && walk
                                .stat_of_target()
                                .is_some_and(|stat| counts(EntryKind::of_mode(stat.st_mode)))
                    }
                    kind => counts(kind),
                };
                if matches(&shown(walk.path_from_start())) && is_wanted() {
                    found.number += 1;
                    found.has_folders |= entry.kind == EntryKind::Folder;
                    found.first.get_or_insert_with(|| start.line(walk.path_from_start()));
                }
            }
        }
        Ok(found)
    }
}

impl NearFiles {
    /// How many match, with an example: under a condition, or by arguments.
    pub(super) fn line(&self, condition: &str) -> Option<String> {
        let first = self.first.as_ref()?;
        Some(format!("[{} {condition}, such as {first}]", self.matching()))
    }

    /// `3 files match`.
    fn matching(&self) -> String {
        let unit = self.unit;
        let least = if self.is_partial { "at least " } else { "" };
        match self.number {
            1 => format!("{least}1 {unit} matches"),
            number => format!("{least}{number} {unit}s match"),
        }
    }
}

/// The error of a walk in the folder at `path`. If nothing is there because the path is a glob, it names the call that finds the
/// files; `has_search`: whether the client is offered that tool.
pub(super) fn of_folder(
    error: Error,
    path: &FilePath,
    has_search: bool,
    workspace: &Workspace,
    control: &Control,
) -> Result<Error> {
    if !has_search || !matches!(error, Error::NotFound { .. }) {
        return Ok(error);
    }
    let found = GlobInPath::find(path, &["", "/**"], &Advised::OF_NAMES, workspace, control)?;
    let call = |found: &GlobInPath| {
        format!("search_files {}", json!({ "path": found.folder, "pattern": found.glob }))
    };
    Ok(found.map_or(error, |found| found.error(call(&found))))
}

/// What the call finds that is advised in place of one with a glob in `path`.
pub(super) struct Advised<'a> {
    /// What its walk leaves out, by its glob.
    pub(super) options: &'a dyn Fn(&str) -> WalkOptions,
    /// Whether it takes a file, by its path below the folder of the call.
    pub(super) takes: &'a dyn Fn(&AdvisedPath) -> bool,
    /// Whether it finds folders, too.
    pub(super) with_folders: bool,
    /// Whether it finds links.
    pub(super) with_links: bool,
    /// Whether `takes` knows all that the call takes, whatever its glob names.
    pub(super) takes_all: bool,
    /// Whether a `!` at the start of its glob means all other paths.
    pub(super) negates: bool,
}

/// A path that the advised call may find.
pub(super) struct AdvisedPath<'a> {
    /// The folder and the glob of the call.
    pub(super) folder: &'a str,
    pub(super) glob: &'a str,
    /// The path below that folder.
    pub(super) below: &'a str,
}

impl Advised<'static> {
    /// A search for files by a glob below the folder, which leaves nothing out.
    pub(super) const OF_FILES: Advised<'static> =
        Advised { with_folders: false, negates: false, ..Advised::OF_NAMES };

    /// A search by `search_files`.
    pub(super) const OF_NAMES: Advised<'static> = Advised {
        options: &|_| WalkOptions::default(),
        takes: &|_| true,
        with_folders: true,
        with_links: true,
        takes_all: false,
        negates: true,
    };
}

/// A `path` that does not exist and is a glob: the folder that it names, and a glob that matches files below it.
#[derive(Debug)]
pub(super) struct GlobInPath {
    pub(super) folder: String,
    pub(super) glob: String,
    found: NearFiles,
}

impl GlobInPath {
    /// Reads `path` as a glob, which one of `behind` may follow. `None`: the advised call would find nothing.
    pub(super) fn find(
        path: &FilePath,
        behind: &[&str],
        advised: &Advised,
        workspace: &Workspace,
        control: &Control,
    ) -> Result<Option<GlobInPath>> {
        let sent = with_slashes(path.sent());
        if is_literal(&sent) {
            return Ok(None);
        }
        let rooted = RootedGlob::new(&format!("./{sent}"));
        let (folder, glob) = rooted.divided();
        let folder = format!("{}{folder}", root(&sent));
        let Ok(named) = FilePath::parse(&folder, NamePolicy::Paths, workspace.folder_paths()) else {
            return Ok(None);
        };
        // As the call looks for it, which has the folder as its path.
        let starts = starts(workspace, Some(&named), &named)?;
        let Advised { with_folders, with_links, .. } = *advised;
        let near = Near { with_folders, with_links, ..Near::new(workspace, &starts, control) };
        for behind in behind {
            let glob = format!("{glob}{behind}");
            if advised.negates && glob.starts_with('!') {
                continue;
            }
            let Ok(read) = RootedGlob::new(&format!("./{glob}")).glob(&mut GlobBudget::default()) else {
                continue;
            };
            let takes = |below: &str| {
                let path = AdvisedPath { folder: named.as_str(), glob: &glob, below };
                (advised.takes_all || read.matches(below)) && (advised.takes)(&path)
            };
            let found = near.count((advised.options)(&glob), takes)?;
            if found.number > 0 {
                let unit = if found.has_folders { found.unit } else { "file" };
                let found = NearFiles { unit, ..found };
                let folder = if folder.is_empty() { ".".into() } else { folder };
                return Ok(Some(GlobInPath { folder, glob, found }));
            }
        }
        Ok(None)
    }

    /// The first path that matches.
    pub(super) fn example(&self) -> Option<&str> {
        self.found.first.as_deref()
    }

    /// The error for the argument `path`, and what to pass instead.
    pub(super) fn error(&self, instead: impl Display) -> Error {
        let problem = format!(
            "it is a glob, where the path of one file or folder is expected; {} with {instead}",
            self.found.matching()
        );
        Error::InvalidArguments { at: "path".into(), problem }
    }
}
