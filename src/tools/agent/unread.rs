//! Edits of a list that cannot be read, such as one whose path leads out of the folder: the others are looked at all the same, so that one
//! answer explains all that does not fit, and a later call sends only what was wrong (contract 19, `retry`).

use std::sync::Arc;

use super::one_edit::OneEdit;
use super::planned::{MAX_EDITS, Planned};
use crate::tools::arguments::{Argument, Value, names_a_file};
use crate::tools::{ErrorText, Guide, ParseOptions};
use folder::{Error, FilePath, Result};
use serde_json::{Map, Value as Json, from_str};

/// What stands in a place of the list.
#[derive(Debug, Clone)]
pub(super) enum Slot {
    Edit(Planned),
    Unread(Arc<Unread>),
}

/// What was sent as an edit and is none.
#[derive(Debug)]
pub(super) struct Unread {
    /// What was sent.
    json: Box<str>,
    /// Why it is none. The argument that is wrong is named with the number of the edit.
    pub(super) why: Arc<Error>,
    /// Its path, if that is known.
    pub(super) file: Option<FilePath>,
}

/// The edits of the list of these arguments, each read for itself. `None`: it has too few or too many.
pub(super) fn slots(arguments: &Value) -> Option<Vec<Slot>> {
    if !(2..=MAX_EDITS).contains(&arguments.items_of("edits")) {
        return None;
    }
    let (mut slots, mut last) = (Vec::new(), None);
    arguments.items_in("edits", &mut |number, value| {
        let before = last.clone();
        let edit = OneEdit::read(value).and_then(|edit| Planned::of(edit, number, &mut last));
        slots.push(match edit {
            Ok(edit) => Slot::Edit(edit),
            Err(why) => {
                let mut unread = Unread { json: value.json().into(), why: Arc::new(why), file: None };
                last = unread.path(before, value.options());
                unread.file = last.clone();
                Slot::Unread(Arc::new(unread))
            }
        });
    });
    Some(slots)
}

impl Slot {
    pub(super) fn edit(&self) -> Option<&Planned> {
        match self {
            Slot::Edit(edit) => Some(edit),
            Slot::Unread(_) => None,
        }
    }

    /// Bytes of memory, about.
    pub(super) fn bytes(&self) -> usize {
        match self {
            Slot::Edit(edit) => edit.bytes(),
            Slot::Unread(unread) => size_of::<Unread>() + unread.json.len(),
        }
    }
}

impl Unread {
    /// The edit of this number, with what a later call gives of it. `last`: the path that it has if it has none of its own.
    pub(super) fn corrected(
        &self,
        given: Option<OneEdit>,
        (number, last): (usize, &mut Option<FilePath>),
        options: ParseOptions,
    ) -> Result<Planned> {
        let has_new_lines = given.as_ref().is_some_and(OneEdit::has_lines);
        let edit = match given {
            None => OneEdit::read(&Value::arguments(&self.json, options)?),
            Some(mut edit) => {
                edit.complete_by(self.without_fault(options));
                Ok(edit)
            }
        };
        let planned = edit.and_then(|edit| Planned::of(edit, number, last));
        let mut planned = planned.map_err(|error| still_wrong(number, error, options.guide()))?;
        planned.has_new_lines = has_new_lines;
        Ok(planned)
    }

    /// Its path, which is that of the edits behind it that have none. `last`: the one that it has if it was sent without. `None`: nobody knows
    /// it, because it is what is wrong.
    pub(super) fn path(&self, last: Option<FilePath>, options: ParseOptions) -> Option<FilePath> {
        let has_path = self.members()?.keys().any(|name| names_a_file(name));
        self.without_fault(options)?.path.or(last.filter(|_| !has_path))
    }

    fn members(&self) -> Option<Map<String, Json>> {
        from_str(&self.json).ok()
    }

    /// What was sent, without the argument that is wrong. `None`: more is wrong with it.
    fn without_fault(&self, options: ParseOptions) -> Option<OneEdit> {
        let mut members = self.members()?;
        match &*self.why {
            Error::InvalidArguments { at, .. } => {
                members.remove(at.rsplit('.').next().unwrap_or_default());
            }
            _ => members.retain(|name, _| !names_a_file(name)),
        }
        OneEdit::read(&Value::arguments(&Json::from(members).to_string(), options).ok()?).ok()
    }
}

/// The error of an edit that a call with `retry` leaves as wrong as it was.
fn still_wrong(number: usize, error: Error, guide: Guide) -> Error {
    let (member, problem) = match error {
        Error::InvalidArguments { at, problem } => {
            (at.rsplit_once('.').map_or(String::new(), |(_, member)| format!(", {member}")), problem)
        }
        error => {
            (String::new(), ErrorText::of(&error, guide, 0).text().trim_start_matches("Error: ").to_owned())
        }
    };
    Error::InvalidArguments { at: format!("edits, n {}{member}", number + 1), problem }
}
