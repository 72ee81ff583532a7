//! The binary: parses the command line, starts the log, opens the folder, runs a transport.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use engine::{self, Workspace};
use file_editor::cli::{self, Config, Stop, Transport};
use file_editor::protocol::{Service, ServiceOptions};
use file_editor::transport::process::allocator::{self, Allocator};
use file_editor::transport::{self, Shared, http, stdio};

#[global_allocator]
static ALLOCATOR: Allocator = Allocator;

fn main() -> ExitCode {
    if engine::is_supervisor(std::env::args_os()) {
        return engine::supervise();
    }
    if let Some(code) = folder::fs::probe::try_one_lock(std::env::args_os()) {
        return code;
    }
    let began = Instant::now();
    cli::catch_panics();
    if cli::shell::is_command(std::env::args_os()) {
        return cli::shell::run(std::env::args_os());
    }
    let done = Config::parse_from_args(std::env::args_os()).and_then(|config| start(config, began));
    done.or_else(told).unwrap_or_else(|line| {
        // Another thread may run out of memory at the same time: only one of them writes its line.
        allocator::wait_unless_first();
        cli::say_wrong(&line);
        ExitCode::FAILURE
    })
}

/// Prints what is told instead of a start. An error is why the process fails.
fn told(stop: Stop) -> Result<ExitCode, String> {
    match stop {
        Stop::Asked(answer) => cli::printed(answer.print())?,
        Stop::Entry(entry) => {
            cli::print(&entry.text)?;
            cli::say_wrong(entry.place);
            entry.remarks.iter().for_each(|remark| cli::say_wrong(remark));
        }
        Stop::Wrong(line) => return Err(line),
    }
    Ok(ExitCode::SUCCESS)
}

/// Shares the workspace, and reads its files ahead if that is wanted.
fn warmed(workspace: Workspace, warm: bool) -> Arc<Workspace> {
    let workspace = Arc::new(workspace);
    if warm {
        workspace.want_warm_up();
        workspace.start_warm_up();
    }
    workspace
}

/// Does what the command line asks for.
fn start(config: Config, began: Instant) -> Result<ExitCode, Stop> {
    if config.doctor {
        let is_well = cli::examine(&config).map_err(Stop::Wrong)?;
        return Ok(if is_well { ExitCode::SUCCESS } else { ExitCode::FAILURE });
    }
    run(config, began).map(|()| ExitCode::SUCCESS)
}

fn run(config: Config, start: Instant) -> Result<(), Stop> {
    transport::check_address_space().map_err(|why| Stop::Wrong(cli::cannot_start(why)))?;
    let token = config.token()?;
    let options = config.workspace_options()?;
    // What the workspace repairs at its start is logged.
    cli::init_log(config.log_level, config.log_format);
    let workspace = Workspace::open(&config.folders(), options).map_err(|error| cli::cannot_open(&error))?;
    config.token_doubt().iter().for_each(|doubt| cli::warn_doubt(doubt));
    workspace.left_out().iter().for_each(|folder| cli::warn_left_out(folder));
    workspace.doubts().iter().for_each(|doubt| cli::warn_file_system(doubt));
    #[cfg(feature = "toolkit")]
    for broken in cli::serve_templates(&config)? {
        cli::warn_template(&broken.folder, &broken.problem);
    }
    let folders: Vec<_> =
        workspace.folder_paths().folders().iter().map(|folder| folder.display().to_string()).collect();
    let folder = folders.join(", ");
    let tools = config.offered(workspace.folder_paths().folders().len())?;
    if tools.iter().any(|tool| tool.runs_commands()) {
        workspace.commands().allow(token.as_deref().unwrap_or_default());
        cli::warn_exec();
    }
    let shared = Shared {
        service: Service::new(ServiceOptions {
            tools,
            read_only: config.read_only,
            structured: config.structured,
            names: config.names.into(),
            folders: workspace.folder_paths().clone(),
            answer_limit: config.answer_limit.map(|kilobytes| kilobytes << 10),
            answer_tokens: config.answer_tokens,
            records: config.records_all(),
            timeout: config.timeout,
            clock: SystemTime::now,
        }),
        workspace: warmed(workspace, config.warm),
        max_bytes: config.max_bytes() as usize,
        timeout: Duration::from_secs(config.timeout),
        max_in_flight: transport::calls_at_once(config.max_in_flight.into()),
        rate_limit: config.rate_limit,
    };
    // Where clients are offered what the commands for a shell do, these are answered from what the server knows.
    #[cfg(unix)]
    let _commands = config.has_jobs().then(|| cli::shell::Listener::start(&shared.workspace, config.view()));
    // A port is bound only when the signals are caught that end the server.
    let bind_admin = || cli::bind_admin(&config, token.as_deref());
    match config.transport() {
        Transport::Stdio => {
            let failed = |error| cli::system_error(&error, format!("--transport=stdio: {error}"));
            let ready = move |admin| cli::ready(&folder, "stdio", admin, start);
            stdio::serve(shared, bind_admin, ready, failed)
        }
        Transport::Http => {
            if config.allow_remote && !config.host.is_loopback() && token.is_none() {
                cli::warn_open(config.host);
            }
            let (host, port, allowed) = (config.host, config.port, config.allowed());
            let ready = |address, admin| cli::ready(&folder, &format!("http://{address}"), admin, start);
            let options = http::HttpOptions { host, port, token: token.clone(), allowed };
            http::serve(shared, options, bind_admin, ready, |error| cli::cannot_listen(&config, &error))
        }
    }
}
