//! Python's codecs, which have tables of their own.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use crate::encoding::Encoding;

/// Decodes and encodes lines of hexadecimal bytes: `{d|e} {codec} {bytes}`. Texts are in UTF-8. Answers `ok {bytes}`, or
/// where the first error is.
const CODEC: &str = r#"
import sys
for line in sys.stdin:
    what, codec, data = (line.rstrip("\n").split(" ") + [""])[:3]
    data = bytes.fromhex(data)
    try:
        out = data.decode(codec).encode() if what == "d" else data.decode().encode(codec)
        print("ok", out.hex(), flush=True)
    except UnicodeError as error:
        print("error", error.start, flush=True)
"#;

/// Python, which has its own tables.
pub(super) struct Python {
    process: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Python {
    /// `None` where it is not installed.
    pub(super) fn start() -> Option<Python> {
        let mut command = Command::new("python3");
        command.args(["-c", CODEC]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.spawn().ok()?;
        let (input, output) = (process.stdin.take()?, process.stdout.take()?);
        Some(Python { process, input, output: BufReader::new(output) })
    }

    pub(super) fn ask(&mut self, what: char, encoding: Encoding, bytes: &[u8]) -> Result<Vec<u8>, usize> {
        let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        writeln!(self.input, "{what} {} {hex}", codec(encoding)).unwrap();
        let mut answer = String::new();
        self.output.read_line(&mut answer).unwrap();
        let (word, value) = answer.trim_end().split_once(' ').unwrap_or((answer.trim_end(), ""));
        match word {
            "ok" => {
                let digits = |at: usize| u8::from_str_radix(&value[at..at + 2], 16).unwrap();
                Ok((0..value.len()).step_by(2).map(digits).collect())
            }
            _ => Err(value.parse().unwrap()),
        }
    }
}

/// Python's name of an encoding.
fn codec(encoding: Encoding) -> &'static str {
    match encoding {
        Encoding::MacCyrillic => "mac-cyrillic",
        Encoding::Iso8859_8I => "iso-8859-8",
        Encoding::Windows874 => "cp874",
        // The web's are those of Windows.
        Encoding::ShiftJis => "cp932",
        Encoding::EucKr => "cp949",
        Encoding::Gbk => "gb18030",
        other => other.name(),
    }
}

impl Drop for Python {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
