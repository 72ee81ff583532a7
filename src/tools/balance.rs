//! The balance of a search (contract 14): how many entries it left out, and why, as words in one line.
//!
//! Knows no walk of its own and no limit: a tool counts, and puts the line at the end of its answer.

use folder::LeftOut;

/// Why a search left entries out, in the order of the line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reason {
    /// Files that git ignores.
    Ignored,
    /// Folders that git ignores: what is in them was not looked at.
    IgnoredFolders,
    /// Files whose names begin with a dot.
    Hidden,
    /// Folders whose names begin with a dot.
    HiddenFolders,
    /// What `--exclude` names.
    Excluded,
    /// Folders with names of this server's temporary files.
    Reserved,
    /// Links to folders, and those that lead out of the served folder or nowhere.
    Links,
    /// FIFOs, sockets and devices.
    Special,
    /// Files with NUL bytes.
    Binary,
    /// Files that are not valid text in the encoding of the call.
    NotText,
    /// Files that would have to be copied to be searched, and are too large for that.
    TooLargeToCopy,
    /// Files that cannot be read.
    Unreadable,
    /// Folders that cannot be read.
    UnreadableFolders,
    /// What may be a file or a folder, and cannot be looked at.
    Unknown,
    /// Folders on other file systems.
    Mounts,
    /// Folders that lie deeper than a path may be long.
    TooDeep,
    /// Folders of git under other names than `.git`.
    Repositories,
    /// Files that were not searched because the time was up.
    NoTime,
    /// The same for the rest of a file.
    NoTimeForRest,
    /// Files that were not analysed because the time was up.
    #[cfg_attr(not(feature = "toolkit"), allow(dead_code))]
    NotAnalyzed,
    /// Files of no language that is outlined.
    #[cfg_attr(not(feature = "toolkit"), allow(dead_code))]
    OtherLanguage,
    /// Files that could not be outlined.
    #[cfg_attr(not(feature = "toolkit"), allow(dead_code))]
    NotOutlined,
    /// Files that the globs and types of the call do not name.
    NotWanted,
    /// Folders that the globs of the call leave out: what is in them was not looked at.
    NotWantedFolders,
}

/// The words for folders with names of this server's temporary files.
pub(super) const RESERVED: (&str, &str) = (
    "folder with a name of the server's temporary files",
    "folders with names of the server's temporary files",
);

/// The words for each reason, in the order of [`Reason`]: for one entry, and for several.
const WORDS: [(&str, &str); REASONS] = [
    ("ignored file", "ignored files"),
    ("ignored folder", "ignored folders"),
    ("hidden file", "hidden files"),
    ("hidden folder", "hidden folders"),
    ("excluded", "excluded"),
    RESERVED,
    ("link not followed", "links not followed"),
    ("special file", "special files"),
    ("binary file", "binary files"),
    ("file not valid text", "files not valid text"),
    (
        "file over 64 MB, too large for multiline or another encoding",
        "files over 64 MB, too large for multiline or another encoding",
    ),
    ("file that cannot be read", "files that cannot be read"),
    ("folder that cannot be read", "folders that cannot be read"),
    ("entry that cannot be read", "entries that cannot be read"),
    (
        "folder on another file system (see --cross-mounts)",
        "folders on other file systems (see --cross-mounts)",
    ),
    ("folder that lies too deep", "folders that lie too deep"),
    ("folder of git (see --allow-git)", "folders of git (see --allow-git)"),
    ("file not searched for lack of time", "files not searched for lack of time"),
    ("file not searched to its end for lack of time", "files not searched to their ends for lack of time"),
    ("file not analyzed for lack of time", "files not analyzed for lack of time"),
    ("file of another language", "files of other languages"),
    ("file that cannot be outlined", "files that cannot be outlined"),
    ("file not named by glob or type", "files not named by glob or type"),
    ("folder left out by glob", "folders left out by glob"),
];

const REASONS: usize = Reason::NotWantedFolders as usize + 1;

/// A number of things, in words.
pub(super) fn several(number: u64, unit: &str) -> String {
    if number == 1 { format!("1 {unit}") } else { format!("{number} {}", plural(unit)) }
}

/// The name of several things, of the name of one.
pub(super) fn plural(unit: &str) -> String {
    match unit.strip_suffix('y') {
        Some(stem) => format!("{stem}ies"),
        None if unit.ends_with("ch") => format!("{unit}es"),
        None => format!("{unit}s"),
    }
}

/// The name of one thing, of the name of several.
pub(super) fn singular(several: &str) -> String {
    let one = |(ending, instead)| Some(format!("{}{instead}", several.strip_suffix(ending)?));
    let endings = [("ies", "y"), ("es", ""), ("s", "")];
    endings.into_iter().filter_map(one).find(|one| plural(one) == several).unwrap_or_else(|| several.into())
}

/// See the module.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Balance {
    numbers: [u64; REASONS],
    /// The time was up before all entries were met.
    has_unseen: bool,
    /// The answer was full before all entries were met.
    has_more: bool,
    /// What was not found in an entry may be there.
    has_doubt: bool,
}

/// Stands for entries that cannot be counted.
const UNSEEN: &str = "all that was not met before the time was up";

impl Balance {
    /// Counts `number` more entries.
    pub(super) fn add(&mut self, reason: Reason, number: u64) {
        self.numbers[reason as usize] += number;
    }

    /// Counts what a walk left out.
    pub(super) fn add_walk(&mut self, left_out: &LeftOut) {
        let LeftOut {
            excluded,
            reserved,
            ignored,
            ignored_folders,
            hidden,
            hidden_folders,
            unreadable,
            unknown,
            mounts,
            too_deep,
            repositories,
        } = *left_out;
        for (reason, number) in [
            (Reason::Ignored, ignored - ignored_folders),
            (Reason::IgnoredFolders, ignored_folders),
            (Reason::Hidden, hidden - hidden_folders),
            (Reason::HiddenFolders, hidden_folders),
            (Reason::Excluded, excluded),
            (Reason::Reserved, reserved),
            (Reason::UnreadableFolders, unreadable),
            (Reason::Unknown, unknown),
            (Reason::Mounts, mounts),
            (Reason::TooDeep, too_deep),
            (Reason::Repositories, repositories),
        ] {
            self.add(reason, number as u64);
        }
    }

    /// Says that there are entries that were not met because the time was up.
    pub(super) fn add_unseen(&mut self) {
        self.has_unseen = true;
    }

    /// Says that there are entries that were not met because the answer was full: another page counts them.
    pub(super) fn add_more(&mut self) {
        self.has_more = true;
    }

    /// Says that nothing is proven by what was not found, as the head of the line tells.
    pub(super) fn add_doubt(&mut self) {
        self.has_doubt = true;
    }

    /// How many entries were left out for this reason.
    pub(super) fn of(&self, reason: Reason) -> u64 {
        self.numbers[reason as usize]
    }

    /// One line in brackets: `head`, and what was left out, such as
    /// `[120 files searched; left out: 3 ignored files, 1 hidden folder]`.
    pub(super) fn line(&self, head: &str) -> String {
        let told = |(number, (one, several)): (&u64, &(&str, &str))| match number {
            0 => None,
            1 => Some(format!("1 {one}")),
            _ => Some(format!("{number} {several}")),
        };
        let mut parts: Vec<String> = self.numbers.iter().zip(&WORDS).filter_map(told).collect();
        parts.extend(self.has_unseen.then(|| UNSEEN.to_owned()));
        match parts[..] {
            [] if self.has_more || self.has_doubt => format!("[{head}]"),
            [] => format!("[{head}; nothing left out]"),
            _ => format!("[{head}; left out: {}]", parts.join(", ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn with_a_doubt_it_is_not_said_that_nothing_was_left_out() {
        let mut balance = Balance::default();
        balance.add_doubt();
        assert_eq!(balance.line("1 file searched"), "[1 file searched]");
    }

    #[test]
    fn one_thing_and_several_have_their_names() {
        for (one, more) in [
            ("file", "files"),
            ("entry", "entries"),
            ("match", "matches"),
            ("place", "places"),
            ("matching line", "matching lines"),
        ] {
            assert_eq!((plural(one), singular(more)), (more.to_owned(), one.to_owned()));
            assert_eq!((several(1, one), several(2, one)), (format!("1 {one}"), format!("2 {more}")));
        }
    }

    #[test]
    fn each_number_has_its_words_and_nothing_else_is_told() {
        let mut balance = Balance::default();
        assert_eq!(balance.line("2 files searched"), "[2 files searched; nothing left out]");
        balance.add(Reason::NotWanted, 2);
        balance.add(Reason::Binary, 1);
        let left_out =
            LeftOut { ignored: 5, ignored_folders: 1, hidden: 1, hidden_folders: 1, ..LeftOut::default() };
        balance.add_walk(&left_out);
        assert_eq!((balance.of(Reason::Ignored), balance.of(Reason::Hidden)), (4, 0));
        let expected = "[2 files searched; left out: 4 ignored files, 1 ignored folder, 1 hidden folder, \
            1 binary file, 2 files not named by glob or type]";
        assert_eq!(balance.line("2 files searched"), expected);
    }

    #[test]
    fn what_was_not_met_before_the_time_was_up_is_told_without_a_number() {
        let mut balance = Balance::default();
        balance.add_unseen();
        assert_eq!(
            balance.line("2 files seen"),
            "[2 files seen; left out: all that was not met before the time was up]"
        );
    }
}
