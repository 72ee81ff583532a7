//! Formats one log record as one line of at most [`LONGEST`] bytes, as text or as a JSON object.
//!
//! Any field may contain a client's text. So a field that is too long is cut, but the line stays complete;
//! characters that end a line or control a terminal are escaped.

use std::fmt::{self, Debug, Write};

use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::time::{FormatTime, SystemTime};
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::registry::LookupSpan;

use super::LogFormat;

/// Maximum length of a line in bytes: a pipe that is ready accepts this many without blocking.
pub(super) const LONGEST: usize = 4096;

/// Maximum number of bytes of a text in a line.
const SHOWN: usize = 1_000;

/// Bytes that texts leave free for the numbers after them.
const NUMBERS: usize = 512;

/// Writes records in this format.
pub(super) struct LineFormat(pub(super) LogFormat);

impl<S, N> FormatEvent<S, N> for LineFormat
where
    S: Subscriber + for<'lookup> LookupSpan<'lookup>,
    N: for<'writer> FormatFields<'writer> + 'static,
{
    fn format_event(&self, _: &FmtContext<'_, S, N>, mut out: Writer<'_>, event: &Event<'_>) -> fmt::Result {
        let mut time = String::new();
        SystemTime.format_time(&mut Writer::new(&mut time))?;
        let mut line = LogLine::new(self.0, &time, event.metadata().level().as_str());
        event.record(&mut line);
        out.write_str(&line.end())
    }
}

/// A line that is built field by field.
struct LogLine {
    format: LogFormat,
    text: String,
}

impl LogLine {
    fn new(format: LogFormat, time: &str, level: &str) -> LogLine {
        let text = match format {
            LogFormat::Text => format!("{time} {level:>5}"),
            LogFormat::Json => format!(r#"{{"timestamp":"{time}","level":"{level}""#),
        };
        LogLine { format, text }
    }

    fn end(mut self) -> String {
        self.text.push_str(match self.format {
            LogFormat::Text => "\n",
            LogFormat::Json => "}\n",
        });
        self.text
    }

    /// Appends the field's name with its separators.
    fn name(&mut self, name: &str) {
        // A write to a String cannot fail.
        let _ = match self.format {
            LogFormat::Text if name == "message" => write!(self.text, " "),
            LogFormat::Text => write!(self.text, " {name}="),
            LogFormat::Json => write!(self.text, r#","{name}":"#),
        };
    }

    /// Appends a text field, cut to the free space.
    fn text(&mut self, name: &str, value: &str, quoted: bool) {
        let room = (LONGEST - NUMBERS).saturating_sub(self.text.len() + name.len() + 8);
        self.name(name);
        let quote = if quoted { "\"" } else { "" };
        self.text.push_str(quote);
        let most = self.text.len() + room.min(SHOWN);
        for char in value.chars() {
            let before = self.text.len();
            self.push(char, quoted);
            if self.text.len() > most {
                self.text.truncate(before);
                break;
            }
        }
        self.text.push_str(quote);
    }

    /// Appends a number or a similar field, if there is space.
    fn number(&mut self, name: &str, value: &dyn Debug) {
        let value = format!("{value:?}");
        if self.text.len() + name.len() + value.len() + 8 < LONGEST {
            self.name(name);
            self.text.push_str(&value);
        }
    }

    fn push(&mut self, char: char, quoted: bool) {
        let odd = char.is_control() || matches!(char, '\u{2028}' | '\u{2029}');
        let _ = match (char, self.format) {
            ('"' | '\\', _) if quoted => write!(self.text, "\\{char}"),
            ('\n', _) => write!(self.text, "\\n"),
            ('\r', _) => write!(self.text, "\\r"),
            ('\t', _) => write!(self.text, "\\t"),
            (_, LogFormat::Json) if odd => write!(self.text, "\\u{:04x}", u32::from(char)),
            // As Rust does: also invisible characters and those that change the text direction.
            (_, LogFormat::Text) if odd || (quoted && char != '\'') => {
                write!(self.text, "{}", char.escape_debug())
            }
            _ => self.text.write_char(char),
        };
    }
}

impl Visit for LogLine {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.text(field.name(), value, self.format == LogFormat::Json || field.name() != "message");
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.text(field.name(), &format!("{value:?}"), self.format == LogFormat::Json);
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        if value.is_finite() {
            self.number(field.name(), &value);
        } else {
            self.record_debug(field, &value);
        }
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.number(field.name(), &value);
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.number(field.name(), &value);
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.number(field.name(), &value);
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::{Arc, Mutex};

    use serde_json::Value;
    use tracing_subscriber::fmt::layer;
    use tracing_subscriber::prelude::*;

    use super::*;

    /// The lines written for the records of `log`.
    fn written(format: LogFormat, log: impl FnOnce()) -> String {
        #[derive(Clone, Default)]
        struct Kept(Arc<Mutex<Vec<u8>>>);
        impl io::Write for Kept {
            fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
                self.0.lock().unwrap().extend_from_slice(bytes);
                Ok(bytes.len())
            }

            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let kept = Kept::default();
        let writer = kept.clone();
        let layer = layer().event_format(LineFormat(format)).with_writer(move || writer.clone());
        tracing::subscriber::with_default(tracing_subscriber::registry().with(layer), log);
        String::from_utf8(std::mem::take(&mut kept.0.lock().unwrap())).unwrap()
    }

    fn both() -> [LogFormat; 2] {
        [LogFormat::Text, LogFormat::Json]
    }

    #[test]
    fn a_record_has_its_time_its_level_what_it_says_and_its_fields() {
        let log = || tracing::info!(name = "a \"b's\"", count = 7, took = 0.5, sure = true, kind = ?Some(1), "done {}", 3);
        let text = written(LogFormat::Text, log);
        let (time, rest) = text.split_at(27);
        assert!(time.starts_with("20") && time.ends_with('Z'), "{time}");
        assert_eq!(rest, "  INFO done 3 name=\"a \\\"b's\\\"\" count=7 took=0.5 sure=true kind=Some(1)\n");
        let json = written(LogFormat::Json, log);
        let rest = r#"Z","level":"INFO","message":"done 3","name":"a \"b's\"","count":7,"took":0.5,"sure":true,"kind":"Some(1)"}"#;
        assert!(json.starts_with(r#"{"timestamp":"20"#) && json.ends_with(&format!("{rest}\n")), "{json}");
    }

    #[test]
    fn fields_are_cut_so_that_the_line_is_whole_and_keeps_its_numbers() {
        for text in ["a", "\"", "\\", "\n", "\u{1}", "\u{e9}", "\u{1f600}", "\u{2028}"] {
            let long = text.repeat(5_000);
            for format in both() {
                let log = || {
                    tracing::info!(
                        a = long,
                        b = long,
                        c = long,
                        d = long,
                        e = long,
                        f = long,
                        count = u64::MAX,
                        "{long}"
                    );
                };
                let line = written(format, log);
                assert!(line.len() <= LONGEST && line.ends_with('\n'), "{}", line.len());
                assert!(!line.trim_end_matches('\n').contains(char::is_control), "{line}");
                assert!(line.contains(&u64::MAX.to_string()), "{line}");
                if format == LogFormat::Json {
                    let record: Value = serde_json::from_str(&line).unwrap();
                    let shown = |key: &str| record[key].as_str().unwrap();
                    assert!(shown("a").len() > 100 && long.starts_with(shown("a")));
                    assert!(long.starts_with(shown("f")) && long.starts_with(shown("message")));
                }
            }
        }
    }

    #[test]
    fn what_ends_a_line_or_steers_a_terminal_is_escaped_also_in_what_is_said() {
        let odd = "\n\r\t\0\u{1b}[31m\u{7f}\u{85}\u{2028}\u{2029}";
        for format in both() {
            let line = written(
                format,
                || tracing::warn!(name = odd, kind = ?fmt::from_fn(|out| out.write_str(odd)), "{odd}"),
            );
            let steers = |char: char| char.is_control() || matches!(char, '\u{2028}' | '\u{2029}');
            assert!(!line.trim_end_matches('\n').contains(steers), "{line:?}");
            if format == LogFormat::Json {
                let record: Value = serde_json::from_str(&line).unwrap();
                assert_eq!([&record["name"], &record["kind"], &record["message"]], [odd; 3]);
            }
        }
    }

    #[test]
    fn a_number_that_json_has_not_is_a_text() {
        let line = written(LogFormat::Json, || tracing::info!(took = f64::NAN, "x"));
        assert_eq!(serde_json::from_str::<Value>(&line).unwrap()["took"], "NaN");
    }
}
