//! Messages as bytes: a length of four bytes, little-endian, and so many bytes. Before the length of a text stand
//! the numbers of what is wanted of it and of its language.

use std::io::{self, Read, Write};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::{FileReport, Language, MAX_BYTES, Outline, Refusal};

/// The longest answer in bytes. An analyzer that was taken over cannot make the server hold more.
pub const MAX_ANSWER: usize = 8 << 20;

/// What is wanted of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// How complex its functions are.
    Figures,
    /// What it defines.
    Outline,
}

/// What was made of a text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Made {
    /// See [`Wanted::Figures`].
    Figures(FileReport),
    /// See [`Wanted::Outline`].
    Outline(Outline),
}

/// What the analyzer makes of a text.
pub type Answer = Result<Made, Refusal>;

/// What the analyzer says first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    /// The version of its package.
    pub version: String,
    /// What confines its process: `landlock`, `seccomp`, `memory limit`. Less where the system lacks it.
    pub confined_by: Vec<String>,
}

/// Writes the first message of an analyzer.
///
/// # Errors
///
/// Those of the pipe.
pub fn write_hello(hello: &Hello, out: &mut impl Write) -> io::Result<()> {
    write_message(&encoded(hello)?, out)
}

/// Reads the first message of an analyzer.
///
/// # Errors
///
/// Those of the pipe, and [`io::ErrorKind::InvalidData`] if it is not a [`Hello`].
pub fn read_hello(from: &mut impl Read) -> io::Result<Hello> {
    read_message(from)
}

/// Writes a text to analyse.
///
/// # Errors
///
/// Those of the pipe, and [`io::ErrorKind::InvalidInput`] if the text has more than [`MAX_BYTES`] bytes.
pub fn write_text(wanted: Wanted, language: Language, text: &[u8], out: &mut impl Write) -> io::Result<()> {
    if text.len() > MAX_BYTES {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    out.write_all(&[wanted as u8, language.number()])?;
    write_message(text, out)
}

/// Reads a text into `text`. `None` if the server has closed the pipe.
///
/// # Errors
///
/// Those of the pipe, and [`io::ErrorKind::InvalidData`] for an unknown number or more than [`MAX_BYTES`] bytes.
pub fn read_text(text: &mut Vec<u8>, from: &mut impl Read) -> io::Result<Option<(Wanted, Language)>> {
    let (mut wanted, mut language) = ([0], [0]);
    if from.read(&mut wanted)? == 0 {
        return Ok(None);
    }
    let known = [Wanted::Figures, Wanted::Outline].into_iter().find(|known| *known as u8 == wanted[0]);
    from.read_exact(&mut language)?;
    let wanted = known.ok_or(io::ErrorKind::InvalidData)?;
    let language = Language::of_number(language[0]).ok_or(io::ErrorKind::InvalidData)?;
    read_bytes(text, MAX_BYTES, from)?;
    Ok(Some((wanted, language)))
}

/// Writes an answer. One that is longer than [`MAX_ANSWER`] becomes [`Refusal::TooHard`].
///
/// # Errors
///
/// Those of the pipe.
pub fn write_answer(answer: &Answer, out: &mut impl Write) -> io::Result<()> {
    let bytes = encoded(answer)?;
    if bytes.len() > MAX_ANSWER {
        return write_answer(&Err(Refusal::TooHard), out);
    }
    write_message(&bytes, out)
}

/// Reads an answer.
///
/// # Errors
///
/// Those of the pipe, and [`io::ErrorKind::InvalidData`] if it is no [`Answer`] or longer than [`MAX_ANSWER`].
pub fn read_answer(from: &mut impl Read) -> io::Result<Answer> {
    read_message(from)
}

fn encoded(message: &impl Serialize) -> io::Result<Vec<u8>> {
    postcard::to_stdvec(message).map_err(io::Error::other)
}

fn write_message(bytes: &[u8], out: &mut impl Write) -> io::Result<()> {
    let len = u32::try_from(bytes.len()).map_err(|_| io::ErrorKind::InvalidInput)?;
    out.write_all(&len.to_le_bytes())?;
    out.write_all(bytes)?;
    out.flush()
}

fn read_message<T: DeserializeOwned>(from: &mut impl Read) -> io::Result<T> {
    let mut bytes = Vec::new();
    read_bytes(&mut bytes, MAX_ANSWER, from)?;
    postcard::from_bytes(&bytes).map_err(|_| io::ErrorKind::InvalidData.into())
}

/// Reads a length and so many bytes, at most `most`.
fn read_bytes(bytes: &mut Vec<u8>, most: usize, from: &mut impl Read) -> io::Result<()> {
    let mut len = [0; 4];
    from.read_exact(&mut len)?;
    let len = u32::from_le_bytes(len) as usize;
    if len > most {
        return Err(io::ErrorKind::InvalidData.into());
    }
    bytes.clear();
    // The memory grows with what really comes.
    if from.take(len as u64).read_to_end(bytes)? < len {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Definition, FunctionReport, Kind, SyntaxError};

    fn report() -> FileReport {
        let function = FunctionReport {
            name: "Größe::f".into(),
            first_line: 1,
            last_line: 9,
            cyclomatic: 3,
            cognitive: u64::MAX,
            effort: 0.1 + 0.2,
        };
        FileReport { lines: 9, functions: vec![function], error: Some(SyntaxError { line: 2, column: 3 }) }
    }

    fn outline() -> Outline {
        let definition = Definition {
            kind: Kind::Method,
            name: "Größe.f".into(),
            parent: Some(3),
            first: 1,
            line: 2,
            last: 9,
            signature: "f()".into(),
            is_public: true,
            is_bare: false,
        };
        Outline { definitions: vec![definition], errors: 1, error: Some(SyntaxError { line: 2, column: 3 }) }
    }

    #[test]
    fn answers_come_out_as_they_went_in() {
        let figures = [report(), FileReport::default()].map(|report| Ok(Made::Figures(report)));
        for answer in figures.into_iter().chain([Ok(Made::Outline(outline())), Err(Refusal::TooSlow)]) {
            let mut bytes = Vec::new();
            write_answer(&answer, &mut bytes).unwrap();
            assert_eq!(read_answer(&mut bytes.as_slice()).unwrap(), answer);
            bytes.pop();
            assert!(read_answer(&mut bytes.as_slice()).is_err(), "a message that is cut short");
        }
    }

    #[test]
    fn texts_come_out_as_they_went_in_until_the_pipe_is_closed() {
        let mut bytes = Vec::new();
        for language in Language::ALL {
            for wanted in [Wanted::Figures, Wanted::Outline] {
                write_text(wanted, language, b"let x\0\xFF", &mut bytes).unwrap();
            }
        }
        let (mut from, mut text) = (bytes.as_slice(), Vec::new());
        for language in Language::ALL {
            for wanted in [Wanted::Figures, Wanted::Outline] {
                assert_eq!(read_text(&mut text, &mut from).unwrap(), Some((wanted, language)));
                assert_eq!(text, b"let x\0\xFF");
            }
        }
        assert_eq!(read_text(&mut text, &mut from).unwrap(), None);
    }

    #[test]
    fn an_answer_has_a_bound_and_bad_bytes_are_an_error() {
        let too_long = u32::try_from(MAX_ANSWER + 1).unwrap().to_le_bytes();
        assert_eq!(read_answer(&mut &too_long[..]).unwrap_err().kind(), io::ErrorKind::InvalidData);
        let bad = [&[3, 0, 0, 0][..], &[0xFF; 3]].concat();
        assert_eq!(read_answer(&mut bad.as_slice()).unwrap_err().kind(), io::ErrorKind::InvalidData);
        // A list that claims more than the message holds takes no memory for it.
        let claims = [&[8, 0, 0, 0, 0, 0, 9][..], &[0xFF, 0xFF, 0xFF, 0xFF, 0x0F]].concat();
        assert!(read_answer(&mut claims.as_slice()).is_err());
        let functions =
            vec![FunctionReport { name: "x".repeat(200), ..report().functions[0].clone() }; 50_000];
        let mut bytes = Vec::new();
        write_answer(&Ok(Made::Figures(FileReport { functions, ..report() })), &mut bytes).unwrap();
        assert_eq!(read_answer(&mut bytes.as_slice()).unwrap(), Err(Refusal::TooHard));
    }
}
