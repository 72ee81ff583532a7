//! Why a server does not start, as one line that names the flag (contract 2).

use std::io;
use std::path::Path;

use super::{Stop, cannot_start, is_shortage};
use engine::OpenError;

/// The message for folders that cannot be served.
pub fn cannot_open(error: &OpenError) -> Stop {
    match error {
        // Only then: a look at a folder whose file system does not answer would not end.
        OpenError::Unusable(dir, error) if error.kind() == io::ErrorKind::NotADirectory && dir.is_file() => {
            Stop::Wrong(format!("--dir={} {}", dir.display(), is_a_file(dir)))
        }
        OpenError::Unusable(dir, error) => system_error(
            error,
            format!("--dir={} cannot be used: {error}; give a folder that exists", dir.display()),
        ),
        OpenError::NotWritable(dir) => Stop::Wrong(format!(
            "--dir={} is not writable; give one that is, or serve it with --read-only",
            dir.display()
        )),
        OpenError::UnsafeLocks(dir, why) => Stop::Wrong(format!(
            "--dir={} is not safe to write: {why}; serve it with --read-only, or with --unsafe-locks if only this machine \
             writes there",
            dir.display()
        )),
        OpenError::FilterDir(dir, error) => {
            system_error(error, format!("--filter-dir={} cannot be used: {error}", dir.display()))
        }
    }
}

/// What is said of a file that was given as a folder, with the flag for its folder.
pub(super) fn is_a_file(file: &Path) -> String {
    let parent =
        file.parent().map(|parent| if parent.as_os_str().is_empty() { Path::new(".") } else { parent });
    let flag = parent.map_or(String::new(), |parent| format!(", --dir={}", parent.display()));
    format!("is a file; give its folder{flag}")
}

/// The message for a start error: `line`, or the message for a lack of resources, which no flag can correct.
pub fn system_error(error: &io::Error, line: String) -> Stop {
    Stop::Wrong(if is_shortage(error) { cannot_start(error) } else { line })
}
