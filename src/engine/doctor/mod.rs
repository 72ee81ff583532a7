//! `--doctor`: checks folders and the system, and says what was found and what to do. A start asks for a part of it.
//!
//! Runs before anything is served. Knows the engine's needs; what is served belongs to the layers above.

mod finding;
mod folder;
mod machine;
pub(super) mod tried;

pub use finding::{Finding, Level};
pub use folder::check_folder;
pub use machine::check_machine;
