//! What the journal has no more: changes that were removed to make room, and records that are damaged.

use std::io;

use super::folder_log::DROPPED;
use super::{ChangeLog, ChangeNumber};

/// The most changes that are named.
const MOST_NAMED: usize = 3;

impl ChangeLog {
    /// The number from which on all changes are kept, if older ones were removed to make room.
    pub fn oldest(&self) -> io::Result<Option<ChangeNumber>> {
        let mut oldest = None;
        for folder in &self.folders {
            if folder.done.known()?.is_some_and(|done| done.len_of(DROPPED.as_ref()).is_some()) {
                oldest = oldest.max(folder.numbers()?.into_iter().min());
            }
        }
        Ok(oldest)
    }

    /// The numbers of the changes whose records were found to be damaged, in order.
    pub fn damaged(&self) -> Vec<ChangeNumber> {
        let of_folders = self.folders.iter().map(|folder| folder.damaged().unwrap_or_default());
        let mut damaged: Vec<ChangeNumber> = of_folders.flatten().collect();
        damaged.sort_unstable();
        damaged
    }

    /// Why the journal does not have a change.
    pub fn why_not_there(&self, number: ChangeNumber) -> io::Result<String> {
        if self.damaged().contains(&number) {
            return Ok(format!(
                "the record of c{number} is damaged, so that nothing is known of it any more"
            ));
        }
        if let Some(oldest) = self.oldest()?.filter(|oldest| number < *oldest) {
            return Ok(format!(
                "c{number} is not in the journal any more: the oldest that it has is c{oldest}, earlier ones were removed to make room \
                    (--journal-size)"
            ));
        }
        let numbers = self.numbers()?;
        let last: Vec<String> =
            numbers.iter().rev().take(MOST_NAMED).map(|number| format!("c{number}")).collect();
        let last = if last.is_empty() {
            "none are".into()
        } else {
            format!("the last ones are {}", last.join(", "))
        };
        Ok(format!("it is not in the journal; {last}"))
    }
}

/// Who may have made what no change up to `behind` has made.
pub fn others_behind(damaged: &[ChangeNumber], behind: ChangeNumber) -> String {
    match damaged.iter().find(|number| **number > behind) {
        Some(number) => format!("another program or by c{number}, whose record is damaged"),
        None => "another program".into(),
    }
}
