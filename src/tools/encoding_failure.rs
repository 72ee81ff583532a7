//! Texts in another encoding than the one that was asked for: what is wrong, and the way out (contract 15).

use serde_json::json;

use crate::engine::{EncodingChoice, Likely, Malformed};

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

/// The name of the encoding that a text probably has.
pub(super) fn likely_name(likely: Likely) -> &'static str {
    match likely {
        Likely::Known(choice) => choice.name(),
        Likely::Other(name) => name,
        Likely::NoText(kind) => kind.name(),
    }
}

/// What to do about the file `name`, which is not UTF-8. `takes_encoding`: the failed tool takes an encoding. `can_read`: the
/// client is offered `read_text_file`.
pub(super) fn hint(name: &str, likely: Option<Likely>, takes_encoding: bool, can_read: bool) -> String {
    let (is, encoding) = match likely {
        Some(Likely::Known(choice)) => (format!("It is likely {}", choice.name()), Some(choice.name())),
        Some(Likely::Other(name)) => {
            return format!("It is likely {name}, which cannot be read here; convert it to UTF-8 first.");
        }
        Some(Likely::NoText(kind)) => return format!("It is {}, not text.", kind.name()),
        None => ("It may be UTF-8 with some wrong bytes".into(), None),
    };
    if takes_encoding {
        let pass = encoding.map_or_else(
            || format!("if it has another encoding, pass \"encoding\": one of {}", others()),
            |encoding| format!("pass \"encoding\": \"{encoding}\""),
        );
        return format!("{is}: {pass}.");
    }
    let mut call = json!({ "path": name });
    call["encoding"] = json!(encoding.unwrap_or("auto"));
    let read = if can_read { format!(" Read it with read_text_file {call}.") } else { String::new() };
    format!(
        "{is}. Only text in UTF-8 can be edited; nothing was changed.{read} To edit it, convert it to UTF-8 first."
    )
}

/// The encodings but UTF-8, and without `auto`: it has nothing to take where none is likely.
fn others() -> String {
    EncodingChoice::names()
        .skip(1)
        .filter(|name| *name != EncodingChoice::Auto.name())
        .collect::<Vec<_>>()
        .join(", ")
}
