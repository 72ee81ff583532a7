//! The set `search` (contract 14).

mod against_ripgrep; // the same lines as ripgrep's own library finds
mod grep; // what grep finds and tells

use crate::support::{Folder, Stdio};

const SET: &str = "--tools=search";

/// A server of the set on stdio that is ready.
fn serve(folder: &Folder, flags: &[&str]) -> Stdio {
    Stdio::start(folder, &[&[SET], flags].concat()).ready()
}

/// Writes a file and makes its folders.
fn put(folder: &Folder, path: &str, bytes: impl AsRef<[u8]>) {
    let parent = path.rsplit_once('/').map_or("", |(parent, _)| parent);
    std::fs::create_dir_all(folder.path().join(parent)).expect("folders");
    folder.write(path, bytes);
}
