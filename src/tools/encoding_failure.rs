//! Texts in another encoding than the one that was asked for: what is wrong, and the way out (contract 15).

use serde_json::json;

use super::Guide;
use text::encoded_edit::InParts;
use text::encoding::{Encoding, EncodingChoice, Likely, Malformed};

/// The bytes that are no character, and why.
pub(super) fn undecodable(bytes: &[u8], why: Malformed) -> String {
    let values: Vec<String> = bytes.iter().map(|byte| format!("0x{byte:02X}")).collect();
    let values = values.join(" ");
    match why {
        Malformed::Undefined => format!("{values} is no character"),
        Malformed::Incomplete => format!("the text ends inside a character, after {values}"),
        Malformed::LoneSurrogate => format!("{values} is half of a pair without the other half"),
    }
}

/// The name of what a text probably is.
pub(super) fn likely_name(likely: Likely) -> &'static str {
    match likely {
        Likely::Text { choice, .. } => choice.name(),
        Likely::Damaged(encoding) => encoding.name(),
        Likely::NoText(kind) => kind.name(),
    }
}

/// What is told of a text that was read as UTF-8 although its escape sequences say another encoding.
pub(super) fn escapes(likely: Likely) -> String {
    format!("The text has the escape sequences of another encoding. {}", hint(Some(likely)))
}

/// What to do about a file that is not UTF-8.
pub(super) fn hint(likely: Option<Likely>) -> String {
    match likely {
        Some(Likely::Text { choice, is_sure }) => {
            let is = if is_sure { "is likely" } else { "may be" };
            let name = choice.name();
            format!("It {is} {name}: pass \"encoding\": \"{name}\".")
        }
        Some(Likely::Damaged(encoding)) => {
            let name = encoding.name();
            format!(
                "It may be {name} with some wrong bytes: pass \"encoding\": \"{name}\", with which lines without them can be read \
                and edited."
            )
        }
        Some(Likely::NoText(kind)) => format!("It is {}, not text.", kind.name()),
        None => format!(
            "It may be UTF-8 with some wrong bytes: if it has another encoding, pass \"encoding\", such as {}.",
            others()
        ),
    }
}

/// The same for the file `name`, which is likely UTF-8 with some wrong bytes: what works with it as it is.
pub(super) fn with_wrong_bytes(name: &str, guide: Guide) -> String {
    let path = json!(name);
    let search = match (guide.paths && guide.offered.has("grep"), guide.offered.has("read")) {
        (false, _) => String::new(),
        (true, true) => format!(" grep {{\"pattern\":\"\",\"path\":{path}}} shows its lines."),
        (true, false) => {
            format!(" grep {{\"pattern\":\"\",\"path\":{path},\"output_mode\":\"content\"}} shows its lines.")
        }
    };
    format!(
        "It may be UTF-8 with some wrong bytes, which stay as they are: edits by text in ASCII work.{search} If it has another encoding, \
         pass \"encoding\", such as {}.",
        others()
    )
}

/// What to do about a character that an encoding lacks. Only the whole text of a file can get another encoding.
pub(super) fn lacking(in_part: bool, guide: Guide) -> String {
    let instead = match (in_part, guide.paths && guide.offered.has("write_file")) {
        (false, _) => ", or use an encoding that has it, such as utf-8",
        (true, true) => ", or send the whole text of the file to write_file with \"encoding\": \"utf-8\"",
        (true, false) => "",
    };
    format!("Nothing was written. Replace it{instead}.")
}

/// Why a text with escape sequences is not edited in parts, and what to do. Lines count from `first`. Other texts help only where the
/// places are none of the reason.
pub(super) fn not_in_parts(edits: &InParts, line: Option<u64>, first: u64) -> String {
    let (name, instead) = (Encoding::Iso2022Jp.name(), edits.instead);
    match line {
        Some(line) => format!(
            "the edit begins or ends between escape sequences of ISO-2022, or inside one (line {}); {instead}",
            line + first
        ),
        None => format!(
            "{name} is not edited in parts, because what its bytes mean depends on those before; {}{instead}",
            if edits.of_lines { "put in lines in ASCII only, or " } else { "" }
        ),
    }
}

/// Encodings besides UTF-8.
fn others() -> &'static str {
    EncodingChoice::COMMON.trim_start_matches("utf-8, ")
}
