//! Commands in the served folders (contract 15).

use super::Workspace;
use super::found::{Want, refused};
use crate::command::{CommandEnd, CommandRequest, Commands};
use folder::{Control, Error, FilePath, Result};

impl Workspace {
    /// What all commands share.
    pub fn commands(&self) -> &Commands {
        &self.commands
    }

    /// Runs a command in the folder at `path` ([`Commands::run`]). The folder is found beneath the handle of a served one,
    /// and the command starts in the folder that was found, wherever it is moved meanwhile.
    pub fn run_command(
        &self,
        path: &FilePath,
        request: CommandRequest,
        control: &Control,
    ) -> Result<CommandEnd> {
        let found = self.find_entry(path, Want::Entry, control)?;
        if !found.is_directory() {
            return Err(Error::not_a_folder(path.sent()));
        }
        let folder = found.place.open_folder().map_err(|refusal| refused(path.sent(), refusal))?;
        self.commands.run(&folder, request, control)
    }
}
