//! The messages between the server and the supervisor of a command. Knows no processes.
//!
//! The server sends the command and its input, once. The supervisor sends reports.

use std::io::{self, Read, Write};

/// What the supervisor tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Report {
    /// This process becomes a shell now. Its number is also that of its group.
    Started(i32),
    /// No shell could be started, for this reason (errno).
    Failed(i32),
    /// The shell has ended with this exit code.
    Exited(i32),
    /// This signal has ended the shell.
    Signaled(i32),
    /// The shell has ended, and no process of its session is left.
    Gone,
    /// The shell has ended, but other processes of its session have not. Sent once.
    Remains,
}

impl Report {
    /// Sends the report.
    pub(super) fn write(self, to: &mut impl Write) -> io::Result<()> {
        let (tag, value) = match self {
            Report::Started(process) => (b's', process),
            Report::Failed(errno) => (b'f', errno),
            Report::Exited(code) => (b'e', code),
            Report::Signaled(signal) => (b'k', signal),
            Report::Gone => (b'g', 0),
            Report::Remains => (b'r', 0),
        };
        let [a, b, c, d] = value.to_le_bytes();
        to.write_all(&[tag, a, b, c, d])
    }

    /// Receives one report. An error if the supervisor has ended.
    pub(super) fn read(from: &mut impl Read) -> io::Result<Report> {
        let mut message = [0; 5];
        from.read_exact(&mut message)?;
        let [tag, value @ ..] = message;
        let value = i32::from_le_bytes(value);
        match tag {
            b's' => Ok(Report::Started(value)),
            b'f' => Ok(Report::Failed(value)),
            b'e' => Ok(Report::Exited(value)),
            b'k' => Ok(Report::Signaled(value)),
            b'g' => Ok(Report::Gone),
            b'r' => Ok(Report::Remains),
            _ => Err(io::ErrorKind::InvalidData.into()),
        }
    }
}

/// Sends a command and its input.
pub(super) fn write_request(command: &str, stdin: &str, to: &mut impl Write) -> io::Result<()> {
    let lens = [command.len() as u64, stdin.len() as u64].map(u64::to_le_bytes);
    to.write_all(&lens.concat())?;
    to.write_all(command.as_bytes())?;
    to.write_all(stdin.as_bytes())
}

/// Receives a command. Its input follows; returns the number of its bytes.
pub(super) fn read_request(from: &mut impl Read) -> io::Result<(Vec<u8>, u64)> {
    let mut len = || {
        let mut bytes = [0; 8];
        from.read_exact(&mut bytes).map(|()| u64::from_le_bytes(bytes))
    };
    let (command_len, stdin_len) = (len()?, len()?);
    let mut command = Vec::new();
    from.take(command_len).read_to_end(&mut command)?;
    match command.len() as u64 == command_len {
        true => Ok((command, stdin_len)),
        false => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_sent_is_received() {
        let reports = [
            Report::Started(7),
            Report::Failed(2),
            Report::Exited(-1),
            Report::Signaled(9),
            Report::Gone,
            Report::Remains,
        ];
        let mut sent = Vec::new();
        reports.iter().for_each(|report| report.write(&mut sent).unwrap());
        let mut received = sent.as_slice();
        for report in reports {
            assert_eq!(Report::read(&mut received).unwrap(), report);
        }
        assert!(Report::read(&mut received).is_err() && Report::read(&mut &b"x1234"[..]).is_err());
    }

    #[test]
    fn a_request_that_is_cut_is_an_error() {
        let mut sent = Vec::new();
        write_request("ls", "input", &mut sent).unwrap();
        let mut whole = sent.as_slice();
        assert_eq!(read_request(&mut whole).unwrap(), (b"ls".to_vec(), 5));
        assert_eq!(whole, b"input");
        for cut in 0..18 {
            assert!(read_request(&mut &sent[..cut]).is_err(), "{cut}");
        }
    }
}
