//! The languages of source code, and how their files are recognised.

use std::path::Path;

/// A language that can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
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
    /// Go.
    Go,
    /// Java.
    Java,
    /// C.
    C,
    /// C++, and headers of C.
    Cpp,
    /// C#.
    CSharp,
    /// Ruby.
    Ruby,
    /// PHP, also between HTML.
    Php,
    /// Kotlin.
    Kotlin,
    /// Bash and other shells of its kind.
    Bash,
    /// Markdown.
    Markdown,
    /// TOML.
    Toml,
    /// YAML.
    Yaml,
    /// JSON, also with comments.
    Json,
}

impl Language {
    /// All languages, each at the place of its number.
    pub const ALL: [Language; 18] = [
        Language::Rust,
        Language::Python,
        Language::JavaScript,
        Language::TypeScript,
        Language::Tsx,
        Language::Go,
        Language::Java,
        Language::C,
        Language::Cpp,
        Language::CSharp,
        Language::Ruby,
        Language::Php,
        Language::Kotlin,
        Language::Bash,
        Language::Markdown,
        Language::Toml,
        Language::Yaml,
        Language::Json,
    ];

    /// Those whose complexity can be measured.
    pub const MEASURED: [Language; 5] =
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
            Language::Go => &["go"],
            Language::Java => &["java"],
            Language::C => &["c"],
            // A header may be of either; the grammar of C++ reads both.
            Language::Cpp => &["cpp", "cc", "cxx", "c++", "hpp", "hh", "hxx", "h++", "ipp", "inl", "h"],
            Language::CSharp => &["cs", "csx"],
            Language::Ruby => &["rb", "rake", "gemspec", "ru"],
            Language::Php => &["php", "phtml", "php5", "php7"],
            Language::Kotlin => &["kt", "kts"],
            Language::Bash => &["sh", "bash", "bats", "ksh"],
            Language::Markdown => &["md", "markdown"],
            Language::Toml => &["toml"],
            Language::Yaml => &["yaml", "yml"],
            Language::Json => &["json", "jsonc"],
        }
    }

    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Language::Rust => "rust",
            Language::Python => "python",
            Language::JavaScript => "javascript",
            Language::TypeScript | Language::Tsx => "typescript",
            Language::Go => "go",
            Language::Java => "java",
            Language::C => "c",
            Language::Cpp => "c++",
            Language::CSharp => "c#",
            Language::Ruby => "ruby",
            Language::Php => "php",
            Language::Kotlin => "kotlin",
            Language::Bash => "bash",
            Language::Markdown => "markdown",
            Language::Toml => "toml",
            Language::Yaml => "yaml",
            Language::Json => "json",
        }
    }

    /// Its number in messages.
    pub(crate) fn number(self) -> u8 {
        self as u8
    }

    /// The language with this number in messages.
    pub(crate) fn of_number(number: u8) -> Option<Language> {
        Language::ALL.get(usize::from(number)).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_language_is_found_by_its_number_and_no_extension_has_two() {
        let mut extensions: Vec<_> =
            Language::ALL.iter().flat_map(|language| language.extensions()).collect();
        for language in Language::ALL {
            assert_eq!(Language::of_number(language.number()), Some(language));
        }
        assert_eq!(Language::of_number(Language::ALL.len() as u8), None);
        let all = extensions.len();
        extensions.sort();
        extensions.dedup();
        assert_eq!(extensions.len(), all);
    }
}
