//! The answer `tally` of `grep`: how often each text was found, of the matches or of one of their groups.

use std::cmp::Reverse;
use std::collections::HashMap;

use super::TOOL;
use super::run::Run;
use crate::tools::balance::several;
use crate::tools::limited::LimitedText;
use crate::tools::walking::TIME;
use crate::tools::{OutputKinds, Reply, wrong_cursor};
use engine::{FoundFile, SearchStop};
use folder::{Error, Result};
use search::{Finished, LineMatcher, behind_break};
use text::lines::char_boundary;
use text::order;
use text::shown::in_one_line;

/// Hits of one file that are kept; of a file with more, all of the text is looked through.
const KEPT: usize = 4_096;

/// Memory for the texts that are counted, and what each takes beside its bytes.
const MAX_BYTES: usize = 8 << 20;
const BESIDE: usize = 64;

/// The longest text that is told whole, in bytes. Longer ones that begin alike and are of one length count together.
const LONGEST: usize = 400;

/// How often each text was found.
#[derive(Debug, Default)]
struct Tally {
    counts: HashMap<Box<str>, u64>,
    bytes: usize,
    /// Matches of further texts, for which there was no memory.
    not_kept: u64,
    /// A match was empty: there is no text to count.
    has_empty: bool,
    /// Matches in which the group took no part.
    without: u64,
    /// Files with a line that is too long to be looked through.
    too_long: u64,
    is_late: bool,
}

impl Tally {
    fn add(&mut self, text: &[u8]) {
        let text = told(text);
        if let Some(count) = self.counts.get_mut(&*text) {
            *count += 1;
        } else if !switches::is_off("tally-bounded") && self.bytes + text.len() + BESIDE > MAX_BYTES {
            self.not_kept += 1;
        } else {
            self.bytes += text.len() + BESIDE;
            self.counts.insert(text.into(), 1);
        }
    }

    /// Counts the matches of a file. Returns whether there was time for all of them.
    fn add_file(&mut self, file: &FoundFile, matcher: &mut LineMatcher, group: usize) -> bool {
        let text = file.text();
        let end = file.end.min(text.len());
        let mut add = |part: &[u8]| {
            let found = matcher.places(part, group > 0, &mut |groups| -> Result<()> {
                let of = |number: usize| groups.get(number).cloned().flatten();
                match (of(0), of(group)) {
                    // As where matches are told: none of nothing.
                    (Some(whole), _) if whole.is_empty() => self.has_empty = true,
                    (_, Some(at)) => self.add(&part[at]),
                    (_, None) => self.without += 1,
                }
                Ok(())
            });
            match found {
                Ok(Finished::All) => true,
                Ok(Finished::TooLong) => {
                    self.too_long += 1;
                    true
                }
                Err(_) => {
                    self.is_late = true;
                    false
                }
            }
        };
        if file.count > file.hits.len() as u64 {
            return add(&text[file.start.min(end)..end]);
        }
        file.hits.iter().all(|hit| add(&text[hit.start..behind_break(text, hit.end).min(end)]))
    }

    /// The texts, the most frequent first.
    fn sorted(self) -> Vec<(Box<str>, u64)> {
        let mut texts: Vec<(Box<str>, u64)> = self.counts.into_iter().collect();
        order::sort_by(&mut texts, |(one, count), (other, others)| {
            (Reverse(count), one).cmp(&(Reverse(others), other))
        });
        texts
    }

    /// What is said of matches that are in no count.
    fn notes(&self, group: usize) -> Vec<String> {
        let several = |number: u64| several(number, "match");
        let notes = [
            (self.without, format!("[{} without group {group}]", several(self.without))),
            (
                self.not_kept,
                format!(
                    "[{} of further texts not counted: there are too many different ones; search for less at a time]",
                    several(self.not_kept)
                ),
            ),
            (self.too_long, format!("[{} with a line over 64 MB not counted to the end]", self.too_long)),
        ];
        notes.into_iter().filter(|(number, _)| *number > 0).map(|(_, note)| note).collect()
    }
}

/// A text as one line; of a long one the beginning.
fn told(text: &[u8]) -> String {
    let shown = &text[..char_boundary(text, LONGEST.min(text.len()))];
    let line = in_one_line(&String::from_utf8_lossy(shown)).into_owned();
    if shown.len() == text.len() { line } else { format!("{line}… [{} bytes]", text.len()) }
}

impl Run<'_> {
    /// Texts of a group of the pattern, 0 for the match, and how often each was found.
    pub(super) fn tally(self, group: u64, wanted: OutputKinds) -> Result<Reply> {
        let groups = self.pattern.regex().captures_len() - 1;
        let Some(group) = usize::try_from(group).ok().filter(|group| *group <= groups) else {
            let problem = match groups {
                0 => "the pattern has no groups; expected 0, the match".to_owned(),
                _ => format!(
                    "the pattern has {groups} groups; expected a number from 0, the match, to {groups}"
                ),
            };
            return Err(Error::InvalidArguments { at: "tally".into(), problem });
        };
        if self.grep.cursor.is_some() {
            return Err(wrong_cursor());
        }
        let (mut tally, mut matcher) = (Tally::default(), LineMatcher::new(self.pattern, self.control));
        let searched = self.search(KEPT, None, &mut |file| tally.add_file(&file, &mut matcher, group))?;
        let is_late = tally.is_late || searched.stop == Some(SearchStop::Time);
        let mut notes = vec![self.balance(&searched, [false, tally.is_late])];
        notes.extend(tally.notes(group));
        notes.extend(self.hints(&searched));
        let mut list = LimitedText::new(self.grep.limit).at_most(self.grep.most.unwrap_or(u64::MAX));
        let offset = self.grep.offset;
        let nothing = match tally.has_empty {
            true => "All matches are empty: they have no text to count",
            false => "No matches found",
        };
        let texts = tally.sorted();
        for (text, count) in texts.iter().skip(usize::try_from(offset).unwrap_or(usize::MAX)) {
            list.push_line(&format!("{count}\t{text}"));
        }
        if list.total() == 0 {
            list.text_mut().push_str(if texts.is_empty() { nothing } else { "No further texts" });
        }
        if is_late {
            list.stop(TIME);
        }
        let next = offset.saturating_add(list.shown());
        let call = || {
            let mut arguments = self.grep.sent.clone();
            arguments.insert("offset".into(), next.into());
            // What was not searched may come first.
            Ok((!is_late).then(|| (TOOL.name, arguments.into())))
        };
        list.reply(wanted, "texts", call, Some(&notes.join("\n")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_come_by_how_often_they_were_found_then_by_themselves() {
        let mut tally = Tally::default();
        ["b", "a", "c", "b", "c", "\t\n"].into_iter().for_each(|text| tally.add(text.as_bytes()));
        let sorted = tally.sorted();
        let told: Vec<(&str, u64)> = sorted.iter().map(|(text, count)| (&**text, *count)).collect();
        assert_eq!(told, [("b", 2), ("c", 2), ("\\x09\\x0a", 1), ("a", 1)]);
    }

    #[test]
    fn the_memory_is_bounded_and_what_is_not_counted_is_told() {
        let mut tally = Tally::default();
        for number in 0..200_000 {
            tally.add(format!("{number:060}").as_bytes());
        }
        assert!(tally.bytes <= MAX_BYTES && tally.counts.len() < 100_000);
        assert_eq!(tally.not_kept, 200_000 - tally.counts.len() as u64);
        tally.add(format!("{:060}", 0).as_bytes());
        assert_eq!(tally.counts.get(&*format!("{:060}", 0)), Some(&2), "what is kept is counted on");
        assert!(tally.notes(0)[0].contains("matches of further texts not counted"));
        let long = [b'x'; 100_000];
        assert!(told(&long).len() < 500 && told(&long).ends_with("… [100000 bytes]"));
        assert_eq!(told("é".repeat(300).as_bytes()), "é".repeat(200) + "… [600 bytes]");
    }
}
