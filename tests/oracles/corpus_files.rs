//! The files of corpus.rs: sources and documents of this package's dependencies, as they lie in the registry, and files
//! that are made here. The registry is only read.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::model::{self, BOM};
use crate::support::MB;

pub(super) const BIG: &str = "synthesized-50mb.rs";

pub(super) fn real_files() -> BTreeMap<String, Vec<u8>> {
    let mut by_extension: BTreeMap<String, Vec<(u64, String, PathBuf)>> = BTreeMap::new();
    for package in unpacked_packages() {
        let mut paths = Vec::new();
        walk(&package, &mut paths);
        for (size, path) in paths {
            let extension = path.extension().map_or_else(String::new, |e| e.to_string_lossy().to_lowercase());
            let name = flat_name(package.parent().expect("a registry"), &path);
            by_extension.entry(extension).or_default().push((size, name, path));
        }
    }
    assert!(12 <= by_extension.len(), "only these kinds of files: {:?}", by_extension.keys());

    // Of each kind some, from the smallest to the largest.
    let mut corpus = BTreeMap::new();
    for (extension, mut files) in by_extension {
        files.sort();
        let wanted = if extension == "rs" { 200 } else { 40 };
        let step = files.len().div_ceil(wanted);
        let last = files.len() - 1;
        for (at, (_, name, path)) in files.into_iter().enumerate() {
            if at % step == 0 || at == last {
                let file = std::fs::read(&path).expect("a readable source");
                let file = with_other_breaks(file, corpus.len());
                corpus.insert(name, file);
            }
        }
    }
    corpus
}

/// The folders of the packages of Cargo.lock that lie unpacked in the registry.
fn unpacked_packages() -> Vec<PathBuf> {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(std::env::home_dir()?.join(".cargo"))).expect("a home of cargo");
    let mut registries = entries(&home.join("registry/src"));
    registries.sort();
    let lock = include_str!("../../Cargo.lock");
    let field = |line: &str, key: &str| {
        line.strip_prefix(key)?.strip_prefix(" = \"")?.strip_suffix('"').map(str::to_owned)
    };
    let names = lock.lines().filter_map(|line| field(line, "name"));
    let versions =
        lock.lines().skip_while(|line| !line.starts_with("[[package]]")).filter_map(|l| field(l, "version"));
    let packages: Vec<String> =
        names.zip(versions).map(|(name, version)| format!("{name}-{version}")).collect();
    let mut found = BTreeMap::new();
    for registry in registries {
        for package in &packages {
            let path = registry.join(package);
            if path.is_dir() {
                found.entry(package.clone()).or_insert(path);
            }
        }
    }
    found.into_values().collect()
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    entries.map(|entry| entry.expect("an entry").path()).collect()
}

fn walk(folder: &Path, files: &mut Vec<(u64, PathBuf)>) {
    for path in entries(folder) {
        let meta = path.symlink_metadata().expect("an entry");
        if meta.is_dir() {
            walk(&path, files);
        } else if meta.is_file() {
            files.push((meta.len(), path));
        }
    }
}

/// `crate-1.0/src/lib.rs` as `crate-1.0__src__lib.rs`, in the characters of the portable policy.
fn flat_name(root: &Path, path: &Path) -> String {
    let relative = path.strip_prefix(root).expect("below the registry").to_string_lossy().replace('/', "__");
    let name: String = relative
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '-' })
        .collect();
    if name.len() <= 255 { name } else { format!("cut{}", &name[name.len() - 252..]) }
}

/// A third of the text files in CRLF, a few with lone CR, some without a final break.
fn with_other_breaks(file: Vec<u8>, at: usize) -> Vec<u8> {
    let Some(mut lines) = model::split_lines(&file) else { return file };
    let brk = match at % 30 {
        1 => Some("\r"),
        at if at % 3 == 0 => Some("\r\n"),
        _ => None,
    };
    for line in &mut lines {
        line.brk = brk.unwrap_or(line.brk);
    }
    if let Some(last) = lines.last_mut().filter(|last| at % 7 == 2 && !last.text.is_empty()) {
        last.brk = "";
    }
    let mut converted = if file.starts_with(BOM) { BOM.to_vec() } else { Vec::new() };
    for line in &lines {
        converted.extend_from_slice(line.text.as_bytes());
        converted.extend_from_slice(line.brk.as_bytes());
    }
    converted
}

pub(super) fn synthesized(text: &[u8]) -> Vec<(String, Vec<u8>)> {
    let mut big = Vec::with_capacity(50 * MB);
    while big.len() + text.len() <= 50 * MB {
        big.extend_from_slice(text);
    }
    big.resize(50 * MB, b'x');
    let mut one_line = "漢é😀 and so on, ".repeat(5 * MB / 24).into_bytes();
    one_line.resize(5 * MB, b'.');
    let files: [(&str, &[u8]); 10] = [
        (BIG, &big),
        ("synthesized-one-line-5mb", &one_line),
        ("synthesized-empty", b""),
        ("synthesized-only-breaks", b"\n\r\n\r\r\r\n\n"),
        ("synthesized-one-break", b"\r"),
        ("synthesized-bom.txt", "\u{FEFF}héad\r\nbody\r\n".as_bytes()),
        ("synthesized-only-bom.txt", BOM),
        ("synthesized-latin1.txt", b"caf\xE9\n"),
        ("synthesized-nul.bin", b"text\n\0more\n"),
        ("synthesized-late-nul.bin", &[&one_line[..], b"\0"].concat()),
    ];
    files.into_iter().map(|(name, file)| (name.to_owned(), file.to_vec())).collect()
}
