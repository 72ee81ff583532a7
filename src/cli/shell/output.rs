//! Prints what a command has found or done: text for people and models, or one JSON object for programs.

use std::io::{self, ErrorKind, Write};
use std::process::ExitCode;

use serde_json::json;

use super::{ERROR, NOTHING};
use crate::tools::Reply;

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
    pub(super) fn print(self, as_json: bool) -> ExitCode {
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
        // Who reads no further is no error: as `head`.
        match print_lines(&mut io::stdout().lock(), &out) {
            Err(error) if error.kind() != ErrorKind::BrokenPipe => {
                return super::failed(&format!("cannot write to stdout: {error}"));
            }
            _ => {}
        }
        err.iter().for_each(|text| _ = print_lines(&mut io::stderr().lock(), text));
        ExitCode::from(code)
    }
}

/// Writes a text that ends in a line break, if there is any.
pub(super) fn print_lines(out: &mut impl Write, text: &str) -> io::Result<()> {
    out.write_all(text.as_bytes())?;
    if !text.is_empty() && !text.ends_with('\n') {
        out.write_all(b"\n")?;
    }
    out.flush()
}
