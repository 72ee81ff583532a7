//! What a start needs beside the folders: the templates, the ports. Each lack is one line that names the flag. A start asks here,
//! and so does `--doctor`.

use std::io;

use super::start_error::system_error;
use super::{Config, Stop};
use crate::transport::http::admin::AdminPort;
#[cfg(feature = "toolkit")]
use toolkit::templates::{self, Broken};

/// Binds the port for the operator, if there is to be one.
pub fn bind_admin(config: &Config, token: Option<&[u8]>) -> Result<Option<AdminPort>, Stop> {
    let Some(port) = config.admin_port else { return Ok(None) };
    AdminPort::bind(config.host, port, token.map(<[u8]>::to_vec), config.allowed()).map(Some).map_err(
        |error| {
            let listen = format!("--admin-port: cannot listen on {} port {port}: {error}", config.host);
            system_error(&error, format!("{listen}; choose another --admin-port or --host"))
        },
    )
}

/// Why clients cannot connect over HTTP.
pub fn cannot_listen(config: &Config, error: &io::Error) -> Stop {
    let Config { host, port, .. } = config;
    let listen = format!("cannot listen on {host} port {port}: {error}");
    system_error(error, format!("{listen}; choose another --port or --host"))
}

/// Reads the operator's own templates. Returns the broken ones, which are left out.
#[cfg(feature = "toolkit")]
pub fn serve_templates(config: &Config) -> Result<&'static [Broken], Stop> {
    let Some(folder) = &config.templates else { return Ok(&[]) };
    templates::serve(folder).map_err(|error| {
        let line =
            format!("--templates={} cannot be used: {error}; give a folder that exists", folder.display());
        system_error(&error, line)
    })
}
