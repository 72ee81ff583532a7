//! Which flags do not go together (contract 2).

use super::{Config, Stop, Transport};
use sys::process::RUNS_COMMANDS;

impl Config {
    /// Refuses flags that exclude each other.
    pub(super) fn check(&self) -> Result<(), Stop> {
        self.check_stray()?;
        self.check_host()?;
        self.check_exec()?;
        self.check_ports()
    }

    /// Clients start the server of an entry over stdio. Returns whether the command line does not say so.
    pub(super) fn use_stdio_for_entry(&mut self) -> Result<bool, Stop> {
        if self.print_config.is_none() || self.transport() == Transport::Stdio {
            return Ok(false);
        }
        if self.transport.is_some() {
            let line = "--print-config: clients start the server over stdio; leave out --transport=http";
            return Err(Stop::Wrong(line.into()));
        }
        self.transport = Some(Transport::Stdio);
        Ok(true)
    }

    /// Refuses a word beside `--dir` that is no folder: it belongs to a flag that was mistyped.
    fn check_stray(&self) -> Result<(), Stop> {
        match self.folders.iter().find(|folder| !self.dir.is_empty() && !folder.exists()) {
            Some(stray) => {
                let stray = stray.display();
                Err(Stop::Wrong(format!("{stray} is neither a flag nor a folder; see file-editor --help")))
            }
            None => Ok(()),
        }
    }

    /// Refuses to serve other machines by mistake.
    fn check_host(&self) -> Result<(), Stop> {
        if self.host.is_loopback() || self.allow_remote {
            return Ok(());
        }
        let host = self.host;
        Err(Stop::Wrong(format!(
            "--host={host} is not loopback: other machines could reach the folder; \
             give --allow-remote if that is what you want, best with --auth-token-file"
        )))
    }

    /// Refuses commands where they may not run (contract 15).
    fn check_exec(&self) -> Result<(), Stop> {
        if self.allow_exec && !RUNS_COMMANDS {
            return Err(Stop::Wrong("--allow-exec does not work on this system; leave it out".into()));
        }
        if self.allow_exec && self.read_only {
            return Err(Stop::Wrong(
                "--allow-exec and --read-only exclude each other: a command can write; give one of them"
                    .into(),
            ));
        }
        if !switches::is_off("exec-http-token")
            && self.allow_exec
            && self.transport() == Transport::Http
            && self.auth_token_file.is_none()
        {
            return Err(Stop::Wrong(
                "--allow-exec over HTTP needs --auth-token-file, so that not every program on the machine can run \
                 commands; give it, or --transport=stdio"
                    .into(),
            ));
        }
        Ok(())
    }

    /// Refuses one port for clients and the operator.
    fn check_ports(&self) -> Result<(), Stop> {
        let (is_http, port) = (self.transport() == Transport::Http, self.port);
        match self.admin_port {
            Some(admin) if is_http && admin == port && port != 0 => Err(Stop::Wrong(format!(
                "--admin-port={port} is the port of clients, too; choose another --admin-port or --port"
            ))),
            _ => Ok(()),
        }
    }
}
