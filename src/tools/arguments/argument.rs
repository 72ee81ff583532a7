//! What a type must have so that a tool can take it as an argument: a JSON Schema and a parser.

use super::value::Value;
use folder::{Error, Result};

/// The empty string as JSON.
pub(super) const EMPTY: &str = r#""""#;

/// The type of an argument.
pub trait Argument: Sized {
    /// Whether a call must have the argument.
    const REQUIRED: bool = true;

    /// What is expected, in the error for an argument that is missing.
    fn expected() -> String;

    /// Writes the members of its JSON Schema, such as `"type":"string"`. `{first}` stands for the number of the
    /// first line.
    fn schema(out: &mut String);

    /// Reads a value. null is absent, and does not come here.
    fn read(value: &Value) -> Result<Self>;

    /// Whether a value says nothing: it counts as absent where the argument need not be given (contract 24). Models fill in
    /// such values for arguments that they do not want.
    fn is_empty(value: &Value) -> bool {
        value.json() == EMPTY
    }

    /// The value of an argument that is absent, if it may be.
    fn absent() -> Option<Self> {
        None
    }
}

/// A type with a closed set of words.
pub trait Keyword: Copy + 'static {
    /// The words and their values.
    const WORDS: &'static [(&'static str, Self)];

    /// The error for another word.
    fn unknown(value: &Value, _word: &str) -> Error {
        value.wrong(&words::<Self>())
    }
}

impl<K: Keyword> Argument for K {
    fn expected() -> String {
        words::<K>()
    }

    fn schema(out: &mut String) {
        let words: Vec<String> = K::WORDS.iter().map(|(word, _)| format!("\"{word}\"")).collect();
        out.push_str(&format!(r#""type":"string","enum":[{}]"#, words.join(",")));
    }

    fn read(value: &Value) -> Result<K> {
        let word = value.string()?;
        let found = K::WORDS.iter().find(|(known, _)| *known == word);
        found.map(|(_, keyword)| *keyword).ok_or_else(|| K::unknown(value, &word))
    }
}

fn words<K: Keyword>() -> String {
    let words: Vec<&str> = K::WORDS.iter().map(|(word, _)| *word).collect();
    format!("one of {}", words.join(", "))
}
