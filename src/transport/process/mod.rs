//! The process itself: its heap, its memory and CPU time, its signals. Knows no requests.

pub mod allocator;
pub mod shutdown;
pub mod stats;
