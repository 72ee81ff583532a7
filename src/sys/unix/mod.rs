//! What all systems of the Unix family have in the same form: standard streams, signals, what a command must not inherit.

pub(super) mod inherited;
pub(super) mod limits;
pub(super) mod locks;
pub(super) mod names;
pub(super) mod net;
pub(super) mod signal;
pub(super) mod stdio;
