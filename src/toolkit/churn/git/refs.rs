//! The commit that `HEAD` leads to, by files of refs and by `packed-refs`.

use std::path::Path;

use super::id::{HashKind, ObjectId};
use super::store::read_file;
use crate::churn::fault::{Fault, Result};
use engine::FolderHandle;
use folder::Control;

/// The longest chain of refs that name other refs, as in git.
const MAX_CHAIN: usize = 5;

/// The longest file of one ref, in bytes.
const MAX_REF: usize = 4 << 10;

/// The longest `packed-refs`, in bytes.
const MAX_PACKED: usize = 64 << 20;

/// The commit of `HEAD` in the repository folder. `None` if the branch has no commit yet.
pub fn head(git: &FolderHandle, kind: HashKind, control: &Control) -> Result<Option<ObjectId>> {
    let mut name = "HEAD".to_owned();
    for _ in 0..MAX_CHAIN {
        let damaged = |why| Fault::damaged(&name, why);
        let view = read_file(git, Path::new(&name), control)?;
        let Some(view) = view else {
            if name == "HEAD" {
                return Err(damaged("it is missing"));
            }
            return packed(git, &name, kind, control);
        };
        if view.bytes().len() > MAX_REF {
            return Err(damaged("it is too long for a ref"));
        }
        let text = String::from_utf8_lossy(view.bytes()).trim_end().to_owned();
        match text.strip_prefix("ref:") {
            None => {
                let digits = text.split_ascii_whitespace().next().unwrap_or_default();
                let id = ObjectId::parse(digits.as_bytes(), kind);
                return id.map(Some).ok_or_else(|| damaged("it names no commit"));
            }
            Some(target) if is_ref(target.trim()) => name = target.trim().into(),
            Some(_) => return Err(damaged("it names no ref")),
        }
    }
    Err(Fault::damaged("HEAD", "its refs name each other"))
}

/// Whether a name is one below `refs/`, so that it leads to no other file.
fn is_ref(name: &str) -> bool {
    name.starts_with("refs/")
        && !name.contains(|c: char| c.is_control())
        && name.split('/').all(|part| !matches!(part, "" | "." | ".."))
}

/// The commit of the ref `name` in `packed-refs`.
fn packed(git: &FolderHandle, name: &str, kind: HashKind, control: &Control) -> Result<Option<ObjectId>> {
    let Some(view) = read_file(git, Path::new("packed-refs"), control)? else { return Ok(None) };
    if view.bytes().len() > MAX_PACKED {
        return Err(Fault::damaged("packed-refs", "it is larger than 64 MiB"));
    }
    let found = view.bytes().split(|&byte| byte == b'\n').find_map(|line| {
        let (digits, rest) = line.split_at_checked(2 * kind.len_bytes())?;
        (rest.strip_prefix(b" ")?.trim_ascii_end() == name.as_bytes()).then(|| ObjectId::parse(digits, kind))
    });
    match found {
        Some(None) => Err(Fault::damaged("packed-refs", "it names no commit")),
        found => Ok(found.flatten()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_below_refs_are_refs() {
        assert!(is_ref("refs/heads/main") && is_ref("refs/heads/a b/\u{e4}"));
        for name in
            ["HEAD", "refs/../config", "refs//a", "/refs/a", "refs/./a", "refs/a\0", "refs/", "../refs/a"]
        {
            assert!(!is_ref(name), "{name}");
        }
    }
}
