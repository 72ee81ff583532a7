//! Sockets.

use std::time::Duration;

use tokio::net::TcpStream;

/// How often a connection is looked at.
const TICK: Duration = Duration::from_millis(100);

/// The system has no such bound.
pub fn limit_unsent(_stream: &TcpStream, _bytes: u32) {}

/// Waits until the other side has reset the connection. The system has no event for that alone: the connection is looked at
/// now and then.
pub async fn wait_for_reset(stream: &TcpStream) {
    loop {
        tokio::time::sleep(TICK).await;
        let has_error = !matches!(stream.take_error(), Ok(None));
        if has_error || is_reset(stream).await {
            return;
        }
    }
}

/// A look at the next byte fails after a reset, whether or not there are bytes. It waits only if there is neither a byte nor an
/// end.
async fn is_reset(stream: &TcpStream) -> bool {
    let mut byte = [0];
    tokio::select! {
        biased;
        looked = stream.peek(&mut byte) => looked.is_err(),
        () = std::future::ready(()) => false,
    }
}
