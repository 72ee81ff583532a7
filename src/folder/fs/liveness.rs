//! Whether the file system of a served folder answers: a thread asks it for the folder once a second (a liveness probe).
//!
//! A file system that another machine serves can stop to answer. Each call that asks it then keeps a thread until it answers
//! again. So that those calls do not take the threads of all others, calls that come later are refused while a probe waits.
//! Knows no calls.

use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::thread;
use std::time::{Duration, Instant};

use super::file_system::is_local_mount;
use sys::fs::Mount;

/// Time between two probes, and the time after which one that waits counts as unanswered.
const SECOND: Duration = Duration::from_secs(1);

/// How long a start waits for a folder.
const LONGEST_START: Duration = Duration::from_secs(5);

/// See [`State::sent_ms`]: no probe waits.
const NONE: u64 = u64::MAX;

/// A folder on a local disk has no state: it is not probed.
#[derive(Debug, Default)]
pub struct Liveness(Option<Arc<State>>);

#[derive(Debug)]
struct State {
    start: Instant,
    /// When the probe that waits was sent, in milliseconds since `start`. [`NONE`] if none waits.
    sent_ms: AtomicU64,
    /// Whether the last probe failed.
    failed: AtomicBool,
}

/// Whether the folder at `path` answers, if only with an error, within [`LONGEST_START`]. If not, a thread goes on waiting.
pub fn answers(path: &Path) -> bool {
    if stays_local(path, &sys::fs::mounts()) {
        return true;
    }
    let (end, path, waiter) = (Instant::now() + LONGEST_START, path.to_owned(), thread::current());
    let has_answered = Arc::new(AtomicBool::new(false));
    let answered = has_answered.clone();
    let is_asked = start_thread(Box::new(move || {
        // An error is told when the folder is opened.
        let _ = sys::fs::ask(&path);
        answered.store(true, Ordering::Release);
        waiter.unpark();
    }));
    while is_asked && !has_answered.load(Ordering::Acquire) {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return false;
        }
        thread::park_timeout(left);
    }
    true
}

/// Whether, by these mounts, only file systems of this machine are asked on the way to `path`. False if a link is on it. Asks no other.
fn stays_local(path: &Path, mounts: &[(PathBuf, Mount)]) -> bool {
    let Ok(path) = std::path::absolute(path) else { return false };
    let is_of_others = |at: &Path| {
        // Behind a path of autofs, any file system may come.
        mounts.iter().any(|(on, mount)| on == at && (mount.kind == "autofs" || !is_local_mount(mount)))
    };
    let mut way: Vec<&Path> = path.ancestors().collect();
    way.reverse();
    !mounts.is_empty()
        && path.components().all(|part| part != Component::ParentDir)
        && way.into_iter().all(|at| !is_of_others(at) && at.read_link().is_err())
}

/// Whether a thread could be started.
fn start_thread(run: Box<dyn FnOnce() + Send>) -> bool {
    thread::Builder::new().name("liveness".into()).spawn(run).is_ok()
}

impl Liveness {
    /// Probes the folder at `path` until the result is dropped. It is not there while nothing is mounted at `mount`, which is the
    /// folder or one above. If no thread can be started, nothing is known.
    pub(crate) fn of(path: &Path, mount: Option<PathBuf>) -> Liveness {
        let is_mounted = move || mount.as_deref().is_none_or(is_mounted_at);
        Liveness::by(path, move |path| sys::fs::ask(path).is_ok() && is_mounted())
    }

    fn by(path: &Path, ask: impl Fn(&Path) -> bool + Send + 'static) -> Liveness {
        let (start, sent_ms) = (Instant::now(), AtomicU64::new(NONE));
        let state = Arc::new(State { start, sent_ms, failed: AtomicBool::new(false) });
        let (path, probed) = (path.to_owned(), Arc::downgrade(&state));
        let is_probed = start_thread(Box::new(move || probe(&probed, &|| ask(&path))));
        Liveness(is_probed.then_some(state))
    }

    /// Whether a probe waits for an answer too long.
    pub fn is_silent(&self) -> bool {
        let Some(state) = &self.0 else { return false };
        let sent_ms = state.sent_ms.load(Ordering::Relaxed);
        sent_ms != NONE && state.start.elapsed().saturating_sub(Duration::from_millis(sent_ms)) > SECOND
    }

    /// Whether the last probe was answered, and the folder is there.
    pub(crate) fn is_there(&self) -> bool {
        !self.is_silent() && !self.0.as_ref().is_some_and(|state| state.failed.load(Ordering::Relaxed))
    }
}

/// Whether a file system is mounted at `path`: it has another device than the folder above.
pub(crate) fn is_mounted_at(path: &Path) -> bool {
    let device = |path: &Path| sys::fs::stat(path).ok().map(|stat| stat.st_dev);
    let above = path.parent().and_then(device);
    device(path).is_some_and(|at| above.is_some_and(|above| at != above))
}

fn probe(state: &Weak<State>, ask: &dyn Fn() -> bool) {
    while let Some(state) = state.upgrade() {
        state.sent_ms.store(state.start.elapsed().as_millis() as u64, Ordering::Relaxed);
        let is_there = ask();
        state.sent_ms.store(NONE, Ordering::Relaxed);
        state.failed.store(!is_there, Ordering::Relaxed);
        drop(state);
        thread::sleep(SECOND);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[cfg(unix)]
    #[test]
    fn a_thread_asks_for_a_folder_unless_all_on_the_way_to_it_is_local() {
        let mounts = |rows: &[(&str, &str)]| -> Vec<(PathBuf, Mount)> {
            let mount =
                |kind: &str| Mount { kind: kind.into(), source: String::new(), options: String::new() };
            rows.iter().map(|(at, kind)| (at.into(), mount(kind))).collect()
        };
        let local = mounts(&[("/", "ext4"), ("/tmp", "tmpfs"), ("/elsewhere", "nfs4")]);
        assert!(stays_local(Path::new("/none/a"), &local) && stays_local(Path::new("/elsewhere2/a"), &local));
        for path in ["/elsewhere", "/elsewhere/a", "/none/../elsewhere/a", "/none/.."] {
            assert!(!stays_local(Path::new(path), &local), "{path}");
        }
        for root in ["nfs4", "fuse.sshfs", "autofs"] {
            assert!(!stays_local(Path::new("/none/a"), &mounts(&[("/", root)])), "{root}");
        }
        assert!(!stays_local(Path::new("/none/a"), &[]), "of unknown mounts");
        let dir = tempfile::tempdir().unwrap();
        let link = dir.path().canonicalize().unwrap().join("link");
        sys::testing::symlink("/none", &link).unwrap();
        assert!(
            !stays_local(&link, &local) && !stays_local(&link.join("a"), &local),
            "a link may lead anywhere"
        );
    }

    #[test]
    fn a_folder_is_silent_while_a_probe_waits_and_gone_if_one_fails() {
        let (answer, answers) = mpsc::channel();
        let liveness = Liveness::by(Path::new("."), move |_| answers.recv().unwrap_or(false));
        let until = |is: &dyn Fn() -> bool| {
            let mut looks = (0..1_000).map(|_| is());
            looks.any(|is| {
                thread::sleep(if is { Duration::ZERO } else { SECOND / 100 });
                is
            })
        };
        assert!(liveness.is_there());
        assert!(until(&|| liveness.is_silent()) && !liveness.is_there());
        answer.send(true).unwrap();
        assert!(until(&|| liveness.is_there()) && !liveness.is_silent());
        drop(answer);
        assert!(until(&|| !liveness.is_there()) && !liveness.is_silent());
        let local = Liveness::default();
        assert!(local.is_there() && !local.is_silent());
    }
}
