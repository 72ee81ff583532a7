//! Buffers, rate and connection limits, and timeouts of a socket. Knows no protocol.

pub(super) mod block_pool;
pub(super) mod body_buffer;
pub(super) mod connection_limit;
pub mod rate_limit;
pub(super) mod traffic;
pub(super) mod wire;
pub(super) mod write_timeout;
