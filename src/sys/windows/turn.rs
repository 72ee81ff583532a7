//! Hides the moment in which the name of a file that is being replaced is of no file, from all servers of one user on this machine.
//!
//! Only where a file system cannot rename over an open file in one step ([`super::replace`]): there a replacement takes the turn
//! of its folder, and so does whatever gives a name that must be free. A look-up that finds no entry looks again when it has had
//! a turn.

use std::time::Duration;

use super::event::Locked;
use super::fd::BorrowedFd;
use super::file_info::identity;
use super::mounts::sets_aside;

/// The longest wait. A replacement takes a few milliseconds; whoever keeps the turn longer has been stopped, or is not this
/// program.
const LONGEST: Duration = Duration::from_secs(1);

/// The turn of a folder.
#[derive(Debug)]
#[must_use = "it ends when it is dropped"]
pub(super) struct Turn(#[allow(dead_code)] Option<Locked>);

impl Turn {
    /// Waits for the turn of a folder. `None` where renames take one step. Whoever cannot get the turn in time goes on without
    /// it: then the moment is not hidden, and nothing else is lost.
    pub(super) fn of(folder: BorrowedFd) -> Option<Turn> {
        sets_aside(folder)
            .then(|| {
                let (volume, number) = identity(folder).ok()?;
                // Of all sessions, because a user may have several.
                Locked::by_name(&format!("Global\\file-editor-{volume:016x}-{number:016x}"), LONGEST)
            })
            .map(Turn)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;
    use std::thread;
    use std::time::Duration;

    use super::super::fd::AsFd;
    use super::*;

    #[test]
    fn one_at_a_time_has_the_turn_of_a_folder_and_who_has_it_may_take_it_again() {
        let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
        let [one, other] = folders.each_ref().map(|dir| crate::testing::open_folder(dir.path()));
        if !sets_aside(&one) {
            return println!("SKIPPED: renames take one step here");
        }
        let turn = Turn::of(one.as_fd()).unwrap();
        drop(Turn::of(one.as_fd()).unwrap());
        assert!(Turn::of(other.as_fd()).unwrap().0.is_some());
        let (had, waits) = channel();
        let waiter =
            thread::spawn(move || had.send(Turn::of(one.as_fd()).is_some_and(|turn| turn.0.is_some())));
        assert!(waits.recv_timeout(Duration::from_millis(100)).is_err());
        drop(turn);
        assert_eq!(waits.recv(), Ok(true));
        waiter.join().unwrap().unwrap();
    }
}
