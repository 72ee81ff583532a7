//! What Cargo cannot say of the crates in `src/`. It keeps their arrows; within the server's, the layers are
//! `tools` <- `protocol` <- `exec` <- `transport` <- `cli` and `main`: a file names things only to its left.

use std::fs;
use std::path::Path;

mod forms;
mod paths;

/// The crates beside the server's, by their folders.
const CRATES: [&str; 10] = [
    "analyzer",
    "analyzer_wire",
    "engine",
    "folder",
    "journal",
    "search",
    "switches",
    "sys",
    "text",
    "toolkit",
];

const LAYERS: [&str; 5] = ["tools", "protocol", "exec", "transport", "cli"];

/// The words and the paths that must not be in a crate or layer.
const UNKNOWN: [(&str, &[&str]); 7] = [
    ("text", &["std::fs", "std::time"]),
    ("journal", &["std::fs", "std::time", "std::thread"]),
    ("search", &["std::fs", "std::time", "std::thread"]),
    // A process that the engine does not start is taken for an orphan by the first process of a container.
    ("toolkit", &[".spawn()"]),
    ("tools", &["tokio", "hyper", "http"]),
    (
        "protocol",
        &[
            "tokio",
            "hyper",
            "std::io",
            "std::fs",
            "std::net",
            "async ",
            ".await",
            "tracing",
            "::now(",
            "elapsed(",
            "catch_unwind",
            ".run(",
        ],
    ),
    ("exec", &["hyper", "std::net", "std::fs", "sonic_rs"]),
];

/// A source file, by its path below `src/`.
struct Source {
    file: String,
    code: String,
    /// With its unit tests.
    whole: String,
}

impl Source {
    /// A file without its unit tests, which stand at its end, or are the whole file.
    fn new(file: &str, text: &str) -> Source {
        let is_test = file.ends_with("/tests.rs") || file.contains("/tests/");
        let code = text.split("#[cfg(test)]\nmod tests").next().filter(|_| !is_test).unwrap_or_default();
        Source { file: file.into(), code: code.into(), whole: text.into() }
    }

    /// The same file as if its unit tests were a part of its code.
    fn with_tests(self) -> Source {
        Source { code: self.whole.clone(), ..self }
    }

    /// The first folder of its path, if there is one.
    fn folder(&self) -> Option<&str> {
        self.file.split_once('/').map(|(folder, _)| folder)
    }

    /// The place of its layer in the order; nothing for `main.rs` and for other crates.
    fn rank(&self) -> Option<usize> {
        LAYERS.iter().position(|layer| self.folder() == Some(layer))
    }

    /// The crate of the file; nothing for the server's.
    fn of_crate(&self) -> Option<&str> {
        self.folder().filter(|folder| CRATES.contains(folder))
    }

    /// The path of its module in its crate.
    fn module(&self) -> Vec<String> {
        let path = self.file.trim_end_matches(".rs").trim_end_matches("/mod");
        let path = path.split('/').skip(usize::from(self.of_crate().is_some()));
        path.filter(|name| *name != "lib").map(str::to_owned).collect()
    }

    fn paths(&self) -> Vec<String> {
        paths::paths(&self.module(), &self.code).iter().map(|path| path.join("::")).collect()
    }

    /// Its code without comments, as text.
    fn text(&self) -> String {
        self.code.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
    }

    /// The paths to the layers on its right, and what could name any path: a glob, another name of the crate, an include.
    fn wrong_arrows(&self) -> Vec<String> {
        let Some(rank) = self.rank() else { return Vec::new() };
        let to_the_right = |path: &str| {
            let layer = path.strip_prefix("crate::").and_then(|rest| rest.split("::").next());
            layer.is_some_and(|layer| layer == "*" || LAYERS[rank + 1..].contains(&layer)) || path == "crate"
        };
        let by_another_name = paths::words(&self.code).windows(3).any(|w| w[..2] == ["extern", "crate"]);
        let by_file = ["include!", "#[path"].into_iter().filter(|by| self.text().contains(by));
        let arrows = self.paths().into_iter().filter(|path| to_the_right(path));
        arrows
            .chain(by_another_name.then(|| "extern crate".into()))
            .chain(by_file.map(str::to_owned))
            .collect()
    }

    /// Which words and paths of `unknown` are in it.
    fn knows(&self, unknown: &[&str]) -> Vec<String> {
        let paths = self.paths();
        let text = self.text();
        let known = |what: &&&str| text.contains(**what) || paths.iter().any(|path| path.starts_with(**what));
        unknown.iter().filter(known).map(|what| (*what).to_owned()).collect()
    }

    /// The variants of the error of a folder that it names. It may name the timeout and the cancellation; the meaning of all
    /// other errors belongs to the protocol. Another name for the error or a glob could name any variant.
    fn errors(&self) -> Vec<String> {
        const ALLOWED: [&str; 3] = ["TimedOut", "Cancelled", "other"];
        let of_error = |path: &String| {
            let (_, variant) =
                format!("::{path}").split_once("::Error::").map(|(a, b)| (a.to_owned(), b.to_owned()))?;
            (!ALLOWED.contains(&variant.as_str())).then(|| path.clone())
        };
        let words = paths::words(&self.code);
        let renamed = words.windows(2).any(|pair| pair == ["Error", "as"]).then(|| "Error as".to_owned());
        self.paths().iter().filter_map(of_error).chain(renamed).collect()
    }
}

fn sources(folder: &Path) -> Vec<Source> {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    entries
        .flat_map(|path| match path.is_dir() {
            true => sources(&path),
            false if path.extension().is_none_or(|extension| extension != "rs") => Vec::new(),
            false => {
                let file = path.strip_prefix(&src).expect("below src").to_str().expect("UTF-8");
                vec![Source::new(file, &fs::read_to_string(&path).expect("a source"))]
            }
        })
        .collect()
}

fn all() -> Vec<Source> {
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"))
}

fn layer(name: &str) -> Vec<Source> {
    all().into_iter().filter(|source| source.folder() == Some(name)).collect()
}

#[test]
fn a_layer_names_only_layers_to_its_left() {
    for source in all() {
        assert_eq!(source.wrong_arrows(), [""; 0], "{}", source.file);
    }
    // The uses that should be there are found.
    for pair in LAYERS.windows(2).take(3) {
        let left = format!("crate::{}::", pair[0]);
        let names_it = |source: &Source| source.paths().iter().any(|path| path.starts_with(&left));
        assert!(layer(pair[1]).iter().any(names_it), "{} does not name {left}", pair[1]);
    }
}

#[test]
fn folders_that_do_not_know_each_other_do_not_name_each_other() {
    for (folder, unknown) in [
        ("text/text_edit/table/", &["crate::text_edit::search", "crate::text_edit::diagnose"][..]),
        ("text/text_edit/search/", &["crate::text_edit::diagnose"]),
    ] {
        let sources: Vec<Source> =
            all().into_iter().filter(|source| source.file.starts_with(folder)).collect();
        assert!(5 <= sources.len(), "{folder} holds {} files", sources.len());
        for source in sources {
            assert_eq!(source.knows(unknown), [""; 0], "{}", source.file);
        }
    }
}

/// For each file the other files that it names, by their numbers, without its parents and children: those may name each
/// other.
fn named_files(sources: &[Source]) -> Vec<Vec<usize>> {
    let modules: Vec<String> =
        sources.iter().map(|source| format!("crate::{}", source.module().join("::"))).collect();
    let is_in = |path: &str, module: &str| {
        path.strip_prefix(module).is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
    };
    let file_of = |path: &String| {
        let holding = (0..modules.len()).filter(|&nth| is_in(path, &modules[nth]));
        holding.max_by_key(|&nth| modules[nth].len())
    };
    let related = |one: usize, other: usize| {
        is_in(&modules[one], &modules[other]) || is_in(&modules[other], &modules[one])
    };
    let others = |nth: usize| {
        let named: Vec<usize> = sources[nth].paths().iter().filter_map(file_of).collect();
        named.into_iter().filter(|&other| !related(nth, other)).collect()
    };
    (0..sources.len()).map(others).collect()
}

/// The files of a circle, if there is one: each names the next, and the last names the first.
fn circle(sources: &[Source]) -> Option<Vec<String>> {
    let named = named_files(sources);
    let mut done = vec![false; sources.len()];
    fn visit(at: usize, named: &[Vec<usize>], done: &mut [bool], way: &mut Vec<usize>) -> bool {
        if let Some(start) = way.iter().position(|&before| before == at) {
            way.drain(..start);
            return true;
        }
        if done[at] {
            return false;
        }
        way.push(at);
        if named[at].iter().any(|&next| visit(next, named, done, way)) {
            return true;
        }
        way.pop();
        done[at] = true;
        false
    }
    let mut way = Vec::new();
    let found = (0..sources.len()).any(|at| visit(at, &named, &mut done, &mut way));
    found.then(|| way.iter().map(|&nth| sources[nth].file.clone()).collect())
}

#[test]
fn no_files_name_each_other_in_a_circle() {
    for of_crate in [None].into_iter().chain(CRATES.map(Some)) {
        let sources: Vec<Source> = all().into_iter().filter(|source| source.of_crate() == of_crate).collect();
        assert!(!sources.is_empty());
        assert_eq!(circle(&sources), None);
    }
    let circle_of = |files: [(&str, &str); 3]| circle(&files.map(|(file, text)| Source::new(file, text)));
    let files = [
        ("engine/a.rs", "use super::b::B;"),
        ("engine/b.rs", "use crate::c::{self, C};"),
        ("engine/c.rs", "fn c() { super::a::a() }"),
    ];
    let found = circle_of(files).expect("a circle");
    assert_eq!(found, ["engine/a.rs", "engine/b.rs", "engine/c.rs"]);
    assert_eq!(circle_of([files[0], files[1], ("engine/c.rs", "fn c() {}")]), None);
}

#[test]
fn a_layer_does_not_name_what_it_must_not_know() {
    for (name, unknown) in UNKNOWN {
        for source in layer(name) {
            assert_eq!(source.knows(unknown), [""; 0], "{}", source.file);
        }
    }
}

#[test]
fn the_transport_never_matches_on_engine_errors() {
    for source in layer("transport") {
        assert_eq!(source.errors(), [""; 0], "{}", source.file);
    }
}

#[test]
fn only_sys_names_a_system() {
    // Their unit tests, too, which have to compile for each.
    let of_a_system =
        |source: &Source| ["sys/", "analyzer/system/"].iter().any(|door| source.file.starts_with(door));
    let others = all().into_iter().filter(|source| !of_a_system(source));
    for source in others.map(Source::with_tests) {
        assert_eq!(
            source.knows(&["rustix", "std::os", "target_os", "posix_acl"]),
            [""; 0],
            "{}",
            source.file
        );
    }
}

#[test]
fn unsafe_code_is_in_few_files() {
    let with_unsafe = |source: &Source| paths::words(&source.code).iter().any(|word| word == "unsafe");
    let mut files: Vec<String> = all().into_iter().filter(with_unsafe).map(|source| source.file).collect();
    files.sort();
    let leaves = [
        "analyzer/system/windows.rs",
        "sys/linux/faults.rs",
        "sys/linux/fs.rs",
        "sys/linux/map.rs",
        "sys/linux/memory.rs",
        "sys/linux/process.rs",
        "sys/macos/memory.rs",
        "sys/macos/process.rs",
        "sys/macos/rights.rs",
        "sys/unix/inherited.rs",
        "sys/unix/limits.rs",
        "sys/windows/content.rs",
        "sys/windows/event.rs",
        "sys/windows/file_info.rs",
        "sys/windows/io.rs",
        "sys/windows/listing.rs",
        "sys/windows/locks.rs",
        "sys/windows/lookup.rs",
        "sys/windows/memory.rs",
        "sys/windows/mounts.rs",
        "sys/windows/names.rs",
        "sys/windows/param.rs",
        "sys/windows/process.rs",
        "sys/windows/replace.rs",
        "sys/windows/rights.rs",
        "sys/windows/stdin.rs",
        "sys/windows/stdio.rs",
        "text/escape/avx2.rs",
        "transport/process/allocator.rs",
    ];
    assert_eq!(files, leaves);
}
