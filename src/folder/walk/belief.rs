//! What a walk believes of a file without a look, and how it comes to be believed.
//!
//! Knows no reasons: what may be believed is for `live` to say.

use std::sync::Arc;

use super::{LiveFolders, Names, Walk, WalkOrder, WalkedFolder};
use crate::fs::view::OpenFile;
use crate::live::{Belief, Look, Moment};

/// An entry of a folder that is watched, as a walk met it.
#[derive(Debug)]
pub struct EntryPlace {
    moment: Moment,
    names: Arc<Names>,
    number: usize,
    folder: Arc<WalkedFolder>,
}

/// Believes the stamps of files that were opened at these places, until a program does anything with them.
pub fn believe(live: &LiveFolders, looks: Vec<(EntryPlace, OpenFile)>) {
    let look = |(place, file): (EntryPlace, OpenFile)| {
        let EntryPlace { moment, names, number, folder } = place;
        Some(Look { moment, names, number, folder: folder.handle().ok()?.clone(), file })
    };
    live.believe(looks.into_iter().filter_map(look).collect());
}

impl Walk<'_> {
    /// What is believed of the current entry, a file, without a look. `None`: it is not among what can be known.
    pub fn belief(&self) -> Option<Belief> {
        let here = self.levels.last().filter(|_| self.options.order == WalkOrder::Name)?;
        here.moment?;
        Some(here.stamps.as_ref().map_or(Belief::Unknown, |stamps| stamps.get(here.next.saturating_sub(1))))
    }

    /// The current entry, to have it believed after it was opened. `None` as above.
    pub fn place(&self) -> Option<EntryPlace> {
        let here = self.levels.last().filter(|_| self.options.order == WalkOrder::Name)?;
        let number = here.next.saturating_sub(1);
        Some(EntryPlace {
            moment: here.moment?,
            names: here.names.clone(),
            number,
            folder: here.folder.clone(),
        })
    }
}
