//! Asks a server that serves the folder of a command, or one above it, to carry the command out (contract 23).
//!
//! Whatever is amiss with the server, the command does its work itself. If the server ends in the middle, what it has printed is not
//! printed again, and a change that it has made is not made again: the journal tells.

use std::collections::hash_map::DefaultHasher;
use std::ffi::OsString;
use std::fs;
use std::hash::Hasher;
use std::io::{self, ErrorKind, Read, Write};
use std::path::Path;
use std::time::Duration;

use super::arguments::Command;
use super::call::Place;
use super::output::Streams;
use super::socket::{self, Hello, PROTOCOL, Part, Request};
use crate::cli::{Config, Stop};
use folder::fs::private::PrivateFolder;
use sys::net::UnixStream;

/// So much longer than its time may an answer take.
const SPARE: Duration = Duration::from_secs(5);

/// So many of the last changes may be that of the command.
const LATEST: usize = 100;

/// How long a server may take to say who it is.
const HELLO: Duration = Duration::from_secs(1);

/// The longest hello, in bytes.
const MAX_HELLO: u64 = 64 << 10;

/// Whether a command has its answer.
pub(super) enum Answered {
    /// It has; this is the exit code.
    With(u8),
    /// It has so much of it, which may be nothing.
    UpTo(Heard),
}

/// What was printed of an answer: so many bytes, with this hash.
#[derive(Debug, Default)]
pub(super) struct Heard {
    len: u64,
    hash: DefaultHasher,
}

/// Asks the nearest server of the folder of a command, with its words, its input, and its name for the journal.
pub(super) fn answer(
    command: &Command,
    config: &Config,
    (words, input, client): (Vec<OsString>, &Option<String>, &str),
    streams: &mut Streams,
) -> Result<Answered, Stop> {
    let nothing = || Ok(Answered::UpTo(Heard::default()));
    // The log is read from the disk, whoever does it, and a command may follow it for days.
    if matches!(command, Command::Log(_)) {
        return nothing();
    }
    let Some(request) = request(config, words, input, client) else { return nothing() };
    let Some(mut stream) = request.folder.ancestors().find_map(server) else { return nothing() };
    let mut heard = Heard::default();
    let longest = Duration::from_secs(config.timeout) + SPARE;
    let asked = stream
        .set_read_timeout(Some(longest))
        .and_then(|()| socket::send(&mut stream, &request))
        .and_then(|()| heard.all(&mut stream, streams));
    match asked {
        Ok(code) => return Ok(Answered::With(code)),
        Err(error) if command.writes() && is_late(&error) => {
            let line = "the server of this folder does not answer, and may still change something: see file-editor log, or end the server";
            return Err(Stop::Wrong(line.into()));
        }
        Err(_) => {}
    }
    match command.writes() && made(config, client, streams)? {
        true => Ok(Answered::With(0)),
        false => Ok(Answered::UpTo(heard)),
    }
}

fn request(config: &Config, words: Vec<OsString>, input: &Option<String>, client: &str) -> Option<Request> {
    Some(Request {
        words: words.into_iter().map(OsString::into_string).collect::<Result<_, _>>().ok()?,
        folder: config.folders().first()?.canonicalize().ok()?,
        journal: config.journal_given(),
        input: input.clone(),
        client: client.to_owned(),
    })
}

fn is_late(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut)
}

/// Whether a server has made the change of this command before it ended. If so, that is printed.
fn made(config: &Config, client: &str, streams: &mut Streams) -> Result<bool, Stop> {
    // Half a change is completed or taken back here.
    let place = Place::open(config, client.to_owned())?;
    let Some(log) = place.workspace.change_log() else {
        let line = "the server of this folder ended in the middle, and without a journal it is not known whether the change was made: look at the files";
        return Err(Stop::Wrong(line.into()));
    };
    let unread = |error: io::Error| Stop::Wrong(format!("the journal cannot be read: {error}"));
    for number in log.numbers().map_err(unread)?.into_iter().rev().take(LATEST) {
        if log.read(number).map_err(unread)?.is_some_and(|change| change.author.client == client) {
            let line = format!(
                "The server ended before the end of its answer. The change is made (change c{number})."
            );
            let done = writeln!(streams.out, "{line}");
            streams.ended(done, 0);
            return Ok(true);
        }
    }
    Ok(false)
}

/// A server of this folder that is of the same user and version.
fn server(folder: &Path) -> Option<UnixStream> {
    let (sockets, start) = (socket::folder()?, socket::start_of_name(folder));
    let entries = fs::read_dir(&sockets).ok()?.flatten();
    let mut own = entries.filter(|entry| socket::is_of(&entry.file_name(), &start)).map(|entry| entry.path());
    own.find_map(|path| {
        // Nobody else may put sockets into it.
        PrivateFolder::open(&sockets, std::iter::empty()).ok()?;
        let stream = UnixStream::connect(&path);
        if stream.as_ref().is_err_and(|error| error.kind() == ErrorKind::ConnectionRefused) {
            // Its server is dead.
            let _ = fs::remove_file(&path);
        }
        stream.ok().filter(|stream| is_one(stream, folder).unwrap_or(false))
    })
}

fn is_one(mut stream: &UnixStream, folder: &Path) -> io::Result<bool> {
    stream.set_read_timeout(Some(HELLO))?;
    let hello: Hello = socket::receive(&mut stream, MAX_HELLO)?;
    let is_same = (&*hello.version, hello.protocol) == PROTOCOL && hello.folder == folder;
    Ok(is_same && sys::net::is_own_user(stream)?)
}

impl Heard {
    /// Prints the whole answer. Returns the exit code.
    fn all(&mut self, stream: &mut impl Read, streams: &mut Streams) -> io::Result<u8> {
        let mut bytes = Vec::new();
        loop {
            let written = match socket::read_part(stream, &mut bytes)? {
                Part::Out => {
                    self.len += bytes.len() as u64;
                    self.hash.write(&bytes);
                    streams.out.write_all(&bytes).and_then(|()| streams.out.flush())
                }
                Part::Err => streams.err.write_all(&bytes),
                Part::End => return Ok(bytes.first().copied().unwrap_or(super::ERROR)),
            };
            match written {
                // Who reads no further is no error: as `head`.
                Err(error) if error.kind() == ErrorKind::BrokenPipe => return Ok(0),
                Err(error) => {
                    super::failed(&format!("cannot write to stdout: {error}"));
                    return Ok(super::ERROR);
                }
                Ok(()) => {}
            }
        }
    }

    /// A stream that leaves out what was printed.
    pub(super) fn behind<'w>(self, out: &'w mut (dyn Write + Send)) -> Behind<'w> {
        Behind { out, left: self.len, expected: self.hash.finish(), hash: DefaultHasher::new() }
    }
}

/// Leaves out the first bytes, which were printed already.
pub(super) struct Behind<'w> {
    out: &'w mut (dyn Write + Send),
    left: u64,
    expected: u64,
    hash: DefaultHasher,
}

impl Write for Behind<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.left == 0 {
            return self.out.write(bytes);
        }
        let len = usize::try_from(self.left).map_or(bytes.len(), |left| left.min(bytes.len()));
        self.hash.write(&bytes[..len]);
        self.left -= len as u64;
        if self.left == 0 && self.hash.finish() != self.expected {
            let problem = "the server ended in the middle of its answer, and the files have changed since; run the command again";
            return Err(io::Error::other(problem));
        }
        Ok(len)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn behind(printed: &[u8], again: &[u8]) -> io::Result<Vec<u8>> {
        let mut heard = Heard { len: printed.len() as u64, ..Heard::default() };
        // In other pieces than it comes again.
        printed.chunks(3).for_each(|bytes| heard.hash.write(bytes));
        let mut out = Vec::new();
        heard.behind(&mut out).write_all(again)?;
        Ok(out)
    }

    #[test]
    fn what_was_printed_is_not_printed_again_and_is_known_if_it_is_other() {
        for printed in 0..=8 {
            let text = b"one\ntwo\n";
            assert_eq!(behind(&text[..printed], text).unwrap(), &text[printed..]);
        }
        assert!(behind(b"one\n", b"ONE\ntwo\n").is_err());
    }
}
