//! Values of parameters: their types, and values as they were sent.
//!
//! Knows no parameter and no JSON.

/// The characters of a wrong value that a problem shows.
pub(super) const SHOWN: usize = 60;

/// The type of a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParameterType {
    /// A text.
    Text,
    /// An integer of 64 bits.
    Integer,
    /// True or false.
    Boolean,
    /// A list of texts.
    List,
}

impl ParameterType {
    /// The types and their names in `template.toml`.
    pub const NAMES: [(&str, ParameterType); 4] = [
        ("string", ParameterType::Text),
        ("integer", ParameterType::Integer),
        ("boolean", ParameterType::Boolean),
        ("list", ParameterType::List),
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        ParameterType::NAMES.iter().find(|(_, kind)| *kind == self).map_or("", |(name, _)| name)
    }

    pub(super) fn expected(self) -> &'static str {
        match self {
            ParameterType::Text => "a string",
            ParameterType::Integer => "an integer",
            ParameterType::Boolean => "true or false",
            ParameterType::List => "a list of strings",
        }
    }

    /// What a parameter is that is neither required nor given and has no default.
    pub fn empty(self) -> ParameterValue {
        match self {
            ParameterType::Text => ParameterValue::Text(String::new()),
            ParameterType::Integer => ParameterValue::Integer(0),
            ParameterType::Boolean => ParameterValue::Boolean(false),
            ParameterType::List => ParameterValue::List(Vec::new()),
        }
    }
}

/// The value of a parameter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ParameterValue {
    /// See [`ParameterType::Text`].
    Text(String),
    /// See [`ParameterType::Integer`].
    Integer(i64),
    /// See [`ParameterType::Boolean`].
    Boolean(bool),
    /// See [`ParameterType::List`].
    List(Vec<String>),
}

impl ParameterValue {
    /// The value as a person reads it.
    pub fn shown(&self) -> String {
        match self {
            ParameterValue::Text(text) => quoted(text),
            ParameterValue::Integer(number) => number.to_string(),
            ParameterValue::Boolean(value) => value.to_string(),
            ParameterValue::List(items) => format!("a list of {} items", items.len()),
        }
    }
}

/// A value as it was sent.
#[derive(Debug, Clone, PartialEq)]
pub enum SentValue {
    /// Nothing: the same as a parameter that is not given.
    Null,
    /// True or false.
    Boolean(bool),
    /// An integer.
    Integer(i64),
    /// A number that is no integer of 64 bits.
    Number(f64),
    /// A text.
    Text(String),
    /// A list.
    List(Vec<SentValue>),
    /// Named values.
    Object,
}

impl SentValue {
    pub(super) fn shown(&self) -> String {
        match self {
            SentValue::Null => "null".into(),
            SentValue::Boolean(value) => value.to_string(),
            SentValue::Integer(number) => number.to_string(),
            SentValue::Number(number) => number.to_string(),
            SentValue::Text(text) => quoted(text),
            SentValue::List(_) => "a list".into(),
            SentValue::Object => "an object".into(),
        }
    }
}

/// A text in quotes, cut for problems.
pub(super) fn quoted(text: &str) -> String {
    let shown: String = text.chars().take(SHOWN).collect();
    let more = if shown.len() < text.len() { "…" } else { "" };
    format!("{shown:?}{more}")
}
