//! What a later call of the same session can go on with: the edits of a call that failed, the places of a dry run (contract 19).
//!
//! Kept for ten minutes; number and bytes are bounded, the oldest of the session that has the most go. Knows not what is kept.

use std::any::Any;
use std::collections::{HashMap, VecDeque};
use std::fmt::{self, Debug, Formatter};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long a handle is kept.
const KEPT_FOR: Duration = Duration::from_secs(600);

/// Limits of all handles together, and of those of one session.
const MOST: usize = 1_024;
const MOST_OF_SESSION: usize = 16;

/// Limits of what is kept, in bytes: of all handles together, and of one.
const BYTES: usize = 16 << 20;
const BYTES_OF_ONE: usize = 8 << 20;

/// See the module.
#[derive(Debug, Default)]
pub struct Handles {
    state: Mutex<State>,
    /// No call comes after this one.
    is_off: bool,
}

#[derive(Debug, Default)]
struct State {
    last: u64,
    /// The oldest first.
    kept: VecDeque<Kept>,
}

struct Kept {
    name: String,
    session: String,
    since: Instant,
    bytes: usize,
    /// `None`: a call goes on with it now.
    what: Option<Arc<dyn Any + Send + Sync>>,
}

impl Debug for Kept {
    fn fmt(&self, out: &mut Formatter) -> fmt::Result {
        out.write_str(&self.name)
    }
}

/// What a call goes on with. No other call can do so meanwhile. It is kept on when this is dropped, unless it is used up.
#[derive(Debug)]
pub(super) struct Claimed<'h, T: Send + Sync + 'static> {
    handles: &'h Handles,
    name: String,
    pub(super) what: Arc<T>,
}

impl Handles {
    /// Keeps nothing: for the only call of a process.
    pub fn off() -> Handles {
        Handles { is_off: true, ..Handles::default() }
    }

    /// Whether nothing is kept.
    pub(super) fn are_off(&self) -> bool {
        self.is_off
    }

    /// Keeps something of so many bytes for calls of this session. Returns its name, which begins with `letter`. `None`: it is too large, or no call can come.
    pub(super) fn keep<T: Any + Send + Sync>(
        &self,
        letter: char,
        session: &str,
        bytes: usize,
        what: T,
    ) -> Option<String> {
        if self.is_off || bytes > BYTES_OF_ONE {
            return None;
        }
        let mut state = self.lock();
        state.last += 1;
        let name = format!("{letter}{}", state.last);
        let since = Instant::now();
        let what: Option<Arc<dyn Any + Send + Sync>> = Some(Arc::new(what));
        state.kept.push_back(Kept { name: name.clone(), session: session.into(), since, bytes, what });
        state.make_room(session);
        Some(name)
    }

    /// What is kept under this name for calls of this session. `None`: nothing is any more, or a call goes on with it now.
    pub(super) fn look<T: Any + Send + Sync>(&self, name: &str, session: &str) -> Option<Arc<T>> {
        let mut state = self.lock();
        state.find(name, session)?.what.clone()?.downcast().ok()
    }

    /// The same for a call that goes on with it.
    pub(super) fn claim<T: Any + Send + Sync>(&self, name: &str, session: &str) -> Option<Claimed<'_, T>> {
        let mut state = self.lock();
        let kept = state.find(name, session)?;
        let what = kept.what.clone()?.downcast().ok()?;
        kept.what = None;
        Some(Claimed { handles: self, name: name.into(), what })
    }

    /// Frees what is too old.
    pub fn forget_old(&self) {
        drop(self.lock());
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.kept.retain(|kept| kept.since.elapsed() < KEPT_FOR);
        state
    }
}

impl State {
    fn find(&mut self, name: &str, session: &str) -> Option<&mut Kept> {
        let is_own = |kept: &Kept| kept.session == session || switches::is_off("handle-of-session");
        self.kept.iter_mut().find(|kept| kept.name == name && is_own(kept))
    }

    /// Forgets the oldest that are too many, those of the session first.
    fn make_room(&mut self, session: &str) {
        let of_session = |kept: &&Kept| kept.session == session;
        if self.kept.iter().filter(of_session).count() > MOST_OF_SESSION
            && let Some(oldest) = self.kept.iter().position(|kept| kept.session == session)
        {
            self.kept.remove(oldest);
        }
        let bytes = |kept: &VecDeque<Kept>| kept.iter().map(|kept| kept.bytes).sum::<usize>();
        while bytes(&self.kept) > BYTES {
            self.remove_of_greatest(|kept| kept.bytes);
        }
        while self.kept.len() > MOST {
            self.remove_of_greatest(|_| 1);
        }
    }

    /// Forgets the oldest of the session that has the most, so that many small sessions push out no other one.
    fn remove_of_greatest(&mut self, size: impl Fn(&Kept) -> usize) {
        let mut sizes = HashMap::<&str, usize>::new();
        for kept in &self.kept {
            *sizes.entry(&kept.session).or_default() += size(kept);
        }
        let most = sizes.values().max().copied();
        let is_of_greatest = |kept: &Kept| sizes.get(&*kept.session).copied() == most;
        let oldest = self.kept.iter().position(is_of_greatest);
        self.kept.remove(oldest.unwrap_or(0));
    }
}

impl<T: Send + Sync> Claimed<'_, T> {
    /// Nothing goes on with it any more.
    pub(super) fn use_up(self) {
        self.handles.lock().kept.retain(|kept| kept.name != self.name);
    }
}

impl<T: Send + Sync> Drop for Claimed<'_, T> {
    fn drop(&mut self) {
        let mut state = self.handles.lock();
        if let Some(kept) = state.kept.iter_mut().find(|kept| kept.name == self.name) {
            kept.what = Some(self.what.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_for_its_session_and_for_one_call_at_a_time() {
        let handles = Handles::default();
        let name = handles.keep('r', "one", 1, 7u32).unwrap();
        assert_eq!(name, "r1");
        assert!(handles.look::<u32>(&name, "other").is_none() && handles.look::<u64>(&name, "one").is_none());
        let claimed = handles.claim::<u32>(&name, "one").unwrap();
        assert!(handles.claim::<u32>(&name, "one").is_none() && handles.look::<u32>(&name, "one").is_none());
        drop(claimed);
        assert_eq!(handles.look::<u32>(&name, "one").as_deref(), Some(&7));
        handles.claim::<u32>(&name, "one").unwrap().use_up();
        assert!(handles.look::<u32>(&name, "one").is_none());
    }

    #[test]
    fn the_oldest_go_when_there_are_too_many_or_too_large_ones() {
        let handles = Handles::default();
        let first = handles.keep('p', "other", 1, ()).unwrap();
        let names: Vec<String> =
            (0..=MOST_OF_SESSION).filter_map(|_| handles.keep('p', "one", 1, ())).collect();
        let is_kept = |name: &String, session| handles.look::<()>(name, session).is_some();
        assert!(!is_kept(&names[0], "one") && names[1..].iter().all(|name| is_kept(name, "one")));
        assert!(is_kept(&first, "other") && handles.keep('p', "one", BYTES_OF_ONE + 1, ()).is_none());
        let [large, last] = [(); 2].map(|()| handles.keep('p', "third", BYTES_OF_ONE, ()).unwrap());
        assert!(!is_kept(&large, "third") && is_kept(&last, "third"));
        assert!(is_kept(&first, "other") && is_kept(&names[1], "one"), "those of others stay");
    }

    #[test]
    fn what_a_session_keeps_is_pushed_out_by_no_hundred_others() {
        let handles = Handles::default();
        let own = [(); 2].map(|()| handles.keep('r', "own", 1, ()).unwrap());
        for session in 0..100 {
            handles.keep('r', &session.to_string(), 1, ());
        }
        assert!(own.iter().all(|name| handles.look::<()>(name, "own").is_some()));
        for session in 0..MOST {
            handles.keep('r', &session.to_string(), 1, ());
        }
        assert_eq!(handles.state.lock().unwrap().kept.len(), MOST);
    }
}
