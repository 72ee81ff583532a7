//! Sockets.

use std::fs::{Permissions, set_permissions};
use std::future::pending;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;

use tokio::io::Interest;
use tokio::net::TcpStream;

/// Bounds the bytes that were written to a connection and are not sent yet: without it, the system keeps megabytes for a client that
/// does not read. Does nothing where the system has no such bound.
pub fn limit_unsent(stream: &TcpStream, bytes: u32) {
    #[cfg(target_os = "linux")]
    let _ = socket2::SockRef::from(stream).set_tcp_notsent_lowat(bytes);
    #[cfg(not(target_os = "linux"))]
    let _ = (stream, bytes);
}

/// Waits until the other side has reset the connection. For ever, if the system does not tell.
pub async fn wait_for_reset(stream: &TcpStream) {
    // If the wait fails, nothing is known.
    if stream.ready(Interest::ERROR).await.is_err() {
        pending::<()>().await;
    }
}

/// Whether the process on the other side is of the user that this one acts as. Where the system does not tell, the rights of the socket
/// have to.
pub fn is_own_user(stream: &UnixStream) -> io::Result<bool> {
    #[cfg(target_os = "linux")]
    return Ok(rustix::net::sockopt::socket_peercred(stream)?.uid == rustix::process::geteuid());
    #[cfg(not(target_os = "linux"))]
    return Ok(stream.peer_addr().is_ok());
}

/// A new socket at this path for connections of processes of the same user.
pub fn listen_alone(path: &Path) -> io::Result<UnixListener> {
    let listener = UnixListener::bind(path)?;
    set_permissions(path, Permissions::from_mode(0o600))?;
    Ok(listener)
}
