//! A bare walk that formats a tree as `directory_tree` tells it, inside a JSON string: reads each folder, sorts its
//! names, writes the bytes. Checks nothing.

use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use rustix::fs::{CWD, Dir, FileType, Mode, OFlags};

/// The text of the tree below `folder`.
pub(crate) fn format(folder: &Path) -> io::Result<Vec<u8>> {
    let mut out = Vec::new();
    out.push(b'[');
    let folder = open(CWD, folder.as_os_str().as_encoded_bytes())?;
    if entries(&folder, 1, &mut out)? {
        out.extend_from_slice(b"\\n");
    }
    out.push(b']');
    Ok(out)
}

fn open(beneath: impl AsFd, name: &[u8]) -> io::Result<OwnedFd> {
    Ok(rustix::fs::openat(
        beneath,
        name,
        OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC,
        Mode::empty(),
    )?)
}

/// Writes the entries of a folder. Returns whether there are any.
fn entries(folder: &OwnedFd, level: usize, out: &mut Vec<u8>) -> io::Result<bool> {
    let mut names = Vec::new();
    for entry in Dir::read_from(folder)? {
        let entry = entry?;
        if !matches!(entry.file_name().to_bytes(), b"." | b"..") {
            names.push((entry.file_name().to_owned(), entry.file_type() == FileType::Directory));
        }
    }
    names.sort_unstable();
    for (number, (name, is_folder)) in names.iter().enumerate() {
        let (outer, inner, comma) = (4 * level - 2, 4 * level, if number == 0 { "" } else { "," });
        write!(out, "{comma}\\n{:outer$}{{\\n{:inner$}\\\"name\\\": \\\"", "", "")?;
        out.extend_from_slice(name.to_bytes());
        write!(out, "\\\",\\n{:inner$}\\\"type\\\": ", "")?;
        if *is_folder {
            write!(out, "\\\"directory\\\",\\n{:inner$}\\\"children\\\": [", "")?;
            if entries(&open(folder, name.to_bytes())?, level + 1, out)? {
                write!(out, "\\n{:inner$}", "")?;
            }
            out.push(b']');
        } else {
            out.extend_from_slice(b"\\\"file\\\"");
        }
        write!(out, "\\n{:outer$}}}", "")?;
    }
    Ok(!names.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_is_that_of_the_tool() {
        let folder = std::env::temp_dir().join(format!("load-tree-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("a/b")).unwrap();
        std::fs::write(folder.join("a/c"), "").unwrap();
        std::fs::create_dir_all(folder.join("d")).unwrap();
        let text = String::from_utf8(format(&folder).unwrap()).unwrap();
        std::fs::remove_dir_all(&folder).unwrap();
        let text: String = serde_json::from_str(&format!("\"{text}\"")).unwrap();
        let value = serde_json::json!([
            { "name": "a", "type": "directory", "children": [
                { "name": "b", "type": "directory", "children": [] },
                { "name": "c", "type": "file" },
            ] },
            { "name": "d", "type": "directory", "children": [] },
        ]);
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap(), value);
        assert!(text.starts_with(
            "[\n  {\n    \"name\": \"a\",\n    \"type\": \"directory\",\n    \"children\": [\n      {\n"
        ));
        assert!(text.ends_with("\"children\": []\n  }\n]"), "{text}");
    }
}
