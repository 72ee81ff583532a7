//! The names of encodings: those of the table, those of the web, and near ones for a name that is none.

use super::table::ROWS;
use super::{Encoding, EncodingChoice};
use crate::order;

/// Other names of UTF-16 in the order of its mark.
const UTF_16: [&str; 3] = ["utf16", "ucs2", "unicode"];

/// How alike a name must be to be named, from 0 to 1.
const NEAR: f64 = 0.6;

impl EncodingChoice {
    /// Names to begin with, for descriptions.
    pub const COMMON: &str = "utf-8, utf-16, windows-1252, iso-8859-1, windows-1251, koi8-r, shift_jis, euc-jp, gb18030, big5, euc-kr";

    /// The names of all.
    pub fn names() -> impl Iterator<Item = &'static str> {
        let (utf_8, others) = ROWS.split_at(1);
        let names = |rows: &'static [super::Row]| rows.iter().map(|row| row.name);
        names(utf_8).chain(["utf-16"]).chain(names(others)).chain(["auto"])
    }

    /// Its name for clients.
    pub fn name(self) -> &'static str {
        match self {
            EncodingChoice::Is(encoding) => encoding.name(),
            EncodingChoice::Utf16 => "utf-16",
            EncodingChoice::Auto => "auto",
        }
    }

    /// The choice of this name: one of the table, in any case, with or without `-` and `_`, or one that the web has.
    pub fn parse(name: &str) -> Option<EncodingChoice> {
        let short = plain(name);
        if short == "auto" {
            return Some(EncodingChoice::Auto);
        }
        if UTF_16.contains(&&*short) {
            return Some(EncodingChoice::Utf16);
        }
        let is_named = |row: &&super::Row| plain(row.name) == short || row.labels.contains(&&*short);
        let of_table = ROWS.iter().find(is_named).map(|row| row.encoding);
        let of_web = || [name, &short].into_iter().find_map(|name| of_web(name.as_bytes()));
        of_table.or_else(of_web).map(EncodingChoice::Is)
    }

    /// The names that are like this one, best first, at most three.
    pub fn near(name: &str) -> Vec<&'static str> {
        let short = plain(name);
        let likeness = |other| strsim::normalized_damerau_levenshtein(&short, &plain(other));
        let mut near: Vec<(f64, &str)> =
            EncodingChoice::names().map(|other| (likeness(other), other)).collect();
        near.retain(|(likeness, _)| *likeness >= NEAR);
        order::sort_by(&mut near, |(one, _), (other, _)| other.total_cmp(one));
        near.into_iter().take(3).map(|(_, name)| name).collect()
    }
}

/// The encoding that the web has under this name.
fn of_web(name: &[u8]) -> Option<Encoding> {
    Encoding::of_tables(encoding_rs::Encoding::for_label_no_replacement(name)?)
}

/// The letters and digits of a name, in lower case.
pub(super) fn plain(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
}
