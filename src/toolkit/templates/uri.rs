//! URIs of templates: `template://{category}/{toolchain}/{variant}`.
//!
//! Knows no template: whether one has the URI is for the catalogue to find out.

use std::fmt;

/// The scheme with the slashes behind it.
pub const SCHEME: &str = "template://";

/// The form of a URI, for errors and for `resources/templates/list`.
pub const FORM: &str = "template://{category}/{toolchain}/{variant}";

/// The longest part of a URI, in bytes.
const MAX_PART: usize = 64;

/// The longest URI, in bytes.
const MAX_URI: usize = SCHEME.len() + 3 * (MAX_PART + 1);

/// A well-formed URI.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct TemplateUri {
    /// What the template makes, such as `makefile`.
    pub category: String,
    /// The toolchain, such as `rust`.
    pub toolchain: String,
    /// The kind of project, such as `cli`.
    pub variant: String,
}

impl TemplateUri {
    /// Parses a URI. The error says what is wrong with it.
    pub fn parse(text: &str) -> Result<TemplateUri, String> {
        if text.len() > MAX_URI {
            return Err(format!("it is longer than {MAX_URI} bytes"));
        }
        let rest = text.strip_prefix(SCHEME).ok_or_else(|| format!("it does not begin with {SCHEME}"))?;
        let parts: Vec<&str> = rest.split('/').collect();
        let [category, toolchain, variant] = parts[..] else {
            return Err(format!("it has {} instead of 3", count(parts.len())));
        };
        for (name, part) in [("category", category), ("toolchain", toolchain), ("variant", variant)] {
            check_part(part).map_err(|problem| format!("its {name} {problem}"))?;
        }
        Ok(TemplateUri { category: category.into(), toolchain: toolchain.into(), variant: variant.into() })
    }

    /// The URI of these parts. The error says what is wrong with one of them.
    pub fn of_parts(category: &str, toolchain: &str, variant: &str) -> Result<TemplateUri, String> {
        TemplateUri::parse(&format!("{SCHEME}{category}/{toolchain}/{variant}"))
    }
}

impl fmt::Display for TemplateUri {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        write!(out, "{SCHEME}{}/{}/{}", self.category, self.toolchain, self.variant)
    }
}

fn count(parts: usize) -> String {
    if parts == 1 { "1 part".into() } else { format!("{parts} parts") }
}

fn check_part(part: &str) -> Result<(), String> {
    if part.is_empty() {
        return Err("is empty".into());
    }
    if part.len() > MAX_PART {
        return Err(format!("is longer than {MAX_PART} characters"));
    }
    match part.chars().find(|char| !is_allowed(*char)) {
        None => Ok(()),
        Some(char) => Err(format!("has the character {char:?}; letters, digits, - and _ are allowed")),
    }
}

fn is_allowed(char: char) -> bool {
    char.is_ascii_alphanumeric() || matches!(char, '-' | '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uri_has_three_parts_and_is_shown_as_it_was_sent() {
        let uri = TemplateUri::parse("template://makefile/python-uv/cli").unwrap();
        assert_eq!((&*uri.category, &*uri.toolchain, &*uri.variant), ("makefile", "python-uv", "cli"));
        assert_eq!(uri.to_string(), "template://makefile/python-uv/cli");
        // Well-formed, although no template may have it.
        assert!(TemplateUri::parse("template://Makefile/RUST/x_1").is_ok());
    }

    #[test]
    fn what_is_malformed_is_refused_with_the_reason() {
        let long = format!("template://{}/rust/cli", "a".repeat(65));
        for (uri, reason) in [
            ("", "begin"),
            ("makefile/rust/cli", "begin"),
            ("Template://makefile/rust/cli", "begin"),
            ("file:///makefile/rust/cli", "begin"),
            (" template://makefile/rust/cli", "begin"),
            ("template://", "1 part"),
            ("template://makefile/rust", "2 parts"),
            ("template://makefile/rust/cli/x", "4 parts"),
            ("template://makefile/rust/cli/", "4 parts"),
            ("template:///rust/cli", "category is empty"),
            ("template://makefile//cli", "toolchain is empty"),
            ("template://makefile/rust/", "variant is empty"),
            ("template://make.file/rust/cli", "'.'"),
            ("template://../rust/cli", "'.'"),
            ("template://makefile%2f/rust/cli", "'%'"),
            ("template://makefile/rust/cli?x=1", "'?'"),
            ("template://makefile/rust/cli#x", "'#'"),
            ("template://makefile:80/rust/cli", "':'"),
            ("template://user@makefile/rust/cli", "'@'"),
            ("template://makefile/rust/c li", "' '"),
            ("template://makefile/rust/cli\n", r"'\n'"),
            ("template://makefile/rust/cli\0", r"'\0'"),
            ("template://makefile/r\u{fc}st/cli", "'\u{fc}'"),
            (&long, "longer than 64"),
            (&"template://".repeat(1_000_000), "longer than 206 bytes"),
        ] {
            let problem = TemplateUri::parse(uri).unwrap_err();
            assert!(problem.contains(reason), "{uri:?}: {problem}");
        }
    }
}
