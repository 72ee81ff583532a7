//! The languages that are analysed, and how their files are recognised.

use std::path::Path;

use super::kinds::{Grammar, Kinds};
use super::{javascript, python, rust};

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

    /// What stands between a type and its method in a name.
    pub(super) fn separator(self) -> &'static str {
        if self == Language::Rust { "::" } else { "." }
    }

    /// The number of its grammar, which languages may share. Below [`Language::GRAMMARS`].
    pub(super) fn grammar_number(self) -> usize {
        match self {
            Language::Rust => 0,
            Language::Python => 1,
            Language::JavaScript | Language::TypeScript | Language::Tsx => 2,
        }
    }

    /// Number of grammars.
    pub(super) const GRAMMARS: usize = 3;

    /// Its grammar and what the nodes of it count.
    pub(super) fn kinds(self) -> &'static Kinds {
        match self {
            Language::Rust => rust::kinds(),
            Language::Python => python::kinds(),
            Language::JavaScript | Language::TypeScript | Language::Tsx => javascript::kinds(),
        }
    }

    /// Its grammar.
    pub(super) fn grammar(self) -> Grammar {
        match self {
            Language::Rust => tree_sitter_rust::LANGUAGE.into(),
            Language::Python => tree_sitter_python::LANGUAGE.into(),
            // The grammar of TypeScript with JSX is that of JavaScript and more, and a grammar takes 1.4 MB of the binary.
            Language::JavaScript | Language::TypeScript | Language::Tsx => {
                tree_sitter_typescript::LANGUAGE_TSX.into()
            }
        }
    }
}
