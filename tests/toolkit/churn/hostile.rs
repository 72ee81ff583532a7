//! Damaged and made-up objects cost an error that names the object, never a crash, and bounded time and memory.

use std::fs;
use std::io::Write;
use std::path::PathBuf;

use flate2::Compression;
use flate2::write::ZlibEncoder;
use serde_json::json;

use super::{Repository, analyze, lines};
use crate::support::{Mcp, Stdio};

const ANY: &str = "1111111111111111111111111111111111111111";
const OTHER: &str = "2222222222222222222222222222222222222222";

fn deflated(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).expect("in memory");
    encoder.finish().expect("in memory")
}

impl Repository {
    /// Writes the object with this name, whatever its content is.
    fn forge(&self, name: &str, head: &str, content: &[u8]) {
        let folder = self.folder.path().join(".git/objects").join(&name[..2]);
        fs::create_dir_all(&folder).expect("a folder");
        let bytes = [head.as_bytes(), b"\0", content].concat();
        let path = folder.join(&name[2..]);
        drop(fs::remove_file(&path));
        fs::write(path, deflated(&bytes)).expect("an object");
    }

    /// Makes a commit with this tree the one of `HEAD`.
    fn forge_head(&self, tree: &str) {
        let date = super::now();
        let commit = format!("tree {tree}\nauthor A <a> {date} +0000\ncommitter A <a> {date} +0000\n\nx");
        let name = "aa".repeat(20);
        self.forge(&name, &format!("commit {}", commit.len()), commit.as_bytes());
        fs::write(self.folder.path().join(".git/refs/heads/main"), name).expect("a ref");
    }

    fn forge_tree(&self, name: &str, entries: &[(&str, &str)]) {
        let mut content = Vec::new();
        for (entry, id) in entries {
            content.extend_from_slice(entry.as_bytes());
            content.push(0);
            let digit = |at: usize| u8::from_str_radix(&id[at..at + 2], 16).expect("digits");
            content.extend((0..40).step_by(2).map(digit));
        }
        self.forge(name, &format!("tree {}", content.len()), &content);
    }

    #[track_caller]
    fn refusal(&self, server: &Stdio) -> String {
        let _ = self;
        server.refused("analyze_code_churn", json!({ "project_path": "." }))
    }

    fn packs(&self, extension: &str) -> Vec<PathBuf> {
        let folder = fs::read_dir(self.folder.path().join(".git/objects/pack")).expect("packs");
        let paths = folder.map(|entry| entry.expect("an entry").path());
        paths.filter(|path| path.extension().is_some_and(|found| found == extension)).collect()
    }
}

#[test]
fn heads_that_lie_are_refused_and_name_the_object() {
    let Some(repository) = Repository::new() else { return };
    repository.forge_head(ANY);
    let server = repository.serve(&[]);
    let wrong: [(&str, &[u8]); 6] = [
        ("tree 99999999999999", b""),
        ("tree 18446744073709551616", b""),
        ("tree 5", b"abc"),
        ("blob 0", b""),
        ("tree", b""),
        ("tree 9", b"100644 ab"),
    ];
    for (head, content) in wrong {
        repository.forge(ANY, head, content);
        let line = repository.refusal(&server);
        assert!(line.contains(ANY), "{head}: {line}");
    }
    repository.forge(ANY, "tree 0", b"");
    assert_eq!(analyze(&server, json!({}))["summary"]["commits"], 1);
}

#[test]
fn a_stream_that_inflates_to_more_than_it_says_is_refused() {
    let Some(repository) = Repository::new() else { return };
    repository.forge_head(ANY);
    repository.forge(ANY, "tree 10", &vec![0; 200 << 20]);
    let line = repository.refusal(&repository.serve(&[]));
    assert!(line.contains(ANY) && line.contains("size"), "{line}");
}

#[test]
fn folders_that_hold_themselves_end() {
    not_under_wine!("wine shows links of this machine as what they lead to, and opens nothing through most");
    let Some(repository) = Repository::new() else { return };
    repository.forge_head(ANY);
    repository.forge_tree(ANY, &[("40000 a", ANY)]);
    let server = repository.serve(&[]);
    let line = repository.refusal(&server);
    assert!(line.contains(ANY) && line.contains("nested too deeply"), "{line}");
    // Ten names for one folder, ten times: 10^10 files.
    let name = |level: usize| format!("{level:02}").repeat(20);
    let names: Vec<String> = (0..10).map(|number| format!("40000 {number}")).collect();
    for level in 0..10 {
        let below = name(level + 1);
        let entries: Vec<(&str, &str)> = names.iter().map(|entry| (&**entry, &*below)).collect();
        repository.forge_tree(&name(level), &entries);
    }
    repository.forge_tree(&name(10), &[("100644 file", OTHER)]);
    repository.forge(OTHER, "blob 1", b"x");
    repository.forge_head(&name(0));
    let churn = analyze(&server, json!({}));
    assert!(
        churn["summary"]["notes"][0].as_str().is_some_and(|note| note.contains("too many files")),
        "{churn}"
    );
    assert_eq!(churn["summary"]["commits"], 1);
}

#[test]
fn a_file_that_is_too_large_is_counted_without_lines() {
    let Some(repository) = Repository::new() else { return };
    repository.put("large", "a line\n".repeat(3 << 20));
    repository.put("small", lines(3));
    repository.commit(1);
    let churn = repository.churn();
    let large = &churn["files"].as_array().expect("files").iter().find(|file| file["path"] == "large");
    assert_eq!(large.expect("the file")["uncounted_changes"], 1);
    assert_eq!(churn["summary"]["lines_added"], 3);
    assert!(churn["summary"]["notes"][0].as_str().is_some_and(|note| note.contains("16 MiB")), "{churn}");
}

#[test]
fn commits_that_are_their_own_parents_are_refused() {
    let Some(repository) = Repository::new() else { return };
    let (name, date) = ("aa".repeat(20), super::now());
    let commit =
        format!("tree {ANY}\nparent {name}\nauthor A <a> {date} +0000\ncommitter A <a> {date} +0000\n\n");
    repository.forge(&name, &format!("commit {}", commit.len()), commit.as_bytes());
    repository.forge_tree(ANY, &[]);
    fs::write(repository.folder.path().join(".git/refs/heads/main"), name).expect("a ref");
    let line = repository.refusal(&repository.serve(&[]));
    assert!(line.contains("parents of each other"), "{line}");
}

#[test]
fn packs_and_indexes_with_any_byte_changed_or_cut_crash_nothing() {
    let Some(repository) = Repository::new() else { return };
    for days in (1..20).rev() {
        repository.put("a", lines(200 + days as usize));
        repository.put(&format!("b{}", days % 3), lines(days as usize));
        repository.commit(days);
    }
    repository.git(&["repack", "-adfq", "--depth=50"]);
    let server = repository.serve(&[]);
    let good = analyze(&server, json!({}));
    for extension in ["pack", "idx"] {
        let path = repository.packs(extension).pop().expect("a pack");
        let whole = fs::read(&path).expect("its bytes");
        let mut refused = 0;
        for step in 0..60 {
            let mut bytes = whole.clone();
            let at = step * (whole.len() - 1) / 59;
            if step % 4 == 3 {
                bytes.truncate(at);
            } else {
                bytes[at] ^= 1 << (step % 8);
            }
            // Another file: git marks packs as read-only, and the old one may be mapped.
            fs::remove_file(&path).expect("removed");
            fs::write(&path, bytes).expect("written");
            let result = server.tool("analyze_code_churn", json!({ "project_path": "." }));
            refused += usize::from(result.is_error);
        }
        assert!(refused > 0, "{extension}: no damage was noticed");
        fs::remove_file(&path).expect("removed");
        fs::write(&path, &whole).expect("written");
    }
    assert_eq!(analyze(&server, json!({}))["files"], good["files"]);
}

#[test]
fn refs_that_lead_in_a_circle_or_elsewhere_are_refused() {
    let Some(repository) = Repository::new() else { return };
    repository.put("a", "a");
    repository.commit(1);
    let server = repository.serve(&[]);
    for (head, part) in [
        ("ref: refs/heads/loop", "name each other"),
        ("ref: refs/../config", "names no ref"),
        ("ref: /etc/passwd", "names no ref"),
        ("zz", "names no commit"),
        ("", "names no commit"),
    ] {
        fs::write(repository.folder.path().join(".git/refs/heads/loop"), "ref: refs/heads/loop")
            .expect("a ref");
        fs::write(repository.folder.path().join(".git/HEAD"), head).expect("HEAD");
        let line = repository.refusal(&server);
        assert!(line.contains(part), "{head}: {line}");
    }
}
