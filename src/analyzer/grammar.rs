//! The grammar of each language, and what its nodes count.

use std::sync::OnceLock;

use analyzer_wire::Language;

use super::kinds::{Grammar, Kinds, Table};
use super::{javascript, python, rust};

/// Number of grammars.
pub(super) const GRAMMARS: usize = 16;

/// The number of a language's grammar, which languages may share. Below [`GRAMMARS`].
pub(super) fn grammar_number(language: Language) -> usize {
    match language {
        Language::Rust => 0,
        Language::Python => 1,
        Language::TypeScript => 2,
        // The grammar of TypeScript with JSX is that of JavaScript and more.
        Language::JavaScript | Language::Tsx => 3,
        Language::Go => 4,
        Language::Java => 5,
        Language::C => 6,
        Language::Cpp => 7,
        Language::CSharp => 8,
        Language::Ruby => 9,
        Language::Php => 10,
        Language::Kotlin => 11,
        Language::Bash => 12,
        Language::Toml => 13,
        Language::Yaml => 14,
        // Markdown is read without a grammar.
        Language::Json | Language::Markdown => 15,
    }
}

/// The grammar of a language.
pub(super) fn grammar(language: Language) -> Grammar {
    match language {
        Language::Rust => tree_sitter_rust::LANGUAGE.into(),
        Language::Python => tree_sitter_python::LANGUAGE.into(),
        Language::TypeScript => tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into(),
        Language::JavaScript | Language::Tsx => tree_sitter_typescript::LANGUAGE_TSX.into(),
        Language::Go => tree_sitter_go::LANGUAGE.into(),
        Language::Java => tree_sitter_java::LANGUAGE.into(),
        Language::C => tree_sitter_c::LANGUAGE.into(),
        Language::Cpp => tree_sitter_cpp::LANGUAGE.into(),
        Language::CSharp => tree_sitter_c_sharp::LANGUAGE.into(),
        Language::Ruby => tree_sitter_ruby::LANGUAGE.into(),
        Language::Php => tree_sitter_php::LANGUAGE_PHP.into(),
        Language::Kotlin => tree_sitter_kotlin_ng::LANGUAGE.into(),
        Language::Bash => tree_sitter_bash::LANGUAGE.into(),
        Language::Toml => tree_sitter_toml_ng::LANGUAGE.into(),
        Language::Yaml => tree_sitter_yaml::LANGUAGE.into(),
        Language::Json | Language::Markdown => tree_sitter_json::LANGUAGE.into(),
    }
}

/// What the nodes of a language count.
pub(super) fn kinds(language: Language) -> &'static Kinds {
    static KINDS: [OnceLock<Kinds>; GRAMMARS] = [const { OnceLock::new() }; GRAMMARS];
    KINDS[grammar_number(language)].get_or_init(|| Kinds::new(&grammar(language), table(language)))
}

fn table(language: Language) -> Table {
    match language {
        Language::Rust => rust::TABLE,
        Language::Python => python::TABLE,
        Language::JavaScript | Language::TypeScript | Language::Tsx => javascript::TABLE,
        // Nothing of the others is measured.
        _ => &[],
    }
}

/// What stands between a type and its method in a name.
pub(super) fn separator(language: Language) -> &'static str {
    if language == Language::Rust { "::" } else { "." }
}

#[cfg(test)]
mod tests {
    use super::super::kinds::unknown_names;
    use super::*;

    #[test]
    fn each_grammar_has_all_names_of_its_table() {
        for language in Language::MEASURED {
            let unknown = unknown_names(&grammar(language), table(language));
            let of_jsx =
                |name: &&str| language == Language::TypeScript && javascript::JSX_ALONE.contains(name);
            let unknown: Vec<&str> = unknown.into_iter().filter(|name| !of_jsx(name)).collect();
            assert_eq!(unknown, Vec::<&str>::new(), "{language:?}");
        }
    }
}
