//! Adds up the changes of all commits, per file, under the name that the file has now.
//!
//! Commits come children before parents. A rename says what an older name is called now, until an older commit makes a new
//! file of that name.

use std::collections::HashMap;

use super::file_counts::{FileCounts, Lines};

/// Memory of a row and of its places in the tables, in bytes, without its path.
const ROW: usize = 400;

/// Memory of an author of a row.
const AUTHOR: usize = 32;

/// What is known of one file.
#[derive(Debug, Default)]
pub struct Row {
    /// Its path now, in the repository; of a removed file, the last one.
    pub path: Box<[u8]>,
    /// Commits.
    pub commits: u64,
    /// Commits per author, by the author's number.
    pub authors: HashMap<usize, u64>,
    /// Lines added.
    pub added: u64,
    /// Lines deleted.
    pub deleted: u64,
    /// Changes of a binary file.
    pub binary: u64,
    /// Changes of a file that is too large.
    pub too_large: u64,
    /// The date of the newest commit.
    pub last: i64,
    /// A commit of the period made it under this name.
    was_made: bool,
    /// The number of the commit that was added last, from 1.
    seen: u64,
}

/// See the module.
#[derive(Debug, Default)]
pub struct Ledger {
    rows: Vec<Row>,
    /// The row of each path that a file has now.
    by_path: HashMap<Box<[u8]>, usize>,
    /// The row of each other name, as the commits that come next call the file.
    older_names: HashMap<Box<[u8]>, usize>,
    /// What a name was renamed to most recently.
    renamed: HashMap<Box<[u8]>, usize>,
    commits: u64,
    /// About how many bytes all of this takes.
    bytes: usize,
}

impl Ledger {
    /// Adds the changes of one commit. Returns the present paths of its files.
    pub fn add(&mut self, files: &[FileCounts], author: usize, date: i64) -> impl Iterator<Item = &[u8]> {
        self.commits += 1;
        let rows: Vec<usize> = files.iter().map(|file| self.row(&file.path)).collect();
        for (file, &row) in files.iter().zip(&rows) {
            self.bytes += AUTHOR * self.rows[row].add(file.lines, author, date, self.commits);
            // An older commit means another file by this name.
            if file.is_new || file.renamed_from.is_some() {
                self.rows[row].was_made |= file.is_new && self.rows[row].path == file.path;
                self.older_names.remove(&file.path);
            }
        }
        // Behind all removals: names may have been exchanged.
        for (file, &row) in files.iter().zip(&rows) {
            if let Some(old) = &file.renamed_from {
                self.bytes += ROW + 2 * old.len();
                self.older_names.insert(old.clone(), row);
                self.renamed.entry(old.clone()).or_insert(row);
            }
        }
        rows.into_iter().map(|row| &*self.rows[row].path)
    }

    /// The row of the file that the commit that is added calls `name`.
    fn row(&mut self, name: &[u8]) -> usize {
        if let Some(&row) = self.older_names.get(name).or_else(|| self.by_path.get(name)) {
            return row;
        }
        let row = self.rows.len();
        self.bytes += ROW + 2 * name.len();
        self.rows.push(Row { path: name.into(), ..Row::default() });
        self.by_path.insert(name.into(), row);
        row
    }

    /// About how much memory it takes, in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// The paths of all rows.
    pub fn paths(&self) -> impl Iterator<Item = &[u8]> {
        self.rows.iter().map(|row| &*row.path)
    }

    /// The rows, and whether `HEAD` has each file. `exists` says so of each path, in the order of [`Ledger::paths`].
    ///
    /// A commit beside the one that renamed a file, on another branch, knew it by its old name: its row belongs to the new one.
    pub fn into_rows(mut self, exists: &[bool]) -> Vec<(Row, bool)> {
        let mut rows: Vec<Option<(Row, bool)>> =
            self.rows.drain(..).zip(exists).map(|(row, &exists)| Some((row, exists))).collect();
        for number in 0..rows.len() {
            let Some((row, false)) = &rows[number] else { continue };
            let target =
                self.renamed.get(&row.path).copied().filter(|&target| target != number && !row.was_made);
            let Some(target) = target.filter(|&target| rows[target].is_some()) else { continue };
            if let (Some((row, _)), Some((other, _))) = (rows[number].take(), rows[target].as_mut()) {
                other.join(row);
            }
        }
        rows.into_iter().flatten().collect()
    }
}

impl Row {
    /// Returns how many authors are new to it.
    fn add(&mut self, lines: Lines, author: usize, date: i64, commit: u64) -> usize {
        let authors = self.authors.len();
        match lines {
            Lines::Counted(counts) => {
                self.added += counts.added;
                self.deleted += counts.deleted;
            }
            Lines::Binary => self.binary += 1,
            Lines::TooLarge => self.too_large += 1,
        }
        // Two files of one commit may be one file now.
        if self.seen != commit {
            self.seen = commit;
            self.commits += 1;
            *self.authors.entry(author).or_default() += 1;
        }
        self.last = self.last.max(date);
        self.authors.len() - authors
    }

    fn join(&mut self, other: Row) {
        self.added += other.added;
        self.deleted += other.deleted;
        self.binary += other.binary;
        self.too_large += other.too_large;
        self.commits += other.commits;
        for (author, commits) in other.authors {
            *self.authors.entry(author).or_default() += commits;
        }
        self.last = self.last.max(other.last);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::churn::diff::LineCounts;

    /// A change that adds one line: `old>new` is a rename, `+name` a new file.
    fn change(text: &str) -> FileCounts {
        let (is_new, text) = (text.starts_with('+'), text.trim_start_matches('+'));
        let (old, new) = text.split_once('>').map_or((None, text), |(old, new)| (Some(old), new));
        let lines = Lines::Counted(LineCounts { added: 1, deleted: 0 });
        let renamed_from = old.map(|old| old.as_bytes().into());
        FileCounts { path: new.as_bytes().into(), renamed_from, is_new, lines }
    }

    /// The lines of each file after these commits, the newest first. Files in `gone` do not exist now.
    fn lines(commits: &[&[&str]], gone: &[&str]) -> Vec<(String, u64)> {
        let mut ledger = Ledger::default();
        for commit in commits {
            let files: Vec<FileCounts> = commit.iter().map(|text| change(text)).collect();
            ledger.add(&files, 0, 0).for_each(drop);
        }
        let text = |path: &[u8]| String::from_utf8(path.to_vec()).unwrap();
        let exists: Vec<bool> = ledger.paths().map(|path| !gone.contains(&&*text(path))).collect();
        let mut lines: Vec<(String, u64)> =
            ledger.into_rows(&exists).into_iter().map(|(row, _)| (text(&row.path), row.added)).collect();
        lines.sort();
        lines
    }

    fn expected(lines: &[(&str, u64)]) -> Vec<(String, u64)> {
        lines.iter().map(|(name, lines)| ((*name).to_owned(), *lines)).collect()
    }

    #[test]
    fn older_names_count_for_the_present_one() {
        let found = lines(&[&["c"], &["b>c"], &["b"], &["a>b"], &["a"], &["+a"]], &[]);
        assert_eq!(found, expected(&[("c", 6)]));
    }

    #[test]
    fn a_new_file_with_an_old_name_counts_for_itself() {
        let found = lines(&[&["a"], &["+a"], &["a>b"], &["a"], &["+a"]], &[]);
        assert_eq!(found, expected(&[("a", 2), ("b", 3)]));
        let found = lines(&[&["a>b"], &["a"], &["+a"], &["b"], &["+b"]], &[]);
        assert_eq!(found, expected(&[("b", 5)]), "a removed file of the same name counts with it");
    }

    #[test]
    fn exchanged_names_are_followed_for_both() {
        let found = lines(&[&["a>b", "b>a"], &["a"], &["a"]], &[]);
        assert_eq!(found, expected(&[("a", 1), ("b", 3)]));
    }

    #[test]
    fn a_change_on_another_branch_counts_for_the_present_name() {
        let commits: &[&[&str]] = &[&["a"], &["a>b"], &["a"], &["+a"]];
        assert_eq!(lines(commits, &["a"]), expected(&[("b", 4)]));
        assert_eq!(lines(commits, &[]), expected(&[("a", 1), ("b", 3)]));
        let made: &[&[&str]] = &[&["a"], &["+a"], &["a>b"], &["+a"]];
        assert_eq!(lines(made, &["a"]), expected(&[("a", 2), ("b", 2)]), "it was another file");
    }

    #[test]
    fn a_commit_counts_once_for_a_file() {
        let mut ledger = Ledger::default();
        ledger.add(&[change("a>b")], 7, 5).for_each(drop);
        ledger.add(&[change("a"), change("b")], 8, 3).for_each(drop);
        let rows = ledger.into_rows(&[true, true]);
        assert_eq!(rows.len(), 1);
        assert_eq!((rows[0].0.commits, rows[0].0.last), (2, 5));
        assert_eq!(rows[0].0.authors, HashMap::from([(7, 1), (8, 1)]));
    }
}
