//! The house: `engine` <- `tools` <- `protocol` <- `transport` <- `cli` and `main`. A file names things only to its left.

use std::fs;
use std::path::{Path, PathBuf};

const LAYERS: [&str; 5] = ["engine", "tools", "protocol", "transport", "cli"];

/// What a layer must not know, however it gets at it.
const UNKNOWN: [(&str, &[&str]); 3] = [
    ("engine", &["serde", "tokio", "hyper", "sonic_rs", "json"]),
    ("tools", &["tokio", "hyper", "http"]),
    ("protocol", &["tokio", "hyper", "std::io", "std::fs", "std::net", "async ", ".await"]),
];

fn sources(folder: &Path) -> Vec<(PathBuf, String)> {
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    entries
        .flat_map(|path| match path.is_dir() {
            true => sources(&path),
            false => vec![(path.clone(), fs::read_to_string(&path).expect("a source"))],
        })
        .collect()
}

fn layer(name: &str) -> Vec<(PathBuf, String)> {
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(name))
}

/// The code of a file: without its comments, and without its unit tests, which stand at its end.
fn code(text: &str) -> String {
    let code = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
    code.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_layer_names_only_layers_to_its_left() {
    for (rank, name) in LAYERS.iter().enumerate() {
        for (path, text) in layer(name) {
            for right in &LAYERS[rank + 1..] {
                let arrow = format!("crate::{right}");
                assert!(!code(&text).contains(&arrow), "{} names {arrow}", path.display());
            }
        }
    }
}

#[test]
fn a_layer_does_not_know_what_it_must_not_know() {
    for (name, words) in UNKNOWN {
        for (path, text) in layer(name) {
            for word in words {
                assert!(!code(&text).contains(word), "{} knows {word:?}", path.display());
            }
        }
    }
}

#[test]
fn the_transport_never_matches_on_engine_errors() {
    // It may say that time is up, and drop what was called off; what an error means is the protocol's.
    for (path, text) in layer("transport") {
        let code = code(&text);
        for named in code.split(" Error::").skip(1).chain(code.split("(Error::").skip(1)) {
            let variant: String = named.chars().take_while(|c| c.is_alphanumeric()).collect();
            assert!(["TimedOut", "Cancelled", "other"].contains(&&*variant), "{}: {variant}", path.display());
        }
    }
}

#[test]
fn unsafe_code_lives_in_five_leaves() {
    let mut with_unsafe: Vec<String> = sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"))
        .into_iter()
        .filter(|(_, text)| code(text).contains("unsafe "))
        .map(|(path, _)| path.file_name().unwrap().to_str().unwrap().to_owned())
        .collect();
    with_unsafe.sort();
    assert_eq!(with_unsafe, ["fault.rs", "heap.rs", "image.rs", "shuffle.rs", "view.rs"]);
}
