//! The socket between a command and a server of the same user that serves its folder (contract 23): where it is, and what goes over it.
//!
//! A server has one socket for each served folder, in a folder of the user's own that nobody else can enter. Its name begins with a
//! hash of the served folder, so that a command finds it by its own folder. The server says who it is ([`Hello`]); the command sends its
//! words ([`Request`]); the server answers with what goes to standard output and standard error, and ends with the exit code.
//!
//! Knows no commands.

use std::ffi::OsStr;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sys::ffi::OsStrExt;

/// What both sides must have in common. It grows when what goes over the socket changes.
pub(super) const PROTOCOL: (&str, u32) = (env!("CARGO_PKG_VERSION"), 1);

/// The longest part of an answer that is sent at once, in bytes; a server that claims a longer one is none.
const MAX_PART: usize = 1 << 20;

/// What a server says first.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Hello {
    pub(super) version: String,
    pub(super) protocol: u32,
    /// The folder that it serves.
    pub(super) folder: PathBuf,
}

/// What a command asks.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Request {
    /// Its command line.
    pub(super) words: Vec<String>,
    /// The folder in which it works.
    pub(super) folder: PathBuf,
    /// The folder of the journal, or `off`.
    pub(super) journal: PathBuf,
    /// What it read for the tool, such as a patch.
    pub(super) input: Option<String>,
    /// As whom the journal knows it.
    pub(super) client: String,
}

/// A part of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// For standard output.
    Out,
    /// For standard error.
    Err,
    /// The exit code; nothing follows.
    End,
}

/// The folder of the sockets of a user. `None`: the system has no place for it.
pub(super) fn folder() -> Option<PathBuf> {
    let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from)?;
    runtime.is_absolute().then(|| runtime.join("file-editor"))
}

/// How the names of the sockets of servers of a folder begin.
pub(super) fn start_of_name(folder: &Path) -> String {
    format!("{:016x}.", journal::hash(folder.as_os_str().as_bytes()))
}

/// Writes a message: its length, and its JSON.
pub(super) fn send(stream: &mut impl Write, message: &impl Serialize) -> io::Result<()> {
    let json = serde_json::to_vec(message)?;
    stream.write_all(&(json.len() as u64).to_le_bytes())?;
    stream.write_all(&json)
}

/// Reads a message of at most so many bytes.
pub(super) fn receive<M: for<'d> Deserialize<'d>>(stream: &mut impl Read, most: u64) -> io::Result<M> {
    let mut len = [0; 8];
    stream.read_exact(&mut len)?;
    let len = u64::from_le_bytes(len);
    if len > most {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut json = Vec::new();
    stream.take(len).read_to_end(&mut json)?;
    Ok(serde_json::from_slice(&json)?)
}

/// Writes parts of an answer.
#[derive(Debug)]
pub(super) struct PartWriter<S> {
    pub(super) stream: S,
    pub(super) part: Part,
}

impl<S: Write> Write for PartWriter<S> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let bytes = &bytes[..bytes.len().min(MAX_PART)];
        let mut head = [self.part as u8, 0, 0, 0, 0];
        head[1..].copy_from_slice(&(bytes.len() as u32).to_le_bytes());
        self.stream.write_all(&head)?;
        self.stream.write_all(bytes)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Reads a part of an answer into `bytes`.
pub(super) fn read_part(stream: &mut impl Read, bytes: &mut Vec<u8>) -> io::Result<Part> {
    let mut head = [0; 5];
    stream.read_exact(&mut head)?;
    let [kind, len @ ..] = head;
    let part = [Part::Out, Part::Err, Part::End].into_iter().find(|part| *part as u8 == kind);
    let (len, Some(part)) = (u32::from_le_bytes(len) as usize, part) else {
        return Err(io::ErrorKind::InvalidData.into());
    };
    if len > MAX_PART {
        return Err(io::ErrorKind::InvalidData.into());
    }
    bytes.resize(len, 0);
    stream.read_exact(bytes)?;
    Ok(part)
}

/// Whether a name in the folder of the sockets is that of a server of a folder whose sockets begin so.
pub(super) fn is_of(name: &OsStr, start: &str) -> bool {
    name.as_bytes().starts_with(start.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_comes_out_as_it_went_in_and_a_claim_of_more_is_refused() {
        let mut sent = Vec::new();
        let long = vec![b'x'; MAX_PART + 1];
        PartWriter { stream: &mut sent, part: Part::Out }.write_all(&long).unwrap();
        PartWriter { stream: &mut sent, part: Part::End }.write_all(&[2]).unwrap();
        let (mut stream, mut bytes, mut all) = (&sent[..], Vec::new(), Vec::new());
        while read_part(&mut stream, &mut bytes).unwrap() == Part::Out {
            all.extend_from_slice(&bytes);
        }
        assert!(all == long && bytes == [2]);
        for wrong in [&[0, 0xff, 0xff, 0xff, 0x7f][..], &[9, 0, 0, 0, 0], &[0, 1]] {
            assert!(read_part(&mut &wrong[..], &mut bytes).is_err(), "{wrong:?}");
        }
        let mut message = Vec::new();
        send(&mut message, &"text").unwrap();
        assert_eq!(receive::<String>(&mut &message[..], 100).unwrap(), "text");
        assert!(receive::<String>(&mut &message[..], 3).is_err(), "longer than may be");
    }
}
