//! Which changes have something left to take back, and whose turn it is to do that.

use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::time::Duration;

use super::{ChangeLog, ChangeNumber};
use folder::{Control, Error, Result};
use journal::Piece;

/// The file whose lock an undo holds.
const UNDO: &str = "undo";

/// How long an undo waits before it asks again for the lock.
const AGAIN: Duration = Duration::from_millis(2);

/// The turn to take something back. It ends when this is dropped.
#[derive(Debug)]
pub struct UndoTurn {
    _lock: File,
}

impl ChangeLog {
    /// Keeps other undos out while the result lives: what is to be taken back is found and read before, and written down behind.
    pub fn hold_undos(&self, control: &Control) -> Result<UndoTurn> {
        let failed = |source| Error::WriteFailed { source };
        let unwritable = |error| failed(io::Error::other(format!("the journal cannot be written: {error}")));
        let file =
            self.folder.make().and_then(|folder| folder.open_or_make(UNDO.as_ref())).map_err(unwritable)?;
        while !sys::fs::try_lock_exclusive(&file).map_err(failed)? {
            control.check()?;
            std::thread::sleep(AGAIN);
        }
        Ok(UndoTurn { _lock: file })
    }

    /// The last change in a session, before the change `end`, that takes none back itself, and of which something is left to take back.
    /// `None`: there is none.
    pub fn last_of(&self, session: &str, end: ChangeNumber) -> io::Result<Option<ChangeNumber>> {
        // Whether each piece is done, as the last change says that names it.
        let mut is_done = HashMap::<Piece, bool>::new();
        for number in self.numbers()?.into_iter().rev() {
            let Some(change) = self.read(number)? else { continue };
            let is_left = || {
                let mut pieces = change.all_toggles(number).into_iter();
                pieces.any(|toggle| is_done.get(&toggle.piece).is_none_or(|is_done| *is_done))
            };
            let is_wanted = change.undoes.is_none() && change.author.session == session && number < end;
            if is_wanted && is_left() {
                return Ok(Some(number));
            }
            for toggle in &change.toggles {
                is_done.entry(toggle.piece).or_insert(toggle.is_done);
            }
        }
        Ok(None)
    }
}
