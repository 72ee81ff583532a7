//! Reads git repositories: refs, commits, trees and other objects. Runs nothing and writes nothing.
//!
//! Everything is read below the handle of the folder `.git`. Knows no diffs and no statistics.

pub mod cache;
pub mod commit;
pub mod config;
pub mod delta;
pub mod id;
pub mod index;
pub mod inflate;
pub mod objects;
pub mod pack;
pub mod refs;
pub mod repository;
pub mod store;
pub mod tree;
pub mod windows;
