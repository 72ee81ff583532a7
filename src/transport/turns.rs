//! Who may bring a change of a file to work now: one request a file, so that a file that is locked holds up only the
//! requests for it, and not the places that all share (SPEC 8, a stuck server). Knows no files but by their names.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// By file, its one turn.
#[derive(Debug, Default)]
pub(super) struct Turns(Mutex<HashMap<String, Arc<Semaphore>>>);

/// A turn, or the wait for one; ended by drop.
#[derive(Debug)]
pub(super) struct Turn<'t> {
    turns: &'t Turns,
    file: String,
    gate: Arc<Semaphore>,
    had: Option<OwnedSemaphorePermit>,
}

impl Turns {
    /// Waits for the turn at `file`, first come, first served.
    pub(super) async fn turn(&self, file: &str) -> Turn<'_> {
        let gate = {
            let new = || Arc::new(Semaphore::new(1));
            self.lock().entry(file.to_owned()).or_insert_with(new).clone()
        };
        // From here on what was entered is taken out again, also if the wait is given up.
        let mut turn = Turn { turns: self, file: file.to_owned(), gate, had: None };
        turn.had = turn.gate.clone().acquire_owned().await.ok();
        turn
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Arc<Semaphore>>> {
        // Every critical section leaves the map whole.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let mut turns = self.turns.lock();
        drop(self.had.take());
        // Ours and the table's: nobody else waits.
        if Arc::strong_count(&self.gate) == 2 {
            turns.remove(&self.file);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::timeout;

    use super::*;

    #[test]
    fn a_file_has_one_turn_others_do_not_wait_and_nothing_is_left_in_the_table() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let turns = Turns::default();
            let first = turns.turn("a").await;
            let soon = Duration::from_millis(10);
            assert!(timeout(soon, turns.turn("a")).await.is_err());
            assert!(timeout(soon, turns.turn("b")).await.is_ok());
            drop(first);
            assert!(timeout(soon, turns.turn("a")).await.is_ok());
            assert!(turns.lock().is_empty());
        });
    }
}
