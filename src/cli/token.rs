//! The file of the bearer token (`--auth-token-file`, contract 2): a regular file of at most 64 KB that no client can read.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use super::{Config, Stop};
use sys::fs::Mode;

/// Longest file, in bytes.
const LONGEST: u64 = 64 << 10;

impl Config {
    /// The bearer token; `None` without `--auth-token-file`.
    pub fn token(&self) -> Result<Option<Vec<u8>>, Stop> {
        let Some(path) = &self.auth_token_file else { return Ok(None) };
        let wrong = |why: String| Stop::Wrong(format!("--auth-token-file={} {why}", path.display()));
        let file = open(path).map_err(|error| wrong(format!("cannot be read: {error}")))?;
        if let Some(folder) = self.folders().iter().find(|folder| is_within(path, folder)) {
            let folder = folder.display();
            return Err(wrong(format!(
                "lies in the served folder {folder}, where clients read it; move it out"
            )));
        }
        let mut token = Vec::new();
        file.take(LONGEST + 1)
            .read_to_end(&mut token)
            .map_err(|error| wrong(format!("cannot be read: {error}")))?;
        if token.len() as u64 > LONGEST {
            return Err(wrong("is larger than 64 KB; give a file that holds only the token".into()));
        }
        let token = token.trim_ascii().to_vec();
        if token.is_empty() || !token.iter().all(u8::is_ascii_graphic) {
            return Err(wrong("must hold one token of visible ASCII characters, without spaces".into()));
        }
        Ok(Some(token))
    }

    /// What is doubtful about the token's file, in one line that says what to do.
    pub fn token_doubt(&self) -> Option<String> {
        let path = self.auth_token_file.as_ref()?;
        let stat = open(path).and_then(|file| Ok(sys::fs::fstat(&file)?)).ok()?;
        let mode = stat.st_mode;
        let names = stat.st_nlink;
        let linked = (names > 1).then(|| {
            format!(
                "it has {names} names (hard links); one in a served folder lets clients read the token, so give a file with \
                 one name"
            )
        });
        let is_open = cfg!(unix) && sys::fs::mode(mode).intersects(Mode::from_raw_mode(0o177));
        let open = is_open.then(|| {
            let mode = mode & 0o777;
            format!("its mode {mode:04o} lets more than its owner read or write it; set it to 0600")
        });
        let doubts: Vec<String> = linked.into_iter().chain(open).collect();
        (!doubts.is_empty())
            .then(|| format!("--auth-token-file={}: {}", path.display(), doubts.join(". Also, ")))
    }
}

/// Opens a regular file. The open of a FIFO would wait for its writer.
fn open(path: &Path) -> io::Result<File> {
    match std::fs::metadata(path)?.is_file() {
        true => File::open(path),
        false => Err(io::Error::other("it is no regular file")),
    }
}

/// Whether the file at `path` is in `folder`, links followed on both ways, or is called from there.
fn is_within(path: &Path, folder: &Path) -> bool {
    let Ok(folder) = folder.canonicalize() else { return false };
    let parent = path.parent().and_then(|parent| match parent.as_os_str().is_empty() {
        true => Path::new(".").canonicalize().ok(),
        false => parent.canonicalize().ok(),
    });
    parent.is_some_and(|parent| parent.starts_with(&folder))
        || path.canonicalize().is_ok_and(|path| path.starts_with(&folder))
}
