//! A commit: its tree, its parents, who wrote it and when it was committed.

use super::id::{HashKind, ObjectId};

/// The longest name or address, in bytes; a longer one is cut.
const MAX_TEXT: usize = 512;

/// See the module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Commit<'b> {
    /// The tree of all files.
    pub tree: ObjectId,
    /// The commits before it.
    pub parents: Vec<ObjectId>,
    /// When it was committed, in seconds since 1970; 0 if it does not say.
    pub date: i64,
    /// The line of its author, without its first word.
    author: &'b [u8],
    /// The encoding that its texts say they have.
    encoding: Option<&'b [u8]>,
}

/// Who wrote a commit. Texts that are not what they say they are have U+FFFD.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Author {
    /// The name.
    pub name: String,
    /// The address.
    pub email: String,
}

impl Commit<'_> {
    /// Reads the commit `bytes`. `None` if it is damaged.
    pub fn read(bytes: &[u8], kind: HashKind) -> Option<Commit<'_>> {
        let mut lines = bytes.split(|&byte| byte == b'\n').take_while(|line| !line.is_empty()).peekable();
        let tree = ObjectId::parse(lines.next()?.strip_prefix(b"tree ")?, kind)?;
        let mut parents = Vec::new();
        while let Some(parent) = lines.next_if(|line| line.starts_with(b"parent ")) {
            parents.push(ObjectId::parse(&parent[b"parent ".len()..], kind)?);
        }
        let (mut author, mut date, mut encoding) = (&b""[..], 0, None);
        for line in lines {
            if let Some(rest) = line.strip_prefix(b"author ") {
                author = rest;
            } else if let Some(rest) = line.strip_prefix(b"committer ") {
                date = date_of(rest);
            } else if let Some(rest) = line.strip_prefix(b"encoding ") {
                encoding = Some(rest);
            }
        }
        Some(Commit { tree, parents, date, author, encoding })
    }

    /// Who wrote it.
    pub fn author(&self) -> Author {
        let line = self.author;
        let open = line.iter().position(|&byte| byte == b'<').unwrap_or(line.len());
        let behind = line.get(open + 1..).unwrap_or_default();
        let close = behind.iter().position(|&byte| byte == b'>').unwrap_or(behind.len());
        Author { name: self.text(line[..open].trim_ascii()), email: self.text(behind[..close].trim_ascii()) }
    }

    /// A text of the commit, at most [`MAX_TEXT`] bytes of it.
    fn text(&self, bytes: &[u8]) -> String {
        let is_cut = bytes.len() > MAX_TEXT;
        let text = self.decoded(&bytes[..bytes.len().min(MAX_TEXT)]);
        // The cut may be inside a character.
        if is_cut { text.trim_end_matches('\u{fffd}').to_owned() + "…" } else { text }
    }

    fn decoded(&self, bytes: &[u8]) -> String {
        let other = self.encoding.and_then(encoding_rs::Encoding::for_label);
        match (std::str::from_utf8(bytes), other) {
            (Ok(text), _) => text.into(),
            (Err(_), Some(encoding)) => encoding.decode_without_bom_handling(bytes).0.into_owned(),
            (Err(_), None) => String::from_utf8_lossy(bytes).into_owned(),
        }
    }
}

/// The seconds behind the last `>` of a line; 0 if there are none.
fn date_of(line: &[u8]) -> i64 {
    let behind = line.iter().rposition(|&byte| byte == b'>').map_or(0, |at| at + 1);
    let text = line[behind..].trim_ascii_start();
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    std::str::from_utf8(&text[..digits]).ok().and_then(|digits| digits.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TREE: &str = "tree 1111111111111111111111111111111111111111\n";
    const PARENT: &str = "parent 2222222222222222222222222222222222222222\n";

    fn read(text: &[u8]) -> Option<Commit<'_>> {
        Commit::read(text, HashKind::Sha1)
    }

    #[test]
    fn a_commit_tells_its_tree_parents_author_and_the_date_of_its_committer() {
        let text = format!(
            "{TREE}{PARENT}{PARENT}author A B <a@b> 5 +0100\ncommitter C <c@d> 1700000000 -0800\nx y\n z\n\nauthor no"
        );
        let commit = read(text.as_bytes()).unwrap();
        assert_eq!((commit.parents.len(), commit.date), (2, 1_700_000_000));
        assert_eq!(commit.author(), Author { name: "A B".into(), email: "a@b".into() });
        assert!(commit.tree.to_string().starts_with("1111"));
    }

    #[test]
    fn odd_authors_and_dates_are_read_as_far_as_they_go() {
        let author = |line: &[u8]| {
            let text = [TREE.as_bytes(), b"author ", line, b"\n\n"].concat();
            let Author { name, email } = read(&text).unwrap().author();
            (name, email)
        };
        let pair = |name: &str, email: &str| (name.to_owned(), email.to_owned());
        assert_eq!(author(b" A  <a@b> 1 +0"), pair("A", "a@b"));
        assert_eq!(author(b"<> 1 +0"), pair("", ""));
        assert_eq!(author(b"A <a> <b> 1 +0"), pair("A", "a"));
        assert_eq!(author(b"nobody"), pair("nobody", ""));
        assert_eq!(author("\u{e4}".repeat(400).as_bytes()).0, "\u{e4}".repeat(256) + "…");
        assert_eq!(author(("a".to_owned() + &"\u{e4}".repeat(400)).as_bytes()).0.chars().count(), 257);
        assert_eq!(author(b"J\xfcrgen <j>"), pair("J\u{fffd}rgen", "j"));
        let text = [TREE.as_bytes(), b"author J\xfcrgen <j> 1 +0\nencoding ISO-8859-1\n\n"].concat();
        assert_eq!(read(&text).unwrap().author().name, "J\u{fc}rgen");
        for (line, date) in
            [("a <b> 7", 7), ("a <b> x", 0), ("a <b>", 0), ("9", 9), ("a <b> 99999999999999999999 +0", 0)]
        {
            assert_eq!(date_of(line.as_bytes()), date, "{line}");
        }
    }

    #[test]
    fn what_is_no_commit_is_damaged() {
        for text in ["", "tree x\n", "parent\n", &TREE[..30], &format!("{TREE}parent 22\n")] {
            assert_eq!(read(text.as_bytes()), None, "{text}");
        }
    }
}
