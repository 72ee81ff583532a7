//! The entries of a tree: the files and folders of one folder, in git's order.

use std::cmp::Ordering;

use super::id::{HashKind, ObjectId};

/// What an entry is, by its mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mode(pub u32);

impl Mode {
    const KIND: u32 = 0o170_000;

    /// A folder.
    pub fn is_folder(self) -> bool {
        self.0 & Mode::KIND == 0o040_000
    }

    /// The commit of a submodule.
    pub fn is_submodule(self) -> bool {
        self.0 & Mode::KIND == 0o160_000
    }

    /// A file, executable or not, and no link.
    pub fn is_regular(self) -> bool {
        self.0 & Mode::KIND == 0o100_000
    }

    /// What counts of a mode: git keeps only whether the owner may execute a file.
    fn canonical(mode: u32) -> Mode {
        match mode & Mode::KIND {
            0o100_000 => Mode(if mode & 0o100 == 0 { 0o100_644 } else { 0o100_755 }),
            0o120_000 => Mode(0o120_000),
            0o040_000 => Mode(0o040_000),
            _ => Mode(0o160_000),
        }
    }
}

/// One entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry<'t> {
    /// What it is.
    pub mode: Mode,
    /// Its name: any bytes but NUL and `/`.
    pub name: &'t [u8],
    /// Its content.
    pub id: ObjectId,
}

impl Entry<'_> {
    /// The order of entries: as if the name of a folder ended in `/`.
    pub fn order(&self, other: &Entry) -> Ordering {
        let common = self.name.len().min(other.name.len());
        let behind = |entry: &Entry| {
            entry.name.get(common).copied().unwrap_or(if entry.mode.is_folder() { b'/' } else { 0 })
        };
        self.name[..common].cmp(&other.name[..common]).then_with(|| behind(self).cmp(&behind(other)))
    }
}

/// The entries of the tree `bytes`. An item is `Err` where the tree is damaged; it is the last.
pub fn entries(bytes: &[u8], kind: HashKind) -> impl Iterator<Item = Result<Entry<'_>, &'static str>> {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let entry = entry(rest, kind);
        rest = entry.map_or(&[], |(_, rest)| rest);
        Some(entry.map(|(entry, _)| entry).ok_or("its entries are damaged"))
    })
}

fn entry(bytes: &[u8], kind: HashKind) -> Option<(Entry<'_>, &[u8])> {
    let space = bytes.iter().take(8).position(|&byte| byte == b' ')?;
    let digits = &bytes[..space];
    if digits.is_empty() || !digits.iter().all(|digit| (b'0'..b'8').contains(digit)) {
        return None;
    }
    let mode = digits.iter().fold(0, |mode, digit| mode << 3 | u32::from(digit - b'0'));
    let rest = &bytes[space + 1..];
    let end = memchr::memchr(0, rest)?;
    let (name, rest) = (&rest[..end], &rest[end + 1..]);
    if name.is_empty() || memchr::memchr(b'/', name).is_some() {
        return None;
    }
    let id = ObjectId::read(rest, kind)?;
    Some((Entry { mode: Mode::canonical(mode), name, id }, &rest[kind.len_bytes()..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(entries: &[(&str, &str)]) -> Vec<u8> {
        let entry =
            |(mode, name): &(&str, &str)| [mode.as_bytes(), b" ", name.as_bytes(), b"\0", &[7; 20]].concat();
        entries.iter().flat_map(entry).collect()
    }

    #[test]
    fn entries_are_read_with_the_modes_that_count() {
        let bytes =
            tree(&[("100664", "a"), ("100755", "b c"), ("120000", "l"), ("40000", "d"), ("160000", "s")]);
        let read: Vec<Entry> = entries(&bytes, HashKind::Sha1).map(Result::unwrap).collect();
        let modes: Vec<u32> = read.iter().map(|entry| entry.mode.0).collect();
        assert_eq!(modes, [0o100_644, 0o100_755, 0o120_000, 0o040_000, 0o160_000]);
        assert_eq!((read[1].name, read[1].id.bytes()), (&b"b c"[..], &[7; 20][..]));
        assert!(read[3].mode.is_folder() && read[4].mode.is_submodule() && !read[2].mode.is_regular());
    }

    #[test]
    fn a_damaged_tree_ends_in_an_error() {
        let bytes = tree(&[("100644", "a"), ("40000", "b")]);
        for cut in 1..bytes.len() {
            let is_whole_entry = cut == bytes.len() / 2 + 1;
            let last = entries(&bytes[..cut], HashKind::Sha1).last().unwrap();
            assert_eq!(last.is_ok(), is_whole_entry, "{cut}");
        }
        for wrong in [("100644", ""), ("100644", "a/b"), ("", "a"), ("10x644", "a"), ("1006440000", "a")] {
            assert!(entries(&tree(&[wrong]), HashKind::Sha1).next().unwrap().is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn folders_are_ordered_as_if_their_names_ended_in_a_slash() {
        let bytes = tree(&[("100644", "a"), ("100644", "a.c"), ("40000", "a"), ("100644", "a0")]);
        let read: Vec<Entry> = entries(&bytes, HashKind::Sha1).map(Result::unwrap).collect();
        assert!(read.windows(2).all(|pair| pair[0].order(&pair[1]) == Ordering::Less));
        assert_eq!(read[0].order(&read[0]), Ordering::Equal);
    }
}
