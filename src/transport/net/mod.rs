//! What moves bytes and knows no protocol: buffers, rate and connection limits, timeouts of a socket.

pub(super) mod block_pool;
pub(super) mod body_buffer;
pub(super) mod connection_limit;
pub mod rate_limit;
pub(super) mod wire;
pub(super) mod write_timeout;
