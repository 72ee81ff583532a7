//! The members of a JSON object, for programs. A tool names the members; an interface puts them into its own object.

use serde::Serialize;

/// See the module. Written as `"name":value,"name":value`.
#[derive(Debug, Clone, Default)]
pub struct Members(String);

impl Members {
    /// The same with one member more.
    pub fn with(mut self, name: &str, value: &impl Serialize) -> Members {
        // Values of our own types always have a JSON form.
        if let Ok(value) = sonic_rs::to_string(value) {
            let separator = if self.0.is_empty() { "\"" } else { ",\"" };
            self.0.push_str(&[separator, name, "\":", &value].concat());
        }
        self
    }

    /// The same with one member more, if there is a value.
    pub fn with_some(self, name: &str, value: Option<&impl Serialize>) -> Members {
        match value {
            Some(value) => self.with(name, value),
            None => self,
        }
    }

    /// The members without the object's braces.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Writes `"name":{members},`.
    pub fn write_member(&self, name: &str, out: &mut Vec<u8>) {
        out.extend_from_slice(["\"", name, "\":{", &self.0, "},"].concat().as_bytes());
    }
}
