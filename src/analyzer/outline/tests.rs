//! Each language by its fixture: what it defines, in which lines, as a person would tell it.

use analyzer_wire::{Language, Made, Outline, Wanted};

use crate::Analyser;

/// The outline as text: kind, path, first line with comments, line, last line, signature; `+` before what is public.
fn told(outline: &Outline) -> String {
    let mut text = String::new();
    for one in &outline.definitions {
        let mut path = vec![one.name.as_str()];
        let mut parent = one.parent;
        while let Some(at) = parent {
            let around = &outline.definitions[at as usize];
            path.insert(0, &around.name);
            parent = around.parent;
        }
        let (sign, bare) = (if one.is_public { "+" } else { "-" }, if one.is_bare { " (bare)" } else { "" });
        let path = path.join(" > ");
        text.push_str(&format!(
            "{sign} {:?} {path} {}:{}-{} {}{bare}\n",
            one.kind, one.first, one.line, one.last, one.signature
        ));
    }
    text
}

fn outline(language: Language, text: &[u8]) -> Outline {
    match Analyser::default().analyse(Wanted::Outline, language, text) {
        Ok(Made::Outline(outline)) => outline,
        other => panic!("{language:?}: {other:?}"),
    }
}

/// Compares with what a person tells of the fixture.
fn check(name: &str, language: Language) {
    let folder = format!("{}/outline/fixtures", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read(format!("{folder}/{name}.txt")).unwrap();
    let outline = outline(language, &text);
    assert_eq!(outline.error, None, "{name}: {outline:?}");
    let (told, path) = (told(&outline), format!("{folder}/{name}.outline"));
    let expected = std::fs::read_to_string(&path).unwrap();
    for (told, expected) in told.lines().zip(expected.lines()) {
        assert_eq!(told, expected, "{name}");
    }
    assert_eq!(told.lines().count(), expected.lines().count(), "{name}: {told}");
}

macro_rules! fixtures {
    ($($name:ident: $language:ident),* $(,)?) => {$(
        #[test]
        fn $name() {
            check(stringify!($name), Language::$language);
        }
    )*};
}

fixtures! {
    rust: Rust,
    python: Python,
    typescript: TypeScript,
    javascript: JavaScript,
    go: Go,
    java: Java,
    c: C,
    cpp: Cpp,
    csharp: CSharp,
    ruby: Ruby,
    php: Php,
    kotlin: Kotlin,
    bash: Bash,
    markdown: Markdown,
    toml: Toml,
    yaml: Yaml,
    json: Json,
}

#[test]
fn a_text_that_is_deep_or_no_code_at_all_is_told_of_without_harm() {
    let deep = |open: &str, close: &str| [open.repeat(20_000), close.repeat(20_000)].concat();
    for (language, text) in [
        (Language::Rust, deep("mod a { ", "}")),
        (Language::TypeScript, deep("namespace a { ", "}")),
        (Language::Json, deep("{\"a\":", "}")),
        (Language::Rust, "fn ".repeat(50_000)),
        (Language::Python, "class A:\n".repeat(20_000)),
        (Language::Markdown, "#".repeat(1 << 20)),
        (Language::Markdown, "# a\n".repeat(1 << 18)),
        (Language::Python, "x".repeat(1 << 20)),
    ] {
        // An error of the file is an answer, too.
        match Analyser::default().analyse(Wanted::Outline, language, text.as_bytes()) {
            Ok(Made::Outline(outline)) => {
                assert!(
                    outline.definitions.iter().all(|one| one.signature.len() < 300 && one.name.len() < 300)
                );
            }
            Ok(other) => panic!("{other:?}"),
            Err(_) => {}
        }
    }
}

#[test]
fn errors_are_counted_and_the_first_one_is_placed() {
    let found = outline(Language::Rust, b"fn a() {}\nfn b( {}\nfn c() {}\n");
    assert!(found.errors > 0 && found.error.is_some_and(|error| error.line == 2), "{found:?}");
    assert!(found.definitions.iter().any(|one| one.name == "a"), "{found:?}");
}

#[test]
fn lines_end_in_any_break() {
    for text in ["fn a() {}\n\nfn b() {}\n", "fn a() {}\r\n\r\nfn b() {}\r\n", "fn a() {}\r\rfn b() {}\r"] {
        let found = outline(Language::Rust, text.as_bytes());
        assert_eq!(told(&found), "- Function a 1:1-1 fn a()\n- Function b 3:3-3 fn b()\n", "{text:?}");
    }
    let found = outline(Language::Markdown, b"\xEF\xBB\xBF# a\rb\r# c");
    assert_eq!(told(&found), "+ Heading a 1:1-2 # a\n+ Heading c 3:3-3 # c\n");
}
