//! The languages that are analysed, and how their files are recognised.

use std::path::Path;

/// A language that can be analysed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Language {
    /// Rust.
    Rust,
    /// Python 3.
    Python,
    /// JavaScript, also with JSX.
    JavaScript,
    /// TypeScript.
    TypeScript,
    /// TypeScript with JSX, which has no old-style casts.
    Tsx,
}

impl Language {
    /// All languages.
    pub const ALL: [Language; 5] =
        [Language::Rust, Language::Python, Language::JavaScript, Language::TypeScript, Language::Tsx];

    /// The language of a file by the extension of its name. `None` if no language has the extension.
    pub fn of_path(path: &Path) -> Option<Language> {
        let extension = path.extension()?;
        Language::ALL
            .into_iter()
            .find(|language| language.extensions().iter().any(|known| extension == *known))
    }

    /// The extensions of its files, without the dot.
    pub fn extensions(self) -> &'static [&'static str] {
        match self {
            Language::Rust => &["rs"],
            Language::Python => &["py", "pyi", "pyw"],
            Language::JavaScript => &["js", "jsx", "mjs", "cjs"],
            Language::TypeScript => &["ts", "mts", "cts"],
            Language::Tsx => &["tsx"],
        }
    }

    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Language::Rust => "rust",
            Language::Python => "python",
            Language::JavaScript => "javascript",
            Language::TypeScript | Language::Tsx => "typescript",
        }
    }

    /// Its number in messages.
    pub(crate) fn number(self) -> u8 {
        match self {
            Language::Rust => 0,
            Language::Python => 1,
            Language::JavaScript => 2,
            Language::TypeScript => 3,
            Language::Tsx => 4,
        }
    }

    /// The language with this number in messages.
    pub(crate) fn of_number(number: u8) -> Option<Language> {
        Language::ALL.into_iter().find(|language| language.number() == number)
    }
}
