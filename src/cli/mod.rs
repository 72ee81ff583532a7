//! The command line (contract 2): all options and limits in one struct, which is checked before anything starts.

mod checks;
mod choices;
mod client_entry;
mod doctor;
mod home;
mod hosts;
mod line;
mod log;
mod settings;
pub mod shell;
mod start;
mod start_error;
mod starter;
mod token;
mod values;

use std::ffi::OsString;
use std::net::IpAddr;
use std::path::PathBuf;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, FromArgMatches, Parser, ValueHint};

pub use choices::{LogFormat, LogLevel, Names, Sync, Transport};
pub use client_entry::{Client, ClientEntry};
pub use doctor::examine;
#[cfg(feature = "toolkit")]
pub use log::warn_template;
pub use log::{
    cannot_start, catch_panics, init as init_log, is_shortage, print, printed, ready, say_wrong, warn_doubt,
    warn_exec, warn_file_system, warn_left_out, warn_open,
};
pub use settings::View;
#[cfg(feature = "toolkit")]
pub use start::serve_templates;
pub use start::{bind_admin, cannot_listen};
pub use start_error::{cannot_open, system_error};
use values::Tools;

use crate::tools::LineBase;
use crate::transport::net::rate_limit::Rate;
use engine::outermost;

/// Text files for LLM agents: find, read and edit them, over MCP, REST and JSON-RPC.
#[derive(Debug, Parser)]
#[command(name = "file-editor", version, max_term_width = 100)]
pub struct Config {
    /// Folders to serve over stdio with the set agent, if no flag says otherwise; each the same as --dir
    #[arg(value_name = "FOLDER", value_parser = home::path(), value_hint = ValueHint::DirPath)]
    folders: Vec<PathBuf>,

    /// A folder to serve; must exist and, unless --read-only, be writable. May be given several times; those that are missing
    /// are left out then
    #[arg(long, value_name = "PATH", value_parser = home::path(), value_hint = ValueHint::DirPath, required_unless_present = "folders")]
    dir: Vec<PathBuf>,

    /// How clients connect [default: http; stdio for folders without --dir]
    #[arg(long, value_enum, value_name = "NAME")]
    transport: Option<Transport>,

    /// IP address to bind (HTTP)
    #[arg(long, value_name = "IP", default_value = "127.0.0.1")]
    pub host: IpAddr,

    /// Allow a --host that is not loopback
    #[arg(long)]
    pub allow_remote: bool,

    /// A name by which clients reach the server, such as that of a proxy before it: its Host is not foreign. May be given
    /// several times
    #[arg(long, value_name = "NAME", value_parser = hosts::name)]
    pub allow_host: Vec<String>,

    /// An origin of pages that may use the server, such as `https://example.com`. May be given several times
    #[arg(long, value_name = "ORIGIN", value_parser = hosts::origin)]
    pub allow_origin: Vec<String>,

    /// A file that holds the bearer token that every HTTP request must carry; outside the served folders, at most 64 KB
    #[arg(long, value_name = "PATH", value_parser = home::path(), value_hint = ValueHint::FilePath)]
    pub auth_token_file: Option<PathBuf>,

    /// HTTP port, 1024-65535; 0: the system chooses a free port, and the ready line shows it
    #[arg(long, value_name = "N", default_value = "8080", value_parser = values::port)]
    pub port: u16,

    /// A port of --host for the operator: GET /healthz and GET /metrics, over HTTP and stdio; 1024-65535, or 0: the system
    /// chooses a free port
    #[arg(long, value_name = "N", value_parser = values::port)]
    pub admin_port: Option<u16>,

    /// Largest request, in MB of 1,048,576 bytes, 1-100
    #[arg(long, value_name = "MB", default_value = "10", value_parser = clap::value_parser!(u64).range(1..=100))]
    pub max_size: u64,

    /// Largest file that one call reads or writes whole, in MB, 1-1048576; files of any size are read, searched and edited in
    /// parts. In the sets lines and exact: the largest file [default: --max-size]
    #[arg(long, value_name = "MB", value_parser = clap::value_parser!(u64).range(1..=1_048_576))]
    max_file: Option<u64>,

    /// Longest time of an operation up to the first byte of its answer, in seconds, 1-300
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = clap::value_parser!(u64).range(1..=300))]
    pub timeout: u64,

    /// The MCP tools offered: sets and tools, comma-separated, such as lines,exact.file_edit
    /// [default: lines; agent for folders without --dir]
    #[arg(long, value_name = "NAMES", value_parser = values::tools)]
    tools: Option<Tools>,

    /// The number of the first line in all MCP tools, 0 or 1; without it, as usual in each set
    #[arg(long, value_name = "N", value_parser = values::line_base)]
    pub line_base: Option<LineBase>,

    /// Names that the tools of the sets lines and exact take: portable (letters, digits, . _ -), any (one path component
    /// without control characters) or paths (of such components: the whole tree)
    #[arg(long, value_enum, value_name = "POLICY", default_value = "portable")]
    pub names: Names,

    /// Paths that no client sees, reads or creates, as a pattern of gitignore; may be given several times
    #[arg(long, value_name = "GLOB")]
    exclude: Vec<String>,

    /// Longest text of an answer in KB of 1,024 bytes, 0 for no limit [default: 60; no limit in the sets lines and exact]
    #[arg(long, value_name = "KB")]
    pub answer_limit: Option<usize>,

    /// Most tokens of an answer in the set agent, as the server estimates them: 2000 to 1000000, or 0 for no limit
    #[arg(long, value_name = "N", default_value_t = 6_000, value_parser = values::answer_tokens)]
    pub answer_tokens: usize,

    /// Memory for what is known of searched files, in MB, 0 for none: later searches skip what cannot match
    #[arg(long, value_name = "MB", default_value_t = 64, value_parser = clap::value_parser!(u32).range(..=65_536))]
    pub filter_cache: u32,

    /// Whether folders are watched, so that lists and searches need not look at those that have not changed: auto (where the
    /// system tells all changes) or off
    #[arg(long, value_enum, value_name = "WHEN", default_value = "auto")]
    live: choices::Live,

    /// A folder to keep that on disk as well, outside the served folders; servers may share it
    #[arg(long, value_name = "PATH", value_parser = home::path(), value_hint = ValueHint::DirPath)]
    pub filter_dir: Option<PathBuf>,

    /// The folder of the journal of changes, from which `undo` takes them back, or off; servers share it
    /// [default: file-editor in the user's state folder, with the set agent]
    #[arg(long, value_name = "PATH", value_parser = home::path(), value_hint = ValueHint::DirPath)]
    journal: Option<PathBuf>,

    /// Largest size of the journal of one folder, in MB: the oldest changes go
    #[arg(long, value_name = "MB", default_value_t = 256, value_parser = clap::value_parser!(u32).range(1..=1_048_576))]
    journal_size: u32,

    /// Read all files at low priority after the start, so that the first searches are fast, too
    #[arg(long)]
    pub warm: bool,

    /// Clients may read all of a folder .git, which can hold credentials; without it, HEAD alone
    #[arg(long)]
    allow_git: bool,

    /// Walks enter folders on other file systems
    #[arg(long)]
    pub cross_mounts: bool,

    /// Offer and run no tool that writes
    #[arg(long)]
    pub read_only: bool,

    /// Offer the tool exec of the set text, which runs any command as the user of the server. It is no sandbox.
    /// Over HTTP only with --auth-token-file
    #[arg(long)]
    pub allow_exec: bool,

    /// full: an edit is on the disk before it is answered; none: an edit survives a crash of the server, but
    /// perhaps not a power loss
    #[arg(long, value_enum, value_name = "WHEN", default_value = "full")]
    pub sync: Sync,

    /// Change files also where locks do not keep out other machines, such as on sshfs: edits at the same time can be lost
    #[arg(long)]
    unsafe_locks: bool,

    /// A folder with templates of your own for the set toolkit, one folder each
    #[cfg(feature = "toolkit")]
    #[arg(long, value_name = "PATH", value_parser = home::path(), value_hint = ValueHint::DirPath)]
    pub templates: Option<PathBuf>,

    /// Return structured data in addition to the text
    #[arg(long)]
    pub structured: bool,

    /// Limit of requests per connection: requests per second, and requests at once
    #[arg(long, value_name = "PER SECOND[,BURST]", value_parser = values::rate)]
    pub rate_limit: Option<Rate>,

    /// stdio: calls in progress at once, 1-4096; at this number, the server reads no further. HTTP: calls
    /// that run at once in the whole server; further calls wait
    #[arg(long, value_name = "N", default_value = "128", value_parser = clap::value_parser!(u16).range(1..=4096))]
    pub max_in_flight: u16,

    /// Least important level that is logged, to stderr. The ready line is written at every level
    #[arg(long, value_enum, value_name = "LEVEL", default_value = "info")]
    pub log_level: LogLevel,

    /// Format of the log
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "text")]
    pub log_format: LogFormat,

    /// Print the entry of this server for the settings of an MCP client, with the other flags given here, and exit
    #[arg(long, value_enum, value_name = "CLIENT")]
    print_config: Option<Client>,

    /// Check the folders and the system, print one line for each check and what would be served, and exit; with code 1
    /// if a check failed
    #[arg(long, conflicts_with = "print_config")]
    pub doctor: bool,
}

/// The only required argument is missing.
const NO_FOLDER: &str = "no folder to serve is given: file-editor <folder> serves it over stdio, --dir=<folder> over HTTP; see file-editor --help";

/// The result of a command line that starts no server.
#[derive(Debug)]
pub enum Stop {
    /// Help or version, for stdout; exit with success.
    Asked(clap::Error),
    /// `--print-config`: for stdout, and where it goes, for stderr; exit with success.
    Entry(ClientEntry),
    /// One line that names the option and how to correct it; exit with failure.
    Wrong(String),
}

impl Config {
    /// Parses and checks a command line; the first argument is the program's name.
    pub fn parse_from_args(arguments: impl IntoIterator<Item = OsString>) -> Result<Config, Stop> {
        let stop = |error: clap::Error| match error.kind() {
            ErrorKind::MissingRequiredArgument => Stop::Wrong(NO_FOLDER.into()),
            _ => stop(error),
        };
        let mut command = Config::command();
        let matches = command.try_get_matches_from_mut(arguments).map_err(stop)?;
        let mut config = Config::from_arg_matches(&matches).map_err(stop)?;
        let adds_stdio = config.use_stdio_for_entry()?;
        config.check()?;
        if let Some(client) = config.print_config {
            // What no start would accept is not printed either.
            config.excludes()?;
            config.token()?;
            config.offered(outermost(&config.folders()).count())?;
            let mut entry = client_entry::entry(client, &command, &matches, adds_stdio)?;
            let folders = config.folders().into_iter();
            #[cfg(feature = "toolkit")]
            let folders = folders.chain(config.templates.clone());
            let missing = folders.filter(|folder| !folder.is_dir());
            entry.remarks.extend(missing.map(|path| format!("there is no folder {} yet", path.display())));
            return Err(Stop::Entry(entry));
        }
        Ok(config)
    }

    /// The folders to serve, as they were given.
    pub fn folders(&self) -> Vec<PathBuf> {
        self.dir.iter().chain(&self.folders).cloned().collect()
    }

    /// How clients connect.
    pub fn transport(&self) -> Transport {
        let default = if self.folders.is_empty() { Transport::Http } else { Transport::Stdio };
        self.transport.unwrap_or(default)
    }
}

/// What a command line that cannot be parsed, or that asks for help, leads to.
fn stop(error: clap::Error) -> Stop {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => Stop::Asked(error),
        _ => Stop::Wrong(one_line(&without_false_tips(error).to_string())),
    }
}

/// Takes out the tips of the parser that lead elsewhere than what was meant: to take an unknown flag as a value, or to give another
/// one that is not nearly the same.
fn without_false_tips(mut error: clap::Error) -> clap::Error {
    let text = |value: Option<&ContextValue>| match value {
        Some(ContextValue::String(text)) => text.clone(),
        _ => String::new(),
    };
    error.remove(ContextKind::Suggested);
    let sent = text(error.get(ContextKind::InvalidArg));
    let near = text(error.get(ContextKind::SuggestedArg));
    let flag = sent.split('=').next().unwrap_or_default();
    let is_near = flag.len() > 4 && (near.starts_with(flag) || flag.starts_with(&near))
        || strsim::osa_distance(flag, &near) < 2;
    if !is_near {
        error.remove(ContextKind::SuggestedArg);
    }
    error
}

/// Joins the lines of a message, without the usage.
fn one_line(message: &str) -> String {
    let lines = message.lines().map(str::trim).take_while(|line| !line.starts_with("Usage:"));
    let told: Vec<&str> =
        lines.filter(|line| !line.is_empty() && !line.starts_with("For more information")).collect();
    format!("{}; see file-editor --help", told.join(" ").trim_start_matches("error: "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(arguments: &[&str]) -> Result<Config, String> {
        let all = ["file-editor", "--dir=/tmp"].iter().chain(arguments).map(OsString::from);
        Config::parse_from_args(all).map_err(|stop| match stop {
            Stop::Wrong(line) => line,
            Stop::Asked(error) => error.to_string(),
            Stop::Entry(entry) => entry.text,
        })
    }

    #[test]
    fn the_defaults_are_those_of_the_contract() {
        let config = parse(&[]).unwrap();
        assert_eq!((config.transport(), config.port, config.max_size), (Transport::Http, 8080, 10));
        assert_eq!(
            (config.timeout, config.max_in_flight, config.host.to_string()),
            (10, 128, "127.0.0.1".into())
        );
        assert_eq!(
            (config.names, config.sync, config.log_level),
            (Names::Portable, Sync::Full, LogLevel::Info)
        );
        assert_eq!(config.offered(1).unwrap().len(), 3);
        assert_eq!(
            (config.line_base, parse(&["--line-base=1"]).unwrap().line_base),
            (None, Some(LineBase::One))
        );
        assert!(!config.read_only && !config.structured && config.rate_limit.is_none());
        assert_eq!((config.admin_port, parse(&["--admin-port=0"]).unwrap().admin_port), (None, Some(0)));
        assert!(parse(&["--admin-port=8080", "--transport=stdio"]).is_ok());
    }

    #[test]
    fn a_value_out_of_range_is_one_line_that_names_the_flag() {
        for (argument, flag) in [
            ("--port=80", "--port"),
            ("--port=65536", "--port"),
            ("--admin-port=80", "--admin-port"),
            ("--admin-port=8080", "--admin-port"),
            ("--max-size=0", "--max-size"),
            ("--max-size=101", "--max-size"),
            ("--timeout=301", "--timeout"),
            ("--max-in-flight=4097", "--max-in-flight"),
            ("--tools=read_file,nothing", "--tools"),
            ("--tools=all", "--tools"),
            ("--line-base=2", "--line-base"),
            ("--rate-limit=0", "--rate-limit"),
            ("--rate-limit=1,x", "--rate-limit"),
            ("--transport=pigeon", "--transport"),
            ("--host=localhost", "--host"),
            ("--host=0.0.0.0", "--allow-remote"),
            ("--no-such-flag", "--no-such-flag"),
        ] {
            let line = parse(&[argument]).unwrap_err();
            assert!(line.contains(flag) && !line.contains('\n'), "{argument}: {line}");
        }
        let missing = Config::parse_from_args(["file-editor".into()]).unwrap_err();
        assert!(matches!(missing, Stop::Wrong(line) if line.contains("--dir") && !line.contains('\n')));
    }

    #[test]
    fn completions_know_whether_a_path_is_that_of_a_folder_or_a_file() {
        let command = Config::command();
        let paths = command.get_arguments().filter_map(|argument| {
            let is_path = argument.get_value_parser().type_id() == std::any::TypeId::of::<PathBuf>();
            is_path.then(|| (argument.get_id().as_str(), argument.get_value_hint()))
        });
        for (name, hint) in paths {
            let expected = if name.ends_with("_file") { ValueHint::FilePath } else { ValueHint::DirPath };
            assert_eq!(hint, expected, "{name}");
        }
    }

    #[test]
    fn rates_and_tools_are_read() {
        let rated = |text| parse(&[text]).unwrap().rate_limit.unwrap();
        assert_eq!(rated("--rate-limit=100,1000"), Rate { per_second: 100, burst: 1000 });
        assert_eq!(rated("--rate-limit=7"), Rate { per_second: 7, burst: 7 });
        assert_eq!(parse(&["--tools=lines,exact"]).unwrap().offered(1).unwrap().len(), 4);
        assert_eq!(parse(&["--tools=lines.read_file"]).unwrap().offered(1).unwrap().len(), 1);
        assert!(parse(&["--host=0.0.0.0", "--allow-remote"]).is_ok());
    }
}
