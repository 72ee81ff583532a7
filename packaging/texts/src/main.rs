//! Writes the man pages and the completions of shells, those of the commands for a shell too, into the folder that the first argument names.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::CommandFactory;
use clap_complete::{Shell, generate_to};
use file_editor::cli::{Config, shell};

fn main() -> ExitCode {
    let Some(folder) = std::env::args_os().nth(1).map(PathBuf::from) else {
        eprintln!("usage: file-editor-texts <folder>");
        return ExitCode::from(2);
    };
    let shells = [Shell::Bash, Shell::Zsh, Shell::Fish, Shell::PowerShell];
    let mut command = Config::command().subcommands(shell::commands());
    let completions = shells
        .into_iter()
        .try_for_each(|shell| generate_to(shell, &mut command, "file-editor", &folder).map(drop));
    match completions.and_then(|()| clap_mangen::generate_to(command, &folder)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("file-editor-texts: {error}");
            ExitCode::FAILURE
        }
    }
}
