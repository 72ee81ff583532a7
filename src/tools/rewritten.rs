//! What the answer says of a text that replaces a whole file: what it keeps of the file, and what it changes (contract 25).

use super::encoding_failure::likely_name;
use super::text_page::found_encoding;
use text::encoded_edit::{Before, Breaks, Rewritten};
use text::encoding::{Encoding, Unencodable};
use text::lines::{Break, BreakKinds};

/// The first line of an answer: what was done, and that the encoding is another one because the former one was unsure.
pub(super) fn done_line(done: String, rewritten: &Rewritten) -> String {
    match rewritten.before {
        Before::Unsure(_) | Before::Invalid(_) | Before::Escapes { stay: false } => {
            format!("{done}, now in {}: its encoding was unsure", rewritten.encoding.encoding.name())
        }
        _ => done,
    }
}

/// What an edit by the letter says of a line that it put in, if that may stand for text that is lost now.
pub(super) fn omission_note(line: &str) -> String {
    let line = super::shortened(line);
    format!(
        "Note: the new text has the line `{line}` as it was sent. If it stands for text, that text was not kept: write it out.\n"
    )
}

/// The lines, if there is anything to say.
pub(super) fn rewritten_note(rewritten: &Rewritten) -> Option<String> {
    let lines: Vec<String> =
        encoding_line(rewritten).into_iter().chain(breaks_line(rewritten.breaks)).collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

fn encoding_line(rewritten: &Rewritten) -> Option<String> {
    let now = rewritten.encoding.encoding.name();
    match rewritten.before {
        Before::Same => found_encoding(rewritten.encoding.encoding, rewritten.encoding.source),
        Before::Other { encoding, lacking } => {
            let lacks = lacking.map_or(String::new(), |Unencodable { character, .. }| {
                format!(", which lacks '{character}' (U+{:04X})", u32::from(character))
            });
            Some(format!("Encoding: was {}{lacks}, is now {now}", encoding.name()))
        }
        Before::Unsure(likely) => {
            Some(format!("Encoding: was probably {}, is now {now}", likely_name(likely)))
        }
        Before::Invalid(encoding) => {
            let name = if encoding == Encoding::Utf8 { "UTF-8" } else { encoding.name() };
            Some(format!("Encoding: was not valid {name}, is now {now}"))
        }
        Before::Escapes { stay: false } => {
            Some(format!("Encoding: had escape sequences of ISO-2022, is now {now}"))
        }
        Before::Escapes { stay: true } => {
            Some("Encoding: escape sequences of ISO-2022, which the text has, as the file had".into())
        }
        Before::NoText(kind, bytes) => {
            let kind = kind.map_or("binary data", |kind| kind.name());
            Some(format!("The file was not text but {kind} of {bytes} bytes, which this text has replaced"))
        }
    }
}

fn breaks_line(breaks: Breaks) -> Option<String> {
    match breaks {
        Breaks::Same => None,
        Breaks::Kept(kind) => Some(format!("Line breaks: {}, as the file had", break_name(kind))),
        Breaks::Changed { before, after } => {
            Some(format!("Line breaks: were {}, are now {}", kinds(before), kinds(after)))
        }
    }
}

fn kinds(kinds: BreakKinds) -> String {
    let all = [(kinds.lf, Break::Lf), (kinds.crlf, Break::CrLf), (kinds.cr, Break::Cr)];
    let names: Vec<&str> =
        all.into_iter().filter(|(has, _)| *has).map(|(_, kind)| break_name(kind)).collect();
    names.join(" and ")
}

fn break_name(kind: Break) -> &'static str {
    match kind {
        Break::Lf => "LF",
        Break::CrLf => "CRLF",
        Break::Cr => "CR",
    }
}
