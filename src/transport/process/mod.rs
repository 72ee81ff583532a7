//! The process itself: its heap, its memory and processor time, signals. Knows no requests.

pub mod allocator;
mod memory;
pub mod shutdown;
pub mod stats;
