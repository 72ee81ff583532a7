//! The process itself: its heap, its memory and CPU time, its signals. Knows no requests.

pub mod allocator;
mod memory;
pub mod shutdown;
pub mod stats;
