//! Which changes are done, and which are taken back.
//!
//! An undo is a change too, and can be taken back. So a change, what took it back, what did it again and so on are a family: it is done
//! or it is not, and the last of them says which. Knows the numbers only, not what the changes did.

use std::collections::{HashMap, HashSet};
use std::io;

use super::{ChangeLog, ChangeNumber};
use journal::Change;

/// What a change does for its family.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Member {
    /// The change that the family began with.
    first: ChangeNumber,
    /// Whether this one took that one back. Else it did it, or did it again.
    is_undo: bool,
}

impl Member {
    /// What takes this one back.
    fn opposite(self) -> Member {
        Member { is_undo: !self.is_undo, ..self }
    }
}

/// The families of some changes.
#[derive(Debug, Default)]
pub(crate) struct Families(HashMap<ChangeNumber, Member>);

impl Families {
    /// Learns of a change, and of what it takes back.
    pub(crate) fn add(&mut self, log: &ChangeLog, number: ChangeNumber, change: &Change) -> io::Result<()> {
        self.add_chain(log, number, change.undoes_whole())?;
        // What takes back a part begins a family.
        let Some(other) = change.undoes.filter(|_| change.partly) else { return Ok(()) };
        self.add_chain(log, other, undone_by(log, other)?)
    }

    fn add_chain(
        &mut self,
        log: &ChangeLog,
        number: ChangeNumber,
        mut undone: Option<ChangeNumber>,
    ) -> io::Result<()> {
        let (mut chain, mut first) = (vec![number], number);
        // Numbers grow, so that no journal leads around in a circle.
        while let Some(earlier) = undone.filter(|earlier| *earlier < first) {
            first = earlier;
            chain.push(first);
            undone = if self.0.contains_key(&first) { None } else { undone_by(log, first)? };
        }
        let mut member = self.of(first);
        for number in chain.into_iter().rev() {
            self.0.insert(number, member);
            member = member.opposite();
        }
        Ok(())
    }

    /// One that is not known is the first of its family.
    fn of(&self, number: ChangeNumber) -> Member {
        self.0.get(&number).copied().unwrap_or(Member { first: number, is_undo: false })
    }

    /// Whether both changes did the same, so that what takes one of them back takes the other back.
    pub(crate) fn did_the_same(&self, one: ChangeNumber, other: ChangeNumber) -> bool {
        self.of(one) == self.of(other)
    }

    /// Which of the `later` changes has taken this one back, if it was not taken back itself.
    pub(crate) fn taken_back_by(
        &self,
        number: ChangeNumber,
        later: impl DoubleEndedIterator<Item = ChangeNumber>,
    ) -> Option<ChangeNumber> {
        let own = self.of(number);
        let last = later.rev().find(|later| self.of(*later).first == own.first)?;
        (self.of(last) != own).then_some(last)
    }
}

/// What the change takes back as a whole.
fn undone_by(log: &ChangeLog, number: ChangeNumber) -> io::Result<Option<ChangeNumber>> {
    Ok(log.read(number)?.and_then(|change| change.undoes_whole()))
}

impl ChangeLog {
    /// The last change in a session, before the change `end`, that was not taken back, and takes none back itself. `None`: there is
    /// none.
    pub fn last_of(&self, session: &str, end: ChangeNumber) -> io::Result<Option<ChangeNumber>> {
        let (mut families, mut told, mut taken_back) = (Families::default(), HashSet::new(), HashSet::new());
        for number in self.numbers()?.into_iter().rev() {
            let Some(change) = self.read(number)? else { continue };
            families.add(self, number, &change)?;
            let Member { first, is_undo } = families.of(number);
            if told.insert(first) && is_undo {
                taken_back.insert(first);
            }
            let is_wanted = change.undoes.is_none() && change.author.session == session;
            if is_wanted && number < end && !taken_back.contains(&number) {
                return Ok(Some(number));
            }
        }
        Ok(None)
    }
}
