//! Sockets.

use std::future::pending;

use tokio::io::Interest;
use tokio::net::TcpStream;

/// Waits until the other side has reset the connection. For ever, if the system does not tell.
pub(crate) async fn wait_for_reset(stream: &TcpStream) {
    // If the wait fails, nothing is known.
    if stream.ready(Interest::ERROR).await.is_err() {
        pending::<()>().await;
    }
}
