//! Prints what a command has found or done: text for people and models, or one JSON object for programs.

use std::io::{self, ErrorKind, Write};

use serde_json::json;

use super::{ERROR, NOTHING};
use crate::tools::Reply;

/// Bytes of output that are written at once.
pub(super) const AT_ONCE: usize = 64 << 10;

/// Where a command prints.
pub(super) struct Streams<'s> {
    pub(super) out: &'s mut (dyn Write + Send),
    pub(super) err: &'s mut (dyn Write + Send),
}

impl Streams<'_> {
    /// The exit code of a command that has written `done`; `code` if it could.
    pub(super) fn ended(&mut self, done: io::Result<()>, code: u8) -> u8 {
        match done.and_then(|()| self.out.flush()) {
            Ok(()) => code,
            // Who reads no further is no error: as `head`.
            Err(error) if error.kind() == ErrorKind::BrokenPipe => code,
            Err(error) => {
                let _ = writeln!(self.err, "file-editor: cannot write to stdout: {error}");
                ERROR
            }
        }
    }
}

/// What a call has given.
pub(super) enum Answer {
    Done {
        text: String,
        code: u8,
        /// The id of the change that was made.
        note: Option<String>,
    },
    Failed(String),
}

impl Answer {
    pub(super) fn of(reply: Reply) -> Answer {
        let mut text = reply.text;
        if let Some(excerpt) = reply.excerpt {
            match excerpt.text("") {
                Ok(lines) => text.push_str(&lines),
                Err(_) => return Answer::Failed("The file has changed while it was read; try again".into()),
            }
        }
        text.push_str(&reply.after);
        match reply.failure {
            Some(_) => Answer::Failed(text),
            None => {
                let code = match (reply.is_partial, reply.is_nothing) {
                    (true, _) => ERROR,
                    (false, true) => NOTHING,
                    (false, false) => 0,
                };
                Answer::Done { text, code, note: reply.note }
            }
        }
    }

    /// Prints it, and gives the exit code.
    pub(super) fn print(self, as_json: bool, streams: &mut Streams) -> u8 {
        let (code, out, err) = match self {
            Answer::Failed(text) if as_json => {
                (ERROR, json!({ "ok": false, "error": text }).to_string(), None)
            }
            Answer::Failed(text) => (ERROR, String::new(), Some(text)),
            Answer::Done { text, code, note } => match as_json {
                true => (code, json!({ "ok": code != ERROR, "text": text, "note": note }).to_string(), None),
                false => (code, text, note),
            },
        };
        let done = print_lines(streams.out, &out);
        let code = streams.ended(done, code);
        err.iter().for_each(|text| _ = print_lines(streams.err, text));
        code
    }
}

/// Writes a text that ends in a line break, if there is any.
fn print_lines(out: &mut dyn Write, text: &str) -> io::Result<()> {
    out.write_all(text.as_bytes())?;
    if !text.is_empty() && !text.ends_with('\n') {
        out.write_all(b"\n")?;
    }
    out.flush()
}
