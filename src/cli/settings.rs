//! What the command line means to the parts of the server: to the workspace, the tools and the transports.

use std::path::PathBuf;

use super::choices::Live;
use super::values::Tools;
use super::{Config, Stop, Sync, home};
use crate::tools::{Offered, sets};
use crate::transport::http::Allowed;
use engine::WorkspaceOptions;
use folder::Excludes;

/// How the files of the served folders are seen and changed, as far as it is not the same for all who serve them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct View {
    journal: Option<(PathBuf, u32)>,
    excludes: Vec<String>,
    /// Whether other file systems are entered, `.git` is read, nothing is written, a change waits for the disk, and weak locks are enough.
    switches: [bool; 5],
    max_file: u64,
}

impl Config {
    /// How the files are seen and changed.
    pub fn view(&self) -> View {
        View {
            journal: self.journal().map(|dir| (absolute(dir), self.journal_size)),
            excludes: self.exclude.clone(),
            switches: [
                self.cross_mounts,
                self.allow_git,
                self.read_only,
                self.sync == Sync::Full,
                self.unsafe_locks,
            ],
            max_file: self.max_file_bytes(),
        }
    }

    /// The tools offered, for this number of served folders.
    pub fn offered(&self, folders: usize) -> Result<Vec<Offered>, Stop> {
        let mut chosen = match &self.tools {
            Some(tools) => tools.0.clone(),
            None => sets::choose(self.default_set()).map_err(Stop::Wrong)?,
        };
        if !self.allow_exec {
            if !switches::is_off("exec-offered") {
                chosen.retain(|member| !member.runs_commands());
            }
            if chosen.is_empty() {
                return Err(Stop::Wrong("--tools: the tool exec is offered only with --allow-exec".into()));
            }
        }
        if let Some(member) = chosen.iter().find(|member| member.set.one_folder && folders > 1) {
            let set = member.set.name;
            let line = format!(
                "--dir: the set {set} serves one folder, but {folders} were given; give one, or --tools=filesystem,search"
            );
            return Err(Stop::Wrong(line));
        }
        Ok(sets::offer(&chosen, self.line_base))
    }

    /// The set that is offered if no tools are chosen.
    fn default_set(&self) -> &'static str {
        if self.folders.is_empty() { sets::DEFAULT } else { sets::FOR_FOLDERS }
    }

    /// The options of the workspace.
    pub fn workspace_options(&self) -> Result<WorkspaceOptions, Stop> {
        Ok(WorkspaceOptions {
            names: self.names.into(),
            max_bytes: self.max_file_bytes(),
            max_request: self.max_bytes(),
            cross_mounts: self.cross_mounts,
            allow_git: self.allow_git,
            home: home::folder(),
            filter_bytes: (self.filter_cache as usize) << 20,
            filter_dir: self.filter_dir.clone(),
            journal: self.journal().map(|dir| (dir, u64::from(self.journal_size) << 20)),
            read_only: self.read_only,
            durability: self.sync.into(),
            excludes: self.excludes()?,
            live: matches!(self.live, Live::Auto),
            unsafe_locks: self.unsafe_locks,
        })
    }

    /// Whether tools are offered that keep their changes.
    pub fn has_jobs(&self) -> bool {
        let is_of_agent = |tools: &Tools| tools.0.iter().any(|member| member.set.name == "agent");
        self.tools.as_ref().map_or(self.default_set() == "agent", is_of_agent)
    }

    /// Whether the changes of all tools are kept in the journal, not only those of the set `agent`.
    pub fn records_all(&self) -> bool {
        self.journal.as_ref().is_some_and(|path| path.as_os_str() != "off")
    }

    /// The absolute path of the folder of the journal, or `off`.
    pub fn journal_given(&self) -> PathBuf {
        self.journal().map_or_else(|| "off".into(), absolute)
    }

    /// The folder of the journal. `None`: there is none.
    fn journal(&self) -> Option<PathBuf> {
        match &self.journal {
            Some(path) if path.as_os_str() == "off" => None,
            Some(path) => Some(path.clone()),
            None if !self.has_jobs() => None,
            None => home::state().map(|state| state.join("file-editor")),
        }
    }

    /// Paths that do not exist for clients.
    pub fn excludes(&self) -> Result<Excludes, Stop> {
        let patterns = self.exclude.iter().map(String::as_str);
        Excludes::new(patterns).map_err(|problem| {
            Stop::Wrong(format!("--exclude: the patterns are too long, give shorter ones: {problem}"))
        })
    }

    /// Hosts and origins that are not foreign.
    pub fn allowed(&self) -> Allowed {
        Allowed { hosts: self.allow_host.clone(), origins: self.allow_origin.clone() }
    }

    /// Largest file that one call reads or writes whole, in bytes.
    pub fn max_file_bytes(&self) -> u64 {
        self.max_file.unwrap_or(self.max_size) << 20
    }

    /// Largest request, in bytes.
    pub fn max_bytes(&self) -> u64 {
        self.max_size << 20
    }
}

fn absolute(path: PathBuf) -> PathBuf {
    std::path::absolute(&path).unwrap_or(path)
}
