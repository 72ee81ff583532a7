//! Servers that die in the middle of a call. The next one must find all of it done, or none; the journal says which.

use super::*;

/// One in so many calls is to be the last one of its server.
const ONE_IN: usize = 10;

/// The most steps that such a call takes.
const MOST_STEPS: usize = 40;

/// Where a server is to die in a call, and what the journal had before that.
#[derive(Clone, Copy)]
pub(super) struct Crash {
    step: Option<usize>,
    last: Option<ChangeNumber>,
}

impl Crash {
    /// The result of `call`. `None`: the server has died.
    pub(super) fn run<T>(self, call: impl FnOnce() -> T) -> Option<T> {
        let Some(step) = self.step else { return Some(call()) };
        let mut done = None;
        let has_died = failpoint::crash_at(step, || done = Some(call()));
        done.filter(|_| !has_died)
    }
}

/// Whether it is the temporary file of a change of one file: that is gone when the next call writes to its folder.
pub(super) fn is_leftover(path: &str) -> bool {
    path.contains(".file-editor-tmp-") && !path.ends_with("-kept")
}

impl Model {
    pub(super) fn crash(&mut self) -> Crash {
        // In the first step, the journal itself fails, and the call goes on without it.
        let step = (self.below(ONE_IN) == 0).then(|| 2 + self.below(MOST_STEPS));
        Crash { step, last: self.last_number() }
    }

    fn last_number(&self) -> Option<ChangeNumber> {
        self.servers[0].change_log().unwrap().numbers().unwrap().last().copied()
    }

    /// Starts the next server for one that died. Returns the number of the change that it was making, if all of that is done.
    pub(super) fn number_of_dead(&mut self, server: usize, crash: Crash) -> Option<ChangeNumber> {
        self.servers[server] = self.dirs.open_fast(JOURNAL);
        let number = self.last_number().filter(|last| Some(*last) != crash.last);
        self.counts.died[usize::from(number.is_none())] += 1;
        number
    }
}
